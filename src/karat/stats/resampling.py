"""Resamples of documents: bootstrap and jackknife of any statistic, and the intervals that they give.

A statistic is a `Sample`: rows of numbers, and a function that finishes their weighted sums. Documents are drawn, and
a row counts as often as its document was drawn; so what is resampled is the number that is printed, F1 of means too,
and thousands of resamples are one call.

Resamples come in blocks. A block's random numbers depend on the seed, the number of documents and the block's own
number alone, and a block is always computed whole; so the digits are the same however blocks are spread over processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, unknown
from karat.stats.base import ALIKE, Floats, Ints, interval

Bytes = NDArray[np.uint8]
Method = Literal["bca", "percentile"]

METHODS: tuple[Method, ...] = ("bca", "percentile")
RESAMPLES = 10_000

CELLS = 1 << 20  # numbers in one array: what is drawn and computed at a time
LEAST_BLOCK, LARGEST_BLOCK = 32, 512  # resamples of a block
MULTIPLIED = 1 << 18  # multiplications of one matrix product: up to here OpenBLAS starts no threads, which cost more
LARGEST_JACKKNIFE = 200  # how many times items are finished anew without some of their documents
UNSETTLED = 255  # stands for a count that a byte leaves open
PURPOSES = {"documents": 0, "signs": 1, "ranks": 3, "families": 4}  # independent streams of random numbers


# ---------------------------------------------------------------------------------------------- samples


@dataclass(frozen=True, slots=True)
class Sample:
    """A statistic of some documents: its rows, and what turns them into a number.

    `finish` takes sums[..., width] and gives [...]; with `items` it takes (values, weights[..., rows]) instead. `units`
    tells the document of each row, [rows], or its two documents, [rows, 2]; without it row i is document i.
    `influences` of items spare the leave-one-out values.
    """

    values: Floats  # [rows, width]
    finish: Callable[..., Floats]
    units: Ints | None = None
    items: bool = False
    documents: int | None = None  # how many there are, where `units` does not name the last one
    influences: Callable[[Floats], Floats] | None = None  # of values, the influence of each row, where known exactly

    @property
    def size(self) -> int:
        """How many documents there are."""
        if self.documents is not None:
            return self.documents
        return len(self.values) if self.units is None else int(self.units.max(initial=-1)) + 1

    @property
    def pairwise(self) -> bool:
        """Whether each row belongs to two documents."""
        return self.units is not None and self.units.ndim == 2

    def row_documents(self) -> Ints:
        """Return the document of each row, [rows], or its two documents, [rows, 2]."""
        return np.arange(len(self.values)) if self.units is None else self.units

    def on(self, documents: NDArray[np.bool_]) -> Sample:
        """Return the sample of some documents, [documents]; rows of the others become undefined.

        >>> mean = lambda sums: sums[..., 0] / sums[..., 1]
        >>> Sample(np.array([[0.5, 1.0], [1.0, 1.0]]), mean).on(np.array([True, False])).value()
        0.5
        """
        units = self.row_documents()
        kept = np.asarray(documents[units] if units.ndim == 1 else documents[units].all(axis=1))
        if kept.all():
            return self
        if self.items:
            return replace(self, values=self.values[kept], units=units[kept], documents=self.size)
        return replace(self, values=np.where(kept[:, None], self.values, 0.0), documents=self.size)

    def by_document(self) -> Floats | None:
        """The sums of each document's rows, [documents, width]; None for items and for pairs of documents."""
        if self.items or self.pairwise:
            return None
        return self.values if self.units is None else grouped_sums(self.values, self.units, self.size)

    def defined(self) -> NDArray[np.bool_]:
        """Which documents bring anything to the statistic, [documents]: rows that are undefined are all zeros."""
        rows = np.ones(len(self.values)) if self.items else (self.values != 0).any(axis=1).astype(np.float64)
        units = np.arange(len(self.values)) if self.units is None else self.units
        if units.ndim == 2:
            units, rows = units.reshape(-1), np.repeat(rows, 2)
        return np.asarray(np.bincount(units, rows, minlength=self.size) > 0)

    def at(self, weights: NDArray[Any]) -> Floats:
        """The statistic of each resample, given how often each document is in it, weights[resamples, documents].

        >>> sample = Sample(np.array([[0.5, 1.0], [1.0, 1.0]]), lambda sums: sums[..., 0] / sums[..., 1])
        >>> sample.at(np.array([[1, 1], [2, 0]], dtype=np.uint8)).tolist()
        [0.75, 0.5]
        """
        if self.pairwise:
            raise InputError("pairs of documents cannot be resampled by documents: use the jackknife of pairs")
        rows = self.by_document()
        if rows is not None:
            return self.finish(weighted_sums(weights, rows))
        step = max(CELLS // max(len(self.values), 1), 1)
        parts = [self._at(weights[start : start + step]) for start in range(0, len(weights), step)]
        return np.concatenate(parts)

    def _at(self, weights: NDArray[Any]) -> Floats:
        return self.finish(self.values, weights.astype(np.float64)[:, self.row_documents()])

    def value(self) -> float:
        """The statistic of the documents as they are."""
        if self.items:
            return float(self.finish(self.values, np.ones(len(self.values))))
        return float(self.finish(self.values.sum(axis=0)))

    def each(self) -> Floats:
        """The statistic of each document by itself, [documents]; NaN where it is undefined."""
        rows = self.by_document()
        if rows is None:
            raise InputError("phrases and pairs of documents do not make one value a document: test by randomisation")
        return self.finish(rows)


def grouped_sums(values: Floats, group: Ints, count: int) -> Floats:
    """The sums of each group of rows, [count, width].

    >>> grouped_sums(np.array([[1.0], [2.0], [4.0]]), np.array([1, 0, 1]), 3).tolist()
    [[2.0], [5.0], [0.0]]
    """
    columns = [np.bincount(group, column, minlength=count) for column in values.T]
    return np.stack(columns, axis=1).astype(np.float64) if columns else np.zeros((count, 0))


def weighted_sums(weights: NDArray[Any], values: Floats) -> Floats:
    """weights[resamples, rows] @ values[rows, width], the weights being of any type.

    In parts that stay in the processor's cache when they are widened to float64. The parts depend on the shapes alone,
    and so do the last digits.
    """
    rows, width = max(len(values), 1), max(values.shape[1], 1)
    out = np.zeros((len(weights), values.shape[1]))
    some = max(LEAST_BLOCK, MULTIPLIED // (rows * width))
    step = max(MULTIPLIED // (min(some, len(weights) or 1) * width), 1)
    for top in range(0, len(weights), some):
        part = weights[top : top + some]
        for start in range(0, rows, step):
            out[top : top + some] += part[:, start : start + step].astype(np.float64) @ values[start : start + step]
    return out


def stacked(parts: Sequence[Floats | None], rows: int) -> tuple[Floats, list[int]]:
    """(the parts beside each other, so that one product does for all; where to split it), nothing standing for None."""
    there = [np.zeros((rows, 0)) if part is None else part for part in parts]
    return np.concatenate(there, axis=1), np.cumsum([part.shape[1] for part in there])[:-1].tolist()


def same_size(samples: Sequence[Sample]) -> int:
    """How many documents all the samples have. Raises InputError if they differ."""
    sizes = sorted({sample.size for sample in samples})
    if len(sizes) != 1:
        found = " and ".join(f"{size:,}" for size in sizes) or "no"
        raise InputError(f"samples of {found} documents cannot be compared: give the same documents in the same order")
    return sizes[0]


# ---------------------------------------------------------------------------------------------- random numbers


def generator_of(seed: int, purpose: str, *place: int) -> np.random.Generator:
    """The random numbers of a block, or of whatever else the place stands for."""
    if seed < 0:
        raise InputError(f"seed {seed} is below 0: write a whole number from 0 on")
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(PURPOSES[purpose], *place))))


