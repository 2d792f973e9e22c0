"""What a model learned, as a table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from karat.output.grids import grid

if TYPE_CHECKING:
    from karat.models.train import Trained


def as_table(trained: Trained) -> str:
    """A headline, and a row for each thing that was learned."""
    headline = f"{trained.model}, learned from {trained.documents:,} documents: {trained.path}"
    if not trained.rows:
        return headline
    corner, *columns = trained.rows[0]
    rows = [(str(row[corner]), [_cell(row, column) for column in columns]) for row in trained.rows]
    return "\n\n".join([headline, *grid(corner, columns, rows)])


def _cell(row: Mapping[str, Any], column: str) -> str:
    value = row[column]
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}" if isinstance(value, float) else str(value)
