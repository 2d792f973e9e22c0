"""Shares: coverage of the intervals of describe, overlap, nearmiss, concepts and consistency.

Populations are the documents of released runs on Inspec and SemEval and of an index of archaeology, and synthetic
documents, most of which have no hit. Documents are drawn with replacement. Figures of names depend on the number of
documents, so their true value is the mean over all trials.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.inference.base import COVERAGE, LEVEL, Cell
from karat import concepts, nearmiss, overlap
from karat.analyses.concepts import Assignments, ConceptCounts
from karat.analyses.consistency.intervals import level_intervals
from karat.analyses.consistency.names import Names, grouped
from karat.analyses.describe.counts import references
from karat.matching.columns import PRMU, Floats, Ints
from karat.matching.inputs import as_corpus, as_protocols, as_runs
from karat.matching.passes import View, look_at
from karat.protocol import parse_protocol
from karat.stats.shares import ratio_intervals
from karat.text.normalise import normaliser_of

SHARED = Path(os.environ.get("KARAT_SHARED", Path(__file__).parents[3] / "shared"))
SIZES = (10, 25, 80, 400)
SYSTEMS = ("t5", "one2set")
FIGURES = ("names_per_concept", "rival_phrases_share", "other_names_share", "entropy")
SHARES, NAMES, CONCEPTS = "coverage of shares", "coverage of figures of names", "coverage of averages of concepts"
# The bar where some samples have no hit, as the exact bound covers more than 95 %, and for figures of distinct names,
# of which the jackknife overestimates the variance (Efron and Stein 1981).
AT_LEAST = (COVERAGE[0], 1.0)
POOL = 5_000  # synthetic documents


@dataclass(frozen=True, slots=True)
class Population:
    """The parts and wholes of documents to draw from, and the highest value of a part of a whole."""

    name: str
    parts: NDArray[Any]
    wholes: NDArray[Any]
    highest: float = 1.0


def cells(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Return the cells of shares; `quick` has synthetic documents only, and 25 of them."""
    populations = list(synthetic(seed)) if quick else [*released(), *synthetic(seed)]
    runs = {"synthetic": synthetic_names(seed)} if quick else released_names()
    for n in (25,) if quick else SIZES:
        for population in populations:
            yield _share_cell(population, n, trials, np.random.default_rng([seed, n]))
        for name, names in runs.items():
            if n > names.documents:  # nearly all names of the population would be in every sample
                continue
            yield from _name_cells(name, names, n, trials, np.random.default_rng([seed, n]))
        for name, rows in {} if quick else released_concepts().items():
            yield from _concept_cells(name, rows, n, trials, np.random.default_rng([seed, n]))


def _share_cell(population: Population, n: int, trials: int, random: np.random.Generator) -> Cell:
    drawn = random.integers(len(population.parts), size=(trials, n))
    parts, wholes = population.parts[drawn], population.wholes[drawn]
    true = population.parts.sum() / population.wholes.sum()
    ends = ratio_intervals(parts, wholes, LEVEL, (0.0, population.highest))
    defined = ~np.isnan(ends).any(axis=-1)  # no interval is printed for the others
    covered = (ends[:, 0] <= true) & (true <= ends[:, 1])
    rare = (parts.sum(axis=-1) == 0).mean() > 0.01
    bar = AT_LEAST if rare else COVERAGE
    return Cell(SHARES, population.name, f"n = {n}", float(covered[defined].mean()), int(defined.sum()), bar)


# ---------------------------------------------------------------------------------------------- populations


def released() -> Iterator[Population]:
    """Return references by class, common predictions of two runs, and near misses."""
    data = SHARED / "data"
    for name in ("inspec", "semeval"):
        corpus = as_corpus(data / f"{name}.chan19.jsonl.gz")
        classes = np.concatenate(look_at(corpus, _classes))
        for letter, column in zip(PRMU, classes.T, strict=True):
            yield Population(f"references of class {letter}, {name}", column, classes.sum(axis=1))
        runs = [data / "predictions" / name / f"{system}.jsonl.gz" for system in SYSTEMS]
        for pair in overlap(corpus, *runs, protocol="chan2019").pairs:
            shares = np.nan_to_num(pair.per_document().T)
            for side, share in zip(("correct", "wrong"), shares, strict=True):
                yield Population(f"overlap, {pair.subset}, {side}, {name}", share, pair.defined, 100.0)
        for found in nearmiss(corpus, *runs, protocol="chan2019").found:
            for side, parts, wholes, counts in zip(found.sides.names, *found.sides.rows(), strict=True):
                repeats = counts.astype(np.int64)
                row = f"unmatched {side} of {found.system} with a near miss, {name}"
                yield Population(row, np.repeat(parts, repeats), np.repeat(wholes, repeats))


def _classes(view: View) -> Ints:
    phrases = references(view.prepared(parse_protocol("chan2019").matching))
    counts = np.bincount(phrases.document * len(PRMU) + phrases.classes, minlength=len(view) * len(PRMU))
    return counts.reshape(len(view), len(PRMU))


