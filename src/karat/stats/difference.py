"""The one comparison of two systems: on common documents, with an interval, a test, an adjusted p and an effect size.

`compare_pairs` computes a `Difference` for each pair of systems and statistic, `adjust_families` adjusts their
p-values. Everything in a `Difference` refers to the same units: those on which both systems are defined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import Any, Literal

import numpy as np

from karat.stats.base import ALIKE, Floats, Ints
from karat.stats.dyadic import dyadic_covariance
from karat.stats.effects import POWER, Effect, effect
from karat.stats.families import adjust, max_t, max_t_of_covariance, randomise_signs
from karat.stats.influence import Alternative, Contrast, Influences, contrast, jackknife, student
from karat.stats.resampling import RESAMPLES, Sample
from karat.stats.tests import mcnemar_by_document, randomisations, wilcoxon
from karat.tabular import FIXED2, NUMBER, P_APPROXIMATE, SIGNED, Cell, Column, Marked, with_ends

Test = Literal["randomisation", "t", "wilcoxon", "mcnemar"]
Correction = Literal["max-t", "holm", "bh", "none"]

TESTS: tuple[Test, ...] = ("randomisation", "t", "wilcoxon", "mcnemar")
FEWEST = 3  # common units, below which nothing is tested
FEW_DIFFER = 10  # units on which systems differ, below which intervals are rough
TEST_NAMES = {
    "randomisation": "paired randomisation",
    "t": "jackknife t",
    "wilcoxon": "Wilcoxon",
    "mcnemar": "McNemar by document",
    "two_level_t": "two-level t over seeds and documents",
    "dyadic_t": "t with dyadic standard errors",
}
CORRECTION_NAMES = {"max-t": "step-down max-T", "holm": "Holm", "bh": "Benjamini-Hochberg", "none": "none"}
APPROXIMATE = "≈: no resample was as extreme, so p is that of the t distribution."


@dataclass(frozen=True, slots=True)
class Inference:
    """How differences are tested."""

    test: Test = "randomisation"
    alternative: Alternative = "two-sided"
    correction: Correction = "max-t"
    alpha: float = 0.05
    level: float = 0.95
    resamples: int = RESAMPLES
    seed: int = 0
    draws: Literal["signs", "covariance"] = "signs"  # of max-T: random signs of documents, or multivariate t


@dataclass(frozen=True, slots=True)
class Contestants:
    """Two systems on one statistic: the samples of the runs of each, one or several seeds."""

    a: Sequence[Sample]
    b: Sequence[Sample]
    reach: float = 1.0  # the largest difference that one document can have; infinite if there is no bound
    hits: tuple[Sample, Sample] | None = None  # references found, [references] with their documents, for McNemar's test

    @property
    def single(self) -> bool:
        """Whether both systems have one run."""
        return len(self.a) == len(self.b) == 1


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much the statistic of system a is higher than that of b, on the units on which both are defined."""

    value_a: float
    value_b: float
    interval: tuple[float, float]
    error: float  # standard error
    n: int  # units
    p: float  # of `test`; NaN where nothing can be tested
    test: str  # a key of TEST_NAMES
    approximate: bool = False  # whether p is that of t, since no resample was as extreme
    adjusted: float = nan
    adjusted_approximate: bool = False
    adjusted_by: str = ""  # a key of CORRECTION_NAMES
    family: int = 1  # tests that p is adjusted over
    effect: Effect | None = None
    detectable: float = nan  # with a power of 80 %
    tests: Mapping[str, float] = field(default_factory=dict)  # the p-value of every test that applies
    contrast: Contrast | None = field(default=None, repr=False, compare=False)
    influence: Floats | None = field(default=None, repr=False, compare=False)  # of each unit; None with several seeds
    pairs: Ints | None = field(default=None, repr=False, compare=False)  # the two documents of each unit

    @property
    def value(self) -> float:
        """By how much a is higher."""
        difference = self.value_a - self.value_b
        near = abs(difference) <= ALIKE * max(abs(self.value_a), abs(self.value_b))
        return 0.0 if near else difference

    @property
    def equal(self) -> bool:
        """Whether both are equal on every unit, whatever the seeds."""
        error = self.error if self.contrast is None else float(np.sqrt(self.contrast.documents))
        return self.value == 0 and error == 0

    @property
    def scores(self) -> Floats | None:
        """The contribution of each unit to the difference, whose mean is the difference; None with several seeds."""
        if self.influence is None:
            return None
        defined = ~np.isnan(self.influence)
        return np.where(defined, self.value + int(defined.sum()) * np.nan_to_num(self.influence), 0.0)

    @property
    def skewness(self) -> float:
        """The skewness of the contributions of units; NaN with several seeds, 0 where nothing varies."""
        if self.influence is None:
            return nan
        influence = self.influence[~np.isnan(self.influence)]
        squares = float((influence**2).sum())
        return float(len(influence) ** 0.5 * (influence**3).sum() / squares**1.5) if squares > 0 else 0.0

    @property
    def differing(self) -> int:
        """The number of units on which the systems differ; 0 where units have no value of their own."""
        return 0 if self.effect is None else self.effect.wins + self.effect.losses

    def reversed(self) -> Difference:
        """Return the difference b − a; a one-sided test keeps its side."""
        low, high = self.interval
        flipped = None if self.effect is None else self.effect.reversed()
        influence = None if self.influence is None else -self.influence
        return replace(
            self,
            value_a=self.value_b,
            value_b=self.value_a,
            interval=(-high, -low),
            effect=flipped,
            influence=influence,
        )

    def significant(self, alpha: float = 0.05) -> bool:
        """Whether the adjusted p is at most alpha."""
        return self.adjusted <= alpha

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        return {
            "value_a": _finite(self.value_a),
            "value_b": _finite(self.value_b),
            "difference": _finite(self.value),
            "ci": [_finite(end) for end in self.interval],
            "se": _finite(self.error),
            "n": self.n,
            "p": _finite(self.p),
            "test": self.test,
            "p_approximate": self.approximate,
            "p_adjusted": _finite(self.adjusted),
            "p_adjusted_by": self.adjusted_by,
            "p_adjusted_approximate": self.adjusted_approximate,
            "family": self.family,
            "tests": {name: _finite(p) for name, p in self.tests.items()},
            "effect": {} if self.effect is None else self.effect.as_dict(),
            "detectable": _finite(self.detectable),
        }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


