"""Correlations of columns: coefficients, their uncertainty and comparison; and the agreement of several columns.

A coefficient is a function of how often each item counts: once in the sample, as often as it was drawn in a resample.
So the sample and thousands of resamples are one call, `correlate(x, y, weights)` with weights[resamples, items], and
each figure is exactly that of the coefficient computed anew on the resampled items. What is undefined is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.stats.base import ALIKE, Floats, Ints
from karat.stats.corrections import holm as holm  # where several correlations are compared
from karat.stats.resampling import bootstrap_of

Scale = Literal["nominal", "ordinal", "interval"]
Combination = Literal["mean", "majority"]

COEFFICIENTS = ("pearson", "spearman", "kendall")
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval")
COMBINATIONS: tuple[Combination, ...] = ("mean", "majority")

LARGEST_MATRIX = 2000  # points whose pairs are held as one matrix


# ---------------------------------------------------------------------------------------------- coefficients


def correlate(x: Floats, y: Floats, weights: Floats | None = None) -> Floats:
    """Pearson's r, Spearman's rho and Kendall's tau-b of two columns, [3, resamples]; without weights [3, 1].

    `weights` are whole numbers. A coefficient is NaN where a column is constant or fewer than two items count.

    >>> correlate(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]))[:, 0].round(4).tolist()
    [0.8, 0.8, 0.6667]
    """
    weights = np.ones((1, len(x))) if weights is None else weights
    if len(x) < 2:
        return np.full((3, len(weights)), np.nan)
    values_x, of_x = np.unique(x, return_inverse=True)
    values_y, of_y = np.unique(y, return_inverse=True)
    # Items with equal values in both columns are one point: people and metrics give few values, so points are few.
    points, point = np.unique(of_x * len(values_y) + of_y, return_inverse=True)
    at_x, at_y = np.divmod(points, len(values_y))
    counts = _sums(weights, point)  # [resamples, points]
    ties_x, ties_y = _sums(counts, at_x), _sums(counts, at_y)  # [resamples, values]
    untied_x, untied_y = _untied(ties_x), _untied(ties_y)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.stack(
            [
                _pearson(_scaled(values_x)[at_x], _scaled(values_y)[at_y], counts),
                _pearson(_ranks(ties_x)[:, at_x], _ranks(ties_y)[:, at_y], counts),
                _concordance(at_x, at_y, counts) / np.sqrt(untied_x) / np.sqrt(untied_y),
            ]
        )
    found[:, (untied_x == 0) | (untied_y == 0)] = np.nan
    return np.clip(found, -1.0, 1.0)


def _sums(weights: Floats, group: NDArray[Any]) -> Floats:
    """The weights of each group of items, [resamples, groups]; the groups are numbered from 0 and none is empty."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(group.max() + 1))
    return np.asarray(np.add.reduceat(weights[:, order], starts, axis=1))


def _untied(ties: Floats) -> Floats:
    """How many ordered pairs of items have different values; 0 exactly where the column is constant."""
    return np.asarray(ties.sum(axis=1) ** 2 - (ties**2).sum(axis=1))


def _scaled(values: Floats) -> Floats:
    """The values as shares of the largest, whose squares can neither overflow nor vanish."""
    return values / (np.abs(values).max() or 1.0)


def _pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Pearson's r of columns [items] or [resamples, items], from deviations within each resample."""
    total = weights.sum(axis=1, keepdims=True)
    x = x - (weights * x).sum(axis=1, keepdims=True) / total
    y = y - (weights * y).sum(axis=1, keepdims=True) / total
    spread_x, spread_y = (weights * x * x).sum(axis=1), (weights * y * y).sum(axis=1)
    return np.asarray((weights * x * y).sum(axis=1) / np.sqrt(spread_x) / np.sqrt(spread_y))


def _ranks(ties: Floats) -> Floats:
    """The rank of each value within each resample, equal items sharing their mean rank."""
    return np.asarray(np.cumsum(ties, axis=1) - (ties - 1) / 2)


def _concordance(at_x: Ints, at_y: Ints, weights: Floats) -> Floats:
    """Ordered pairs that both columns order alike, less those that they order differently: w'Sw."""
    if len(at_x) > LARGEST_MATRIX:
        return _concordance_by_bits(at_x, at_y, weights)
    signs = np.sign(at_x[:, None] - at_x) * np.sign(at_y[:, None] - at_y)  # [points, points]
    return np.asarray(((weights @ signs.astype(np.float64)) * weights).sum(axis=1))


