"""How often the test of systems with several seeds is wrong, on simulated systems, and how wide its intervals are.

    python -m benchmarks.statistics --seeds [--trials 4000] [--seed 0]

A run's value of a document is μ + document effect (sd .25, the same for all runs) + seed shift (one for each run) +
noise (sd .15). Where both systems have the same μ, the test at .05 should reject in at most 5 % of all trials, whatever
seeds do; and intervals of 95 % should hold the true values in at least 95 %.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import log

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import percent, table
from karat.metrics.base import f_of_means
from karat.metrics.confidence import weighted_median
from karat.stats.base import Floats
from karat.stats.resampling import Sample
from karat.stats.seeds import Seeds, seeds_of, two_level

ALPHA, LEVEL = 0.05, 0.95
SHIFTS = (0.0, 0.005, 0.015, 0.03)  # standard deviations of seed shifts
NOISE, EFFECT, MU = 0.15, 0.25, 0.5
SEEDS = (2, 3, 5)
DIFFERENCE = 0.03
ITEMS = 5  # of a document, where the statistic is their median
AT_ONCE = 200  # trials
PREDICTIONS, MORE_REFERENCES = 5, 4.0  # of a document, where counts are made
LOWEST, WIDTH = 0.2, 0.4  # its share of hits is LOWEST + WIDTH · Beta(2, 2)
MOST_WRONG = 0.06  # of the tests among which the best is looked for


# ---------------------------------------------------------------------------------------------- systems


@dataclass(frozen=True, slots=True)
class Cell:
    """What is simulated: how many seeds and documents, how much seeds differ, and by how much a is better."""

    seeds: tuple[int, int]
    shifts: tuple[float, float]
    documents: int = 400
    difference: float = 0.0
    own: float = 0.0  # standard deviation of a document effect of each system's own
    of: str = "mean"  # what statistic: a key of MAKERS


def trials_of(cell: Cell, trials: int, seed: int) -> Iterator[tuple[Seeds, Seeds]]:
    """The two systems, some trials at a time."""
    generator = np.random.default_rng([seed, *cell.seeds, cell.documents, *(round(1e6 * s) for s in cell.shifts)])
    for start in range(0, trials, AT_ONCE):
        yield MAKERS[cell.of](cell, min(AT_ONCE, trials - start), generator)


def _normal(cell: Cell, trials: int, generator: np.random.Generator) -> tuple[Seeds, Seeds]:
    effect = generator.normal(0, EFFECT, (trials, 1, cell.documents))
    systems = []
    for count, sd, better in zip(cell.seeds, cell.shifts, (cell.difference, 0.0), strict=True):
        values = MU + better + effect + generator.normal(0, sd, (trials, count, 1))
        values = values + generator.normal(0, cell.own, (trials, 1, cell.documents))
        values = values + generator.normal(0, NOISE, (trials, count, cell.documents))
        means = values.mean(axis=-1)
        systems.append(_seeds(means, (values - means[..., None]) / cell.documents))
    return systems[0], systems[1]


def _counted(cell: Cell, trials: int, generator: np.random.Generator) -> tuple[Seeds, Seeds]:
    """Systems that find references: F1 of the means of precision and recall."""
    shape = trials, 1, cell.documents
    references = 1 + generator.poisson(MORE_REFERENCES, shape)
    share = LOWEST + WIDTH * generator.beta(2, 2, shape)
    systems = []
    for count, sd, better in zip(cell.seeds, cell.shifts, (cell.difference, 0.0), strict=True):
        found = np.clip(share + better + generator.normal(0, sd, (trials, count, 1)), 0, 1)
        hits = generator.binomial(np.minimum(references, PREDICTIONS), found)
        rows = np.stack([hits / PREDICTIONS, hits / references, np.ones(hits.shape)], axis=-1)
        sums = rows.sum(axis=-2)
        without = f_of_means(sums[..., None, :] - rows)
        pulls = (without.mean(axis=-1, keepdims=True) - without) * ((cell.documents - 1) / cell.documents)
        systems.append(_seeds(f_of_means(sums), pulls))
    return systems[0], systems[1]


def _with_items(cell: Cell, trials: int, generator: np.random.Generator) -> tuple[Seeds, Seeds]:
    """Systems whose documents have several items each: the median of all items, as of perplexities."""
    documents = np.repeat(np.arange(cell.documents), ITEMS)
    systems: tuple[list[Seeds], list[Seeds]] = ([], [])
    for _ in range(trials):
        effect = generator.normal(0, EFFECT, cell.documents)
        for made, count, sd in zip(systems, cell.seeds, cell.shifts, strict=True):
            shift = generator.normal(0, sd, (count, 1))
            noise = generator.normal(0, NOISE, (2, count, len(documents)))  # of documents, and of their items
            noise[0] = noise[0][:, documents]
            values = np.exp(log(MU) + effect[documents] + shift + noise.sum(axis=0))
            made.append(seeds_of([Sample(one[:, None], _median, documents, True, cell.documents) for one in values]))
    a, b = (
        Seeds(np.stack([one.values for one in made]), np.stack([one.pulls for one in made]), made[0].defined)
        for made in systems
    )
    return a, b


def _median(values: Floats, weights: Floats) -> Floats:
    return weighted_median(values[:, 0], weights)


Maker = Callable[[Cell, int, np.random.Generator], tuple[Seeds, Seeds]]
MAKERS: Mapping[str, Maker] = {"mean": _normal, "F1 of means": _counted, "median of items": _with_items}


def _seeds(values: Floats, pulls: Floats) -> Seeds:
    return Seeds(values, pulls, np.ones(pulls.shape[-1], dtype=np.bool_))


def _true_f1() -> float:
    """F1 of means of a system on infinitely many documents."""
    chance = np.cumprod([np.exp(-MORE_REFERENCES), *(MORE_REFERENCES / np.arange(1, 100))])
    references = np.arange(1, 101)
    hits = (LOWEST + WIDTH / 2) * np.minimum(references, PREDICTIONS)
    p, r = (chance * hits / PREDICTIONS).sum(), (chance * hits / references).sum()
    return float(2 * p * r / (p + r))


# ---------------------------------------------------------------------------------------------- what is found


@dataclass(frozen=True, slots=True)
class Outcome:
    """In which share of the trials each thing is so."""

    rejected: float  # by the two-level test
    documents: float  # by the paired t test of the documents' means over seeds
    difference: float  # the true difference lies within its interval
    value: float  # the true value of the first system lies within its interval
    rejected_at_01: float  # as the first, at .01


def simulated(cell: Cell, trials: int, seed: int = 0) -> Outcome:
    """What comes of comparing two systems over and over."""
    true = _true_f1() if cell.of == "F1 of means" else MU + cell.difference
    counts = np.zeros(5)
    for a, b in trials_of(cell, trials, seed):
        apart, alone = two_level(a, b), two_level(a)
        held = [_within(apart.interval(LEVEL), cell.difference), _within(alone.interval(LEVEL), true)]
        wrong = [np.abs(each.value) > each.deviation(ALPHA) for each in (apart, apart.on_documents())]
        counts += [each.sum() for each in (*wrong, *held, np.abs(apart.value) > apart.deviation(0.01))]
    return Outcome(*(counts / trials).tolist())


def _within(ends: tuple[Floats, Floats], value: float) -> NDArray[np.bool_]:
    return (ends[0] <= value) & (value <= ends[1])


# ---------------------------------------------------------------------------------------------- the best possible


@cache
def best_power(
    seeds: int, unequal: bool = False, most: float = MOST_WRONG, shifts: tuple[float, ...] = SHIFTS
) -> float:
    """The highest power that any test can have at DIFFERENCE without seed shifts, if it rejects at most so often.

    A test goes by the difference and by the variances of the two systems' seeds, if all else is known. Of all tests
    that reject in at most the share `most` of equal systems, for each of the seed shifts (the same in both systems,
    or, `unequal`, also of one alone), this is the power of the best, by linear programming on a grid. A test that holds
    in more cases has no more.
    """
    from scipy.optimize import linprog
    from scipy.stats import chi2, norm

    unit = NOISE**2 / 400  # the variance of a seed's mean that noise makes
    ratios = [1 + shift**2 / unit for shift in shifts]
    nulls = [(r, r) for r in ratios]
    if unequal:
        nulls += [pair for r in ratios[1:] for pair in ((r, 1.0), (1.0, r))]

    def cells(a: float, b: float, apart: float, x: Floats, z: Floats) -> Floats:
        """The chance of each cell of the grid: variances of the seeds of a and of b, and the difference."""
        of_a, of_b = (np.diff(chi2.cdf(np.append(x, np.inf) / r * (seeds - 1), seeds - 1)) for r in (a, b))
        upto = np.append(norm.cdf(z, apart, np.sqrt((a + b) / 2)) - norm.cdf(-z, apart, np.sqrt((a + b) / 2)), 1)
        return np.asarray(np.einsum("i,j,k->ijk", of_a, of_b, np.diff(upto)).ravel())

    apart = DIFFERENCE / np.sqrt(2 * unit / seeds)
    # The dual of a coarse grid gives weights of the null cells; with any weights w, power is at most
    # most · Σw + Σ max(0, chance under the alternative − Σ w · chance under the null).
    coarse, fine = (
        (np.append(0, np.geomspace(0.02, 40, n)), np.append(0, np.geomspace(1, 20, 2 * n))) for n in (24, 72)
    )
    power = cells(1, 1, apart, *coarse)
    table = np.array([cells(a, b, 0, *coarse) for a, b in nulls])
    found = linprog(-power, A_ub=table, b_ub=np.full(len(nulls), most), bounds=(0, 1), method="highs")
    weights = -found.ineqlin.marginals
    rest = cells(1, 1, apart, *fine)
    for weight, (a, b) in zip(weights, nulls, strict=True):
        rest -= weight * cells(a, b, 0, *fine)
    return float(most * weights.sum() + np.maximum(rest, 0).sum())


# ---------------------------------------------------------------------------------------------- tables


ALIKE = (1.0, 1.0)  # the shifts of either system, in units of those of the column
SIMULATED = {
    "mean": Cell((0, 0), ALIKE),
    "mean, 50 documents": Cell((0, 0), ALIKE, documents=50),
    "mean, 20 documents": Cell((0, 0), ALIKE, documents=20),
    "F1 of means": Cell((0, 0), ALIKE, of="F1 of means"),
    "median of items, 100 documents": Cell((0, 0), ALIKE, documents=100, of="median of items"),
    "mean, systems differ by document": Cell((0, 0), ALIKE, own=0.15),
    "mean, seeds of one system alone differ": Cell((0, 0), (1.0, 0.0)),
    "mean, against a single run": Cell((0, 1), (1.0, 0.0)),
}  # where a system has 0 seeds, it has as many as the row says
SLOW = 4  # times fewer trials of items


def seed_tables(trials: int, seed: int) -> Iterator[str]:
    """The tables, one after the other."""
    yield f"{trials:,} trials a cell ({trials // SLOW:,} of items), 400 documents unless told, seed {seed}\n"
    found = {
        f"{name}, {count} seeds": [_simulated(first, count, shift, trials, seed) for shift in SHIFTS]
        for name, first in SIMULATED.items()
        for count in SEEDS
    }
    heads = [f"sd {shift:g}" for shift in SHIFTS]
    for title, of in TITLES.items():
        lines = [[name, *(percent(getattr(one, of)) for one in row)] for name, row in found.items()]
        yield table([title, *heads], lines) + "\n"
    yield power_table(trials, seed)


TITLES = {
    "rejected at .05, equal systems, %": "rejected",
    "rejected at .01, equal systems, %": "rejected_at_01",
    "true value within a system's 95 % interval, %": "value",
}


def _simulated(first: Cell, count: int, shift: float, trials: int, seed: int) -> Outcome:
    seeds, shifts = (count, first.seeds[1] or count), (shift * first.shifts[0], shift * first.shifts[1])
    some = max(trials // SLOW, 1) if first.of == "median of items" else trials
    return simulated(replace(first, seeds=seeds, shifts=shifts), some, seed)


def power_table(trials: int, seed: int) -> str:
    """How often a difference is found without seed shifts, beside the best that any test could do."""
    lines = []
    for count in SEEDS:
        found = simulated(Cell((count, count), (0.0, 0.0), difference=DIFFERENCE), trials, seed)
        shown = found.documents, found.rejected, found.rejected / found.documents
        best = best_power(count), best_power(count, unequal=True)
        lines.append([f"{count} seeds", *map(percent, (*shown, *best))])
    head = ["paired t", "two-level t", "of paired t", "best, seeds alike", "best, unequal seeds"]
    return table([f"found at .05, difference {DIFFERENCE:g}, sd 0, %", *head], lines)
