"""Results as text: tables for people, JSON and CSV for programs. Nothing here computes."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from karat.errors import unknown
from karat.inert import encodable, escaped, guarded, inert
from karat.output.markup import html, markdown, parts_of
from karat.output.papers import latex, pieces_of, typst
from karat.output.terminal import terminal
from karat.results.displayed import Result

Formats = Mapping[str, Callable[[Any], str]]


def as_json(results: Result) -> str:
    """The whole of it; floats in full, null where undefined; what acts on a terminal is escaped."""
    return escaped(msgspec.json.format(_encoded(results.as_dict()), indent=1).decode()) + "\n"


def as_json_lines(found: Any) -> str:
    """The run of the result, a document a line."""
    return "".join(escaped(_encoded(prediction).decode()) + "\n" for prediction in found.as_run())


def _encoded(value: Any) -> bytes:
    """The value as JSON, with � for lone surrogates, which names of files may have."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(msgspec.to_builtins(value)))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {_encodable(name): _encodable(each) for name, each in value.items()}
    return [_encodable(each) for each in value] if isinstance(value, list | tuple) else value


def as_csv(found: Any) -> str:
    """The rows as CSV, below the names of their fields; in a cell nothing acts, and no text is a formula."""
    rows = found.flat_rows()
    return csv_lines(found.csv_fields or names_of(rows), rows)


def names_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of the fields of all rows, in their order."""
    return list(dict.fromkeys(name for row in rows for name in row))


def csv_lines(fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """The fields of each row as CSV, below their names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_cell, fields))
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in fields])
    return out.getvalue()


def _cell(value: object) -> object:
    return guarded(inert(value)) if isinstance(value, str) else "" if value is None else value


def _of_tables(result: Any, width: int | None) -> Formats:
    return {
        "table": lambda found: terminal(found.tables(), found.notes, width),
        "md": lambda found: markdown(parts_of(found.tables(), found.notes)),
        "html": lambda found: html(parts_of(found.tables(), found.notes)),
        "json": as_json,
        "latex": lambda found: latex(pieces_of(found.tables(), found.notes)),
        "typst": lambda found: typst(pieces_of(found.tables(), found.notes)),
        "csv": as_csv,
        **({"jsonl": as_json_lines} if hasattr(result, "as_run") else {}),
    }


def formats_of(result: Any, width: int | None = None) -> Formats:
    """What makes text of a result, by the name of the format."""
    if hasattr(result, "tables"):
        return _of_tables(result, width)
    from karat.output import page

    return page.FORMATS


def render(result: Result, format: str = "table", width: int | None = None) -> str:
    """A result as text: table, md, html, json, latex, typst or csv; predictions also as jsonl, a report as page.

    Tables have at most `width` columns: by default those of the terminal, or 80 where there is none. Raises InputError
    if the result has no such format.
    """
    forms = formats_of(result, width)
    if format not in forms:
        raise unknown(f"format of {type(result).__name__}", format, forms)
    return forms[format](result)
