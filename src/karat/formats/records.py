"""Formats whose documents are records: read from and written to JSON lines, a JSON list, CSV, TSV or Parquet.

A format says what the fields of its records are and how a record becomes a document or a prediction, and back; in which
container the records come is seen here, and the name of a written file chooses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, TypeVar

import msgspec

from karat.corpus import Batches, Document, Prediction, in_batches
from karat.errors import InputError
from karat.formats import jsonl
from karat.formats.base import Format, Record, brief
from karat.formats.containers import container_at, rows, save
from karat.formats.head import Head

S = TypeVar("S")
R = TypeVar("R", Document, Prediction)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout(Generic[S]):
    """The fields of a record as a type that msgspec knows, and what they mean; None where there is no such use.

    A ValueError that a function raises is an error in the record; its place is added.
    """

    kind: type[S]
    document: Callable[[S], Document] | None = None
    prediction: Callable[[S], Prediction] | None = None
    of_document: Callable[[Document], S] | None = None
    of_prediction: Callable[[Prediction], S] | None = None


def record_format(*, name: str, summary: str, fits: Callable[[Record], bool], layout: Layout[Any]) -> Format:
    """The format of records in a layout; `fits` looks at the first record."""

    @wraps(fits)
    def first_fits(head: Head) -> bool:
        return bool(head.record) and fits(head.record)

    return Format(
        name=name,
        summary=summary,
        fits=first_fits,
        corpus=_reader(layout.kind, layout.document),
        run=_reader(layout.kind, layout.prediction),
        save_corpus=_writer(layout.of_document),
        save_run=_writer(layout.of_prediction),
    )


def _reader(kind: type[S], convert: Callable[[S], R] | None) -> Callable[[str], Batches[R]] | None:
    if convert is None:
        return None
    return lambda path: lambda: in_batches(read_as(path, kind, convert), path)


def _writer(convert: Callable[[R], Any] | None) -> Callable[[str, Iterable[R]], None] | None:
    if convert is None:
        return None
    return lambda path, given: save(path, map(convert, given))


def read_as(
    path: str, kind: type[S], convert: Callable[[S], R], container: str | None = None
) -> Iterator[tuple[int, R]]:
    """(place, document or prediction) of every record; what a record has wrong is said with its place."""
    for place, record in _typed(path, kind, container or container_at(path)):
        try:
            made = convert(record)
        except ValueError as error:
            raise InputError(f"{path}:{place}: {brief(str(error))}") from None
        except RecursionError:
            raise InputError(f"{path}:{place}: nested too deeply") from None
        yield place, made


def _typed(path: str, kind: type[S], container: str) -> Iterator[tuple[int, S]]:
    if container == "jsonl":
        yield from jsonl.records(path, kind)
        return
    for place, row in rows(path, container):
        try:
            yield place, msgspec.convert(row, kind, strict=container not in ("csv", "tsv", "xlsx"))
        except msgspec.ValidationError as error:
            raise InputError(f"{path}:{place}: {brief(str(error))}") from None
