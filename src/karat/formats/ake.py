"""The collection ake-datasets: references as one JSON object, documents as XML of CoreNLP.

References are `{"id": [["phrase", "a variant of it"], ["another phrase"]], ...}` in files `SPLIT.SET[.stem].json`, as
`test.author.stem.json`; a document is a file `id.xml` (or .xml.gz) of sentences and tokens, in some datasets with the
section of each sentence, which marks the title. A path is the JSON alone, `XML_FOLDER+refs.json`, or a folder of
both. A run is such a JSON too, a phrase alone or with its score: `{"id": [["phrase", 0.9], ...]}`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import islice
from typing import Any

import msgspec

from karat.corpus import Batches, Document, Phrase, Prediction, in_batches
from karat.errors import InputError
from karat.formats import folders
from karat.formats.base import Format, Record, brief, quoted
from karat.formats.files import pieces, read_whole, without_compression
from karat.formats.folders import References, Sets, holds
from karat.formats.head import Head
from karat.formats.load import decode_entries
from karat.formats.output import folder_beside, writing
from karat.formats.xml import parse
from karat.limits import limits

XML, JSON = ".xml", ".json"
FIRST_DOCUMENTS = 100  # that are looked at to tell the layout


def corpus(path: str) -> Batches[Document]:
    """The documents of a JSON file, of XML_FOLDER+refs.json, or of a folder of both."""
    return lambda: in_batches(_documents(path), path)


def run(path: str) -> Batches[Prediction]:
    """The predictions of a JSON file."""
    return lambda: in_batches(_predictions(path), path)


def _documents(path: str) -> Iterator[tuple[int, Document]]:
    parts = Head(path).parts
    if len(parts) > 2:
        raise InputError(f"{path}: give two paths, XML_FOLDER+refs.json, not {len(parts)}")
    folder = parts[0]
    sets: Sets
    if len(parts) == 2:
        texts, sets = folders.find(folder, XML), {folders.MAIN: dict(_references(parts[1]))}
        if not texts:
            raise folders.none_found(folder, "files ID.xml are looked for")
    elif os.path.isdir(path):
        texts, sets = folders.find(folder, XML), folders.read_sets(folders.find(folder, JSON), _references)
    else:
        texts, sets = {}, {folders.MAIN: dict(_references(path))}
    number = 0
    for number, document in folders.documents_of(folder, texts, sets, _title_and_text):
        yield number, document
    if number == 0:
        raise folders.none_found(path, 'references {"id": [["phrase"], ...], ...} or files ID.xml are looked for')


# ---------------------------------------------------------------------------------------------- JSON


def _references(path: str) -> Iterator[tuple[str, References]]:
    yield from _converted(path, References)


def _predictions(path: str) -> Iterator[tuple[int, Prediction]]:
    if os.path.isdir(path) or len(Head(path).parts) > 1:
        raise InputError(f'{path}: a run is one file, {{"id": [["phrase", 0.9], ...], ...}}')
    number = 0
    for number, (identifier, phrases) in enumerate(_converted(path, list[Phrase | list[str | float | None]]), 1):
        ranked = [phrase if isinstance(phrase, list) else [phrase] for phrase in phrases]
        scores = [_number(phrase[1]) if len(phrase) > 1 else None for phrase in ranked]
        try:
            made = Prediction(
                id=identifier,
                keyphrases=[_phrase(phrase[0] if phrase else None) for phrase in ranked],
                scores=scores if any(score is not None for score in scores) else None,
            )
        except ValueError as error:
            raise InputError(f"{path}: document {quoted(identifier)}: {brief(str(error))}") from None
        yield number, made
    if number == 0:
        raise folders.none_found(path, 'phrases {"id": [["phrase"], ...], ...} are looked for')


def _number(value: str | float | None) -> float | None:
    return None if value is None or isinstance(value, str) else float(value)


def _phrase(value: str | float | None) -> Phrase:
    if isinstance(value, float | int):
        raise ValueError(f"{brief(repr(value), 40)} stands where a phrase is due")
    return value


def _converted(path: str, kind: Any) -> Iterator[tuple[str, Any]]:
    """(id, phrases) of a JSON object, the phrases as a type that msgspec knows."""
    expected = 'not one JSON object, {"id": [["phrase", "variant"], ...], ...}'
    return decode_entries(read_whole(path), kind, path, expected, 'write [["phrase", "variant"], ...]')


# ---------------------------------------------------------------------------------------------- XML

_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"'}
_ESCAPED = {plain: escaped for escaped, plain in _ESCAPES.items()}
_SLASHED = re.compile(r"\\([/*])")
_WORD_TAG = re.compile(rb"<word[\s/>]")


def check_tokens(count: int, path: str) -> None:
    """Raise InputError if a document already has as many tokens as the limit allows."""
    if count >= limits().tokens:
        raise limits().exceeded("tokens", path, "the document")


def count_tokens(path: str, tags: re.Pattern[bytes]) -> None:
    """Raise InputError if a file has more tags that begin a token than the limit allows.

    A parser takes microseconds for each of them, and counting takes nanoseconds. Tags in comments count, too; those
    that two pieces of the file share, or that are not in ASCII, are left to the parser.
    """
    count = 0
    for piece in pieces(path):
        count += len(tags.findall(piece))
        check_tokens(count - 1, path)


@dataclass(slots=True)
class _Words:
    """The words of title and text, collected from what a parser meets."""

    title: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    _tags: int = 0
    _in_title: bool = False
    _word: list[str] | None = None  # the pieces of the word that is being read
    path: str = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._tags += 1
        if self._tags == 1 and tag != "root":
            raise ValueError(f"not XML of CoreNLP: <{tag}> stands where <root> is due")
        if tag == "sentence":
            self._in_title = attributes.get("section") == "title"
        elif tag == "word":
            self._word = []
            check_tokens(len(self.title) + len(self.text), self.path)

    def characters(self, text: str) -> None:
        if self._word is not None:
            self._word.append(text)

    def end(self, tag: str) -> None:
        if tag == "word" and self._word is not None:
            word = "".join(self._word).strip()
            (self.title if self._in_title else self.text).append(_ESCAPES.get(word) or _SLASHED.sub(r"\1", word))
            self._word = None


def _title_and_text(path: str) -> tuple[str | None, str]:
    """The words of a document, parted by spaces; a title where a sentence says that it is in that section."""
    count_tokens(path, _WORD_TAG)
    words = _Words(path=path)
    parse(path, words)
    return " ".join(words.title) or None, " ".join(words.text)


_NOT_IN_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXT_WORD = re.compile(r"[^ \t\n\r]+")


def _xml(document: Document) -> str:
    """The document as XML: a sentence for its title, one for its text, a token for each word between spaces."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<root>", "  <document>", "    <sentences>"]
    for number, (section, text) in enumerate([("title", document.title), ("body", document.text)], 1):
        words = _TEXT_WORD.findall(_NOT_IN_XML.sub(" ", text or ""))
        if not words:
            continue
        lines += [f'      <sentence id="{number}" section="{section}">', "        <tokens>"]
        for place, word in enumerate(words, 1):
            lines += [
                f'          <token id="{place}">',
                f"            <word>{escape(_ESCAPED.get(word, word), quote=False)}</word>",
            ]
            lines += ["          </token>"]
        lines += ["        </tokens>", "      </sentence>"]
    return "\n".join([*lines, "    </sentences>", "  </document>", "</root>", ""])


