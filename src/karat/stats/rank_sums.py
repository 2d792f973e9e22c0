"""The rank sums of equally good systems: how far apart they lie by chance alone.

If systems are equally good, the ranks of a corpus could as well stand in any other order. So every order of every
corpus is tried, or where these are too many, some are drawn; ties stay as they are. This gives p on two or three
corpora too, where χ², F and the studentised range are far off.

Ranks are doubled and (k + 1) is taken off, so that they are whole numbers, tied or not, and add up to 0 in each corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import factorial, inf, nan, prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.stats.base import Floats, Ints
from karat.stats.resampling import CELLS, generator_of

How = Literal["exact", "sampled", "asymptotic"]
Whole = NDArray[np.signedinteger[Any]]
Rows = tuple[tuple[int, ...], ...]  # the doubled ranks of each corpus, from low to high

LARGEST_WORK = 10_000_000  # additions of one order of ranks to one set of sums: a second or two
SAMPLES = 99_999  # draws where the orders are too many
ROUNDING = 1e-9  # of shares that add up
MOST_RANKS = 2000  # of corpora times systems that draws are made of; for more, F and the studentised range do


@dataclass(frozen=True, slots=True)
class Chances:
    """How likely a statistic is to reach each of its values, of equally good systems."""

    values: Ints  # rising
    share: Floats  # of outcomes that are this large or larger
    sampled: bool

    def p(self, value: int) -> float:
        """The chance of this value or a larger one; of a sample, the value that was found is one of the outcomes."""
        at = int(np.searchsorted(self.values, value))
        return float(self.share[at]) if at < len(self.share) else self.floor

    @property
    def floor(self) -> float:
        """The smallest p that a sample can give; 0 where every outcome is known."""
        return 1 / (SAMPLES + 1) if self.sampled else 0.0

    def least(self, alpha: float) -> float:
        """The smallest value that is so rare as alpha, or infinity where none is."""
        rare = np.flatnonzero(self.share <= alpha * (1 + ROUNDING))
        return float(self.values[rare[0]]) if len(rare) else inf

    @property
    def smallest(self) -> float:
        """The p of the largest value."""
        return float(self.share[-1])


@dataclass(frozen=True, slots=True)
class RankSums:
    """The distribution of rank sums: of the sum of their squares, and of the width from the lowest to the highest."""

    how: How
    squares: Chances | None = None  # None where the distribution is not looked at
    widths: Chances | None = None

    @property
    def floor(self) -> float:
        """The smallest p that can come out for want of further draws."""
        return 0.0 if self.squares is None else self.squares.floor

    def squares_p(self, sums: Whole) -> float:
        """The p of Friedman's test, given the doubled and centred rank sums; NaN where it is not known."""
        return nan if self.squares is None else self.squares.p(int((sums.astype(np.int64) ** 2).sum()))

    def width_p(self, width: int) -> float:
        """The chance that any two of the rank sums are so far apart; NaN where it is not known."""
        return nan if self.widths is None else self.widths.p(width)


UNKNOWN = RankSums("asymptotic")


def rank_sums(doubled: Whole, seed: int = 0) -> RankSums:
    """The distribution of the sums of doubled and centred ranks, [corpora, systems], given the ties of each corpus.

    It is exact where trying all orders takes no more than LARGEST_WORK additions. Else it is of SAMPLES draws; and of
    more than MOST_RANKS ranks it is not looked at. Corpora that rank all systems alike say nothing and do not count.
    """
    rows = tuple(sorted(tuple(sorted(row)) for row in doubled.tolist() if any(row)))
    return _distribution(rows, doubled.shape[1], seed)


@lru_cache(maxsize=64)
def _distribution(rows: Rows, systems: int, seed: int) -> RankSums:
    if not rows:
        nothing = Chances(np.zeros(1, dtype=np.int64), np.ones(1), sampled=False)
        return RankSums("exact", nothing, nothing)
    every = _enumerated(rows)
    if every is not None:
        return RankSums("exact", *(_chances(values, share) for values, share in every))
    if len(rows) * systems > MOST_RANKS:
        return UNKNOWN
    return RankSums("sampled", *map(_sampled_chances, _sampled(rows, systems, seed)))


def _chances(values: Ints, share: Floats) -> Chances:
    return Chances(values, np.minimum(np.cumsum(share[::-1])[::-1], 1.0), sampled=False)


def _sampled_chances(outcomes: Ints) -> Chances:
    values, counts = np.unique(outcomes, return_counts=True)
    return Chances(values, (np.cumsum(counts[::-1])[::-1] + 1) / (SAMPLES + 1), sampled=True)


