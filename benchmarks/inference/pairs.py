"""Pairs of documents: intervals, tests, families and regressions with dyadic standard errors, on four graphs of pairs.

The agreement of a system on a pair is driven by effects of the two documents, some of which all systems share, and is
zero on most pairs. Graphs: disjoint pairs, triples of documents, the five nearest neighbours of each document, and the
pairs that `karat pairs mine --min .2` finds on acm-cr, three quarters of which hang together (without the data, a
random graph that resembles it). The true width of an interval is that of the simulated values of the statistic.
Regressors are simulated; those of released runs on Inspec (ROUGE-1, WER, share generated) are used as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.inference.base import ALPHA, COVERAGE, LEVEL, TYPE_I, Cell
from karat.metrics.base import mean
from karat.stats.difference import Contestants, Inference, adjust_families, compare_pairs
from karat.stats.influence import (
    Contrast,
    Influences,
    contrast,
    correlation_contrast,
    correlation_p,
    score_interval,
)
from karat.stats.rank_correlation import spearman, spearman_influence
from karat.stats.regression import least_squares
from karat.stats.resampling import Sample

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DATA = Path("/work/shared/data")
RUNS = ("t5", "one2set")
WIDTH = (0.0, 0.15)  # bar for the relative error of the half-width
REGRESSOR = (0.0, 0.07)
SHARED, PAIR = 0.4, 0.4  # shares of the variance: of all systems, of a pair beyond its documents
SYSTEMS = 7
RESAMPLES = 1000  # draws of max-T
SIMULATED = 10_000  # trials that give the true width, with a Monte Carlo error of about 1 %


# ---------------------------------------------------------------------------------------------- graphs


def disjoint(pairs: int) -> Ints:
    """Return pairs that share no document."""
    return np.arange(2 * pairs).reshape(-1, 2)


def triples(count: int) -> Ints:
    """Return the three pairs of each of some triples of documents."""
    return np.concatenate([np.array([[0, 1], [0, 2], [1, 2]]) + 3 * i for i in range(count)])


def nearest(documents: int, neighbours: int = 5, seed: int = 0) -> Ints:
    """Return the pairs of each document with its nearest neighbours among points of a normal distribution."""
    points = np.random.default_rng(seed).normal(size=(documents, 4))
    distance = ((points[:, None] - points) ** 2).sum(axis=-1)
    np.fill_diagonal(distance, np.inf)
    closest = np.argsort(distance, axis=1)[:, :neighbours]
    pairs = np.stack([np.repeat(np.arange(documents), neighbours), closest.reshape(-1)], axis=1)
    return np.unique(np.sort(pairs, axis=1), axis=0)


@cache
def mined() -> Ints:
    """Return the pairs mined on acm-cr, or a random graph with as uneven degrees."""
    path = DATA / "training" / "acm-cr.valid.jsonl.gz"
    if path.exists():
        import karat

        alike = karat.mine_pairs(str(path), min=0.2).alike
        pairs = np.stack([alike.a, alike.b], axis=1)
    else:
        pairs = uneven(556, 890)
    return np.unique(pairs, return_inverse=True)[1].reshape(-1, 2)


def uneven(documents: int, pairs: int, seed: int = 0) -> Ints:
    """Return a random graph in which some documents are in many pairs."""
    generator = np.random.default_rng(seed)
    weight = generator.exponential(size=documents) ** 1.5
    ends = generator.choice(documents, size=(4 * pairs, 2), p=weight / weight.sum())
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    return ends[generator.permutation(len(ends))[:pairs]]


def graphs(quick: bool) -> dict[str, Ints]:
    """Return the graphs by name."""
    if quick:
        return {"triples": triples(20), "uneven": uneven(60, 90)}
    return {
        "disjoint, 25": disjoint(25),
        "disjoint, 40": disjoint(40),
        "disjoint, 200": disjoint(200),
        "triples, 80": triples(80),
        "nearest 5, 408": nearest(120),
        "mined": mined(),
    }


# ---------------------------------------------------------------------------------------------- agreement of systems


def effects(pairs: Ints, size: tuple[int, ...], generator: np.random.Generator, skewed: bool = False) -> Floats:
    """Draw standard effects of the two documents of each pair, [*size, pairs]."""
    shape = (*size, int(pairs.max()) + 1)
    draws = generator.exponential(size=shape) - 1 if skewed else generator.normal(size=shape)
    return np.asarray((draws[..., pairs[:, 0]] + draws[..., pairs[:, 1]]) / np.sqrt(2))


def latent(pairs: Ints, size: tuple[int, ...], generator: np.random.Generator, skewed: bool) -> Floats:
    """Draw standard errors that depend on the documents and on the pair."""
    noise = generator.normal(size=(*size, len(pairs)))
    return np.asarray(np.sqrt(1 - PAIR) * effects(pairs, size, generator, skewed) + np.sqrt(PAIR) * noise)


def agreement(
    pairs: Ints,
    shares: Floats,
    trials: int,
    generator: np.random.Generator,
    skewed: bool = False,
    shift: Floats | None = None,
) -> Floats:
    """Draw the agreement of systems on pairs, [systems, trials, pairs]: eighths, 0 on more than half of the pairs.

    `shares` are those of the variance of each system that all systems share; the mean does not depend on them.
    """
    common = latent(pairs, (1, trials), generator, skewed)
    own = latent(pairs, (len(shares), trials), generator, skewed)
    share = shares[:, None, None]
    values = np.sqrt(share) * common + np.sqrt(1 - share) * own
    if shift is not None:
        values = values + shift[:, None, None]
    return np.round(np.clip(0.03 + 0.25 * values, 0, 1) * 8) / 8


def influences(values: Floats, pairs: Ints) -> Influences:
    """Return the influences of the pairs on the mean of each trial, as `jackknife` does."""
    means = values.mean(axis=-1)
    around = (values - means[..., None]) / values.shape[-1]
    return Influences(means[..., None], around[..., None, :], np.ones(values.shape[-1], dtype=bool), pairs)


def single(found: Contrast, trial: int) -> Contrast:
    """Return the contrast of one trial."""
    assert found.dyadic is not None
    names = ("value", "documents", "noise", "seeds", "df_documents", "df_seeds")
    return replace(found, **{name: getattr(found, name)[trial] for name in names})


# ---------------------------------------------------------------------------------------------- cells


def cells(trials: int, seed: int, quick: bool = False) -> Iterator[Cell]:
    """Return the cells of pairs of documents."""
    if not quick and (DATA / "predictions").exists():
        yield from _released(trials, np.random.default_rng([seed, 1]))
    for name, pairs in graphs(quick).items():
        for skewed in (False,) if quick else (False, True):
            generator = np.random.default_rng([seed, len(pairs), skewed])
            row = f"{name}{', skewed documents' if skewed else ''}"
            yield from _intervals(row, pairs, trials, generator, skewed)
            yield from _correlations(row, pairs, trials, generator, skewed)
            yield from _regressors(row, pairs, trials, generator, skewed)
            if not skewed:
                yield from _families(row, pairs, trials, generator, quick)


def _intervals(row: str, pairs: Ints, trials: int, generator: np.random.Generator, skewed: bool) -> Iterator[Cell]:
    """Coverage and width of intervals of means and differences, and the test of a difference."""
    step, means, apart = max(4_000_000 // len(pairs), 1), [], []
    one, other = [], []
    total = max(trials, SIMULATED)
    for start in range(0, total, step):
        count = min(step, total - start)
        values = agreement(pairs, np.full(2, SHARED), count, generator, skewed)
        means.append(values.mean(axis=-1))
        if start < trials:
            a, b = (influences(each[: trials - start], pairs) for each in values)
            one.append(contrast(a))
            apart.append(contrast(a, b))
    simulated = np.concatenate(means, axis=1)
    truth = float(simulated.mean())
    other = simulated[0] - simulated[1]
    ends = [score_interval(single(part, i), LEVEL) for part in one for i in range(len(part.value))]
    half = np.mean([(high - low) / 2 for low, high in ends])
    covered = np.mean([low <= truth <= high for low, high in ends])
    differences = np.concatenate([part.value for part in apart])
    halves = np.concatenate([part.deviation(1 - LEVEL) for part in apart])
    p = np.concatenate([part.p() for part in apart])
    widths = half / np.quantile(np.abs(simulated[0] - truth), LEVEL), halves.mean() / np.quantile(np.abs(other), LEVEL)
    coverage, width = "Pairs of documents: coverage", "Pairs of documents: half-width, error in % of the true one"
    yield Cell(coverage, row, "mean", float(covered), trials, COVERAGE)
    yield Cell(coverage, row, "difference", float((np.abs(differences) <= halves).mean()), trials, COVERAGE)
    for name, ratio in zip(("mean", "difference"), widths, strict=True):
        yield Cell(width, row, name, abs(float(ratio) - 1), trials, WIDTH)
    yield Cell("Pairs of documents: type I error", row, "difference", float((p <= ALPHA).mean()), trials, TYPE_I)


def _correlations(row: str, pairs: Ints, trials: int, generator: np.random.Generator, skewed: bool) -> Iterator[Cell]:
    """Type I error of the test of Pearson's r and Spearman's rho with a column that depends on the documents.

    The column has normal values, or, as the word error rate does, a long tail: exp of these.
    """
    hooper = agreement(pairs, np.full(1, SHARED), trials, generator, skewed)[0]
    texts = latent(pairs, (trials,), generator, skewed)
    wrong = {"Pearson": 0, "Pearson, long tail": 0, "Spearman": 0}
    for x, y in zip(hooper, texts, strict=True):
        sums, tail = (_sums(x, other, pairs) for other in (y, np.exp(y)))
        levels = np.stack([np.unique(each, return_inverse=True)[1] for each in (x, y)], axis=1).astype(np.float64)
        ranks = Sample(levels, spearman, pairs, items=True, influences=spearman_influence)
        for name, sample in zip(wrong, (sums, tail, ranks), strict=True):
            wrong[name] += correlation_p(correlation_contrast(sample)) <= ALPHA
    for name, count in wrong.items():
        yield Cell("Pairs of documents: type I error", row, name, count / trials, trials, TYPE_I)


def _sums(x: Floats, y: Floats, pairs: Ints) -> Sample:
    """Return the sums from which Pearson's r follows, of each pair."""
    u, v = ((each - each.mean()) / each.std() for each in (x, y))
    return Sample(np.stack([u, v, u * u, v * v, u * v, np.ones(len(u))], axis=1), _pearson, pairs)


