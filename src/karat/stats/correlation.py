"""Correlations of columns: coefficients, their confidence intervals, and comparisons of two of them.

A coefficient is a function of how often each item counts. So the sample and all samples without one unit are one call,
`correlate(x, y, weights)` with weights[samples, items], and each figure is exactly that of the coefficient computed
anew. An undefined coefficient is NaN. Intervals of single correlations are t intervals on Fisher's z scale with the
jackknife standard error; differences of two have a jackknife t interval and test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.stats.base import ALIKE, Floats, Ints
from karat.stats.difference import FEWEST, Difference, Inference, adjust_families
from karat.stats.effects import POWER
from karat.stats.influence import Contrast, Influences, contrast, interval_between, jackknife_of

COEFFICIENTS = ("pearson", "spearman", "kendall")

REACH = 2.0  # the largest difference of two correlations
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


# ---------------------------------------------------------------------------------------------- inference


def correlations(x: Floats, y: Floats, units: Ints) -> Influences:
    """Compute the three coefficients of two columns and the influence of each unit, with a leading axis of three.

    The coefficients use the items on which neither column is NaN; items of one unit are left out together.

    >>> found = correlations(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]), np.arange(4))
    >>> found.value.round(4).tolist(), found.influence.shape
    ([0.8, 0.8, 0.6667], (3, 1, 4))
    """
    both = ~np.isnan(x) & ~np.isnan(y)
    return jackknife_of(lambda weights: correlate(x[both], y[both], weights[:, both]), units, both)


def mean_correlations(several: Sequence[Influences]) -> Influences:
    """Return the mean of correlations over the same units, without those that are undefined."""
    values = np.stack([one.values for one in several])
    there = ~np.isnan(values)  # [several, 3, 1]
    count = there.sum(axis=0)
    influence = np.stack([one.influence for one in several])
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(there, values, 0.0).sum(axis=0) / count
        pull = np.where(there[..., None], influence, 0.0).sum(axis=0) / count[..., None]
    return Influences(mean, pull, np.logical_or.reduce([one.defined for one in several]))


def correlation_intervals(found: Influences, level: float = 0.95) -> list[tuple[float, float]]:
    """Return the interval of each coefficient: by t on Fisher's z scale, NaN where it is undefined.

    An interval is undefined with fewer than three units, and where a coefficient is undefined without one of them, as
    where all items but one have the same score.
    """
    one = contrast(found)
    if one.n < FEWEST:
        return [(nan, nan)] * len(COEFFICIENTS)
    parts = [_coefficient(one, i) for i in range(len(COEFFICIENTS))]
    return [interval_between(part, level, (-1.0, 1.0)) for part in parts]


def _coefficient(one: Contrast, which: int) -> Contrast:
    """Return the contrast of one coefficient."""
    value, documents, noise, seeds, df_documents, df_seeds = (
        np.asarray(part[which])
        for part in (one.value, one.documents, one.noise, one.seeds, one.df_documents, one.df_seeds)
    )
    return Contrast(value, documents, noise, seeds, one.n, df_documents, df_seeds)


def paired_correlations(
    columns: Sequence[Floats], y: Floats, units: Ints, pairs: Sequence[tuple[int, int]]
) -> list[tuple[Influences, Influences]]:
    """Return the correlations with y of the two columns of each pair, on the items on which both are defined."""
    cache: dict[tuple[int, bytes], Influences] = {}

    def on(column: int, both: NDArray[np.bool_]) -> Influences:
        key = column, both.tobytes()
        if key not in cache:
            cache[key] = correlations(np.where(both, columns[column], np.nan), y, units)
        return cache[key]

    defined = [~np.isnan(column) & ~np.isnan(y) for column in columns]
    return [(on(i, defined[i] & defined[j]), on(j, defined[i] & defined[j])) for i, j in pairs]


def compare_correlations(
    pairs: Sequence[tuple[Influences, Influences]], coefficient: str, how: Inference
) -> list[Difference]:
    """Compare the two correlations of each pair of `paired_correlations`.

    The test is a jackknife t; p is adjusted over all pairs, which are one family. Columns that correlate negatively
    with y by design are given with their sign changed.
    """
    which = COEFFICIENTS.index(coefficient)
    return adjust_families([_difference(a, b, which, how) for a, b in pairs], ["pairs"] * len(pairs), how)


def _difference(a: Influences, b: Influences, which: int, how: Inference) -> Difference:
    """Return the difference of one coefficient, with a jackknife t test."""
    apart = _coefficient(contrast(a, b), which)
    tested = apart.n >= FEWEST and bool(np.isfinite(apart.error))
    if tested and apart.value == 0 and apart.error <= ALIKE:  # of rounding alone
        apart = replace(apart, documents=np.zeros(()))
    influence = (a.mean_influence - b.mean_influence)[which] if apart.documents else np.zeros(len(a.defined))
    p = float(apart.p(how.alternative)) if tested else nan
    low, high = apart.interval(how.level, REACH) if tested else (nan, nan)
    return Difference(
        float(a.value[which]),
        float(b.value[which]),
        (max(float(low), -REACH), min(float(high), REACH)) if tested else (nan, nan),
        float(apart.error) if tested else nan,
        apart.n,
        p,
        "t",
        detectable=float(apart.detectable(how.alpha, POWER, how.alternative)) if tested else nan,
        tests={"t": p} if tested else {},
        contrast=apart,
        influence=np.where(a.defined, influence, np.nan),
    )
