"""Overlaps as text: for every two systems what both have right and wrong, its histogram, and the systems together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import nan
from typing import Any

from karat.analyses.overlap import TENTHS, Overlap, Pair
from karat.output.grids import WIDTH, Row, line, paragraphs, wrap, wrapped_name
from karat.output.markup import Grid, Heading, Part, noted
from karat.output.papers import Printed
from karat.table import number

CSV_FIELDS = (
    "corpus",
    "a",
    "b",
    "protocol",
    "subset",
    "common_correct",
    "common_wrong",
    "documents",
    "undefined",
    "histogram_correct",
    "histogram_wrong",
)
SIDES = ("correct", "wrong")
TOGETHER = "What the systems would score together"

Group = tuple[str, list[str]]  # a subset and its columns


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose columns are grouped by subset."""

    title: str
    corner: str
    groups: list[Group]
    rows: list[Row]
    about: str  # what its figures are


# ---------------------------------------------------------------------------------------------- tables


def tables(found: Overlap) -> Iterator[Table]:
    """For each protocol: the means of all pairs, a histogram of each pair, the systems together."""
    for protocol in found.signatures:
        of_protocol = [pair for pair in found.pairs if pair.protocol == protocol]
        by_pair = [list(group) for _, group in groupby(of_protocol, key=lambda pair: (pair.a, pair.b))]
        sides: list[Group] = [(pair.subset, list(SIDES)) for pair in by_pair[0]]
        means: list[Row] = [(_named(pairs[0]), list(_means(pairs))) for pairs in by_pair]
        yield Table(f"Mean percentage, protocol {protocol}", "systems", sides, means, meaning(found))
        for pairs in by_pair:
            title = f"Documents by percentage, {_named(pairs[0])}, protocol {protocol}"
            yield Table(title, "percent", sides, list(_tenths(pairs)), meaning(found))
        yield _together(found, protocol)


def _named(pair: Pair) -> str:
    return f"{pair.a} and {pair.b}"


def _means(pairs: Sequence[Pair]) -> Iterator[str]:
    for pair in pairs:
        for value in (pair.common_correct, pair.common_wrong):
            yield "–" if value is None else f"{value:.2f}"


def _tenths(pairs: Sequence[Pair]) -> Iterator[Row]:
    columns = [pair.histogram()[side] for pair in pairs for side in SIDES]
    for tenth in range(TENTHS):
        yield f"{tenth * 10}–{tenth * 10 + 10}", [f"{column[tenth]:,}" for column in columns]
    if any(pair.undefined for pair in pairs):
        yield "undefined", [f"{pair.undefined:,}" for pair in pairs for _ in SIDES]


def _together(found: Overlap, protocol: str) -> Table:
    alone = [row | {"how": row["system"]} for row in found.alone()]
    rows = [row for row in (*alone, *found.complementarity()) if row["protocol"] == protocol]
    [average] = {row["average"] for row in rows if row["metric"].startswith("f1")}
    groups = [(subset, [row["metric"] for row in group]) for subset, group in groupby(_columns(rows), _subset)]
    body: list[Row] = [
        (how, [number(nan if row["value"] is None else row["value"]) for row in group])
        for how, group in groupby(rows, key=lambda row: row["how"])
    ]
    title = f"{TOGETHER}, protocol {protocol}, average of f1: {average}"
    return Table(title, "system", groups, body, together(found))


