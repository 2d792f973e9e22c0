"""What files hold, as short hashes: two files or folders with the same content have the same, whatever their names."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path

from karat.formats.files import open_raw

_BLOCK = 1 << 20


def file_hash(path: str | Path) -> bytes:
    """The hash of a file's bytes, as they are; of standard input, `-`, too."""
    found = blake2b(digest_size=32)
    with open_raw(str(path)) as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.digest()


def folder_hash(path: str | Path) -> bytes:
    """The hash of the files in a folder at any depth, hidden ones aside: of their names within it and their bytes."""
    found = blake2b(digest_size=32)
    for root, below, names in os.walk(path):
        below[:] = sorted(name for name in below if name[0] != ".")
        for name in sorted(name for name in names if name[0] != "."):
            file = Path(root, name)
            found.update(os.fsencode(file.relative_to(path)) + b"\0" + file_hash(file))
    return found.digest()
