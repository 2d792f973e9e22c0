"""Systems measured: an interval for each, tests and effects for each pair, p-values adjusted over all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, isfinite

import numpy as np

from karat.analyses.compare.families import Family, sample_of
from karat.analyses.compare.notes import notes_of_seeds, notes_of_tests
from karat.analyses.compare.options import OVER_SEEDS, TESTS, CompareOptions
from karat.analyses.compare.result import Pair, Standing
from karat.stats.base import Floats
from karat.stats.corrections import adjusted, bounded
from karat.stats.effects import detectable, documents_needed, effect, spread
from karat.stats.resampling import Estimate, Sample, difference, estimate, interval_of
from karat.stats.seeds import Seeds, TwoLevel, seeds_of, two_level
from karat.stats.tests import (
    Alternative,
    Tested,
    enough_resamples,
    mcnemar,
    normality,
    paired_t,
    randomisations,
    shift,
    wilcoxon,
)

BY_DOCUMENT = {"t": paired_t, "wilcoxon": wilcoxon}  # tests of one value a document


@dataclass(frozen=True, slots=True)
class Measured:
    """Each system by itself and the pairs that are compared, with the options that they were measured by."""

    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    options: CompareOptions  # with the number of resamples that were drawn

    def notes(self) -> Iterator[str]:
        """What a reader of intervals and p-values should know."""
        yield from notes_of_seeds(self.pairs, self.standings, self.options)
        yield from notes_of_tests(self.pairs, self.options)


def measure(families: Sequence[Family], options: CompareOptions, *, tested: bool = True) -> Measured:
    """The systems of families with intervals and, if `tested`, compared: all of a family, or each with the baseline.

    In a family that lacks the baseline none is compared. P-values are adjusted over all comparisons.
    """
    if options.resamples is None:
        comparisons = sum(len(list(_compared(family.systems, options.baseline))) for family in families)
        options = replace(options, resamples=enough_resamples(comparisons if tested else 1, options.alpha))
    measured = [_measured(family, options, tested) for family in families]
    pairs = _adjusted([pair for _, own in measured for pair in own], options)
    return Measured(tuple(each for own, _ in measured for each in own), tuple(pairs), options)


@dataclass(frozen=True, slots=True)
class _System:
    """One system of a family: the samples of its seeds, and how sure their values are."""

    name: str
    samples: list[Sample]
    values: list[float]
    estimate: Estimate | None  # where there is but one seed
    seeds: Seeds | None  # where any system of the family has several

    @property
    def value(self) -> float:
        return float(np.mean(self.values))


def _measured(family: Family, options: CompareOptions, tested: bool) -> tuple[list[Standing], list[Pair]]:
    """What is found on one metric: each system by itself, and the pairs that are compared, if any are."""
    names = list(family.systems)
    samples = [[sample_of(score, family.documents) for score in family.systems[name]] for name in names]
    single = [own[0] for own in samples if len(own) == 1]
    drawn = iter(estimate(single, options.drawn, options.seed) if single else ())
    several = len(single) < len(samples)
    systems = [
        _System(
            name,
            own,
            [sample.value() for sample in own],
            next(drawn) if len(own) == 1 else None,
            seeds_of(own) if several else None,
        )
        for name, own in zip(names, samples, strict=True)
    ]
    by_name = {system.name: system for system in systems}
    ordered = [(by_name[a], by_name[b]) for a, b in _compared(names, options.baseline)] if tested else []
    swapped = _randomised(ordered, options)
    pairs = [
        _pair_over_seeds(family, a, b, options) if swap is None else _pair(family, a, b, swap, options)
        for (a, b), swap in zip(ordered, swapped, strict=True)
    ]
    return [_standing(family, system, systems, options) for system in systems], pairs


def _compared(systems: Iterable[str], baseline: str | None) -> Iterator[tuple[str, str]]:
    """The pairs that are compared: each two systems, or each other one with the baseline, which comes second."""
    for a, b in combinations(systems, 2):
        if baseline in (None, a, b):
            yield (b, a) if baseline == a else (a, b)


def _randomised(pairs: Sequence[tuple[_System, _System]], options: CompareOptions) -> list[Tested | None]:
    """The test by randomisation of each pair that has one seed each."""
    single = [len(a.samples) == len(b.samples) == 1 for a, b in pairs]
    samples = [(a.samples[0], b.samples[0]) for (a, b), one in zip(pairs, single, strict=True) if one]
    found = iter(randomisations(samples, options.drawn, options.seed, options.alternative) if samples else ())
    return [next(found) if one else None for one in single]


def _standing(family: Family, system: _System, systems: Sequence[_System], options: CompareOptions) -> Standing:
    values = [one.value for one in systems if one.value == one.value]
    top = (max if family.better == "higher" else min)(values, default=np.nan)
    several = system.estimate is None
    if system.estimate is not None:
        ends = interval_of(system.estimate, options.level, options.interval)
    else:
        assert system.seeds is not None
        ends = _clipped(two_level(system.seeds), options.level, *family.request.spec.bounds)
    return Standing(
        family.corpus,
        family.protocol,
        family.request,
        system.name,
        system.value,
        ends,
        len(system.values),
        float(np.std(system.values, ddof=1)) if several else np.nan,
        bool(abs(system.value - top) < 1e-12),
        interval_by=OVER_SEEDS if several else options.interval,
    )


def _clipped(found: TwoLevel, level: float, lowest: float, highest: float) -> tuple[float, float]:
    """The interval over seeds, as far as values can lie in it: few seeds may make it wider than that."""
    low, high = found.interval(level)
    return float(np.maximum(low, lowest)), float(np.minimum(high, highest))


def _pair(family: Family, a: _System, b: _System, swapped: Tested, options: CompareOptions) -> Pair:
    """Two systems with one run each compared."""
    assert a.estimate is not None
    assert b.estimate is not None
    apart = difference(a.estimate, b.estimate)
    drawn = {"randomisation": swapped, "bootstrap": shift(apart, options.alternative)}
    effects: dict[str, float | int | bool | None] = {}
    n = family.documents
    tests: dict[str, float] = {}
    by_document = _by_document(a.samples, b.samples)
    if by_document is not None:
        x, y = by_document
        verdict = normality(x, y)
        tests = {name: test(x, y, options.alternative).p for name, test in BY_DOCUMENT.items()}
        effects, n = _effects(x, y)
        effects |= {"normal": verdict.normal, "shapiro": verdict.p}
    tests |= _mcnemar(family, a.name, b.name, options.alternative)
    return Pair(
        family.corpus,
        family.protocol,
        family.request,
        a.name,
        b.name,
        a.value,
        b.value,
        interval_of(apart, options.level, options.interval),
        {name: each.p for name, each in drawn.items()} | tests,
        effects | _reach(apart, [*a.samples, *b.samples], options),
        n,
        at_floor=frozenset(name for name, each in drawn.items() if each.at_floor),
        interval_by=options.interval,
    )


def _reach(apart: Estimate, samples: Sequence[Sample], options: CompareOptions) -> dict[str, float | int | bool | None]:
    """What difference could have been found, and how many documents it takes to find the one that was.

    Both count documents that bring anything to the metric. As many of a corpus like this one take some more, those on
    which it is undefined among them.
    """
    defined = np.any([sample.defined() for sample in samples], axis=0)
    count = int(defined.sum())
    # Items are left out by groups of documents, all of which are taken to bring something.
    sd = spread(apart, defined if len(apart.left_out) == len(defined) else None)
    needed = documents_needed(sd, apart.value, options.alpha, alternative=options.alternative)
    return {
        "detectable": detectable(sd, count, options.alpha, alternative=options.alternative) if count else np.nan,
        "documents_needed": needed,
        "documents_needed_of_corpus": _whole(needed * len(defined) / count) if count else needed,
        "documents_defined": count,
    }


def _whole(number: float | Floats) -> float:
    """A number of documents: the next whole one, where it is finite."""
    return ceil(number) if isfinite(number) else float(number)


def _pair_over_seeds(family: Family, a: _System, b: _System, options: CompareOptions) -> Pair:
    """Two systems compared of which one or both have several seeds: by documents and seeds together."""
    assert a.seeds is not None
    assert b.seeds is not None
    apart = two_level(a.seeds, b.seeds)
    effects: dict[str, float | int | bool | None] = {}
    defined = np.array([sample.defined() for sample in (*a.samples, *b.samples)])
    n = int(defined.all(axis=0).sum())
    by_document = _by_document(a.samples, b.samples)
    if by_document is not None:
        effects, n = _effects(*by_document)
    count = int(defined.any(axis=0).sum())
    each = count / max(apart.n, 1)  # of items whole groups of documents are left out
    needed = _whole(apart.documents_needed(options.alpha, alternative=options.alternative) * each)
    effects |= {
        "detectable": float(apart.detectable(options.alpha, alternative=options.alternative)),
        "documents_needed": needed,
        "documents_needed_of_corpus": _whole(needed * family.documents / count) if count else needed,
        "documents_defined": count,
        "critical_difference": float(apart.deviation(options.alpha)),
        "critical_difference_on_documents": float(apart.on_documents().deviation(options.alpha)),
        "se": float(apart.error),
        "se_documents": float(np.sqrt(apart.documents)),
        "se_seeds": float(np.sqrt(apart.seeds)),
        "df_documents": apart.n - 1,
        "df_seeds": float(apart.df_seeds),
    }
    lowest, highest = family.request.spec.bounds
    ends = _clipped(apart, options.level, lowest - highest, highest - lowest)
    tests = {OVER_SEEDS: float(apart.p(options.alternative))}
    found = Pair(
        family.corpus, family.protocol, family.request, a.name, b.name, a.value, b.value, ends, tests, effects, n
    )
    return replace(found, interval_by=OVER_SEEDS)


def _effects(x: Floats, y: Floats) -> tuple[dict[str, float | int | bool | None], int]:
    """(how large the difference of documents' values is, on how many documents both have one)."""
    found = effect(x, y)
    sizes = {name: getattr(found, name) for name in ("d_z", "superiority", "wins", "ties", "losses")}
    return sizes, found.documents


def _by_document(a: Sequence[Sample], b: Sequence[Sample]) -> tuple[Floats, Floats] | None:
    """The values of each document, over all seeds of a system, where the statistic has such."""
    if any(sample.by_document() is None for sample in (*a, *b)):
        return None
    x, y = (np.mean([sample.each() for sample in samples], axis=0) for samples in (a, b))
    return x, y


def _mcnemar(family: Family, a: str, b: str, alternative: Alternative) -> dict[str, float]:
    """McNemar's test of the references found, where both systems have them."""
    if a not in family.found or b not in family.found:
        return {}
    x, y = (family.found[name][0].rows.values for name in (a, b))
    if len(x) != len(y):
        return {}
    found = mcnemar(x[:, 0], y[:, 0], alternative)
    return {"mcnemar": found.mid_p, "mcnemar_exact": found.exact}


def _adjusted(pairs: Sequence[Pair], options: CompareOptions) -> list[Pair]:
    """The pairs with the p of each test adjusted over all comparisons that were made by it.

    Systems with several seeds have one test alone: its p counts among those of every other test.
    """
    corrected: list[dict[str, float]] = [{} for _ in pairs]
    floored: list[set[str]] = [set() for _ in pairs]
    for test in TESTS:
        own = [i for i, pair in enumerate(pairs) if test in pair.tests or OVER_SEEDS in pair.tests]
        names = [pairs[i].used(test) for i in own]
        p = [pairs[i].tests[name] for i, name in zip(own, names, strict=True)]
        at_floor = [name in pairs[i].at_floor for i, name in zip(own, names, strict=True)]
        after, bounds = adjusted(p, options.correction), bounded(p, at_floor, options.correction)
        for i, name, each, bound in zip(own, names, after, bounds, strict=True):
            if test in (name, options.test):
                corrected[i][name] = each
                floored[i] |= {name} if bound else set()
    return [
        replace(pair, adjusted=found, adjusted_at_floor=frozenset(at_floor))
        for pair, found, at_floor in zip(pairs, corrected, floored, strict=True)
    ]
