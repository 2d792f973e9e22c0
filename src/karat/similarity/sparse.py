"""Sparse rows and the dot products of pairs of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.similarity.base import Floats, Ints

Matrix = Any  # scipy.sparse.csr_array, which has no types
_ENTRIES = 1 << 18  # entries looked at in one go: what fits into the processor's cache


def matrix(values: NDArray[Any], rows: Ints, columns: Ints, shape: tuple[int, int]) -> Matrix:
    """The sparse matrix of these values; values at one place are added."""
    from scipy.sparse import csr_array

    found = csr_array((values, (rows, columns)), shape=shape)
    found.sum_duplicates()
    return found


def rows_of(columns: Ints, starts: Ints, width: int) -> Matrix:
    """The sparse matrix of ones at these columns, of which a row has those from one start to the next, in order."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(columns), dtype=np.float32), columns, starts), shape=(len(starts) - 1, width))


def row_dots(a: Matrix, b: Matrix, left: Ints, right: Ints) -> Floats:
    """The dot product of row left[i] of one matrix with row right[i] of the other, for each i."""
    found = np.zeros(len(left))
    entries = np.cumsum(np.diff(a.indptr)[left] + np.diff(b.indptr)[right])
    cuts = np.searchsorted(entries, np.arange(0, int(entries[-1]) if len(entries) else 0, _ENTRIES))
    for start, end in pairwise([*np.unique(cuts).tolist(), len(left)]):
        found[start:end] = a[left[start:end]].multiply(b[right[start:end]]).sum(axis=1)
    return found
