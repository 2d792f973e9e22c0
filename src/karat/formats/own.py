"""karat's own formats: its records as JSON lines, and the same columns in a table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain, islice
from typing import TypeVar

from karat.corpus import Batches, Document, Prediction, in_batches
from karat.formats import jsonl
from karat.formats.base import Format
from karat.formats.containers import container_at, container_of, save
from karat.formats.fields import COLUMNS, Fields, corpus_by, run_by
from karat.formats.head import Head, Role
from karat.formats.records import read_as

R = TypeVar("R", Document, Prediction)

# Of the fields of a record, those that others do not have; and all of them.
_TELLING = {"corpus": {"text", "keyphrases", "reference_sets"}, "run": {"keyphrases"}}
_KNOWN = {*COLUMNS["corpus"], *COLUMNS["run"]}
_NO_LINES = ("json", "datasets")  # containers of the same records that are not JSON lines
_CONCEPTS = ("concepts", "concepts_by")
_TABLE = Fields({name: name for name in _KNOWN})


def _fits(head: Head) -> bool:
    """Records of karat's own fields; broken or empty lines too, of which the reader says what is wrong."""
    telling = _TELLING[head.role] | ({"sentences"} if head.role == "corpus" else set())  # tables hold no sentences
    own = not telling.isdisjoint(head.record) or _KNOWN.issuperset(head.record)
    return own and (head.container == "jsonl" or (head.container in _NO_LINES and bool(head.record)))


def corpus(path: str) -> Batches[Document]:
    """The documents of JSON lines, of a JSON list, or of a dataset."""
    return _batches(path, Document) if container_at(path) in _NO_LINES else jsonl.corpus(path)


def run(path: str) -> Batches[Prediction]:
    """The predictions of JSON lines, of a JSON list, or of a dataset."""
    return _batches(path, Prediction) if container_at(path) in _NO_LINES else jsonl.run(path)


def _batches(path: str, kind: type[R]) -> Batches[R]:
    return lambda: in_batches(read_as(path, kind, lambda record: record), path)


def _save_table(role: Role, containers: tuple[str, ...], path: str, records: Iterable[Document | Prediction]) -> None:
    container, reading = container_of(path), iter(records)
    first = list(islice(reading, 1))
    # A table has columns of concepts only where there are such.
    lacking = _CONCEPTS if all(getattr(record, "concepts", None) is None for record in first) else ()
    columns = [name for name in COLUMNS[role] if name not in lacking]
    found = ({name: getattr(record, name) for name in columns} for record in chain(first, reading))
    save(path, found, container if container in containers else containers[0])


def _table_format(name: str, summary: str, *containers: str) -> Format:
    return Format(
        name=name,
        summary=summary,
        fits=lambda head: head.container in containers and not _TELLING["corpus"].isdisjoint(head.record),
        corpus=partial(corpus_by, _TABLE),
        run=partial(run_by, _TABLE),
        save_corpus=partial(_save_table, "corpus", containers),
        save_run=partial(_save_table, "run", containers),
        general=True,
    )


FORMATS = (
    Format(
        name="karat",
        summary="JSON lines (.gz, .zst), or a JSON list: id, title, text, keyphrases",
        fits=_fits,
        corpus=corpus,
        run=run,
        save_corpus=jsonl.save,
        save_run=jsonl.save,
        general=True,
    ),
    _table_format("csv", "CSV or TSV with a header: id, title, text, keyphrases as `a;b`", "csv", "tsv"),
    _table_format("parquet", "Parquet with columns id, title, text, keyphrases", "parquet"),
    _table_format("xlsx", "Excel, the first sheet, with a header: id, title, text, keyphrases as `a;b`", "xlsx"),
)
