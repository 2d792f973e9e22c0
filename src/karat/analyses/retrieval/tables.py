"""The tables of a test of search: the measures of every condition, and what each gains over the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import isnan
from typing import Any

from karat.analyses.retrieval.result import REFERENCES, TEXT, Condition, Retrieval, Row
from karat.errors import counted
from karat.tabular import BOUND, FIXED2, P_BOUND, SIGNED, Cell, Column, Group, Table, with_ends
from karat.tabular import Row as Line

CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "not adjusted"}
ADDED = (
    "Title and text with the phrases of a system added: all, present, absent, or of one class of PRMU; phrases: how "
    "many are added to a document on average."
)


def tables_of(found: Retrieval) -> Iterator[Table]:
    """What the tables are of; the measures; the gains; how they were computed."""
    queries = f"{len(found.queries):,} {'query' if len(found.queries) == 1 else 'queries'} with judgements"
    head = f"{found.corpus}, {counted(found.documents, 'document')}, {queries}"
    conditions = [(condition, list(rows)) for condition, rows in groupby(found.results, lambda row: row.condition)]
    measures = [row.measure for row in conditions[0][1]]
    brackets = _brackets(found)
    yield Table(head)
    columns = [Column("phrases", FIXED2), *(Column(name, better="higher") for name in measures)]
    groups = _groups(conditions, lambda rows: [Cell(row.value, with_ends(row.interval)) for row in rows], phrases=True)
    title = "Search by BM25"
    yield Table(title, "documents", columns, groups, caption=f"{title}: {head}. {ADDED} {brackets}")
    tested = [(condition, rows) for condition, rows in conditions if not isnan(rows[0].difference)]
    if tested:
        columns = [
            column
            for name in measures
            for column in (Column("difference", SIGNED, above=name), Column("adjusted p", P_BOUND, above=name))
        ]
        title = f"Difference to {_baseline(found)}"
        about = [_tests(found), brackets]
        groups = _groups(tested, lambda rows: [cell for row in rows for cell in _gain(row)])
        yield Table(title, "documents", columns, groups, caption=" ".join([f"{title}: {head}.", *about]))
    yield Table(
        notes=[ADDED, *([_tests(found)] if tested else []), brackets, *_bounds(found), f"Search: {found.search}"]
    )


def _groups(
    conditions: Sequence[tuple[Condition, list[Row]]], cells: Callable[[list[Row]], list[Any]], phrases: bool = False
) -> tuple[Group, ...]:
    """The text alone and the rankings of files, then a group of subsets for each system."""
    found: list[Group] = []
    for (kind, system), part in groupby(conditions, lambda pair: (pair[0].kind, pair[0].system)):
        lines = [
            Line(
                condition.subset or system,
                [*([_phrases(condition)] if phrases else []), *cells(rows)],
            )
            for condition, rows in part
        ]
        named = {"references": "(references)", "system": system}.get(kind, "")
        found.append(Group(lines, named))
    return tuple(found)


def _phrases(condition: Condition) -> float | None:
    return condition.phrases if condition.kind in ("references", "system") else None


def _gain(row: Row) -> list[Any]:
    return [Cell(row.difference, with_ends(row.difference_interval)), (row.adjusted, row.adjusted_at_floor)]


def _baseline(found: Retrieval) -> str:
    name = found.options.baseline
    if name is None or name == TEXT:
        return "title and text alone"
    return f"{'(references)' if name == REFERENCES else name}, phrases of the same subset"


def _brackets(found: Retrieval) -> str:
    options = found.options
    how = f"{options.interval}, {counted(found.resamples, 'resample')} of queries, seed {options.seed}"
    return f"In brackets {100 * options.level:.4g} % intervals ({how})."


def _tests(found: Retrieval) -> str:
    return (
        "p: two-sided, by paired randomisation of queries; adjusted over "
        f"{counted(found.comparisons, 'comparison')} ({CORRECTIONS[found.options.correction]})."
    )


def _bounds(found: Retrieval) -> Iterator[str]:
    if any(row.adjusted_at_floor for row in found.results):
        yield BOUND
