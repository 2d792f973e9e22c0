"""Weights by place: learned from people's scores of pairs, with intervals, and evaluated by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.analyses.human.items import Column, HumanOptions
from karat.errors import InputError
from karat.formats.human import Item, Judged
from karat.similarity import Words, words_of
from karat.similarity.placed import PLACES, Places, Weights, learn, places_of
from karat.stats.agreement import combined
from karat.stats.base import ALIKE, Floats, Ints
from karat.stats.resampling import bootstrap_interval

LEARNED = "placed (learned)"  # the column of scores by weights that were learned on other pairs
RESAMPLES = 200  # of documents, on each of which weights are learned for their intervals
_LEAST_PAIRS = 10


@dataclass(frozen=True, slots=True)
class Learned:
    """Weights learned from all pairs with their intervals, the number of folds, and from how many pairs."""

    weights: Weights
    intervals: tuple[tuple[float, float], ...]  # of the places but the head, which weighs 1, then of the first word
    level: float
    folds: int
    pairs: int
    fewest: int  # pairs that any of the folds learned from

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict a place: the weight learned from all pairs, and its confidence interval."""
        names = (*PLACES, "first of several")
        weights = (*self.weights.places, self.weights.first)
        ends = [(np.nan, np.nan), *self.intervals]
        return [
            {"place": name, "weight": weight, "ci": [None if np.isnan(end) else end for end in own]}
            for name, weight, own in zip(names, weights, ends, strict=True)
        ]


def learned_column(judged: Judged, options: HumanOptions) -> tuple[Column, Learned]:
    """The scores of pairs by weights that were learned on the other folds; and the weights.

    Folds are of whole documents, or of whole references where no documents are named; and no weights learn from a pair
    with a reference that they are judged on. Raises InputError if too few pairs are left to learn from.
    """
    people = combined(judged.values)
    if len(judged.items) < _LEAST_PAIRS or np.ptp(people) < ALIKE:
        few = f"{len(judged.items)} pairs" if len(judged.items) < _LEAST_PAIRS else "scores that are all equal"
        raise InputError(
            f"{judged.origin}: weights cannot be learned from {few}; it takes {_LEAST_PAIRS} pairs at least, of "
            "different scores"
        )
    stems = [(words_of(item[0], "stems"), words_of(item[1], "stems")) for item in judged.items]
    groups = [item[2] or reference for item, (_, reference) in zip(judged.items, stems, strict=True)]
    fold = folds_of(groups, options)
    places, values, sizes = places_of(stems), np.zeros(len(stems)), []
    for each in range(int(fold.max()) + 1):
        others = unrelated(stems, fold, each)
        if others.sum() < _LEAST_PAIRS or np.ptp(people[others]) < ALIKE:
            raise InputError(
                f"{judged.origin}: too few pairs are left that share neither document nor reference with those of a "
                f"fold; there are {len(np.unique(fold))} folds"
            )
        weights = learn(places.take(others), people[others])
        values[fold == each] = places.take(fold == each).scores(_logs(weights))
        sizes.append(int(others.sum()))
    column = Column(LEARNED, "placed", {"weights": "cross-validated"}, None, values)
    intervals = weight_intervals(places, people, groups, options)
    return column, Learned(learn(places, people), tuple(intervals), options.level, len(sizes), len(stems), min(sizes))


def weight_intervals(
    places: Places, people: Floats, groups: Sequence[object], options: HumanOptions
) -> list[tuple[float, float]]:
    """Return the interval of each weight but the head's: bootstrap t of its logarithm, drawing whole groups."""
    number = {group: n for n, group in enumerate(dict.fromkeys(groups))}
    units = np.array([number[group] for group in groups], dtype=np.int64)

    def logs(weights: Floats) -> Floats:
        drawn = [np.repeat(np.arange(len(people)), row.astype(np.int64)) for row in weights]
        return np.stack([_logs(learn(places.take(rows), people[rows])) for rows in drawn], axis=1)

    low, high = bootstrap_interval(logs, units, options.level, RESAMPLES, options.seed)
    return [(float(one), float(other)) for one, other in zip(np.exp(low), np.exp(high), strict=True)]


def _logs(weights: Weights) -> Floats:
    return np.log([*weights.places[1:], weights.first])


def folds_of(groups: Sequence[object], options: HumanOptions) -> Ints:
    """The fold of each item: whole groups, in the order of the seed, each to the fold with the fewest items."""
    number = {group: n for n, group in enumerate(dict.fromkeys(groups))}
    group = np.array([number[each] for each in groups], dtype=np.int64)
    sizes = np.bincount(group)
    held, fold = np.zeros(min(options.folds, len(sizes)), dtype=np.int64), np.zeros(len(sizes), dtype=np.int64)
    for each in np.random.default_rng(options.seed).permutation(len(sizes)).tolist():
        fold[each] = int(held.argmin())
        held[fold[each]] += sizes[each]
    return np.asarray(fold[group])


def unrelated(stems: Sequence[tuple[Words, Words]], fold: Ints, each: int) -> NDArray[np.bool_]:
    """The pairs that a fold may learn from: of other folds, with other references, and not the same two phrases."""
    judged = [pair for pair, own in zip(stems, fold.tolist(), strict=True) if own == each]
    references, phrases = {reference for _, reference in judged}, {frozenset(pair) for pair in judged}
    free = [
        reference not in references and frozenset((prediction, reference)) not in phrases
        for prediction, reference in stems
    ]
    return np.asarray(np.array(free, dtype=bool) & (fold != each))


# ---------------------------------------------------------------------------------------------- files


def with_origin(learned: Learned, judged: Judged, options: HumanOptions, figures: dict[str, Any]) -> Learned:
    """The weights with what they were learned from, for their file; `figures` are the cross-validated ones."""
    origin = {
        "from": judged.origin,
        "pairs": learned.pairs,
        "annotators": len(judged.annotators),
        "folds": learned.folds,
        "fewest_pairs": learned.fewest,
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
