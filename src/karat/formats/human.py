"""Scores that people gave: to what a system predicts for a document, or to a prediction beside a reference.

    {"id": "d1", "annotator": "x", "score": 0.4}                    of a set, with "system" where there are several runs
    {"prediction": "...", "reference": "...", "annotator": "x", "score": 3}        of a pair, with an "id" if it has one

JSON lines, a JSON list, CSV, TSV or Parquet; without annotators all scores are of one. A table may also be wide, an
item a row and an annotator a column:

    prediction,reference,ana,ben,cem
    grid computing,effective grid computing,3,4,

There a cell may be empty. The columns that `karat nearmiss --all-pairs` writes beside the phrases are no annotators.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, unknown
from karat.formats.base import brief, quoted
from karat.formats.containers import container_at, rows
from karat.inert import unguarded

Kind = Literal["sets", "pairs"]
Item = tuple[str, ...]  # (document, system or "") of a set, (prediction, reference, document or "") of a pair

FORMS = (
    'a line is {"id": "d1", "annotator": "x", "score": 0.4} or '
    '{"prediction": "...", "reference": "...", "annotator": "x", "score": 3}'
)
WIDE = "in a wide table each annotator has a column of scores beside id, or beside prediction and reference"
SIMILARITY = "similarity"
ABOUT = ("relation", "location", "direction", "complexity", "words", SIMILARITY)  # what nearmiss tells of a pair
_ITEM = ("id", "system", "prediction", "reference")
_LONG = ("score", "annotator")  # columns that only a table of one score a line has
Range = tuple[float, float]  # the lowest and the highest score that people could give
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
    silent: tuple[str, ...] = ()  # columns of a wide table without any score
    unscored: int = 0  # rows of a wide table without any score

    def at(self, item: int) -> str:
        """Where an item stands, for messages."""
        return f"{self.origin}:{self.places[item]}"


def read_judged(scores: HumanLike, annotators: Sequence[str] | None = None, scale: Range | None = None) -> Judged:
    """The scores in a file, or in dicts of the same fields; of some annotators alone where these are named.

    Raises InputError if a line is no score, or if a score is outside a scale.
    """
    if not isinstance(scores, str | Path):
        return _judged(enumerate(scores, 1), _Reading("memory", False, True, annotators, scale))
    path = str(scores)
    found = container_at(path)
    container = "csv" if found == "text" else found  # of a table only the name tells, and standard input has none
    text = container in ("csv", "tsv")
    return _judged(rows(path, container), _Reading(path, text, text or container == "parquet", annotators, scale))


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a file is read: what its cells are, whether it can be a wide table, whose scores count, and which can be."""

    origin: str
    text: bool  # whether numbers are written as text
    table: bool
    annotators: Sequence[str] | None
    scale: Range | None


@dataclass(frozen=True, slots=True)
class _Entry:
    """One score: what was scored, by whom, how."""

    place: int
    kind: Kind
    item: Item
    annotator: str
    score: float


@dataclass(slots=True)
class _Seen:
    """What a reader came by besides scores."""

    annotators: dict[str, int]  # with how many scores each gave
    others: set[str]  # annotators whose scores do not count
    unscored: int = 0


def _judged(records: Iterable[tuple[int, Any]], reading: _Reading) -> Judged:
    items: dict[Item, int] = {}  # with the place of each one's first score
    known: dict[tuple[Item, str], _Entry] = {}
    seen, repeats, origin = _Seen({}, set()), 0, reading.origin
    for entry in _entries(records, reading, seen):
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
        seen.annotators[entry.annotator] = seen.annotators.get(entry.annotator, 0) + 1
    for name in reading.annotators or ():
        if name not in seen.annotators:
            raise unknown("annotator", name, {*seen.annotators, *seen.others} - {""})
    if not known:
        columns = f" (empty are {', '.join(map(quoted, seen.annotators))})" if seen.annotators else ""
        raise InputError(f"{origin}: there are no scores in it{columns}; {WIDE if seen.annotators else FORMS}")
    names = {name: a for a, name in enumerate(name for name, scores in seen.annotators.items() if scores)}
    values = np.full((len(items), len(names)), np.nan)
    row = {item: number for number, item in enumerate(items)}
    for (item, annotator), entry in known.items():
        values[row[item], names[annotator]] = entry.score
    silent = tuple(name for name, scores in seen.annotators.items() if not scores)
    kind, places = next(iter(known.values())).kind, tuple(items.values())
    return Judged(kind, tuple(items), places, tuple(names), values, repeats, origin, silent, seen.unscored)


_ONE = {"sets": "a set (id)", "pairs": "a pair (prediction, reference)"}


def _twice(origin: str, before: _Entry, entry: _Entry) -> InputError:
    whose = f"annotator {quoted(entry.annotator)}" if entry.annotator else "an annotator without a name"
    what = " / ".join(quoted(part) for part in entry.item if part)
    hint = "keep one" if entry.annotator else 'keep one, or name the annotators: "annotator": "x"'
    return InputError(
        f"{origin}:{entry.place}: {whose} scores {what} {entry.score:g}, but {before.score:g} on line {before.place}; "
        + hint
    )


