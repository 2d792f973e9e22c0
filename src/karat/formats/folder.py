"""Folders of documents: which files of a folder are documents, which ids they have, and where their references are.

A document is a file whose suffix `texts.py` knows: text, Markdown, HTML, docx, PDF. Its id is its place in the folder
without the suffix. Its references are in `X.key`, a phrase a line, or in `X.tsv`, a phrase a line behind its URI; they
lie beside it, or in a folder `keys` where the texts are in `docsutf8` (`docs`, `texts`), or in the second of two
folders that are given as `TEXTS+KEYS`. A file of records with texts (JSON lines, CSV, ...) is a corpus of its own,
whose ids are `FILE#id`. A file that cannot be read is left out with a note. A document that is there in several forms
is read from the plainest that can be read.

A README and the like in the folder itself is no document, unless it has references or is alone.

Where all documents are `.txt` files, as in the corpora of the field, and some have references, only these are
documents, and a fault in one of them is an error. A folder of references alone is a run, or a corpus without texts. A
title has no place of its own in a `.txt` file: what is in the text is text.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

import msgspec

from karat.corpus import Batch, Batches, Document, Phrase, Prediction, check_counts, in_batches
from karat.errors import InputError, KaratError, MissingExtraError, counted
from karat.formats import folders
from karat.formats.base import Format, collect_phrases, first_variant, some
from karat.formats.files import check_compression, lines, without_compression
from karat.formats.folders import holds
from karat.formats.head import Head
from karat.formats.output import folder_beside
from karat.formats.texts import KINDS, SUFFIXES, TEXT, Kind, document_at, id_of, kind_of, reason, suffix_of

T = TypeVar("T")

PLAIN, KEYS, TABLE = ".txt", ".key", ".tsv"
TEXT_FOLDERS, KEY_FOLDER = ("docsutf8", "docs", "texts"), "keys"
RECORDS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
ALONE = tuple(suffix for suffix in SUFFIXES if suffix not in TEXT.suffixes)  # a file with one of these is one document
MARK = "#"  # between the path of a corpus in a folder and the id of a document
BATCH = 100  # documents that are read at a time
FIRST_DOCUMENTS = 10  # that are looked at to tell a corpus from a run
MOST_TRIED = 20  # files of records that are opened to see whether a folder holds corpora
MOST_NAMED = 20  # files of a note
_ABOUT = re.compile("readme|licen[cs]e|copying|changelog|changes|contributing|authors|notice", re.IGNORECASE)
_OWN = "~$"  # how the names of files begin by which Word marks what is open


# ---------------------------------------------------------------------------------------------- what is there


@dataclass(frozen=True, slots=True)
class Form:
    """A file that is a document, and how it is read; without a kind, it is a corpus of its own."""

    path: str
    kind: Kind | None

    @property
    def rank(self) -> int:
        """Which of several forms of a document is read: the lowest."""
        return len(KINDS) if self.kind is None else KINDS.index(self.kind)


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of a folder: its id, its file or files, and where its references are."""

    id: str
    forms: tuple[Form, ...]  # the first that can be read is the document; none where there are references alone
    references: str | None = None

    @property
    def records(self) -> bool:
        """Whether it is a corpus, whose ids come behind its own."""
        return any(form.kind is None for form in self.forms)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a folder holds: documents and corpora in the order of their ids, and what there is to say of the others."""

    path: str
    entries: tuple[Entry, ...]
    strict: bool  # all are .txt files, of which those with references are documents
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _There:
    """The files of a folder as they are found."""

    documents: dict[str, list[Form]] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)  # how many are neither, by suffix
    lacking: dict[str, list[str]] = field(default_factory=dict)  # places, by what would have to be installed

    def notes(self) -> Iterator[str]:
        """What there is to say of files that are no documents."""
        for why, places in self.lacking.items():
            yield f"left out, as {why}: {some(places)}"
        if self.left:
            kinds = ", ".join(f"{count:,} {suffix}" for suffix, count in sorted(self.left.items()))
            yield f"left out {counted(self.left.total(), 'file')} of other kinds than documents ({kinds})"


def contents(path: str) -> Contents:
    """Return the documents of a folder, or of TEXTS+KEYS. Raises InputError if there is none."""
    texts, keys = _folders(path)
    there = _found(texts, keys)
    if not there.documents and there.references and texts == keys:
        alone = (Entry(identifier, (), found) for identifier, found in sorted(there.references.items()))
        return Contents(path, tuple(alone), strict=True)
    if not there.documents:
        notes = list(there.notes())
        if there.lacking:
            raise MissingExtraError(f"{path}: no document there can be read: {'; '.join(notes)}")
        raise no_documents(texts)
    return _with_references(path, texts, there)


def no_documents(path: str) -> InputError:
    """The error for a folder without any document."""
    known = ", ".join((*SUFFIXES, *RECORDS))
    return folders.none_found(path, f"files that end in {known} are looked for")


def _with_references(path: str, texts: str, there: _There) -> Contents:
    """The documents with the references that are theirs."""
    held, notes = there.references, list(there.notes())
    entries = [
        Entry(each, tuple(sorted(forms, key=lambda form: form.rank)), held.get(each))
        for each, forms in sorted(there.documents.items())
    ]
    about = [entry.id for entry in entries if _ABOUT.fullmatch(entry.id) and entry.references is None]
    if len(about) < len(entries):
        entries = [entry for entry in entries if entry.id not in about]
        notes += [f"left out what tells of the folder itself: {some(about)}"] if about else []
    plain = all(suffix_of(entry.forms[0].path) == PLAIN for entry in entries)
    if not plain or not held:
        alone = sorted(set(held) - set(there.documents))
        if alone:
            notes.append(f"{counted(len(alone), 'file')} of references without a document: {some(alone, MOST_NAMED)}")
        return Contents(path, tuple(entries), strict=False, notes=tuple(notes))
    lacking = next((identifier for identifier in sorted(held) if identifier not in there.documents), None)
    if lacking is not None:
        raise InputError(f"{texts}: there are keyphrases of {lacking!r}, but no {lacking}{PLAIN}")
    others = len(entries) - len(held)
    if others:
        notes.append(f"left out {counted(others, 'text')} without references, as others have some")
    return Contents(path, tuple(entry for entry in entries if entry.references), strict=True, notes=tuple(notes))


def _found(texts: str, keys: str) -> _There:
    there = _There()
    tables = []  # references, or corpora
    for place, path in _places(texts):
        if suffix_of(path) == TABLE:
            tables.append((place, path))
        elif suffix_of(path) != KEYS:
            _add(there, place, path)
    for place, path in _places(keys):
        identifier = _stem(place)
        if suffix_of(path) == KEYS or (suffix_of(path) == TABLE and identifier in there.documents):
            there.references.setdefault(identifier, path)
    references = set(there.references.values())
    for place, path in tables:
        if path not in references:
            _add(there, place, path)
    return there


def _stem(place: str) -> str:
    """The place of references without the suffix."""
    return without_compression(place)[: -len(suffix_of(place))]


def _add(there: _There, place: str, path: str) -> None:
    """Adds a file as a document, a corpus, or one of those that are left out."""
    kind = kind_of(path)
    if not os.path.isfile(path) or (kind is None and suffix_of(path) not in RECORDS):
        there.left[suffix_of(path) or "no suffix"] += 1
        return
    try:
        check_compression(path)
        if kind is not None and kind.library is not None:
            kind.library()
        if kind is None and not _holds_documents(path):
            there.left[suffix_of(path)] += 1
            return
    except MissingExtraError as error:
        there.lacking.setdefault(str(error), []).append(place)
        return
    there.documents.setdefault(place if kind is None else id_of(place), []).append(Form(path, kind))


def _places(folder: str) -> Iterator[tuple[str, str]]:
    """(place in the folder, path) of its files at any depth, sorted, without hidden ones."""
    if not os.path.isdir(folder):
        raise InputError(f"{folder}: there is no such folder")
    found = []
    for root, below, names in os.walk(folder):
        below[:] = [name for name in below if name[0] != "."]
        for name in names:
            if name[0] == "." or name.startswith(_OWN):
                continue
            if len(name.splitlines()) > 1:
                raise InputError(f"{folder}: the name of the file {name!r} has a line break; rename it")
            place = Path(root, name).relative_to(folder).as_posix()
            found.append((os.fsencode(place).decode(errors="replace"), str(Path(root, name))))
    yield from sorted(found)


def _holds_documents(path: str) -> bool:
    """Whether a file is a corpus with texts: one of its first documents has a text or sentences."""
    from karat.formats import read

    try:
        return any(each.text or each.sentences for each in islice(read(path), FIRST_DOCUMENTS))
    except MissingExtraError:
        raise
    except KaratError:
        return False


def _folders(path: str) -> tuple[str, str]:
    """The folder of the texts and that of the phrases, which may be one."""
    parts = Head(path).parts
    if len(parts) > 2:
        raise InputError(f"{path}: give two folders, TEXTS+KEYS, not {len(parts)}")
    if len(parts) == 2:
        return parts[0], parts[1]
    for name in TEXT_FOLDERS:
        if Path(path, name).is_dir() and Path(path, KEY_FOLDER).is_dir():
            return str(Path(path, name)), str(Path(path, KEY_FOLDER))
    return path, path


# ---------------------------------------------------------------------------------------------- reading


class Reading:
    """The batches of a folder's documents; called anew, they are read anew.

    `notes` tells what was left out, of what has been read so far.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._contents: Contents | None = None
        self._refused: dict[str, str] = {}  # why files cannot be read, by path
        self._second: list[str] = []  # files of documents that were read from another one

    def __reduce__(self) -> tuple[type[Reading], tuple[object, ...]]:
        return Reading, (self.path,)

    def __call__(self) -> Iterator[Batch[Document]]:
        """The documents. Raises InputError if none can be read."""
        self._contents = contents(self.path)
        self._refused, self._second = {}, []
        read, entries = 0, enumerate(self._contents.entries, 1)
        while part := list(islice(entries, BATCH)):
            for batch in self._batches(part):
                read += len(batch)
                yield batch
        if not read:
            said = [f"{path}: {why}" for path, why in self._refused.items()]
            raise InputError(f"no document can be read: {some(said)}")

    def notes(self) -> list[str]:
        """What a reader should know of the files that are no documents or cannot be read."""
        if self._contents is None:
            return []
        reasons: dict[str, list[str]] = {}
        for path, why in self._refused.items():
            reasons.setdefault(why, []).append(self._place(path))
        found = [
            f"skipped {counted(len(names), 'file')} that cannot be read, {some(names, MOST_NAMED)}: {why}"
            for why, names in reasons.items()
        ]
        if self._second:
            names = [self._place(path) for path in self._second]
            many = counted(len(names), "file")
            found.append(f"left out {many} of documents that are there in another form: {some(names, MOST_NAMED)}")
        return [*self._contents.notes, *found]

    def unread(self) -> list[str]:
        """The files that cannot be read, by their places in the folder."""
        return list(map(self._place, self._refused))

    def _place(self, path: str) -> str:
        return os.path.relpath(path, _folders(self.path)[0])

    def _batches(self, entries: Sequence[tuple[int, Entry]]) -> Iterator[Batch[Document]]:
        held: list[tuple[int, Document]] = []
        for place, entry in entries:
            if entry.records:
                yield from in_batches(held)
                held = []
                yield from _below(entry.id, entry.forms[0].path)
            else:
                document = self._document(entry)
                if document is not None:
                    held.append((place, document))
        yield from in_batches(held)

    def _document(self, entry: Entry) -> Document | None:
        """The document of a file or of one of several; None where it cannot be read."""
        phrases = None if entry.references is None else self._tried(entry.references, _phrases)
        if not entry.forms:
            return Document(id=entry.id, keyphrases=None if phrases is None else [*phrases])
        for at, form in enumerate(entry.forms):
            found = self._tried(form.path, partial(self._opened, entry.id, form.kind))
            if found is not None:
                self._second += [other.path for other in entry.forms[at + 1 :]]
                return msgspec.structs.replace(found, keyphrases=None if phrases is None else [*phrases])
        return None

    def _opened(self, identifier: str, kind: Kind | None, path: str) -> Document:
        """The document in a file; in corpora of the field, whatever is UTF-8 is text."""
        assert self._contents is not None
        if self._contents.strict:
            document = Document(id=identifier, text=folders.whole_text(path))
            check_counts(document, path)
            return document
        return document_at(path, identifier, kind)

    def _tried(self, path: str, read: Callable[[str], T]) -> T | None:
        """What is read of a file; None, and the reason is kept, where that fails. Raises InputError if strict."""
        assert self._contents is not None
        try:
            return read(path)
        except MissingExtraError:
            raise
        except InputError as error:
            if self._contents.strict:
                raise
            self._refused[path] = reason(path, error)
            return None


