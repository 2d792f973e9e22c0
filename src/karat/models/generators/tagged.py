"""The material of models that tag: pieces of an encoder's tokenizer, tags as examples, and reading documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.models.generators import checkpoint
from karat.models.generators.base import Generator
from karat.models.generators.checkpoint import STATE, WEIGHTS, Card, Loaded
from karat.models.generators.encoder_settings import RANDOM
from karat.models.generators.examples import Change, Counts, Examples, beside, content_of, writing_examples
from karat.models.generators.examples import windows as by_length
from karat.models.generators.guiding import Guide
from karat.models.generators.material import Predict
from karat.models.generators.memory import memory_here
from karat.models.generators.pieces import (
    AHEAD,
    AROUND,
    ENCODER,
    TOKENIZER,
    Pieces,
    new_pieces,
    owners,
    read_pieces,
    windows,
)
from karat.models.generators.prepare import Task
from karat.models.generators.pretrained import encoder_directory, read_weights
from karat.models.generators.settings import GENERATORS
from karat.models.generators.tagger import NO_TAG, Tagged, Tagger
from karat.models.generators.tagging import (
    O,
    TAGS,
    Floats,
    Ints,
    References,
    Words,
    first_pieces,
    matching_of,
    piece_tags,
    prediction_of,
    split,
    word_tags,
    words_of,
)
from karat.models.generators.words import EOS

NUMBERS = 4  # for each weight in training: it, its gradient, and two that Adam keeps
ROWS = 16  # windows that are read at a time
WINDOW = 510  # pieces of a document that are read at a time, where the encoder takes as many


class TaggedMaterial:
    """Documents as pieces with tags; a target is what is written of absent keyphrases, of a tagger nothing."""

    files = frozenset((ENCODER, TOKENIZER, WEIGHTS))

    def check(self, task: Task) -> None:
        """Raises InputError where something is asked for that has no sense for tags."""
        checkpoint.parted(task.model, task.options)
        for name in ("drop", "guide"):
            if getattr(task.settings, name) is not None:
                raise InputError(f"--{name} is for generators that copy, not for {task.model}")

    def words(self, task: Task, folder: Path, documents: Iterator[Document]) -> Pieces:
        """The tokenizer and the shape of the encoder."""
        shape, learning = checkpoint.parted(task.model, task.options)
        found = new_pieces(shape, documents)
        if learning.longest + self.room(learning) > found.shape.longest:
            raise InputError(
                f"the encoder takes {found.shape.longest} pieces: longest is {found.shape.longest - self.room(learning)}"
                f" or less, not {learning.longest}"
            )
        if shape.frozen > found.shape.layers:
            raise InputError(f"the encoder has {found.shape.layers} layers, so that {shape.frozen} cannot be frozen")
        _fits(task.model, task.options, found)
        found.write(folder)
        return found

    def room(self, learning: Any) -> int:
        """Pieces that a document leaves free."""
        return 0

    def targets(self, pieces: Pieces, absent: Sequence[str], learning: Any) -> list[int]:
        """What is written for absent references, as numbers: of a tagger nothing."""
        return [EOS]

    def write(
        self,
        path: Path,
        documents: Iterable[Document],
        words: Pieces,
        task: Task,
        *,
        valid: bool,
        others: frozenset[bytes] = frozenset(),
        progress: Callable[[int], object] | None = None,
    ) -> Counts:
        """Writes the examples of documents to a file; a document that is too long is cut."""
        _, learning = checkpoint.parted(task.model, task.options)
        matching = matching_of(task.language)
        references = References(matching)
        made = empty = shared = there = missing = cut = 0
        with writing_examples(path) as add:
            for place, document in enumerate(documents):
                if progress is not None and not place % 100:
                    progress(100)
                shared += bool(others) and content_of(document) in others
                found, forms = words_of(document, matching), references.forms(document)
                if not found.stems or not forms:
                    empty += 1
                    continue
                present, absent = split(found, forms)
                ids, of = words.of(document, found)
                size = learning.longest - AROUND
                cut += len(ids) > size
                tags = piece_tags(word_tags(found, present), of)[:size]
                target = self.targets(words, references.surfaces(document, absent), learning)
                add(place, words.around(ids[:size]), [NO_TAG, *(tags + 1).tolist(), NO_TAG], [target])
                made, there, missing = made + 1, there + len(forms) - len(absent), missing + len(absent)
        return Counts(made, empty, 0, there, missing, shared, cut)

    def read_words(self, folder: Path) -> Pieces:
        """The tokenizer and the shape of a training."""
        return read_pieces(folder)

    def examples(self, path: Path, words: Pieces, card: Card) -> Examples:
        """The examples in a file."""
        return Examples(path, words.written, "always", len(words))

    def batch(
        self,
        examples: Examples,
        rows: Sequence[int] | NDArray[np.int64],
        words: Pieces,
        device: torch.device,
        change: Change | None = None,
    ) -> Tagged:
        """Some examples beside each other."""
        return Tagged.of(examples.arrays(rows, change), device)

    def network(self, folder: Path, card: Card, words: Pieces) -> Generator:
        """The network before the first step: its encoder as it was trained by others, unless a state has its own."""
        model = build(card.model, card.options, words)
        shape, _ = checkpoint.parted(card.model, card.options)
        if shape.model != RANDOM and not (folder / STATE).is_file():
            model.encoder.load_state_dict(read_weights(encoder_directory(shape.model), words.shape))
        return model

    def save(self, folder: Path, model: Generator) -> None:
        """Writes the weights."""
        checkpoint.write_tensors(folder / WEIGHTS, model.state_dict())

    def load(self, folder: Path, card: Card) -> Loaded:
        """The trained model in a directory."""
        words = read_pieces(folder)
        model = build(card.model, card.options, words)
        checkpoint.fill(model, checkpoint.read_tensors(folder / WEIGHTS)[0], folder / WEIGHTS)
        return Loaded(card, words, model)

    def writer(self, loaded: Loaded, n: int, guide: Guide | None) -> Predict:
        """What predicts while the model is trained."""
        return Reader(loaded, n).predict


TAGGED = TaggedMaterial()


def _network(name: str, options: Any, words: Pieces) -> Callable[[], Tagger]:
    shape, learning = checkpoint.parted(name, options)
    module, _, kind = GENERATORS[name].network.partition(":")
    network = getattr(import_module(module), kind)
    return lambda: network(shape, learning, words.shape, AHEAD)


def build(name: str, options: Any, words: Pieces) -> Tagger:
    """The network of a model with new weights."""
    made = _network(name, options, words)()
    made.know(words)  # type: ignore[arg-type]
    return made


def _fits(name: str, options: Any, words: Pieces) -> None:
    """Raises InputError unless the numbers of a training fit into memory."""
    with torch.device("meta"):
        weights = sum(each.numel() for each in _network(name, options, words)().parameters())
    if 4 * weights * NUMBERS > memory_here():
        raise InputError(f"{name}: {weights:,} weights do not fit into the memory of this machine; make it smaller")


# ---------------------------------------------------------------------------------------------- predicting


@dataclass(frozen=True, slots=True)
class Text:
    """A document as it is read."""

    document: Document
    words: Words
    ids: list[int]  # pieces
    of: Ints  # the word of each


class Reader:
    """Predicts phrases of documents with a trained tagger."""

    def __init__(self, loaded: Loaded, n: int, longest: int = 6, least: float = 0.0) -> None:
        self.loaded, self.n, self.longest, self.least = loaded, n, longest, least
        if longest < 1 or not 0 <= least <= 1:
            raise InputError("longest is 1 word or more, and least a probability from 0 to 1")
        self.matching = matching_of(loaded.card.language)
        self.size = min(loaded.words.shape.longest - AROUND, WINDOW)

    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        """A prediction for each document, in order."""
        texts = self.texts(documents)
        how = {"longest": self.longest, "least": self.least}
        return [
            prediction_of(each.document, each.words, shares, self.n, **how)  # type: ignore[arg-type]
            for each, shares in zip(texts, self.shares(texts), strict=True)
        ]

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
        pieces, model = self.loaded.words, self.loaded.model
        sources = [np.array(pieces.around(texts[at].ids[begin:end]), np.int32) for at, begin, end in parts]
        none = [np.zeros(1, np.int32)] * len(sources)
        batch = Tagged.of(beside(sources, sources, none, pieces.written), next(model.parameters()).device)
        assert isinstance(model, Tagger)
        for (_, begin, end), shares in zip(parts, model.tag_shares(batch.source).cpu().double().numpy(), strict=True):
            yield shares[1 : 1 + end - begin]


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
