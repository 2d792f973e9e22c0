"""Seeds: comparisons of systems with two, three and five runs, and of single runs with systems of several.

The population is T5 and One2Set on Inspec, mean of F1@5 of present and micro F1@M of absent phrases. Every reference of
a document is found with a probability of this document and system, which comes from the hits of the released run,
shrunk towards their mean. A seed draws the hits anew and adds a shift to the logits of all probabilities. Published
runs of several seeds have standard deviations of 1 to 2 % of the score on present and of about 10 % on absent phrases
(.003 to .006 of .3, .002 to .004 of .03); the cells have none, as much, and three times as much. A system with a single
run varies as much over seeds as the other one, and in a section without a bar twice as much.

Intervals over two or three seeds are too wide, since the variance of seeds has one to four degrees of freedom: coverage
has a lower bar only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.inference.base import ALPHA, COVERAGE, LEVEL, NO_BAR, TYPE_I, Cell
from benchmarks.inference.populations import COPIES, Finish, Floats, Ints, released, synthetic, thin
from karat.metrics.base import f_of_sums, mean
from karat.stats.influence import Contrast, Influences, contrast, jackknife, score_interval
from karat.stats.resampling import Sample

SIZES = (10, 25, 80, 400)
LEAST = 25
SEEDS = ((2, 2), (3, 3), (5, 5), (1, 3), (1, 5))
SETTINGS = (  # population, average, standard deviations over seeds as shares of the score
    ("f1@5:present/micro", "mean-of-f", (0.0, 0.015, 0.045)),
    ("f1@M:absent/micro", "micro", (0.0, 0.1, 0.3)),
)
SHRUNK = 1.0  # references with the mean probability that are added to those of a document
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


@dataclass(frozen=True, slots=True)
class System:
    """The predictions and references of documents, and the probability that a reference is found."""

    predicted: Floats
    references: Floats
    logits: Floats  # −∞ where nothing is found
    shift: float = 0.0  # standard deviation over seeds

    @property
    def trials(self) -> Ints:
        """The references of each document that can be found."""
        return np.minimum(self.predicted, self.references).astype(np.int64)

    def rows(self, hits: Floats, documents: Ints, average: str) -> Floats:
        """Return the rows of hits[..., documents]."""
        predicted, references = (np.broadcast_to(x[documents], hits.shape) for x in (self.predicted, self.references))
        one = np.ones(hits.shape)
        if average == "micro":
            return np.stack([hits, predicted, references, one], axis=-1)
        return np.stack([2 * hits / np.maximum(predicted + references, 1), one], axis=-1)

    def expected_rows(self, average: str) -> Floats:
        """Return the rows of the expected hits; both statistics are linear in hits."""
        shifted = 1 / (1 + np.exp(-(self.logits + self.shift * NODES[:, None])))
        hits = self.trials * (WEIGHTS / WEIGHTS.sum() @ shifted)
        return self.rows(hits, np.arange(len(hits)), average)

    def value(self, average: str) -> float:
        """The true value: the mean over all seeds and documents."""
        return float(FINISH[average](self.expected_rows(average).sum(axis=0)))

    def varied(self, deviation: float) -> System:
        """Return the system whose micro F1 varies over seeds by a share of itself."""
        share = 1 / (1 + np.exp(-self.logits))
        slope = (self.trials * share * (1 - share)).sum() / (self.trials * share).sum()
        return replace(self, shift=deviation / float(slope))

    def thinned(self, average: str, target: float, generator: np.random.Generator) -> System:
        """Return the system that finds nothing on some documents, so that its value is the target."""
        rows = self.expected_rows(average)
        left = thin(rows, FINISH[average], target, [0], generator)[:, 0] > 0
        return replace(self, logits=np.where(left, self.logits, -np.inf))

    def runs(self, documents: Ints, count: int, average: str, generator: np.random.Generator) -> Floats:
        """Draw the rows of several runs on documents[trials, n], [trials, runs, n, width]."""
        shifts = self.shift * generator.normal(size=(len(documents), count, 1))
        share = 1 / (1 + np.exp(-(self.logits[documents][:, None] + shifts)))
        hits = generator.binomial(self.trials[documents][:, None], share).astype(np.float64)
        return self.rows(hits, documents[:, None], average)


FINISH: dict[str, Finish] = {"mean-of-f": mean, "micro": f_of_sums}


def cells(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield type I error and coverage of comparisons over seeds; `quick` has synthetic rows only."""
    for number, (request, average, deviations) in enumerate(SETTINGS):
        generator = np.random.default_rng([seed, 6, number])
        a, b = _systems(request, quick)
        for deviation in deviations[1:2] if quick else deviations:
            both = a.varied(deviation), b.varied(deviation)
            subset = "absent F1@M" if "absent" in request else "present F1@5"
            row = f"{subset}, {average}, seeds vary by {100 * deviation:g} %"
            yield from _errors(row, both, average, trials, generator, quick)
            yield from _coverage(row, both, average, trials, generator, quick)


