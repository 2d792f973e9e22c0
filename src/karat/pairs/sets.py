"""Sets of numbered items, one a document, as columns; what two of them share; and every two that are alike.

The join is exact. Items are put in the order of how many documents have them, the rarest first. If two sets of sizes a
and b must share o items, the first one they share is among the first a − o + 1 of the one and the first b − o + 1 of
the other: with fewer items left they could not reach o. So only sets that share an early, rare item are looked at.
Equal sets are taken as one. Sizes are joined two by two, in blocks, so that memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.engines import engine

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Short = NDArray[np.int32]
Measure = Literal["jaccard", "max"]

MEASURES: tuple[Measure, ...] = ("jaccard", "max")
BLOCK = 1 << 20  # rows that are looked at together
CELLS = 1 << 24  # items of candidates that are looked at together
ROUNDING = 1e-9  # 3 of 5 are .6, whichever digits are lost on the way
LARGEST_PRODUCT = 400  # items of one set times items of the other, up to which each is compared with each


@dataclass(frozen=True, slots=True)
class Sets:
    """The items of each document, rising and each once: those of document d are items[starts[d] : starts[d + 1]]."""

    starts: Ints  # [documents + 1]
    items: Ints

    @classmethod
    def of(cls, document: Ints, item: Ints, documents: int) -> Sets:
        """The sets of rows of (document, item), in which an item may stand several times.

        >>> found = Sets.of(np.array([1, 1, 0, 1]), np.array([7, 2, 2, 7]), 3)
        >>> found.starts.tolist(), found.items.tolist()
        ([0, 1, 3, 3], [2, 2, 7])
        """
        width = int(item.max(initial=0)) + 1
        keys = np.sort(document * width + item)  # quicker than np.unique by far
        fresh = np.ones(len(keys), dtype=bool)
        fresh[1:] = keys[1:] != keys[:-1]
        owner, items = np.divmod(keys[fresh], width)
        return cls(np.searchsorted(owner, np.arange(documents + 1)), items)

    @property
    def sizes(self) -> Ints:
        """How many items each document has."""
        return np.diff(self.starts)

    @property
    def owner(self) -> Ints:
        """The document of each item."""
        return np.repeat(np.arange(len(self.starts) - 1), self.sizes)


def shared(a: Ints, b: Ints, one: Sets, other: Sets) -> tuple[Ints, Ints]:
    """(pair, item) of what the set a[pair] of one and the set b[pair] of the other have in common, pair by pair."""
    width = max(int(sets.items.max(initial=0)) for sets in (one, other)) + 1
    keys = other.owner * width + other.items  # rising
    found_pair, found_item = [], []
    sizes = one.sizes[a]
    for some in blocks(sizes):
        count = sizes[some]
        pair = np.repeat(np.arange(some.start, some.start + len(count)), count)
        item = one.items[np.repeat(one.starts[a[some]], count) + ordinals(count)]
        looked_up = b[pair] * width + item
        at = np.minimum(np.searchsorted(keys, looked_up), max(len(keys) - 1, 0))
        there = keys[at] == looked_up if len(keys) else np.zeros(len(looked_up), dtype=bool)
        found_pair.append(pair[there])
        found_item.append(item[there])
    return _joined(found_pair), _joined(found_item)


def shares(a: Ints, b: Ints, one: Sets, other: Sets, measure: Measure = "jaccard") -> Floats:
    """The Jaccard index of the sets of each pair, or their common items over those of the larger; NaN of empty sets.

    >>> sets = Sets.of(np.array([0, 0, 0, 1, 1, 1]), np.array([1, 2, 3, 2, 3, 4]), 3)
    >>> shares(np.array([0, 2]), np.array([1, 2]), sets, sets).tolist()
    [0.5, nan]
    """
    common = np.bincount(shared(a, b, one, other)[0], minlength=len(a))
    return ratio(common, one.sizes[a], other.sizes[b], measure)


def ratio(common: Ints, a: Ints, b: Ints, measure: Measure) -> Floats:
    """How alike sets of sizes a and b are that have so many items in common; NaN where both are empty."""
    below = np.maximum(a, b) if measure == "max" else a + b - common
    return np.asarray(np.divide(common, below, out=np.full(len(common), np.nan), where=below > 0))


def ordinals(counts: Ints) -> Ints:
    """0, 1, ... counts[0] - 1, 0, 1, ... counts[1] - 1, and so on."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def blocks(counts: Ints, most: int = BLOCK) -> Iterator[slice]:
    """The rows in slices such that their counts add up to no more than `most`, a row by itself apart."""
    until = np.cumsum(counts)
    start, before = 0, 0
    while start < len(counts):
        stop = max(int(np.searchsorted(until, before + most, side="right")), start + 1)
        yield slice(start, stop)
        start, before = stop, int(until[stop - 1])


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


