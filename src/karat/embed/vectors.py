"""Word vectors in word2vec's and GloVe's text format; a phrase is the mean of its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from karat.embed.base import Tokens, Vectors, distinct, without_tokens
from karat.errors import InputError
from karat.formats.files import blocks, split_lines

_HEADER = re.compile(rb"\d+\s+\d+")
_MOST_DIGITS = 15


@dataclass(slots=True)
class WordVectors:
    """The mean of the vectors of a phrase's words: as written, else in lower case, else left out."""

    path: str
    summary: str = "mean of word vectors from a file"
    _found: dict[bytes, Vectors] = field(default_factory=dict, repr=False)
    _sought: set[bytes] = field(default_factory=set, repr=False)
    _dimension: int = 0

    @property
    def name(self) -> str:
        """vectors:PATH."""
        return f"vectors:{self.path}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The mean of the words' vectors for each text; zeros where no word is known."""
        unique, places = distinct(texts)
        self._look_up({form for text in unique for word in text.split() for form in _forms(word)})
        means = np.zeros((len(unique), self._dimension), dtype=np.float32)
        for row, text in zip(means, unique, strict=True):
            known = [vector for word in text.split() if (vector := self._vector(word)) is not None]
            if known:
                row[:] = np.mean(known, axis=0, dtype=np.float64)
        return np.asarray(means[places])

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """An error: a word's vector is the same in every context."""
        raise without_tokens(self.name)

    def _vector(self, word: str) -> Vectors | None:
        return next((self._found[form] for form in _forms(word) if form in self._found), None)

    def _look_up(self, words: set[bytes]) -> None:
        """Reads the file for words that were not looked for before; keeps those words alone."""
        new = words - self._sought
        if new or not self._dimension:
            found, self._dimension = read_vectors(self.path, new)
            self._found.update(found)
            self._sought |= new


def _forms(word: str) -> tuple[bytes, bytes]:
    return word.encode("utf-8", "surrogatepass"), word.lower().encode("utf-8", "surrogatepass")


def read_vectors(path: str, words: set[bytes]) -> tuple[dict[bytes, Vectors], int]:
    """The vectors of these words and their dimension; every line has to have as many fields as the first."""
    found: dict[bytes, Vectors] = {}
    promised, dimension, count = None, 0, 0
    for first, _, block in blocks(path):
        for number, ended in enumerate(split_lines(block), first):
            line = ended.rstrip()
            if number == 1 and _HEADER.fullmatch(line):
                if max(map(len, line.split())) > _MOST_DIGITS:
                    raise InputError(f"{path}:1: a number of the header has more than {_MOST_DIGITS} digits")
                promised, dimension = (int(field) for field in line.split())
                continue
            if not dimension:
                dimension = line.count(b" ")
            # A word may hold spaces (GloVe's ". . ."), so its vector is what stands last.
            if line.count(b" ") < dimension or not dimension:
                raise _bad_line(path, number, dimension, line)
            word = line[: line.index(b" ")]
            count += 1
            if count == 1 or (word in words and word not in found):
                vector = _parse(line, dimension, path, number)
                if line.count(b" ") == dimension and word in words:
                    found[word] = vector
    if not count:
        raise InputError(f"{path}: no word vectors in it")
    if promised is not None and promised != count:
        raise InputError(f"{path}:1: the header says {promised:,} words, but there are {count:,}: is the file cut off?")
    return found, dimension


def _parse(line: bytes, dimension: int, path: str, number: int) -> Vectors:
    try:
        with np.errstate(over="ignore"):
            vector = np.array(line.rsplit(b" ", dimension)[1:], dtype=np.float32)
    except ValueError:
        raise _bad_line(path, number, dimension, line) from None
    if not np.isfinite(vector).all():
        raise InputError(f"{path}:{number}: a number of the vector is not finite")
    return vector


def _bad_line(path: str, number: int, dimension: int, line: bytes) -> InputError:
    start = line[:40].decode("utf-8", "replace")
    expected = f"a word and {dimension} numbers" if dimension else "a word and its numbers"
    return InputError(f"{path}:{number}: not {expected}, separated by one space each: {start!r}")
