"""Similarity of the sentences that two phrases stand in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from karat.corpus import Document
from karat.errors import InputError
from karat.similarity.base import Floats, Ints, Words, similarity
from karat.similarity.sparse import Matrix, matrix
from karat.text.normalise import Normaliser, normaliser, normaliser_of

if TYPE_CHECKING:
    from karat.matching.passes import View
    from karat.protocol import Matching

_CELLS = 1 << 21  # numbers of dense rows, and entries looked up in them, at a time
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def sentences_of(texts: Iterable[str], stems: Normaliser | None = None) -> list[Words]:
    """The sentences of texts, as stems: Porter's, unless others are given.

    >>> sentences_of(["Graphs grow. Trees do, too."])
    [('graph', 'grow', '.'), ('tree', 'do', ',', 'too', '.')]
    """
    stems = stems or normaliser("marks", "porter", "lower")
    cut = [sentence for text in texts for sentence in _SENTENCE_END.split(text)]
    return [tuple(form.split()) for form in map(stems, cut) if form.strip()]


def sentences_in(documents: Iterable[Document], stems: Normaliser | None = None) -> list[Words]:
    """The sentences of documents, titles and texts, as stems."""
    texts = chain.from_iterable((document.title, document.text) for document in documents)
    return sentences_of(filter(None, texts), stems)


def sentences_look(matching: Matching | None, view: View) -> list[Words]:
    """A look of a pass: the sentences of the documents of a chunk, as the stems of a way of matching or Porter's."""
    return sentences_in(view.given, None if matching is None else normaliser_of(matching))


@dataclass(frozen=True, slots=True)
class Contexts:
    """All sentences of a corpus, and where each word is: made once, for all phrases."""

    number: dict[str, int]  # of each word
    words: Ints  # the words of all sentences, one after the other, a mark behind each sentence
    sentence: Ints  # the sentence of each word
    order: Ints  # places of words, sorted by the word there and the next one
    keys: Ints  # what they are sorted by
    weighted: Matrix  # [sentences, words]: how often a word is there, times ln(sentences / sentences with the word)

    @classmethod
    def of(cls, sentences: Sequence[Words]) -> Contexts:
        """The contexts that sentences, as stems, offer."""
        number = {word: i for i, word in enumerate(dict.fromkeys(chain.from_iterable(sentences)))}
        length = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
        every = map(number.__getitem__, chain.from_iterable(sentences))
        flat = np.fromiter(every, dtype=np.int64, count=int(length.sum()))
        row = np.repeat(np.arange(len(sentences)), length)
        counts = matrix(np.ones(len(flat)), row, flat, (len(sentences), len(number)))
        frequency = np.bincount(counts.indices, minlength=len(number))
        weighted = counts.multiply(np.log(len(sentences) / frequency)[None, :]).tocsr()
        words = np.insert(flat, np.cumsum(length), len(number))
        keys = words[:-1] * (len(number) + 1) + words[1:]
        order = np.argsort(keys, kind="stable")
        return cls(number, words, np.repeat(np.arange(len(sentences)), length + 1), order, keys[order], weighted)

    def holding(self, phrases: Sequence[Words]) -> tuple[Ints, Ints]:
        """(phrase, sentence) wherever the words of a phrase follow each other in a sentence, each pair once."""
        known, table = self._known(phrases)
        mark = len(self.number)
        high = table[:, 0] * (mark + 1) + table[:, 1]
        low = np.where(table[:, 1] < mark, high, high - mark)  # of one word, whatever comes next
        start = np.searchsorted(self.keys, low)
        count = np.searchsorted(self.keys, high, side="right") - start
        phrase = np.repeat(np.arange(len(known)), count)
        place = self.order[np.arange(len(phrase)) + np.repeat(start - np.cumsum(count) + count, count)]
        for n in range(2, table.shape[1]):
            rest = np.flatnonzero(table[phrase, n] < mark)
            wrong = rest[self.words[place[rest] + n] != table[phrase[rest], n]]
            phrase, place = np.delete(phrase, wrong), np.delete(place, wrong)
        pairs = np.unique(known[phrase] * len(self.words) + self.sentence[place])
        return np.divmod(pairs, len(self.words))

    def _known(self, phrases: Sequence[Words]) -> tuple[Ints, Ints]:
        """(the phrases of known words, these words by number, the shorter phrases filled up with marks)."""
        found = [[self.number.get(word, -1) for word in words] for words in phrases]
        known = [i for i, words in enumerate(found) if words and min(words) >= 0]
        table = np.full((len(known), max((len(found[i]) for i in known), default=1) + 1), len(self.number))
        for row, i in zip(table, known, strict=True):
            row[: len(found[i])] = found[i]
        return np.array(known, dtype=np.int64), table

    def bags(self, phrases: Sequence[Words]) -> Matrix:
        """The bag of each phrase, the sum of the sentences that hold it, as a row of length 1."""
        rows, columns = self.holding(phrases)
        bags = matrix(np.ones(len(rows)), rows, columns, (len(phrases), self.weighted.shape[0])) @ self.weighted
        length = np.sqrt(bags.multiply(bags).sum(axis=1))
        bags.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(bags.indptr))
        return bags