def _entries(records: Iterable[tuple[int, Any]], reading: _Reading, seen: _Seen) -> Iterator[_Entry]:
    """All scores; of a wide table those of each row, from left to right."""
    known: dict[tuple[str, ...], Sequence[str] | None] = {}  # by the fields of a record, which in memory may differ
    for place, record in records:
        try:
            if not isinstance(record, Mapping):
                raise ValueError(FORMS)
            names = tuple(map(str, record))
            if names not in known:
                columns = _columns(names, reading, wide=any(each is not None for each in known.values()))
                seen.annotators |= dict.fromkeys(columns or (), 0) | seen.annotators
                known[names] = columns
            columns = known[names]
            if columns is None:
                yield from _long(place, record, reading, seen)
            else:
                found = list(_wide(place, record, columns, reading))
                seen.unscored += not found
                yield from found
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"{reading.origin}:{place}: {error}") from None


def _columns(fields: Sequence[str], reading: _Reading, wide: bool) -> Sequence[str] | None:
    """The columns of a wide table that hold scores; None where a line is one score. Others before may be `wide`."""
    names = [name for name in fields if name.strip()]
    chosen = reading.annotators
    if not reading.table or (any(name in names for name in _LONG) and not set(chosen or ()) & set(names)):
        return None
    own = [name for name in names if name not in (*_ITEM, *ABOUT)]
    if chosen is not None:
        for name in chosen:
            if not wide and (name not in names or name in _ITEM):
                raise unknown("annotator", name, own)
        return list(dict.fromkeys(chosen))
    if not own:
        return [] if wide else None
    for name in own:
        if get_close_matches(name.lower(), _LONG, cutoff=0.8):
            raise InputError(
                f"{reading.origin}: there is a column {quoted(name)}, but none named score; {FORMS}; {WIDE}"
            )
    return own


def _long(place: int, record: Mapping[str, Any], reading: _Reading, seen: _Seen) -> Iterator[_Entry]:
    kind, item = _item(record, reading.text)
    annotator = _name(record, "annotator")
    if reading.annotators is None or annotator in reading.annotators:
        yield _Entry(place, kind, item, annotator, _within(_score(record.get("score"), reading.text), reading.scale))
    else:
        seen.others.add(annotator)


def _wide(place: int, record: Mapping[str, Any], columns: Sequence[str], reading: _Reading) -> Iterator[_Entry]:
    """The scores of a row."""
    kind, item = _item(record, reading.text)
    for name in columns:
        value = record.get(name)
        if value is None or value != value or (isinstance(value, str) and not value.strip()):
            continue
        try:
            score = _within(_score(value, reading.text), reading.scale)
        except ValueError as error:
            wider = "; which columns are scores is said with --annotators" if reading.annotators is None else ""
            raise ValueError(f"column {quoted(name)}: {error}{wider}") from None
        yield _Entry(place, kind, item, name, score)


def _within(score: float, scale: Range | None) -> float:
    if scale is not None and not scale[0] <= score <= scale[1]:
        raise ValueError(f"the score {score:g} is outside the scale, which is from {scale[0]:g} to {scale[1]:g}")
    return score


def _item(record: Mapping[str, Any], text: bool) -> tuple[Kind, Item]:
    given = [name for name in ("prediction", "reference") if record.get(name) not in (None, "")]
    if len(given) == 2:
        phrases = (_phrase(record, name, text) for name in ("prediction", "reference"))
        return "pairs", (*phrases, _name(record, "id", text))
    if given:
        lacking = "reference" if given == ["prediction"] else "prediction"
        raise ValueError(f"a {given[0]} without a {lacking}; {FORMS}")
    identifier = _name(record, "id", text)
    if not identifier:
        there = brief(", ".join(map(str, record)), 100) or "nothing"
        raise ValueError(f"neither an id nor a prediction and a reference (there is {there}); {FORMS}")
    return "sets", (identifier, _name(record, "system"))


def _phrase(record: Mapping[str, Any], name: str, text: bool) -> str:
    value = record[name]
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"the {name} is one phrase, not {brief(repr(value), 80)}")
    return unguarded(value) if text else value


def _name(record: Mapping[str, Any], field: str, text: bool = False) -> str:
    """An id or a name, which may be a number; empty where there is none."""
    value = record.get(field)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"{field} is a string, not {brief(repr(value), 80)}")
    return unguarded(str(value)) if text else str(value)


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
        if text and re.fullmatch(r"\s*[-+]?\d*,\d+\s*", str(value)):
            hint = f": {str(value).strip().replace(',', '.')} with a point"
        raise ValueError(f"the score {brief(repr(value), 80)} is not a finite number; write one, as 3 or 0.4{hint}")
    return number
