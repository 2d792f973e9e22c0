"""Families of tests: p-values adjusted so that the chance of any wrong rejection in the family is at most alpha.

`max_t` is the step-down procedure of Westfall and Young (1993) with studentised differences. Where no difference is
real, the sign of what a document contributes to a difference is a coin toss. So every document gets one random sign,
shared by all tests of the family, and the largest studentised difference of each toss is the yardstick for the largest
observed one; tests that depend on each other share the yardstick, so that near-copies cost nothing.
`max_t_of_covariance` does the same with draws from a multivariate t distribution, for statistics of units that depend
on each other.

Undefined p-values (NaN) are no tests. A test whose two systems are equal on every document has p = 1 and does not
count.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from karat.errors import unknown
from karat.stats.base import ALIKE, Floats
from karat.stats.resampling import RESAMPLES, blocks, coins, generator_of, weighted_sums

LARGEST_EXACT = 14  # documents whose signs are all tried: 16,384 of them
CORRECTION_NAMES = {"max-t": "max-T", "holm": "Holm", "bh": "Benjamini-Hochberg", "none": "none"}


# ---------------------------------------------------------------------------------------------- p-values alone


def holm(p: Sequence[float]) -> list[float]:
    """Adjust p-values by Holm's method (1979), whatever the dependence of the tests.

    Of m tests the smallest p is multiplied by m, the next by m − 1 and so on, and none is below one before it.

    >>> holm([0.01, 0.04, 0.03, float("nan")])
    [0.03, 0.06, 0.06, nan]
    """
    adjusted, largest = list(p), 0.0
    order = _ascending(p)
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p[i]))
        adjusted[i] = largest
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Adjust p-values for the false discovery rate (Benjamini and Hochberg 1995).

    The p at rank i of m becomes p · m / i, and none is above one after it.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")])
    [0.03, 0.04, 0.04, nan]
    """
    adjusted, smallest = list(p), 1.0
    order = _ascending(p)
    for rank in range(len(order), 0, -1):
        i = order[rank - 1]
        smallest = min(smallest, p[i] * len(order) / rank)
        adjusted[i] = smallest
    return adjusted


def _ascending(p: Sequence[float]) -> list[int]:
    """Return the positions of the defined p-values, from the smallest on."""
    return sorted((i for i in range(len(p)) if not isnan(p[i])), key=lambda i: p[i])


CORRECTIONS: Mapping[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "none": list,
}


def adjust(p: Sequence[float], correction: str = "holm", same: Sequence[Hashable] | None = None) -> list[float]:
    """Adjust p-values by the name of a correction: holm, bh or none.

    Tests with equal values in `same` are one test, and those with None are no test: their p stays as it is.

    >>> adjust([0.01, 0.01, 0.04, 1.0], "holm", same=["x", "x", "y", None])
    [0.02, 0.02, 0.04, 1.0]
    """
    if correction not in CORRECTIONS:
        raise unknown("correction", correction, CORRECTIONS)
    keys = list(range(len(p))) if same is None else list(same)
    first: dict[Hashable, int] = {}
    for i, key in enumerate(keys):
        if key is not None:
            first.setdefault(key, i)
    after = dict(zip(first, CORRECTIONS[correction]([p[i] for i in first.values()]), strict=True))
    return [p[i] if key is None else after[key] for i, key in enumerate(keys)]


# ---------------------------------------------------------------------------------------------- step-down max-T


@dataclass(frozen=True, slots=True)
class MaxT:
    """p-values adjusted by step-down max-T, and which are at the floor: no draw was as extreme."""

    p: list[float]
    at_floor: list[bool]


def max_t(
    scores: Sequence[Floats],
    corpora: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    alternative: str = "two-sided",
) -> MaxT:
    """Adjust tests by step-down max-T with one random sign for each document.

    Args:
        scores: for each test what each document contributes to the difference, [documents], 0 where it is undefined;
            their mean over the defined documents is the difference.
        corpora: which documents each test rests on; tests of the same ones share the signs.
        resamples: random signs; where 14 documents or fewer differ, all signs are tried.
        seed: of the random signs.
        alternative: which differences the tests look for: two-sided, greater or less.

    >>> from numpy import array
    >>> max_t([array([1.0, 2.0, 1.0, 3.0, 2.0]), array([0.0, 0.0, 1.0, -1.0, 0.0])]).p
    [0.0625, 1.0]
    """
    keys = [0] * len(scores) if corpora is None else list(corpora)
    # Studentised by the standard error under the null hypothesis, Σz / √Σz²; signs leave Σz² as it is.
    lengths = np.array([float(np.sqrt(values @ values)) for values in scores])
    tested = [i for i in range(len(scores)) if lengths[i] > 0]
    p, at_floor = [1.0] * len(scores), [False] * len(scores)
    if not tested:
        return MaxT(p, at_floor)
    observed = _sided(np.array([float(scores[i].sum()) / lengths[i] for i in tested]), alternative)
    of_test = [keys[i] for i in tested]
    groups = {key: [j for j, own in enumerate(of_test) if own == key] for key in dict.fromkeys(of_test)}
    stacks = [np.stack([scores[tested[j]] / lengths[tested[j]] for j in own], axis=1) for own in groups.values()]
    moving = [np.flatnonzero(stack.any(axis=1)) for stack in stacks]
    exact = len(groups) == 1 and len(moving[0]) <= LARGEST_EXACT
    if exact:
        draws = _sided(_all_signs(len(moving[0])) @ stacks[0][moving[0]], alternative)
    else:
        draws = np.empty((resamples, len(tested)))
        for number, (own, stack) in enumerate(zip(groups.values(), stacks, strict=True)):
            draws[:, own] = _sided(_random_signs(stack, resamples, seed, number), alternative)
    after, counts = _step_down(observed, draws, exact)
    for j, i in enumerate(tested):
        p[i], at_floor[i] = after[j], not exact and counts[j] == 0
    return MaxT(p, at_floor)


