"""Rows that are put together as they come are those of all chunks one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.metrics.base import Rows
from karat.metrics.growing import GrowingRows


@settings(max_examples=60, deadline=None)
@given(sizes=st.lists(st.integers(0, 9), min_size=1, max_size=6), width=st.integers(1, 4), seed=st.integers(0, 99))
def test_rows_of_documents_are_those_of_all_chunks(sizes: list[int], width: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    parts = [draw.normal(size=(width, size)).T for size in sizes]  # not contiguous
    held = GrowingRows()
    for start, part in zip(np.cumsum([0, *sizes[:-1]]).tolist(), parts, strict=True):
        held.add(Rows(part), start)
    found = held.whole()
    assert found.units is None
    assert found.values.shape == (sum(sizes), width)
    whole = np.ascontiguousarray(np.concatenate(parts))  # as it is read from a file, whatever the order of the parts
    np.testing.assert_array_equal(found.values, whole)
    assert found.sums().tolist() == Rows(whole).sums().tolist()


@pytest.mark.parametrize("shape", [(), (2,)])
@settings(max_examples=40, deadline=None)
@given(sizes=st.lists(st.tuples(st.integers(1, 9), st.integers(0, 7)), min_size=1, max_size=6))
def test_units_are_counted_through(shape: tuple[int, ...], sizes: list[tuple[int, int]]) -> None:
    held, units, values, start = GrowingRows(), [], [], 0
    for documents, rows in sizes:
        unit = np.arange(rows * int(np.prod(shape, initial=1))).reshape(rows, *shape) % documents
        value = np.ones((rows, 2)) * rows
        held.add(Rows(value, unit), start)
        units.append(unit + start)
        values.append(value)
        start += documents
    found = held.whole()
    assert found.units is not None
    np.testing.assert_array_equal(found.units, np.concatenate(units))
    np.testing.assert_array_equal(found.values, np.concatenate(values))
