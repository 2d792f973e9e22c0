"""Statistics of pairs as samples: a mean, a ratio, and the correlation of two columns.

The unit of a pair is its two documents; that of a reformulation and its source is the source.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.metrics.base import divide, mean, rows
from karat.pairs.sets import Floats, Ints
from karat.stats.rank_correlation import spearman, spearman_influence
from karat.stats.resampling import Sample

SHARE, ERROR_RATE = (0.0, 1.0), (0.0, float("inf"))  # bounds of statistics
FLAT = 1e-9  # a spread that rounding alone can make, in standard deviations of the whole


@dataclass(frozen=True, slots=True)
class Units:
    """The document or the two documents of each pair, by number, and how many documents there are."""

    of_pair: Ints  # [pairs] or [pairs, 2]
    count: int

    @classmethod
    def of(cls, a: Ints, b: Ints, together: bool) -> Units:
        """Number the two documents of each pair, or, where b is made of a, the document a."""
        if together:
            distinct, number = np.unique(a, return_inverse=True)
            return cls(number, len(distinct))
        distinct, number = np.unique(np.stack([a, b], axis=1), return_inverse=True)
        return cls(number.reshape(-1, 2), len(distinct))


def mean_of(values: Floats, units: Units) -> Sample:
    """Return the mean over the pairs, without those that are NaN."""
    return Sample(rows(values).values, mean, units.of_pair, documents=units.count)


def ratio_of(part: Ints, whole: Ints, units: Units) -> Sample:
    """Return the sum of one column over that of another."""
    values = np.stack([part, whole], axis=1).astype(np.float64)
    return Sample(values, _ratio, units.of_pair, documents=units.count)


def _ratio(sums: Floats) -> Floats:
    return divide(sums[..., 0], sums[..., 1])


def pearson_of(x: Floats, y: Floats, units: Units) -> Sample:
    """Return Pearson's r of two columns over the pairs on which neither is NaN, from sums of their products.

    >>> units = Units(np.arange(4), 4)
    >>> round(pearson_of(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4]), units).value(), 4)
    0.8
    """
    both = ~np.isnan(x) & ~np.isnan(y)
    u, v = (_standard(column, both) for column in (x, y))
    values = np.stack([u, v, u * u, v * v, u * v, both.astype(np.float64)], axis=1)
    return Sample(values, _pearson, units.of_pair, documents=units.count)


def _standard(column: Floats, defined: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    """Return the column in standard deviations from its mean, 0 where it is undefined: sums of it lose no digits."""
    some = column[defined]
    spread = some.std() if len(some) else 0.0
    moved = np.where(defined, column - (some.mean() if len(some) else 0.0), 0.0)
    return np.asarray(moved / (spread if spread > FLAT * np.abs(some).max(initial=0.0) else np.inf))


def _pearson(sums: Floats) -> Floats:
    u, v, uu, vv, uv, _ = np.moveaxis(divide(sums, sums[..., -1:]), -1, 0)
    spread_u, spread_v = uu - u * u, vv - v * v
    flat = (spread_u < FLAT) | (spread_v < FLAT)
    r = divide(uv - u * v, np.sqrt(np.where(flat, 0.0, spread_u) * np.where(flat, 0.0, spread_v)))
    return np.asarray(np.clip(r, -1.0, 1.0))


def spearman_of(x: Floats, y: Floats, units: Units) -> Sample:
    """Return Spearman's rho of two columns over the pairs on which neither is NaN: Pearson's r of their mean ranks.

    >>> units = Units(np.arange(4), 4)
    >>> round(spearman_of(np.array([1.0, 2, 3, 9]), np.array([1.0, 3, 2, 4]), units).value(), 4)
    0.8
    """
    both = ~np.isnan(x) & ~np.isnan(y)
    levels = [np.unique(column[both], return_inverse=True)[1] for column in (x, y)]
    values = np.stack(levels, axis=1).astype(np.float64)
    own = units.of_pair[both]
    return Sample(values, spearman, own, items=True, documents=units.count, influences=spearman_influence)
