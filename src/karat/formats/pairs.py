"""Pairs of documents that are alike.

    {"a": "d1", "b": "d7", "jaccard": 0.5}                           further fields tell how alike they are: not read
    {"a": "d1", "b": "d7", "jaccard": 0.5, "stemmer": "porter"}      mined by stems
    {"a": "d1", "b": "d1~paraphrase", "method": "paraphrase"}        how a reformulation was made

JSON lines, a JSON list, CSV, TSV or Parquet. For a reformulation, a is its source. Where no method is given, the id
that `karat pairs reformulate` gives to b tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.errors import InputError
from karat.formats.base import Record, brief, quoted
from karat.formats.containers import container_at, container_of, rows, save

PairsLike = str | Path | Iterable[Mapping[str, Any]]
FORM = 'a line is {"a": "d1", "b": "d7"}'
SCORES = ("jaccard", "max")  # fields of pairs that were mined by what they share
STEMMER = "stemmer"  # the field that names the stemmer of pairs that were mined by stems
MARK = "~"  # in the id of a reformulation, between that of its document and the method


@dataclass(frozen=True, slots=True)
class Paired:
    """Pairs of documents, by their ids, as columns."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    places: tuple[int, ...]  # the line of each
    origin: str
    mined: bool = False  # whether they have the score of pairs that were mined by what they share
    stemmed: bool = False  # whether they were mined by stems
    methods: tuple[str | None, ...] = ()  # how the reformulation of each pair was made, where that is known

    def __len__(self) -> int:
        return len(self.a)

    def at(self, pair: int) -> str:
        """Where a pair stands, for messages."""
        return f"{self.origin}:{self.places[pair]}"


def read_pairs(pairs: PairsLike) -> Paired:
    """The pairs in a file, or in dicts of the same fields."""
    if not isinstance(pairs, str | Path):
        return _paired(enumerate(pairs, 1), "memory")
    path = str(pairs)
    found = container_at(path)
    # Of a table only the name tells, and standard input has none.
    return _paired(rows(path, "csv" if found == "text" else found), path)


def _paired(records: Iterable[tuple[int, Any]], origin: str) -> Paired:
    known: dict[tuple[str, str], int] = {}
    methods: list[str | None] = []
    mined = stemmed = False
    for place, a, b, record in _entries(records, origin):
        mined = mined or not record.keys().isdisjoint(SCORES)
        stemmed = stemmed or bool(record.get(STEMMER))
        methods.append(method_of(record, a, b))
        before = known.get((a, b)) or known.get((b, a))
        if before is not None:
            raise InputError(
                f"{origin}:{place}: {quoted(a)} and {quoted(b)} are a pair on line {before} already; keep one"
            )
        known[a, b] = place
    if not known:
        raise InputError(f"{origin}: there are no pairs in it; {FORM}")
    ids_a, ids_b = tuple(a for a, _ in known), tuple(b for _, b in known)
    return Paired(ids_a, ids_b, tuple(known.values()), origin, mined, stemmed, tuple(methods))


def method_of(record: Mapping[str, Any], a: str, b: str) -> str | None:
    """How a reformulation was made: by its own field, else by its id; None where neither tells.

    >>> method_of({}, "d1", "d1~paraphrase"), method_of({"method": "by hand"}, "d1", "x"), method_of({}, "d1", "d2")
    ('paraphrase', 'by hand', None)
    """
    given = record.get("method")
    if isinstance(given, str) and given.strip():
        return given.strip()
    named = b.removeprefix(a + MARK) if b.startswith(a + MARK) else ""
    return named.partition(MARK)[0] or None


def _entries(records: Iterable[tuple[int, Any]], origin: str) -> Iterator[tuple[int, str, str, Mapping[str, Any]]]:
    """(line, a, b, the whole record) of each pair."""
    for place, record in records:
        try:
            if not isinstance(record, Mapping):
                raise ValueError(FORM)
            a, b = _id(record, "a"), _id(record, "b")
            if a == b:
                raise ValueError(f"{quoted(a)} is paired with itself; a pair is of two documents")
        except ValueError as error:
            raise InputError(f"{origin}:{place}: {error}") from None
        yield place, a, b, record


def _id(record: Mapping[str, Any], field: str) -> str:
    """The id of one side, which may be a number."""
    value = record.get(field)
    if value is None or value == "":
        there = brief(", ".join(map(str, record)), 100) or "nothing"
        raise ValueError(f"no {field} (there is {there}); {FORM}")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"{field} is the id of a document, not {brief(repr(value), 80)}; {FORM}")
    return str(value)


def write_pairs(path: str | Path, found: Iterable[Record]) -> None:
    """Writes pairs; the file's name chooses between JSON lines, CSV, TSV and Parquet."""
    save(str(path), found, container_of(str(path)))
