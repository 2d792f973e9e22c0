"""Scores that people gave: to what a system predicts for a document, or to a prediction beside a reference.

    {"id": "d1", "annotator": "x", "score": 0.4}                    of a set, with "system" where there are several runs
    {"prediction": "...", "reference": "...", "annotator": "x", "score": 3}        of a pair, with an "id" if it has one

JSON lines, a JSON list, CSV, TSV or Parquet; without annotators all scores are of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.formats.base import brief, quoted
from karat.formats.containers import container_at, rows

Kind = Literal["sets", "pairs"]
Item = tuple[str, ...]  # (document, system or "") of a set, (prediction, reference, document or "") of a pair

FORMS = (
    'a line is {"id": "d1", "annotator": "x", "score": 0.4} or '
    '{"prediction": "...", "reference": "...", "annotator": "x", "score": 3}'
)
HumanLike = str | Path | Iterable[Mapping[str, Any]]  # scores that people gave


@dataclass(frozen=True, slots=True)
class Judged:
    """What people scored: items down, annotators across."""

    kind: Kind
    items: tuple[Item, ...]
    places: tuple[int, ...]  # the line of each item's first score
    annotators: tuple[str, ...]  # "" where none is named
    values: NDArray[np.float64]  # [items, annotators], NaN where there is no score
    repeats: int  # scores that were given again, the same
    origin: str

    def at(self, item: int) -> str:
        """Where an item stands, for messages."""
        return f"{self.origin}:{self.places[item]}"


def read_judged(scores: HumanLike) -> Judged:
    """The scores in a file, or in dicts of the same fields."""
    if not isinstance(scores, str | Path):
        return _judged(enumerate(scores, 1), "memory", text=False)
    path = str(scores)
    found = container_at(path)
    container = "csv" if found == "text" else found  # of a table only the name tells, and standard input has none
    return _judged(rows(path, container), path, text=container in ("csv", "tsv"))


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line: what was scored, by whom, how."""

    place: int
    kind: Kind
    item: Item
    annotator: str
    score: float


def _judged(records: Iterable[tuple[int, Any]], origin: str, text: bool) -> Judged:
    items: dict[Item, int] = {}  # with the place of each one's first score
    annotators: dict[str, int] = {}
    known: dict[tuple[Item, str], _Entry] = {}
    repeats = 0
    for entry in _entries(records, origin, text):
        first = next(iter(known.values()), entry)
        if entry.kind != first.kind:
            raise InputError(
                f"{origin}:{entry.place}: a score of {_ONE[entry.kind]}, but line {first.place} has one of "
                f"{_ONE[first.kind]}; write them to two files"
            )
        before = known.setdefault((entry.item, entry.annotator), entry)
        if before.score != entry.score:
            raise _twice(origin, before, entry)
        repeats += before is not entry
        items.setdefault(entry.item, entry.place)
        annotators.setdefault(entry.annotator, len(annotators))
    if not known:
        raise InputError(f"{origin}: there are no scores in it; {FORMS}")
    values = np.full((len(items), len(annotators)), np.nan)
    row = {item: number for number, item in enumerate(items)}
    for (item, annotator), entry in known.items():
        values[row[item], annotators[annotator]] = entry.score
    kind = next(iter(known.values())).kind
    return Judged(kind, tuple(items), tuple(items.values()), tuple(annotators), values, repeats, origin)


_ONE = {"sets": "a set (id)", "pairs": "a pair (prediction, reference)"}


def _twice(origin: str, before: _Entry, entry: _Entry) -> InputError:
    whose = f"annotator {quoted(entry.annotator)}" if entry.annotator else "an annotator without a name"
    what = " / ".join(quoted(part) for part in entry.item if part)
    hint = "keep one" if entry.annotator else 'keep one, or name the annotators: "annotator": "x"'
    return InputError(
        f"{origin}:{entry.place}: {whose} scores {what} {entry.score:g}, but {before.score:g} on line {before.place}; "
        + hint
    )


def _entries(records: Iterable[tuple[int, Any]], origin: str, text: bool) -> Iterator[_Entry]:
    for place, record in records:
        try:
            if not isinstance(record, Mapping):
                raise ValueError(FORMS)
            kind, item = _item(record)
            yield _Entry(place, kind, item, _name(record, "annotator"), _score(record.get("score"), text))
        except ValueError as error:
            raise InputError(f"{origin}:{place}: {error}") from None


def _item(record: Mapping[str, Any]) -> tuple[Kind, Item]:
    given = [name for name in ("prediction", "reference") if record.get(name) not in (None, "")]
    if len(given) == 2:
        return "pairs", (_phrase(record, "prediction"), _phrase(record, "reference"), _name(record, "id"))
    if given:
        lacking = "reference" if given == ["prediction"] else "prediction"
        raise ValueError(f"a {given[0]} without a {lacking}; {FORMS}")
    identifier = _name(record, "id")
    if not identifier:
        there = brief(", ".join(map(str, record)), 100) or "nothing"
        raise ValueError(f"neither an id nor a prediction and a reference (there is {there}); {FORMS}")
    return "sets", (identifier, _name(record, "system"))


def _phrase(record: Mapping[str, Any], name: str) -> str:
    value = record[name]
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"the {name} is one phrase, not {brief(repr(value), 80)}")
    return value


def _name(record: Mapping[str, Any], field: str) -> str:
    """An id or a name, which may be a number; empty where there is none."""
    value = record.get(field)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"{field} is a string, not {brief(repr(value), 80)}")
    return str(value)


def _score(value: Any, text: bool) -> float:
    """The score as a number; only in the cell of a table it is written as text."""
    if value is None or value == "":
        raise ValueError(f"no score; {FORMS}")
    try:
        number = float(value) if text or not isinstance(value, str | bool) else None
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or not isfinite(number):
        hint = ", without quotes" if isinstance(value, str) and not text else ""
        raise ValueError(f"the score {brief(repr(value), 80)} is not a finite number; write one, as 3 or 0.4{hint}")
    return number
