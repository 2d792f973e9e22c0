"""Random phrases, and scores of pairs of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from karat.similarity import Words, find

Pair = tuple[Words, Words]

WORDS = ["graph", "tree", "node", "edge", "path", "walk", "rank", "sum", "cut", "flow"]


def made_pairs(count: int, seed: int = 0, words: Sequence[str] = WORDS, longest: int = 6) -> list[Pair]:
    chance = random.Random(seed)

    def phrase() -> Words:
        return tuple(chance.choice(words) for _ in range(chance.randint(1, longest)))

    return [(phrase(), phrase()) for _ in range(count)]


def scores(name: str, pairs: Sequence[Pair], **options: Any) -> list[float]:
    """The scores of pairs, in one call."""
    number: dict[Words, int] = {}
    sides = [[number.setdefault(words, len(number)) for words in side] for side in zip(*pairs, strict=True)]
    left, right = (np.array(side, dtype=np.int64) for side in sides)
    found = find(name, **options).scores(list(number), left, right)
    assert found.dtype == np.float64
    return [float(score) for score in found]
