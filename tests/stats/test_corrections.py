"""Corrections against worked examples and scipy."""

from __future__ import annotations

from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from karat.stats.corrections import CORRECTIONS, adjusted, benjamini_hochberg, holm
from scipy import stats

from karat.errors import InputError

# The worked example of Benjamini and Hochberg (1995): 15 tests of thrombolysis after an infarct.
INFARCT = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
    *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0),
]


def test_of_the_fifteen_tests_of_benjamini_and_hochberg_four_are_rejected_and_by_holm_three() -> None:
    assert [p <= 0.05 for p in benjamini_hochberg(INFARCT)] == [True] * 4 + [False] * 11
    assert [p <= 0.05 for p in holm(INFARCT)] == [True] * 3 + [False] * 12


def test_the_infarct_example_by_hand() -> None:
    # The fourth is .0095 · 15/4 and so on; the sixth would be .0278 · 15/6 = .0695, but the seventh is less.
    found = benjamini_hochberg(INFARCT)
    assert found[3:5] == pytest.approx([0.0095 * 15 / 4, 0.0201 * 15 / 5])
    assert found[5:8] == pytest.approx([0.0298 * 15 / 7, 0.0298 * 15 / 7, 0.0344 * 15 / 8])
    assert holm(INFARCT)[:4] == pytest.approx([0.0015, 0.0056, 0.0247, 0.114])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_benjamini_and_hochberg_is_that_of_scipy(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p).tolist())


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_step_by_step(p: list[float]) -> None:
    # Holm's own words: go on from the smallest p while it is at most alpha / (how many are left).
    alpha, rejected = 0.05, set[int]()
    for i in np.argsort(p, kind="stable").tolist():
        if p[i] * (len(p) - len(rejected)) > alpha:
            break
        rejected.add(i)
    assert {i for i, one in enumerate(holm(p)) if one <= alpha} == rejected


def test_what_is_undefined_was_no_test() -> None:
    for name in CORRECTIONS:
        with_it, without = adjusted([0.01, nan, 0.04], name), adjusted([0.01, 0.04], name)
        assert isnan(with_it[1])
        assert [with_it[0], with_it[2]] == without
    assert adjusted([], "holm") == adjusted([], "bh") == []


def test_a_correction_has_a_name() -> None:
    assert adjusted([0.01, 0.04], "none") == [0.01, 0.04]
    assert adjusted([0.01, 0.04]) == holm([0.01, 0.04])
    with pytest.raises(InputError, match="unknown correction 'hol'; did you mean 'holm'"):
        adjusted([0.5], "hol")
