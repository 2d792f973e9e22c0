"""Similarity of the sentences that two phrases stand in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from karat.errors import InputError
from karat.similarity.base import Floats, Ints, Words, similarity
from karat.similarity.sparse import Matrix, matrix, row_dots
from karat.text.normalise import normaliser

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def sentences_of(texts: Iterable[str]) -> list[Words]:
    """The sentences of texts, as stems.

    >>> sentences_of(["Graphs grow. Trees do, too."])
    [('graph', 'grow', '.'), ('tree', 'do', ',', 'too', '.')]
    """
    stems = normaliser("marks", "porter", "lower")
    cut = [sentence for text in texts for sentence in _SENTENCE_END.split(text)]
    return [tuple(form.split(" ")) for form in map(stems, cut) if form]


@similarity("context", form="stems")
def context(phrases: Sequence[Words], left: Ints, right: Ints, *, sentences: Sequence[Words] = ()) -> Floats:
    """Cosine of the tf-idf bags of the sentences that hold each phrase (the distributional similarity of Kim 2010).

    `sentences` are those of all documents, as stems (`sentences_of`). A bag has the words of every sentence in which
    the phrase's stems follow each other, weighed by ln(sentences / sentences with the word). A phrase that no sentence
    holds is 0 to all but itself.
    """
    if not sentences:
        raise InputError(
            "similarity context needs the documents' sentences: compare(..., sentences=sentences_of(texts))"
        )
    number: dict[Words, int] = {}
    numbers = np.array([number.setdefault(words, len(number)) for words in phrases], dtype=np.int64)
    bags = _bags(number, sentences)
    scores = np.minimum(row_dots(bags, bags, numbers[left], numbers[right]), 1.0)
    scores[numbers[left] == numbers[right]] = 1.0
    return scores


def _bags(number: dict[Words, int], sentences: Sequence[Words]) -> Matrix:
    """The bag of each phrase, as a row of length 1."""
    counts = _counts(sentences)
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    held = list(_held(number, sentences))
    phrase, sentence = np.array(held, dtype=np.int64).reshape(-1, 2).T
    holds = matrix(np.ones(len(held)), phrase, sentence, (len(number), len(sentences)))
    bags = (holds @ counts).multiply(np.log(len(sentences) / frequency)[None, :]).tocsr()
    length = np.sqrt(bags.multiply(bags).sum(axis=1))
    bags.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(bags.indptr))
    return bags


def _counts(sentences: Sequence[Words]) -> Matrix:
    """How often each sentence has each word, [sentences, words]."""
    number: dict[str, int] = {}
    flat = [number.setdefault(word, len(number)) for word in chain.from_iterable(sentences)]
    row = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])
    shape = len(sentences), len(number)
    return matrix(np.ones(len(flat)), row, np.array(flat, dtype=np.int64), shape)


def _held(number: dict[Words, int], sentences: Sequence[Words]) -> set[tuple[int, int]]:
    """(phrase, sentence) wherever a sentence holds a phrase."""
    lengths = sorted({len(words) for words in number} - {0})
    return {
        (number[words], s)
        for s, sentence in enumerate(sentences)
        for n in lengths
        for i in range(len(sentence) - n + 1)
        if (words := sentence[i : i + n]) in number
    }
