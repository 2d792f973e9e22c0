"""Notes on the figures of `human`: what is undefined, left out, given twice, or uncertain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from karat.analyses.human.result import Agreement, Comparison, Correlation
from karat.errors import counted
from karat.formats.human import Judged
from karat.stats.base import Floats
from karat.stats.difference import FEWEST

if TYPE_CHECKING:
    from karat.analyses.human.measure import Task

ENOUGH_FOR_SKEWED = 80  # items from which intervals of scores that are mostly equal hold (`benchmarks.inference`)
_FEW = "fewer than two items"


def notes_of(
    work: Task,
    people: Sequence[Correlation],
    rows: Sequence[Correlation],
    agreement: Agreement,
    compared: Sequence[Comparison],
) -> list[str]:
    """Return all notes: on the file, on metrics, on annotators, and on undefined or uncertain figures."""
    return [
        *_file_notes(work.judged),
        *work.given.notes,
        *_people_notes(people),
        *(_alpha_notes(work.judged, agreement) if work.others else ()),
        *_undefined(work, rows),
        *_without_interval(work, rows),
        *_untested(compared),
        *_skewed(work, rows, agreement),
    ]


def _file_notes(judged: Judged) -> list[str]:
    said = []
    if judged.repeats:
        said.append(f"{judged.repeats:,} scores were given again, the same as before, and count once")
    if judged.silent:
        one = "annotator" if len(judged.silent) == 1 else "annotators"
        said.append(f"{one} {', '.join(judged.silent)}: no score in the table; left out")
    if judged.unscored:
        said.append(f"{counted(judged.unscored, 'row')} of the table without any score; left out")
    if len(judged.annotators) < 2:
        said.append("there is one annotator, so that there is neither a ceiling nor agreement")
    return said


def _people_notes(people: Sequence[Correlation]) -> Iterator[str]:
    for each in people:
        name = f"annotator {each.name or 'without a name'}"
        if np.isnan(each.values).all():
            few = f"{_FEW} that others scored"
            why = few if each.n < 2 else "the scores of this annotator or of the others are all equal"
            yield f"{name}: undefined, {why}; left out of the ceiling"
        elif np.isnan(each.intervals).any():
            yield f"{name}: no interval, too few items that others scored, or too few different scores"


def _alpha_notes(judged: Judged, agreement: Agreement) -> Iterator[str]:
    """Say why Krippendorff's alpha is undefined or has no interval, on all items or on those of some relations."""
    shared = judged.values[(~np.isnan(judged.values)).sum(axis=1) > 1]
    if np.isnan(agreement.alpha):
        why = "all scores are equal" if len(shared) else "no item was scored by two annotators"
        yield f"Krippendorff's alpha: undefined, {why}"
        return
    names = ["all"] * bool(np.isnan(agreement.interval[0]))
    names += [each.relation for each in agreement.relations if np.isnan(each.interval[0]) and each.relation != "all"]
    if names:
        yield f"Krippendorff's alpha in {', '.join(names)}: no interval, too few items, or too few different scores"


def _undefined(work: Task, rows: Sequence[Correlation]) -> list[str]:
    """Name the metrics that are undefined in each subset, with the reason."""
    undefined = [(row, _why(work, row)) for row in rows if np.isnan(row.values).all()]
    return [f"{where}: undefined, {why}" for where, why in _grouped(work, undefined)]


def _without_interval(work: Task, rows: Sequence[Correlation]) -> list[str]:
    """Name the metrics whose correlation has no interval in a subset, with the reason."""
    bare = [row for row in rows if np.isnan(row.intervals).any() and not np.isnan(row.values).all()]
    reasons = [(row, _few_units(work, row)) for row in bare]
    return [f"{where}: no interval, {why}" for where, why in _grouped(work, reasons)]


def _few_units(work: Task, row: Correlation) -> str:
    some = _items(work, row)
    units = work.units(some)
    what = "documents" if len(np.unique(units)) < some.sum() else "items"
    if len(np.unique(units)) < FEWEST:
        return f"fewer than three {what}"
    return f"all {what} but one have the same value"


def _untested(compared: Sequence[Comparison]) -> Iterator[str]:
    """Say why no two metrics are compared, where there are several."""
    if compared and all(np.isnan(each.difference.p) for each in compared):
        yield "metrics are not compared: it takes three items or more on which both are defined and differ"


def _skewed(work: Task, rows: Sequence[Correlation], agreement: Agreement) -> Iterator[str]:
    """Note intervals that are rough, since more than half of the scores are equal."""
    bounded = {row.name for row in rows if not np.isnan(row.intervals).any() and row.subset == "all"}
    columns = [column for column in work.given.columns if column.name in bounded or column.subset is not None]
    flat = [column.name for column in columns if _mostly_equal(column.values)]
    units = len(np.unique(work.units(np.ones(len(work.people), dtype=bool))))
    if units < ENOUGH_FOR_SKEWED:
        names = [column.name for column in columns] if _mostly_equal(work.people) else flat
        alpha = not np.isnan(agreement.interval[0]) and _mostly_equal(work.judged.values)
        parts = [*([_names(work, names)] if names else []), *(["Krippendorff's alpha"] if alpha else [])]
        if parts:
            why = f"more than half of the scores are equal, and there are fewer than {ENOUGH_FOR_SKEWED} items"
            ways = "too narrow for Pearson's r and alpha, too wide for rank correlations"
            yield f"intervals of {' and of '.join(parts)} are rough ({ways}): {why}"
    if len(flat) > 1:
        why = "more than half of the values of each are equal"
        yield f"differences between {' and '.join(flat)}: intervals may be too narrow, {why}"


def _mostly_equal(values: Floats) -> bool:
    """Whether more than half of the values are equal, but not all."""
    counts = np.unique(values[~np.isnan(values)], return_counts=True)[1]
    return len(counts) > 1 and 2 * int(counts.max()) > int(counts.sum())


def _grouped(work: Task, rows: Sequence[tuple[Correlation, str]]) -> Iterator[tuple[str, str]]:
    """Yield (metrics and subsets, reason): metrics with the same reason together, and subsets with the same metrics."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row, why in rows:
        reasons.setdefault((row.subset, why), []).append(row.name)
    subsets: dict[tuple[str, str], list[str]] = {}
    for (subset, why), names in reasons.items():
        subsets.setdefault((_names(work, names), why), []).append(subset)
    for (names_, why), some in subsets.items():
        yield f"{names_} in {', '.join(some)}", why


def _items(work: Task, row: Correlation) -> NDArray[np.bool_]:
    """Return the items on which a metric is defined in a subset."""
    [column] = [column for column in work.given.columns if column.name == row.name]
    return work.given.subsets[row.subset if column.subset is None else "all"] & ~np.isnan(column.values)


def _why(work: Task, row: Correlation) -> str:
    if row.n < 2:
        return _FEW
    constant = len(np.unique(work.people[_items(work, row)])) == 1
    return "people's scores are all equal" if constant else "the metric has the same value everywhere"


def _names(work: Task, names: Sequence[str]) -> str:
    every = len(names) == len(work.given.columns) > 1
    return "every metric" if every else ", ".join(names)
