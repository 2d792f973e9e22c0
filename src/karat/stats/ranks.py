"""Systems over several corpora: their mean ranks, whether these differ at all, and which of them do."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Literal

import numpy as np

from karat.errors import InputError, unknown
from karat.stats.correlation import ALIKE, Floats
from karat.stats.tests import ALPHA

BETTER = ("higher", "lower")


@dataclass(frozen=True, slots=True)
class Friedman:
    """Mean ranks of systems over corpora, and Friedman's test that all systems are equally good."""

    ranks: Floats  # [systems], the mean rank of each, 1 being best
    corpora: int  # those on which every system has a score
    left_out: int  # the others
    chi2: float
    p: float  # of chi2
    f: float  # Iman and Davenport's form of it
    f_p: float


def friedman(scores: Floats, better: Literal["higher", "lower"] = "higher") -> Friedman:
    """Friedman's test of scores[corpora, systems] (Friedman 1937; Demšar 2006); equal scores share their mean rank.

    Of N corpora and k systems, χ² = (k − 1) Σⱼ (Σᵢ rᵢⱼ − N (k + 1)/2)² / Σᵢⱼ (rᵢⱼ − (k + 1)/2)² has k − 1 degrees of
    freedom. F = (N − 1) χ² / (N (k − 1) − χ²) has k − 1 and (k − 1)(N − 1), and is the better approximation.
    """
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise InputError("ranks need scores of two systems or more: give a row a corpus and a column a system")
    if better not in BETTER:
        raise unknown("direction", better, BETTER)
    whole = scores[~np.isnan(scores).any(axis=1)]
    n, k = whole.shape
    if n < 2:
        raise InputError(f"only {n} of {len(scores)} corpora have a score of every system: give two or more")
    from scipy.special import chdtrc, fdtrc

    ranks = _ranks(whole if better == "lower" else -whole)
    apart = float(((ranks - (k + 1) / 2) ** 2).sum())
    mean, left_out = ranks.mean(axis=0), len(scores) - n
    if not apart:  # all systems are equal on every corpus
        return Friedman(mean, n, left_out, 0.0, 1.0, 0.0, 1.0)
    chi2 = (k - 1) * float(((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum()) / apart
    below = n * (k - 1) - chi2
    f = (n - 1) * chi2 / below if below > ALIKE * chi2 else inf
    return Friedman(mean, n, left_out, chi2, float(chdtrc(k - 1, chi2)), f, float(fdtrc(k - 1, (k - 1) * (n - 1), f)))


def _ranks(scores: Floats) -> Floats:
    """The rank of each score in its row, the lowest having rank 1; rounding is no reason for a better rank."""
    from scipy.stats import rankdata

    scale = np.abs(scores).max() or 1.0
    return np.asarray(rankdata(np.round(scores / scale, 12), axis=1))


def critical_difference(systems: int, corpora: int, alpha: float = ALPHA) -> float:
    """Nemenyi's critical difference of mean ranks, q √(k (k + 1) / (6 N)).

    q is the (1 − α) quantile of the studentised range of k systems with infinitely many degrees of freedom, by √2.
    """
    from scipy.stats import studentized_range

    if not 0 < alpha < 1:
        raise InputError(f"alpha {alpha} is not between 0 and 1: write .05, say")
    return float(studentized_range.ppf(1 - alpha, systems, inf)) / sqrt(2) * _error(systems, corpora)


def nemenyi(ranks: Floats, corpora: int) -> Floats:
    """The p of each two systems' difference of mean ranks, [systems, systems]; it holds for all of them together."""
    from scipy.stats import studentized_range

    apart = np.abs(ranks[:, None] - ranks)
    found = np.ones_like(apart)
    upper = np.triu_indices(len(ranks), 1)
    found[upper] = studentized_range.sf(apart[upper] / _error(len(ranks), corpora) * sqrt(2), len(ranks), inf)
    return np.asarray(np.clip(np.minimum(found, found.T), 0.0, 1.0))


def _error(systems: int, corpora: int) -> float:
    return sqrt(systems * (systems + 1) / (6 * corpora))


def cliques(ranks: Floats, critical: float) -> tuple[tuple[int, ...], ...]:
    """The largest sets of systems whose mean ranks lie within the critical difference, each from the best on.

    They are the bars of a critical-difference diagram: sets of two or more, none within another.

    >>> cliques(np.array([3.5, 1.0, 1.5, 2.4]), critical=1.4)
    ((1, 2, 3), (3, 0))
    """
    order = np.argsort(ranks, kind="stable")
    sorted_ranks = ranks[order]
    ends = np.searchsorted(sorted_ranks, sorted_ranks + critical + ALIKE, side="right")
    found, reached = [], 0
    for start, end in enumerate(ends.tolist()):
        if end - start > 1 and end > reached:
            found.append(tuple(order[start:end].tolist()))
        reached = max(reached, end)
    return tuple(found)