@similarity("context", form="stems")
def context(phrases: Sequence[Words], left: Ints, right: Ints, *, sentences: Contexts | Sequence[Words] = ()) -> Floats:
    """Cosine of the tf-idf bags of the sentences that hold each phrase (the distributional similarity of Kim 2010).

    `sentences` are those of all documents, as stems (`sentences_of`), or `Contexts` of them. A bag has the words of
    every sentence in which the phrase's stems follow each other, weighed by ln(sentences / sentences with the word). A
    phrase that no sentence holds is 0 to all but itself.
    """
    contexts = sentences if isinstance(sentences, Contexts) else Contexts.of(sentences)
    if not len(contexts.words):
        raise InputError(
            "similarity context needs the documents' sentences: compare(..., sentences=sentences_of(texts))"
        )
    used, place = np.unique(np.concatenate([left, right]), return_inverse=True)
    number: dict[Words, int] = {}
    numbers = np.array([number.setdefault(phrases[i], len(number)) for i in used.tolist()], dtype=np.int64)[place]
    of_left, of_right = numbers[: len(left)], numbers[len(left) :]
    bags = contexts.bags(list(number))
    scores = np.minimum(_dots(bags, of_left, of_right), 1.0)
    scores[of_left == of_right] = 1.0
    return scores


def _dots(bags: Matrix, left: Ints, right: Ints) -> Floats:
    """The dot product of two rows, for each pair: the entries of the shorter row are looked up in the longer one.

    Bags of frequent phrases hold half of all words, those of the rest a few; so it pays to go by the shorter.
    """
    size = np.diff(bags.indptr)
    longer = np.where(size[left] >= size[right], left, right)
    shorter = np.where(size[left] >= size[right], right, left)
    found = np.zeros(len(left))
    pairs = np.flatnonzero(size[shorter] > 0)
    pairs = pairs[np.argsort(longer[pairs], kind="stable")]
    rows, of_pair = np.unique(longer[pairs], return_inverse=True)
    step = max(_CELLS // max(bags.shape[1], 1), 1)
    for start in range(0, len(rows), step):
        dense = bags[rows[start : start + step]].toarray()
        first, end = np.searchsorted(of_pair, (start, start + step))
        for some in _parts(size[shorter[pairs[first:end]]]):
            chosen = pairs[first:end][some]
            found[chosen] = _looked_up(bags, dense, of_pair[first:end][some] - start, shorter[chosen])
    return found


def _parts(sizes: Ints) -> Iterator[slice]:
    """Consecutive pairs of a bounded number of entries together."""
    until = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(until[start - 1]) if start else 0
        stop = max(int(np.searchsorted(until, before + _CELLS, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


def _looked_up(bags: Matrix, dense: Floats, row: Ints, other: Ints) -> Floats:
    """The dot product of a dense row with a sparse one, for each pair; no sparse one is empty."""
    size = np.diff(bags.indptr)[other]
    starts = np.cumsum(size) - size
    entries = np.arange(int(size.sum())) + np.repeat(bags.indptr[other] - starts, size)
    products = dense[np.repeat(row, size), bags.indices[entries]] * bags.data[entries]
    return np.asarray(np.add.reduceat(products, starts))
