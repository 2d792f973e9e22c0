"""What an embedder is, and what all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text's tokens in context, with those that a model adds; the added ones can be matched but do not count."""

    vectors: Vectors  # [tokens, d]
    counts: NDArray[np.bool_]  # [tokens]


class Embedder(Protocol):
    """Turns texts into vectors; a text's vector depends on the text and on nothing else."""

    @property
    def name(self) -> str:
        """The name that it was loaded by."""

    @property
    def summary(self) -> str:
        """One line about what its vectors stand for."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text, float32[texts, d]."""

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text in their context, where the model has such."""


def distinct(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Each text once, in the order of first use, and where the given ones are among them.

    >>> found, places = distinct(["b", "a", "b"])
    >>> found, places.tolist()
    (['b', 'a'], [0, 1, 0])
    """
    places: dict[str, int] = {}
    each = [places.setdefault(text, len(places)) for text in texts]
    return list(places), np.array(each, dtype=np.int64)


def without_tokens(name: str) -> InputError:
    """An error for an embedder that has no tokens in context."""
    return InputError(
        f"embedder {name!r} has no tokens in context: give the directory of an encoder, as models/scibert"
    )
