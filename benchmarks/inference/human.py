"""Cells for `karat human`: correlations with people, their differences, families, agreement, weights by place.

Populations are scores of released runs on Inspec with human scores made of them: the score and noise, rounded to 0 to
4. `present` and `soft` have few zeros; on `absent` four of five documents score 0, and so do most human scores. In
`absent, F1 and recall` the second metric is nearly a copy of the first: it differs on few documents, and no interval of
the difference holds. `two systems` has two items of each document, which share a part of the noise; n counts items.
Intervals and tests that are undefined, such as where all items but one score 0, are not counted.

Weights by place are learned from near misses of T5 on Inspec, which people score by known weights and noise; n counts
documents. They are learned 200 times for each interval, so there are a twentieth of the trials.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import karat
from benchmarks.inference.base import ALPHA, COVERAGE, TYPE_I, Cell
from karat.analyses.human.items import HumanOptions
from karat.analyses.human.learn import weight_intervals
from karat.similarity import words_of
from karat.similarity.placed import PLACES, Places, learn, places_of
from karat.stats.agreement import SCALES, Scale, alpha_with_interval, krippendorff
from karat.stats.correlation import (
    COEFFICIENTS,
    compare_correlations,
    correlate,
    correlation_intervals,
    correlations,
    paired_correlations,
)
from karat.stats.difference import Inference

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SIZES = (10, 25, 80, 400)
COPIES = 20  # of the documents of a population, each with its own noise
METRICS = 7
COPY = "absent, F1 and recall"  # two metrics that differ on few documents
LARGE = 400  # items from which there are a quarter of the trials
RESAMPLES = 1000  # draws of max-T
SLOW = 20  # times fewer trials for weights by place
FEWER_FAMILIES = 4  # times fewer trials of families
TRUE_LOGS = np.log([0.6, 0.4, 0.3, 1.4])  # weights of the second, third and further words, and of the first
DATA = Path(os.environ.get("KARAT_SHARED", Path(__file__).parents[3] / "shared")) / "data"


@dataclass(frozen=True, slots=True)
class Population:
    """Items: latent quality and two metrics, [documents, items of each], and the noise of human scores."""

    name: str
    quality: Floats
    metrics: tuple[Floats, Floats]
    noise: float

    def scores(self, generator: np.random.Generator, count: int = 1) -> Floats:
        """Return human scores from 0 to 4, [documents, items, annotators]; items of a document share half the noise."""
        shape = (*self.quality.shape, count)
        shared = generator.normal(size=(len(self.quality), 1, count)) if self.quality.shape[1] > 1 else 0.0
        mixed = np.sqrt(0.5) if self.quality.shape[1] > 1 else 1.0
        noise = mixed * generator.normal(size=shape) + np.sqrt(1 - mixed**2) * shared
        return np.asarray(np.round(4 * np.clip(self.quality[..., None] + self.noise * noise, 0, 1)))

    def repeated(self, copies: int) -> Population:
        """Return the population with every document several times."""
        quality, first, second = (np.tile(part, (copies, 1)) for part in (self.quality, *self.metrics))
        return Population(self.name, quality, (first, second), self.noise)


def cells(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield coverage of correlations, differences and alpha, type I error and family-wise error."""
    return chain.from_iterable(part(trials, seed, quick) for part in PARTS)


def _settings(quick: bool) -> tuple[list[Population], tuple[int, ...]]:
    return ([_made()], (25,)) if quick else (_released(), SIZES)


