"""Results as text: tables for people, JSON and CSV for programs. Nothing here computes."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import msgspec

from karat.errors import unknown
from karat.output.markup import html, markdown, noted, parts_of
from karat.output.papers import latex, pieces_of, typst
from karat.output.terminal import terminal
from karat.results import Found

Formats = dict[str, Callable[[Any], str]]


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
# Results that have no tables yet, and the modules that write them.
MODULES = {
    "Confidence": "confidences",
    "Description": "descriptions",
    "Human": "people",
    "NearMisses": "nearmisses",
}


def _of_module(name: str) -> Formats:
    module = import_module(f"karat.output.{name}")
    return {
        "table": module.terminal,
        "md": lambda found: markdown(module.parts(found)),
        "html": lambda found: html(module.parts(found)),
        "json": as_json,
        "latex": lambda found: latex([*module.printed(found), *noted(found.notes)]),
        "typst": lambda found: typst([*module.printed(found), *noted(found.notes)]),
        "csv": lambda found: csv_lines(module.CSV_FIELDS, module.csv_rows(found)),
    }


def formats_of(result: Found) -> Formats:
    """What makes text of a result, by the name of the format."""
    if hasattr(result, "tables"):
        return TABLES
    name = type(result).__name__
    if name in MODULES:
        return _of_module(MODULES[name])
    from karat.output import page

    return page.FORMATS


def render(result: Found, format: str = "table") -> str:
    """A result as text: table, md, html, json, latex, typst or csv; a report as md, html or page.

    Raises InputError if the result has no such format.
    """
    forms = formats_of(result)
    if format not in forms:
        raise unknown(f"format of {type(result).__name__}", format, forms)
    return forms[format](result)