# ---------------------------------------------------------------------------------------------- the join


@dataclass(frozen=True, slots=True)
class Alike:
    """Pairs of documents, the earlier one first, in their order, and how alike their sets are."""

    a: Ints
    b: Ints
    score: Floats

    def take(self, which: NDArray[np.bool_] | Ints) -> Alike:
        """Some of the pairs."""
        return Alike(self.a[which], self.b[which], self.score[which])


def join(sets: Sets, least: float, measure: Measure = "jaccard", equal: bool = False) -> Alike:
    """Every two documents whose sets score `least` or more; those of equal sets only if `equal`.

    >>> sets = Sets.of(np.array([0, 0, 1, 1, 1, 2, 2]), np.array([1, 2, 1, 2, 3, 2, 1]), 3)
    >>> found = join(sets, 0.5)
    >>> list(zip(found.a.tolist(), found.b.tolist(), found.score.round(2).tolist()))
    [(0, 1, 0.67), (1, 2, 0.67)]
    """
    if (elsewhere := engine()) is not None:
        ranked, alone = by_rarity(sets)
        rare = np.bincount(ranked.owner[ranked.items < alone], minlength=len(sets.sizes))
        return Alike(*elsewhere.alike(ranked.starts, ranked.items, rare, least, measure, equal))
    groups = _groups(sets, least)
    found = [_of_sizes(one, other, least, measure) for one, other in _size_pairs(groups, least, measure)]
    if equal:
        found += [_equal(group) for group in groups]
    a, b = _joined([each.a for each in found]), _joined([each.b for each in found])
    score = np.concatenate([each.score for each in found]) if found else np.zeros(0)
    a, b = np.minimum(a, b), np.maximum(a, b)
    return Alike(a, b, score).take(np.lexsort((b, a)))


def most_of(sets: Sets, least: float, measure: Measure = "jaccard") -> int:
    """At most how many pairs of documents with different sets a join can find, which is also how many it looks at.

    >>> most_of(Sets.of(np.array([0, 0, 1, 1, 1, 2, 2]), np.array([1, 2, 1, 2, 3, 2, 1]), 3), 0.5)
    2
    """
    found = 0
    for one, other in _size_pairs(_groups(sets, least), least, measure):
        row, right, first, counts = _postings(one, other, needed(one.size, other.size, least, measure))
        until = np.concatenate([[0], np.cumsum(np.diff(other.starts)[right])])  # documents of the partners
        found += int((np.diff(one.starts)[row] * (until[first + counts] - until[first])).sum())
    return found


def needed(a: int, b: int, least: float, measure: Measure) -> int:
    """How many items sets of sizes a and b must share.

    >>> needed(3, 3, 0.5, "jaccard"), needed(3, 4, 0.5, "max"), needed(5, 5, 0.6, "max")
    (2, 2, 3)
    """
    overlap = least * max(a, b) if measure == "max" else least * (a + b) / (1 + least)
    return max(ceil(overlap - ROUNDING), 1)


@dataclass(frozen=True, slots=True)
class _Group:
    """The distinct sets of one size, the documents that have each, and which sets have each early item."""

    size: int
    sets: Short  # [size, sets]: ranks of items, the rarest first
    member: Ints  # documents, those of one set beside each other
    starts: Ints  # [sets + 1], where the documents of each set begin
    item: Short  # of each posting, rising
    row: Short  # the set it is of
    place: Short  # its place in that set


def _groups(sets: Sets, least: float) -> list[_Group]:
    """The sets by their size; items are ranked by how many documents have them."""
    ranked, alone = by_rarity(sets)
    sizes = sets.sizes
    return [
        _group(ranked, np.flatnonzero(sizes == size), size, least, alone)
        for size in np.unique(sizes[sizes > 0]).tolist()
    ]


def by_rarity(sets: Sets) -> tuple[Sets, int]:
    """(the sets with the ranks of their items, the rarest first; the rank from which on items bring sets together).

    >>> ranked, alone = by_rarity(Sets.of(np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 1, 2]), 3))
    >>> ranked.items.tolist(), alone
    ([0, 2, 2, 1, 2], 2)
    """
    count = np.bincount(sets.items)
    rank = np.empty(len(count), dtype=np.int64)
    rank[np.argsort(count, kind="stable")] = np.arange(len(count))
    width = max(len(count), 1)
    ranked = Sets(sets.starts, np.sort(sets.owner * width + rank[sets.items]) % width)
    return ranked, int((count < 2).sum())


