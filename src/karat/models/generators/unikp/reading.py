"""Reading documents with a trained tagger, and writing with a trained unikp: from documents to predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.models.generators.checkpoint import Loaded, parted
from karat.models.generators.decoding import Decoding, Written, decode
from karat.models.generators.examples import beside
from karat.models.generators.examples import windows as by_length
from karat.models.generators.unikp.material import NONE
from karat.models.generators.unikp.pieces import AROUND, Pieces, owners, windows
from karat.models.generators.unikp.tagger import Tagged, Tagger
from karat.models.generators.unikp.tags import (
    DIGITS,
    TAGS,
    DocumentWords,
    Floats,
    Ints,
    O,
    References,
    first_pieces,
    matching_of,
    places_of,
    prediction_of,
    words_of,
)
from karat.models.generators.words import EOS, SEP

ROWS = 16  # windows that are read at a time, or rows that are decoded
WINDOW = 510  # pieces of a document that are read at a time, where the encoder takes as many


@dataclass(frozen=True, slots=True)
class Text:
    """A document as it is read."""

    document: Document
    words: DocumentWords
    ids: list[int]  # pieces
    of: Ints  # the word of each


class Reader:
    """Predicts phrases of documents with a trained tagger."""

    def __init__(self, loaded: Loaded, n: int, longest: int = 6, least: float = 0.0) -> None:
        self.loaded, self.n, self.longest, self.least = loaded, n, longest, least
        if longest < 1 or not 0 <= least <= 1:
            raise InputError("words is 1 or more, and least a probability from 0 to 1")
        _, self.learning = parted(loaded.card.model, loaded.card.options)
        self.matching = matching_of(loaded.card.language)
        self.size = min(loaded.words.shape.longest - AROUND, WINDOW)

    def __call__(self, documents: Sequence[Document]) -> list[Prediction]:
        """A prediction for each document, in order."""
        return self.predict(documents)

    def counts(self, documents: Sequence[Document]) -> dict[str, int]:
        """What is to be said of so many of these documents; the braces are where their number and its verb go."""
        long = sum(len(each.ids) > self.size for each in self.texts(documents))
        return {
            f"{{}} {{were}} longer than the model takes, and {{were}} read in windows of {self.size:,} pieces": long
        }

    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        """A prediction for each document, in order."""
        texts = self.texts(documents)
        return [self.tagged(each, shares) for each, shares in zip(texts, self.shares(texts), strict=True)]

    def tagged(self, text: Text, shares: Floats) -> Prediction:
        """The phrases that are tagged in a document."""
        how = {"longest": self.longest, "least": self.least, "weight": self.learning.weight}
        return prediction_of(text.document, text.words, shares, self.n, **how)

    def texts(self, documents: Sequence[Document]) -> list[Text]:
        """The documents as they are read."""
        pieces: Pieces = self.loaded.words
        found = [(document, words_of(document, self.matching)) for document in documents]
        return [Text(document, words, *pieces.of(document, words)) for document, words in found]

    def shares(self, texts: Sequence[Text]) -> list[Floats]:
        """The probabilities of the tags of each word [w, 4]: those of its first piece."""
        parts = [(at, begin, end) for at, each in enumerate(texts) for begin, end in windows(len(each.ids), self.size)]
        read: list[Floats] = [np.zeros(0)] * len(parts)
        for some in by_length([end - begin for _, begin, end in parts], ROWS):
            for row, shares in zip(some, self._read([parts[row] for row in some], texts), strict=True):
                read[row] = shares
        found = []
        for at, text in enumerate(texts):
            own = [(row, (begin, end)) for row, (which, begin, end) in enumerate(parts) if which == at]
            found.append(_of_words(text, [read[row] for row, _ in own], [span for _, span in own]))
        return found

    def _read(self, parts: Sequence[tuple[int, int, int]], texts: Sequence[Text]) -> Iterator[Floats]:
        """The probabilities of the tags of the pieces of each part [n, 4]."""
        batch, model = self.batch([texts[at].ids[begin:end] for at, begin, end in parts]), self.loaded.model
        assert isinstance(model, Tagger)
        for (_, begin, end), shares in zip(parts, model.tag_shares(batch.source).cpu().double().numpy(), strict=True):
            yield shares[1 : 1 + end - begin]

    def batch(self, sources: Sequence[Sequence[int]]) -> Tagged:
        """Some pieces with those around them, beside each other."""
        pieces = self.loaded.words
        numbers = [np.array(pieces.around(ids), np.int32) for ids in sources]
        arrays = beside(numbers, numbers, [np.zeros(1, np.int32)] * len(numbers), pieces.written)
        return Tagged.of(arrays, next(self.loaded.model.parameters()).device)


def _of_words(text: Text, read: Sequence[Floats], spans: Sequence[tuple[int, int]]) -> Floats:
    """The probabilities of the tags of words [w, 4], from those of pieces in each part; O where a word has none."""
    found = np.zeros((len(text.words.stems), len(TAGS)))
    found[:, O] = 1
    owner = owners(len(text.ids), spans)
    first = first_pieces(text.of)
    for at, ((begin, end), shares) in enumerate(zip(spans, read, strict=True)):
        own = np.flatnonzero(first[begin:end] & (owner[begin:end] == at))
        found[text.of[begin + own]] = shares[own]
    return found


class BothReader(Reader):
    """Predicts with a trained unikp: phrases of the text that are tagged, and those that are written."""

    def __init__(self, loaded: Loaded, n: int, how: Decoding, longest: int = 6, least: float = 0.0) -> None:
        super().__init__(loaded, n, longest, least)
        written = self.learning.written
        self.how = replace(how, longest=min(how.longest, written))
        self.most = min(loaded.words.shape.longest - written, WINDOW) - AROUND  # pieces before what is written
        self.references = References(self.matching)

    def counts(self, documents: Sequence[Document]) -> dict[str, int]:
        """What is to be said of so many of these documents."""
        long = sum(len(each.ids) > self.most for each in self.texts(documents))
        said = f"{{}} {{were}} longer than the model takes: absent phrases are of the first {self.most:,} pieces"
        return {**super().counts(documents), said: long}

    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        """A prediction for each document, in order: the best phrases of both kinds by their scores."""
        texts = self.texts(documents)
        written: list[list[Written]] = [[] for _ in texts]
        there = [at for at, each in enumerate(texts) if each.ids]
        for some in by_length([len(texts[at].ids) for at in there], max(1, ROWS // self.how.beam)):
            rows = [there[at] for at in some]
            batch = self.batch([texts[at].ids[: self.most] for at in rows])
            for at, found in zip(rows, decode(self.loaded.model, batch, self.how), strict=True):
                written[at] = found
        return [
            self._joined(text, self.tagged(text, shares), found)
            for text, shares, found in zip(texts, self.shares(texts), written, strict=True)
        ]

    def _joined(self, text: Text, tagged: Prediction, sequences: Sequence[Written]) -> Prediction:
        """The phrases that are tagged and those that are written, each once, the best first."""
        phrases = list(
            zip(tagged.keyphrases or (), tagged.scores or (), tagged.token_probs or (), tagged.kinds or (), strict=True)
        )
        seen = {self.references.form(phrase or "") for phrase, *_ in phrases}
        for phrase, logs in (part for each in sequences for part in _phrases(each, self.loaded.words)):
            form = self.references.form(phrase)
            if form in seen or not any(char.isalnum() for char in form) or phrase.lower() == NONE:
                continue
            seen.add(form)
            kind = "present" if next(places_of(text.words, form), None) else "absent"
            score = round(exp(sum(logs) / len(logs)), DIGITS)
            phrases.append((phrase, score, [round(exp(log), DIGITS) for log in logs], kind))
        best = sorted(phrases, key=lambda each: -(each[1] or 0))[: self.n]
        keyphrases, scores, shares, kinds = map(list, zip(*best, strict=True)) if best else ([], [], [], [])
        return Prediction(id=text.document.id, keyphrases=keyphrases, scores=scores, token_probs=shares, kinds=kinds)


def _phrases(written: Written, pieces: Pieces) -> Iterator[tuple[str, list[float]]]:
    """(text, log-probabilities of its pieces) of each phrase of a sequence."""
    numbers: list[int] = []
    logs: list[float] = []
    for number, log in (*zip(written.words, written.logs, strict=True), (EOS, 0.0)):
        if number not in (SEP, EOS):
            numbers.append(number)
            logs.append(log)
        elif numbers:
            yield pieces.text(numbers), logs
            numbers, logs = [], []