def _concordance_by_bits(at_x: Ints, at_y: Ints, weights: Floats) -> Floats:
    """The same without the matrix of pairs: n log n steps a resample.

    Two points of different y are counted at the highest bit in which these differ: among the points that share the
    bits above it, one has that bit and the other has not, and cumulated weights in the order of x tell the rest.
    """
    found = np.zeros(len(weights))
    for bit in range(int(at_y.max()).bit_length()):
        block = at_y >> (bit + 1)
        order = np.lexsort((at_x, block))
        block, run = block[order], (block * (at_x.max() + 1) + at_x)[order]
        upper = np.flatnonzero((at_y[order] >> bit) & 1)
        lower = weights[:, order]
        weight = lower[:, upper]
        lower[:, upper] = 0.0
        until = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(lower, axis=1)], axis=1)
        before = until[:, np.searchsorted(run, run[upper])] - until[:, np.searchsorted(block, block[upper])]
        after = (
            until[:, np.searchsorted(block, block[upper], side="right")]
            - until[:, np.searchsorted(run, run[upper], side="right")]
        )
        found += (weight * (before - after)).sum(axis=1)
    return 2 * found


# ---------------------------------------------------------------------------------------------- resamples


@dataclass(frozen=True, slots=True)
class Resampled:
    """The coefficients of pairs of columns, on the sample and on every resample."""

    counts: Ints  # [pairs], the items on which both columns are defined
    values: Floats  # [pairs, 3]
    resampled: Floats  # [pairs, 3, resamples]


def resample(pairs: Sequence[tuple[Floats, Floats]], units: Ints, resamples: int, seed: int) -> Resampled:
    """The coefficients of pairs of columns over the same items, all on the same resamples.

    `units` says which items are drawn together; a pair of columns goes by the items on which neither is NaN.
    """
    distinct, unit = np.unique(units, return_inverse=True)
    both = [~np.isnan(x) & ~np.isnan(y) for x, y in pairs]
    defined = [(x[some], y[some]) for (x, y), some in zip(pairs, both, strict=True)]

    def statistic(weights: Floats) -> Floats:
        each = weights[:, unit]  # [resamples, items]
        return np.stack([correlate(x, y, each[:, some]) for (x, y), some in zip(defined, both, strict=True)])

    values = statistic(np.ones((1, len(distinct))))[..., 0]
    counts = np.array([some.sum() for some in both], dtype=np.int64)
    return Resampled(counts, values, bootstrap_of(statistic, len(distinct), resamples, seed))


def mean_of_defined(values: Floats) -> Floats:
    """The mean over the first axis, NaN being left out; NaN where nothing else is there.

    >>> mean_of_defined(np.array([[1.0, np.nan], [2.0, np.nan]])).tolist()
    [1.5, nan]
    """
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, values, 0.0).sum(axis=0) / there.sum(axis=0))


# ---------------------------------------------------------------------------------------------- comparisons


def bootstrap_p(differences: Floats) -> float:
    """Two-sided p of a difference from its resamples: twice the share on the rarer side of zero, at most 1.

    It is the percentile interval read backwards, so that the two say the same: p is below 1 − level where the interval
    leaves out zero, a few resamples at its very end apart. The sample itself counts as one more resample, so that p is
    never 0; a difference of zero is on both sides, so that a column against itself has p = 1.

    >>> bootstrap_p(np.array([0.2, 0.1, 0.3, -0.1])), bootstrap_p(np.zeros(9))
    (0.8, 1.0)
    """
    rarer, defined = _rarer(differences)
    return float(min(1.0, 2 * (rarer + 1) / (defined + 1))) if defined else np.nan


def on_floor(differences: Floats) -> bool:
    """Whether `bootstrap_p` is the smallest that so many resamples can give.

    >>> on_floor(np.array([0.2, 0.1, 0.3])), on_floor(np.array([0.2, 0.1, -0.3]))
    (True, False)
    """
    rarer, defined = _rarer(differences)
    return defined > 0 and not rarer


def _rarer(differences: Floats) -> tuple[int, int]:
    """(how many resamples are on the rarer side of zero, how many are defined)."""
    defined = differences[~np.isnan(differences)]
    return int(min((defined <= ALIKE).sum(), (defined >= -ALIKE).sum())), len(defined)


