"""Tests of two systems on the same documents: whether their difference is more than chance.

Randomisation tests the printed number; Wilcoxon's test goes by the values of documents, McNemar's by the references
found. Every test is two-sided unless an alternative is given: `greater` asks whether the first system's number is
higher than the second's, `less` whether it is lower.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from karat.errors import InputError
from karat.stats.base import ALIKE, Floats, Ints
from karat.stats.families import max_t
from karat.stats.influence import Alternative, check_alternative
from karat.stats.resampling import (
    CELLS,
    RESAMPLES,
    Bytes,
    Sample,
    blocks,
    coins,
    grouped_sums,
    same_size,
    stacked,
    weighted_sums,
)

LARGEST_EXACT = 14  # documents whose swaps are all tried: 16,384 of them
LARGEST_EXACT_RANKS = 50  # differences whose ranks are given every sign
ALPHA = 0.05
EQUAL = "the two are equal on every document, so p is 1"


@dataclass(frozen=True, slots=True)
class Tested:
    """What a test found."""

    p: float  # NaN where there is nothing to go by
    statistic: float  # the difference, or the test's own (t, W)
    n: int  # what the test goes by: documents that differ, values, phrases
    exact: bool = False  # whether every possible outcome was looked at
    resamples: int = 0  # how many outcomes were looked at, those that are undefined left out
    notes: tuple[str, ...] = ()
    at_floor: bool = False  # whether p is the smallest that so many resamples can give: the true one may be less


def _extreme(outcomes: Floats, observed: float, scale: float, alternative: Alternative) -> tuple[int, int]:
    """(how many outcomes are at least as far from zero as the observed one, how many are defined).

    With an alternative only those count that are at least as far in its direction.
    """
    check_alternative(alternative)
    defined, near = outcomes[~np.isnan(outcomes)], ALIKE * scale
    if alternative == "greater":
        return int((defined >= observed - near).sum()), len(defined)
    if alternative == "less":
        return int((defined <= observed + near).sum()), len(defined)
    return int((np.abs(defined) >= abs(observed) - near).sum()), len(defined)


def _undefined(outcomes: Floats) -> tuple[str, ...]:
    count = int(np.isnan(outcomes).sum())
    return (f"{count:,} of {len(outcomes):,} resamples are undefined and left out",) if count else ()


# ---------------------------------------------------------------------------------------------- randomisation


def randomisation(
    a: Sample, b: Sample, resamples: int = RESAMPLES, seed: int = 0, alternative: Alternative = "two-sided"
) -> Tested:
    """The test that it does not matter which system a document's rows are of, by swapping them (Noreen 1989; Yeh 2000).

    Each document's rows change places with probability 1/2, and the difference of the two statistics is computed anew.
    Of R such differences c are at least as far from zero as the one that was found: p = (c + 1) / (R + 1). Where no
    more than 14 documents differ, all their swaps are tried, that of none among them: p = c / 2^n. With the
    alternative `greater` c counts the differences that are at least as high, with `less` those that are as low.
    """
    return randomisations([(a, b)], resamples, seed, alternative)[0]


def randomisations(
    pairs: Sequence[tuple[Sample, Sample]],
    resamples: int = RESAMPLES,
    seed: int = 0,
    alternative: Alternative = "two-sided",
) -> list[Tested]:
    """The same for several pairs at once, quicker than one by one; pairs of equally many documents share the swaps."""
    swaps = [_swap(a, b) for a, b in pairs]
    outcomes: dict[int, Floats] = {}
    alike: dict[int, list[int]] = defaultdict(list)
    for i, swap in enumerate(swaps):
        if len(swap.moving) <= LARGEST_EXACT:
            outcomes[i] = _exact(swap)
        else:
            alike[swap.documents].append(i)
    for documents, some in alike.items():
        outcomes.update(zip(some, _random([swaps[i] for i in some], documents, resamples, seed), strict=True))
    return [_randomised(swap, outcomes[i], alternative) for i, swap in enumerate(swaps)]


@dataclass(frozen=True, slots=True)
class _Swap:
    """Two systems, and the documents that can change places."""

    a: Sample
    b: Sample
    documents: int
    moving: Ints  # the documents whose swap makes a difference
    moves: Floats | None = None  # by how much a swap lowers the sums of a and raises those of b; None for items
    sums: tuple[Floats, Floats] | None = None

    def by_sums(self, moved: Floats) -> Floats:
        """The differences, given by how much the sums are moved, [..., width]."""
        assert self.sums is not None
        of_a, of_b = self.sums
        return np.asarray(self.a.finish(of_a - moved) - self.b.finish(of_b + moved))

    def by_items(self, swapped: Bytes) -> Floats:
        """The differences, given which documents are swapped, [swaps, documents], of the items of both systems."""
        values = np.concatenate([self.a.values, self.b.values])
        place = np.concatenate([self.a.row_documents(), self.b.row_documents()])
        own = np.arange(len(values)) < len(self.a.values)
        step, found = max(CELLS // max(len(values), 1), 1), []
        for start in range(0, len(swapped), step):
            in_a = (swapped[start : start + step, place] != own).astype(np.float64)  # [swaps, items]
            found.append(self.a.finish(values, in_a) - self.b.finish(values, 1 - in_a))
        return np.concatenate(found)


def _swap(a: Sample, b: Sample) -> _Swap:
    documents = same_size([a, b])
    if a.items != b.items or a.values.shape[1] != b.values.shape[1]:
        raise InputError("samples of different statistics cannot be compared: give the same metric of both systems")
    if a.pairwise or b.pairwise:
        raise InputError("pairs of documents cannot be swapped: use t with dyadic standard errors")
    if a.items:
        equal = np.array_equal(a.values, b.values) and np.array_equal(a.row_documents(), b.row_documents())
        return _Swap(a, b, documents, np.arange(0 if equal else documents))
    of_a, of_b = (grouped_sums(one.values, one.row_documents(), documents) for one in (a, b))
    moving = np.flatnonzero((of_a != of_b).any(axis=1))
    return _Swap(a, b, documents, moving, of_a - of_b, (a.values.sum(axis=0), b.values.sum(axis=0)))


def _exact(swap: _Swap) -> Floats:
    """The difference after each possible swap."""
    count = len(swap.moving)
    every = (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.uint8)  # [swaps, documents]
    if swap.moves is not None:
        return swap.by_sums(weighted_sums(every, swap.moves[swap.moving]))
    whole = np.zeros((len(every), swap.documents), dtype=np.uint8)
    whole[:, swap.moving] = every
    return swap.by_items(whole)


def _random(swaps: Sequence[_Swap], documents: int, resamples: int, seed: int) -> list[Floats]:
    """The differences of each pair after random swaps, which are the same for all."""
    stack, edges = stacked([swap.moves for swap in swaps], documents)
    found: list[list[Floats]] = [[] for _ in swaps]
    for block, part in blocks(documents, resamples):
        swapped = coins(documents, block, seed)
        moved = np.split(weighted_sums(swapped, stack), edges, axis=1)
        for i, swap in enumerate(swaps):
            found[i].append((swap.by_items(swapped) if swap.moves is None else swap.by_sums(moved[i]))[part])
    return [np.concatenate(parts) for parts in found]


def _randomised(swap: _Swap, outcomes: Floats, alternative: Alternative) -> Tested:
    of_a, of_b = swap.a.value(), swap.b.value()
    n, exact = len(swap.moving), len(swap.moving) <= LARGEST_EXACT
    count, defined = _extreme(outcomes, of_a - of_b, max(abs(of_a), abs(of_b)), alternative)
    known = not np.isnan(of_a - of_b) and defined > 0
    p = np.nan if not known else count / defined if exact else (count + 1) / (defined + 1)
    notes = _undefined(outcomes)
    smallest = (2 if alternative == "two-sided" else 1) / 2**n
    if n == 0:
        notes += (EQUAL,)
    elif smallest > ALPHA:
        differ = "document differs" if n == 1 else "documents differ"
        notes += (f"only {n} {differ}, so p cannot be below {smallest:.4g}",)
    return Tested(p, of_a - of_b, n, exact, defined, notes, at_floor=known and not exact and count == 0)


# ---------------------------------------------------------------------------------------------- values of documents


def differences(x: Floats, y: Floats) -> Floats:
    """x − y of the documents on which both are defined, those that only rounding sets apart being 0.

    >>> differences(np.array([0.3, np.nan, 1.0]), np.array([0.1 + 0.2, 0.5, 0.5])).tolist()
    [0.0, 0.5]
    """
    if x.shape != y.shape:
        raise InputError(f"{len(x):,} and {len(y):,} values are no pairs: give those of the same documents")
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    return np.where(np.abs(x - y) <= ALIKE * np.maximum(np.abs(x), np.abs(y)), 0.0, x - y)


def _sides(alternative: Alternative) -> int:
    return 2 if alternative == "two-sided" else 1


def wilcoxon(x: Floats, y: Floats, alternative: Alternative = "two-sided") -> Tested:
    """Wilcoxon's signed-rank test: W is the smaller of the sums of ranks of positive and of negative differences.

    Documents that do not differ are left out, and equal differences share their mean rank. Where up to 50 documents are
    left, p is exact, ties or not: twice the share of all 2^n signs with so small a W. For more it is that of the normal
    approximation, with mean n(n + 1)/4 and variance n(n + 1)(2n + 1)/24 − Σ(t³ − t)/48 over sets of t ties. With an
    alternative W is the sum of ranks of positive differences, and p the share of signs with so high or so low a sum.
    """
    check_alternative(alternative)
    d = differences(x, y)
    if not len(d):
        return Tested(np.nan, np.nan, 0, notes=("Wilcoxon's test needs a document or more",))
    d = d[d != 0]
    n = len(d)
    if not n:
        return Tested(1.0, 0.0, 0, notes=(EQUAL,))
    size = np.round(np.abs(d) / np.abs(d).max(), 12)  # what rounding alone sets apart is tied
    _, level, ties = np.unique(size, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[level]
    above = float(ranks[d > 0].sum())
    below = n * (n + 1) / 2 - above
    # Signs are even: a sum of positive ranks as high as this is as likely as one of negative ranks as low as theirs.
    low = {"two-sided": min(above, below), "greater": below, "less": above}[alternative]
    w = low if alternative == "two-sided" else above
    if n <= LARGEST_EXACT_RANKS:
        return Tested(min(1.0, _sides(alternative) * _share_of_signs(ranks, low)), w, n, exact=True)
    from scipy.special import ndtr

    variance = n * (n + 1) * (2 * n + 1) / 24 - float((ties**3 - ties).sum()) / 48
    return Tested(float(_sides(alternative) * ndtr((low - n * (n + 1) / 4) / sqrt(variance))), w, n)


def _share_of_signs(ranks: Floats, most: float) -> float:
    """The share of all choices of ranks whose sum is no more than `most`, by adding one rank after the other."""
    twice = np.round(2 * ranks).astype(np.int64)  # mean ranks are halves
    share = np.zeros(int(twice.sum()) + 1)
    share[0] = 1.0
    for rank in twice.tolist():
        share[rank:] = share[rank:] / 2 + share[:-rank] / 2
        share[:rank] /= 2
    return float(share[: round(2 * most) + 1].sum())


# ---------------------------------------------------------------------------------------------- hits of phrases


@dataclass(frozen=True, slots=True)
class McNemarByDocument:
    """References that one system alone finds, and the p-value of the hypothesis that both find as many."""

    only_a: int
    only_b: int
    p: float
    at_floor: bool


def mcnemar_by_document(
    a: Sample, b: Sample, resamples: int = RESAMPLES, seed: int = 0, alternative: Alternative = "two-sided"
) -> McNemarByDocument:
    """Test whether two systems find equally many of the same references (McNemar 1947), by document.

    Each row of both samples is a reference, with 1 in its first column if the system finds it. References of a
    document depend on each other, so that McNemar's binomial p rejects too often on absent references. Here the net
    number of references that a finds and b does not gets a random sign for each document; where 14 documents or fewer
    differ, all signs are tried. With one reference a document this is the exact test of McNemar.

    >>> hits = [Sample(np.array([[h, 1.0] for h in row]), np.sum) for row in ([1, 1, 1, 1, 0, 1], [0, 0, 0, 0, 1, 1])]
    >>> result = mcnemar_by_document(*hits)
    >>> result.only_a, result.only_b, result.p
    (4, 1, 0.375)
    """
    check_alternative(alternative)
    if a.values.shape != b.values.shape:
        raise InputError(f"expected paired hits of equal length, got {len(a.values):,} and {len(b.values):,}")
    net = (a.values[:, :1] > 0).astype(np.float64) - (b.values[:, :1] > 0)
    by_document = grouped_sums(net, a.row_documents(), a.size)[:, 0]
    result = max_t([by_document], resamples=resamples, seed=seed, alternative=alternative)
    return McNemarByDocument(int((net > 0).sum()), int((net < 0).sum()), result.p[0], result.at_floor[0])
