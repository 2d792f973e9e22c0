"""The lists that are compared, their lengths, and the agreement on unrelated pairs of the same documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from karat.analyses.homogeneity.phrases import Documents, Phrases
from karat.errors import counted
from karat.matching.columns import Bools
from karat.pairs.sets import Ints, Measure, Sets, blocks, ordinals, shares
from karat.protocol import whole_number
from karat.stats.dyadic import combinations
from karat.tabular import number

if TYPE_CHECKING:
    from karat.analyses.homogeneity.result import HomogeneityOptions, Row

DRAWS = 400_000  # ordered pairs of documents; up to so many all are looked at, else as many are drawn
LONGER = 1.5  # times, from which on a note says that lists differ in length
CLOSE = 0.5  # of the agreement on pairs; from it on a note names the agreement on unrelated pairs


@dataclass(frozen=True, slots=True)
class Lists:
    """Phrases by the number of their list, and the lists of the two documents of each pair."""

    a: Ints  # [pairs]
    b: Ints
    phrases: Phrases  # `document` is the number of the list
    count: int

    @classmethod
    def of(cls, a: Ints, b: Ints, phrases: Phrases, documents: int, match_length: bool = False) -> Lists:
        """Take the lists of documents as they are, or cut those of each pair to the shorter one.

        A list that is cut belongs to one side of one pair. A list without phrases is none to cut to.

        >>> one = np.zeros(5, dtype=np.int64)
        >>> phrases = Phrases(np.array([0, 0, 0, 1, 1]), np.array([7, 8, 9, 7, 9]), one == 0, one)
        >>> found = Lists.of(np.array([0]), np.array([1]), phrases, 3, match_length=True)
        >>> found.phrases.document.tolist(), found.phrases.phrase.tolist()
        ([0, 0, 1, 1], [7, 8, 7, 9])
        """
        if not match_length:
            return cls(a, b, phrases, documents)
        distinct = _distinct(phrases)
        size = np.bincount(distinct.document, minlength=documents)
        shorter = np.minimum(size[a], size[b])
        length = np.concatenate([np.where(shorter > 0, shorter, size[side]) for side in (a, b)])
        start = (np.cumsum(size) - size)[np.concatenate([a, b])]
        cut = distinct.take(np.repeat(start, length) + ordinals(length))
        numbers = np.arange(2 * len(a))
        matched = replace(cut, document=np.repeat(numbers, length))
        return cls(numbers[: len(a)], numbers[len(a) :], matched, len(numbers))

    def sets(self, some: Bools | None = None) -> Sets:
        """The phrases of each list, or some of them."""
        phrases = self.phrases if some is None else self.phrases.take(some)
        return Sets.of(phrases.document, phrases.phrase, self.count)


def _distinct(phrases: Phrases) -> Phrases:
    """The phrases by document, in the order of the list, each once."""
    phrases = phrases.take(np.argsort(phrases.document, kind="stable"))
    keys = phrases.document * (int(phrases.phrase.max(initial=0)) + 1) + phrases.phrase
    return phrases.take(np.sort(np.unique(keys, return_index=True)[1]))


# ---------------------------------------------------------------------------------------------- unrelated pairs


def unrelated_pairs(documents: Documents, references: Phrases, together: bool, seed: int) -> tuple[Ints, Ints]:
    """Return documents a and b of pairs of the same documents that are no pair and have no reference in common.

    Where b is made of a (`together`), a is a document and b a reformulation of another one. All pairs of documents are
    looked at, or a sample of them where they are more than `DRAWS`.
    """
    first, second = (documents.a, documents.b) if together else (documents.in_pairs, documents.in_pairs)
    first, second = np.unique(first), np.unique(second)
    row, column = combinations(len(first), len(second), DRAWS, seed)
    a, b = first[row], second[column]
    if not together:
        a, b = a[a < b], b[a < b]
    width = len(documents.ids)
    known = np.minimum(documents.a, documents.b) * width + np.maximum(documents.a, documents.b)
    sets = Sets.of(references.document, references.phrase, width)
    common = np.nan_to_num(shares(a, b, sets, sets)) > 0
    unrelated = ~np.isin(a * width + b, known) & ~common
    return a[unrelated], b[unrelated]


@dataclass(frozen=True, slots=True)
class Chance:
    """The mean of Hooper over unrelated pairs, NaN without any, and how many of them it is defined on."""

    hooper: float
    pairs: int


NO_CHANCE = Chance(np.nan, 0)


def chance_level(
    pairs: tuple[Ints, Ints], phrases: Phrases, used: Bools, measure: Measure, match_length: bool
) -> Chance:
    """Compute the agreement of one system on unrelated pairs of the documents that are used."""
    a, b = pairs
    there = used[a] & used[b]
    a, b = a[there], b[there]
    phrases = phrases.take(used[phrases.document])
    size = np.bincount(phrases.document, minlength=len(used))
    values = np.full(len(a), np.nan)
    for some in blocks(size[a] + size[b]) if match_length else (slice(None),):
        lists = Lists.of(a[some], b[some], phrases, len(used), match_length)
        sets = lists.sets()
        values[some] = shares(lists.a, lists.b, sets, sets, measure)
    defined = values[~np.isnan(values)]
    return Chance(float(defined.mean()) if len(defined) else np.nan, len(defined))


def same_list(sets: Sets, used: Bools) -> bool:
    """Whether all of three documents or more have the same list."""
    size = sets.sizes[used]
    if len(size) < 3 or not size[0] or (size != size[0]).any():
        return False
    items = sets.items[np.repeat(used, sets.sizes)].reshape(len(size), -1)
    return bool((items == items[0]).all())


# ---------------------------------------------------------------------------------------------- notes


def list_notes(rows: Sequence[Row], options: HomogeneityOptions) -> Iterator[str]:
    """Name systems whose lists differ in length, are the same for all documents, or agree on unrelated pairs too."""
    yield from _length_notes(rows, options)
    for row in rows:
        hooper = row.figures["hooper"].value
        if row.constant:
            yield (
                f"{row.system}: the same list for all {counted(row.documents, 'document')} of the pairs; its Hooper of "
                f"{hooper:.1f} says nothing about the documents"
            )
        elif row.chance.hooper > 0 and row.chance.hooper >= CLOSE * hooper:
            yield (
                f"{row.system}: Hooper is {number(hooper)} on the pairs and {number(row.chance.hooper)} on unrelated "
                "pairs of the same documents; most of its agreement comes from phrases that it gives to any document"
            )


def _length_notes(rows: Sequence[Row], options: HomogeneityOptions) -> Iterator[str]:
    predicting = sorted((row for row in rows if row.phrases > 0), key=lambda row: row.phrases)
    if not predicting or predicting[-1].phrases <= LONGER * predicting[0].phrases:
        return
    short, long = predicting[0], predicting[-1]
    lengths = [max(row.phrases, 1.0) for row in (short, long)]
    with_one = [1 / (length if options.measure == "max" else 2 * length - 1) for length in lengths]
    depth, cutoff = whole_number(options.cutoff), int(lengths[0] + 0.5)
    hint = "" if depth is not None and depth <= cutoff else f"; compare lists of one length: --cutoff {cutoff}"
    yield (
        f"lists differ in length: {short.phrases:.1f} phrases per document by {short.system}, {long.phrases:.1f} by "
        f"{long.system}. One phrase in common gives two short lists a Hooper of {number(with_one[0], 2)}, two long "
        f"ones {number(with_one[1], 2)}{hint}"
    )
