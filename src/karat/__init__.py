"""How good are your keyphrases: read, score and compare keyphrase systems under named conventions.

>>> import karat
>>> corpus = karat.Corpus.of([{"id": "d1", "text": "Deep networks learn.", "keyphrases": ["deep network"]}])
>>> run = karat.Run.of([{"id": "d1", "keyphrases": ["deep networks", "learning rate"]}], name="mine")
>>> karat.score(corpus, run, metrics=["p@5"]).rows()[0]["value"]
0.5
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

__version__ = "0.2.0"

# The names are listed in `__init__.pyi`, which type checkers and editors read, and fetched from their modules when they
# are first used, so that `import karat` stays quick and numpy-free.
_LISTED = __spec__.loader.get_data(f"{__path__[0]}/__init__.pyi").decode()  # the loader reads from a zip file too
_NAMES = re.findall(r"^from (\S+) import (\w+) as \2(?:  # (deprecated))?\r?$", _LISTED, re.M)
_MODULES = {name: module for module, name, _ in _NAMES}
__all__ = sorted(name for _, name, deprecated in _NAMES if not deprecated)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'karat' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
