"""Guides: phrases that another system finds for a document, before the source, in training and predicting.

`phrase <sep> phrase <peos> title <text> text`: the marks cannot be copied, and of a guide's words only those that the
document has, too, or that can be written. Which references are present, what is copied and how phrases are written is
a matter of the document alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from karat.corpus import Document, Phrase, Run, text_of_id
from karat.errors import InputError
from karat.formats.base import first_variant, quoted
from karat.formats.content import file_hash
from karat.models.generators.checkpoint import Card
from karat.models.generators.words import PEOS, SEP, SPECIAL, UNK, Source, Stems, Words, tokens

PHRASES = 10  # of a document
WINDOW = 32  # documents that are guided at a time
RUN = "run:"  # before the name of a run in model.json


@dataclass(frozen=True, slots=True)
class Guide:
    """What finds phrases for documents, and the stems by which a phrase is there once."""

    find: Callable[[Sequence[Document]], Sequence[Sequence[Phrase]]]
    stems: Stems

    def __call__(self, documents: Sequence[Document]) -> list[list[str]]:
        """The guide of each document, as tokens."""
        return [self._tokens(phrases) for phrases in self.find(documents)]

    def _tokens(self, phrases: Sequence[Phrase]) -> list[str]:
        parts = [words for phrase in phrases if (words := tokens(first_variant(phrase)))]
        different = list({self.stems(words): words for words in reversed(parts)}.values())[::-1][:PHRASES]
        found = [word for words in different for word in (*words, SPECIAL[SEP])]
        return [*found[:-1], SPECIAL[PEOS]]

    def along(self, documents: Iterable[Document]) -> Iterator[tuple[Document, list[str]]]:
        """Each document with its guide."""
        taken = iter(documents)
        while some := list(islice(taken, WINDOW)):
            yield from zip(some, self(some), strict=True)


def guided(source: Source, guide: Sequence[str], words: Words) -> Source:
    """A document with the tokens of a guide before it.

    >>> words = Words((*SPECIAL, "deep", "nets"), len(SPECIAL) + 2)
    >>> found = guided(words.numbered(["deep", "zorbs"]), ["zorbs", "<sep>", "bees", "<peos>"], words)
    >>> found.read, found.copied
    ([1, 6, 1, 7, 9, 1], [11, 1, 1, 1, 9, 11])
    """
    read = [words.ids.get(word, UNK) for word in guide]
    copied = [
        UNK if number in (SEP, PEOS) else number if UNK < number < words.written else source.own.get(word, UNK)
        for word, number in zip(guide, read, strict=True)
    ]
    return Source(read + source.read, copied + source.copied, source.own)


def guide_name(text: str) -> str:
    """What `model.json` says of a guide: a model as it was named, a run by its name and content."""
    return f"{RUN}{Path(text).name}:{file_hash(Path(text)).hex()[:16]}" if os.path.isfile(text) else text


def guide_of(text: str, language: str) -> Guide:
    """The guide that a model or a run is. Raises InputError where it is none."""
    stems = Stems(language)
    if os.path.isfile(text):
        from karat.formats import read_run

        return Guide(_of_run(read_run(text)), stems)
    if os.sep in text and not os.path.isdir(text.partition(",")[0]):
        raise InputError(f"{text}: there is no such file, which could be the run of a guide")
    return Guide(_of_model(text, language), stems)


def _of_run(run: Run) -> Callable[[Sequence[Document]], list[Sequence[Phrase]]]:
    found = {text_of_id(each.id): tuple((each.keyphrases or [])[: 2 * PHRASES]) for each in run}

    def find(documents: Sequence[Document]) -> list[Sequence[Phrase]]:
        for document in documents:
            if document.id is None or text_of_id(document.id) not in found:
                raise InputError(f"{run.origin}: the guide has no phrases for document {quoted(str(document.id))}")
        return [found[text_of_id(document.id)] for document in documents]

    return find


def _of_model(text: str, language: str) -> Callable[[Sequence[Document]], list[Sequence[Phrase]]]:
    from karat.models.base import CommonOptions
    from karat.models.find import parse_model

    model = parse_model(text)
    found = None if model.asks_endpoint else model.find()
    if found is None or "frequencies" in found.needs:
        what = "an endpoint" if found is None else "document frequencies"
        raise InputError(f"--guide {text}: needs {what}; karat predict it first, and give the run as the guide")
    predict = found.made(CommonOptions(n=PHRASES, language=language))
    return lambda documents: [each.keyphrases or () for each in predict(documents)]


def guide_of_card(card: Card, folder: str, given: str) -> Guide | None:
    """The guide that a trained model predicts with: its own, or the one that is given."""
    own = card.settings.get("guide")
    if own is None:
        if given:
            raise InputError(f"{folder}: was trained without a guide, and takes none")
        return None
    if not given and own.startswith(RUN):
        raise InputError(f"{folder}: was trained with a run as its guide; give one of these documents: guide=RUN")
    return guide_of(given or own, card.language)
