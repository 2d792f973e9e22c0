"""Systems with several seeds: how sure a value or a difference is, when other seeds would have given others.

All seeds of all systems were run on the same documents; seeds belong to one system. Two things vary: which documents
were drawn, and which seeds. A value over seeds is the mean of its seeds' values, and its variance has two levels:

* V_D, of documents: what each document brings to the mean over seeds, by the jackknife, with n − 1 degrees of freedom.
* V_S, of seeds: the variance of the seeds' values by their number, added up over the systems, with few degrees of
  freedom ν, by Welch and Satterthwaite.

The noise of one seed on one document is in both. V_E is this part, so the variance is (V_D − V_E) + V_S. Each level is
taken times the t of its own degrees of freedom (Banerjee 1960): a deviation at level α is

    h² = t²(n − 1) (V_D − V_E) + t²(ν) V_S,        h² ≥ t²(n − 1) V_D

the latter because seeds cannot make a value surer than documents do. A difference is significant where it exceeds h, p
is the α at which it just does, and intervals are ± h. With one seed each, this is the paired t test of what each
document brings.

All functions take leading axes, over which they are done at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, unknown
from karat.stats.base import ALIKE, Floats
from karat.stats.resampling import Sample, left_out, same_size

Alternative = Literal["two-sided", "greater", "less"]

ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")
ITEM_GROUPS = 20  # of documents whose items are left out together
HALVINGS = 60  # of an interval of log p
SMALLEST = 1e-100  # p that is looked for; what has no error at all has p = 0


# ---------------------------------------------------------------------------------------------- seeds of one system


@dataclass(frozen=True, slots=True)
class Seeds:
    """A statistic of each seed of one system, and what each document brings to it."""

    values: Floats  # [..., seeds]
    pulls: Floats  # [..., seeds, documents]: of a mean, (the document's value − the mean) / n; 0 where it is undefined
    defined: NDArray[np.bool_]  # [documents]: those that bring something to any seed

    @property
    def count(self) -> int:
        """How many seeds there are."""
        return int(self.values.shape[-1])


def seeds_of(samples: Sequence[Sample]) -> Seeds:
    """The seeds of one system, given the sample of each.

    Items are left out by 20 groups of documents, and a group then stands for a document: what is no smooth function of
    its items, as a median, changes too unevenly with a single one.
    """
    if not samples:
        raise InputError("a system has one seed or more")
    same_size(samples)
    each = [_pulls(sample) for sample in samples]
    defined = np.logical_or.reduce([there for _, there in each])
    return Seeds(np.array([sample.value() for sample in samples]), np.stack([pulls for pulls, _ in each]), defined)


def _pulls(sample: Sample) -> tuple[Floats, NDArray[np.bool_]]:
    """(what each document, or group of them, brings to the statistic; whether it brings anything)."""
    without = left_out(sample, ITEM_GROUPS)
    groups = np.arange(sample.size) % max(len(without), 1)
    brings = np.bincount(groups, sample.defined(), minlength=len(without)) > 0
    there = brings & ~np.isnan(without)
    n = int(there.sum())
    if n < 2:
        return np.zeros(len(without)), brings
    return np.where(there, (without[there].mean() - without) * (n - 1) / n, 0.0), there


# ---------------------------------------------------------------------------------------------- two levels


@dataclass(frozen=True, slots=True)
class TwoLevel:
    """A value or a difference over seeds and documents: its variance at both levels, and what follows from it."""

    value: Floats
    documents: Floats  # V_D
    noise: Floats  # V_E, which is in both of the others
    seeds: Floats  # V_S; 0 with one seed each
    n: int  # documents
    df_seeds: Floats  # ν; NaN where seeds do not vary

    @property
    def error(self) -> Floats:
        """The standard error: √((V_D − V_E) + V_S), at least √V_D."""
        return np.sqrt(np.maximum(self.documents, self._rest + self.seeds))

    @property
    def _rest(self) -> Floats:
        return np.maximum(self.documents - self.noise, 0.0)

    def on_documents(self) -> TwoLevel:
        """The same for these very runs: as if their seeds were the only ones."""
        nothing = np.zeros(np.shape(self.value))
        return replace(self, noise=nothing, seeds=nothing, df_seeds=np.full(np.shape(self.value), np.nan))

    def deviation(self, alpha: float = 0.05) -> Floats:
        """The smallest difference that is significant at alpha, two-sided: h."""
        if not 0 < alpha < 1:
            raise InputError(f"alpha {alpha} is not between 0 and 1: write .05, say")
        return self._deviation(np.full(np.shape(self.value), alpha))

    def _deviation(self, alpha: Floats) -> Floats:
        from scipy.special import stdtrit

        if self.n < 2:
            return np.full(np.shape(alpha), np.nan)
        of_documents = stdtrit(self.n - 1.0, alpha / 2) ** 2
        of_seeds = stdtrit(np.where(np.isnan(self.df_seeds), 1.0, self.df_seeds), alpha / 2) ** 2
        both = of_documents * self._rest + of_seeds * self.seeds
        return np.asarray(np.sqrt(np.maximum(of_documents * self.documents, both)))

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """(low, high): value ± h at 1 − level; NaN where there are fewer than two documents."""
        if not 0 < level < 1:
            raise InputError(f"level {level} is not between 0 and 1: write .95 for an interval of 95 %")
        far = self.deviation(1 - level)
        return self.value - far, self.value + far

    def p(self, alternative: Alternative = "two-sided") -> Floats:
        """The p of the value's being zero; NaN where it is undefined, 1 where nothing differs or varies.

        With the alternative `greater` it is that of its being zero or less, with `less` of zero or more.
        """
        if alternative not in ALTERNATIVES:
            raise unknown("alternative", alternative, ALTERNATIVES)
        both = self._two_sided()
        if alternative == "two-sided":
            return both
        meant = self.value > 0 if alternative == "greater" else self.value < 0
        one = np.where(meant, both / 2, 1 - both / 2)
        return np.where((self.value == 0) & (self.error == 0), 1.0, one)

    def detectable(self, alpha: float = 0.05, power: float = 0.8, alternative: Alternative = "two-sided") -> Floats:
        """About the smallest difference that the test finds with this power; rough with two or three seeds.

        As h, with the t of the power added to that of alpha at each level.
        """
        of_documents, of_seeds = self._reach(alpha, power, alternative)
        both = of_documents * self._rest + of_seeds * self.seeds
        return np.asarray(np.sqrt(np.maximum(of_documents * self.documents, both)))

    def documents_needed(
        self, alpha: float = 0.05, power: float = 0.8, alternative: Alternative = "two-sided"
    ) -> Floats:
        """About how many documents it takes to find the difference with as many seeds; infinite where none would do.

        More documents make all smaller but what seeds differ by beyond noise, V_S − V_E.
        """
        of_documents, of_seeds = self._reach(alpha, power, alternative)
        left = self.value**2 - of_seeds * np.maximum(self.seeds - self.noise, 0.0)
        shrinks = of_documents * self._rest + of_seeds * np.minimum(self.seeds, self.noise)
        most = np.maximum(shrinks, of_documents * self.documents)
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = np.maximum(np.ceil(self.n * most / np.maximum(left, 0.0)), 1.0)
        return np.where(np.isnan(self.value), np.nan, np.where(left > 0, needed, np.inf))

    def _reach(self, alpha: float, power: float, alternative: Alternative) -> tuple[float, Floats]:
        """The squares of what the errors of documents and of seeds are taken times to be found with a power."""
        from scipy.special import stdtrit

        tail = alpha / 2 if alternative == "two-sided" else alpha
        df = np.where(np.isnan(self.df_seeds), 1.0, self.df_seeds)
        documents, seeds = (
            (stdtrit(each, 1 - tail) + stdtrit(each, power)) ** 2 for each in (max(self.n - 1.0, 1.0), df)
        )
        return float(documents), np.asarray(seeds)

    def _two_sided(self) -> Floats:
        """The alpha at which the value is just significant, by halving an interval of its logarithm."""
        from scipy.special import stdtr

        far = np.abs(self.value)
        if self.n < 2:
            return np.full(np.shape(far), np.nan)
        few = np.fmin(self.df_seeds, self.n - 1.0)
        many = np.fmax(self.df_seeds, self.n - 1.0)
        least = 2 * stdtr(self.n - 1.0, -self._ratio(far, np.sqrt(self.documents)))
        both = self._ratio(far, np.sqrt(self._rest + self.seeds))
        # Were both levels of the higher, or of the lower, degrees of freedom, p would be below, or above, what it is.
        ends = [np.maximum(least, 2 * stdtr(df, -both)) for df in (many, few)]
        low, high = (np.log(np.maximum(end, SMALLEST)) for end in ends)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            significant = far > self._deviation(np.exp(middle))
            low, high = np.where(significant, low, middle), np.where(significant, middle, high)
        found = np.where(ends[1] == 0, 0.0, np.exp(high))
        return np.where(np.isnan(self.value), np.nan, found)

    def _ratio(self, far: Floats, error: Floats) -> Floats:
        """How many errors a difference is long: 0 where it is none, infinitely many where it is one without error."""
        some = error > ALIKE * far
        return np.where(far == 0, 0.0, np.where(some, far / np.where(some, error, 1.0), np.inf))


def two_level(a: Seeds, b: Seeds | None = None) -> TwoLevel:
    """The value of a system over its seeds, or by how much that of a is higher than that of b on the same documents.

    The seeds of a system that has only one are not known to vary: what is said of it holds for this very run.

    >>> mean = lambda sums: sums[..., 0] / sums[..., 1]
    >>> runs = [Sample(np.array([[x, 1.0] for x in values]), mean) for values in ([0.5, 1.0, 0.0], [0.5, 0.5, 0.0])]
    >>> found = two_level(seeds_of(runs))
    >>> round(float(found.value), 4), [round(float(end), 2) for end in found.interval()]
    (0.4167, [-0.96, 1.79])
    """
    systems = [a] if b is None else [a, b]
    if len({each.pulls.shape[-1] for each in systems}) > 1:
        raise InputError("seeds of different documents cannot be compared: give the same documents in the same order")
    means = [each.values.mean(axis=-1) for each in systems]
    pulls = [each.pulls.mean(axis=-2) for each in systems]
    defined = np.logical_or.reduce([each.defined for each in systems])
    apart = (pulls[0] if b is None else pulls[0] - pulls[1])[..., defined]
    value = means[0] if b is None else means[0] - means[1]
    near = np.abs(value) <= ALIKE * np.max(np.abs(means), axis=0)
    n = int(defined.sum())
    parts = [_seed_parts(each) for each in systems if each.count > 1]
    of_seeds, noise, squares = (sum((part[i] for part in parts), np.zeros(np.shape(value))) for i in range(3))
    df = np.where(squares > 0, of_seeds**2 / np.where(squares > 0, squares, 1.0), np.nan)
    return TwoLevel(np.where(near, 0.0, value), _of_documents(apart, n), noise, of_seeds, n, df)


def _of_documents(pulls: Floats, n: int) -> Floats:
    """The variance of a sum of pulls: n / (n − 1) times that of their squares about the mean."""
    about = pulls - pulls.mean(axis=-1, keepdims=True) if n else pulls
    return (about**2).sum(axis=-1) * (n / (n - 1)) if n > 1 else np.full(pulls.shape[:-1], np.nan)


def _seed_parts(system: Seeds) -> tuple[Floats, Floats, Floats]:
    """(variance over the seeds of the mean, that part of it which is noise on documents, its square by its df)."""
    count, n = system.count, int(system.defined.sum())
    variance = system.values.var(axis=-1, ddof=1) / count
    variance = np.where(variance > (ALIKE * system.values.mean(axis=-1)) ** 2, variance, 0.0)
    about = system.pulls - system.pulls.mean(axis=-2, keepdims=True)
    noise = (about**2).sum(axis=(-2, -1)) / (count * (count - 1)) * (n / (n - 1) if n > 1 else 0.0)
    return variance, noise, variance**2 / (count - 1)