def single_correlations(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield coverage of correlations and of their differences, and type I error."""
    populations, sizes = _settings(quick)
    generator = np.random.default_rng([seed, 0])
    for population in populations:
        for n in sizes:
            some = _fewer(trials, n)
            yield from _coverage(population, n, some, generator)
            yield from _errors(population, n, some, generator)


def families(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield family-wise error of seven metrics; COPY is as `absent` where metrics are drawn."""
    populations, sizes = _settings(quick)
    generator = np.random.default_rng([seed, 1])
    for population in populations:
        for n in sizes if population.name != COPY else ():
            some = trials if quick else max(_fewer(trials, n) // FEWER_FAMILIES, 1)
            yield from _families(population, n, some, generator, ("pearson",) if quick else COEFFICIENTS)


def agreement(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield the coverage of Krippendorff's alpha."""
    populations, sizes = _settings(quick)
    generator = np.random.default_rng([seed, 2])
    for population in populations:
        for annotators in () if population.name == COPY else (3,) if quick else (2, 3, 5):
            for n in sizes:
                yield from _alphas(population, n, annotators, _fewer(trials, n), generator)


def weights(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield the coverage of learned weights."""
    if not quick:
        yield from _weights(max(trials // SLOW, 1), np.random.default_rng([seed, 3]))


PARTS = (single_correlations, families, agreement, weights)


def _fewer(trials: int, n: int) -> int:
    return trials if n < LARGE else max(trials // 4, 1)


# ---------------------------------------------------------------------------------------------- populations


def _made() -> Population:
    """Return a synthetic population of which 30 % score 0."""
    generator = np.random.default_rng(5)
    quality = np.where(generator.random((400, 1)) < 0.3, 0.0, generator.beta(2, 3, size=(400, 1)))
    metrics = [np.clip(quality + generator.normal(0, noise, quality.shape), 0, 1) for noise in (0.1, 0.2)]
    return Population("synthetic", quality, (metrics[0], metrics[1]), 0.2)


def _released() -> list[Population]:
    runs = [DATA / "predictions" / "inspec" / f"{name}.jsonl.gz" for name in ("t5", "one2set")]
    requests = ("f1@M:present", "p@5:present", "f1@M:absent", "r@M:absent", "soft_f,score=kmr", "f1@M")
    found = karat.score(DATA / "inspec.chan19.jsonl.gz", *runs, metrics=list(requests))
    values = np.stack([score.per_document() for score in found.scores]).reshape(2, len(requests), -1)  # by run

    def columns(run: int, first: int, second: int) -> tuple[Floats, Floats]:
        pair = values[run, [first, second]]
        pair = pair[:, ~np.isnan(pair).any(axis=0)]
        return pair[0][:, None], pair[1][:, None]

    present, absent, copies, soft = columns(0, 0, 1), columns(0, 2, 5), columns(0, 2, 3), columns(0, 4, 5)
    both = (values[:, 4].T, values[:, 5].T)
    return [
        Population("present", present[0], present, 0.2),
        Population("absent", np.minimum(1.5 * absent[0], 1), absent, 0.2),
        Population(COPY, np.minimum(1.5 * copies[0], 1), copies, 0.2),
        Population("soft", soft[0], soft, 0.1),
        Population("two systems", both[0], both, 0.15),
    ]


def _draw(count: int, n: int, items: int, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Return (documents that are drawn, the unit of each item)."""
    drawn = generator.integers(count, size=max(n // items, 3))
    return drawn, np.repeat(np.arange(len(drawn)), items)


# ---------------------------------------------------------------------------------------------- correlations


def _coverage(population: Population, n: int, trials: int, generator: np.random.Generator) -> Iterator[Cell]:
    """Yield the coverage of the three correlations of a metric, and of the difference to another metric."""
    whole = population.repeated(COPIES)
    people = whole.scores(generator)[..., 0]
    true = [correlate(metric.ravel(), people.ravel())[:, 0] for metric in whole.metrics]
    single: list[list[bool]] = [[], [], []]
    apart: list[list[bool]] = [[], [], []]
    how = Inference(correction="none")
    for _ in range(trials):
        drawn, units = _draw(len(people), n, people.shape[1], generator)
        y = people[drawn].ravel()
        columns = [metric[drawn].ravel() for metric in whole.metrics]
        for i, ends in enumerate(correlation_intervals(correlations(columns[0], y, units))):
            _count(single[i], ends, true[0][i])
        pair = paired_correlations(columns, y, units, [(0, 1)])
        for i, name in enumerate(COEFFICIENTS):
            [difference] = compare_correlations(pair, name, how)
            _count(apart[i], difference.interval, true[0][i] - true[1][i])
    for name, held, both in zip(COEFFICIENTS, single, apart, strict=True):
        row = f"{population.name}, {name}"
        yield from _cell("coverage, correlation with people", row, n, held, COVERAGE)
        yield from _cell("coverage, difference of two correlations", row, n, both, COVERAGE)


def _count(held: list[bool], ends: tuple[float, float], true: float) -> None:
    if not np.isnan(ends).any():
        held.append(bool(ends[0] <= true <= ends[1]))


def _errors(population: Population, n: int, trials: int, generator: np.random.Generator) -> Iterator[Cell]:
    """Yield the type I error of the difference of two metrics that are equally good."""
    rejected: dict[str, list[bool]] = {name: [] for name in COEFFICIENTS}
    for _ in range(trials):
        columns, y, units = _metrics(population, n, [0.15, 0.15], generator)
        pair = paired_correlations(columns, y, units, [(0, 1)])
        for name in COEFFICIENTS:
            [difference] = compare_correlations(pair, name, Inference(correction="none"))
            if not np.isnan(difference.p):
                rejected[name].append(difference.p <= ALPHA)
    for name, own in rejected.items():
        yield from _cell("type I error, difference of two correlations", f"{population.name}, {name}", n, own, TYPE_I)


def _metrics(
    population: Population, n: int, noises: Sequence[float], generator: np.random.Generator
) -> tuple[list[Floats], Floats, Ints]:
    """Draw items, human scores and metrics, each the first metric with noise on items that do not score 0."""
    drawn, units = _draw(len(population.quality), n, population.quality.shape[1], generator)
    sample = Population("", population.quality[drawn], population.metrics, population.noise)
    metric = population.metrics[0][drawn].ravel()
    columns = [np.clip(metric + generator.normal(0, s, len(metric)) * (metric > 0), 0, 1) for s in noises]
    return columns, sample.scores(generator)[..., 0].ravel(), units


FAMILIES: dict[str, tuple[float, ...]] = {
    "all equal": (0.1,) * METRICS,
    "3 of 7 equal": (0.1, 0.1, 0.1, 0.0, 0.2, 0.4, 0.8),
    "equal, unequal variances": (0.02, 0.02, 0.1, 0.1, 0.4, 0.4, 0.4),  # equal within each noise
}


def _families(
    population: Population, n: int, trials: int, generator: np.random.Generator, coefficients: Sequence[str]
) -> Iterator[Cell]:
    """Yield how often any of the pairs of equal metrics is significant after adjustment over all pairs."""
    pairs = list(combinations(range(METRICS), 2))
    for family, noises in FAMILIES.items():
        rejected: dict[str, list[bool]] = {name: [] for name in coefficients}
        for trial in range(trials):
            both = paired_correlations(*_metrics(population, n, noises, generator), pairs)
            how = Inference(resamples=RESAMPLES, seed=trial, draws="covariance")
            for name in coefficients:
                found = compare_correlations(both, name, how)
                equal = [d for (i, j), d in zip(pairs, found, strict=True) if noises[i] == noises[j]]
                if any(not np.isnan(difference.p) for difference in equal):
                    rejected[name].append(any(difference.adjusted <= ALPHA for difference in equal))
        for name, own in rejected.items():
            yield from _cell(f"family-wise error, {family}", f"{population.name}, {name}", n, own, TYPE_I)


# ---------------------------------------------------------------------------------------------- agreement


def _alphas(
    population: Population, n: int, annotators: int, trials: int, generator: np.random.Generator
) -> Iterator[Cell]:
    """Yield the coverage of Krippendorff's alpha on each scale."""
    people = population.repeated(COPIES).scores(generator, annotators)
    flat = people.reshape(-1, annotators)
    for scale in SCALES:
        true = krippendorff(flat, scale)
        held: list[bool] = []
        for _ in range(trials):
            drawn, units = _draw(len(people), n, people.shape[1], generator)
            values = people[drawn].reshape(-1, annotators)
            _count(held, _alpha_ends(values, scale, units), true)
        row = f"{population.name}, {annotators} annotators, {scale}"
        yield from _cell("coverage, Krippendorff's alpha", row, n, held, COVERAGE)


def _alpha_ends(values: Floats, scale: Scale, units: Ints) -> tuple[float, float]:
    return alpha_with_interval(values, scale, units).interval


# ---------------------------------------------------------------------------------------------- weights by place


def _weights(trials: int, generator: np.random.Generator) -> Iterator[Cell]:
    """Yield the coverage of the bootstrap intervals of learned weights."""
    places, document = _near_misses()
    people = np.round(4 * np.clip(places.scores(TRUE_LOGS) + generator.normal(0, 0.15, len(document)), 0, 1))
    whole = learn(places, people)
    true = (*whole.places[1:], whole.first)
    rows = [np.flatnonzero(document == d) for d in np.unique(document)]
    for n in SIZES[:-1]:
        held: list[list[bool]] = [[] for _ in true]
        for _ in range(trials):
            drawn = [rows[d] for d in generator.integers(len(rows), size=n)]
            pairs, groups = np.concatenate(drawn), np.repeat(np.arange(n), list(map(len, drawn))).tolist()
            intervals = weight_intervals(places.take(pairs), people[pairs], groups, HumanOptions())
            for own, ends, weight in zip(held, intervals, true, strict=True):
                _count(own, ends, weight)
        for name, own in zip((*PLACES[1:], "first of several"), held, strict=True):
            yield from _cell("coverage, weights by place", name, n, own, COVERAGE)


def _near_misses() -> tuple[Places, Ints]:
    """Return the places of predictions and references that share some of their words, and the document of each."""
    predictions = dict(_keyphrases(DATA / "predictions" / "inspec" / "t5.jsonl.gz"))
    pairs, documents = [], []
    for number, (name, references) in enumerate(_keyphrases(DATA / "inspec.chan19.jsonl.gz")):
        ours, theirs = (
            [words_of(phrase, "stems") for phrase in own] for own in (predictions.get(name, []), references)
        )
        near = [(a, b) for a, b in product(ours, theirs) if a != b and set(a) & set(b)]
        pairs += near
        documents += [number] * len(near)
    return places_of(pairs), np.array(documents)


def _keyphrases(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the id and the different keyphrases of each document."""
    with gzip.open(path, "rt") as lines:
        for record in map(json.loads, lines):
            yield record["id"], list(dict.fromkeys(record["keyphrases"]))


def _cell(section: str, row: str, n: int, outcomes: Sequence[bool], bar: tuple[float, float]) -> Iterator[Cell]:
    if outcomes:
        yield Cell(section, row, f"n = {n}", float(np.mean(outcomes)), len(outcomes), bar)