# ---------------------------------------------------------------------------------------------- writing


def save_corpus(path: str, documents: Iterable[Document]) -> None:
    """Writes the references where the path ends in .json, else a folder with texts and references."""
    numbered = ((folders.id_of(document.id, number), document) for number, document in enumerate(documents, 1))
    if without_compression(path).endswith(JSON):
        _save_json(path, ((identifier, _variants(document.keyphrases)) for identifier, document in numbered))
        return
    held = []
    with folder_beside(path) as folder:
        for name in ("test", "references"):
            (folder / name).mkdir()
        for identifier, document in numbered:
            folders.create(folder / "test", folders.file_name(identifier) + XML, _xml(document))
            held.append((identifier, msgspec.structs.replace(document, title=None, text=None)))
        for name, references in folders.sets_to_write(held).items():
            made = {identifier: _variants(phrases) for identifier, phrases in references.items()}
            folders.create(folder / "references", f"test.{folders.file_name(name)}{JSON}", _json(made).decode())


def save_run(path: str, predictions: Iterable[Prediction]) -> None:
    """Writes the phrases, with their scores where there are any."""
    _save_json(path, ((folders.id_of(made.id, number), _ranked(made)) for number, made in enumerate(predictions, 1)))


def _variants(references: References | None) -> list[list[Phrase]]:
    return [phrase if isinstance(phrase, list) else [phrase] for phrase in references or ()]


def _ranked(prediction: Prediction) -> list[list[Any]]:
    phrases = prediction.keyphrases or []
    scores = prediction.scores or [None] * len(phrases)
    return [
        [phrase] if score is None else [phrase, float(score)] for phrase, score in zip(phrases, scores, strict=True)
    ]


def _save_json(path: str, made: Iterable[tuple[str, Any]]) -> None:
    held: dict[str, Any] = {}
    for identifier, phrases in made:
        if identifier in held:
            raise InputError(f"{path}: two documents have the id {quoted(identifier)}; there is one place for each")
        held[identifier] = phrases
    with writing(path) as file:
        file.write(_json(held))


def _json(held: dict[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(held), indent=4) + b"\n"


# ---------------------------------------------------------------------------------------------- telling it


def _fits(head: Head) -> bool:
    if head.container == "several":
        folder, *files = head.parts
        return os.path.isdir(folder) and len(files) == 1 and without_compression(files[0]).endswith(JSON)
    if head.container == "folder":
        return holds(head, XML) and holds(head, JSON) and not holds(head, ".abstr", ".final", ".key")
    return head.container in ("json", "jsonl") and _fits_record(head.record)


def _fits_record(record: Record) -> bool:
    """Whether every field is a list of lists that begin with a phrase: other layouts have a field that is not."""
    first = list(islice(record.values(), FIRST_DOCUMENTS))
    return any(first) and all(isinstance(value, list) and all(map(_is_phrase, value)) for value in first)


def _is_phrase(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], str)


FORMAT = Format(
    name="ake",
    summary="ake-datasets: XML_FOLDER+refs.json, a folder of both, or refs.json alone, also as a run",
    fits=_fits,
    corpus=corpus,
    run=run,
    save_corpus=save_corpus,
    save_run=save_run,
)