def _pearson(sums: Floats) -> Floats:
    u, v, uu, vv, uv, _ = np.moveaxis(sums / sums[..., -1:], -1, 0)
    return np.asarray((uv - u * v) / np.sqrt((uu - u * u) * (vv - v * v)))


def _regressors(row: str, pairs: Ints, trials: int, generator: np.random.Generator, skewed: bool) -> Iterator[Cell]:
    """Share of trials in which an unrelated regressor is significant, with three systems stacked."""
    wrong = {"of pairs": 0, "of documents": 0, "of systems": 0}
    systems, n = 3, len(pairs)
    group, units = np.repeat(np.arange(systems), n), np.tile(pairs, (systems, 1))
    for start in range(0, trials, 200):
        count = min(200, trials - start)
        values = agreement(pairs, np.full(systems, SHARED), count, generator, skewed)
        by_document, other = effects(pairs, (count,), generator, skewed), latent(pairs, (count,), generator, skewed)
        by_pair = generator.normal(size=(count, n))
        by_system = latent(pairs, (systems, count), generator, skewed)
        for i in range(count):
            columns = {"of pairs": by_pair[i], "of documents": by_document[i]}
            for name in wrong:
                x = by_system[:, i].reshape(-1) if name == "of systems" else np.tile(columns[name], systems)
                both = np.stack([x, np.tile(other[i], systems)], axis=1)
                fit = least_squares(values[:, i].reshape(-1), both, ["x", "other"], group, units)
                wrong[name] += fit is not None and fit.coefficients[0].p <= ALPHA
    for name, number in wrong.items():
        yield Cell("Pairs of documents: unrelated regressor", row, name, number / trials, trials, REGRESSOR)


