"""Cells for `karat retrieval`: measures of queries, their differences to the baseline, and families of these.

The population are the 255 queries of acm-cr with the documents that are judged, valid and test (3,429). Systems are
BM25 on the text (the baseline), with phrases added (of authors, of tfidf and of kpminer), without stemming, and on the
title alone. Phrases change few rankings: the first ten documents of two thirds of the queries or more score the same,
and the first hundred of 96 % to 99 %, so that 25 queries hold one or none that differs on R@100.

Where the null hypothesis must hold, differences get random signs (`signs`), or those that are not 0 lose their mean
(`shifted`), which keeps their skewness. Samples in which no query differs count as covered if the upper bound of a
difference that was not seen holds.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.inference.base import ALPHA, COVERAGE, LEVEL, TYPE_I, Cell
from karat.metrics.base import mean
from karat.stats.difference import Contestants, Inference, adjust_families, compare_pairs
from karat.stats.influence import Contrast, Influences, bounded_interval, contrast, student
from karat.stats.resampling import Sample

Floats = NDArray[np.float64]
Systems = dict[str, Floats]  # the value of each query by system, the baseline first

SIZES = (10, 25, 50, 80)
MEASURES = ("nDCG@10", "AP", "R@100")
RESAMPLES = 1000  # random signs
DATA = Path(os.environ.get("KARAT_SHARED", Path(__file__).parents[3] / "shared")) / "data"


def cells(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Yield coverage of scores and differences, type I error of every test, and family-wise error."""
    generator = np.random.default_rng(seed)
    populations = {"synthetic": synthetic()} if quick else released()
    for name, systems in populations.items():
        for n in (25,) if quick else SIZES:
            yield from coverage(name, systems, n, trials, generator)
            yield from type_i_errors(name, systems, n, trials, generator)
            yield from family_wise_errors(name, systems, n, trials, generator)


# ---------------------------------------------------------------------------------------------- populations


def synthetic() -> Systems:
    """Return a baseline and six systems that differ from it on 10 % to 40 % of the queries."""
    generator = np.random.default_rng(7)
    base = np.where(generator.random(250) < 0.2, 0.0, generator.beta(1, 1, size=250))
    systems = {"text": base}
    for number, share in enumerate((0.1, 0.15, 0.2, 0.25, 0.3, 0.4)):
        other = np.where(generator.random(250) < 0.2, 0.0, generator.beta(1, 1, size=250))
        systems[f"system {number}"] = np.where(generator.random(250) < share, other, base)
    return systems


@cache
def released() -> dict[str, Systems]:
    """Return the values of the queries of acm-cr by measure and system."""
    import karat

    documents = [
        json.loads(line)
        for path in ("retrieval/acm-cr.judged", "training/acm-cr.test", "training/acm-cr.valid")
        for line in gzip.decompress((DATA / f"{path}.jsonl.gz").read_bytes()).splitlines()
    ]
    judged = DATA / "retrieval" / "acm-cr.queries.jsonl", DATA / "retrieval" / "acm-cr.qrels"
    few: dict[str, Any] = {"metrics": MEASURES, "resamples": 1, "correction": "none"}
    runs = [karat.predict(documents, name, 5) for name in ("tfidf", "kpminer")]
    bm25 = karat.retrieval(documents, *judged, *runs, subsets=["all", "absent"], **few)
    plain = karat.retrieval(documents, *judged, subsets=["all"], stem=False, **few)
    titles = [{**each, "text": ""} for each in documents]
    title = karat.retrieval(titles, *judged, subsets=["all"], **few)
    names = {
        "text": (bm25, "text"),
        "author keyphrases": (bm25, "references-all"),
        "absent author keyphrases": (bm25, "references-absent"),
        "tfidf": (bm25, "system-tfidf-all"),
        "kpminer": (bm25, "system-kpminer-all"),
        "no stemming": (plain, "text"),
        "title alone": (title, "text"),
    }
    return {
        measure: {name: np.array(of.per_query[key, measure]) for name, (of, key) in names.items()}
        for measure in MEASURES
    }


# ---------------------------------------------------------------------------------------------- coverage


