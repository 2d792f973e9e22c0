"""The measures of metrics against people: correlations with their intervals, the ceiling, agreement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from karat.analyses.human.compare import best_of, compare, opponent
from karat.analyses.human.items import ENOUGH_DOCUMENTS, Column, Given, HumanOptions
from karat.analyses.human.notes import notes_of
from karat.analyses.human.result import Agreement, Ceiling, Correlation, Human, Mean, RelationAgreement, Share
from karat.formats.human import Judged
from karat.similarity.classes import CLASSES, Classes
from karat.stats.base import Floats, Ints, interval
from karat.stats.correlation import (
    Combination,
    Resampled,
    combined,
    equal_pairs,
    equal_shares,
    krippendorff,
    mean_of_defined,
    resample,
)
from karat.stats.resampling import bootstrap_of

Pair = tuple[Floats, Floats]  # two columns over the same items


@dataclass(frozen=True, slots=True)
class Task:
    """What is measured: metrics, people and each annotator beside the others, all over the same items."""

    judged: Judged
    given: Given
    options: HumanOptions
    people: Floats
    others: list[Pair]  # by annotator; none where there is but one

    @classmethod
    def of(cls, judged: Judged, given: Given, options: HumanOptions) -> Task:
        """The scores combined, and all columns freed of what only rounding tells apart."""
        assert options.combine in ("mean", "majority")
        how: Combination = "majority" if options.combine == "majority" else "mean"
        columns = [replace(column, values=_to_twelve_digits(column.values)) for column in given.columns]
        several = len(judged.annotators) > 1
        others = [np.delete(judged.values, a, axis=1) for a in range(len(judged.annotators)) if several]
        combinations = [_to_twelve_digits(combined(values, how)) for values in others]
        return cls(
            judged,
            replace(given, columns=columns),
            options,
            _to_twelve_digits(combined(judged.values, how)),
            list(zip(judged.values.T, combinations, strict=several)),
        )

    def combined(self) -> Floats:
        """The scores combined, to their last digit."""
        return combined(self.judged.values, "majority" if self.options.combine == "majority" else "mean")

    def resampled(self, subset: str) -> Resampled:
        """The coefficients on a subset: first those of the metrics, then those of the annotators."""
        pairs = [*((column.values, self.people) for column in self.given.columns), *self.others]
        some = self.given.subsets[subset]
        return self.resample([(x[some], y[some]) for x, y in pairs], self.units(some))

    def units(self, some: NDArray[np.bool_]) -> Ints:
        """What is drawn with each of some items; of pairs in few documents the pair alone."""
        units = self.given.units[some]
        few = self.judged.kind == "pairs" and len(np.unique(units)) < ENOUGH_DOCUMENTS
        return np.arange(len(units)) if few else units

    def resample(self, pairs: list[Pair], units: Ints) -> Resampled:
        """The coefficients of pairs of columns, on as many resamples as the options say."""
        return resample(pairs, units, self.options.resamples, self.options.seed)


def _to_twelve_digits(values: Floats) -> Floats:
    return np.array([float(f"{value:.12g}") for value in values.tolist()], dtype=np.float64)


def measure(work: Task, by_relation: bool = True) -> Human:
    """The whole result on the items, subset by subset; agreement by relation, which no combination changes, or not."""
    judged, given, options = work.judged, work.given, work.options
    coefficient = options.coefficient or ("spearman" if judged.kind == "pairs" else "pearson")
    whole = work.resampled("all")
    by_subset = [_on_subset(work, whole if s == "all" else work.resampled(s), s) for s in given.subsets]
    rows = [row for own, _ in by_subset for row in own]
    best = best_of(given.columns, rows[: len(given.columns)], coefficient)
    people = _people(work, whole)
    return Human(
        kind=judged.kind,
        origin=judged.origin,
        items=len(judged.items),
        names=judged.annotators,
        options=options,
        coefficient=coefficient,
        best=tuple(column.name for column in best),
        correlations=tuple(rows),
        people=tuple(people),
        agreement=_agreement(work, [each for _, ceilings in by_subset for each in ceilings], by_relation),
        means=tuple(_means(given.classes, work.combined())),
        compared=tuple(compare(work, whole, opponent(given.columns, best, options.against))),
        signatures={**given.signatures, "human": options.signature()},
        notes=tuple(notes_of(work, people, rows)),
        by_document=len(np.unique(given.units)) < len(judged.items),
    )


def _on_subset(work: Task, found: Resampled, subset: str) -> tuple[list[Correlation], list[Ceiling]]:
    """The correlations of the metrics on a subset, and the ceiling if there is one."""
    columns = enumerate(work.given.columns)
    rows = [_correlation(found, i, column, subset, work.options.level) for i, column in columns]
    return rows, [_ceiling(work, found, subset)] if work.others else []


def _correlation(found: Resampled, pair: int, column: Column, subset: str, level: float) -> Correlation:
    """The correlations of a metric."""
    n = int(found.counts[pair])
    own = Correlation(column.name, column.metric, column.options, column.subset or subset, n)
    return _with_figures(own, found.values[pair], found.resampled[pair], level)


def _with_figures(own: Correlation, values: Floats, resampled: Floats, level: float) -> Correlation:
    defined = not np.isnan(values).all()
    return replace(
        own,
        values=tuple(values.tolist()),
        intervals=tuple(interval(each if defined else each[:0], level) for each in resampled),
        undefined=int(np.isnan(resampled).any(axis=0).sum()) if defined else 0,
    )


# ---------------------------------------------------------------------------------------------- people


def _people(work: Task, found: Resampled) -> list[Correlation]:
    """The correlations of each annotator with the others."""
    first, level = len(work.given.columns), work.options.level
    return [
        _with_figures(
            Correlation(work.judged.annotators[a], "", {}, "all", int(found.counts[first + a])),
            found.values[first + a],
            found.resampled[first + a],
            level,
        )
        for a in range(len(work.others))
    ]


def _agreement(work: Task, ceilings: Sequence[Ceiling], by_relation: bool) -> Agreement:
    values, scale = work.judged.values, work.options.level_of_scale
    return Agreement(
        krippendorff(values, scale),
        scale,
        tuple(Share(*share) for share in equal_shares(values)),
        tuple(ceilings),
        tuple(_by_relation(work)) if work.others and by_relation else (),
    )


def _by_relation(work: Task) -> Iterator[RelationAgreement]:
    """How far annotators agree on the pairs of each relation, and on all."""
    relations = np.array([each.relation for each in work.given.classes])
    names = ["all", *(name for name in CLASSES["relation"] if (relations == name).any())]
    for name in names if len(relations) else ():
        some = np.ones(len(relations), dtype=bool) if name == "all" else relations == name
        some &= (~np.isnan(work.judged.values)).sum(axis=1) > 1
        values, units = work.judged.values[some], work.units(some)
        if len(values):
            alpha, shares = _alpha(values, units, work.options), (Share(*share) for share in equal_shares(values))
            yield RelationAgreement(name, len(values), *alpha, equal_pairs(values), tuple(shares))


def _alpha(values: Floats, units: Ints, options: HumanOptions) -> tuple[float, tuple[float, float]]:
    """Krippendorff's alpha with its interval, from resamples of the units that the items are of."""
    scale = options.level_of_scale
    distinct, unit = np.unique(units, return_inverse=True)

    def statistic(weights: Floats) -> Floats:
        counts = weights.astype(np.int64)[:, unit]
        return np.array([krippendorff(np.repeat(values, own, axis=0), scale) for own in counts])

    alpha = krippendorff(values, scale)
    if alpha != alpha:
        return alpha, (np.nan, np.nan)
    return alpha, interval(bootstrap_of(statistic, len(distinct), options.resamples, options.seed), options.level)


def _ceiling(work: Task, found: Resampled, subset: str) -> Ceiling:
    """The mean over annotators of the correlation of one with the others, on the sample and on every resample."""
    first = len(work.given.columns)
    values = work.judged.values[work.given.subsets[subset]]
    shared = int(((~np.isnan(values)).sum(axis=1) > 1).sum())
    left_out = int(np.isnan(found.values[first:]).all(axis=1).sum())
    mean = _with_figures(
        Correlation("", "", {}, subset, shared),
        mean_of_defined(found.values[first:]),
        mean_of_defined(found.resampled[first:]),
        work.options.level,
    )
    return Ceiling(mean, len(work.others) - left_out, left_out)


def _means(classes: Sequence[Classes], people: Floats) -> list[Mean]:
    """The mean of people's scores by direction and location, in the order of CLASSES."""
    found = []
    for direction in CLASSES["direction"]:
        for location in CLASSES["location"]:
            own = np.array([(c.location, c.direction) == (location, direction) for c in classes], dtype=bool)
            if own.any():
                found.append(Mean(location, direction, int(own.sum()), float(people[own].mean())))
    return found
