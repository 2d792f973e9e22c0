"""What workers send back: answers, or the error of karat that ended them."""

from __future__ import annotations

import pickle
from typing import Any

from karat.errors import KaratError


def failing(error: KaratError) -> bytes:
    """An error as bytes that travel from a worker to the driver."""
    return pickle.dumps(error)


def raise_first(row: Any) -> None:
    """Raises the error that a row of a worker holds, if it holds one."""
    if row.error is not None:
        raise pickle.loads(bytes(row.error))  # between processes of one session, not a file
