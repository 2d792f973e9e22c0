"""Compute scores with intervals, and the differences of pairs of systems with tests, by the inference engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from karat.analyses.compare.families import Family, sample_of
from karat.analyses.compare.notes import notes_of_seeds, notes_of_tests
from karat.analyses.compare.options import OVER_SEEDS, CompareOptions
from karat.analyses.compare.ranks import best_systems
from karat.analyses.compare.result import Pair, Standing
from karat.stats.difference import Contestants, Inference, adjust_families, compare_pairs
from karat.stats.resampling import Sample
from karat.stats.scores import interval_of_score


@dataclass(frozen=True, slots=True)
class Measured:
    """The score of each system and the differences of the pairs that are compared, with the options."""

    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    options: CompareOptions

    def notes(self) -> Iterator[str]:
        """Yield notes on intervals and p-values."""
        yield from notes_of_seeds(self.pairs, self.standings, self.options)
        yield from notes_of_tests(self.pairs, self.options)


def measure(families: Sequence[Family], options: CompareOptions, *, tested: bool = True) -> Measured:
    """Compute the intervals of the systems and, if `tested`, compare all pairs of a family, or each with the baseline.

    In a family that lacks the baseline nothing is compared. p is adjusted over the families of the options.
    """
    standings: list[Standing] = []
    contestants: list[Contestants] = []
    about: list[tuple[Family, str, str]] = []
    for family in families:
        samples = {
            name: [sample_of(score, family.documents) for score in scores] for name, scores in family.systems.items()
        }
        standings += _standings(family, samples, options)
        for a, b in _compared(samples, options.baseline) if tested else ():
            contestants.append(Contestants(samples[a], samples[b], _reach(family), _hits(family, a, b)))
            about.append((family, a, b))
    how = Inference(
        options.test,
        options.alternative,
        options.correction,
        options.alpha,
        options.level,
        options.drawn,
        options.seed,
    )
    keys = [_family_key(family, options) for family, _, _ in about]
    differences = adjust_families(
        compare_pairs(contestants, how), keys, how, corpora=[family.corpus for family, _, _ in about]
    )
    pairs = [
        Pair(family.corpus, family.protocol, family.request, a, b, difference)
        for (family, a, b), difference in zip(about, differences, strict=True)
    ]
    return Measured(tuple(standings), tuple(pairs), options)


def _family_key(family: Family, options: CompareOptions) -> Any:
    """Return what the tests of one family have in common."""
    if options.family == "all":
        return ()
    return (family.corpus,) if options.family == "corpus" else (family.corpus, family.protocol, family.request)


def _compared(systems: Iterable[str], baseline: str | None) -> Iterator[tuple[str, str]]:
    """Yield the pairs that are compared: all of them, or each system with the baseline, which comes second."""
    for a, b in combinations(systems, 2):
        if baseline in (None, a, b):
            yield (b, a) if baseline == a else (a, b)


def _reach(family: Family) -> float:
    """Return the largest difference that one document can have."""
    lowest, highest = family.request.spec.bounds
    return highest - lowest


def _hits(family: Family, a: str, b: str) -> tuple[Sample, Sample] | None:
    """Return the references that each system finds, for McNemar's test, where both have them."""
    if a not in family.found or b not in family.found:
        return None
    x, y = (sample_of(family.found[name][0], family.documents) for name in (a, b))
    return (x, y) if len(x.values) == len(y.values) else None


def _standings(family: Family, samples: dict[str, list[Sample]], options: CompareOptions) -> Iterator[Standing]:
    values = {name: [sample.value() for sample in own] for name, own in samples.items()}
    means = {name: float(np.mean(own)) for name, own in values.items()}
    best, _ = best_systems(family, means)
    for name, own in samples.items():
        bounds = family.request.spec.bounds
        ends = interval_of_score(own, bounds, options.interval, options.level, options.drawn, options.seed)
        yield Standing(
            family.corpus,
            family.protocol,
            family.request,
            name,
            means[name],
            ends,
            len(own),
            float(np.std(values[name], ddof=1)) if len(own) > 1 else np.nan,
            name in best,
            interval_by=options.interval if len(own) == 1 else OVER_SEEDS,
        )
