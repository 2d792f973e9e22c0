"""Tables of `karat retrieval`: the measures of every condition, and their differences to the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import isnan
from typing import Any

from karat.analyses.retrieval.result import REFERENCES, TEXT, Condition, Retrieval, Row
from karat.analyses.retrieval.statistics import counted_queries
from karat.errors import counted
from karat.stats.difference import APPROXIMATE, Difference, cells, columns, family_legend, test_names
from karat.tabular import FIXED2, Cell, Column, Group, Table, with_ends
from karat.tabular import Row as Line

ADDED = (
    "Title and text with the phrases of a system added: all, present, absent, or of one class of PRMU; phrases: how "
    "many are added to a document on average."
)
DETECTABLE = "detectable: the difference that one test at .05 alone detects with 80 % power on these queries."


def tables_of(result: Retrieval) -> Iterator[Table]:
    """Yield the heading, the measures, the differences on each measure, and the legend."""
    queries = counted_queries(len(result.queries))
    head = f"{result.corpus}, {counted(result.documents, 'document')}, {queries} with judgements"
    measures = list(dict.fromkeys(row.measure for row in result.results))
    brackets = _brackets(result)
    yield Table(head)
    title = "Search by BM25"
    columns_of_values = [Column("phrases", FIXED2), *(Column(name, better="higher") for name in measures)]
    groups = _groups(result.results, _value_cells)
    yield Table(title, "documents", columns_of_values, groups, caption=f"{title}: {head}. {ADDED} {brackets}")
    differences = [row.difference for row in result.results if row.difference is not None]
    legend = _legend(result, differences)
    for measure in measures if differences else ():
        title = f"{measure}, difference to {_baseline(result)}"
        groups = _groups(
            [row for row in result.results if row.measure == measure and row.difference], _difference_cells
        )
        caption = " ".join([f"{title}: {head}.", *legend, brackets])
        yield Table(title, "documents", columns(), groups, caption=caption)
    yield Table(notes=[ADDED, *legend, brackets, f"Search: {result.search}"])


def _groups(rows: Sequence[Row], cells_of: Callable[[list[Row]], list[Any]]) -> tuple[Group, ...]:
    """Return the text alone and the rankings of files, then a group of subsets for each system."""
    groups: list[Group] = []
    conditions = [(condition, list(lines)) for condition, lines in groupby(rows, lambda row: row.condition)]
    for (kind, system), part in groupby(conditions, lambda pair: (pair[0].kind, pair[0].system)):
        group_rows = [Line(condition.subset or system, cells_of(lines)) for condition, lines in part]
        groups.append(Group(group_rows, {"references": "(references)", "system": system}.get(kind, "")))
    return tuple(groups)


def _value_cells(rows: list[Row]) -> list[Any]:
    return [_phrases(rows[0].condition), *(Cell(row.value, with_ends(row.interval)) for row in rows)]


def _difference_cells(rows: list[Row]) -> list[Any]:
    return [cell for row in rows if row.difference is not None for cell in cells(row.difference)]


def _phrases(condition: Condition) -> float | None:
    return condition.phrases if condition.kind in ("references", "system") else None


def _baseline(result: Retrieval) -> str:
    name = result.options.baseline
    if name is None or name == TEXT:
        return "title and text alone"
    return f"{'(references)' if name == REFERENCES else name}, phrases of the same subset"


def _brackets(result: Retrieval) -> str:
    level = f"{100 * result.options.level:.4g} %"
    return f"In brackets {level} intervals over queries (t on the logit scale, of differences jackknife t)."


def _legend(result: Retrieval, differences: Sequence[Difference]) -> list[str]:
    """Return which test p is of, how it is adjusted, and what detectable and \"≈\" mean."""
    tested = [one for one in differences if not isnan(one.p)]
    if not tested:
        return []
    tests = test_names(result.options.test, (one.test for one in tested))
    draws = "randomisation" in tests or any(one.adjusted_by == "max-t" for one in tested)
    drawn = f", {result.options.resamples:,} resamples of queries, seed {result.options.seed}" if draws else ""
    family = family_legend(tested, "all that is compared on one measure")
    approximate = any(one.approximate or one.adjusted_approximate for one in tested)
    return [f"p: {tests}, two-sided{drawn}; {family}.", DETECTABLE, *([APPROXIMATE] if approximate else [])]


def flat_row(row: Row) -> dict[str, Any]:
    """Return a row of the CSV output: a measure of a condition, then its difference to the baseline."""
    values = row.as_dict()
    low, high = values.pop("ci")
    difference = row.difference_dict() or {}
    least, most = difference.get("ci", (None, None))
    tested = (
        "se",
        "n",
        "p",
        "test",
        "p_approximate",
        "p_adjusted",
        "p_adjusted_by",
        "p_adjusted_approximate",
        "family",
    )
    return {
        **values,
        "low": low,
        "high": high,
        "baseline": difference.get("baseline"),
        "value_baseline": difference.get("value_b"),
        "difference": difference.get("difference"),
        "difference_low": least,
        "difference_high": most,
        **{name: difference.get(name) for name in tested},
        **{name: difference.get("effect", {}).get(name) for name in EFFECTS},
        "detectable": difference.get("detectable"),
    }


EFFECTS = ("d_z", "superiority", "wins", "ties", "losses")
