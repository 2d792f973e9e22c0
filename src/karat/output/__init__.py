"""Results as text: tables for people, JSON and CSV for programs. Nothing here computes."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from karat.analyses.audit import Audit
from karat.analyses.check import Check
from karat.analyses.compare import Comparison
from karat.analyses.confidence.result import Confidence
from karat.analyses.consistency import Consistency
from karat.analyses.describe.result import Description
from karat.analyses.homogeneity.result import Homogeneity
from karat.analyses.human.result import Human
from karat.analyses.nearmiss import NearMisses
from karat.analyses.overlap import Overlap
from karat.analyses.report.result import Page
from karat.analyses.reproduce import Reproduction
from karat.analyses.show import Shown
from karat.analyses.study import Study
from karat.analyses.tables import Tables
from karat.errors import unknown
from karat.llm.ask import Forecast
from karat.models.run import Predicted
from karat.output import (
    confidences,
    consistencies,
    descriptions,
    homogeneities,
    nearmisses,
    people,
    predicted,
    reformulations,
    shown,
    studies,
)
from karat.output.markup import Part, html, markdown, parts_of
from karat.output.page import summary as page_summary
from karat.output.page.rendering import render as page_html
from karat.output.papers import Printed, latex, pieces_of, typst
from karat.output.terminal import terminal
from karat.pairs.filter import Filtered
from karat.results import Found, Results


def as_json(results: Found) -> str:
    """The whole of it; floats in full, null where undefined."""
    return msgspec.json.format(msgspec.json.encode(results.as_dict()), indent=1).decode() + "\n"


def as_csv(found: Any) -> str:
    """The rows as CSV, below the names of all their fields."""
    rows = found.flat_rows()
    return csv_lines(list(dict.fromkeys(name for row in rows for name in row)), rows)


def csv_lines(fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """The fields of each row as CSV, below their names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(fields)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in fields])
    return out.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return "" if value is None else value


class Writing(Protocol):
    """What a module of this package says of a result: as text, as parts of a page, as tables of a paper."""

    @property
    def terminal(self) -> Callable[[Any], str]:
        """The text of at most 80 columns."""

    @property
    def parts(self) -> Callable[[Any], Iterable[Part]]:
        """What Markdown and HTML are made of."""

    @property
    def printed(self) -> Callable[[Any], Iterable[Printed]]:
        """What LaTeX and Typst are made of."""

    @property
    def CSV_FIELDS(self) -> Sequence[str]:  # noqa: N802
        """The columns of its CSV."""

    @property
    def csv_rows(self) -> Callable[[Any], Iterable[Mapping[str, Any]]]:
        """The lines of its CSV."""


Formats = dict[str, Callable[[Any], str]]


def _read(terminal: Callable[[Any], str], parts: Callable[[Any], Iterable[Part]]) -> Formats:
    """The formats of every result: to be read, and JSON."""
    return {
        "table": terminal,
        "md": lambda found: markdown(parts(found)),
        "html": lambda found: html(parts(found)),
        "json": as_json,
    }


def _all(module: Writing) -> Formats:
    """The formats of a result that a paper can show."""
    return _read(module.terminal, module.parts) | {
        "latex": lambda found: latex(module.printed(found)),
        "typst": lambda found: typst(module.printed(found)),
        "csv": lambda found: csv_lines(module.CSV_FIELDS, module.csv_rows(found)),
    }


# Of every result that has tables.
TABLES: Formats = {
    "table": lambda found: terminal(found.tables(), found.notes),
    "md": lambda found: markdown(parts_of(found.tables(), found.notes)),
    "html": lambda found: html(parts_of(found.tables(), found.notes)),
    "json": as_json,
    "latex": lambda found: latex(pieces_of(found.tables(), found.notes)),
    "typst": lambda found: typst(pieces_of(found.tables(), found.notes)),
    "csv": as_csv,
}

FORMATS: dict[type, Formats] = {
    Results: TABLES,
    Audit: TABLES,
    Comparison: TABLES,
    Check: TABLES,
    Tables: TABLES,
    Reproduction: TABLES,
    Description: _all(descriptions),
    NearMisses: _all(nearmisses),
    Confidence: _all(confidences),
    Overlap: TABLES,
    Homogeneity: _all(homogeneities),
    Study: _all(studies),
    Consistency: _all(consistencies),
    Human: _all(people),
    Filtered: _all(reformulations),
    Forecast: _read(reformulations.forecast, reformulations.forecast_parts),
    Shown: _read(shown.terminal, shown.parts),
    Predicted: _read(predicted.terminal, predicted.parts)
    | {
        "jsonl": predicted.json_lines,
        "csv": lambda found: csv_lines(predicted.columns(found), predicted.spread_rows(found)),
    },
}


PAGE: Formats = {
    "md": lambda page: markdown(page_summary(page)),
    "html": lambda page: html(page_summary(page)),
    "page": page_html,
}


def render(result: Found, format: str = "table") -> str:
    """What a verb found, as text: table, md, html, json, and where a paper can show it latex, typst, csv."""
    forms = PAGE if isinstance(result, Page) else FORMATS.get(type(result), TABLES)
    if format not in forms:
        raise unknown(f"format of {type(result).__name__}", format, forms)
    return forms[format](result)
