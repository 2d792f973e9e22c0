"""Systems over several corpora: their mean ranks, whether these differ at all, and which of them do."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan, sqrt
from typing import Literal

import numpy as np

from karat.errors import InputError, unknown
from karat.stats.base import ALIKE, Floats
from karat.stats.rank_sums import UNKNOWN, How, RankSums, rank_sums
from karat.stats.tests import ALPHA

BETTER = ("higher", "lower")
ROUNDING = 1e-9  # of mean ranks


@dataclass(frozen=True, slots=True)
class Friedman:
    """Mean ranks of systems over corpora, Friedman's test that all are equally good, and which two of them differ."""

    ranks: Floats  # [systems], the mean rank of each, 1 being best
    corpora: int  # those on which every system has a score
    left_out: int  # the others
    chi2: float
    p: float  # of chi2
    f: float  # Iman and Davenport's form of it
    f_p: float
    sums: RankSums = UNKNOWN  # how rank sums lie where systems are equally good
    permutation_p: float = nan  # of the same test by permuting ranks; NaN where these are too many
    tied: bool = False  # whether some corpus ranks two systems alike

    @property
    def how(self) -> How:
        """Where p and the critical difference are from: every order of the ranks, a sample of them, or theory."""
        return self.sums.how

    @property
    def used_p(self) -> float:
        """The p that holds: by permuting ranks, and where these are too many that of F."""
        return self.f_p if self.how == "asymptotic" else self.permutation_p

    @property
    def at_floor(self) -> bool:
        """Whether the p that holds is the smallest that the sample of orders can give."""
        return self.how == "sampled" and self.permutation_p <= self.sums.floor

    def critical(self, alpha: float = ALPHA) -> float:
        """How far apart the mean ranks of two systems must be at least for these to differ; infinite if none can."""
        check_alpha(alpha)
        if self.sums.widths is None:
            return critical_difference(len(self.ranks), self.corpora, alpha)
        return self.sums.widths.least(alpha) / (2 * self.corpora)

    @property
    def smallest_p(self) -> float:
        """The p of two systems that are as far apart as ranks with these ties can be; 0 where it is not known."""
        return 0.0 if self.sums.widths is None else self.sums.widths.smallest

    def pairwise(self) -> Floats:
        """The p of each two systems' difference, [systems, systems]; it holds for all of them together."""
        if self.sums.widths is None:
            return nemenyi(self.ranks, self.corpora)
        apart = np.rint(2 * self.corpora * np.abs(self.ranks[:, None] - self.ranks)).astype(np.int64)
        found = np.array([[self.sums.width_p(width) for width in row] for row in apart.tolist()])
        return np.where(apart == 0, 1.0, found)


def friedman(scores: Floats, better: Literal["higher", "lower"] = "higher", seed: int = 0) -> Friedman:
    """Friedman's test of scores[corpora, systems] (Friedman 1937; Demšar 2006); equal scores share their mean rank.

    Of N corpora and k systems, χ² = (k − 1) Σⱼ (Σᵢ rᵢⱼ − N (k + 1)/2)² / Σᵢⱼ (rᵢⱼ − (k + 1)/2)² has about k − 1 degrees
    of freedom, and F = (N − 1) χ² / (N (k − 1) − χ²) about k − 1 and (k − 1)(N − 1), if N is large. For few corpora
    neither holds: `permutation_p` is the share of all orders of the ranks in each corpus with so large a χ². The seed
    is of the orders that are drawn where they are too many.
    """
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise InputError("ranks need scores of two systems or more: give a row a corpus and a column a system")
    if better not in BETTER:
        raise unknown("direction", better, BETTER)
    whole = scores[~np.isnan(scores).any(axis=1)]
    n, k = whole.shape
    if n < 2:
        raise InputError(f"only {n} of {len(scores)} corpora have a score of every system: give two or more")
    ranks = row_ranks(whole if better == "lower" else -whole)
    doubled = np.rint(2 * ranks).astype(np.int64) - (k + 1)
    sums = rank_sums(doubled, seed)
    total = doubled.sum(axis=0)
    apart = float((doubled**2).sum())
    # Where all systems are equal on every corpus, nothing is apart.
    chi2 = (k - 1) * float((total**2).sum()) / apart if apart else 0.0
    below = n * (k - 1) - chi2
    f = (n - 1) * chi2 / below if below > ALIKE * chi2 else inf
    p, f_p = _tails(chi2, f, n, k)
    tied = bool((np.diff(np.sort(doubled, axis=1), axis=1) == 0).any())
    return Friedman(ranks.mean(axis=0), n, len(scores) - n, chi2, p, f, f_p, sums, sums.squares_p(total), tied)


