"""How many examples a property is tried on: few in the core lane, many with KARAT_THOROUGH=1."""

from __future__ import annotations

import os

THOROUGH = bool(os.environ.get("KARAT_THOROUGH"))
TIMES = 30


def examples(quick: int) -> int:
    """As many examples as asked for, and many times more where there is time."""
    return quick * TIMES if THOROUGH else quick