def synthetic(seed: int) -> Iterator[Population]:
    """Return phrases of which few are hits, and hits of the same document depend on each other."""
    for share, mean in ((0.3, 5.0), (0.05, 2.5), (0.01, 5.0)):
        random = np.random.default_rng([seed, round(100 * share)])
        wholes = random.poisson(mean, POOL)
        parts = random.binomial(wholes, random.beta(share, 1 - share, POOL))
        yield Population(f"synthetic, {share:g} of about {mean:g}", parts, wholes)


# ---------------------------------------------------------------------------------------------- names of concepts


def released_names() -> dict[str, Names]:
    """Return the names of the released runs."""
    stems = normaliser_of(as_protocols(["karat"], None)[0].matching)
    return {
        f"{system} on {corpus}": Names.of(
            as_runs([SHARED / "data" / "predictions" / corpus / f"{system}.jsonl.gz"])[0], stems
        )
        for corpus in ("inspec", "semeval")
        for system in SYSTEMS
    }


def synthetic_names(seed: int) -> Names:
    """Return five names a document, of 2,000 with Zipf's frequencies; names 2k and 2k + 1 are one concept."""
    random = np.random.default_rng(seed)
    rows = np.unique(np.repeat(np.arange(POOL), 5) * 2_000 + np.minimum(random.zipf(1.3, POOL * 5), 2_000) - 1)
    document, name = np.divmod(rows, 2_000)
    keys = [f"name{n // 2}" for n in range(2_000)]
    return Names(keys, keys, np.bincount(name, minlength=2_000), keys, POOL, 0, document, name)


def _name_cells(name: str, names: Names, n: int, trials: int, random: np.random.Generator) -> Iterator[Cell]:
    group = grouped(names.forms)
    ends, values = [], []
    for _ in range(trials):
        document, rows = _draw(names.document, names.documents, n, random)
        used, number = np.unique(names.name[rows], return_inverse=True)
        sample = Names([], [], np.bincount(number), [], n, 0, document, number)
        of_name = np.unique(group[used], return_inverse=True)[1]
        intervals = level_intervals(sample, of_name, LEVEL)
        ends.append([intervals[figure] for figure in FIGURES])
        values.append(_figures(sample, of_name))
    yield from _cells(NAMES, [f"{figure}, {name}" for figure in FIGURES], n, np.array(ends), np.array(values))


def _figures(names: Names, group: Ints) -> list[float]:
    """Return the figures of names by definition."""
    size, total = np.bincount(group), np.bincount(group, names.count)
    most = np.zeros(len(size))
    np.maximum.at(most, group, names.count)
    phrases = total.sum()
    bits = -(names.count / phrases * np.log2(names.count / total[group])).sum()
    return [len(group) / len(size), total[size > 1].sum() / phrases, (total - most).sum() / phrases, bits]


# ---------------------------------------------------------------------------------------------- concepts


def released_concepts() -> dict[str, tuple[ConceptCounts, int]]:
    """Return the concepts that Annif assigns to titles, and the number of documents."""
    folder = SHARED / "data" / "concepts" / "archaeology"
    runs = [folder / f"annif-{system}.jsonl.gz" for system in ("mllm", "omikuji")]
    found = concepts(folder / "test.jsonl", *runs, vocabulary=str(folder / "voc.ttl"), cutoff="5")
    return {f"{each.system} on archaeology": (each, found.documents) for each in found.counts}


def _concept_cells(
    name: str, population: tuple[ConceptCounts, int], n: int, trials: int, random: np.random.Generator
) -> Iterator[Cell]:
    counts, documents = population
    rows = counts.assignments
    ends, values = [], []
    for _ in range(trials):
        document, some = _draw(rows.document, documents, n, random)
        drawn = Assignments(document.astype(np.int32), rows.concept[some], rows.referred[some], rows.predicted[some])
        sample = ConceptCounts.of("", drawn, len(counts.references))
        if not len(some):
            continue
        ends.append([sample.micro_intervals(LEVEL)["f1"], sample.macro_intervals(LEVEL)["f1"]])
        values.append([sample.micro()["f1"], sample.macro()["f1"]])
    names = [f"{kind} f1, {name}" for kind in ("micro", "macro")]
    yield from _cells(CONCEPTS, names, n, np.array(ends), np.array(values, dtype=np.float64))


def _draw(document: NDArray[Any], documents: int, n: int, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw n documents: return the rows of each, numbered anew, and where they are."""
    starts = np.searchsorted(document, np.arange(documents + 1))
    drawn = random.integers(documents, size=n)
    sizes = starts[drawn + 1] - starts[drawn]
    rows = np.repeat(starts[drawn] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    return np.repeat(np.arange(n), sizes), rows


def _cells(section: str, names: list[str], n: int, ends: Floats, values: Floats) -> Iterator[Cell]:
    """Return a cell for each figure, [trials, figures], with the mean over trials as the true value."""
    true = values.mean(axis=0)
    low, high = np.moveaxis(ends, -1, 0)
    covered = (low <= true) & (true <= high)
    defined = ~np.isnan(low)
    for k, name in enumerate(names):
        some = covered[defined[:, k], k]
        yield Cell(section, name, f"n = {n}", float(some.mean()), len(some), AT_LEAST)
