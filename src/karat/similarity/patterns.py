"""Scores that ask only which words of two phrases are equal: computed once for each pattern of equal words.

"neural network" / "deep network" and "graph search" / "tree search" have one pattern, a b / c b, and so one score. A
million pairs of keyphrases have some hundreds of patterns; most pairs share no word at all and are 0 at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.similarity.base import Floats, Ints, Words

Labels = tuple[int, ...]  # words by number, from 1; equal words have equal numbers
Score = Callable[[Labels, Labels], float]

_CELLS = 1 << 22  # comparisons made at a time
_GOLDEN = np.uint64(11400714819323198485)  # 2**64 over the golden ratio: spreads word numbers over 64 bits


@dataclass(frozen=True, slots=True)
class Table:
    """Phrases as numbers of words, in alphabetical order, in one column; and 64 bits that tell who can share a word."""

    distinct: list[str]
    words: Ints
    start: Ints
    length: Ints
    bits: NDArray[np.uint64]  # one bit a word: phrases without a common bit have no common word

    def rows(self, chosen: Ints, length: int) -> Ints:
        """The words of chosen phrases of one length, [phrases, length]."""
        return np.asarray(self.words[self.start[chosen][:, None] + np.arange(length)])


def table(phrases: Sequence[Words]) -> Table:
    """The table of phrases."""
    flat = list(chain.from_iterable(phrases))
    distinct = sorted(set(flat))
    number = {word: i for i, word in enumerate(distinct)}
    words = np.fromiter(map(number.__getitem__, flat), dtype=np.int64, count=len(flat))
    length = np.fromiter(map(len, phrases), dtype=np.int64, count=len(phrases))
    start = np.cumsum(length) - length
    bit = np.left_shift(np.uint64(1), (words.astype(np.uint64) * _GOLDEN) >> np.uint64(58))
    bits = np.zeros(len(phrases), dtype=np.uint64)
    if len(flat):
        bits[length > 0] = np.bitwise_or.reduceat(bit, start[length > 0])
    return Table(distinct, words, start, length, bits)


def by_pattern(table: Table, left: Ints, right: Ints, score: Score, *, ordered: bool = False) -> Floats:
    """The score of each pair, `score` being called once for each pattern of equal words.

    It must be 0 without a common word. With `ordered` the labels also keep the words' alphabetical order. Two phrases
    without words are 1.
    """
    found: Floats = np.where(table.length[left] + table.length[right] == 0, 1.0, 0.0)
    sharing = np.flatnonzero(table.bits[left] & table.bits[right])
    for rows, size in length_groups(table, left, right, sharing):
        words = np.hstack([table.rows(left[rows], size[0]), table.rows(right[rows], size[1])])
        found[rows] = _by_row(_labels(words, ordered), size[0], score)
    return found


def length_groups(table: Table, left: Ints, right: Ints, chosen: Ints) -> Iterator[tuple[Ints, tuple[int, int]]]:
    """Chosen pairs in groups of equal lengths, (pairs, (length of the left, length of the right)), none too large."""
    span = int(table.length.max(initial=0)) + 1
    sizes = table.length[left[chosen]] * span + table.length[right[chosen]]
    chosen = chosen[np.argsort(sizes, kind="stable")]
    values, counts = np.unique(sizes, return_counts=True)
    for value, count, end in zip(values.tolist(), counts.tolist(), np.cumsum(counts).tolist(), strict=True):
        size = divmod(value, span)
        step = max(_CELLS // sum(size) ** 2, 1)
        for at in range(end - count, end, step):
            yield chosen[at : min(at + step, end)], size


def _labels(words: Ints, ordered: bool) -> Ints:
    """Words of each row numbered from 1: by first occurrence, or by alphabetical rank in the row."""
    equal = words[:, :, None] == words[:, None, :]  # [rows, words, words]
    first = equal.argmax(axis=2)
    if not ordered:
        return np.asarray(first + 1)
    new = first == np.arange(words.shape[1])
    return np.asarray((new[:, None, :] & (words[:, None, :] < words[:, :, None])).sum(axis=2) + 1)


def _by_row(labels: Ints, cut: int, score: Score) -> Floats:
    """The score of each row of labels, whose first `cut` are the prediction's."""
    first, back = distinct_rows(labels)
    scores = [score(tuple(row[:cut]), tuple(row[cut:])) for row in labels[first].tolist()]
    return np.array(scores, dtype=np.float64)[back]


def distinct_rows(rows: NDArray[Any]) -> tuple[Ints, Ints]:
    """(one index for each distinct row, which of these each row equals); the rows hold small whole numbers."""
    count, width = rows.shape
    small = np.uint8 if rows.max(initial=0) < 1 << 8 else np.uint32
    packed = np.zeros((count, -(-width * small().itemsize // 8) * 8 // small().itemsize), dtype=small)
    packed[:, :width] = rows
    first, back = np.zeros(1, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for column in packed.view(np.uint64).T:
        values, code = np.unique(column, return_inverse=True)
        _, first, back = np.unique(back * len(values) + code, return_index=True, return_inverse=True)
    return first, back