def williams(r12: float, r13: float, r23: float, n: int) -> tuple[float, float]:
    """(t, two-sided p) of the test that r12 = r13, correlations of n items that share variable 1 (Williams 1959).

    t = (r12 − r13) √((n − 1)(1 + r23)) / √(2K (n − 1)/(n − 3) + (r12 + r13)²/4 · (1 − r23)³) has n − 3 degrees of
    freedom, with K = 1 − r12² − r13² − r23² + 2 r12 r13 r23 (as in Graham and Baldwin 2014). It is for Pearson's r.
    """
    if n < 4 or np.isnan([r12, r13, r23]).any():
        return np.nan, np.nan
    if abs(r12 - r13) < ALIKE:
        return 0.0, 1.0
    from scipy.special import stdtr

    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    below = 2 * max(k, 0.0) * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    if below <= 0:  # the three are so dependent that nothing is left to judge the difference by
        return np.nan, np.nan
    t = (r12 - r13) * sqrt(max((n - 1) * (1 + r23), 0.0) / below)
    return t, float(2 * stdtr(n - 3, -abs(t)))


# ---------------------------------------------------------------------------------------------- agreement


def combined(values: Floats, how: Combination = "mean") -> Floats:
    """One value an item of values[items, annotators], NaN where nobody gave one: the mean, or the majority's.

    Of values that equally many gave the one nearest the median is taken, and of two equally near the lower.

    >>> combined(np.array([[1.0, 2.0, 2.0], [0.0, 3.0, 4.0], [1.0, 3.0, np.nan]]), "majority").tolist()
    [2.0, 3.0, 1.0]
    """
    if how == "mean":
        return mean_of_defined(np.sort(values, axis=1).T)  # sorted, so that who gave which does not move a digit
    given = [row[~np.isnan(row)] for row in values]
    return np.array([_majority(row) if len(row) else np.nan for row in given], dtype=np.float64)


def _majority(given: Floats) -> float:
    distinct, counts = np.unique(given, return_counts=True)
    first = distinct[counts == counts.max()]
    return float(first[np.argmin(np.abs(first - np.median(given)))])


def equal_shares(values: Floats) -> list[tuple[int, int, float]]:
    """For each k from 2 on: (k, items with k values or more, the share of these on which k or more are equal).

    >>> equal_shares(np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 3.0], [1.0, 2.0, np.nan]]))
    [(2, 3, 0.6666666666666666), (3, 2, 0.5)]
    """
    given = [row[~np.isnan(row)] for row in values]
    most = np.array([np.unique(row, return_counts=True)[1].max(initial=0) for row in given])
    size = np.array(list(map(len, given)))
    able = {k: size >= k for k in range(2, int(size.max(initial=0)) + 1)}
    return [(k, int(some.sum()), float((most[some] >= k).mean())) for k, some in able.items()]


def equal_pairs(values: Floats) -> float:
    """The share of pairs of annotators that give an item the same value, the mean over the items with two or more.

    >>> equal_pairs(np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 3.0], [1.0, np.nan, np.nan]]))
    0.6666666666666666
    """
    given = [row[~np.isnan(row)] for row in values]
    counts = [np.unique(row, return_counts=True)[1] for row in given if len(row) > 1]
    shares = [(own * (own - 1)).sum() / (own.sum() * (own.sum() - 1)) for own in counts]
    return float(np.mean(shares)) if shares else np.nan


def krippendorff(values: Floats, scale: Scale = "interval") -> float:
    """Krippendorff's alpha of values[items, annotators]: 1 − observed disagreement / that expected by chance.

    Values may be missing (NaN); only items with two or more count. Alpha is NaN where there are none, and where all
    values are equal.
    """
    values = values[(~np.isnan(values)).sum(axis=1) > 1]
    there = ~np.isnan(values)
    if not there.any():
        return np.nan
    levels, counts = np.unique(values[there], return_counts=True)
    if len(levels) == 1:
        return np.nan
    code = np.searchsorted(levels, values)  # of a missing value beyond the levels, and not used
    if scale == "nominal":
        within = np.array([(np.bincount(row[some]) ** 2).sum() for row, some in zip(code, there, strict=True)])
        size = there.sum(axis=1)
        observed = ((size**2 - within) / (size - 1)).sum()
        return float(1 - observed / ((counts.sum() ** 2 - (counts**2).sum()) / (counts.sum() - 1)))
    # The ordinal distance of two values, the values between them and half of both, is that of their mean ranks.
    places = _ranks(counts[None, :].astype(np.float64))[0] if scale == "ordinal" else _scaled(levels)
    at = np.where(there, np.append(places, 0.0)[code], np.nan)
    size = there.sum(axis=1)
    observed = (_squares(at, axis=1) * size / (size - 1)).sum()
    return float(1 - observed * (size.sum() - 1) / size.sum() / _squares(at))


def _squares(values: Floats, axis: int | None = None) -> Floats:
    """The sum of squared deviations from the mean, missing values left out."""
    return np.asarray(np.nansum((values - np.nanmean(values, axis=axis, keepdims=True)) ** 2, axis=axis))
