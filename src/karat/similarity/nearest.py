"""The entries of a list that are nearest to texts: by letters, or by the cosine of vectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from karat.embed import Embedder

BLOCK = 1024  # texts that are compared with all others at once
_CELLS = 1 << 21  # pairs of texts that are compared by letters at once
ROUNDING = 1e-6  # of float32: a cosine of exactly the threshold counts

Near = tuple[int, float]  # the place of an entry, and how near it is; the place is -1 where none is near enough


def nearest_by_letters(texts: Sequence[str], entries: Sequence[str], least: float = 0.0) -> list[Near]:
    """For each text the entry with the least edits for its length, the first of equals.

    How near it is is 1 − edits / letters of the longer; an entry below `least` is none.

    >>> nearest_by_letters(["bees", "ant"], ["wasps", "beef"], least=0.7)
    [(1, 0.75), (-1, 0.0)]
    """
    length = np.fromiter(map(len, entries), dtype=np.int64, count=len(entries))
    order = np.argsort(length, kind="stable")
    length = length[order]
    groups: dict[int, list[int]] = defaultdict(list)
    for n, text in enumerate(texts):
        groups[len(text)].append(n)
    found: list[Near] = [(-1, 0.0)] * len(texts)
    for size, members in groups.items():
        # Lengths differ by edits, so that an entry that is much shorter or longer cannot be near.
        low, high = (ceil(least * size - 1e-9), floor(size / least + 1e-9)) if least else (0, max(length, default=0))
        places = order[np.searchsorted(length, low) : np.searchsorted(length, high, side="right")]
        step = max(1, _CELLS // max(len(places), 1))
        for start in range(0, len(members) if len(places) else 0, step):
            some = members[start : start + step]
            for n, near in zip(some, _nearest([texts[n] for n in some], entries, places, least), strict=True):
                found[n] = near
    return found


def _nearest(texts: list[str], entries: Sequence[str], places: NDArray[np.int64], least: float) -> list[Near]:
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    scorer = Levenshtein.normalized_similarity
    scores = cdist(texts, [entries[n] for n in places], scorer=scorer, score_cutoff=least, dtype=np.float64)
    best = scores.max(axis=1)
    first = np.where(scores == best[:, None], places, len(entries)).min(axis=1)
    near = (best >= least) & (best > 0 if least else True)
    return [
        (int(place), float(score)) if kept else (-1, 0.0) for place, score, kept in zip(first, best, near, strict=True)
    ]


def nearest_by_cosine(texts: Sequence[str], vectors: Embedder, entries: NDArray[np.float32]) -> list[Near]:
    """For each text the entry whose vector has the largest cosine, the first of equals; `entries` are of length 1."""
    found: list[Near] = []
    for start in range(0, len(texts), BLOCK):
        scores = of_length_1(vectors, texts[start : start + BLOCK]) @ entries.T  # [texts, entries]
        best = scores.argmax(axis=1)
        found += list(zip(best.tolist(), scores[np.arange(len(best)), best].tolist(), strict=True))
    return found


def of_length_1(vectors: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of the texts, each of length 1."""
    found = vectors.embed(texts)
    length = np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
    return np.asarray(found / length, dtype=np.float32)