# ---------------------------------------------------------------------------------------------- comparing


def compare_pairs(pairs: Sequence[Contestants], how: Inference) -> list[Difference]:
    """Compare the two systems of each pair on the documents on which both are defined; p is not adjusted yet."""
    common = [_on_common(pair) for pair in pairs]
    found = []
    for pair in common:
        of_a, of_b = jackknife(*pair.a), jackknife(*pair.b)
        found.append(_difference(pair, of_a, of_b, contrast(of_a, of_b, scores=not pair.a[0].pairwise), how))
    swapped = [i for i, pair in enumerate(common) if pair.single and not pair.a[0].pairwise and found[i].n >= FEWEST]
    for i, (p, at_floor) in zip(swapped, _randomisations([(common[i], found[i]) for i in swapped], how), strict=True):
        one = found[i]
        assert one.contrast is not None
        tests = {"randomisation": p, **one.tests, **_by_document(common[i], how)}
        floored = at_floor and how.test == "randomisation"
        used = how.test if how.test in tests else "t"
        after = min(p, max(float(one.contrast.p(how.alternative)), _least_p(one, how))) if floored else tests[used]
        found[i] = replace(one, tests=tests, p=after, test=used, approximate=floored and after < p)
    return found


def _least_p(one: Difference, how: Inference) -> float:
    """Return the p of a randomisation of all signs in which no other assignment is as extreme."""
    differing = 0 if one.scores is None else int(np.count_nonzero(np.nan_to_num(one.scores)))
    return float(2.0 ** ((how.alternative == "two-sided") - differing))