def _group(ranked: Sets, documents: Ints, size: int, least: float, alone: int) -> _Group:
    every = ranked.items[ranked.starts[documents] + np.arange(size)[:, None]].astype(np.int32)  # [size, documents]
    order = np.lexsort(every[::-1])
    every = every[:, order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (every[:, 1:] != every[:, :-1]).any(axis=0)
    distinct = every[:, fresh]
    early = distinct[: size - max(ceil(least * size - ROUNDING), 1) + 1]  # no partner asks for fewer in overlap
    place, row = np.nonzero(early >= alone)
    item = early[place, row]
    by_item = np.argsort(item, kind="stable")
    return _Group(
        size,
        distinct,
        documents[order],
        np.append(np.flatnonzero(fresh), len(order)),
        item[by_item],
        row[by_item].astype(np.int32),
        place[by_item].astype(np.int32),
    )


def _size_pairs(groups: Sequence[_Group], least: float, measure: Measure) -> Iterator[tuple[_Group, _Group]]:
    """Every two sizes, the smaller first, of which sets can be alike enough."""
    for i, one in enumerate(groups):
        for other in groups[i:]:
            if needed(one.size, other.size, least, measure) > one.size:
                break
            yield one, other


def _of_sizes(one: _Group, other: _Group, least: float, measure: Measure) -> Alike:
    """The pairs of documents with sets of two sizes, or of different sets of one size."""
    overlap = needed(one.size, other.size, least, measure)
    keys, common = [], []
    width = other.sets.shape[1]
    for some, others in _candidates(one, other, overlap):
        both = _common(one.sets[:, some], other.sets[:, others])
        enough = both >= overlap
        left, right = some[enough].astype(np.int64), others[enough].astype(np.int64)
        if one is other:  # which of two comes first may differ from item to item
            left, right = np.minimum(left, right), np.maximum(left, right)
        keys.append(left * width + right)
        common.append(both[enough].astype(np.int64))
    key, first = np.unique(_joined(keys), return_index=True)  # found by each early item that they share
    left, right = np.divmod(key, max(width, 1))
    sizes = np.full(len(key), one.size), np.full(len(key), other.size)
    return _documents(one, other, left, right, ratio(_joined(common)[first], *sizes, measure))


def _candidates(one: _Group, other: _Group, overlap: int) -> Iterator[tuple[Short, Short]]:
    """Two columns of sets that share an item early enough, in blocks; a pair may come several times."""
    row, right, first, counts = _postings(one, other, overlap)
    for part in blocks(counts, min(CELLS // (one.size + other.size), BLOCK)):
        times = counts[part]
        yield np.repeat(row[part], times), right[np.repeat(first[part], times) + ordinals(times)]


def _postings(one: _Group, other: _Group, overlap: int) -> tuple[Short, Short, Ints, Ints]:
    """(sets of one; sets of other; where in these the partners of each set of one begin, and how many they are)."""
    early = one.place <= one.size - overlap
    item, row = one.item[early], one.row[early]
    if one is other:
        item_right, right = item, row
        first = np.arange(1, len(item) + 1)
    else:
        early = other.place <= other.size - overlap
        item_right, right = other.item[early], other.row[early]
        first = np.searchsorted(item_right, item)
    counts = np.searchsorted(item_right, item, side="right") - first
    some = counts > 0
    return row[some], right, first[some], counts[some]


def _common(left: Short, right: Short) -> NDArray[np.integer[Any]]:
    """How many items two columns of sets have in common, [size, pairs] each."""
    if len(left) * len(right) <= LARGEST_PRODUCT:
        found = np.zeros(left.shape[1], dtype=np.int16)
        for one in left:
            for other in right:
                found += one == other
        return found
    both = np.sort(np.concatenate([left, right]).T, axis=1)  # [pairs, items]: what both have is there twice
    return np.asarray((both[:, 1:] == both[:, :-1]).sum(axis=1))


def _documents(one: _Group, other: _Group, left: Ints, right: Ints, score: Floats) -> Alike:
    """The pairs of documents of pairs of sets: every document of the one with every document of the other."""
    many = np.diff(other.starts)[right]
    times = np.diff(one.starts)[left] * many
    inner = ordinals(times)
    many = np.repeat(many, times)
    a = one.member[np.repeat(one.starts[left], times) + inner // many]
    b = other.member[np.repeat(other.starts[right], times) + inner % many]
    return Alike(a, b, np.repeat(score, times))


def _equal(group: _Group) -> Alike:
    """Every two documents that have the same set."""
    last = np.repeat(group.starts[1:], np.diff(group.starts))
    place = np.arange(len(group.member))
    times = last - place - 1  # those of its set that stand behind it
    a = np.repeat(place, times)
    b = a + 1 + ordinals(times)
    return Alike(group.member[a], group.member[b], np.ones(len(a)))
