"""Keyphrases on their way back into a catalogue: BibTeX, RIS and JSON-LD, with the titles of the documents.

Where the documents came from a BibTeX or RIS file, that file is written again, with the keywords of each entry added or
replaced and everything else as it was; elsewhere an entry has what is known, an id, a title and the keywords.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from karat.corpus import Phrase
from karat.errors import InputError, counted
from karat.formats import bibtex, jsonld, ris
from karat.formats.files import without_compression
from karat.inert import escaped, inert

FORMATS = {"bib": "bibtex", "ris": "ris", "jsonld": "jsonld"}  # what is written, and the format that reads it
BY_SUFFIX = {**dict.fromkeys(bibtex.SUFFIXES, "bib"), ".ris": "ris", ".jsonld": "jsonld"}


@dataclass(frozen=True, slots=True)
class Row:
    """A document of a catalogue with its keyphrases, and with the URIs of those that are concepts."""

    id: str
    title: str | None
    keyphrases: Sequence[Phrase]
    uris: Sequence[str | None] | None = None


def catalogue(form: str, rows: Sequence[Row], source: str | None = None) -> tuple[bytes, list[str]]:
    """(the file in a format, notes); `source` is the path of the documents, where they have one.

    Raises InputError if the source was changed such that documents are no longer there.
    """
    if form == "jsonld":
        works = jsonld.graph(jsonld.work(row.id, row.title, row.keyphrases, row.uris) for row in rows)
        return escaped(works.decode()).encode(), []
    rows = [replace(row, keyphrases=[inert(phrase or "") for phrase in row.keyphrases]) for row in rows]
    if source is not None and form_of(source) == form:
        return _rewritten(form, rows, source)
    if form == "bib":
        return "\n".join(_entry(row) for row in rows).encode("utf-8", "replace"), []
    records = (ris.record_text(inert(row.id), inert(row.title or ""), None, row.keyphrases) for row in rows)
    return "\n".join(records).encode("utf-8", "replace"), []


def _entry(row: Row) -> str:
    fields = {
        "title": bibtex.escaped(inert(row.title or "")),
        "keywords": bibtex.escaped(bibtex.join_keywords(row.keyphrases)),
    }
    return bibtex.entry_text(inert(row.id), fields)


def _rewritten(form: str, rows: Sequence[Row], source: str) -> tuple[bytes, list[str]]:
    text = bibtex.text_at(source)
    phrases = {row.id: row.keyphrases for row in rows}
    module = bibtex if form == "bib" else ris
    made, replaced = module.with_keywords(text, source, phrases)
    lost = sorted(set(phrases) - {each for batch in module.corpus(source)() for each in batch.ids if each is not None})
    if lost:
        raise InputError(f"{source}: no entry {lost[0]!r} there, for which there are keyphrases; was it changed?")
    notes = [f"{source}: the keywords of {counted(replaced, 'document')} were replaced"]
    return made.encode("utf-8", "replace"), notes if replaced else []


def form_of(path: str) -> str | None:
    """Which catalogue a file is, by its suffix or, of one that is there, by what is in it; None of any other."""
    plain = without_compression(path).lower()
    named = next((form for suffix, form in BY_SUFFIX.items() if plain.endswith(suffix)), None)
    if named is not None or not os.path.isfile(path):
        return named
    from karat.formats import sniff
    from karat.formats.head import Head

    try:
        name = sniff(Head(path)).name
    except InputError:
        return None
    return next((form for form, known in FORMATS.items() if known == name), None)