def _tails(chi2: float, f: float, corpora: int, systems: int) -> tuple[float, float]:
    """(the p of χ², that of F), by their distributions for many corpora."""
    from scipy.special import chdtrc, fdtrc

    free = systems - 1
    return float(chdtrc(free, chi2)), float(fdtrc(free, free * (corpora - 1), f))


def row_ranks(scores: Floats) -> Floats:
    """The rank of each score in its row, the lowest having rank 1; rounding is no reason for a better rank."""
    from scipy.stats import rankdata

    scale = np.abs(scores).max() or 1.0
    return np.asarray(rankdata(np.round(scores / scale, 12), axis=1))


def critical_difference(systems: int, corpora: int, alpha: float = ALPHA) -> float:
    """Nemenyi's critical difference of mean ranks, q √(k (k + 1) / (6 N)), which holds for many corpora without ties.

    q is the (1 − α) quantile of the studentised range of k systems with infinitely many degrees of freedom, by √2. For
    any number of corpora, ties or not, see `Friedman.critical`.
    """
    from scipy.stats import studentized_range

    check_alpha(alpha)
    return float(studentized_range.ppf(1 - alpha, systems, inf)) / sqrt(2) * _error(systems, corpora)


def check_alpha(alpha: float) -> None:
    """Raises InputError if a level of significance is not between 0 and 1."""
    if not 0 < alpha < 1:
        raise InputError(f"alpha {alpha} is not between 0 and 1: write .05, say")


def nemenyi(ranks: Floats, corpora: int) -> Floats:
    """The p of each two systems' difference of mean ranks, [systems, systems]; it holds for all of them together.

    It holds for many corpora; for any number of them see `Friedman.pairwise`.
    """
    from scipy.stats import studentized_range

    apart = np.abs(ranks[:, None] - ranks)
    found = np.ones_like(apart)
    upper = np.triu_indices(len(ranks), 1)
    found[upper] = studentized_range.sf(apart[upper] / _error(len(ranks), corpora) * sqrt(2), len(ranks), inf)
    return np.asarray(np.clip(np.minimum(found, found.T), 0.0, 1.0))


def _error(systems: int, corpora: int) -> float:
    return sqrt(systems * (systems + 1) / (6 * corpora))


def cliques(ranks: Floats, critical: float) -> tuple[tuple[int, ...], ...]:
    """The largest sets of systems whose mean ranks are all less than the critical difference apart, from the best on.

    They are the bars of a critical-difference diagram: sets of two or more, none within another.

    >>> cliques(np.array([3.5, 1.0, 1.5, 2.4]), critical=1.5)
    ((1, 2, 3), (3, 0))
    """
    order = np.argsort(ranks, kind="stable")
    sorted_ranks = ranks[order]
    ends = np.searchsorted(sorted_ranks, sorted_ranks + critical - ROUNDING, side="left")
    found, reached = [], 0
    for start, end in enumerate(ends.tolist()):
        if end - start > 1 and end > reached:
            found.append(tuple(order[start:end].tolist()))
        reached = max(reached, end)
    return tuple(found)
