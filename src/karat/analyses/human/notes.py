"""What a reader should know of figures against people: what is undefined, left out, or given twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.analyses.human.result import Correlation
from karat.errors import counted
from karat.formats.human import Judged

if TYPE_CHECKING:
    from karat.analyses.human.measure import Task

_FEW = "fewer than two items"


def notes_of(work: Task, people: Sequence[Correlation], rows: Sequence[Correlation]) -> list[str]:
    """All notes: of the file, of the metrics, of people, and of what is undefined."""
    return [*_file_notes(work.judged), *work.given.notes, *_people_notes(people), *_undefined(work, rows)]


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


def _people_notes(people: Sequence[Correlation]) -> list[str]:
    said = []
    for each in people:
        if np.isnan(each.values).all():
            few = f"{_FEW} that others scored"
            why = few if each.n < 2 else "the scores of this annotator or of the others are all equal"
            said.append(f"annotator {each.name or 'without a name'}: undefined, {why}; left out of the ceiling")
    return said


def _undefined(work: Task, rows: Sequence[Correlation]) -> list[str]:
    """Which metrics are undefined in which subsets and why, and which resamples were left out."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if np.isnan(row.values).all():
            reasons.setdefault((row.subset, _why(work, row)), []).append(row.name)
    subsets: dict[tuple[str, str], list[str]] = {}
    for (subset, why), names in reasons.items():
        subsets.setdefault((_names(work, names), why), []).append(subset)
    said = [f"{names} in {', '.join(some)}: undefined, {why}" for (names, why), some in subsets.items()]
    lost = [_most_left_out(work, [row for row in rows if row.subset == s]) for s in {row.subset: 0 for row in rows}]
    if any(lost):
        total = f"resamples of {work.options.resamples:,} that are undefined and left out of the intervals, at most"
        said.append(f"{total}: {'; '.join(filter(None, lost))}")
    return said


def _most_left_out(work: Task, rows: Sequence[Correlation]) -> str:
    """How many resamples were left out in a subset, of the metrics that lost the most; nothing where none was."""
    most = max(row.undefined for row in rows)
    return f"{rows[0].subset} {most:,} ({_names(work, [r.name for r in rows if r.undefined == most])})" if most else ""


def _why(work: Task, row: Correlation) -> str:
    if row.n < 2:
        return _FEW
    [column] = [column for column in work.given.columns if column.name == row.name]
    some = work.given.subsets[row.subset if column.subset is None else "all"] & ~np.isnan(column.values)
    constant = len(np.unique(work.people[some])) == 1
    return "people's scores are all equal" if constant else "the metric has the same value everywhere"


def _names(work: Task, names: Sequence[str]) -> str:
    every = len(names) == len(work.given.columns) > 1
    return "every metric" if every else ", ".join(names)
