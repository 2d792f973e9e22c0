"""Jackknife influences, and the standard errors, intervals and tests that follow from them.

The influence of a unit on a statistic is the mean of all leave-one-out values less the value without this unit, times
(n − 1)/n. A unit is a document, a query, a group of documents (for statistics that are no smooth function of sums, such
as medians), or a pair of documents. Influences of a difference are differences of influences, so one formula gives the
standard error of every statistic that karat prints and of every difference of two of them.

* Units that are independent: V = n/(n − 1) Σu². The degrees of freedom are n − 1, and fewer where few units carry most
  of the variance, as on absent phrases, where most documents score 0: ν = min(n − 1, 2n / (2 + (κ − 3)⁺/2)), with the
  kurtosis κ = n Σu⁴ / (Σu²)². It lies halfway between n − 1 and Satterthwaite's approximation of the degrees of freedom
  of a sample variance; the calibration bench (`python -m benchmarks.inference`) shows the coverage.
* Differences of scores that are 0 on most documents: a sample may miss the few documents on which systems differ. V_D
  is then at least the variance of one document on which only one system scores, (1 − 3/κ)⁺ s²/n², with the kurtosis κ
  about 0 and the size s² = Σc⁴/Σc² of what documents contribute to the scores of both systems, c. Where fewer than two
  thirds of the documents score 0, κ is about 3 or less, and nothing changes.
* Pairs of documents: see `karat.stats.dyadic`.
* Several runs (seeds) of a system vary as well. With the variance V_D of documents (influences on the mean over seeds),
  V_S of seeds (the variance of the seeds' values divided by their number, summed over systems) and V_E, the noise of
  one seed on one document, which is part of both, the half-width h of an interval is (Banerjee 1960)

      h² = t²(ν) (V_D − V_E) + t²(ν_S) V_S,        h² ≥ t²(ν) V_D

  A system with a single run beside a system with several borrows the seed variance of the latter.

All functions accept leading axes (trials of a simulation, for example) and treat them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, unknown
from karat.stats.base import ALIKE, Floats, Ints
from karat.stats.dyadic import DyadicVariance, dyadic_variance
from karat.stats.resampling import Sample, left_out, same_size

Alternative = Literal["two-sided", "greater", "less"]
Bools = NDArray[np.bool_]

ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")
ITEM_GROUPS = 20  # groups of documents that are left out together where a statistic is no function of sums
MOST_UNITS = 1000  # leave-one-out values of a statistic of weighted items
MOST_CELLS = 1_000_000  # weights that are held at once
HALVINGS = 60  # bisection steps for log p
SMALLEST = 1e-100  # smallest p of the bisection; without any error p is 0


def check_alternative(alternative: str) -> None:
    """Raise InputError if there is no such alternative."""
    if alternative not in ALTERNATIVES:
        raise unknown("alternative", alternative, ALTERNATIVES)


# ---------------------------------------------------------------------------------------------- influences


@dataclass(frozen=True, slots=True)
class Influences:
    """A statistic of each run (seed) of one system, and the influence of each unit on it."""

    values: Floats  # [..., runs]
    influence: Floats  # [..., runs, units], 0 where the unit is undefined
    defined: Bools  # [units]
    pairs: Ints | None = None  # [units, 2], the documents of each unit where units are pairs of documents

    @property
    def runs(self) -> int:
        """The number of runs."""
        return int(self.values.shape[-1])

    @property
    def value(self) -> Floats:
        """The mean over the runs."""
        return np.asarray(self.values.mean(axis=-1))

    @property
    def mean_influence(self) -> Floats:
        """The influence of each unit on the mean over the runs, [..., units]."""
        return np.asarray(self.influence.mean(axis=-2))


def jackknife(*samples: Sample) -> Influences:
    """Compute the influences of the runs of one system, given the sample of each run."""
    if not samples:
        raise InputError("a system needs at least one run")
    same_size(samples)
    parts = [_jackknife(sample) for sample in samples]
    pairs = samples[0].units if samples[0].pairwise else None
    return Influences(
        np.array([sample.value() for sample in samples]),
        np.stack([influence for influence, _ in parts]),
        np.logical_or.reduce([defined for _, defined in parts]),
        pairs,
    )


def jackknife_of(
    statistic: Callable[[Floats], Floats], units: Ints, defined: Bools | None = None, most: int = MOST_UNITS
) -> Influences:
    """Compute the influences of units on statistics of weighted items.

    Args:
        statistic: takes weights[some, items], 0 or 1, and returns [..., some].
        units: the unit of each item; items of one unit, such as a document, are left out together. Of more units than
            `most`, every so many-th is left out together.
        defined: the items that the statistics use; None where they use all.
        most: the largest number of leave-one-out values.

    Returns:
        The influences, NaN where a statistic is undefined without one of the units.

    >>> mean = lambda weights: weights @ np.array([0.5, 1.0, 0.0]) / weights.sum(axis=1)
    >>> jackknife_of(mean, np.arange(3)).influence.round(4).tolist()
    [[0.0, 0.1667, -0.1667]]
    """
    distinct, unit = np.unique(units, return_inverse=True)
    count = min(len(distinct), most)
    group = unit % max(count, 1)
    used = np.bincount(group if defined is None else group[defined], minlength=count) > 0
    values = statistic(np.ones((1, len(units))))
    without = np.full((*values.shape[:-1], count), np.nan)
    groups, step = np.flatnonzero(used), max(MOST_CELLS // max(len(units), 1), 1)
    for start in range(0, len(groups), step):
        some = groups[start : start + step]
        without[..., some] = statistic((some[:, None] != group).astype(np.float64))
    n = len(groups)
    mean = without[..., used].mean(axis=-1, keepdims=True) if n else np.nan
    influence = np.where(used, (mean - without) * ((n - 1) / max(n, 1)), 0.0)
    return Influences(values, influence[..., None, :], used)


def _jackknife(sample: Sample) -> tuple[Floats, Bools]:
    """Return (the influence of each unit, whether the unit is defined)."""
    if sample.influences is not None:
        rows = sample.influences(sample.values)
        if sample.pairwise:
            return rows, np.ones(len(rows), dtype=bool)
        sums = np.bincount(sample.row_documents(), rows, minlength=sample.size)
        return np.asarray(sums, dtype=np.float64), sample.defined()
    without = left_out(sample, ITEM_GROUPS)
    if sample.pairwise:
        contributes = np.asarray((sample.values != 0).any(axis=1))
    else:
        groups = np.arange(sample.size) % max(len(without), 1)
        contributes = np.bincount(groups, sample.defined(), minlength=len(without)) > 0
    usable = contributes & ~np.isnan(without)
    n = int(usable.sum())
    if n < 2:
        return np.zeros(len(without)), contributes
    return np.where(usable, (without[usable].mean() - without) * (n - 1) / n, 0.0), usable


# ---------------------------------------------------------------------------------------------- contrasts


@dataclass(frozen=True, slots=True)
class Contrast:
    """A value, or a difference of two values, with its variance by documents and by seeds."""

    value: Floats
    documents: Floats  # V_D
    noise: Floats  # V_E, which is part of V_D and of V_S
    seeds: Floats  # V_S; 0 with one run each
    n: int  # units: documents, queries, or pairs
    df_documents: Floats  # ν
    df_seeds: Floats  # ν_S; NaN where seeds do not vary
    borrowed: bool = False  # whether a single run borrows the seed variance of the other system
    dyadic: DyadicVariance | None = None  # where units are pairs of documents
    skewness: Floats | float = 0.0  # of the influences

    @property
    def error(self) -> Floats:
        """The standard error: √((V_D − V_E) + V_S), at least √V_D."""
        return np.sqrt(np.maximum(self.documents, self._rest + self.seeds))

    @property
    def _rest(self) -> Floats:
        return np.maximum(self.documents - self.noise, 0.0)

    @property
    def varies(self) -> Floats:
        """Whether the variance is more than rounding."""
        return np.asarray(self.error > ALIKE * np.maximum(np.abs(self.value), ALIKE))

    def on_documents(self) -> Contrast:
        """Return the contrast of these very runs, as if there were no other seeds."""
        zeros = np.zeros(np.shape(self.value))
        return replace(self, noise=zeros, seeds=zeros, df_seeds=np.full(np.shape(self.value), np.nan))

    def deviation(self, alpha: float = 0.05) -> Floats:
        """Return the smallest difference that is significant at alpha, two-sided: h."""
        if not 0 < alpha < 1:
            raise InputError(f"alpha must be between 0 and 1, got {alpha}")
        return self._deviation(np.full(np.shape(self.value), alpha))

    def _deviation(self, alpha: Floats) -> Floats:
        from scipy.special import stdtrit

        if self.n < 2:
            return np.full(np.shape(alpha), np.nan)
        of_documents = stdtrit(self.df_documents, alpha / 2) ** 2
        of_seeds = stdtrit(np.where(np.isnan(self.df_seeds), 1.0, self.df_seeds), alpha / 2) ** 2
        both = of_documents * self._rest + of_seeds * self.seeds
        return np.asarray(np.sqrt(np.maximum(of_documents * self.documents, both)))

    def interval(self, level: float = 0.95, reach: float = np.inf) -> tuple[Floats, Floats]:
        """Return (low, high), value ± h; NaN with fewer than two units.

        Where nothing varies, the interval is an upper bound: with confidence `level`, at most a share 1 − (α/2)^(1/n)
        of all units differs, and `reach` is the largest difference that a unit can have; infinite if there is none, and
        the interval is then the value itself.
        """
        check_level(level)
        half = self.deviation(1 - level)
        if np.isfinite(reach) and self.n:
            half = np.where(self.varies, half, reach * unseen_share(_independent_units(self), level))
        return self.value - half, self.value + half

    def p(self, alternative: Alternative = "two-sided") -> Floats:
        """Return the p-value of the hypothesis that the value is 0; NaN where it is undefined, 1 where nothing varies.

        With the alternative `greater` the hypothesis is 0 or less, with `less` 0 or more.
        """
        check_alternative(alternative)
        both = self._two_sided()
        if alternative == "two-sided":
            return both
        towards = self.value > 0 if alternative == "greater" else self.value < 0
        one = np.where(towards, both / 2, 1 - both / 2)
        return np.where((self.value == 0) & (self.error == 0), 1.0, one)

    def _less_skewed(self, sign: int) -> Contrast:
        """Return the contrast with the smaller of t and Hall's t."""
        error = self.error
        some = error > 0
        t, skewness = (sign * self.value / np.where(some, error, 1.0), sign * self.skewness / max(self.n, 1) ** 0.5)
        corrected = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
        return replace(self, value=np.where(some, sign * error * np.minimum(t, corrected), self.value))

    def non_inferiority_p(self, margin: float, sign: int = 1, reach: float = 1.0) -> Floats:
        """Return the p-value of the hypothesis that the value is −margin or less; with sign −1, margin or more.

        Large rare drops make the influences skewed and t too large on average. So t is at most that of Hall (1992),
        t + γt²/3 + γ²t³/27 + γ/6 with γ = skewness / √n. Where nothing varies, p is the probability that none of n
        units shows a drop of `reach`, the largest possible, (1 − margin / reach)^n.

        >>> mean = lambda sums: sums[..., 0] / sums[..., 1]
        >>> misses = jackknife(Sample(np.array([[0.0, 1.0]] * 50), mean))
        >>> round(float(contrast(misses, misses).non_inferiority_p(0.01)), 3)
        0.605
        """
        shifted = replace(self, value=self.value + sign * margin)._less_skewed(sign)
        p = shifted.p("greater" if sign > 0 else "less")
        unseen = np.clip(1 - (margin + sign * self.value) / reach, 0.0, 1.0) ** self.n
        return np.where(self.varies | np.isnan(p), p, unseen)

    def detectable(self, alpha: float = 0.05, power: float = 0.8, alternative: Alternative = "two-sided") -> Floats:
        """Return about the smallest difference that the test detects with this power; NaN where nothing varies.

        It is rough with two or three seeds.
        """
        of_documents, of_seeds = self._multiples(alpha, power, alternative)
        both = of_documents * self._rest + of_seeds * self.seeds
        return np.where(self.varies, np.sqrt(np.maximum(of_documents * self.documents, both)), np.nan)

    def needed(
        self, difference: float, alpha: float = 0.05, power: float = 0.8, alternative: Alternative = "two-sided"
    ) -> Floats:
        """Return about how many units detect a difference with this power, with as many seeds; infinite where none
        would.

        More documents reduce every part of the variance but what seeds differ by beyond noise, V_S − V_E.
        """
        of_documents, of_seeds = self._multiples(alpha, power, alternative)
        left = difference**2 - of_seeds * np.maximum(self.seeds - self.noise, 0.0)
        shrinks = of_documents * self._rest + of_seeds * np.minimum(self.seeds, self.noise)
        most = np.maximum(shrinks, of_documents * self.documents)
        with np.errstate(divide="ignore", invalid="ignore"):
            count = np.maximum(np.ceil(self.n * most / np.maximum(left, 0.0)), 2.0)
        undefined = np.isnan(self.documents) | np.isnan(self.value)
        return np.where(undefined, np.nan, np.where(left > 0, count, np.inf))

    def needed_interval(
        self, difference: float, alpha: float = 0.05, power: float = 0.8, level: float = 0.95
    ) -> tuple[float, float]:
        """Return the interval of `needed` that follows from the sampling error of the variance of documents.

        The variance of a sample with ν degrees of freedom is ν s² / χ²(ν), so the ends scale the variance by ν over the
        quantiles of χ². Here ν is that of Satterthwaite's approximation, 2n / (2 + (κ − 3)⁺), as the variance itself is
        estimated.
        """
        from scipy.special import chdtri

        tail = (1 - level) / 2
        df = np.where(self.df_documents < self.n - 1, self.n / (2 * self.n / self.df_documents - 1), self.df_documents)
        low, high = (df / chdtri(df, share) for share in (tail, 1 - tail))
        ends = (self._scaled(float(factor)).needed(difference, alpha, power) for factor in (low, high))
        first, second = ends
        return float(first), float(second)

    def _scaled(self, factor: float) -> Contrast:
        return replace(self, documents=self.documents * factor, noise=self.noise * factor)

    def _multiples(self, alpha: float, power: float, alternative: Alternative) -> tuple[Floats, Floats]:
        """Return the squared multiples of the errors of documents and of seeds that are detected with a power."""
        from scipy.special import stdtrit

        check_alternative(alternative)
        tail = alpha / 2 if alternative == "two-sided" else alpha
        df_seeds = np.where(np.isnan(self.df_seeds), 1.0, self.df_seeds)
        documents, seeds = (
            (stdtrit(df, 1 - tail) + stdtrit(df, power)) ** 2 for df in (np.maximum(self.df_documents, 1.0), df_seeds)
        )
        return np.asarray(documents), np.asarray(seeds)

    def _two_sided(self) -> Floats:
        """Find the alpha at which the value is just significant, by bisection of its logarithm."""
        from scipy.special import stdtr

        size = np.abs(self.value)
        if self.n < 2:
            return np.full(np.shape(size), np.nan)
        fewer = np.fmin(self.df_seeds, self.df_documents)
        more = np.fmax(self.df_seeds, self.df_documents)
        least = 2 * stdtr(self.df_documents, -_ratio(size, np.sqrt(self.documents)))
        both = _ratio(size, np.sqrt(self._rest + self.seeds))
        # With the larger (smaller) degrees of freedom for both parts, p would be smaller (larger) than it is.
        ends = [np.maximum(least, 2 * stdtr(df, -both)) for df in (more, fewer)]
        low, high = (np.log(np.maximum(end, SMALLEST)) for end in ends)
        for _ in range(HALVINGS if (self.seeds > 0).any() else 0):
            middle = (low + high) / 2
            significant = size > self._deviation(np.exp(middle))
            low, high = np.where(significant, low, middle), np.where(significant, middle, high)
        p = np.where(ends[1] == 0, 0.0, np.exp(high))
        return np.where(np.isnan(self.value), np.nan, p)