def _below(place: str, path: str) -> Iterator[Batch[Document]]:
    """The batches of a corpus in a folder, the ids behind its place."""
    from karat.formats import read

    inner: Batches[Document] = read(path).batches
    for batch in inner():
        ids = [f"{place}{MARK}{at if i is None else i}" for i, at in zip(batch.ids, batch.places, strict=True)]
        documents = [msgspec.structs.replace(document, id=i) for document, i in zip(batch.records(), ids, strict=True)]
        yield Batch(list[str | None](ids), documents, batch.places)


def corpus(path: str) -> Batches[Document]:
    """The documents of a folder, of TEXTS+KEYS, or of one file."""
    if os.path.isfile(path):
        return lambda: in_batches([(1, document_at(path, id_of(Path(path).name)))])
    return Reading(path)


def run(path: str) -> Batches[Prediction]:
    """The predictions of a folder: the phrases of its .key files."""
    return lambda: in_batches(_predictions(path), path)


def _predictions(path: str) -> Iterator[tuple[int, Prediction]]:
    keys = folders.find(_folders(path)[1], KEYS)
    if not keys:
        raise folders.none_found(path, "files X.key are looked for")
    for number, (identifier, file) in enumerate(keys.items(), 1):
        yield number, Prediction(id=identifier, keyphrases=_phrases(file))


