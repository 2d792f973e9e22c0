"""Calibration: bias of the plain and the debiased ECE, and coverage of the intervals of ECE and of the Brier score.

Populations are the released runs with probabilities of tokens, and synthetic predictions whose ECE is known.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import ndtr

from benchmarks.inference.base import COVERAGE, LEVEL, Cell
from karat.analyses.confidence.gather import gather
from karat.analyses.confidence.result import ConfidenceOptions
from karat.matching.columns import Floats, Subset
from karat.matching.inputs import as_corpus, as_runs
from karat.metrics.confidence import Judged, bin_sums, width_bins
from karat.stats.calibration import (
    brier_interval,
    brier_rows,
    brier_score,
    calibration_error,
    calibration_interval,
    calibration_rows,
)

SHARED = Path(os.environ.get("KARAT_SHARED", Path(__file__).parents[3] / "shared"))
FORMS = {"t5": "chan19", "trans_one2set": "chan19", "catseq": "chen20", "exhird": "chen20"}
SIZES = (10, 25, 80, 400)
ERRORS = (0.0, 0.05, 0.2)
BINS = 10
POOL = 20_000  # synthetic documents
ECE, BRIER, BIAS = "coverage of debiased ECE", "coverage of Brier score", "bias of ECE, in points"


@dataclass(frozen=True, slots=True)
class Population:
    """Documents to draw from, and the true values."""

    name: str
    subset: str
    rows: Floats  # of `calibration_rows`
    squares: Floats  # of `brier_rows`
    ece: float
    brier: float


def cells(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Return the cells of calibration; `quick` has synthetic predictions only, and 25 documents."""
    populations = list(synthetic(seed))
    if not quick:
        populations = [*released(), *populations]
    for population in populations:
        for n in (25,) if quick else SIZES:
            yield from _cells(population, n, trials, np.random.default_rng([seed, n]))


def _cells(population: Population, n: int, trials: int, random: np.random.Generator) -> Iterator[Cell]:
    plain, debiased, covered, covered_brier = [], [], [], []
    for _ in range(trials):
        drawn = random.integers(len(population.rows), size=n)
        rows, squares = population.rows[drawn], population.squares[drawn]
        error = calibration_error(rows)
        if np.isnan(error.value):  # fewer than two documents with predictions: no interval is printed
            continue
        plain.append(_plain(rows))
        debiased.append(float(np.clip(error.value, 0.0, 1.0)))
        low, high = calibration_interval(error, LEVEL)
        covered.append(low <= population.ece <= high)
        low, high = brier_interval(brier_score(squares), LEVEL)
        covered_brier.append(low <= population.brier <= high)
    row, column = f"{population.name}, {population.subset}", f"n = {n}"
    bar = COVERAGE if population.ece else (COVERAGE[0], 1.0)  # at 0 an interval can miss on one side only
    yield Cell(ECE, row, column, float(np.mean(covered)), len(covered), bar)
    yield Cell(BRIER, row, column, float(np.mean(covered_brier)), len(covered), COVERAGE)
    for name, values in (("plain", plain), ("debiased", debiased)):
        bias = abs(float(np.mean(values)) - population.ece)
        yield Cell(BIAS, row, f"{name}, {column}", bias, len(values), (0.0, 1.0))


def _plain(rows: Floats) -> float:
    sums = rows.sum(axis=0)
    return float(np.abs(sums[BINS : 2 * BINS]).sum() / sums[-2])


def released() -> Iterator[Population]:
    """Return the released runs on Inspec and SemEval, by subset."""
    data = SHARED / "data"
    for corpus in ("inspec", "semeval"):
        for system, form in FORMS.items():
            documents = as_corpus(data / f"{corpus}.{form}.jsonl.gz")
            runs = as_runs([data / "predictions" / corpus / "confidence" / f"{system}.jsonl.gz"])
            results, gathered = gather(documents, runs, ConfidenceOptions())
            sure = gathered[0, 0]
            for subset, within in sure.within.items():
                judged = Judged(
                    sure.document[within], sure.confidence[within], sure.kpp[within], sure.correct[subset][within]
                )
                yield _population(f"{system} on {corpus}", subset, judged, len(results.ids))


def synthetic(seed: int) -> Iterator[Population]:
    """Return predictions that are right with probability confidence − e, so that ECE is e, correlated in a document."""
    for subset, mean in (("present", 5.0), ("absent", 1.5)):
        for error in ERRORS:
            random = np.random.default_rng([seed, round(10 * mean), round(100 * error)])
            document = np.repeat(np.arange(POOL), random.poisson(mean, POOL))
            confidence = 0.2 + 0.6 * random.beta(1.2, 3, len(document))
            effect = 0.5 * random.normal(size=POOL)[document] + 0.75**0.5 * random.normal(size=len(document))
            judged = Judged(document, confidence, 1 / confidence, ndtr(effect) < confidence - error)
            yield _population(f"synthetic, ECE {error:g}", subset, judged, POOL, error)


def _population(
    name: str, subset: Subset | str, judged: Judged, documents: int, error: float | None = None
) -> Population:
    sums = bin_sums(judged, width_bins(judged.confidence, BINS), BINS, documents)
    rows = calibration_rows(sums, np.bincount(judged.document, minlength=documents))
    squares = brier_rows(judged.document, judged.confidence, judged.correct, documents)
    brier = float(squares[:, 0].sum() / squares[:, 1].sum())
    return Population(name, subset, rows, squares, _plain(rows) if error is None else error, brier)