def coverage(population: str, systems: Systems, n: int, trials: int, generator: np.random.Generator) -> Iterator[Cell]:
    """Yield the coverage of each score and of each difference to the baseline."""
    base, *others = systems
    drawn = generator.integers(len(systems[base]), size=(trials, n))
    for name in systems:
        values = systems[name]
        score = student(contrast(_influences(values[drawn])))
        low, high = bounded_interval(
            score.value, score.deviation(1 - LEVEL), score.varies.astype(bool), n, LEVEL, (0.0, 1.0)
        )
        yield _cell("coverage, score", f"{population}, {name}", n, _holds(low, high, values.mean()), COVERAGE)
    for name in others:
        apart = _contrast(systems[name][drawn], systems[base][drawn])
        low, high = apart.interval(LEVEL, reach=1.0)
        true = systems[name].mean() - systems[base].mean()
        yield _cell("coverage, difference", f"{population}, {name}", n, _holds(low, high, true), COVERAGE)


def _influences(values: Floats) -> Influences:
    """Return the influences of queries on means, of values[trials, queries]."""
    n = values.shape[1]
    about = values - values.mean(axis=1, keepdims=True)
    return Influences(values.mean(axis=1)[:, None], about[:, None, :] / n, np.ones(n, dtype=bool))


def _contrast(a: Floats, b: Floats) -> Contrast:
    return contrast(_influences(a), _influences(b))


def _holds(low: Floats, high: Floats, true: float) -> NDArray[np.bool_]:
    return np.asarray((low <= true + 1e-12) & (true - 1e-12 <= high))


# ---------------------------------------------------------------------------------------------- tests


def type_i_errors(
    population: str, systems: Systems, n: int, trials: int, generator: np.random.Generator
) -> Iterator[Cell]:
    """Yield how often each test rejects on the differences of a system that is as good as the baseline."""
    base, *others = systems
    how = Inference(correction="none", resamples=RESAMPLES)
    for name in _spread(others):
        apart = systems[name] - systems[base]
        for null, population_apart in (("signs", apart), ("shifted", shifted(apart))):
            rejected: dict[str, list[bool]] = {"randomisation": [], "t": [], "wilcoxon": []}
            for _ in range(trials):
                drawn = generator.integers(len(apart), size=n)
                signs = generator.choice([-1.0, 1.0], size=n) if null == "signs" else 1.0
                first = systems[base][drawn]
                [difference] = compare_pairs([_contestants(first + population_apart[drawn] * signs, first)], how)
                for test, outcomes in rejected.items():
                    outcomes.append(difference.tests[test] <= ALPHA)
            for test, outcomes in rejected.items():
                row = f"{population}, {name}, {null}, {test}"
                yield _cell("type I error", row, n, np.array(outcomes), TYPE_I)


def _spread(names: Sequence[str]) -> Sequence[str]:
    """Return a system that differs on few queries, and the last, which differs on many."""
    return (names[0], names[-1])


def shifted(apart: Floats) -> Floats:
    """Return differences without the mean of those that are not 0, so that their mean is 0."""
    some = np.abs(apart) > 1e-12
    return np.where(some, apart - apart[some].mean(), 0.0)


def _contestants(a: Floats, b: Floats) -> Contestants:
    sides = [Sample(np.stack([values, np.ones(len(values))], axis=1), mean) for values in (a, b)]
    return Contestants([sides[0]], [sides[1]])


def family_wise_errors(
    population: str, systems: Systems, n: int, trials: int, generator: np.random.Generator
) -> Iterator[Cell]:
    """Yield how often any system that is as good as the baseline is significant, after adjustment over all six."""
    base, *others = systems
    apart = {name: systems[name] - systems[base] for name in others}
    families = {
        "all equal": others,
        "all equal, unequal variances": others,
        "3 of 7 equal": others[::5],
    }
    for family, equal in families.items():
        moved = {name: shifted(values) if name in equal else values for name, values in apart.items()}
        rejected = []
        for trial in range(trials):
            drawn = generator.integers(len(systems[base]), size=n)
            if family == "all equal":  # the names of systems are exchanged on each query
                first, *rest = generator.permuted(np.stack([systems[name][drawn] for name in systems]), axis=0)
            else:
                first = systems[base][drawn]
                rest = [first + moved[name][drawn] for name in others]
            how = Inference(resamples=RESAMPLES, seed=trial)
            differences = compare_pairs([_contestants(other, first) for other in rest], how)
            differences = adjust_families(differences, [0] * len(differences), how)
            wrong = [one for one, name in zip(differences, others, strict=True) if name in equal]
            rejected.append(any(one.adjusted <= ALPHA for one in wrong))
        yield _cell(f"family-wise error, {family}", population, n, np.array(rejected), TYPE_I)


def _cell(section: str, row: str, n: int, outcomes: NDArray[np.bool_], bar: tuple[float, float]) -> Cell:
    return Cell(f"retrieval: {section}", row, f"n = {n}", float(outcomes.mean()), len(outcomes), bar)
