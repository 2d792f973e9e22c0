"""Correlations of metrics with people, with confidence intervals; the ceiling, and the agreement of annotators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from karat.analyses.human.compare import best_of, compare
from karat.analyses.human.items import ENOUGH_DOCUMENTS, Column, Given, HumanOptions
from karat.analyses.human.notes import notes_of
from karat.analyses.human.result import Agreement, Ceiling, Correlation, Human, Mean, RelationAgreement, Share
from karat.formats.human import Judged
from karat.similarity.classes import CLASSES, Classes
from karat.stats.agreement import Combination, alpha_with_interval, combined, equal_pairs, equal_shares
from karat.stats.base import Floats, Ints
from karat.stats.correlation import correlation_intervals, correlations, mean_correlations
from karat.stats.influence import Influences

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

    def correlations(self, subset: str) -> tuple[list[Influences], list[Influences]]:
        """Return the correlations on a subset: those of the metrics with people, of each annotator with the others."""
        some = self.given.subsets[subset]
        units = self.units(some)
        metrics = [correlations(column.values[some], self.people[some], units) for column in self.given.columns]
        return metrics, [correlations(x[some], y[some], units) for x, y in self.others]

    def units(self, some: NDArray[np.bool_]) -> Ints:
        """Return the unit of each of some items: its document, or the item itself for pairs in few documents."""
        units = self.given.units[some]
        few = self.judged.kind == "pairs" and len(np.unique(units)) < ENOUGH_DOCUMENTS
        return np.arange(len(units)) if few else units


def _to_twelve_digits(values: Floats) -> Floats:
    return np.array([float(f"{value:.12g}") for value in values.tolist()], dtype=np.float64)


def measure(work: Task, by_relation: bool = True) -> Human:
    """Measure metrics on the items, subset by subset; `by_relation` also measures agreement for each relation."""
    judged, given, options = work.judged, work.given, work.options
    coefficient = options.coefficient or ("spearman" if judged.kind == "pairs" else "pearson")
    rows: list[Correlation] = []
    ceilings: list[Ceiling] = []
    people: list[Correlation] = []
    for subset in given.subsets:
        metrics, others = work.correlations(subset)
        rows += [_metric(work, column, found, subset) for column, found in zip(given.columns, metrics, strict=True)]
        ceilings += [_ceiling(work, others, subset)] if others else []
        if subset == "all":
            people = [_annotator(work, a, found) for a, found in enumerate(others)]
    best = best_of(given.columns, rows[: len(given.columns)], coefficient)
    agreement, compared = _agreement(work, ceilings, by_relation), compare(work, best, coefficient)
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
        agreement=agreement,
        means=tuple(_means(given.classes, work.combined())),
        compared=tuple(compared),
        signatures={**given.signatures, "human": options.signature()},
        notes=tuple(notes_of(work, people, rows, agreement, compared)),
        by_document=len(np.unique(given.units)) < len(judged.items),
    )


def _metric(work: Task, column: Column, found: Influences, subset: str) -> Correlation:
    """Return the correlations of a metric with people."""
    n = int((work.given.subsets[subset] & ~np.isnan(column.values) & ~np.isnan(work.people)).sum())
    row = Correlation(column.name, column.metric, column.options, column.subset or subset, n)
    return _with_figures(row, found, work.options.level)


def _with_figures(row: Correlation, found: Influences, level: float) -> Correlation:
    intervals = tuple(correlation_intervals(found, level))
    return replace(row, values=tuple(found.value.tolist()), intervals=intervals)


# ---------------------------------------------------------------------------------------------- people


def _annotator(work: Task, a: int, found: Influences) -> Correlation:
    """Return the correlations of an annotator with the others."""
    x, y = work.others[a]
    n = int((~np.isnan(x) & ~np.isnan(y)).sum())
    return _with_figures(Correlation(work.judged.annotators[a], "", {}, "all", n), found, work.options.level)


def _ceiling(work: Task, others: Sequence[Influences], subset: str) -> Ceiling:
    """Return the mean over annotators of the correlation of one with the others."""
    values = work.judged.values[work.given.subsets[subset]]
    shared = int(((~np.isnan(values)).sum(axis=1) > 1).sum())
    left_out = sum(bool(np.isnan(each.value).all()) for each in others)
    row = Correlation("", "", {}, subset, shared)
    mean = _with_figures(row, mean_correlations(others), work.options.level)
    return Ceiling(mean, len(others) - left_out, left_out)


def _agreement(work: Task, ceilings: Sequence[Ceiling], by_relation: bool) -> Agreement:
    values, options = work.judged.values, work.options
    units = work.units(np.ones(len(values), dtype=bool))
    alpha = alpha_with_interval(values, options.level_of_scale, units, options.level)
    return Agreement(
        alpha.value,
        alpha.interval,
        options.level_of_scale,
        tuple(_shares(values, units, options.level)),
        tuple(ceilings),
        tuple(_by_relation(work)) if work.others and by_relation else (),
    )


def _shares(values: Floats, units: Ints, level: float) -> Iterator[Share]:
    for annotators, share in equal_shares(values, units, level):
        yield Share(annotators, share.n, share.value, share.interval)


def _by_relation(work: Task) -> Iterator[RelationAgreement]:
    """Yield the agreement of annotators on the pairs of each relation, and on all."""
    relations = np.array([each.relation for each in work.given.classes])
    names = ["all", *(name for name in CLASSES["relation"] if (relations == name).any())]
    level = work.options.level
    for name in names if len(relations) else ():
        some = np.ones(len(relations), dtype=bool) if name == "all" else relations == name
        some &= (~np.isnan(work.judged.values)).sum(axis=1) > 1
        values, units = work.judged.values[some], work.units(some)
        if len(values):
            alpha = alpha_with_interval(values, work.options.level_of_scale, units, level)
            pairs, shares = equal_pairs(values, units, level), tuple(_shares(values, units, level))
            yield RelationAgreement(name, len(values), alpha.value, alpha.interval, pairs.value, pairs.interval, shares)


def _means(classes: Sequence[Classes], people: Floats) -> list[Mean]:
    """The mean of people's scores by direction and location, in the order of CLASSES."""
    found = []
    for direction in CLASSES["direction"]:
        for location in CLASSES["location"]:
            own = np.array([(c.location, c.direction) == (location, direction) for c in classes], dtype=bool)
            if own.any():
                found.append(Mean(location, direction, int(own.sum()), float(people[own].mean())))
    return found
