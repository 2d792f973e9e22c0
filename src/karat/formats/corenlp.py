"""XML of CoreNLP with its tags: sentences of words and parts of speech, which extractors then need not guess.

A path is one file `X.xml`, a folder of such files, or `XML_FOLDER+refs.json` with references as in ake-datasets. A
sentence whose section is `title` is the title. Titles, texts and references are read as `ake` reads them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from karat.corpus import Batches, Document, in_batches
from karat.errors import InputError
from karat.formats import ake, folders
from karat.formats.base import Format
from karat.formats.files import without_compression
from karat.formats.folders import holds
from karat.formats.head import Head
from karat.formats.xml import parse

Sentences = list[list[tuple[str, str]]]

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"'}
_WORD, _TAG = "word", "POS"
_COUNTED_TAG = re.compile(rb"<(?:sentence|token)[\s/>]")


def corpus(path: str) -> Batches[Document]:
    """The documents of a file, of a folder of files, or of XML_FOLDER+refs.json."""
    return lambda: in_batches(_documents(path), path)


def _documents(path: str) -> Iterator[tuple[int, Document]]:
    folder = Head(path).parts[0]
    if not os.path.isdir(folder):
        yield 1, _document(path)
        return
    files = {place.rpartition("/")[2]: file for place, file in folders.find(folder, ake.XML).items()}
    number = 0
    for batch in ake.corpus(path)():
        for document in batch.records():
            number += 1
            if document.id not in files:
                raise InputError(
                    f"{path}: no XML of the document {document.id!r}; name the folder that has {document.id}.xml"
                )
            yield number, msgspec.structs.replace(document, sentences=_parsed(files[str(document.id)]).sentences)


def _document(path: str) -> Document:
    """The document of one file; its id is the file's name."""
    found = _parsed(path)
    name = without_compression(Path(path).name).removesuffix(ake.XML)
    title, text = (" ".join(word for each in part for word, _ in each) for part in (found.title, found.text))
    return Document(id=name, title=title or None, text=text, sentences=found.sentences)


@dataclass(slots=True)
class _Parsed:
    """The sentences of a document, collected from what a parser meets."""

    sentences: Sentences = field(default_factory=list)
    title: Sentences = field(default_factory=list)
    text: Sentences = field(default_factory=list)
    _depth: int = 0
    _token: dict[str, str] = field(default_factory=dict)
    _inside: str = ""  # the element of a token that is being read
    _count: int = 0  # of sentences and tokens
    path: str = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and tag != "root":
            raise ValueError(f"not XML of CoreNLP: <{tag}> stands where <root> is due")
        if tag in ("sentence", "token"):
            ake.check_tokens(self._count, self.path)
            self._count += 1
        if tag == "sentence":
            sentence: list[tuple[str, str]] = []
            self.sentences.append(sentence)
            (self.title if attributes.get("section") == "title" else self.text).append(sentence)
        elif tag == "token":
            self._token = {}
        elif tag in (_WORD, _TAG):
            self._inside = tag

    def characters(self, text: str) -> None:
        if self._inside:
            self._token[self._inside] = self._token.get(self._inside, "") + text

    def end(self, tag: str) -> None:
        self._depth -= 1
        if tag == self._inside:
            self._inside = ""
        if tag == "token" and self.sentences:
            word, part = (self._token.get(each, "").strip() for each in (_WORD, _TAG))
            if word and not part:
                raise ValueError("a token has no <POS>; let CoreNLP run its annotator pos, or read it --from ake")
            if word:
                self.sentences[-1].append((_BRACKETS.get(word, word), part))


def _parsed(path: str) -> _Parsed:
    """What a file holds."""
    ake.count_tokens(path, _COUNTED_TAG)
    found = _Parsed(path=path)
    parse(path, found)
    return found


def _fits(head: Head) -> bool:
    if head.role != "corpus":
        return False
    if head.container == "folder":
        return holds(head, ake.XML) and not holds(head, ake.JSON, ".abstr", ".final", ".key", ".txt")
    return head.container == "text" and without_compression(head.path).endswith(ake.XML) and head.line[:1] == "<"


FORMAT = Format(
    name="corenlp",
    summary="CoreNLP with its tags: a file X.xml, a folder of them, or XML_FOLDER+refs.json",
    fits=_fits,
    corpus=corpus,
)
