"""Weights by place, learned from people's scores of pairs, and judged on pairs that they did not learn from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from karat.analyses.human.items import Column, HumanOptions
from karat.errors import InputError
from karat.formats.human import Item, Judged
from karat.similarity import Words, words_of
from karat.similarity.placed import PLACES, Weights, learn, places_of
from karat.stats.base import ALIKE, Floats, Ints
from karat.stats.correlation import combined

LEARNED = "placed (learned)"  # the column of scores by weights that were learned on other pairs
_LEAST_PAIRS = 10


@dataclass(frozen=True, slots=True)
class Learned:
    """Weights learned from all pairs, those of each fold, and of how many groups of pairs that hang together."""

    weights: Weights
    folds: tuple[Weights, ...]
    groups: int
    pairs: int

    def rows(self) -> list[dict[str, Any]]:
        """One dict a place: the weight learned from all pairs, and the lowest and highest of the folds."""
        columns = [_listed(each) for each in self.folds]
        return [
            {"place": name, "weight": weight, "low": min(own), "high": max(own)}
            for name, weight, own in zip(
                (*PLACES, "first of several"), _listed(self.weights), zip(*columns, strict=True), strict=True
            )
        ]


def _listed(weights: Weights) -> list[float]:
    return [*weights.places, weights.first]


def learned_column(judged: Judged, options: HumanOptions) -> tuple[Column, Learned]:
    """The scores of pairs by weights that were learned on the other folds; and the weights.

    Raises InputError if there are too few pairs, or if they hang together so that there are no two folds.
    """
    people = combined(judged.values)
    if len(judged.items) < _LEAST_PAIRS or np.ptp(people) < ALIKE:
        few = f"{len(judged.items)} pairs" if len(judged.items) < _LEAST_PAIRS else "scores that are all equal"
        raise InputError(
            f"{judged.origin}: weights cannot be learned from {few}; it takes {_LEAST_PAIRS} pairs at least, of "
            "different scores"
        )
    stems = [(words_of(item[0], "stems"), words_of(item[1], "stems")) for item in judged.items]
    groups = groups_of(judged.items, stems)
    fold = folds_of(groups, options.folds, options.seed)
    if len(np.unique(fold)) < 2:
        raise InputError(
            f"{judged.origin}: all pairs hang together by their documents and references, so that no weights can be "
            "judged on pairs that they did not learn from"
        )
    places, values, by_fold = places_of(stems), np.zeros(len(stems)), []
    for each in range(int(fold.max()) + 1):
        weights = learn(places.take(fold != each), people[fold != each])
        values[fold == each] = places.take(fold == each).scores(_logs(weights))
        by_fold.append(weights)
    whole = learn(places, people)
    column = Column(LEARNED, "placed", {"weights": "cross-validated"}, None, values)
    return column, Learned(whole, tuple(by_fold), int(groups.max()) + 1, len(stems))


def _logs(weights: Weights) -> Floats:
    return np.log([*weights.places[1:], weights.first])


def groups_of(items: Sequence[Item], stems: Sequence[tuple[Words, Words]]) -> Ints:
    """Which pairs belong together: those of one document or with one reference, and all that hang together so."""
    first: dict[object, int] = {}
    parent = list(range(len(items)))

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for i, (item, (_, reference)) in enumerate(zip(items, stems, strict=True)):
        for key in (("reference", reference), *([("document", item[2])] if item[2] else [])):
            parent[root(i)] = root(first.setdefault(key, i))
    roots = [root(i) for i in range(len(items))]
    number = {own: n for n, own in enumerate(dict.fromkeys(roots))}
    return np.array([number[own] for own in roots], dtype=np.int64)


def folds_of(groups: Ints, folds: int, seed: int) -> Ints:
    """The fold of each item: whole groups, in the order of the seed, each to the fold with the fewest items."""
    sizes = np.bincount(groups)
    count = min(folds, len(sizes))
    held, fold = np.zeros(count, dtype=np.int64), np.zeros(len(sizes), dtype=np.int64)
    for group in np.random.default_rng(seed).permutation(len(sizes)).tolist():
        fold[group] = int(held.argmin())
        held[fold[group]] += sizes[group]
    return np.asarray(fold[groups])


# ---------------------------------------------------------------------------------------------- files


def with_origin(learned: Learned, judged: Judged, options: HumanOptions, figures: dict[str, Any]) -> Learned:
    """The weights with what they were learned from, for their file; `figures` are the cross-validated ones."""
    origin = {
        "from": judged.origin,
        "pairs": learned.pairs,
        "annotators": len(judged.annotators),
        "groups": learned.groups,
        "folds": len(learned.folds),
        "seed": options.seed,
        "cross_validated": figures,
        "digests": sorted(set(digests(judged.items))),
    }
    return replace(learned, weights=replace(learned.weights, learned=origin))


def digests(items: Iterable[Item]) -> list[str]:
    """A short hash of each pair, so that weights know what they learned from without holding it."""
    pairs = ([" ".join(words_of(phrase, "stems")) for phrase in item[:2]] for item in items)
    return [blake2b("\n".join(pair).encode(), digest_size=6).hexdigest() for pair in pairs]


def seen_note(name: str, weights: Weights, items: Sequence[Item]) -> list[str]:
    """A note where weights learned from some of the pairs that they are judged on."""
    known = weights.learned.get("digests")
    seen = set(known) if isinstance(known, list) and all(isinstance(each, str) for each in known) else set()
    count = sum(each in seen for each in digests(items)) if seen else 0
    if not count:
        return []
    return [f"{name} learned from {count:,} of these {len(items):,} pairs, so it looks better than it is; see --learn"]
