"""Keep code of the current folder and secrets out of the command and of the processes that it starts.

Python puts the current folder (`python -m`) or the folder of the script first on `sys.path`, so that a file `json.py`
beside a corpus would be imported in place of the library. The command removes that entry; workers and Spark start with
PYTHONSAFEPATH, and without the variables of the environment that hold keys.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
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


def secure_path() -> None:
    """Remove the current folder and the folder of the script from the module path of this process and its workers."""
    if not _is_safe() and sys.path and _first_folder() in _unsafe_folders():
        del sys.path[0]
    os.environ[SAFE_PATH] = "1"


def installed_path() -> list[str]:
    """Return the module path without the entry of the current folder or script that Python puts first."""
    entries = [entry for entry in sys.path if entry]
    if not _is_safe() and entries[:1] == sys.path[:1] and _first_folder() in _unsafe_folders():
        del entries[0]
    return entries


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
    before = dict(os.environ)
    for name in before:
        if is_secret(name) and not name.startswith(kept):
            del os.environ[name]
    os.environ[SAFE_PATH] = "1"
    if "PYTHONPATH" in before:  # an empty entry stands for the current folder
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, before["PYTHONPATH"].split(os.pathsep)))
    try:
        yield
    finally:
        for name in {SAFE_PATH, "PYTHONPATH"} - set(before):
            os.environ.pop(name, None)
        os.environ.update(before)


def _is_safe() -> bool:
    return sys.flags.safe_path or SAFE_PATH in os.environ


def _first_folder() -> str:
    return os.path.realpath(sys.path[0])


def _unsafe_folders() -> set[str]:
    script = sys.argv[0] if sys.argv else ""
    folders = {os.path.dirname(os.path.realpath(script))} if script not in ("", "-c", "-m") else set()
    with suppress(FileNotFoundError):  # the current folder was removed
        folders.add(os.path.realpath(os.getcwd()))
    return folders