def _phrases(path: str) -> list[Phrase]:
    """The phrases of a file, a line each; in a .tsv file, what stands behind the URI."""
    if suffix_of(path) == KEYS:
        return collect_phrases((line.strip() for _, line in lines(path)), path)
    return collect_phrases((_label(line.split("\t")) for _, line in lines(path) if line.strip()), path)


def _label(cells: Sequence[str]) -> str:
    """The phrase on a line of a .tsv file: behind a URI in its first cell, else the first cell.

    >>> _label(["<http://x.org/c1>", "bees", "1.2"]), _label(["bees", "0.9"]), _label(["<http://x.org/c1>"])
    ('bees', 'bees', 'http://x.org/c1')
    """
    first = cells[0].strip()
    uri = first.strip("<>")
    if first.startswith("<") or "://" in first:
        return next((cell.strip() for cell in cells[1:2] if cell.strip()), uri)
    return first


# ---------------------------------------------------------------------------------------------- writing


def save_corpus(path: str, documents: Iterable[Document]) -> None:
    """Writes a folder with the two files of each document side by side."""
    with folder_beside(path) as folder:
        for number, document in enumerate(documents, 1):
            name = folders.file_name(folders.id_of(document.id, number))
            folders.create(folder, name + PLAIN, document.text or "")
            folders.create(folder, name + KEYS, _lines(map(first_variant, document.keyphrases or ())))


