"""Cells of the calibration bench, and the tables that show them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks.tables import table

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
        return centre + half < self.bar[0] or centre - half > self.bar[1]


def tables(cells: Iterable[Cell]) -> Iterator[str]:
    """Return a table for each section: percentages, with * where a cell fails."""
    sections: dict[str, dict[str, dict[str, Cell]]] = {}
    for cell in cells:
        sections.setdefault(cell.section, {}).setdefault(cell.row, {})[cell.column] = cell
    for section, rows in sections.items():
        columns = list(dict.fromkeys(column for own in rows.values() for column in own))
        yield table(
            (section, *columns),
            [(row, *(_shown(own.get(column)) for column in columns)) for row, own in rows.items()],
        )


def _shown(cell: Cell | None) -> str:
    return "" if cell is None else f"{100 * cell.rate:.1f}{'*' if cell.fails else ''}"