def _randomisations(pairs: Sequence[tuple[Contestants, Difference]], how: Inference) -> Iterator[tuple[float, bool]]:
    """Yield (p, whether no resample was as extreme): by signs of contributions, for medians and such by swaps."""
    items = [pair.a[0].items for pair, _ in pairs]
    samples = [(pair.a[0], pair.b[0]) for (pair, _), swap in zip(pairs, items, strict=True) if swap]
    by_swaps = iter(randomisations(samples, how.resamples, how.seed, how.alternative))
    scores = [one.scores for (_, one), swap in zip(pairs, items, strict=True) if not swap]
    signs = randomise_signs(
        [np.nan_to_num(z) for z in scores if z is not None], how.resamples, how.seed, how.alternative
    )
    by_signs = iter(zip(signs.p, signs.at_floor, strict=True))
    for (_, one), swap in zip(pairs, items, strict=True):
        if swap:
            outcome = next(by_swaps)
            yield outcome.p, outcome.at_floor
        else:
            p, at_floor = next(by_signs)
            yield (nan, False) if isnan(one.value) else (p, at_floor)


def _on_common(pair: Contestants) -> Contestants:
    """Restrict both systems to the documents on which all runs of both are defined."""
    samples = (*pair.a, *pair.b)
    if pair.a[0].pairwise:
        rows = np.logical_and.reduce([(sample.values != 0).any(axis=1) for sample in samples])
        a, b = ([replace(s, values=np.where(rows[:, None], s.values, 0.0)) for s in side] for side in (pair.a, pair.b))
        return replace(pair, a=a, b=b)
    documents = np.logical_and.reduce([sample.defined() for sample in samples])
    hits = None if pair.hits is None else (pair.hits[0].on(documents), pair.hits[1].on(documents))
    return Contestants([s.on(documents) for s in pair.a], [s.on(documents) for s in pair.b], pair.reach, hits)


def _difference(pair: Contestants, of_a: Influences, of_b: Influences, apart: Contrast, how: Inference) -> Difference:
    """Return the difference with the test that is based on influences: by documents, by seeds as well, or dyadic."""
    test = "dyadic_t" if apart.dyadic is not None else "t" if pair.single else "two_level_t"
    both = np.logical_and.reduce([sample.defined() for sample in (*pair.a, *pair.b)])
    units = apart.n if pair.a[0].pairwise else int(both.sum())
    enough = units >= FEWEST
    constant = test == "t" and not apart.varies and bool(apart.value)  # documents differ alike: t is infinite
    p = float((student(apart) if test == "t" else apart).p(how.alternative)) if enough and not constant else nan
    low, high = apart.interval(how.level, pair.reach)
    influence = of_a.mean_influence - of_b.mean_influence
    influence = np.where(of_a.defined | of_b.defined, influence, np.nan)
    return Difference(
        float(of_a.value),
        float(of_b.value),
        (_clip(float(low), pair.reach), _clip(float(high), pair.reach)) if enough else (nan, nan),
        float(apart.error) if enough else nan,
        units,
        p,
        test,
        effect=_effect(pair) if enough else None,
        detectable=float(apart.detectable(how.alpha, POWER, how.alternative)) if enough else nan,
        tests={test: p} if enough else {},
        contrast=apart,
        influence=influence if pair.single else None,
        pairs=of_a.pairs,
    )


def _clip(end: float, reach: float) -> float:
    return max(min(end, reach), -reach)


def _values(samples: Sequence[Sample]) -> Floats | None:
    """Return the value of each document, the mean over the runs; None where a document has no value of its own."""
    if any(sample.by_document() is None for sample in samples):
        return None
    return np.asarray(np.mean([sample.each() for sample in samples], axis=0))


def _effect(pair: Contestants) -> Effect | None:
    x, y = _values(pair.a), _values(pair.b)
    return None if x is None or y is None else effect(x, y)


def _by_document(pair: Contestants, how: Inference) -> dict[str, float]:
    """Return the p-values of the tests of one value a document, and of the references found."""
    x, y = _values(pair.a), _values(pair.b)
    tests = {} if x is None or y is None else {"wilcoxon": wilcoxon(x, y, how.alternative).p}
    if pair.hits is not None:
        tests["mcnemar"] = mcnemar_by_document(*pair.hits, how.resamples, how.seed, how.alternative).p
    return tests


# ---------------------------------------------------------------------------------------------- families


