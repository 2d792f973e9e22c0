"""Cells of the calibration bench, and the tables that show them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

LEVEL, ALPHA = 0.95, 0.05
COVERAGE = (0.93, 0.97)  # bar for intervals of 95 %
TYPE_I = (0.0, 0.065)  # bar for tests at .05
NO_BAR = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Cell:
    """How often an interval held the true value, or a test rejected, in one setting."""

    section: str
    row: str
    column: str
    rate: float
    trials: int
    bar: tuple[float, float]

    @property
    def fails(self) -> bool:
        """Whether the 99 % Monte Carlo interval (Wilson) lies outside the bar."""
        z, n = 2.5758, self.trials
        centre = (self.rate + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * (self.rate * (1 - self.rate) / n + z * z / (4 * n * n)) ** 0.5
        return bool(centre + half < self.bar[0] or centre - half > self.bar[1])


def tables(cells: Iterable[Cell]) -> Iterator[str]:
    """Yield a Markdown table for each section: percentages, with * where a cell fails."""
    sections: dict[str, dict[str, dict[str, Cell]]] = {}
    for cell in cells:
        sections.setdefault(cell.section, {}).setdefault(cell.row, {})[cell.column] = cell
    for section, rows in sections.items():
        columns = list(dict.fromkeys(column for by_column in rows.values() for column in by_column))
        lines = [(row, *(_percent(by_column.get(column)) for column in columns)) for row, by_column in rows.items()]
        yield _markdown((section, *columns), lines)


def summary(cells: Iterable[Cell]) -> Iterator[str]:
    """Yield Markdown tables with a row for each section: the lowest and highest rate, and the number that fail."""
    sections: dict[str, dict[str, list[Cell]]] = {}
    for cell in cells:
        sections.setdefault(cell.section, {}).setdefault(cell.column, []).append(cell)
    groups: dict[tuple[str, ...], list[str]] = {}
    for section, by_column in sections.items():
        groups.setdefault(tuple(by_column), []).append(section)
    for columns, names in groups.items():
        lines = [(name, *(_range(sections[name][column]) for column in columns)) for name in names]
        yield _markdown(("", *columns), lines)


def _range(cells: Sequence[Cell]) -> str:
    """Return the lowest and highest rate, with the number of cells that fail in brackets."""
    low, high, count = min(c.rate for c in cells), max(c.rate for c in cells), sum(c.fails for c in cells)
    rates = f"{100 * low:.1f}" if low == high else f"{100 * low:.1f}–{100 * high:.1f}"
    return rates + (f" ({count}*)" if count else "")


def failures(cells: Iterable[Cell]) -> list[str]:
    """Return a line for each cell that fails, with its rate and its bar."""
    return [
        f"{cell.section}; {cell.row}; {cell.column}: {100 * cell.rate:.1f} %, "
        f"bar {100 * cell.bar[0]:.1f} to {100 * cell.bar[1]:.1f} % ({cell.trials:,} trials)"
        for cell in cells
        if cell.fails
    ]


def _markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, the first column to the left."""
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    rows = [" | ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in (head, *lines)]
    rule = " | ".join(["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    return "\n".join(f"| {row} |" for row in (rows[0], rule, *rows[1:]))


def _percent(cell: Cell | None) -> str:
    return "" if cell is None else f"{100 * cell.rate:.1f}{'*' if cell.fails else ''}"