def randomise_signs(
    scores: Sequence[Floats], resamples: int = RESAMPLES, seed: int = 0, alternative: str = "two-sided"
) -> MaxT:
    """Test each difference by itself with random signs of what documents contribute, as `max_t` does with a family.

    Of a mean this is the same as swapping the values of the two systems on each document (Noreen 1989). Of a ratio such
    as F1 of sums swaps would move numbers of predictions as well, and reject too often where few phrases are found.
    Tests of equally many documents share the signs.

    >>> from numpy import array
    >>> randomise_signs([array([1.0, 2.0, 1.0, 3.0, 2.0]), array([0.0, 0.0, 1.0, -1.0, 0.0])]).p
    [0.0625, 1.0]
    """
    p, at_floor = [1.0] * len(scores), [False] * len(scores)
    sizes: dict[int, list[int]] = {}
    for i, values in enumerate(scores):
        if np.count_nonzero(values) <= LARGEST_EXACT:
            p[i] = max_t([values], alternative=alternative).p[0]
        else:
            sizes.setdefault(len(values), []).append(i)
    for own in sizes.values():
        stack = np.stack([scores[i] / np.sqrt(scores[i] @ scores[i]) for i in own], axis=1)
        draws = _sided(_random_signs(stack, resamples, seed, 0), alternative)
        counts = (draws >= _tolerant(_sided(stack.sum(axis=0), alternative))).sum(axis=0)
        for i, count in zip(own, counts.tolist(), strict=True):
            p[i], at_floor[i] = (count + 1) / (resamples + 1), count == 0
    return MaxT(p, at_floor)


def _tolerant(observed: Floats) -> Floats:
    """Return slightly less than the observed statistics, so that rounding does not set ties apart."""
    return observed - 1e-9 * np.abs(observed)


def _sided(statistic: Floats, alternative: str) -> Floats:
    """Turn a statistic so that larger values speak for the alternative."""
    if alternative == "two-sided":
        return np.abs(statistic)
    return statistic if alternative == "greater" else -statistic


def _all_signs(count: int) -> Floats:
    """Return every choice of signs, [2^count, count]."""
    return np.asarray(1.0 - 2.0 * (np.arange(2**count)[:, None] >> np.arange(count) & 1), dtype=np.float64)


def _random_signs(stack: Floats, resamples: int, seed: int, corpus: int) -> Floats:
    """Return Σ s z of every column for random signs of the documents, [resamples, columns]."""
    documents = len(stack)
    total, parts = stack.sum(axis=0), []
    for block, part in blocks(documents, resamples):
        flipped = weighted_sums(coins(documents, block, seed, corpus), stack)
        parts.append((total - 2 * flipped)[part])
    return np.concatenate(parts)


def max_t_of_covariance(
    t: Floats,
    covariance: Floats,
    df: float,
    resamples: int = RESAMPLES,
    seed: int = 0,
    alternative: str = "two-sided",
) -> MaxT:
    """Adjust t statistics by step-down max-T with draws from the multivariate t distribution of a covariance.

    The covariance[tests, tests] is that of the estimates; only the correlations matter. A test without variance has p =
    1.

    >>> max_t_of_covariance(np.array([9.0, 0.1]), np.eye(2), 50.0).p[1] > 0.8
    True
    """
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    tested = np.flatnonzero((scale > 0) & ~np.isnan(t))
    p, at_floor = [float("nan") if isnan(one) else 1.0 for one in t.tolist()], [False] * len(t)
    if not len(tested):
        return MaxT(p, at_floor)
    correlation = covariance[np.ix_(tested, tested)] / np.outer(scale[tested], scale[tested])
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    root = root / np.maximum(np.sqrt((root**2).sum(axis=1, keepdims=True)), ALIKE)
    generator = generator_of(seed, "families")
    draws = _sided(generator.normal(size=(resamples, len(tested))) @ root.T, alternative)
    draws /= np.sqrt(generator.chisquare(df, size=(resamples, 1)) / df)
    after, counts = _step_down(_sided(t[tested], alternative), draws, exact=False)
    for j, i in enumerate(tested.tolist()):
        p[i], at_floor[i] = after[j], counts[j] == 0
    return MaxT(p, at_floor)


def _step_down(observed: Floats, draws: Floats, exact: bool) -> tuple[list[float], list[int]]:
    """Return (adjusted p, how many draws are as extreme), by successive maxima over the tests that are left."""
    order = np.argsort(-observed, kind="stable")
    rest = np.maximum.accumulate(draws[:, order[::-1]], axis=1)[:, ::-1]
    counts = (rest >= _tolerant(observed[order])).sum(axis=0)
    p = counts / len(draws) if exact else (counts + 1) / (len(draws) + 1)
    p = np.maximum.accumulate(p)
    after, extreme = np.empty(len(order)), np.empty(len(order), dtype=np.int64)
    after[order], extreme[order] = p, counts
    return after.tolist(), extreme.tolist()
