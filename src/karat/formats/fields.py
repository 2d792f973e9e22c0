"""Any records by the names of their columns: CSV, TSV, JSON lines, JSON, Parquet.

`id=doc,keyphrases=preds,separator=;` says which column is which. A list is read as it is; a string where a list is due
is read as a list if it is written as one (`["a", "b"]`), else split at the separator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import msgspec

from karat.corpus import PER_PHRASE, Batches, Document, Prediction, in_batches
from karat.errors import InputError, unknown
from karat.formats.base import Record, brief, most_phrases, quoted, too_many_phrases
from karat.formats.containers import cell_list, container_at, rows
from karat.formats.head import Head, Role
from karat.formats.load import json_value
from karat.formats.records import read_as

COLUMNS = {
    "corpus": ("id", "title", "text", "keyphrases", "reference_sets"),
    "run": ("id", "keyphrases", *PER_PHRASE),
}
SET = "references."  # references.author=COLUMN is the reference set `author`
_SETTING = re.compile(r"(?:^|,)\s*([a-z_]+(?:\.[^=,]+)?)=")
FIRST_ROWS = 100  # in which a named column must occur


@dataclass(frozen=True, slots=True)
class Fields:
    """Which column is which, at what phrases are parted, and at what the variants of one are."""

    columns: dict[str, str] = field(default_factory=dict)
    separator: str = ";"
    variants: str | None = None
    role: Role | None = None  # which files they are for; None: those that have the columns
    needed: tuple[str, ...] = ()  # columns that must be there

    def document(self, record: Record) -> Document:
        """The record as a document."""
        get = partial(self._value, record)
        sets = {name: get(name) for name in self.columns if name.startswith(SET)}
        made = {
            "id": _id(get("id")),
            "title": _text(get("title")),
            "text": _text(get("text")),
            "keyphrases": self._references(get("keyphrases")),
            "reference_sets": {name.removeprefix(SET): self._references(value) or [] for name, value in sets.items()}
            or _sets(get("reference_sets")),
        }
        return msgspec.convert(made, Document)

    def prediction(self, record: Record) -> Prediction:
        """The record as a prediction; empty cells tell nothing."""
        get = partial(self._value, record)
        values = {name: self._list(get(name)) or None for name in COLUMNS["run"][2:]}
        values["scores"] = [_number(score) for score in values["scores"]] if values["scores"] else None
        phrases = self._list(get("keyphrases")) or []
        if phrases and all(map(_is_pair, phrases)) and values["scores"] is None:  # as extractors print their lists
            values["scores"] = [score for _, score in phrases]
            phrases = [phrase for phrase, _ in phrases]
        made = {"id": _id(get("id")), "keyphrases": [_phrase(phrase) for phrase in phrases]}
        return msgspec.convert(made | values, Prediction, strict=False)

    def _value(self, record: Record, name: str) -> Any:
        """The value of a column; several joined by `+` are one text, a dotted name goes into a record."""
        column = self.columns.get(name)
        if column is None or column in record or "+" not in column:
            return None if column is None else look(record, column)
        return "\n".join(str(part) for part in (look(record, name) for name in column.split("+")) if part)

    def _list(self, value: Any) -> list[Any] | None:
        if value is None or isinstance(value, list):
            return value
        return cell_list(value, self.separator) if isinstance(value, str) else [value]

    def _references(self, value: Any) -> list[Any] | None:
        if isinstance(value, str) and self.variants and value.count(self.variants) >= most_phrases():
            raise too_many_phrases("")
        found = (
            None if isinstance(value, str) and not value.strip() else self._list(value)
        )  # an empty cell tells nothing
        return None if found is None else [self._reference(phrase) for phrase in found]

    def _reference(self, phrase: Any) -> Any:
        if isinstance(phrase, str) and self.variants and self.variants in phrase:
            return [variant.strip() for variant in phrase.split(self.variants)]
        return [_phrase(variant) for variant in phrase] if isinstance(phrase, list) else _phrase(phrase)


def look(record: Record, column: str) -> Any:
    """The value of a column, or of a dotted path into a record of records; None where it is not there.

    >>> look({"a": {"b": 1}, "a.c": 2}, "a.b"), look({"a": {"b": 1}, "a.c": 2}, "a.c"), look({}, "x")
    (1, 2, None)
    """
    if column in record:
        return record[column]
    found: Any = record
    for part in column.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _id(value: Any) -> str | int | None:
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer():  # what pandas makes of numbers in a column with gaps
        return int(value)
    return value if isinstance(value, int) else str(value)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


def _phrase(value: Any) -> str | None:
    if isinstance(value, list | dict):
        raise ValueError(f"{brief(repr(value), 80)} stands where a phrase is due; name its column with --fields")
    return _text(value)


def _is_pair(value: Any) -> bool:
    """Whether a value is a phrase with its score."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and type(value[1]) in (int, float)


