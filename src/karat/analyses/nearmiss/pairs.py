"""A file of near misses: JSON lines of pairs to judge, or a table that also has the classes of each pair.

To the table people add a column each, and `karat human` reads it as it is.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

import msgspec

from karat.analyses.nearmiss.result import NearMiss
from karat.errors import InputError
from karat.formats.containers import container_of
from karat.formats.human import ABOUT, SIMILARITY
from karat.formats.output import writing
from karat.inert import guarded

PAIR = ("id", "prediction", "reference")
COLUMNS = (*PAIR, *ABOUT)
_DELIMITERS = {"csv": ",", "tsv": "\t"}

Write = Callable[[Sequence[NearMiss]], None]


def check_container(path: str) -> str:
    """What near misses are written as: jsonl, csv or tsv. Raises InputError if it is something else."""
    container = container_of(path)
    if container != "jsonl" and container not in _DELIMITERS:
        raise InputError(f"{path}: near misses are written as JSON lines, or as a table to .csv or .tsv")
    return container


@contextmanager
def writing_pairs(path: str) -> Iterator[Write]:
    """A function that writes near misses to a file, each document's pairs once whichever runs have them."""
    container = check_container(path)
    with writing(path) as file:
        write = _write_lines(file) if container == "jsonl" else _write_table(file, _DELIMITERS[container])
        yield lambda found: write(_distinct(found))


def _distinct(found: Sequence[NearMiss]) -> list[NearMiss]:
    known: dict[tuple[str, ...], NearMiss] = {}
    for each in found:
        known.setdefault((each.id, each.prediction, each.reference), each)
    return list(known.values())


def _write_lines(file: IO[bytes]) -> Write:
    encoder = msgspec.json.Encoder()

    def write(found: Sequence[NearMiss]) -> None:
        file.write(encoder.encode_lines([{name: getattr(each, name) for name in PAIR} for each in found]))

    return write


def _write_table(file: IO[bytes], delimiter: str) -> Write:
    _add_rows(file, delimiter, [COLUMNS])

    def write(found: Sequence[NearMiss]) -> None:
        _add_rows(file, delimiter, map(_cells, found))

    return write


def _add_rows(file: IO[bytes], delimiter: str, rows: Iterable[Sequence[str]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    # Before Python 3.13 the library leaves a lone carriage return unquoted, and then does not read it.
    careful = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        (careful if any("\r" in cell for cell in row) else writer).writerow(row)
    file.write(text.getvalue().encode("utf-8", "replace"))


def _cells(miss: NearMiss) -> list[str]:
    """The cells of a near miss, none of which a spreadsheet takes for a formula."""
    phrases = {name: " ".join(getattr(miss, name).split()) for name in ("prediction", "reference")}
    shown = {"id": miss.id, **phrases, SIMILARITY: f"{miss.score:.10g}"}
    return [guarded(shown[name] if name in shown else getattr(miss.classes, name)) for name in COLUMNS]