def adjust_families(
    differences: Sequence[Difference],
    families: Sequence[Hashable],
    how: Inference,
    corpora: Sequence[Hashable] | None = None,
) -> list[Difference]:
    """Adjust the p of each difference over its family; `corpora` says which documents each difference rests on.

    max-T needs the contributions of documents and a randomisation or t test of single runs; a family with anything else
    is adjusted by Holm's method. Equal systems do not count, and tests of identical contributions count once.
    """
    found = list(differences)
    places = list(corpora) if corpora is not None else [0] * len(found)
    for key in dict.fromkeys(families):
        members = [i for i, family in enumerate(families) if family == key]
        adjusted = _adjusted([found[i] for i in members], [places[i] for i in members], how)
        for i, one in zip(members, adjusted, strict=True):
            found[i] = one
    return found


def _adjusted(own: Sequence[Difference], corpora: Sequence[Hashable], how: Inference) -> list[Difference]:
    same = [_identity(one, place, how.alternative) for one, place in zip(own, corpora, strict=True)]
    count = len({key for key in same if key is not None})
    by = how.correction
    counted = [one for one, key in zip(own, same, strict=True) if key is not None]
    if not counted:  # equal systems: there is nothing to adjust
        return [replace(one, adjusted=one.p, family=0) for one in own]
    if by == "max-t" and not all(_has_max_t(one, how) for one in counted):
        by = "holm"
    simple = adjust([one.p for one in own], "holm" if by == "max-t" else by, same)
    if by != "max-t" or count == 1:
        return [
            replace(one, adjusted=after, adjusted_by=by, family=count, adjusted_approximate=one.approximate)
            for one, after in zip(own, simple, strict=True)
        ]
    result = _max_t(own, corpora, how)
    adjusted = []
    for one, key, high, floored, low in zip(own, same, result.p, result.at_floor, simple, strict=True):
        after = one.p if key is None else max(high, one.p)
        close = floored and key is not None and low < after
        after = min(after, max(low, one.p)) if close else after
        adjusted.append(replace(one, adjusted=after, adjusted_by=by, family=count, adjusted_approximate=close))
    return adjusted


def _identity(one: Difference, corpus: Hashable, alternative: Alternative) -> Hashable | None:
    """Return what makes a test another one than its neighbours; None where it is no test.

    Two-sided tests of a − b and of b − a are the same.
    """
    if one.equal or isnan(one.p):
        return None
    if one.influence is None:
        return id(one)
    influence = np.round(np.nan_to_num(one.influence), 12)
    turned = alternative == "two-sided" and influence[np.flatnonzero(influence)[:1]].sum() < 0
    return corpus, ((-influence if turned else influence) + 0.0).tobytes()  # + 0.0: no negative zeros


def _has_max_t(one: Difference, how: Inference) -> bool:
    return one.influence is not None and one.test in ("randomisation", "t", "dyadic_t") and not isnan(one.p)


def _max_t(own: Sequence[Difference], corpora: Sequence[Hashable], how: Inference) -> Any:
    counted = [i for i, one in enumerate(own) if one.influence is not None and not isnan(one.p)]
    if any(own[i].pairs is not None for i in counted):
        result = _dyadic_max_t([own[i] for i in counted], how)
    elif how.draws == "covariance":
        result = _covariance_max_t([own[i] for i in counted], how)
    else:
        scores = [own[i].scores for i in counted]
        side = how.alternative
        result = max_t(scores, [corpora[i] for i in counted], how.resamples, how.seed, side)  # type: ignore[arg-type]
    p, floors = [nan] * len(own), [False] * len(own)
    for j, i in enumerate(counted):
        p[i], floors[i] = result.p[j], result.at_floor[j]
    return replace(result, p=p, at_floor=floors)


def _covariance_max_t(own: Sequence[Difference], how: Inference) -> Any:
    """Adjust by draws from the multivariate t distribution of the differences, for influences with heavy tails.

    Degrees of freedom differ between tests, so each statistic is the quantile of its p at those of the draws.
    """
    from scipy.special import stdtrit

    influence = np.stack([np.nan_to_num(one.influence) for one in own if one.influence is not None])
    df = float(np.median([one.contrast.df_documents for one in own if one.contrast is not None and not one.equal]))
    tails = np.array([one.p for one in own]) / (2 if how.alternative == "two-sided" else 1)
    t = stdtrit(df, tails) * (1 if how.alternative == "less" else -1)
    return max_t_of_covariance(t, influence @ influence.T, df, how.resamples, how.seed, how.alternative)


