"""Comparisons of metrics: which one correlates best with people, and whether others correlate less."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from karat.analyses.human.items import Column
from karat.analyses.human.result import Comparison, Correlation
from karat.stats.base import ALIKE
from karat.stats.correlation import COEFFICIENTS, compare_correlations, paired_correlations
from karat.stats.difference import Inference

if TYPE_CHECKING:
    from karat.analyses.human.measure import Task


def best_of(columns: Sequence[Column], rows: Sequence[Correlation], coefficient: str) -> list[Column]:
    """Return the metrics with the highest correlation, by one coefficient; several where they are equal."""
    values = [c.sign * row.values[COEFFICIENTS.index(coefficient)] for c, row in zip(columns, rows, strict=True)]
    highest = max((value for value in values if value == value), default=np.nan)
    return [column for column, value in zip(columns, values, strict=True) if abs(value - highest) < ALIKE]


def compare(work: Task, best: Sequence[Column], coefficient: str) -> list[Comparison]:
    """Compare all pairs of metrics, those with the best first; with `against` only the other metrics with that one.

    The p-values are adjusted over all comparisons. Where lower is better, a metric correlates well with people when
    its correlation is negative, so its sign is changed.
    """
    columns, options = work.given.columns, work.options
    names = [column.name for column in columns]
    chosen = options.against or (best[0].name if best else None)
    if chosen is None:
        return []
    first = names.index(chosen)
    others = [i for i in range(len(columns)) if i != first]
    pairs = [(i, first) for i in others]
    if options.against is None:
        pairs += list(combinations(others, 2))
    how = Inference(test="t", level=options.level, seed=options.seed, draws="covariance")
    signed = [column.sign * column.values for column in columns]
    units = work.units(np.ones(len(work.people), dtype=bool))
    correlations = paired_correlations(signed, work.people, units, pairs)
    differences = compare_correlations(correlations, coefficient, how)
    return [
        Comparison(a.name, a.metric, a.options, a.subset or "all", b.name, coefficient, _common(work, a, b), difference)
        for a, b, difference in ((columns[i], columns[j], d) for (i, j), d in zip(pairs, differences, strict=True))
    ]


def _common(work: Task, a: Column, b: Column) -> int:
    return int((~np.isnan(a.values) & ~np.isnan(b.values) & ~np.isnan(work.people)).sum())