def _released(trials: int, generator: np.random.Generator) -> Iterator[Cell]:
    """Share of trials in which each column of the regression of released runs on Inspec is significant.

    The columns are those of the pairs that share a tenth of their references; the agreement is simulated.
    """
    import karat

    corpus = DATA / "inspec.chan19.jsonl.gz"
    runs = [DATA / "predictions" / "inspec" / f"{name}.jsonl.gz" for name in RUNS]
    rows = karat.homogeneity(corpus, karat.mine_pairs(corpus, min=0.1), *runs, resamples=9).pair_rows()
    rows = [row for row in rows if None not in (row["hooper"], row["generated"])]
    names = ["ROUGE-1", "WER", "generated"]
    x = np.array([[row["rouge1"], row["wer"], row["generated"]] for row in rows])
    units = np.unique([[row["a"], row["b"]] for row in rows], return_inverse=True)[1].reshape(-1, 2)
    pairs, pair = np.unique(units, axis=0, return_inverse=True)
    system = np.array([RUNS.index(row["system"]) for row in rows])
    for skewed in (False, True):
        values = agreement(pairs, np.full(len(RUNS), SHARED), trials, generator, skewed)[system, :, pair.reshape(-1)]
        fits = [least_squares(values[:, i], x, names, np.zeros_like(system), units) for i in range(trials)]
        row = f"Inspec, {len(pairs)}{', skewed documents' if skewed else ''}"
        for j, name in enumerate(names):
            rate = float(np.mean([fit is not None and fit.coefficients[j].p <= ALPHA for fit in fits]))
            yield Cell("Pairs of documents: regressors of released runs", row, name, rate, trials, REGRESSOR)


