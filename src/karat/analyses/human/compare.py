"""Comparisons: which metric goes best with people, and whether others go less well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from karat.analyses.human.items import Column
from karat.analyses.human.result import TESTS, Comparison, Correlation
from karat.stats.base import ALIKE, interval
from karat.stats.corrections import bounded
from karat.stats.correlation import COEFFICIENTS, Resampled, bootstrap_p, correlate, holm, on_floor, williams

if TYPE_CHECKING:
    from karat.analyses.human.measure import Task


def best_of(columns: Sequence[Column], rows: Sequence[Correlation], coefficient: str) -> list[Column]:
    """The metrics that go best with people, by one coefficient; several where they are equal."""
    values = [c.sign * row.values[COEFFICIENTS.index(coefficient)] for c, row in zip(columns, rows, strict=True)]
    highest = max((value for value in values if value == value), default=np.nan)
    return [column for column, value in zip(columns, values, strict=True) if abs(value - highest) < ALIKE]


def opponent(columns: Sequence[Column], best: Sequence[Column], against: str | None) -> int | None:
    """Which metric the others are compared with: the one that was chosen, or the best."""
    names = [column.name for column in columns]
    if against is not None:
        return names.index(against)
    return names.index(best[0].name) if best else None


def compare(work: Task, found: Resampled, other: int | None) -> list[Comparison]:
    """Every other metric against one; the p of each test are adjusted over all comparisons."""
    if other is None:
        return []
    made = [_comparison(work, found, i, other) for i in range(len(work.given.columns)) if i != other]
    p = [[each.p[test] for each in made] for test in range(len(TESTS))]
    at_floor = [[each.at_floor[test] for each in made] for test in range(len(TESTS))]
    after = [holm(own) for own in p]
    bounds = [bounded(own, floored) for own, floored in zip(p, at_floor, strict=True)]
    return [
        replace(each, adjusted=tuple(own[n] for own in after), adjusted_at_floor=tuple(own[n] for own in bounds))
        for n, each in enumerate(made)
    ]


def _comparison(work: Task, found: Resampled, i: int, j: int) -> Comparison:
    """One metric against another, on the items that both are defined on."""
    a, b = work.given.columns[i], work.given.columns[j]
    both = ~np.isnan(a.values) & ~np.isnan(b.values)
    if not found.counts[i] == found.counts[j] == both.sum():
        pairs = [(np.where(both, column.values, np.nan), work.people) for column in (a, b)]
        found, i, j = work.resample(pairs, work.given.units), 0, 1
    # Where lower is better, a metric goes well with people when it goes against them.
    of_a, of_b = a.sign * found.values[i], b.sign * found.values[j]
    resampled = a.sign * found.resampled[i] - b.sign * found.resampled[j]  # [3, resamples]
    resampled = resampled if not np.isnan(of_a - of_b).all() else resampled[:, :0]
    between = a.sign * b.sign * float(correlate(a.values[both], b.values[both])[0, 0])
    _, p = williams(float(of_a[0]), float(of_b[0]), between, int(both.sum()))
    return Comparison(
        name=a.name,
        metric=a.metric,
        options=a.options,
        subset=a.subset or "all",
        against=b.name,
        n=int(both.sum()),
        differences=tuple((of_a - of_b).tolist()),
        intervals=tuple(interval(each, work.options.level) for each in resampled),
        p=(*map(bootstrap_p, resampled), p),
        at_floor=(*map(on_floor, resampled), False),
    )