def _ratio(size: Floats, error: Floats) -> Floats:
    """Divide a difference by its error: 0 where the difference is 0, infinite where only the error is."""
    some = error > ALIKE * size
    return np.where(size == 0, 0.0, np.where(some, size / np.where(some, error, 1.0), np.inf))


def check_level(level: float) -> None:
    """Raise InputError if a confidence level is not between 0 and 1."""
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level}: write .95 for an interval of 95 %")


def unseen_share(n: float | Floats, level: float = 0.95) -> Floats:
    """Return the upper bound of a share of which none was seen among n units (Clopper and Pearson 1934).

    >>> round(float(unseen_share(100)), 4)
    0.0362
    """
    return np.asarray(1 - ((1 - level) / 2) ** (1 / np.asarray(n, dtype=np.float64)))


def degrees_of_freedom(influence: Floats, n: Floats | None = None) -> Floats:
    """Return the degrees of freedom of the variance of a sum of influences, [...] of [..., units].

    `n` is the number of units, where some influences are 0 because they are those of no unit.

    >>> degrees_of_freedom(np.array([1.0, -1.0, 1.0, -1.0])).tolist()  # as a normal distribution, or lighter tails
    3.0
    >>> round(float(degrees_of_freedom(np.eye(100)[0] - 0.01)), 1)  # one of 100 units differs
    4.0
    """
    n = np.asarray(influence.shape[-1] if n is None else n)
    squares = (influence**2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        kurtosis = np.where(squares > 0, n * (influence**4).sum(axis=-1) / squares**2, 3.0)
    excess = np.maximum(kurtosis - 3, 0.0)
    return np.asarray(np.maximum(np.minimum(n - 1.0, 2 * n / (2 + excess / 2)), 1.0))


def contrast(a: Influences, b: Influences | None = None, *, scores: bool = False) -> Contrast:
    """Return the value of a system over its runs, or by how much that of a is higher than that of b on the same units.

    With `scores`, units may score 0, and the variance of a difference is at least that of one unit that scores.

    >>> mean = lambda sums: sums[..., 0] / sums[..., 1]
    >>> runs = [Sample(np.array([[x, 1.0] for x in values]), mean) for values in ([0.5, 1.0, 0.0], [0.5, 0.5, 0.0])]
    >>> seeds = contrast(jackknife(*runs))
    >>> round(float(seeds.value), 4), [round(float(end), 2) for end in seeds.interval()]
    (0.4167, [-0.96, 1.79])
    """
    systems = [a] if b is None else [a, b]
    if len({each.influence.shape[-1] for each in systems}) > 1:
        raise InputError("systems are compared on the same documents: give both in the same order")
    means = [each.value for each in systems]
    defined = np.logical_or.reduce([each.defined for each in systems])
    influence = a.mean_influence if b is None else a.mean_influence - b.mean_influence
    influence = influence[..., defined]
    value = means[0] if b is None else means[0] - means[1]
    near = np.abs(value) <= ALIKE * np.max(np.abs(means), axis=0)
    n = int(defined.sum())
    variance, df, dyadic = _variance(influence, n), degrees_of_freedom(influence), None
    if scores and b is not None:
        least = _least_variance(np.concatenate([_contributions(each, defined) for each in systems], axis=-1), n)
        raised = (variance > (ALIKE * np.max(np.abs(means), axis=0)) ** 2) & (least > variance)
        variance, df = np.where(raised, least, variance), np.where(raised, np.minimum(df, _df_of_one(n)), df)
    if a.pairs is not None:
        dyadic = dyadic_variance(influence, a.pairs[defined])
        variance, df = dyadic.variance, np.minimum(dyadic.df, df)
    of_seeds, noise, df_seeds, borrowed = _seed_variance(systems, np.shape(value))
    value = np.where(near, 0.0, value)
    return Contrast(value, variance, noise, of_seeds, n, df, df_seeds, borrowed, dyadic, _skewness(influence))


def _contributions(system: Influences, defined: Bools) -> Floats:
    """Return what each unit contributes to the value, their mean."""
    return system.value[..., None] + int(defined.sum()) * system.mean_influence[..., defined]


def _least_variance(contributions: Floats, n: int) -> Floats:
    """Return the variance of a difference of which one unit is seen, for contributions that are 0 on most units."""
    squares, fourth = (contributions**2).sum(axis=-1), (contributions**4).sum(axis=-1)
    some = squares > 0
    size = np.where(some, fourth / np.where(some, squares, 1.0), 0.0)
    kurtosis = np.where(some, contributions.shape[-1] * size / np.where(some, squares, 1.0), 0.0)
    return np.maximum(1 - 3 / np.maximum(kurtosis, 3.0), 0.0) * size / max(n, 1) ** 2


def _df_of_one(n: int) -> float:
    """Return the degrees of freedom where one of n units carries the variance."""
    return max(2 * n / (2 + max(n - 3, 0) / 2), 1.0)


def _skewness(influence: Floats) -> Floats:
    squares = (influence**2).sum(axis=-1)
    some = squares > 0
    cubes = (influence**3).sum(axis=-1) * influence.shape[-1] ** 0.5
    return np.asarray(np.where(some, cubes / np.where(some, squares, 1.0) ** 1.5, 0.0))


def _variance(influence: Floats, n: int) -> Floats:
    """Return the variance of a sum of influences of independent units: n / (n − 1) times that of their squares."""
    about = influence - influence.mean(axis=-1, keepdims=True) if n else influence
    return (about**2).sum(axis=-1) * (n / (n - 1)) if n > 1 else np.full(influence.shape[:-1], np.nan)


def _seed_variance(systems: Sequence[Influences], shape: tuple[int, ...]) -> tuple[Floats, Floats, Floats, bool]:
    """Return (V_S, V_E, degrees of freedom of V_S, whether a single run borrows the variance of the other system)."""
    several = [each for each in systems if each.runs > 1]
    borrowed = len(several) == 1 and len(systems) == 2
    of_seeds, noise, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for each in several:
        one_run, one_noise = _run_variance(each)
        share = 1 / each.runs + (1.0 if borrowed else 0.0)
        of_seeds, noise = of_seeds + one_run * share, noise + one_noise * share
        squares = squares + (one_run * share) ** 2 / (each.runs - 1)
    df = np.where(squares > 0, of_seeds**2 / np.where(squares > 0, squares, 1.0), np.nan)
    return of_seeds, noise, df, borrowed


def _run_variance(system: Influences) -> tuple[Floats, Floats]:
    """Return (the variance of the value of one run over seeds, the part of it that is noise on documents)."""
    runs, n = system.runs, int(system.defined.sum())
    variance = system.values.var(axis=-1, ddof=1)
    variance = np.where(variance > (ALIKE * system.value) ** 2 * runs, variance, 0.0)
    about = system.influence - system.influence.mean(axis=-2, keepdims=True)
    noise = (about**2).sum(axis=(-2, -1)) / (runs - 1) * (n / (n - 1) if n > 1 else 0.0)
    return variance, noise


def score_interval(
    score: Contrast, level: float = 0.95, bounds: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float]:
    """Return the interval of a score that lies between two bounds, by t on the logit scale.

    With x the score as a share of the range and s its standard error, the ends are at logit(x) ± h / (x (1 − x)) in
    place of x ± h. On a bound nothing varies, and the other end is the exact bound of a share that was not seen.
    Without finite bounds the interval is x ± h.

    >>> mean = lambda sums: sums[..., 0] / sums[..., 1]
    >>> hits = Sample(np.array([[x, 1.0] for x in [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]]), mean)
    >>> [round(end, 3) for end in score_interval(contrast(jackknife(hits)))]
    [0.009, 0.578]
    >>> misses = Sample(np.array([[0.0, 1.0]] * 10), mean)
    >>> [round(end, 3) for end in score_interval(contrast(jackknife(misses)))]
    [0.0, 0.308]
    """
    return interval_between(student(score), level, bounds)


def interval_between(score: Contrast, level: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the interval of `score_interval` with the degrees of freedom of the contrast.

    With the bounds −1 and 1 it is a t interval on Fisher's z scale, for correlations and Krippendorff's alpha. It is
    NaN where the standard error is undefined.
    """
    check_level(level)
    low, high = bounds
    if not score.n or (score.n > 1 and np.isnan(score.error)):
        return np.nan, np.nan
    if not np.isfinite([low, high]).all():
        below, above = score.interval(level)
        return max(float(below), low), min(float(above), high)
    half = score.deviation(1 - level)
    units = np.maximum(_independent_units(score), min(score.n, 2))
    below, above = bounded_interval(score.value, half, score.varies, units, level, bounds)
    return float(below), float(above)


def bounded_interval(
    value: Floats, half: Floats, varies: NDArray[Any], n: int | Floats, level: float, bounds: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the ends of `score_interval` of many scores, from their half-widths h and numbers of units; NaN where a
    score is undefined, or where a single unit is not on a bound."""
    low, high = bounds
    width = high - low
    share, n = (value - low) / width, np.asarray(n)
    unseen = unseen_share(np.maximum(n, 1), level) * width
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logit, reach = np.log(share / (1 - share)), half / width / (share * (1 - share))
        below, above = (low + width / (1 + np.exp(-(logit + sign * reach))) for sign in (-1, 1))
    below = np.where(varies, below, np.maximum(value - unseen, low))
    above = np.where(varies, above, np.minimum(value + unseen, high))
    lowest, highest = share <= ALIKE, 1 - share <= ALIKE
    below = np.where(lowest, low, np.where(highest, high - unseen, below))
    above = np.where(lowest, low + unseen, np.where(highest, high, above))
    undefined = np.isnan(value) | (n < np.where(lowest | highest, 1, 2))
    return np.where(undefined, np.nan, below), np.where(undefined, np.nan, above)


def correlation_contrast(sample: Sample) -> Contrast:
    """Return the jackknife of a correlation of two columns, with at least the variance (1 − r²)² / (n − 1).

    That is the variance of r where the columns are independent, whatever their distributions. The jackknife's is too
    small where one column has a long tail and the other is 0 there.
    """
    found = contrast(jackknife(sample))
    if found.n < 2:
        return found
    return replace(found, documents=np.maximum(found.documents, (1 - found.value**2) ** 2 / (found.n - 1)))


def correlation_p(correlation: Contrast) -> float:
    """Return the two-sided p of the hypothesis that a correlation is 0, by t of Fisher's z; NaN where it is ±1.

    It is below 1 − level where `score_interval` with the bounds −1 and 1 leaves out 0.
    """
    r = float(correlation.value)
    if np.isnan(r) or 1 - abs(r) <= ALIKE:
        return np.nan
    return float(replace(correlation, value=np.arctanh(correlation.value) * (1 - r * r)).p())


def _independent_units(score: Contrast) -> Floats:
    """Return the number of units, of pairs of documents the number of independent ones that are worth as much."""
    return np.asarray(score.n if score.dyadic is None else max(score.dyadic.effective, 1.0))


def student(score: Contrast) -> Contrast:
    """Return the contrast with n − 1 degrees of freedom: the logit scale makes up for the skewness of single scores."""
    if score.dyadic is not None:
        return score
    return replace(score, df_documents=np.full(np.shape(score.value), max(score.n - 1.0, 1.0)))
