"""Keep code of the current folder and secrets out of the command and of the processes that it starts.

Python puts the current folder (`python -m`) or the folder of the script first on `sys.path`, so that a file `json.py`
beside a corpus would be imported in place of the library. The command removes that entry; workers and Spark start with
PYTHONSAFEPATH, and without the variables of the environment that hold keys.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import ModuleType

SAFE_PATH = "PYTHONSAFEPATH"
_SECRET = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET)(?:_|$)|PASSWORD|PASSPHRASE", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Return whether a variable of the environment holds a key, a token or a password, by its name.

    >>> is_secret("KARAT_LLM_KEY"), is_secret("HF_TOKEN"), is_secret("TOKENIZERS_PARALLELISM")
    (True, True, False)
    """
    return _SECRET.search(name) is not None


_secure = sys.flags.safe_path  # whether Python put no folder first on the path, or it was removed


def secure_path() -> None:
    """Remove the current folder and the folder of the script from the module path of this process and its workers."""
    global _secure
    sys.path[:] = installed_path()
    _secure = True
    os.environ[SAFE_PATH] = "1"


def installed_path() -> list[str]:
    """Return the module path without the entry of the current folder or script that Python puts first."""
    first = sys.path[:1]
    unsafe = not _secure and first and os.path.realpath(first[0]) in _unsafe_folders()
    return [entry for entry in (sys.path[1:] if unsafe else sys.path) if entry]


@contextmanager
def installed_packages() -> Iterator[None]:
    """Import from installed packages alone within the context."""
    before = sys.path[:]
    sys.path[:] = installed_path()
    try:
        yield
    finally:
        sys.path[:] = before


def script_modules() -> list[ModuleType]:
    """Return the loaded modules of the current folder and of the script's folder, which workers do not import."""
    folders = _unsafe_folders() - set(map(os.path.realpath, installed_path()))
    return [
        module
        for name, module in list(sys.modules.items())
        if "." not in name and name not in ("__main__", "karat") and _root(module) in folders
    ]


def _root(module: ModuleType) -> str | None:
    """Return the folder from which a top-level module or package is imported."""
    file = getattr(module, "__file__", None)
    folder = os.path.dirname(os.path.realpath(file)) if isinstance(file, str) else None
    return os.path.dirname(folder) if folder is not None and hasattr(module, "__path__") else folder


@contextmanager
def worker_environment(kept: tuple[str, ...] = ()) -> Iterator[None]:
    """Set the environment for processes that start within the context: a safe module path, and no secrets.

    Args:
        kept: Prefixes of variables that stay although they hold secrets.
    """
    secrets = [name for name in os.environ if is_secret(name) and not name.startswith(kept)]
    path = os.pathsep.join(filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    changes: dict[str, str | None] = dict.fromkeys(secrets)
    changes |= {SAFE_PATH: "1", "PYTHONPATH": path or None}  # an empty entry stands for the current folder
    before = {name: os.environ.get(name) for name in changes}
    _set_variables(changes)
    try:
        yield
    finally:
        _set_variables(before)


def _set_variables(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _unsafe_folders() -> set[str]:
    script = sys.argv[0] if sys.argv else ""
    folders = {os.path.dirname(os.path.realpath(script))} if script not in ("", "-c", "-m") else set()
    with suppress(FileNotFoundError):  # the current folder was removed
        folders.add(os.path.realpath(os.getcwd()))
    return folders
