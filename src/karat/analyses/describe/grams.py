"""Numbers for runs of words in many texts at once, without a Python string for any of them.

A span of bytes b has the number Σ b[j]·B^j modulo 2^64. Prefix sums give it for every span in two operations, so all
runs of n words of a chunk of documents are numbered by a few passes of numpy. Two different spans have the same
number about once in 2^64 times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Numbers64 = NDArray[np.uint64]
Bools = NDArray[np.bool_]

_BASE = 0x9E3779B97F4A7C15 | 1  # odd, so that it has an inverse
_INVERSE = pow(_BASE, -1, 1 << 64)
_SPREAD = np.uint64(0xD6E8FEB86659FD93)
_SPACE = ord(" ")
_MARKS = np.array([byte < 128 and not chr(byte).isalnum() for byte in range(256)])
FULL = 3  # runs of up to so many words are numbered everywhere, longer ones where their beginning is known
TABLE_BITS, MOST_BITS = 18, 26  # of the numbers by which phrases are looked up
SPARSE_BITS = 3  # a table has eight places for each phrase or more
SLICE = 1 << 19


@dataclass(frozen=True, slots=True)
class Grams:
    """The words of some texts: where each begins, and sums by which any run of them is numbered."""

    text: Ints  # the text of each word
    before: Numbers64  # the sum of all that stands before a word
    until: Numbers64  # the same with the word
    scale: Numbers64  # what makes a span's number that of the same span at the beginning
    mark: Bools  # whether the word is a punctuation mark of one byte

    @classmethod
    def of(cls, texts: Sequence[str]) -> Grams:
        """The words of texts that begin and end with a space."""
        together = "".join(texts)
        sizes = texts if together.isascii() else [text.encode("utf-8", "surrogatepass") for text in texts]
        ends_of_texts = np.cumsum(np.fromiter(map(len, sizes), dtype=np.int64, count=len(texts)))
        letters = np.frombuffer(together.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        sums = np.zeros(len(letters) + 1, dtype=np.uint64)
        np.cumsum(letters * _powers(_BASE, len(letters)), out=sums[1:])
        spaces = np.flatnonzero(letters == _SPACE)
        word = spaces[1:] - spaces[:-1] > 1  # whether one stands between this space and the next
        begins, ends = spaces[:-1][word] + 1, spaces[1:][word]
        text = np.repeat(np.arange(len(texts)), np.diff(np.searchsorted(begins, ends_of_texts), prepend=0))
        mark = _MARKS[letters[begins]] & (ends - begins == 1)
        return cls(text, sums[begins], sums[ends], _powers(_INVERSE, len(letters) + 1)[begins], mark)

    def runs(self, words: int) -> Numbers64:
        """The number of every run of so many words, in their order; those that cross into the next text too.

        >>> grams = Grams.of([" deep neural nets ", " neural nets "])
        >>> found = grams.runs(2)
        >>> len(found), bool(found[1] == found[3]), bool(found[0] == found[1])
        (4, True, False)
        """
        count = max(len(self.text) - words + 1, 0)
        return (self.until[words - 1 :][:count] - self.before[:count]) * self.scale[:count]

    def runs_at(self, words: int, first: Ints) -> Numbers64:
        """The number of the runs of so many words that begin with some of the words."""
        first = first[first + words <= len(self.text)]
        return (self.until[first + words - 1] - self.before[first]) * self.scale[first]

    def wholes(self, count: int) -> Numbers64:
        """The number of each of so many texts from its first word to its last; 0 where it has none.

        >>> grams = Grams.of([" deep nets ", "  ", " deep nets ", " nets "])
        >>> found = grams.wholes(4).tolist()
        >>> found[0] == found[2], found[0] == found[3], found[1]
        (True, False, 0)
        """
        found = np.zeros(count, dtype=np.uint64)
        first = np.flatnonzero(np.diff(self.text, prepend=-1))
        last = np.append(first[1:], len(self.text))[: len(first)] - 1
        found[self.text[first]] = (self.until[last] - self.before[first]) * self.scale[first]
        return found

    def count(self, texts: int) -> Ints:
        """How many words each of so many texts has, marks left out.

        >>> Grams.of([" deep , neural nets . ", " nets "]).count(2).tolist()
        [3, 1]
        """
        return np.bincount(self.text[~self.mark], minlength=texts)

    def shingles(self, words: int) -> tuple[Ints, Numbers64]:
        """(text, number) of every run of so many words that lies within one text."""
        numbers = self.runs(words)
        within = self.text[: len(numbers)] == self.text[words - 1 :][: len(numbers)]
        return self.text[: len(numbers)][within], numbers[within]


def in_slices(texts: Sequence[str], most: int = SLICE) -> Iterator[tuple[slice, Grams]]:
    """(which texts, their words) of all texts, so many characters at a time, that what is made of them stays small."""
    start = 0
    while start < len(texts):
        stop, size = start + 1, len(texts[start])
        while stop < len(texts) and size + len(texts[stop]) <= most:
            size += len(texts[stop])
            stop += 1
        yield slice(start, stop), Grams.of(texts[start:stop])
        start = stop


def _powers(base: int, count: int) -> Numbers64:
    """base^0, base^1, ... modulo 2^64, at least so many."""
    size = 1 << max(count, 1).bit_length()
    return _all_powers(base, size)[:count]


@cache
def _all_powers(base: int, size: int) -> Numbers64:
    steps = np.full(size, base, dtype=np.uint64)
    steps[0] = 1
    return np.cumprod(steps, dtype=np.uint64)


def numbers_of(phrases: Sequence[str]) -> Numbers64:
    """The number of each phrase, as `Grams.runs` gives it where the phrase stands in a text.

    >>> bool(numbers_of(["neural nets"])[0] == Grams.of([" deep neural nets "]).runs(2)[1])
    True
    """
    encoded = [phrase.encode("utf-8", "surrogatepass") for phrase in phrases]
    letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    sizes = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    starts = np.cumsum(sizes) - sizes
    place = np.arange(len(letters)) - np.repeat(starts, sizes)
    terms = np.append(letters * _powers(_BASE, int(sizes.max(initial=0)))[place], np.uint64(0))
    return np.where(sizes > 0, np.add.reduceat(terms, np.minimum(starts, len(letters))), np.uint64(0))


def spread(numbers: Numbers64) -> Numbers64:
    """The same numbers mixed, so that any of their bits can stand for them."""
    mixed = (numbers ^ (numbers >> np.uint64(32))) * _SPREAD
    return mixed ^ (mixed >> np.uint64(29))


# ---------------------------------------------------------------------------------------------- looking phrases up


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Some distinct phrases, made to be looked for in texts."""

    numbers: Numbers64  # rising
    words: Ints  # the length of each phrase
    heads: Numbers64  # of a phrase with more than FULL words, the number of the first FULL; else its own
    _tables: dict[int, _Table] = field(default_factory=dict)  # by length, made where they are first needed

    @classmethod
    def of(cls, phrases: Sequence[str]) -> Vocabulary:
        """The vocabulary of phrases, which are stems joined by single spaces."""
        words = np.fromiter((phrase.count(" ") + 1 for phrase in phrases), dtype=np.int64, count=len(phrases))
        numbers = numbers_of(phrases)
        heads, long = numbers.copy(), np.flatnonzero(words > FULL)
        heads[long] = numbers_of([" ".join(phrases[i].split(" ")[:FULL]) for i in long.tolist()])
        return cls._of(numbers, words, heads)

    @classmethod
    def joined(cls, parts: Sequence[Vocabulary]) -> Vocabulary:
        """The vocabulary of all phrases of several.

        >>> parts = [Vocabulary.of(["deep nets", "bees"]), Vocabulary.of(["bees", "ants"])]
        >>> len(Vocabulary.joined(parts)), len(Vocabulary.joined([]))
        (3, 0)
        """
        numbers = np.concatenate([np.zeros(0, dtype=np.uint64), *(part.numbers for part in parts)])
        words = np.concatenate([np.zeros(0, dtype=np.int64), *(part.words for part in parts)])
        return cls._of(numbers, words, np.concatenate([numbers[:0], *(part.heads for part in parts)]))

    @classmethod
    def _of(cls, numbers: Numbers64, words: Ints, heads: Numbers64) -> Vocabulary:
        rising, first = np.unique(numbers, return_index=True)
        return cls(rising, words[first], heads[first])

    def __len__(self) -> int:
        return len(self.numbers)

    def met_in(self, slices: Iterable[Grams]) -> Ints:
        """The phrases that stand in any of the texts, by the places of their numbers.

        >>> words = Vocabulary.of(["neural nets", "nets of deep neural things", "deep nets", "nets of deep neural"])
        >>> met = words.met_in([Grams.of([" deep neural nets ", " nets of deep neural things "])])
        >>> set(words.numbers[met].tolist()) == set(numbers_of(["neural nets", "nets of deep neural things",
        ...     "nets of deep neural"]).tolist())
        True
        """
        if not self._tables:
            self._tables.update({words: self._table(words) for words in np.unique(self.words).tolist()})
        found = [table.met_in(grams, words) for grams in slices for words, table in self._tables.items()]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))

    def _table(self, words: int) -> _Table:
        """The phrases of so many words."""
        own = np.flatnonzero(self.words == words)
        bits = min(max(TABLE_BITS, len(own).bit_length() + SPARSE_BITS), MOST_BITS)
        marked = np.zeros(1 << bits, dtype=bool)
        marked[_high(self.heads[own], bits)] = True
        return _Table(own, self.numbers[own], marked, bits)


@dataclass(frozen=True, slots=True)
class _Table:
    """Phrases of one length, to be looked up by their numbers."""

    phrases: Ints  # by their places in the vocabulary
    numbers: Numbers64  # of each, rising
    marked: Bools  # by the high bits of what phrases begin with, whether one does
    bits: int

    def met_in(self, grams: Grams, words: int) -> Ints:
        """Those of the phrases that stand in the texts; what they begin with is looked for first."""
        numbers = grams.runs(min(words, FULL))
        some = np.flatnonzero(self.marked[_high(numbers, self.bits)])
        numbers = np.unique(numbers[some] if words <= FULL else grams.runs_at(words, some))
        place = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        met: Ints = self.phrases[place[self.numbers[place] == numbers]]
        return met


def _high(numbers: Numbers64, bits: int) -> Ints:
    high: Ints = ((numbers * _SPREAD) >> np.uint64(64 - bits)).view(np.int64)
    return high
