"""Tables of scores: systems down, metrics across, one table for each corpus and protocol."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from karat.output.markup import Grid, Part, bold, code, noted
from karat.output.papers import Printed
from karat.results import Results, Score

WIDTH = 80  # on a terminal and in a pipe alike
BOUND = "≤: p is the smallest that the resamples can give, and may be less."
CSV_FIELDS = (
    "corpus",
    "system",
    "protocol",
    "metric",
    "options",
    "subset",
    "average",
    "value",
    "documents",
    "undefined",
)


@dataclass(frozen=True, slots=True)
class Column:
    """What heads a column: the subset, the metric with its options, the average."""

    subset: str
    metric: str
    average: str

    def __str__(self) -> str:
        return f"{self.metric} {self.subset} ({self.average})"


@dataclass(frozen=True, slots=True)
class Table:
    """The scores of one corpus under one protocol."""

    corpus: str
    protocol: str
    documents: int
    columns: list[Column]
    systems: list[str]
    cells: list[list[str]]  # by system, by column
    left_out: list[str]


def tables(results: Results) -> Iterator[Table]:
    """The results cut into tables, in the order in which they were asked for."""
    keys = dict.fromkeys((score.corpus, score.protocol) for score in results.scores)
    for corpus, protocol in keys:
        scores = [s for s in results.scores if (s.corpus, s.protocol) == (corpus, protocol)]
        systems = list(dict.fromkeys(score.system for score in scores))
        columns = list(dict.fromkeys(map(_column, scores)))
        found = {(score.system, _column(score)): number(score.value) for score in scores}
        cells = [[found.get((system, column), "") for column in columns] for system in systems]
        yield Table(corpus, protocol, len(results.ids), columns, systems, cells, _left_out(scores))


def _column(score: Score) -> Column:
    request = score.request
    options = "".join(f",{name}={value}" for name, value in request.options)
    return Column(request.subset, request.label + options, request.average or "")


def number(value: float) -> str:
    """A score with four decimals, without the zero before the point; – where it is undefined.

    >>> number(0.34173), number(1.0), number(3.2), number(float("nan")), number(-0.5)
    ('.3417', '1.0000', '3.2000', '–', '-.5000')
    """
    if math.isnan(value):
        return "–"
    text = f"{value:.4f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def p_text(value: float | None, at_floor: bool = False) -> str:
    """A p-value, with "≤" where resamples could not make it smaller; – where it is undefined.

    >>> p_text(0.0123), p_text(1e-7), p_text(1 / 10_001, at_floor=True), p_text(None)
    ('.0123', '<.0001', '≤ .0001', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if at_floor:
        return f"≤ {number(math.ceil(value * 10_000 - 1e-9) / 10_000)}"
    return "<.0001" if value < 0.0001 else number(value)


def _left_out(scores: Sequence[Score]) -> list[str]:
    """How many documents each subset leaves out, said once for all its metrics where they agree."""
    counts: dict[str, dict[str, int]] = {}
    for score in scores:
        if score.undefined:
            counts.setdefault(score.request.subset, {})[score.request.label] = score.undefined
    said = []
    for subset, by_metric in counts.items():
        for missing, group in groupby(sorted(by_metric.items(), key=lambda item: item[1]), key=lambda i: i[1]):
            names = [name for name, _ in group]
            whose = "" if len(names) == len({s.request.label for s in scores}) else f" ({', '.join(names)})"
            said.append(f"{subset} {missing:,}{whose}")
    return said


# ---------------------------------------------------------------------------------------------- terminal


def terminal(results: Results) -> str:
    """Tables of at most 80 columns; what does not fit goes on below."""
    parts = ["\n".join(_terminal_table(table)) for table in tables(results)]
    if results.notes:
        parts.append("\n".join(line for note in results.notes for line in wrap(f"note: {note}", "      ")))
    return "\n\n".join(parts) + "\n"


def _terminal_table(table: Table) -> Iterator[str]:
    yield from wrap(f"{table.corpus}, {table.documents:,} documents, protocol {table.protocol}", "  ")
    averages = {column.average for column in table.columns}
    name_width = min(max(len("system"), *map(len, table.systems)), 30)
    for block in _blocks(table, WIDTH - name_width):
        yield ""
        yield from _block(table, block, name_width, show_averages=len(averages) > 1)
    if len(averages) == 1 or table.left_out:
        yield ""
    if len(averages) == 1:
        yield f"average: {averages.pop()}"
    if table.left_out:
        yield from wrap(f"documents left out, undefined: {', '.join(table.left_out)}", "  ")


def _blocks(table: Table, room: int) -> Iterator[list[int]]:
    """The columns, as many at a time as fit."""
    block: list[int] = []
    used = 0
    several = len({column.average for column in table.columns}) > 1
    for i, column in enumerate(table.columns):
        width = 2 + _width(table, i, column, several)
        if block and used + width > room:
            yield block
            block, used = [], 0
        block.append(i)
        used += width
    yield block


def _width(table: Table, i: int, column: Column, show_averages: bool) -> int:
    heads = [column.metric, column.average if show_averages else ""]
    alone = sum(c.subset == column.subset for c in table.columns) == 1
    return max(map(len, [*heads, column.subset if alone else "", *(row[i] for row in table.cells)]))


def _block(table: Table, block: list[int], name_width: int, show_averages: bool) -> Iterator[str]:
    widths = [_width(table, i, table.columns[i], show_averages) for i in block]
    columns = [table.columns[i] for i in block]
    heads = " " * name_width
    for subset, group in groupby(zip(columns, widths, strict=True), key=lambda pair: pair[0].subset):
        span = sum(2 + width for _, width in group)
        heads += f"  {subset[: span - 2]:<{span - 2}}"
    yield heads.rstrip()
    yield line("system", [column.metric for column in columns], name_width, widths)
    if show_averages:
        yield line("", [column.average for column in columns], name_width, widths)
    for system, row in zip(table.systems, table.cells, strict=True):
        yield line(short(system, name_width), [row[i] for i in block], name_width, widths)


def line(name: str, cells: Sequence[str], name_width: int, widths: Sequence[int]) -> str:
    """A line of a table: a name, then right-aligned cells."""
    return f"{name:<{name_width}}" + "".join(f"  {c:>{w}}" for c, w in zip(cells, widths, strict=True))


def short(name: str, width: int) -> str:
    """A name cut to a width in its middle: names that begin alike mostly end differently.

    >>> short("model", 8), short("model-large-1", 8)
    ('model', 'mode…e-1')
    """
    return name if len(name) <= width else name[: width // 2] + "…" + name[len(name) - (width - 1) // 2 :]


def wrap(text: str, indent: str) -> list[str]:
    """The lines of a text on a terminal, those after the first with an indent; of a warning not that it is a note."""
    import textwrap

    text = text.removeprefix("note: ") if text.startswith("note: warning: ") else text
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=True, break_on_hyphens=False)


# ---------------------------------------------------------------------------------------------- other formats


def parts(results: Results) -> Iterator[Part]:
    """A table for each corpus and protocol."""
    for table in tables(results):
        yield bold(table.corpus), f", {table.documents:,} documents, protocol ", code(table.protocol)
        yield Grid("system", list(map(str, table.columns)), list(zip(table.systems, table.cells, strict=True)))
        if table.left_out:
            yield f"Documents left out, undefined: {', '.join(table.left_out)}."
    yield from noted(results.notes)


def printed(results: Results) -> Iterator[Printed]:
    """A table for each corpus and protocol, its caption saying what the numbers are."""
    for table in tables(results):
        columns = table.columns
        averages = sorted({column.average for column in columns})
        caption = (
            f"{table.corpus}, {table.documents:,} documents, protocol {table.protocol}, average {', '.join(averages)}."
        )
        if table.left_out:
            caption += f" Documents left out, undefined: {', '.join(table.left_out)}."
        yield Printed(
            caption,
            ["system", *(column.metric for column in columns)],
            [list(zip(table.systems, table.cells, strict=True))],
            above=[(subset, len(list(group))) for subset, group in groupby(columns, key=lambda column: column.subset)],
            below=[column.average for column in columns] if len(averages) > 1 else [],
        )


def csv_rows(results: Results) -> Iterator[dict[str, Any]]:
    """A row a score, options in one cell."""
    for row in results.rows():
        yield row | {"options": ",".join(f"{name}={value}" for name, value in row["options"].items())}
