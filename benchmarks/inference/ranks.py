"""Ranks over corpora: the type I error of Friedman's test and of Nemenyi's, with scores of equally good systems.

Ranks depend on the order of scores alone, so that normal scores stand for all. karat prints p-values and critical
differences of permuted ranks; χ², F and the studentised range, which hold for many corpora, have no bar.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.inference.base import ALPHA, TYPE_I, Cell
from karat.stats.ranks import critical_difference, friedman

CORPORA, SYSTEMS = (3, 4, 5, 8, 12), (2, 3, 7)
NO_BAR = (0.0, 1.0)


def cells(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield how often each test rejects."""
    for corpora in (4,) if quick else CORPORA:
        for systems in (3,) if quick else SYSTEMS:
            yield from errors(corpora, systems, trials, seed)


def errors(corpora: int, systems: int, trials: int, seed: int) -> Iterator[Cell]:
    """Yield the type I error of each test of ranks."""
    generator = np.random.default_rng([seed, corpora, systems])
    theory = critical_difference(systems, corpora, ALPHA)
    rejected: dict[str, list[bool]] = {}
    for _ in range(trials):
        result = friedman(generator.normal(size=(corpora, systems)), seed=seed)
        widest = float(np.ptp(result.ranks))
        outcomes = {
            "Friedman, permuted": result.permutation_p <= ALPHA * (1 + 1e-9),
            "Nemenyi, permuted": widest >= result.critical(ALPHA) - 1e-9,
            "Friedman, χ²": result.p <= ALPHA,
            "Friedman, F": result.f_p <= ALPHA,
            "Nemenyi, studentised range": widest >= theory,
        }
        for name, outcome in outcomes.items():
            rejected.setdefault(name, []).append(bool(outcome))
    for name, rejections in rejected.items():
        bar = TYPE_I if name.endswith("permuted") else NO_BAR
        yield Cell(
            "ranks: type I error",
            f"{corpora} corpora, {systems} systems",
            name,
            float(np.mean(rejections)),
            trials,
            bar,
        )
