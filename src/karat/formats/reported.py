"""Figures that a paper reports, as they stand there.

    {"metric": "f1@M", "subset": "present", "value": 0.340}       with "system" and "corpus" where there are several

JSON lines, a JSON list, CSV, TSV or Parquet. How many decimals were printed is seen from the value as it is written,
0.340 having three; `digits` tells it where zeros at the end got lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import msgspec

from karat.errors import InputError
from karat.formats import jsonl
from karat.formats.base import brief, quoted
from karat.formats.containers import container_at, rows
from karat.formats.files import read_whole
from karat.formats.load import decoded_json

FORM = 'a line is {"metric": "f1@M", "subset": "present", "value": 0.340}'
MOST_DIGITS = 12
LARGEST = 10**9  # beyond what any metric can be


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: what it is of, its value, with how many decimals it was printed, and where it was found."""

    metric: str
    subset: str | None
    value: float
    digits: int
    system: str | None
    corpus: str | None
    place: str


def read_reported(reported: str | Path | Iterable[Mapping[str, Any]]) -> list[Figure]:
    """The figures in a file, or in dicts of the same fields."""
    if isinstance(reported, str | Path):
        path = str(reported)
        found = [_figure(record, f"{path}:{place}") for place, record in _records(path)]
    else:
        path = "reported"
        found = [_figure(record, f"{path}, figure {number}") for number, record in enumerate(reported, 1)]
    if not found:
        raise InputError(f"{path}: there are no figures in it; {FORM}")
    return found


def _records(path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(place, fields); numbers in JSON stay as they are written."""
    container = container_at(path)
    if container == "jsonl":
        for place, raw in jsonl.records(path, dict[str, msgspec.Raw]):
            yield place, _written(raw, f"{path}:{place}")
    elif container == "json":
        listed = list(rows(path, container))  # says what is wrong with the file
        content = read_whole(path)
        as_listed = content if content.lstrip().startswith(b"[") else b"[" + content + b"]"
        raws = decoded_json(as_listed, list[dict[str, msgspec.Raw]], path, "not a list of figures")
        for (place, _), raw in zip(listed, raws, strict=True):
            yield place, _written(raw, f"{path}:{place}")
    else:  # of a table only the name tells, and standard input has none
        yield from rows(path, "csv" if container == "text" else container)


def _written(raw: Mapping[str, msgspec.Raw], where: str) -> dict[str, Any]:
    """The fields of a record, numbers as the text that stands in the file."""
    fields = {name: bytes(field).strip() for name, field in raw.items()}
    return {
        name: field.decode() if field[:1] in b"-0123456789" else decoded_json(field, Any, where, "not JSON")
        for name, field in fields.items()
    }


def _figure(record: Mapping[str, Any], place: str) -> Figure:
    try:
        if not isinstance(record, Mapping):
            raise ValueError(FORM)
        metric = _name(record, "metric")
        if metric is None:
            there = brief(", ".join(map(str, record)), 100) or "nothing"
            raise ValueError(f"no metric (there is {there}); {FORM}")
        value = _decimal(record.get("value"))
        return Figure(
            metric,
            _name(record, "subset"),
            float(value),
            _digits(record.get("digits"), value),
            _name(record, "system"),
            _name(record, "corpus"),
            place,
        )
    except ValueError as error:
        raise InputError(f"{place}: {error}") from None


def _name(record: Mapping[str, Any], field: str) -> str | None:
    """A name, which may be a number; None where there is none."""
    value = record.get(field)
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"{field} is a string, not {brief(repr(value), 80)}")
    return str(value).strip()


def _decimal(value: Any) -> Decimal:
    """The value with the decimals it is written with."""
    if value is None or value == "":
        raise ValueError(f"no value; {FORM}")
    try:
        found = Decimal(str(value).strip()) if not isinstance(value, bool) else None
    except InvalidOperation:
        found = None
    if found is None or not found.is_finite() or abs(found) > LARGEST:
        raise ValueError(f"the value {brief(repr(value), 80)} is not a number; write one, as 0.340 or 34.0")
    return found


def _digits(given: Any, value: Decimal) -> int:
    """The decimals printed: as they are given, or as the value is written."""
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # the value is finite
    written = max(-exponent, 0)
    if given is None or given == "":
        if written > MOST_DIGITS:
            raise ValueError(f"the value {value} has {written} decimals; write it as it is printed, or its digits")
        return written
    text = str(given).strip()
    if isinstance(given, bool) or text not in map(str, range(MOST_DIGITS + 1)):
        raise ValueError(f"digits is a whole number from 0 to {MOST_DIGITS}, not {quoted(text)}")
    if written > int(text) and value * 10 ** int(text) % 1:
        raise ValueError(f"the value {value} has more decimals than its digits, {text}; write it as it is printed")
    return int(text)