def block_size(units: int) -> int:
    """How many resamples a block has: the more, the fewer the documents."""
    fit = CELLS // max(units, 1) // LEAST_BLOCK * LEAST_BLOCK
    return min(max(fit, LEAST_BLOCK), LARGEST_BLOCK)


def blocks(units: int, resamples: int, start: int = 0) -> Iterator[tuple[int, slice]]:
    """(number of a block, which part of its resamples to take), for the resamples from `start` on."""
    if resamples < 1:
        raise InputError(f"{resamples} resamples are too few: write a whole number from 1 on")
    size, end = block_size(units), start + resamples
    for block in range(start // size, -(-end // size)):
        first = block * size
        yield block, slice(max(start - first, 0), min(end - first, size))


def coins(units: int, block: int, seed: int, stream: int = 0) -> Bytes:
    """Return 0 or 1, equally likely, for each unit in each resample of a block, [resamples, units].

    Streams are independent of each other; `stream` 0 is that of a corpus by itself.
    """
    size = block_size(units)
    place = (block, stream) if stream else (block,)
    bits = np.frombuffer(generator_of(seed, "signs", *place).bytes(size * -(-units // 8)), dtype=np.uint8)
    return np.unpackbits(bits.reshape(size, -1), axis=1, count=units)


def draws(documents: int, block: int, seed: int) -> Bytes:
    """How often each document is drawn in each resample of a block, [resamples, documents].

    A resample is as many draws with replacement as there are documents, so its counts are multinomial. One draw at a
    time would take long; but independent Poisson counts are multinomial as well once their sum is given. So each
    document gets a Poisson count with a mean somewhat below 1, and the draws that are missing then are made one by
    one. In the rare resample where the counts are too many already, all draws are made one by one.
    """
    generator = generator_of(seed, "documents", block)
    size = block_size(documents)
    drawn = _poisson(generator, documents, size * documents).reshape(size, documents)
    total = drawn.sum(axis=1, dtype=np.int64)
    over = total > documents
    drawn[over], total[over] = 0, 0
    missing = documents - total
    place = np.repeat(np.arange(size) * documents, missing)
    place += generator.integers(documents, size=len(place))
    np.add.at(drawn.reshape(-1), place, np.uint8(1))
    return drawn


def _poisson(generator: np.random.Generator, documents: int, count: int) -> Bytes:
    """Poisson counts. A random byte settles most of them; where it does not, further bits do."""
    table, until = _poisson_table(documents)
    random = generator.bytes(count)
    found = np.frombuffer(bytearray(random.translate(table)), dtype=np.uint8)
    open_ = np.flatnonzero(found == UNSETTLED)
    first = np.frombuffer(random, dtype=np.uint8)[open_]
    found[open_] = np.searchsorted(until, (first + generator.random(len(open_))) / 256, side="right")
    return found


@lru_cache(maxsize=16)
def _poisson_table(documents: int) -> tuple[bytes, Floats]:
    """(the count that each byte settles, the probability of each count or a lower one)."""
    mean = max(1 - 4 / sqrt(documents), 0.0)  # four standard deviations of the sum below the number of draws
    share = [exp(-mean)]
    while len(share) < 30:
        share.append(share[-1] * mean / len(share))
    until = np.cumsum(share)
    lowest = np.searchsorted(until, np.arange(256) / 256, side="right")
    highest = np.searchsorted(until, np.arange(1, 257) / 256, side="left")
    return np.where(lowest == highest, lowest, UNSETTLED).astype(np.uint8).tobytes(), until


# ---------------------------------------------------------------------------------------------- bootstrap and jackknife


def bootstrap(samples: Sequence[Sample], resamples: int = RESAMPLES, seed: int = 0, start: int = 0) -> Floats:
    """The statistic of every sample on every resample of the documents, [samples, resamples].

    All samples see the same resamples, and so does whatever is bootstrapped elsewhere with this seed over as many
    documents. `start` skips resamples: two halves computed apart are the whole.
    """
    documents = same_size(samples)
    if not documents:
        return np.full((len(samples), resamples), np.nan)
    rows = [sample.by_document() for sample in samples]
    stack, edges = stacked(rows, documents)
    found = []
    for block, part in blocks(documents, resamples, start):
        weights = draws(documents, block, seed)
        sums = np.split(weighted_sums(weights, stack), edges, axis=1)
        each = [
            sample.at(weights) if own is None else sample.finish(sums[i])
            for i, (sample, own) in enumerate(zip(samples, rows, strict=True))
        ]
        found.append(np.stack(each)[:, part])
    return np.concatenate(found, axis=1)


def bootstrap_of(statistic: Callable[[Floats], Floats], items: int, resamples: int, seed: int) -> Floats:
    """A statistic of weighted items on every resample, [..., resamples]; it gets weights[some resamples, items].

    The resamples are those of `bootstrap` with this seed over as many documents.
    """
    parts = (draws(items, block, seed)[part] for block, part in blocks(items, resamples))
    return np.concatenate([statistic(weights.astype(np.float64)) for weights in parts], axis=-1)


def bootstrap_interval(
    statistic: Callable[[Floats], Floats], units: Ints, level: float, resamples: int, seed: int = 0
) -> tuple[Floats, Floats]:
    """Return (low, high) of statistics of weighted items: value ± t s, with s their deviation over resamples of units.

    t has n − 1 degrees of freedom for n units, which makes up for few units, where percentiles are too narrow.

    Args:
        statistic: takes weights[some, items], which are whole numbers, and returns [..., some].
        units: the unit of each item; items of one unit, such as a document, are drawn together.
        level: the confidence.
        resamples: how many times the units are drawn with replacement.
        seed: of the draws.

    >>> mean = lambda weights: weights @ np.array([0.5, 1.0, 0.0, 0.5]) / weights.sum(axis=1)
    >>> [round(float(end), 1) for end in bootstrap_interval(mean, np.arange(4), 0.95, 1000)]
    [-0.1, 1.1]
    """
    from scipy.special import stdtrit

    distinct, unit = np.unique(units, return_inverse=True)
    value = statistic(np.ones((1, len(units))))[..., 0]
    resampled = bootstrap_of(lambda weights: statistic(weights[:, unit]), len(distinct), resamples, seed)
    half = stdtrit(max(len(distinct) - 1, 1), (1 + level) / 2) * resampled.std(axis=-1, ddof=1)
    half = half if len(distinct) > 1 else np.full(np.shape(value), np.nan)
    return value - half, value + half


def left_out(sample: Sample, most: int = LARGEST_JACKKNIFE) -> Floats:
    """Return the statistic without each document in turn, [documents], or without each pair of documents, [pairs].

    Items are finished anew each time; so of more documents than `most` every so many-th is left out together, [most].
    """
    if sample.items:
        return _items_left_out(sample, most)
    rows = sample.by_document()
    rows = sample.values if rows is None else rows  # to leave out documents would double the variance of pairs
    return sample.finish(rows.sum(axis=0) - rows)


def _items_left_out(sample: Sample, most: int) -> Floats:
    groups = min(sample.size, most)
    group = np.arange(sample.size) % groups
    step = max(CELLS // max(sample.size, 1), 1)
    parts = [np.arange(start, min(start + step, groups)) for start in range(0, groups, step)]
    return np.concatenate([sample.at((part[:, None] != group).astype(np.uint8)) for part in parts])


# ---------------------------------------------------------------------------------------------- estimates


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and how it varies: its value, that of every resample, and that without each document in turn."""

    value: float
    resampled: Floats  # [resamples]
    left_out: Floats  # [documents], or groups of them
    documents: int

    @property
    def undefined(self) -> int:
        """How many resamples are undefined, and left out."""
        return int(np.isnan(self.resampled).sum())


def estimate(samples: Sequence[Sample], resamples: int = RESAMPLES, seed: int = 0) -> list[Estimate]:
    """An estimate of each sample, all on the same resamples, so that they can be compared."""
    found = bootstrap(samples, resamples, seed)
    return [
        Estimate(sample.value(), resampled, left_out(sample), sample.size)
        for sample, resampled in zip(samples, found, strict=True)
    ]


# ---------------------------------------------------------------------------------------------- intervals


def interval_of(found: Estimate, level: float = 0.95, method: Method = "bca") -> tuple[float, float]:
    """(low, high) of an estimate by its resamples; NaN where it is undefined.

    `percentile` cuts the resamples at both ends alike. `bca` moves the cuts by the bias of the resamples and by how
    the spread changes with the value (Efron 1987). Where these cannot be found, its interval is that of percentiles.
    """
    if method not in METHODS:
        raise unknown("interval", method, METHODS)
    if not 0 < level < 1:
        raise InputError(f"level {level} is not between 0 and 1: write .95 for an interval of 95 %")
    if np.isnan(found.value):
        return np.nan, np.nan
    ends = _bca_ends(found, level) if method == "bca" else None
    defined = found.resampled[~np.isnan(found.resampled)]
    if ends is None or not len(defined):
        return interval(found.resampled, level)
    low, high = np.quantile(defined, ends).tolist()
    return low, high


def _bca_ends(found: Estimate, level: float) -> Floats | None:
    """Where BCa cuts the resamples, [2] of shares; None where all are on one side, or nothing varies.

    z₀ is the normal quantile of the share of resamples below the value, ties half. Each end z of the normal interval
    becomes z₀ + (z₀ + z) / (1 − a (z₀ + z)), with the acceleration a.
    """
    from scipy.special import ndtr, ndtri

    defined = found.resampled[~np.isnan(found.resampled)]
    near = ALIKE * max(abs(found.value), np.abs(defined).max(initial=0.0))
    share = ((defined < found.value - near).mean() + (defined <= found.value + near).mean()) / 2 if len(defined) else 0
    a = acceleration(found)
    if not 0 < share < 1 or np.isnan(a):
        return None
    moved = ndtri(share) + ndtri([(1 - level) / 2, (1 + level) / 2])
    if (1 - a * moved <= 0).any():
        return None
    return np.asarray(ndtr(ndtri(share) + moved / (1 - a * moved)))


def acceleration(found: Estimate) -> float:
    """How quickly the standard error changes with the value: Σu³ / (6 (Σu²)^1.5); NaN where nothing varies.

    u is the pull of each document: the mean of all values with one left out, less the value without this one.
    """
    some = found.left_out[~np.isnan(found.left_out)]
    if len(some) < 2:
        return np.nan
    pull = (some.mean() - some) * (len(some) - 1) / len(some)
    squares = float((pull**2).sum())
    if sqrt(squares) <= ALIKE * abs(found.value):
        return np.nan
    return float((pull**3).sum() / (6 * squares**1.5))
