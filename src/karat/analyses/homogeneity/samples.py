"""What is found of pairs, as samples whose documents can be drawn again: a mean, and how two columns go together.

A pair counts as often as its two documents were drawn together, the product of how often each was. A reformulation is
drawn with its source, of which it is made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.metrics.base import divide, mean, rows
from karat.pairs.sets import Floats, Ints
from karat.stats.resampling import Sample

FLAT = 1e-9  # a spread that rounding alone can make, in standard deviations of the whole


@dataclass(frozen=True, slots=True)
class Units:
    """What is drawn again: the document or the two documents of each pair, by number, and how many there are."""

    of_pair: Ints  # [pairs] or [pairs, 2]
    count: int

    @classmethod
    def of(cls, a: Ints, b: Ints, together: bool) -> Units:
        """The two documents of each pair, or where they are drawn together the first."""
        if together:
            distinct, number = np.unique(a, return_inverse=True)
            return cls(number, len(distinct))
        distinct, number = np.unique(np.stack([a, b], axis=1), return_inverse=True)
        return cls(number.reshape(-1, 2), len(distinct))


def mean_of(values: Floats, units: Units) -> Sample:
    """The mean over the pairs, those that are NaN left out."""
    return Sample(rows(values).values, mean, units.of_pair, documents=units.count)


def pearson_of(x: Floats, y: Floats, units: Units) -> Sample:
    """Pearson's r of two columns over the pairs on which neither is NaN, from sums of their products.

    >>> units = Units(np.arange(4), 4)
    >>> round(pearson_of(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4]), units).value(), 4)
    0.8
    """
    there = ~np.isnan(x) & ~np.isnan(y)
    u, v = (_standard(column, there) for column in (x, y))
    values = np.stack([u, v, u * u, v * v, u * v, there.astype(np.float64)], axis=1)
    return Sample(values, _pearson, units.of_pair, documents=units.count)


def _standard(column: Floats, there: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    """The column in standard deviations from its mean, 0 where it is left out: sums of it lose no digits."""
    some = column[there]
    spread = some.std() if len(some) else 0.0
    moved = np.where(there, column - (some.mean() if len(some) else 0.0), 0.0)
    return np.asarray(moved / (spread if spread > FLAT * np.abs(some).max(initial=0.0) else np.inf))


def _pearson(sums: Floats) -> Floats:
    u, v, uu, vv, uv, _ = np.moveaxis(divide(sums, sums[..., -1:]), -1, 0)
    spread_u, spread_v = uu - u * u, vv - v * v
    flat = (spread_u < FLAT) | (spread_v < FLAT)
    r = divide(uv - u * v, np.sqrt(np.where(flat, 0.0, spread_u) * np.where(flat, 0.0, spread_v)))
    return np.asarray(np.clip(r, -1.0, 1.0))


def spearman_of(x: Floats, y: Floats, units: Units) -> Sample:
    """Spearman's rho of two columns over the pairs on which neither is NaN: Pearson's r of their mean ranks.

    Ranks are those of each resample, an item that was drawn twice being two equal ones.

    >>> units = Units(np.arange(4), 4)
    >>> round(spearman_of(np.array([1.0, 2, 3, 9]), np.array([1.0, 3, 2, 4]), units).value(), 4)
    0.8
    """
    there = ~np.isnan(x) & ~np.isnan(y)
    levels = [np.unique(column[there], return_inverse=True)[1] for column in (x, y)]
    values = np.stack(levels, axis=1).astype(np.float64)
    return Sample(values, _spearman, units.of_pair[there], items=True, documents=units.count)


def _spearman(values: Floats, weights: Floats) -> Floats:
    """Of levels[pairs, 2] and weights[..., pairs]."""
    total = weights.sum(axis=-1, keepdims=True)
    ranks = [_ranks(column.astype(np.int64), weights) for column in values.T]
    u, v = (each - divide((weights * each).sum(axis=-1, keepdims=True), total) for each in ranks)
    spread = (weights * u * u).sum(axis=-1) * (weights * v * v).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        r = divide((weights * u * v).sum(axis=-1), np.sqrt(np.where(spread > FLAT, spread, 0.0)))
    return np.clip(r, -1.0, 1.0)


def _ranks(level: Ints, weights: Floats) -> Floats:
    """The rank of each pair within each resample, equal ones sharing their mean rank."""
    order = np.argsort(level, kind="stable")
    if not len(order):
        return np.zeros_like(weights)
    starts = np.searchsorted(level[order], np.arange(level.max() + 1))
    ties = np.add.reduceat(weights[..., order], starts, axis=-1)  # [..., levels]
    return np.asarray((np.cumsum(ties, axis=-1) - (ties - 1) / 2)[..., level])
