"""Results as text: tables for people, JSON and CSV for programs. Nothing here computes."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from karat.alike import Homogeneity
from karat.auditing import Audit
from karat.calibration import Confidence
from karat.checking import Check
from karat.comparing import Comparison
from karat.naming import Consistency
from karat.nearmisses import NearMisses
from karat.overlapping import Overlap
from karat.people import Human
from karat.predicting.running import Predicted
from karat.profiles import Description
from karat.reformulating import Filtered, Forecast
from karat.report import (
    audits,
    checks,
    comparisons,
    confidences,
    consistencies,
    descriptions,
    homogeneities,
    nearmisses,
    overlaps,
    paper_tables,
    people,
    predicted,
    reformulations,
    reproductions,
    shown,
    studies,
)
from karat.report.tables import latex, markdown, terminal
from karat.reproducing import Reproduction
from karat.results import Found, Results
from karat.runs import Shown
from karat.studying import Study
from karat.tabling import Tables

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


def as_json(results: Found) -> str:
    """The whole of it; floats in full, null where undefined."""
    return msgspec.json.format(msgspec.json.encode(results.as_dict()), indent=1).decode() + "\n"


def as_csv(results: Results) -> str:
    """One line a score, for spreadsheets: no cell can be taken for a formula."""

    def options(row: dict[str, Any]) -> str:
        return ",".join(f"{name}={value}" for name, value in row["options"].items())

    return csv_lines(CSV_FIELDS, (row | {"options": options(row)} for row in results.rows()))


def csv_lines(fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """The fields of each row as CSV, below their names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(fields)
    for row in rows:
        writer.writerow([_cell(row[name]) for name in fields])
    return out.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return "" if value is None else value


FORMATS: dict[type, dict[str, Callable[[Any], str]]] = {
    Results: {"table": terminal, "md": markdown, "latex": latex, "csv": as_csv, "json": as_json},
    Audit: {
        "table": audits.terminal,
        "md": audits.markdown,
        "latex": audits.latex,
        "csv": lambda audit: as_csv(audit.results),
        "json": as_json,
    },
    Comparison: {
        "table": comparisons.terminal,
        "md": comparisons.markdown,
        "latex": comparisons.latex,
        "csv": lambda found: csv_lines(comparisons.CSV_FIELDS, comparisons.csv_rows(found)),
        "json": as_json,
    },
    Check: {
        "table": checks.terminal,
        "md": checks.markdown,
        "latex": checks.latex,
        "csv": lambda found: csv_lines(checks.CSV_FIELDS, checks.csv_rows(found)),
        "json": as_json,
    },
    Tables: {
        "table": paper_tables.terminal,
        "md": paper_tables.markdown,
        "latex": paper_tables.latex,
        "csv": lambda found: csv_lines(paper_tables.CSV_FIELDS, paper_tables.csv_rows(found)),
        "json": as_json,
    },
    Reproduction: {
        "table": reproductions.terminal,
        "md": reproductions.markdown,
        "latex": reproductions.latex,
        "csv": lambda found: csv_lines(reproductions.CSV_FIELDS, reproductions.csv_rows(found)),
        "json": as_json,
    },
    Description: {
        "table": descriptions.terminal,
        "md": descriptions.markdown,
        "latex": descriptions.latex,
        "csv": lambda found: csv_lines(descriptions.CSV_FIELDS, descriptions.csv_rows(found)),
        "json": as_json,
    },
    NearMisses: {
        "table": nearmisses.terminal,
        "md": nearmisses.markdown,
        "latex": nearmisses.latex,
        "csv": lambda found: csv_lines(nearmisses.CSV_FIELDS, nearmisses.csv_rows(found)),
        "json": as_json,
    },
    Confidence: {
        "table": confidences.terminal,
        "md": confidences.markdown,
        "latex": confidences.latex,
        "csv": lambda found: csv_lines(confidences.CSV_FIELDS, confidences.csv_rows(found)),
        "json": as_json,
    },
    Overlap: {
        "table": overlaps.terminal,
        "md": overlaps.markdown,
        "latex": overlaps.latex,
        "csv": lambda found: csv_lines(overlaps.CSV_FIELDS, overlaps.csv_rows(found)),
        "json": as_json,
    },
    Homogeneity: {
        "table": homogeneities.terminal,
        "md": homogeneities.markdown,
        "latex": homogeneities.latex,
        "csv": lambda found: csv_lines(homogeneities.CSV_FIELDS, homogeneities.csv_rows(found)),
        "json": as_json,
    },
    Predicted: {
        "table": predicted.terminal,
        "jsonl": predicted.json_lines,
        "csv": lambda found: csv_lines(predicted.columns(found), predicted.spread_rows(found)),
        "json": as_json,
    },
    Shown: {"table": shown.terminal, "md": shown.markdown, "json": as_json},
    Forecast: {"table": reformulations.forecast, "json": as_json},
    Filtered: {
        "table": reformulations.terminal,
        "md": reformulations.markdown,
        "latex": reformulations.latex,
        "csv": lambda found: csv_lines(reformulations.CSV_FIELDS, reformulations.csv_rows(found)),
        "json": as_json,
    },
    Study: {
        "table": studies.terminal,
        "md": studies.markdown,
        "latex": studies.latex,
        "csv": lambda found: csv_lines(studies.CSV_FIELDS, studies.csv_rows(found)),
        "json": as_json,
    },
    Consistency: {
        "table": consistencies.terminal,
        "md": consistencies.markdown,
        "latex": consistencies.latex,
        "csv": lambda found: csv_lines(consistencies.CSV_FIELDS, consistencies.csv_rows(found)),
        "json": as_json,
    },
    Human: {
        "table": people.terminal,
        "md": people.markdown,
        "latex": people.latex,
        "csv": lambda found: csv_lines(people.CSV_FIELDS, people.csv_rows(found)),
        "json": as_json,
    },
}


def render(result: Found, format: str = "table") -> str:
    """What a verb found, as text in one of its FORMATS."""
    return FORMATS[type(result)][format](result)