def _dyadic_max_t(own: Sequence[Difference], how: Inference) -> Any:
    influence = np.stack([np.nan_to_num(one.influence) for one in own if one.influence is not None])
    assert own[0].pairs is not None
    covariance = dyadic_covariance(influence, own[0].pairs)
    errors = np.array([one.error for one in own])
    t = np.array([one.value for one in own]) / np.where(errors > 0, errors, np.inf)
    df = min(float(one.contrast.df_documents) for one in own if one.contrast is not None)
    return max_t_of_covariance(t, covariance, df, how.resamples, how.seed, how.alternative)


# ---------------------------------------------------------------------------------------------- notes and tables


def notes_of_differences(differences: Sequence[tuple[str, Difference]], units: str = "documents") -> Iterator[str]:
    """Yield notes on differences, each with the name of its metric: where few units differ, and on Wilcoxon's test."""
    few = Counter(name for name, one in differences if 0 < one.differing < FEW_DIFFER <= one.n)
    if few:
        total = Counter(name for name, _ in differences)
        listed = ", ".join(f"{name} ({count} of {total[name]})" for name, count in few.items())
        yield f"differences that rest on fewer than {FEW_DIFFER} {units} have rough intervals: {listed}"
    if any(one.test == "wilcoxon" for _, one in differences):
        yield "Wilcoxon's test also rejects systems of equal means where differences are skewed"


def columns(power: str = "80 % power") -> list[Column]:
    """Return the columns of a table of differences."""
    return [
        Column("difference", SIGNED),
        Column("p", P_APPROXIMATE),
        Column("adjusted", P_APPROXIMATE),
        Column("d_z", FIXED2),
        Column("detectable", NUMBER, above=power),
    ]


def cells(one: Difference, marks: str = "") -> list[Any]:
    """Return the cells of `columns` for a difference; `marks` are stars."""
    d_z = nan if one.effect is None else one.effect.d_z
    return [
        difference_cell(one, marks),
        (one.p, one.approximate),
        (one.adjusted, one.adjusted_approximate),
        Cell(None if isnan(d_z) else d_z),
        Cell(None if isnan(one.detectable) else one.detectable),
    ]


def difference_cell(one: Difference, marks: str = "") -> Cell:
    """Return a difference with its stars and its interval."""
    return Cell(one.value, (*((Marked(marks, "raised"),) if marks else ()), with_ends(one.interval)))


def test_names(requested: str, used: Iterable[str]) -> str:
    """Name the tests that were used, each but the requested one with the case in which it stands in.

    >>> test_names("randomisation", ["two_level_t", "randomisation"])
    'paired randomisation; where a system has several seeds, two-level t over seeds and documents'
    """
    there = dict.fromkeys(used)
    names = [name for name in dict.fromkeys((requested, *TEST_NAMES)) if name in there]
    first, *others = names or [requested]
    return TEST_NAMES[first] + "".join(f"; {WHERE.get(name, 'elsewhere')}, {TEST_NAMES[name]}" for name in others)


WHERE = {
    "t": "where that does not apply",
    "two_level_t": "where a system has several seeds",
    "dyadic_t": "for pairs of documents",
}


def family_caption(differences: Sequence[Difference], over: str) -> str:
    """State how p is adjusted and over which family.

    >>> family_caption([], "all pairs of systems on one metric and corpus")
    'not adjusted'
    """
    sizes = [one.family for one in differences if one.adjusted_by]
    by = dict.fromkeys(one.adjusted_by for one in differences if one.adjusted_by)
    if not sizes or "none" in by:
        return "not adjusted"
    count = f"{min(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"
    tests = "test" if max(sizes) == 1 else "tests"
    return f"adjusted by {' and '.join(CORRECTION_NAMES[each] for each in by)} over {over} ({count} {tests} each)"
