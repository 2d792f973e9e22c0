"""Memory: how much there is, and a process that asks for large pieces of the same sizes again and again."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager

# what mallopt(3) of the GNU C library calls M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_MAX: (while kept, by default)
_SETTINGS = {-1: (1 << 30, 128 << 10), -2: (64 << 20, 128 << 10), -4: (0, 65_536)}


def memory_here() -> float:
    """The bytes of memory of this machine; infinite where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return math.inf


@contextmanager
def kept_memory() -> Iterator[None]:
    """Lets the C library keep what is freed, instead of having the system clear new pages: a tenth of a training.

    Nothing happens where the C library is another one.
    """
    try:
        library = ctypes.CDLL(None)
        mallopt, trim = library.mallopt, library.malloc_trim
    except (AttributeError, OSError, TypeError):
        yield
        return
    for setting, (kept, _) in _SETTINGS.items():
        mallopt(setting, kept)
    try:
        yield
    finally:
        for setting, (_, usual) in _SETTINGS.items():
            mallopt(setting, usual)
        trim(0)
