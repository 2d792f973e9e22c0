"""A flipped bit in a file that karat wrote for itself changes no output; `python -m tests.flips` flips 500 in each."""

from __future__ import annotations

import pytest

from tests.flips import NEURAL, TARGETS, count_outcomes

FLIPS = 12
RECOMPUTED = ("unfinished run", "vector cache")  # others may be refused


def named(names: list[str]) -> list[object]:
    return [pytest.param(name, marks=pytest.mark.neural if name in NEURAL else ()) for name in names]


@pytest.mark.parametrize("name", named(list(TARGETS)))
def test_no_flipped_bit_changes_an_output(name: str) -> None:
    found = count_outcomes(name, FLIPS)
    assert found["changed"] == 0
    assert found["same"] + found["refused"] == FLIPS
    if name in RECOMPUTED:
        assert found["same"] == FLIPS


@pytest.mark.parametrize("name", named(["kea.json", "weights", "words list"]))
def test_flipped_bits_change_outputs_where_there_are_no_checksums(name: str) -> None:
    """The control of the test above: the same flips in the files of an earlier version."""
    assert count_outcomes(name, 60, checksums=False)["changed"] > 0
