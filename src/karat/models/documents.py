"""What keyphrases are predicted for: corpora of any format, folders, single texts and PDFs, standard input."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from karat.corpus import Corpus, Document, in_batches
from karat.errors import InputError
from karat.formats import folder, read, sniff, split_name
from karat.formats.base import quoted
from karat.formats.catalogue import form_of
from karat.formats.files import STDIN, first_line
from karat.formats.head import Head
from karat.formats.texts import (
    KINDS,
    Outcome,
    document_at,
    id_of,
    is_kept,
    is_pdf,
    keep,
    kind_of,
    outcome_of,
    suffix_of,
)
from karat.matching.workers import ordered_map
from karat.options import Progress
from karat.text.languages import guess, language_of, named

GUESSED, OPENING = 30, 600  # documents by which the language is guessed, about, and characters of each
SEVERAL = 0.2  # share of the texts that makes another language worth a word


def documents_at(
    path: str | Path,
    *,
    name: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Corpus:
    """Return the documents at a path; PDFs of a folder and others that take long are read on several processes."""
    name, where = split_name(str(path), name)
    if where == STDIN:
        return _standard_input(name)
    if os.path.isdir(where) and _is_plain_folder(where):
        _extract(folder.contents(where), jobs, progress)
        return Corpus(name, folder.Reading(where), where)
    if os.path.isfile(where) and _is_document(where):
        return _one_document(where, name, id_of(Path(where).name))
    return read(where, name=name)


def _extract(contents: folder.Contents, jobs: int, progress: Progress | None) -> None:
    """Reads the files of a folder that take long, so that they are there when their documents are used."""
    forms = [form for entry in contents.entries for form in entry.forms[:1] if form.kind is not None]
    slow = [(form.path, form.kind.name) for form in forms if form.kind and not is_kept(form.path, form.kind)]
    if len(slow) > 1 and (jobs > 1 or progress is not None):
        for (path, kind), outcome in zip(slow, ordered_map(_outcome, iter(slow), jobs), strict=True):
            keep(path, _KINDS[kind], outcome)
            if progress is not None:
                progress(1)


_KINDS = {kind.name: kind for kind in KINDS}


def _outcome(file: tuple[str, str]) -> Outcome:
    path, kind = file
    return outcome_of(path, _KINDS[kind])


def _is_plain_folder(path: str) -> bool:
    """Whether a folder is none of another of the field's formats."""
    try:
        return sniff(Head(path)) is folder.FORMAT
    except InputError:
        return True  # its reader says what is looked for


def _is_document(path: str) -> bool:
    """Whether a file is one document, by its name or by what is in it."""
    if kind_of(path) is not None or is_pdf(path):
        return True
    return suffix_of(path) not in folder.RECORDS and Head(path).container == "text" and form_of(path) is None


def _standard_input(name: str) -> Corpus:
    """Records where the input opens with one, else a text."""
    if first_line(STDIN).lstrip().startswith(b"{"):
        return read(STDIN, name=name)
    return _one_document(STDIN, name, "stdin")


def _one_document(path: str, name: str, identifier: str) -> Corpus:
    return Corpus(name, lambda: in_batches([(1, document_at(path, identifier))]), path)


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
