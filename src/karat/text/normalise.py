"""From text to the form in which it is compared: stems joined by single spaces.

Two token lists are equal exactly when their joined forms are, and one holds the other exactly when ` form ` is in
` form `: comparing strings does at C speed what comparing lists would do. Each distinct piece of text is tokenised
and stemmed once and remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from karat.text.stems import Stem, stemmer
from karat.text.tokens import Tokenizer, tokenizer

REMEMBERED = 1 << 18  # entries kept; beyond that a memory is emptied, so that it stays bounded on any corpus


class Memory(dict[str, str]):
    """A dict that computes what it lacks."""

    def __init__(self, compute: Callable[[str], str]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: str) -> str:
        value = self[key] = self._compute(key)
        return value


class Normaliser:
    """Text in its compared form, for one choice of tokenizer, stemmer and case."""

    def __init__(self, tokens: Tokenizer, stem: Stem, lower: bool) -> None:
        self._tokens = tokens
        self._stem = stem
        self._lower = lower
        self._pieces = Memory(self._piece)

    def __call__(self, text: str) -> str:
        """The stems of a text, joined by single spaces.

        >>> normaliser("marks", "porter", "lower")("Neural networks, trained.")
        'neural network , train .'
        """
        forms = map(self._pieces.__getitem__, self._tokens.pieces(text))
        return " ".join(filter(None, forms) if self._tokens.drops else forms)

    def _piece(self, piece: str) -> str:
        if self._lower:
            piece = piece.lower()
        if self._tokens.tokens is None:
            return self._stem(piece)
        return " ".join(map(self._stem, self._tokens.tokens(piece)))

    def forget(self) -> None:
        """Empties a memory that has grown beyond its bound."""
        if len(self._pieces) > REMEMBERED:
            self._pieces.clear()


@cache
def normaliser(tokens: str, stem: str, case: str) -> Normaliser:
    """The one normaliser of this process for these options, with what it remembers."""
    return Normaliser(tokenizer(tokens), stemmer(stem), lower=case == "lower")
