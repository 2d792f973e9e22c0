"""What keyphrases are predicted for: corpora of any format, plain texts, PDFs, folders of these, standard input.

A folder that is a corpus in one of the field's formats is read as that; any other is a folder of files, each of them
a document or a corpus of its own. Files are opened where their documents are used, possibly in another process.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path

import msgspec

from karat.corpus import BATCH_DOCUMENTS, Batch, Batches, Corpus, Document
from karat.errors import InputError, KaratError, MissingExtraError, counted
from karat.formats import pdf, read, sniff, split_name
from karat.formats.base import quoted
from karat.formats.files import STDIN, check_compression, first_line, open_bytes, read_whole, without_compression
from karat.formats.folders import whole_text
from karat.formats.head import Head
from karat.text.languages import guess, language_of, named

TEXTS = (".txt", ".text", ".md", ".markdown")
RECORDS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
PDF = ".pdf"
FIRST_DOCUMENTS = 10  # that are looked at to tell a corpus from a run
GUESSED, OPENING = 30, 600  # documents by which the language is guessed, about, and characters of each
SEVERAL = 0.2  # share of the texts that makes another language worth a word
MARK = "#"  # between the path of a corpus in a folder and the id of a document


@dataclass(frozen=True, slots=True)
class Given:
    """What is predicted for, and what a reader should know of how it was read."""

    corpus: Corpus
    notes: tuple[str, ...] = ()


def documents_at(
    path: str | Path,
    *,
    name: str | None = None,
    format: str | None = None,
    fields: str | Sequence[str] = (),
    aside: Sequence[str] = (),
) -> Given:
    """The documents at a path; a format or fields that are named are those of a corpus.

    Of a folder of files, those that are written to (`aside`) are no documents.
    """
    name, where = split_name(str(path), name)
    if format is not None or fields:
        return Given(read(where, name=name, format=format, fields=fields))
    if where == STDIN:
        return Given(_standard_input(name))
    if not os.path.exists(where):  # SRC+TRG, a dataset, or an error that says what is missing
        return Given(read(where, name=name))
    if os.path.isdir(where):
        return _folder(where, name, {Path(each).resolve() for each in aside})
    if _is_document(where):
        return Given(_one_document(where, name))
    return Given(read(where, name=name))


def _is_document(path: str) -> bool:
    """Whether a file is one document: a text or a PDF, by its name or by what is in it."""
    suffix = _suffix(path)
    if suffix in (*TEXTS, PDF) or _is_pdf(path):
        return True
    return suffix not in RECORDS and Head(path).container == "text"


def _suffix(path: str) -> str:
    return Path(without_compression(path)).suffix.lower()


def _is_pdf(path: str) -> bool:
    with open_bytes(path) as file:
        return file.read(5) == b"%PDF-"


def _standard_input(name: str) -> Corpus:
    """Records where the input opens with one, else a text."""
    if first_line(STDIN).lstrip().startswith(b"{"):
        return read(STDIN, name=name)
    return Corpus(name, _Files((_File("stdin", STDIN),), strict=True), STDIN)


def _one_document(path: str, name: str) -> Corpus:
    return Corpus(name, _Files((_File(Path(path).name, path),), strict=True), path)


# ---------------------------------------------------------------------------------------------- folders


def _folder(path: str, name: str, aside: set[Path]) -> Given:
    """A corpus of the field's formats, else the files that are there."""
    try:
        sniff(Head(path))
    except InputError:
        pass
    else:
        return Given(read(path, name=name))
    there = _sorted_out(path, aside)
    notes = [f"left out, as {why}: {some(places)}" for why, places in there.lacking.items()]
    if not there.found and notes:
        raise MissingExtraError(f"{path}: no document there can be read: {'; '.join(notes)}")
    if not there.found:
        known = ", ".join((*TEXTS, PDF, *RECORDS))
        raise InputError(f"{path}: no documents there (files that end in {known} are looked for)")
    if there.left:
        notes += [
            f"left out {counted(there.left.total(), 'file')} of other kinds than documents ({_kinds(there.left)})"
        ]
    return Given(Corpus(name, _Files(tuple(there.found), strict=False), path), tuple(notes))


@dataclass(frozen=True, slots=True)
class _There:
    """The files of a folder: documents and corpora in order; how many are neither, by suffix; which need a library."""

    found: list[_File] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    lacking: dict[str, list[str]] = field(default_factory=dict)  # places, by what would have to be installed


def _sorted_out(folder: str, aside: set[Path]) -> _There:
    there = _There()
    for place in _places(folder):
        path = str(Path(folder, place))
        if Path(path).resolve() in aside:
            if _suffix(path) in (*TEXTS, PDF) or (_suffix(path) in RECORDS and _holds_documents(path, "text")):
                raise InputError(f"{path}: is one of the documents of {folder}, which are never overwritten")
            continue
        try:
            file = _file(place, path)
        except MissingExtraError as error:
            there.lacking.setdefault(str(error), []).append(place)
            continue
        if file is None:
            there.left[_suffix(path) or "no suffix"] += 1
        else:
            there.found.append(file)
    return there


def _file(place: str, path: str) -> _File | None:
    """A file as a document or a corpus, None where it is neither; a library that reading it needs may be missing."""
    suffix = _suffix(path)
    if suffix not in (*TEXTS, PDF, *RECORDS):
        return None
    check_compression(path)
    if suffix == PDF:
        pdf.reader_of_pdf()
    if suffix in (*TEXTS, PDF):
        return _File(place, path)
    return _File(place, path, records=True) if _holds_documents(path) else None


