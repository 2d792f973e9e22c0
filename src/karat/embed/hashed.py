"""The embedder that needs nothing: hashed character n-grams."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from karat.embed.base import Tokens, Vectors, distinct, without_tokens

DIMENSION = 512
LENGTHS = (3, 4, 5)


@dataclass(frozen=True, slots=True)
class Hashed:
    """Counts of the character 3- to 5-grams of each word, hashed into 512 signed places.

    Words are compared without case, in Unicode's compatibility form, and with their boundaries: `<cat>` has `<ca`,
    `cat`, `at>`, `<cat`, `cat>` and itself. Counts are whole numbers, so no order of adding changes a digit.
    """

    name: str = "hash"
    summary: str = "hashed character n-grams: a surface similarity, not a semantic one; no model needed"
    _words: dict[str, Vectors] = field(default_factory=dict, repr=False, compare=False)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector of length 1 for each text; zeros for a text without a word."""
        unique, places = distinct(texts)
        sums = np.zeros((len(unique), DIMENSION), dtype=np.float32)
        for row, text in zip(sums, unique, strict=True):
            for word in unicodedata.normalize("NFKC", text).casefold().split():
                row += self._word(word)
        lengths = np.sqrt(np.einsum("nd,nd->n", sums, sums))
        return np.asarray((sums / np.where(lengths > 0, lengths, 1)[:, None])[places], dtype=np.float32)

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """An error: n-grams have no context."""
        raise without_tokens(self.name)

    def _word(self, word: str) -> Vectors:
        if word not in self._words:
            self._words[word] = word_vector(word)
        return self._words[word]


def word_vector(word: str) -> Vectors:
    """The signed counts of a word's n-grams, float32[DIMENSION]."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    for gram in ngrams(word):
        digest = blake2b(gram.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        vector[(number >> 1) % DIMENSION] += 1.0 if number & 1 else -1.0
    return vector


def ngrams(word: str) -> list[str]:
    """The character n-grams of a word with its boundaries.

    >>> ngrams("cat")
    ['<ca', 'cat', 'at>', '<cat', 'cat>', '<cat>']
    """
    bounded = f"<{word}>"
    return [bounded[i : i + n] for n in LENGTHS for i in range(len(bounded) - n + 1)]