def _number(value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"the score {brief(repr(value), 80)} is not a number") from None


def _sets(value: Any) -> Any:
    """Reference sets, which in a cell are written as JSON."""
    if not isinstance(value, str):
        return value
    found = json_value(value.encode(errors="replace")) if value.strip() else {}
    if not isinstance(found, dict):
        raise ValueError('reference_sets are no JSON; write {"author": ["a", "b"]}')
    return found or None


# ---------------------------------------------------------------------------------------------- --fields


def parse_fields(text: str) -> Fields:
    r"""The fields of `[corpus:|run:]id=doc,keyphrases=preds,separator=;`; a separator may be a comma, or \t.

    >>> parse_fields("run:id=doc,separator=,,keyphrases=p").columns
    {'id': 'doc', 'keyphrases': 'p'}
    """
    role = next((role for role in COLUMNS if text.startswith(role + ":")), None)
    settings = text if role is None else text[len(role) + 1 :]
    found = list(_SETTING.finditer(settings))
    if not found or found[0].start() != 0:
        raise InputError(f"--fields is name=column,..., as id=doc,keyphrases=preds,separator=; and not {text!r}")
    ends = [*(match.start() for match in found[1:]), len(settings)]
    values = {match[1]: settings[match.end() : end] for match, end in zip(found, ends, strict=True)}
    separator = values.pop("separator", ";").replace("\\t", "\t").replace("\\n", "\n")
    variants = values.pop("variants", None)
    values = {name: column.strip() for name, column in values.items()}
    known = {*COLUMNS["corpus"], *COLUMNS["run"]}
    for name, column in values.items():
        if name not in known and not name.startswith(SET):
            raise unknown("field", name, [*known, "separator", "variants", SET + "NAME"])
        if not column:
            raise InputError(f"--fields {text}: {name} names no column")
    if not separator or variants == "":
        raise InputError(f"--fields {text}: an empty separator parts nothing")
    needed = tuple(part for column in values.values() for part in column.split("+")) or ("keyphrases",)
    values = values or {name: name for names in COLUMNS.values() for name in names}  # a separator alone was given
    return Fields(values, separator, variants, role, needed)  # type: ignore[arg-type]


def choose(given: Iterable[str], head: Head) -> Fields | None:
    """The fields that a file is to be read by: those for its role, or those whose columns it has."""
    everything = [fields for fields in map(parse_fields, given) if fields.role in (head.role, None)]
    if not everything or head.container in ("folder", "several"):
        return None
    try:
        there = [row for _, row in islice(rows(head.path, _table(head.path)), FIRST_ROWS)]
    except InputError:  # it is no table, and so none of these are for it; its own reader says what it is
        return None
    for fields in everything:
        lacking = [column for column in fields.needed if not any(_has(row, column) for row in there)]
        if not lacking:
            return fields
        if fields.role is not None:
            names = brief(", ".join(map(quoted, dict.fromkeys(name for row in there for name in row))), 400)
            raise InputError(f"{head.path}: no column {lacking[0]!r}; there are {names}")
    return None


def _has(row: Record, column: str) -> bool:
    return column in row or look(row, column) is not None


def _table(path: str) -> str:
    """The container of a file that is known to hold records: text can only be CSV then."""
    container = container_at(path)
    return "csv" if container == "text" else container


def corpus_by(fields: Fields, path: str) -> Batches[Document]:
    """The documents of a file whose columns are named."""
    return lambda: in_batches(read_as(path, Record, fields.document, _table(path)), path)


def run_by(fields: Fields, path: str) -> Batches[Prediction]:
    """The predictions of a file whose columns are named."""
    return lambda: in_batches(read_as(path, Record, fields.prediction, _table(path)), path)