def save_run(path: str, predictions: Iterable[Prediction]) -> None:
    """Writes a folder of .key files."""
    with folder_beside(path) as folder:
        for number, prediction in enumerate(predictions, 1):
            name = folders.file_name(folders.id_of(prediction.id, number))
            folders.create(folder, name + KEYS, _lines(prediction.keyphrases or ()))


def _lines(phrases: Iterable[Phrase]) -> str:
    return "".join(f"{folders.one_line(phrase)}\n" for phrase in phrases)


def _fits(head: Head) -> bool:
    if head.container == "several":
        return len(head.parts) == 2 and all(os.path.isdir(part) for part in head.parts)
    if head.role == "run":
        return holds(head, KEYS) and not holds(head, ".abstr", ".final")
    if head.container != "folder":
        return os.path.isfile(head.path) and suffix_of(head.path) in ALONE
    if holds(head, ".abstr", ".final"):
        return False
    documents = [name for name in head.names if suffix_of(name) in (*SUFFIXES, KEYS)]
    about = [name for name in documents if _ABOUT.fullmatch(id_of(name))]
    if len(documents) > len(about) or len(about) == len(head.names) > 0:
        return True
    records = (os.path.join(head.path, name) for name in head.names if suffix_of(name) in RECORDS)
    return any(map(_holds_documents, islice(records, MOST_TRIED)))


FORMAT = Format(
    name="folder",
    summary="a folder of documents (text, Markdown, HTML, docx, PDF), perhaps X.key or X.tsv beside X, or TEXTS+KEYS; "
    "a run is a folder of X.key",
    fits=_fits,
    corpus=corpus,
    run=run,
    save_corpus=save_corpus,
    save_run=save_run,
)