def _families(row: str, pairs: Ints, trials: int, generator: np.random.Generator, quick: bool) -> Iterator[Cell]:
    """Family-wise error of max-T with seven systems."""
    equal, unequal = np.full(SYSTEMS, SHARED), np.array([0.0, 0.9, 0.45, 0.15, 0.3, 0.6, 0.75])
    shift = np.array([0, 0, 0, 0.15, 0.3, 0.45, 0.6])
    settings = {
        "all equal": (equal, None, SYSTEMS),
        "3 of 7 equal": (equal, shift, 3),
        "all equal, unequal variances": (unequal, None, SYSTEMS),
        "3 of 7 equal, unequal variances": (unequal, shift, 3),
    }
    for name, (shares, moved, null) in list(settings.items())[: 1 if quick else None]:
        wrong = 0
        for start in range(0, trials, 100):
            count = min(100, trials - start)
            values = agreement(pairs, shares, count, generator, shift=moved)
            wrong += sum(_rejects(values[:, i], pairs, null, seed=start + i) for i in range(count))
        yield Cell("Pairs of documents: family-wise error, 7 systems", row, name, wrong / trials, trials, TYPE_I)


def _rejects(values: Floats, pairs: Ints, null: int, seed: int) -> bool:
    """Whether any of the first systems, which are equal, is told from another one."""
    samples = [Sample(np.stack([each, np.ones(len(each))], axis=1), mean, pairs) for each in values]
    both = list(combinations(range(len(samples)), 2))
    how = Inference(resamples=RESAMPLES, seed=seed)
    compared = compare_pairs([Contestants([samples[i]], [samples[j]]) for i, j in both], how)
    adjusted = adjust_families(compared, [0] * len(both), how)
    return any(each.significant(ALPHA) for (i, j), each in zip(both, adjusted, strict=True) if j < null)