def _columns(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the first system, which are the columns of the table."""
    return [row for row in rows if row["how"] == rows[0]["how"]]


def _subset(row: dict[str, Any]) -> str:
    return str(row["subset"])


# ---------------------------------------------------------------------------------------------- words


def heading(found: Overlap) -> str:
    """What the tables are of."""
    return f"{found.corpus}, {found.documents:,} documents"


def meaning(found: Overlap) -> str:
    """What the percentages are."""
    empty = "is left out" if found.options.empty == "skip" else "counts 0"
    return (
        "Of the phrases that either system predicts, the percentage that both predict: correct ones, and wrong ones. "
        f"A document for which neither predicts a phrase {empty}."
    )


def together(found: Overlap) -> str:
    """What union, intersection and majority are."""
    count = len(found.systems)
    return f"union: in any system; intersection: in all {count}; majority: in {count // 2 + 1} or more."


def remarks(found: Overlap) -> Iterator[str]:
    """How the systems are put together, and what could be reviewed."""
    yield together(found)
    if found.lacked:
        yield (
            f"{len(found.lacked):,} phrases that {found.options.at_least} or more systems predict are no references; "
            "--review FILE writes them for a person to judge."
        )


# ---------------------------------------------------------------------------------------------- formats


def terminal(found: Overlap) -> str:
    """Tables of at most 80 columns."""
    parts = ["\n".join([*wrap(heading(found), "  "), *wrap(meaning(found), "  ")])]
    parts += ["\n".join([*wrap(table.title, "  "), "", *_lines(table)]) for table in tables(found)]
    parts.append(paragraphs(remarks(found)))
    if found.notes:
        parts.append(paragraphs(f"note: {note}" for note in found.notes))
    return "\n\n".join("\n".join(text.rstrip() for text in part.splitlines()) for part in parts) + "\n"


def _lines(table: Table) -> Iterator[str]:
    """The lines of a table in blocks of at most 80 columns, the subsets above their columns."""
    names = min(max(len(table.corner), *(len(name) for name, _ in table.rows)), 24)
    widths = [max(5, len(head)) for _, columns in table.groups for head in columns]
    widths = [max(width, *(len(cells[i]) for _, cells in table.rows)) for i, width in enumerate(widths)]
    start = 0
    for groups in _blocks(table.groups, widths, WIDTH - names):
        part = slice(start, start + sum(len(columns) for _, columns in groups))
        if start:
            yield ""
        yield from _block(replace(table, groups=groups), part, names, widths[part])
        start = part.stop


def _blocks(groups: Sequence[Group], widths: Sequence[int], room: int) -> Iterator[list[Group]]:
    """The groups of columns, as many at a time as fit."""
    block: list[Group] = []
    at = used = 0
    for group in groups:
        width = sum(2 + width for width in widths[at : at + len(group[1])])
        if block and used + width > room:
            yield block
            block, used = [], 0
        block.append(group)
        at, used = at + len(group[1]), used + width
    yield block


def _block(table: Table, part: slice, names: int, widths: Sequence[int]) -> Iterator[str]:
    above, at = " " * names, 0
    for subset, columns in table.groups:
        span = sum(2 + width for width in widths[at : at + len(columns)])
        above += f"  {subset:<{span - 2}}"
        at += len(columns)
    yield above
    yield line(table.corner, [column for _, columns in table.groups for column in columns], names, widths)
    for name, cells in table.rows:
        *before, last = wrapped_name(name, names)
        yield from before
        yield line(last, cells[part], names, widths)


def _heads(table: Table) -> list[str]:
    return [f"{subset} {column}" for subset, columns in table.groups for column in columns]


def parts(found: Overlap) -> Iterator[Part]:
    """Tables, and what they say."""
    yield Heading(heading(found))
    yield meaning(found)
    for table in tables(found):
        yield f"{table.title}:"
        yield Grid(table.corner, _heads(table), table.rows)
    yield from remarks(found)
    yield from noted(found.notes)


def printed(found: Overlap) -> Iterator[Printed]:
    """A table for each."""
    for table in tables(found):
        caption = f"{table.title}: {heading(found)}. {table.about}"
        yield Printed(caption, [table.corner, *_heads(table)], [table.rows])


def csv_rows(found: Overlap) -> Iterable[dict[str, Any]]:
    """One dict a pair and subset, a histogram in one cell."""
    for row in found.rows():
        yield row | {f"histogram_{side}": ";".join(map(str, row["histogram"][side])) for side in SIDES}
