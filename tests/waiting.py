"""Waiting for what another process does, however long the machine takes."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep

PATIENCE = 600.0  # seconds after which what hangs is given up; nothing is measured by it


def until(condition: Callable[[], object], what: str) -> None:
    """Nothing, as soon as a condition holds."""
    end = monotonic() + PATIENCE
    while not condition():
        assert monotonic() < end, f"after {PATIENCE:g} seconds: {what}"
        sleep(0.01)
