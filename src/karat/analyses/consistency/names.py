"""The names that a run gives, and groups of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Run
from karat.text.abbreviations import SMALL, WORD
from karat.text.normalise import Normaliser
from karat.text.unicode import key_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a run, in the order of how many documents have them, then of the alphabet."""

    keys: list[str]  # in lower case, see `key_of`
    shown: list[str]  # as they are mostly written
    count: Ints
    forms: list[str]  # joined stems; a hyphen parts words
    documents: int
    blank: int
    document: Ints  # of each phrase: its document
    name: Ints  # and the number of its name

    @classmethod
    def of(cls, run: Run, stems: Normaliser) -> Names:
        """The names of all predictions of a run."""
        numbers: dict[str, int] = {}
        surfaces: dict[str, Counter[str]] = {}
        names: list[int] = []
        sizes: list[int] = []
        blank = 0
        for prediction in run:
            of_document: dict[str, None] = {}
            for phrase in prediction.keyphrases or ():
                surface = " ".join((phrase or "").split())
                if not WORD.search(surface):
                    blank += 1
                    continue
                key = key_of(surface)
                of_document[key] = None
                surfaces.setdefault(key, Counter())[surface] += 1
            names += [numbers.setdefault(key, len(numbers)) for key in of_document]
            sizes.append(len(of_document))
        counts = np.bincount(np.array(names, dtype=np.int64), minlength=len(numbers))
        keys = sorted(numbers, key=lambda key: (-counts[numbers[key]], key))
        order = np.array([numbers[key] for key in keys], dtype=np.int64)
        shown = [min(surfaces[key], key=lambda text: (-surfaces[key][text], text)) for key in keys]
        return cls(
            keys,
            shown,
            counts[order],
            stems.many([key.replace("-", " ") for key in keys]),
            len(sizes),
            blank,
            np.repeat(np.arange(len(sizes)), sizes),
            np.argsort(order)[names],
        )

    def bags(self) -> list[str]:
        """The stems of each name in alphabetical order."""
        return list(map(bag, self.forms))


def bag(form: str) -> str:
    """Stems in alphabetical order, without particles unless there is nothing else."""
    words = form.split()
    return " ".join(sorted([word for word in words if word not in SMALL] or words))


def grouped(keys: Iterable[str]) -> Ints:
    """Equal keys as equal numbers, rising in the order in which they are first met."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def tied(group: Ints, ties: Sequence[tuple[int, int]]) -> Ints:
    """The groups with those put together that a pair of names ties."""
    parent = list(range(int(group.max(initial=-1)) + 1))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for a, b in ties:
        one, other = sorted((root(int(group[a])), root(int(group[b]))))
        parent[other] = one
    return grouped(str(root(number)) for number in group.tolist())
