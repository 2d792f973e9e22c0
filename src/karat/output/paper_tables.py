"""Tables for a paper as text: subsets as groups of lines, marks and recalls beside their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from karat.analyses.tables import Cell, Table, Tables
from karat.output.grids import Row, grid, paragraphs, wrap
from karat.output.markup import Grid, Heading, Part, noted
from karat.output.papers import Printed
from karat.table import number

CSV_FIELDS = (
    "table",
    "model",
    "protocol",
    "metric",
    "average",
    "subset",
    "row",
    "column",
    "value",
    "recall",
    "marked",
)


def _value(value: float, percent: bool) -> str:
    return f"{100 * value:.2f}" if percent and value == value else number(value)


def _cell(cell: Cell | None, percent: bool) -> str:
    if cell is None:
        return ""
    recall = "" if cell.recall is None else f" ({_value(cell.recall, percent)})"
    return f"{_value(cell.value, percent)}{recall}{'*' if cell.marked else ''}"


def groups(table: Table, percent: bool) -> Iterator[list[Row]]:
    """For each subset a row with its name, and those of its lines."""
    for subset, lines in table.groups:
        head: Row = (subset, [""] * len(table.columns))
        yield [head, *((f"  {name}", [_cell(cell, percent) for cell in cells]) for name, cells in lines)]


def title(table: Table, percent: bool) -> str:
    """What a table shows."""
    return f"{table.title}{'; in percent' if percent else ''}"


def terminal(found: Tables) -> str:
    """The tables, at most 80 columns wide."""
    parts: list[str] = []
    for table in found.tables:
        rows = [row for group in groups(table, found.percent) for row in group]
        parts += ["\n".join(wrap(title(table, found.percent), "  ")), *grid(table.corner, table.columns, rows)]
    if found.notes:
        parts.append(paragraphs(f"note: {note}" for note in found.notes))
    return "\n\n".join(parts) + "\n"


def parts(found: Tables) -> Iterator[Part]:
    """The tables."""
    for table in found.tables:
        yield Heading(title(table, found.percent))
        yield Grid(table.corner, table.columns, [row for group in groups(table, found.percent) for row in group])
    yield from noted(found.notes)


def printed(found: Tables) -> Iterator[Printed]:
    """The tables, a rule between subsets."""
    for table in found.tables:
        caption = f"{title(table, found.percent)}."
        yield Printed(caption, [table.corner, *table.columns], list(groups(table, found.percent)))


def csv_rows(found: Tables) -> list[dict[str, Any]]:
    """A row a cell."""
    return found.rows()