def some(names: Sequence[str], most: int = 5) -> str:
    """The first of some names, and how many more there are.

    >>> some(["a.pdf", "b.pdf"]), some("abcdefg")
    ('a.pdf, b.pdf', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _places(folder: str) -> list[str]:
    """The files of a folder at any depth, relative to it, without hidden ones."""
    found = []
    for root, below, names in os.walk(folder):
        below[:] = [name for name in below if name[0] != "."]
        found += [Path(root, name).relative_to(folder).as_posix() for name in names if name[0] != "."]
    return sorted(found)


def _holds_documents(path: str, *fields: str) -> bool:
    """Whether a file is a corpus with texts: one of its first documents has a title, a text or sentences."""
    names = fields or ("title", "text", "sentences")
    try:
        return any(getattr(each, name) for each in islice(read(path), FIRST_DOCUMENTS) for name in names)
    except MissingExtraError:
        raise
    except KaratError:
        return False


def _kinds(left: Counter[str]) -> str:
    return ", ".join(f"{count:,} {suffix}" for suffix, count in sorted(left.items()))


# ---------------------------------------------------------------------------------------------- files


@dataclass(frozen=True, slots=True)
class _File:
    """A file and the id of its document; with `records`, a corpus whose ids come behind it."""

    id: str
    path: str
    records: bool = False


@dataclass(frozen=True, slots=True)
class _Files:
    """The batches of files; called anew, they are read anew."""

    files: tuple[_File, ...]
    strict: bool  # a file that cannot be read is an error, not a document without text

    def __call__(self) -> Iterator[Batch[Document]]:
        place = 1
        for records, group in groupby(self.files, key=lambda file: file.records):
            if records:
                for file in group:
                    yield from _below(file)
                    place += 1
                continue
            while some := list(islice(group, BATCH_DOCUMENTS)):
                places = range(place, place + len(some))
                yield Batch([file.id for file in some], some, places, Opening(self.strict))
                place += len(some)


def _below(file: _File) -> Iterator[Batch[Document]]:
    """The batches of a corpus in a folder, the ids behind its path."""
    inner: Batches[Document] = read(file.path).batches
    for batch in inner():
        ids = [f"{file.id}{MARK}{place if i is None else i}" for i, place in zip(batch.ids, batch.places, strict=True)]
        documents = [msgspec.structs.replace(document, id=i) for document, i in zip(batch.records(), ids, strict=True)]
        yield Batch(list[str | None](ids), documents, batch.places)


@dataclass(frozen=True, slots=True)
class Opening:
    """Opens files as documents; what cannot be read is an error, or a document without text."""

    strict: bool

    def __call__(self, raw: Sequence[_File], _places: Sequence[int]) -> list[Document]:
        """The documents of files."""
        return [self._open(file) for file in raw]

    def _open(self, file: _File) -> Document:
        try:
            return _opened(file)
        except InputError:
            if self.strict:
                raise
            return Document(id=file.id)

    def why(self, file: _File) -> str | None:
        """Why a file has no text, in one sentence; None where it is simply empty."""
        try:
            _opened(file)
        except InputError as error:
            said = str(error)
            return said if said.startswith(file.path) else f"{file.path}: {said}"
        return None


def _opened(file: _File) -> Document:
    """The document of a file."""
    if file.path != STDIN and (_suffix(file.path) == PDF or _is_pdf(file.path)):
        content = read_whole(file.path)
        try:
            title, text = pdf.title_and_text(content)
        except InputError as error:
            raise type(error)(f"{file.path}: {error}") from None
        return Document(id=file.id, title=title, text=text)
    text = whole_text(file.path)
    if "\0" in text:
        raise InputError(f"{file.path}: is not a text (it holds zero bytes)")
    if _suffix(file.path) in (".md", ".markdown"):
        return _of_markdown(file.id, text)
    return Document(id=file.id, text=text)


def _of_markdown(identifier: str, text: str) -> Document:
    """A document whose title is a heading that opens the text."""
    first, _, rest = text.lstrip().partition("\n")
    if first.startswith("# "):
        return Document(id=identifier, title=first[2:].strip(" #"), text=rest.lstrip("\n"))
    return Document(id=identifier, text=text)


def files_of(corpus: Corpus) -> tuple[_File, ...] | None:
    """The files that a corpus is made of, where each is a document or a corpus of its own; None for any other."""
    return corpus.batches.files if isinstance(corpus.batches, _Files) else None


def shown_id(document: Document, place: int) -> str:
    """A document as a message names it: by its id, or by its place."""
    return f"document {place}" if document.id is None else f"document {quoted(str(document.id))}"


# ---------------------------------------------------------------------------------------------- languages


def document_language(corpus: Corpus, given: str | None) -> tuple[str, list[str]]:
    """(the language that is given, else the one that the first documents seem to be in; what is to be said of it).

    Nothing is said of English, which is also what is taken where the texts do not settle it.
    """
    if given is not None:
        return named(given), []
    batch = next(corpus.ahead(), None)
    if batch is None:
        return "english", []
    places = range(0, len(batch), max(len(batch) // GUESSED, 1))
    texts = [_opening(each) for each in batch.pick(places).records()]
    language = guess(texts)
    found = Counter(each for each in map(language_of, texts) if each != "unknown").most_common(2)
    if len(found) > 1 and found[1][1] >= SEVERAL * len(texts):
        several = " and ".join(f"{count} {each.capitalize()}" for each, count in found)
        so = f"all are read as {language.capitalize()}; predict for each language by itself, with --language"
        return language, [f"of {len(texts)} sampled texts {several}: {so}"]
    if language == "english":
        return language, []
    return language, [f"the texts look {language.capitalize()}, and are read as such; --language {language} pins it"]


def _opening(document: Document) -> str:
    """The beginning of a document's title and text, or of its words."""
    text = document.text or " ".join(word for sentence in document.sentences or () for word, _ in sentence)
    return f"{document.title or ''} {text}"[:OPENING]
