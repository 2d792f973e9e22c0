"""Phrases that systems predict and references lack, for a person to review; and what the person accepted.

    {"id": "d1", "phrase": "deep learning", "systems": ["t5", "one2set"], "accept": null}

JSON lines, CSV, TSV or Parquet; `accept` is then set to true where the phrase is a good keyphrase of its document.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from karat.corpus import Document, Reference
from karat.errors import InputError
from karat.formats.base import Record, brief, quoted
from karat.formats.containers import container_at, container_of, rows, save, table_columns
from karat.formats.output import writing
from karat.inert import guarded, unguarded
from karat.record import note_merge

FIELDS = ("id", "phrase", "systems", "accept")
FORM = 'a line is {"id": "d1", "phrase": "deep learning", "accept": true}'
_TABLES = ("csv", "tsv")
_YES, _NO, _OPEN = ("true", "yes", "y", "x", "1"), ("false", "no", "n", "0"), ("", "null", "none")


@dataclass(frozen=True, slots=True)
class Accepted:
    """Phrases that are references too, by document, and a hash of them; the hash is None where there are none."""

    phrases: Mapping[str, tuple[str, ...]]
    hash: str | None

    def added_to(self, ids: Sequence[str], documents: Sequence[Document], name: str | None) -> Sequence[Document]:
        """The documents with these references, in the named set or among the keyphrases."""
        if not self.phrases:
            return documents
        pairs = zip(ids, documents, strict=True)
        return [_with(document, self.phrases[i], name) if i in self.phrases else document for i, document in pairs]


NONE_ACCEPTED = Accepted({}, None)


def _with(document: Document, phrases: Sequence[str], name: str | None) -> Document:
    sets = document.reference_sets or {}
    given: list[Reference] = list((document.keyphrases if name is None else sets.get(name)) or ())
    more = [*given, *(phrase for phrase in phrases if phrase not in given)]
    if name is None:
        return msgspec.structs.replace(document, keyphrases=more)
    return msgspec.structs.replace(document, reference_sets={**sets, name: more})


# ---------------------------------------------------------------------------------------------- reading


def read_accepted(path: str | Path, known: Set[str], corpus: str) -> Accepted:
    """What a review accepts for the documents of a corpus, whose ids are known; another document is an error."""
    decided: dict[tuple[str, str], tuple[int, bool]] = {}
    for place, identifier, phrase, accept in _decisions(str(path)):
        if identifier not in known:
            hint = near(identifier, known)
            raise InputError(f"{path}:{place}: there is no document {quoted(identifier)} in {corpus}{hint}")
        if accept is None:
            continue
        before = decided.setdefault((identifier, phrase), (place, accept))
        if before[1] != accept:
            raise InputError(
                f"{path}:{place}: {quoted(phrase)} is {_SAID[accept]} for document {quoted(identifier)}, but "
                f"{_SAID[before[1]]} on line {before[0]}; keep one"
            )
    return _accepted(pair for pair, (_, accept) in decided.items() if accept)


_SAID = {True: "accepted", False: "refused"}


def _accepted(pairs: Iterable[tuple[str, str]]) -> Accepted:
    found: dict[str, tuple[str, ...]] = {}
    for identifier, phrase in pairs:
        found[identifier] = (*found.get(identifier, ()), phrase)
    if not found:
        return NONE_ACCEPTED
    pack = msgspec.msgpack.encode(sorted((identifier, sorted(phrases)) for identifier, phrases in found.items()))
    return Accepted(found, blake2b(pack, digest_size=8).hexdigest())


def near(identifier: str, known: Iterable[str]) -> str:
    """A question for the ids that are most like one that is not there; empty where none is."""
    from rapidfuzz import process

    found = process.extract(identifier, sorted(known), limit=3, score_cutoff=60)
    return f"; did you mean {' or '.join(quoted(each) for each, _, _ in found)}?" if found else ""


def _decisions(path: str) -> Iterator[tuple[int, str, str, bool | None]]:
    """(line, document, phrase, whether it is accepted, None where nobody has decided)."""
    return ((place, *decision) for place, decision, _ in _judged(path))


def _judged(path: str) -> Iterator[tuple[int, tuple[str, str, bool | None], Record]]:
    """(line, (document, phrase, whether it is accepted), the record) of each line."""
    found = container_at(path)
    container = "csv" if found == "text" else found  # of a table only the name tells, and standard input has none
    for place, record in rows(path, container):
        try:
            yield place, _decision(record, table=container in _TABLES), record
        except ValueError as error:
            raise InputError(f"{path}:{place}: {error}") from None


def _decision(record: Record, table: bool) -> tuple[str, str, bool | None]:
    """(id, phrase, whether it is accepted); of a table without the guards of its cells."""
    identifier, phrase = record.get("id"), record.get("phrase")
    if isinstance(identifier, bool) or not isinstance(identifier, str | int) or identifier == "":
        raise ValueError(f"no id of a document; {FORM}")
    if not isinstance(phrase, str) or not phrase.strip():
        raise ValueError(f"no phrase; {FORM}")
    if "accept" not in record:
        raise ValueError(f"no accept; {FORM}")
    named = (unguarded(str(identifier)), unguarded(phrase)) if table else (str(identifier), phrase)
    return *named, _accept(record["accept"])


def _accept(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    written = str(value).strip().lower()
    if written in (*_YES, *_NO):
        return written in _YES
    if written in _OPEN:
        return None
    raise ValueError(f"accept is true, false or empty, not {brief(repr(value), 80)}")


# ---------------------------------------------------------------------------------------------- writing


@dataclass(frozen=True, slots=True)
class Review:
    """What people have added to a review: rows with a decision or a remark, by document and phrase, and columns."""

    rows: dict[tuple[str, str], Record] = field(default_factory=dict)
    columns: Sequence[str] = ()


def read_review(path: str | Path) -> Review:
    """Read what people have added to a review: nothing if there is no file.

    Raises InputError if the file is no review, is damaged, or decides on a phrase twice in different ways.
    """
    if not Path(path).is_file() or not Path(path).stat().st_size:
        return Review()
    note_merge(path)
    found: dict[tuple[str, str], Record] = {}
    try:
        for place, key, row in _review_rows(str(path)):
            before = found.setdefault(key, row)
            if before["accept"] != row["accept"]:
                raise InputError(f"{path}:{place}: {quoted(key[1])} is decided twice for document {quoted(key[0])}")
        columns = table_columns(str(path)) if container_at(str(path)) in _TABLES else list(FIELDS)
        if lacking := [name for name in ("id", "phrase", "accept") if name not in columns]:
            raise InputError(f"{path}: no column {lacking[0]}")
    except InputError as error:
        raise InputError(
            f"{error}; the file stands where a review is to be written and may hold decisions: correct it, or move it "
            "away, or name another file"
        ) from None
    return Review(found, [name for name in columns if name not in FIELDS])


def _review_rows(path: str) -> Iterator[tuple[int, tuple[str, str], Record]]:
    """(line, key, row) of what people have filled in."""
    for place, (identifier, phrase, accept), record in _judged(path):
        remarks = {name: value for name, value in record.items() if name not in FIELDS and value not in (None, "")}
        systems = record.get("systems") or []
        listed = [*filter(None, systems.split("; "))] if isinstance(systems, str) else systems
        if accept is not None or remarks:
            yield place, (identifier, phrase), {"systems": listed, "accept": accept} | remarks


def merge_review(kept: Review, found: Iterable[Record]) -> list[Record]:
    """Return the rows of a new review with the decisions and remarks of an older one, whose other rows come last."""
    left = dict(kept.rows)
    rows_of_both = [row | _decided(left.pop((row["id"], row["phrase"]), {})) for row in found]
    return rows_of_both + [{"id": i, "phrase": phrase} | row for (i, phrase), row in left.items()]


def _decided(row: Record) -> Record:
    return {name: value for name, value in row.items() if name != "systems"}


def write_review(path: str | Path, found: Iterable[Record], columns: Sequence[str] = ()) -> None:
    """Write phrases for a review; the file's name chooses between JSON lines, CSV, TSV and Parquet.

    Args:
        path: The file.
        found: A record for each phrase.
        columns: Further columns of a table, also those that no record fills.
    """
    container, listed = container_of(str(path)), list(found)
    if container in _TABLES:
        _write_table(str(path), listed, columns, "\t" if container == "tsv" else ",")
    else:
        save(str(path), listed, container)


def _write_table(path: str, found: Sequence[Record], columns: Sequence[str], delimiter: str) -> None:
    """A table with a header even where it has no rows, in which a spreadsheet sees no formula."""
    import csv

    names = [*columns, *(name for row in found for name in row)]
    remarks = [name for name in dict.fromkeys(names) if name not in FIELDS]

    with writing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        careful = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow([*FIELDS, *map(guarded, remarks)])
        for row in found:
            accept = "" if row.get("accept") is None else (_YES if row["accept"] else _NO)[0]
            cells = [*map(guarded, (row["id"], row["phrase"], "; ".join(row["systems"]))), accept]
            cells += [guarded(str(row.get(name, ""))) for name in remarks]
            (careful if any("\r" in cell for cell in cells) else writer).writerow(cells)  # see containers.py
        text.detach()
