"""Intervals of shares: against statsmodels, scipy and loops by hand that leave out one document at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from karat.errors import InputError
from karat.stats.shares import (
    Interval,
    ShareCounts,
    inverse,
    left_out_intervals,
    ratio_intervals,
    share_interval,
)

PARTS = np.array([2, 0, 1, 3, 0, 1, 0])
WHOLES = np.array([4, 2, 3, 5, 0, 1, 6])


def by_hand(parts: NDArray[np.int64], wholes: NDArray[np.int64], level: float) -> Interval:
    """The jackknife in a loop over the documents with a whole, and t on the logit scale."""
    rows = [(x, y) for x, y in zip(parts.tolist(), wholes.tolist(), strict=True) if y]
    without = []
    for left_out in range(len(rows)):
        kept = [row for place, row in enumerate(rows) if place != left_out]
        without.append(sum(x for x, _ in kept) / sum(y for _, y in kept))
    n, share = len(rows), parts.sum() / wholes.sum()
    error = ((n - 1) / n * sum((value - sum(without) / n) ** 2 for value in without)) ** 0.5
    half = stats.t.ppf((1 + level) / 2, n - 1) * error / (share * (1 - share))
    logit = np.log(share / (1 - share))
    low, high = (1 / (1 + np.exp(-(logit + sign * half))) for sign in (-1, 1))
    return float(low), float(high)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_the_interval_is_that_of_a_jackknife_by_hand(level: float) -> None:
    assert share_interval(PARTS, WHOLES, level) == pytest.approx(by_hand(PARTS, WHOLES, level), abs=1e-12)


def test_a_mean_is_t_on_the_logit_scale_with_the_usual_standard_error() -> None:
    shares = np.array([0.2, 0.5, 0.0, 1.0, 0.25, 0.4])
    mean, error = shares.mean(), stats.sem(shares)
    half = stats.t.ppf(0.975, 5) * error / (mean * (1 - mean))
    ends = [stats.logistic.cdf(stats.logistic.ppf(mean) + sign * half) for sign in (-1, 1)]
    assert ratio_intervals(shares, np.ones(6)).tolist() == pytest.approx(ends)
    # Percentages are the same times 100.
    percent = ratio_intervals(100 * shares, np.ones(6), bounds=(0.0, 100.0))
    assert percent.tolist() == pytest.approx([100 * end for end in ends])


def test_without_bounds_it_is_the_t_interval_of_scipy() -> None:
    scores = np.array([-0.5, 0.25, 0.0, 0.75, 0.5])  # of light tails: n − 1 degrees of freedom
    expected = stats.ttest_1samp(scores, 0).confidence_interval(0.9)
    found = ratio_intervals(scores, np.ones(5), 0.9, (-np.inf, np.inf))
    assert found.tolist() == pytest.approx([expected.low, expected.high])


@pytest.mark.parametrize(("documents", "level"), [(1, 0.95), (7, 0.9), (100, 0.95)])
def test_where_nothing_or_everything_is_hit_the_bound_is_that_of_clopper_and_pearson(
    documents: int, level: float
) -> None:
    wholes = np.arange(1, documents + 1)
    none = proportion_confint(0, documents, 1 - level, method="beta")
    every = proportion_confint(documents, documents, 1 - level, method="beta")
    assert share_interval(np.zeros(documents), wholes, level) == pytest.approx(none)
    assert share_interval(wholes, wholes, level) == pytest.approx(every)
    # A document without a phrase is none of the units.
    more = np.append(wholes, 0)
    assert share_interval(np.zeros(documents + 1), more, level) == pytest.approx(none)


def test_without_documents_or_with_one_the_interval_is_undefined() -> None:
    nothing = np.zeros(0)
    for parts, wholes in ((nothing, nothing), (np.zeros(3), np.zeros(3)), (np.array([1, 0]), np.array([2, 0]))):
        assert np.isnan(share_interval(parts, wholes)).all()
    assert ratio_intervals(np.zeros((0, 4)), np.ones(4)).shape == (0, 2)
    assert ratio_intervals(np.zeros((3, 0)), np.zeros(0)).shape == (3, 2)


def test_a_level_is_between_0_and_1() -> None:
    with pytest.raises(InputError, match="level must be between 0 and 1, got 95"):
        share_interval(PARTS, WHOLES, 95)


def test_counts_stand_for_so_many_documents() -> None:
    repeats = np.array([3, 1, 2, 5, 4, 1, 2])
    expected = share_interval(np.repeat(PARTS, repeats), np.repeat(WHOLES, repeats))
    assert ratio_intervals(PARTS, WHOLES, counts=repeats).tolist() == pytest.approx(expected)


def test_statistics_that_are_no_ratios_are_left_out_in_a_loop() -> None:
    """The median of seven values: its jackknife values are given as they are."""
    values = np.array([0.1, 0.5, 0.3, 0.9, 0.2, 0.4, 0.6])
    without = np.array([np.median(np.delete(values, n)) for n in range(7)])
    error = (6 / 7 * ((without - without.mean()) ** 2).sum()) ** 0.5
    half = stats.t.ppf(0.975, 6) * error / (0.4 * 0.6)
    ends = stats.logistic.cdf(stats.logistic.ppf(0.4) + np.array([-half, half]))
    assert left_out_intervals(np.array(0.4), without, np.ones(7)).tolist() == pytest.approx(ends.tolist())


def test_the_inverse_turns_the_ends_round() -> None:
    assert inverse((0.0, 0.5)) == (2.0, np.inf)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 9)), max_size=30),
    cut=st.integers(0, 30),
)
def test_counted_rows_give_the_sums_and_intervals_of_documents(rows: list[tuple[int, int, int]], cut: int) -> None:
    a, b, c = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    columns = {"some": (a, a + b), "none": (0 * a, 0 * a), "other": (c, c + a)}
    pieces = [
        ShareCounts.of({name: (x[some], y[some]) for name, (x, y) in columns.items()})
        for some in (slice(None, cut), slice(cut, None))
    ]
    found = ShareCounts.joined(pieces)
    assert found.sums() == {name: (x.sum(), y.sum()) for name, (x, y) in columns.items()}
    for name, interval in found.intervals(0.9).items():
        expected = share_interval(*columns[name], 0.9)
        assert interval == pytest.approx(expected, nan_ok=True)


def test_counts_of_other_shares_are_not_added() -> None:
    pieces = [ShareCounts.of({name: (PARTS, WHOLES)}) for name in ("a", "b")]
    with pytest.raises(InputError, match="counts of different shares cannot be added"):
        ShareCounts.joined(pieces)
