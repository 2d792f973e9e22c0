"""From text to the form in which it is compared: stems joined by single spaces.

Two token lists are equal exactly when their joined forms are, and one holds the other exactly when ` form ` is in
` form `: comparing strings does at C speed what comparing lists would do. Each distinct piece of text is tokenised,
and each distinct token stemmed, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from karat.text.stems import Stem, stemmer
from karat.text.tokens import Tokenizer, tokenizer

REMEMBERED = 1 << 18  # entries kept; beyond that a memory is emptied, so that it stays bounded on any corpus
_MARK = "\x00"  # parts texts that are normalised together


class Memory(dict[str, str]):
    """A dict that computes what it lacks."""

    def __init__(self, compute: Callable[[str], str]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: str) -> str:
        value = self[key] = self._compute(key)
        return value

    def forget(self) -> None:
        """Empties the memory if it has grown beyond its bound."""
        if len(self) > REMEMBERED:
            self.clear()


class Normaliser:
    """Text in its compared form, for one choice of tokenizer, stemmer and case."""

    def __init__(self, tokens: Tokenizer, stem: Stem, lower: bool) -> None:
        self._tokens = tokens
        self._lower = lower
        self._stems = Memory(stem)
        self._pieces = Memory(self._piece)

    def __call__(self, text: str) -> str:
        """The stems of a text, joined by single spaces.

        >>> normaliser("marks", "porter", "lower")("Neural networks, trained.")
        'neural network , train .'
        """
        return self._join(self._tokens.pieces(text.lower() if self._lower else text))

    def many(self, texts: Sequence[str]) -> list[str]:
        """The forms of many short texts, made in one sweep.

        >>> normaliser("marks", "porter", "lower").many(["Neural networks", "", "nets"])
        ['neural network', '', 'net']
        """
        together = f" {_MARK} ".join(map(str.strip, texts))
        if not self._tokens.local or together.count(_MARK) >= max(len(texts), 1):
            return [self(text).strip() for text in texts]
        self._pieces[_MARK] = _MARK
        return [form.strip() for form in self(together).split(_MARK)] if texts else []

    def _join(self, pieces: list[str]) -> str:
        forms = map(self._pieces.__getitem__, pieces)
        return " ".join(filter(None, forms) if self._tokens.drops else forms)

    def _piece(self, piece: str) -> str:
        if self._tokens.tokens is None:
            return self._stems[piece]
        return " ".join(map(self._stems.__getitem__, self._tokens.tokens(piece)))

    def forget(self) -> None:
        """Empties memories that have grown beyond their bound."""
        self._pieces.forget()
        self._stems.forget()


@cache
def normaliser(tokens: str, stem: str, case: str) -> Normaliser:
    """The one normaliser of this process for these options, with what it remembers."""
    return Normaliser(tokenizer(tokens), stemmer(stem), lower=case == "lower")
