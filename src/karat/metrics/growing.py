"""Rows of one chunk after the other, put together as they come."""

from __future__ import annotations

from array import array

import numpy as np

from karat.metrics.base import Rows


class GrowingRows:
    """Rows in one stretch of memory that grows where it stands: what has been added is held once, and nothing else.

    >>> held = GrowingRows()
    >>> held.add(Rows(np.array([[1.0, 1.0]])), 0)
    >>> held.add(Rows(np.array([[0.5, 1.0], [0.0, 0.0]])), 1)
    >>> held.whole().values.tolist()
    [[1.0, 1.0], [0.5, 1.0], [0.0, 0.0]]
    """

    def __init__(self) -> None:
        self._values = array("d")
        self._width = 1
        self._units = array("q")
        self._shape: tuple[int, ...] | None = None  # of the units of one row, where rows are not one a document

    def add(self, part: Rows, start: int) -> None:
        """Adds the rows of the documents from the `start`-th on."""
        self._width = part.values.shape[1]
        self._values.frombytes(part.values.astype(np.float64, copy=False).tobytes())
        if part.units is not None:
            self._shape = part.units.shape[1:]
            self._units.frombytes((part.units + start).astype(np.int64, copy=False).tobytes())

    def whole(self) -> Rows:
        """All rows; nothing can be added from then on."""
        values = np.frombuffer(self._values, dtype=np.float64).reshape(-1, self._width)
        if self._shape is None:
            return Rows(values)
        return Rows(values, np.frombuffer(self._units, dtype=np.int64).reshape(-1, *self._shape))
