"""Documents that are there twice: with the same text, or with nearly the same.

Texts are compared as the protocol normalises them, by their shingles, which are runs of three words. Two are near when
the Jaccard index of their sets of shingles is at least NEAR. Candidates come from MinHash: 24 minima in 8 bands of 3,
of which near texts have one in common with a probability of 99.7 % at an index of .8 and practically always at .9; each
candidate is then measured exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.analyses.describe.grams import Grams, Ints, Numbers64, in_slices, numbers_of, spread

NEAR = 0.8
WORDS = 3  # of a shingle
BANDS, ROWS = 8, 3
LEAST = 11  # minima in common; at an index of .8 fewer are as rare as 1 in 10,000
WINDOW = 10  # how many others a text is compared with in each band: a thousand equal pages are not half a million pairs
_FACTORS = np.random.default_rng(20).integers(1, 1 << 63, BANDS * ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)

Sketch = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Prints:
    """What is kept of documents to find those that are alike: numbers of texts and titles, minima of shingles."""

    texts: Numbers64  # 0 where there is none
    titles: Numbers64
    minima: Sketch  # [documents, BANDS * ROWS]
    shingled: NDArray[np.bool_]  # whether the text has a shingle at all

    @classmethod
    def of(cls, titles: Sequence[str], bodies: Sequence[str], grams: Sequence[tuple[slice, Grams]]) -> Prints:
        """The prints of normalised documents, `grams` being the words of title and text together."""
        texts = np.zeros(len(titles), dtype=np.uint64)
        minima = np.full((len(titles), BANDS * ROWS), np.iinfo(np.uint32).max, dtype=np.uint32)
        shingled = np.zeros(len(titles), dtype=bool)
        for some, each in grams:
            there, found = _minima(each)
            minima[some.start + there], shingled[some.start + there] = found, True
            texts[some] = each.wholes(some.stop - some.start)
        texts[[n for n, both in enumerate(zip(titles, bodies, strict=True)) if not any(both)]] = 0
        long = [title if title.count(" ") > 1 else "" for title in titles]  # a short one is soon found twice
        return cls(texts, numbers_of(long), minima, shingled)

    @classmethod
    def joined(cls, parts: Sequence[Prints]) -> Prints:
        """The prints of several parts, one after the other."""
        names = ("texts", "titles", "minima", "shingled")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def __len__(self) -> int:
        return len(self.texts)


def _minima(grams: Grams) -> tuple[Ints, Sketch]:
    """(the texts that have shingles, the least of each family of numbers of theirs)."""
    text, numbers = grams.shingles(WORDS)
    if not len(text):
        return np.zeros(0, dtype=np.int64), np.zeros((0, BANDS * ROWS), dtype=np.uint32)
    starts = np.flatnonzero(np.r_[True, text[1:] != text[:-1]])
    mixed = spread(numbers)
    least = [np.minimum.reduceat((mixed * factor) >> np.uint64(32), starts) for factor in _FACTORS]
    return text[starts], np.stack(least, axis=1).astype(np.uint32)


def equal_groups(numbers: Numbers64) -> list[Ints]:
    """The documents with the same number, those of each together, where there are several; 0 is no text.

    >>> [group.tolist() for group in equal_groups(np.array([5, 7, 5, 0, 0, 5], dtype=np.uint64))]
    [[0, 2, 5]]
    """
    if not len(numbers):
        return []
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    sizes = np.diff(np.append(starts, len(order)))
    several = np.flatnonzero((sizes > 1) & (ordered[starts] > 0))
    groups = [order[starts[n] : starts[n] + sizes[n]] for n in several.tolist()]
    return sorted(groups, key=lambda group: int(group[0]))


def candidates(prints: Prints) -> tuple[Ints, Ints]:
    """Pairs of documents of different texts that have a band of minima in common, each pair once."""
    _, first = np.unique(prints.texts, return_index=True)  # of equal texts one is enough
    some = first[prints.shingled[first]]
    found = [np.zeros(0, dtype=np.int64)]
    for band in range(BANDS):
        minima = prints.minima[some, band * ROWS : (band + 1) * ROWS].astype(np.uint64)
        key = spread(minima[:, 0] << np.uint64(32) | minima[:, 1]) ^ spread(minima[:, 2])
        order = np.argsort(key, kind="stable")
        for step in range(1, WINDOW + 1):
            same = key[order[step:]] == key[order[:-step]]
            if not same.any():
                break
            pair = np.sort(np.stack([some[order[:-step][same]], some[order[step:][same]]]), axis=0)
            found.append(pair[0] * len(prints) + pair[1])
    a, b = np.divmod(np.unique(np.concatenate(found)), max(len(prints), 1))
    alike = (prints.minima[a] == prints.minima[b]).sum(axis=1) >= LEAST  # of near texts about NEAR of all minima
    return a[alike], b[alike]


def near_pairs(pairs: tuple[Ints, Ints], texts: Mapping[int, str]) -> Iterator[tuple[int, int]]:
    """Those of the pairs whose texts, given in their normalised form, are near."""
    names = sorted(texts)
    sets: dict[int, set[int]] = {}
    for some, grams in in_slices([texts[name] for name in names]):
        text, numbers = grams.shingles(WORDS)
        cuts = np.searchsorted(text, np.arange(1, some.stop - some.start))
        sets |= {names[some.start + i]: set(part.tolist()) for i, part in enumerate(np.split(numbers, cuts))}
    for a, b in zip(*(which.tolist() for which in pairs), strict=True):
        common = len(sets[a] & sets[b])
        if common >= NEAR * (len(sets[a]) + len(sets[b]) - common):
            yield a, b