def _statistics(sums: Whole) -> tuple[Ints, Ints]:
    """(the sum of squares, the distance from the lowest to the highest) of each row of rank sums."""
    return (sums.astype(np.int64) ** 2).sum(axis=1), np.ptp(sums, axis=1).astype(np.int64)


# ---------------------------------------------------------------------------------------------- every order


def _enumerated(rows: Rows) -> list[tuple[Ints, Floats]] | None:
    """(values, the share of outcomes that have each) of both statistics; None where this is too much work.

    Corpus by corpus, all orders of its ranks are added to all sums so far. Systems are alike, so sums that differ by
    their order alone are one. The first corpus keeps its order; the last one's sums are not kept.
    """
    if sum(map(_order_count, rows[1:])) > LARGEST_WORK:
        return None
    sums, share = np.array(rows[:1], dtype=np.int32), np.ones(1)
    tallies: tuple[dict[int, float], dict[int, float]] = {}, {}
    work, count = 0, len(rows)
    for number, row in enumerate(rows[1:], start=2):
        left = LARGEST_WORK - work
        if len(sums) * _order_count(row) > left:
            return None
        added = orders(row)
        work += len(sums) * len(added)
        step = max(CELLS // added.size, 1)
        parts = []
        for start in range(0, len(sums), step):
            some = (sums[start : start + step, None] + added).reshape(-1, len(row))
            weights = np.repeat(share[start : start + step] / len(added), len(added))
            if number < count:
                some.sort(axis=1)
                parts.append(_merged(some, weights))
            else:
                for tally, values in zip(tallies, _statistics(some), strict=True):
                    _add(tally, values, weights)
        if number < count:
            sums, share = _merged(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    if count == 1:
        for tally, values in zip(tallies, _statistics(sums), strict=True):
            _add(tally, values, share)
    return [(np.array(sorted(tally)), np.array([tally[value] for value in sorted(tally)])) for tally in tallies]


def _add(tally: dict[int, float], values: Ints, weights: Floats) -> None:
    """Adds the weights of each value to a tally."""
    found, place = np.unique(values, return_inverse=True)
    for value, weight in zip(found.tolist(), np.bincount(place, weights).tolist(), strict=True):
        tally[value] = tally.get(value, 0.0) + weight


def _merged(sums: Whole, share: Floats) -> tuple[Whole, Floats]:
    """The distinct rows of sums, and the shares of equal ones added up."""
    low = int(sums.min())
    base = int(sums.max()) - low + 1
    together = max(int(62 / np.log2(max(base, 2))), 1)  # columns whose digits fit into one number
    words = []
    for start in range(0, sums.shape[1], together):
        word = np.zeros(len(sums), dtype=np.int64)
        for column in sums[:, start : start + together].T:
            word = word * base + (column - low)
        words.append(word)
    order = np.lexsort(words) if len(words) > 1 else np.argsort(words[0], kind="stable")
    apart = np.any([word[order][1:] != word[order][:-1] for word in words], axis=0)
    starts = np.flatnonzero(np.concatenate([[True], apart]))
    return sums[order[starts]], np.add.reduceat(share[order], starts)


def _order_count(row: tuple[int, ...]) -> int:
    """How many orders of some numbers differ."""
    return factorial(len(row)) // prod(factorial(row.count(value)) for value in set(row))


def orders(row: tuple[int, ...]) -> Whole:
    """Every order of some numbers that differs from the others, [orders, numbers].

    >>> orders((0, 0, 1)).tolist()
    [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    """
    return _orders(tuple(sorted(row)), {})


def _orders(row: tuple[int, ...], known: dict[tuple[int, ...], Whole]) -> Whole:
    if row not in known:
        parts = []
        for at, value in enumerate(row):
            if at == 0 or row[at - 1] != value:
                rest = _orders(row[:at] + row[at + 1 :], known)
                parts.append(np.column_stack([np.full(len(rest), value, dtype=np.int32), rest]))
        known[row] = np.concatenate(parts) if parts else np.zeros((1, 0), dtype=np.int32)
    return known[row]


# ---------------------------------------------------------------------------------------------- some orders


def _sampled(rows: Rows, systems: int, seed: int) -> tuple[Ints, Ints]:
    """Both statistics of orders that are drawn at random."""
    generator = generator_of(seed, "ranks", len(rows), systems)
    ranks = np.array(rows, dtype=np.int32)
    step = max(CELLS // ranks.size, 1)
    found = []
    for start in range(0, SAMPLES, step):
        some = np.broadcast_to(ranks, (min(step, SAMPLES - start), *ranks.shape))
        found.append(_statistics(generator.permuted(some, axis=2).sum(axis=1)))
    squares, widths = (np.concatenate(each) for each in zip(*found, strict=True))
    return squares, widths
