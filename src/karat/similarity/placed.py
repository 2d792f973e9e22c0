"""Overlap with weights by place: what a shared word counts depends on where it stands in the longer phrase.

A word has the weight of its distance from the head, which is 1 for the head itself; the first word of a phrase of
several has that times one number more. With all weights 1 this is `overlap`, with 1, 1/2, 1/3, ... it is
`overlap_head`; `learn` finds the weights that go best with people's scores.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from math import isfinite, log
from pathlib import Path
from typing import Any

import numpy as np

from karat.errors import InputError
from karat.similarity.base import Floats, Ints, Words, in_roles, similarity
from karat.similarity.patterns import Labels, by_pattern, table

EQUAL = "equal"
KIND, VERSION = "weights by place", 1
PLACES = ("head", "second", "third", "fourth and further")  # from the head on
SHRINK = 0.005  # how much weights that are not 1 have to gain
_MOST = 20.0  # the largest weight, and 1 over the smallest


@dataclass(frozen=True, slots=True)
class Weights:
    """What words count by their place, from the head on, the last for all further ones; and the first word's factor."""

    places: tuple[float, ...] = (1.0,)
    first: float = 1.0
    learned: Mapping[str, Any] = field(default_factory=dict)  # from what, and how well they go with people

    def of(self, length: int) -> list[float]:
        """The weights of the words of a phrase, from its head on.

        >>> Weights((1.0, 0.5), first=2.0).of(3), Weights((1.0, 0.5), first=2.0).of(1)
        ([1.0, 0.5, 1.0], [1.0])
        """
        own = [self.places[min(place, len(self.places) - 1)] for place in range(length)]
        return own if length < 2 else [*own[:-1], own[-1] * self.first]

    def as_dict(self) -> dict[str, Any]:
        """The content of their file."""
        return {
            "kind": KIND,
            "version": VERSION,
            "places": list(self.places),
            "first": self.first,
            "learned": dict(self.learned),
        }

    def save(self, path: str | Path) -> None:
        """Writes them to a file, which `placed:PATH` reads."""
        from karat.formats.output import write_beside

        write_beside(str(path), (json.dumps(self.as_dict(), indent=1, ensure_ascii=False) + "\n").encode())


# ---------------------------------------------------------------------------------------------- files


def read_weights(name: str) -> Weights:
    """The weights in a file, or equal ones. Raises InputError if the file does not hold weights."""
    if name == EQUAL:
        return Weights()
    from karat.formats.files import read_whole

    path = Path(name)
    if path.exists() and path.stat().st_size == 0:
        raise InputError(f"{name}: the file is empty; `karat human SCORES --learn FILE` writes weights")
    return _read(name, read_whole(name))


@lru_cache(maxsize=16)
def _read(name: str, content: bytes) -> Weights:
    from karat.formats.load import decoded_json

    found = decoded_json(content, dict[str, Any], name, "not JSON")
    if found.get("kind") != KIND:
        raise InputError(f"{name}: holds no {KIND}; `karat human SCORES --learn FILE` writes them")
    if found.get("version") != VERSION:
        raise InputError(f"{name}: weights of version {found.get('version')!r}, but this karat reads {VERSION}")
    places = found.get("places")
    if not isinstance(places, list) or not places:
        raise InputError(f"{name}: places is a list of weights from the head on, as [1, 0.5], not {places!r}")
    learned = found.get("learned", {})
    numbers = [_weight(name, value) for value in [*places, found.get("first", 1.0)]]
    return Weights(tuple(numbers[:-1]), numbers[-1], learned if isinstance(learned, dict) else {})


def _weight(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or not 0 < value < 1e6:
        raise InputError(f"{name}: a weight is a number above 0, not {value!r}")
    return float(value)


def _check(options: Mapping[str, Any]) -> None:
    read_weights(options["weights"])


# ---------------------------------------------------------------------------------------------- the similarity


@similarity("placed", form="stems", check=_check)
def placed(phrases: Sequence[Words], left: Ints, right: Ints, *, weights: str = EQUAL) -> Floats:
    """Weight of the shared words / weight of all, by weights learned from people (`karat human --learn`): placed:PATH.

    The words are those of the longer phrase, and of the reference if both are as long. Of a word that it has more often
    than the other phrase, the occurrences nearest the head count.
    """
    judged, longer = in_roles(phrases, left, right, "longer")
    return by_pattern(table(phrases), judged, longer, partial(_placed, read_weights(weights)))


def _placed(weights: Weights, shorter: Labels, longer: Labels) -> float:
    own = weights.of(len(longer))
    shared = _shared(shorter, longer)
    return sum(weight for weight, is_shared in zip(own, shared, strict=True) if is_shared) / sum(own)


def _shared(shorter: Sequence[object], longer: Sequence[object]) -> list[bool]:
    """Which words of the longer phrase the other has, from the head on."""
    free, found = Counter(shorter), []
    for word in reversed(longer):
        found.append(free[word] > 0)
        free[word] -= 1
    return found


# ---------------------------------------------------------------------------------------------- learning


@dataclass(frozen=True, slots=True)
class Places:
    """Of each pair, how many words of the longer phrase are at each place, and how many of these are shared.

    Columns are PLACES, then PLACES again for the first word of a phrase of several.
    """

    all: Floats  # [pairs, 2 * len(PLACES)]
    shared: Floats

    def take(self, which: Any) -> Places:
        """Those of some pairs."""
        return Places(self.all[which], self.shared[which])

    def scores(self, logs: Floats) -> Floats:
        """The similarity of each pair, by logarithms of the weights: of the places but the head, then of the first."""
        places = np.concatenate([[0.0], logs[:-1]])
        weights = np.exp(np.concatenate([places, places + logs[-1]]))
        return np.asarray((self.shared @ weights) / (self.all @ weights))


def places_of(pairs: Sequence[tuple[Words, Words]]) -> Places:
    """The places of pairs of phrases (prediction, reference), as stems; a pair has a word at least."""
    counts = np.zeros((2, len(pairs), 2 * len(PLACES)))
    for row, (prediction, reference) in enumerate(pairs):
        shorter, longer = (reference, prediction) if len(prediction) > len(reference) else (prediction, reference)
        for place, is_shared in enumerate(_shared(shorter, longer)):
            first = len(longer) > 1 and place == len(longer) - 1
            column = min(place, len(PLACES) - 1) + len(PLACES) * first
            counts[:, row, column] += (1.0, is_shared)
    return Places(counts[0], counts[1])


def learn(places: Places, people: Floats, shrink: float = SHRINK) -> Weights:
    """The weights whose similarity has the highest Pearson correlation with people's scores.

    What is maximised is r − shrink · Σ ln(weight)², so that few pairs leave all weights near 1, where the similarity is
    `overlap`; no weight is above 20 or below 1/20. Where either column is constant, all weights are 1.
    """
    from scipy.optimize import minimize

    def loss(logs: Floats) -> float:
        scores = places.scores(logs)
        if np.ptp(scores) == 0 or np.ptp(people) == 0:
            return shrink * float(logs @ logs)
        return shrink * float(logs @ logs) - float(np.corrcoef(scores, people)[0, 1])

    start, bound = np.zeros(len(PLACES)), log(_MOST)
    found = minimize(loss, start, method="L-BFGS-B", bounds=[(-bound, bound)] * len(start))
    logs = found.x if found.fun < loss(start) else start
    rounded = [float(f"{weight:.6g}") for weight in np.exp(logs).tolist()]
    return Weights((1.0, *rounded[:-1]), rounded[-1])
