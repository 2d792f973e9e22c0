"""Intervals of shares, rates and means over documents, many at once.

A share of phrases is a ratio of two sums over documents, Σx / Σy: x_i phrases of document i are hits, of y_i. Phrases
of one document depend on each other, so documents are the units. The intervals are those of `influence.score_interval`
with the jackknife over the documents that contribute: (Σx − x_i) / (Σy − y_i) is the ratio without document i. They are
computed for many ratios in one call, and for documents with equal rows once.

A statistic of distinct phrases (documents of a phrase, names of a concept) depends on the number of documents. Its
interval is that of a corpus of as many documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.stats.base import ALIKE, Floats, Ints
from karat.stats.influence import (
    bounded_interval,
    check_level,
    contrast,
    degrees_of_freedom,
    jackknife,
    score_interval,
)
from karat.stats.resampling import CELLS, Sample

Interval = tuple[float, float]
UNDEFINED: Interval = (np.nan, np.nan)
SHARE: Interval = (0.0, 1.0)  # bounds of a share
BITS = 24  # of a part and of a whole in a key of ShareCounts


def left_out_intervals(
    value: Floats,
    without: Floats,
    counts: Floats,
    level: float = 0.95,
    bounds: Interval = SHARE,
) -> Floats:
    """Return the intervals of statistics from their values without each document, [..., 2] of [..., documents].

    Args:
        value: The statistics, [...].
        without: Each statistic without one document, [..., documents]; NaN where it is undefined.
        counts: The number of documents that each entry stands for; 0 where a document does not contribute.
        level: Confidence level.
        bounds: Smallest and largest value of the statistics.

    >>> left_out_intervals(np.array([0.0]), np.zeros((1, 100)), np.ones(100)).round(4).tolist()
    [[0.0, 0.0362]]
    """
    check_level(level)
    from scipy.special import stdtrit

    counts = np.broadcast_to(counts, without.shape)
    usable = np.where(np.isnan(without), 0.0, counts)
    n = usable.sum(axis=-1)
    usable = np.where((n > 1)[..., None], usable, 0.0)
    n = np.where(n > 1, n, counts.sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.nansum(usable * without, axis=-1) / usable.sum(axis=-1)
        influence = np.where(usable > 0, (mean[..., None] - without) * ((n - 1) / n)[..., None], 0.0)
        variance = (usable * influence**2).sum(axis=-1) * n / (n - 1)
    error = np.sqrt(np.where(n > 1, variance, np.nan))
    varies = error > ALIKE * np.maximum(np.abs(value), ALIKE)
    if np.isfinite(bounds).all():
        half = -stdtrit(np.maximum(n - 1.0, 1.0), (1 - level) / 2) * error
        return np.stack(bounded_interval(value, half, varies, n, level, bounds), axis=-1)
    half = -stdtrit(degrees_of_freedom(influence, n), (1 - level) / 2) * error
    return np.asarray(np.clip(np.stack([value - half, value + half], axis=-1), *bounds))


def ratio_intervals(
    parts: NDArray[Any],
    wholes: NDArray[Any],
    level: float = 0.95,
    bounds: Interval = SHARE,
    counts: NDArray[Any] | None = None,
) -> Floats:
    """Return the intervals of ratios of sums over documents, [..., 2] of [..., documents].

    A mean over documents has the whole 1. `counts` is the number of documents with each row, 1 by default.

    >>> hits, phrases = np.array([[2, 0, 1, 3], [0, 0, 0, 0]]), np.array([4, 2, 3, 5])
    >>> ratio_intervals(hits, phrases).round(3).tolist()
    [[0.156, 0.753], [0.0, 0.602]]
    """
    parts, wholes, rows = np.broadcast_arrays(parts, wholes, 1.0 if counts is None else counts)
    shape, documents = parts.shape[:-1], parts.shape[-1]
    flat = [each.reshape(prod(shape), documents) for each in (parts, wholes, rows)]
    step = max(CELLS // max(documents, 1), 1)
    ends = np.empty((len(flat[0]), 2))
    for start in range(0, len(ends), step):
        some = slice(start, start + step)
        x, y, weights = (each[some].astype(np.float64) for each in flat)
        weights = np.where((x != 0) | (y != 0), weights, 0.0)
        sums = [(weights * each).sum(axis=-1, keepdims=True) for each in (x, y)]
        with np.errstate(divide="ignore", invalid="ignore"):
            value = (sums[0] / sums[1])[:, 0]
            without = np.where(sums[1] != y, (sums[0] - x) / (sums[1] - y), np.nan)
        ends[some] = left_out_intervals(value, without, weights, level, bounds)
    return ends.reshape(*shape, 2)


def share_interval(
    parts: NDArray[Any], wholes: NDArray[Any], level: float = 0.95, bounds: Interval = SHARE
) -> Interval:
    """Return the interval of one ratio of sums over documents, as `ratio_intervals`.

    >>> [round(end, 3) for end in share_interval(np.array([2, 0, 1, 3]), np.array([4, 2, 3, 5]))]
    [0.156, 0.753]
    """
    low, high = ratio_intervals(parts, wholes, level, bounds).tolist()
    return low, high


def sample_interval(sample: Sample, level: float = 0.95, bounds: Interval = SHARE) -> Interval:
    """Return the interval of a statistic of rows, such as F1."""
    return score_interval(contrast(jackknife(sample)), level, bounds)


def inverse(interval: Interval) -> Interval:
    """Return the interval of 1/x, given that of x.

    >>> inverse((0.5, 1.0))
    (1.0, 2.0)
    """
    low, high = interval
    return 1 / high if high else np.inf, 1 / low if low else np.inf


# ---------------------------------------------------------------------------------------------- counts of rows


@dataclass(frozen=True, slots=True)
class ShareCounts:
    """For each of several shares the number of documents with each row (part, whole), which are whole numbers.

    It takes as much memory for a million documents as for a thousand, and does not depend on the order of documents.

    >>> one = ShareCounts.of({"hits": (np.array([1, 0, 1]), np.array([2, 0, 2]))})
    >>> two = ShareCounts.joined([one, ShareCounts.of({"hits": (np.array([1, 2]), np.array([2, 2]))})])
    >>> two.counts.tolist(), two.sums(), [round(end, 3) for end in two.intervals()["hits"]]
    ([3, 1], {'hits': (5, 8)}, [0.234, 0.901])
    """

    names: tuple[str, ...]
    keys: Ints  # rising: the number of the share, the part and the whole
    counts: Ints

    @classmethod
    def of(cls, columns: Mapping[str, tuple[NDArray[Any], NDArray[Any]]]) -> ShareCounts:
        """Count the rows of documents other than (0, 0), given (parts, wholes) of each share."""
        keys = [
            (parts[some].astype(np.int64) << BITS | wholes[some].astype(np.int64)) + (n << 2 * BITS)
            for n, (parts, wholes) in enumerate(columns.values())
            for some in [(parts > 0) | (wholes > 0)]
        ]
        return cls(tuple(columns), *np.unique(np.concatenate([_NONE, *keys]), return_counts=True))

    @classmethod
    def joined(cls, parts: Sequence[ShareCounts]) -> ShareCounts:
        """Return the counts of the documents of all parts. Raises InputError if their shares differ."""
        if len({part.names for part in parts}) != 1:
            raise InputError("counts of different shares cannot be added")
        keys, which = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
        counts = np.bincount(which.ravel(), np.concatenate([part.counts for part in parts]), len(keys))
        return cls(parts[0].names, keys, counts.astype(np.int64))

    def sums(self) -> dict[str, tuple[int, int]]:
        """Return the sums of the parts and of the wholes of each share."""
        parts, wholes, counts = (each.astype(np.int64) for each in self.rows())
        return {
            name: (int(part), int(whole))
            for name, part, whole in zip(
                self.names, (parts * counts).sum(axis=1), (wholes * counts).sum(axis=1), strict=True
            )
        }

    def intervals(self, level: float = 0.95) -> dict[str, Interval]:
        """Return the interval of each share."""
        parts, wholes, counts = self.rows()
        return named_intervals(self.names, ratio_intervals(parts, wholes, level, counts=counts))

    def rows(self) -> tuple[Floats, Floats, Floats]:
        """Return the parts, wholes and counts of the rows, [shares, rows] each, 0 where a share has fewer rows."""
        number = self.keys >> 2 * BITS
        sizes = np.bincount(number, minlength=len(self.names))
        place = np.arange(len(number)) - (np.cumsum(sizes) - sizes)[number]
        rows = np.zeros((3, len(self.names), int(sizes.max(initial=0))))
        rows[:, number, place] = self.keys >> BITS & _MASK, self.keys & _MASK, self.counts
        return rows[0], rows[1], rows[2]


_NONE = np.zeros(0, dtype=np.int64)
_MASK = (1 << BITS) - 1


def named_intervals(names: Iterable[str], ends: Floats) -> dict[str, Interval]:
    """Return intervals, [names, 2], by name."""
    return {name: (low, high) for name, (low, high) in zip(names, ends.tolist(), strict=True)}