def _systems(request: str, quick: bool) -> tuple[System, System]:
    if quick:
        population, names = synthetic(2, absent="absent" in request, average="micro"), ("system 1", "system 2")
    else:
        population, names = released("inspec").population(request, ("t5", "one2set")), ("t5", "one2set")
    first, second = (_system(np.tile(population.systems[name], (COPIES, 1))) for name in names)
    return first, second


def _system(rows: Floats) -> System:
    hits, predicted, references = rows[:, :3].T
    possible = np.minimum(predicted, references)
    mean_share = hits.sum() / possible.sum()
    share = np.clip((hits + SHRUNK * mean_share) / (possible + SHRUNK), 1e-6, 1 - 1e-6)
    return System(predicted, references, np.log(share / (1 - share)))


def _errors(
    row: str, both: tuple[System, System], average: str, trials: int, generator: np.random.Generator, quick: bool
) -> Iterator[Cell]:
    """Yield how often two systems with the same mean over all seeds differ significantly."""
    target = min(system.value(average) for system in both)
    a, b = (system.thinned(average, target, generator) for system in both)
    for counts in ((2, 2), (1, 3)) if quick else SEEDS:
        for n in (25,) if quick else SIZES:
            p = _contrast(a, b, counts, n, average, trials, generator).p()
            yield _cell(f"type I error, {_title(counts)}", row, n, p <= ALPHA, TYPE_I)
    for counts in () if quick or not a.shift else ((1, 3), (1, 5)):
        for n in SIZES:
            p = _contrast(replace(a, shift=2 * a.shift), b, counts, n, average, trials, generator).p()
            title = f"type I error, {_title(counts)}, the single run varies twice as much"
            yield _cell(title, row, n, p <= ALPHA, NO_BAR)


def _coverage(
    row: str, both: tuple[System, System], average: str, trials: int, generator: np.random.Generator, quick: bool
) -> Iterator[Cell]:
    """Yield the coverage of differences, and of the mean of a system over its seeds."""
    a, b = both
    true = a.value(average) - b.value(average)
    for counts in ((3, 3),) if quick else SEEDS:
        for n in (25,) if quick else SIZES:
            low, high = _contrast(a, b, counts, n, average, trials, generator).interval(LEVEL, reach=1.0)
            yield _cell(f"coverage, difference, {_title(counts)}", row, n, (low <= true) & (true <= high), _bar(n))
    true = a.value(average)
    for count in (3,) if quick else (2, 3, 5):
        for n in (25,) if quick else SIZES:
            drawn = generator.integers(len(a.logits), size=(trials, n))
            scores = (contrast(one) for one in _influences(a, drawn, count, average, generator))
            ends = np.array([score_interval(score, LEVEL) for score in scores])
            held = (ends[:, 0] <= true) & (true <= ends[:, 1])
            yield _cell(f"coverage, mean over {count} seeds", row, n, held, _bar(n))


def _influences(
    system: System, drawn: Ints, count: int, average: str, generator: np.random.Generator
) -> list[Influences]:
    rows = system.runs(drawn, count, average, generator)
    return [jackknife(*(Sample(run, FINISH[average]) for run in runs)) for runs in rows]


def _contrast(
    a: System,
    b: System,
    counts: tuple[int, int],
    n: int,
    average: str,
    trials: int,
    generator: np.random.Generator,
) -> Contrast:
    """Return the differences of all trials on the same documents of both systems."""
    drawn = generator.integers(len(a.logits), size=(trials, n))
    sides = [
        _influences(system, drawn, count, average, generator) for system, count in zip((a, b), counts, strict=True)
    ]
    first, second = (
        Influences(np.stack([one.values for one in side]), np.stack([one.influence for one in side]), side[0].defined)
        for side in sides
    )
    return contrast(first, second, scores=True)


def _title(counts: tuple[int, int]) -> str:
    return f"single run and {counts[1]} seeds" if counts[0] == 1 else f"{counts[0]} seeds each"


def _cell(section: str, row: str, n: int, outcomes: np.ndarray, bar: tuple[float, float]) -> Cell:
    return Cell(section, row, f"n = {n}", float(np.mean(outcomes)), len(outcomes), bar)


def _bar(n: int) -> tuple[float, float]:
    return (COVERAGE[0], 1.0) if n >= LEAST else NO_BAR
