"""JSON-LD in the words of schema.org: works with `name`, `abstract` and `keywords`.

A file is one work, a list of works, or an object whose `@graph` is one. A keyword is a text or a `DefinedTerm`, whose
`@id` is the URI of a concept. The id of a work is its `identifier`, else its `@id`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from karat.corpus import Batches, Document, Phrase, Prediction, in_batches
from karat.errors import InputError
from karat.formats import folders
from karat.formats.base import Format, Record, as_predictions, first_variant, split_phrases
from karat.formats.containers import rows, whole_json
from karat.formats.files import without_compression
from karat.formats.head import Head
from karat.formats.output import writing

SUFFIX = ".jsonld"
CONTEXT = "https://schema.org"
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+$")
_TEXTS = ("abstract", "description", "articleBody", "text")


def _works(path: str) -> Iterator[tuple[int, Record]]:
    """(number, work) of a file. Raises InputError if it holds none."""
    found = whole_json(path)
    if isinstance(found, dict) and isinstance(found.get("@graph"), list):
        found = found["@graph"]
    if found is None:
        list(rows(path, "json"))  # says where it is damaged
    works = found if isinstance(found, list) else [found]
    if not works or not all(isinstance(each, dict) for each in works):
        looked_for = 'works as {"@type": "CreativeWork", "name": ..., "keywords": [...]} are looked for'
        raise folders.none_found(path, looked_for)
    yield from enumerate(works, 1)


def _documents(path: str) -> Iterator[tuple[int, Document]]:
    for number, work in _works(path):
        try:
            held = _phrases(work.get("keywords"))
            title = _text(work.get("name")) or _text(work.get("headline"))
            text = next((found for name in _TEXTS if (found := _text(work.get(name)))), None)
            yield number, Document(id=_id(work), title=title, text=text, keyphrases=held)  # type: ignore[arg-type]
        except ValueError as error:
            raise InputError(f"{path}: work {number}: {error}") from None


def _id(work: Record) -> str | int | None:
    found = work.get("identifier")
    if isinstance(found, list):
        found = found[0] if found else None
    if isinstance(found, dict):
        found = found.get("value")
    found = work.get("@id") if found in (None, "") else found
    if found is None or (isinstance(found, str | int) and not isinstance(found, bool)):
        return found
    raise ValueError("its identifier is no text; write a text, or an object with a value")


def _text(value: Any) -> str | None:
    """A text; of several, say in several languages, the first."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("@value")
    if value is not None and not isinstance(value, str):
        raise ValueError("a text is missing where `name` or `abstract` stands")
    return value or None


def _phrases(value: Any) -> list[str] | None:
    """The phrases of `keywords`: a text in which commas part them, or a list of texts and terms."""
    if value is None:
        return None
    if isinstance(value, str):
        return list(filter(None, split_phrases(value, ",")))
    found = value if isinstance(value, list) else [value]
    return [_phrase(each) for each in found]


def _phrase(value: Any) -> str:
    said = (value.get("name") or value.get("@id")) if isinstance(value, dict) else value
    said = said.get("@value") if isinstance(said, dict) else said
    if not isinstance(said, str):
        raise ValueError("a keyword is neither a text nor a DefinedTerm with a name")
    return said


def corpus(path: str) -> Batches[Document]:
    """The documents of a file."""
    return lambda: in_batches(_documents(path), path)


def run(path: str) -> Batches[Prediction]:
    """The keywords of a file as predictions."""
    return lambda: in_batches(as_predictions(_documents(path)), path)


def work(
    identifier: str | int | None,
    title: str | None,
    phrases: Sequence[Phrase],
    uris: Sequence[str | None] | None = None,
    text: str | None = None,
) -> Record:
    """A work with its keywords: those of a vocabulary are terms with their URIs.

    >>> work("d1", "Bees", ["bees", "hives"], ["http://x.org/1", None])["keywords"]
    [{'@type': 'DefinedTerm', '@id': 'http://x.org/1', 'name': 'bees'}, 'hives']
    """
    doi = _DOI.fullmatch(str(identifier)) if identifier is not None else None
    made: Record = {"@type": "CreativeWork" if doi is None else "ScholarlyArticle"}
    if doi is not None:
        made["@id"] = f"https://doi.org/{doi[1]}"
    if identifier is not None:
        made["identifier"] = identifier
    if title:
        made["name"] = title
    if text:
        made["abstract"] = text
    terms = zip(phrases, uris or [None] * len(phrases), strict=True)
    made["keywords"] = [_term(phrase or "", uri) for phrase, uri in terms]
    return made


def _term(phrase: str, uri: str | None) -> str | dict[str, str]:
    return phrase if not uri else {"@type": "DefinedTerm", "@id": uri, "name": phrase}


def graph(works: Iterable[Record]) -> bytes:
    """A file of works."""
    return msgspec.json.format(msgspec.json.encode({"@context": CONTEXT, "@graph": list(works)}), indent=1) + b"\n"


def save_corpus(path: str, documents: Iterable[Document]) -> None:
    """Writes a work for each document."""
    with writing(path) as file:
        file.write(
            graph(work(d.id, d.title, [*map(first_variant, d.keyphrases or ())], None, d.text) for d in documents)
        )


def save_run(path: str, predictions: Iterable[Prediction]) -> None:
    """Writes a work with keywords for each prediction."""
    with writing(path) as file:
        file.write(graph(work(each.id, None, each.keyphrases or [], uris_of(each)) for each in predictions))


def uris_of(prediction: Prediction) -> Sequence[str | None] | None:
    """The URIs of the concepts that phrases stand for, where a prediction has `concepts`; a plain term is no URI."""
    found: Sequence[str | None] | None = prediction.concepts
    return None if found is None else [each if each and _URI.match(each) else None for each in found]


def _fits(head: Head) -> bool:
    named = without_compression(head.path).lower().endswith(SUFFIX) and head.container in ("json", "jsonl")
    return named or (head.container in ("json", "jsonl") and "@context" in head.record)


FORMAT = Format(
    name="jsonld",
    summary="JSON-LD of schema.org: works with name, abstract and keywords, or terms with URIs; a run is its keywords",
    fits=_fits,
    corpus=corpus,
    run=run,
    save_corpus=save_corpus,
    save_run=save_run,
)
