"""The material of models that tag: pieces of an encoder's tokenizer, tags as examples, and reading documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from karat.corpus import Document
from karat.errors import InputError, counted
from karat.models.generators import checkpoint
from karat.models.generators.base import Generator
from karat.models.generators.checkpoint import STATE, WEIGHTS, Card, Loaded
from karat.models.generators.examples import Change, Counts, Examples, content_of, writing_examples
from karat.models.generators.guiding import Guide
from karat.models.generators.material import Predict
from karat.models.generators.memory import memory_here
from karat.models.generators.prepare import Task
from karat.models.generators.settings import GENERATORS
from karat.models.generators.unikp.pieces import (
    AHEAD,
    AROUND,
    ENCODER,
    TOKENIZER,
    Pieces,
    new_pieces,
    read_pieces,
)
from karat.models.generators.unikp.pretrained import encoder_directory, read_weights
from karat.models.generators.unikp.settings import RANDOM, UniKPLearning
from karat.models.generators.unikp.tagger import NO_TAG, Tagged, Tagger
from karat.models.generators.unikp.tags import (
    References,
    matching_of,
    piece_tags,
    split,
    word_tags,
    words_of,
)
from karat.models.generators.words import EOS, SEP

NUMBERS = 4  # for each weight in training: it, its gradient, and two that Adam keeps
VALIDATED = 128  # documents of a validation, of those that are looked at
NONE = "none"  # is written where there is no absent keyphrase, as published


class TaggerMaterial:
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
        most = found.shape.longest - self.room(learning)
        if learning.longest > most:
            raise InputError(f"the encoder takes {found.shape.longest} pieces: longest is {most} or less")
        if shape.frozen > found.shape.layers:
            raise InputError(
                f"the encoder has {counted(found.shape.layers, 'layer')}, so that {shape.frozen} cannot be frozen"
            )
        check_memory(task.model, task.options, found, NUMBERS)
        found.write(folder)
        return found

    def room(self, learning: Any) -> int:
        """Pieces that are left free behind a document."""
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
            for place, document in enumerate(islice(documents, VALIDATED) if valid else documents):
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
        if not made:
            which = "validation document" if valid else "document"
            raise InputError(f"{task.model} learns from references, and no {which} has any with a text")
        self.check_present(task.model, there)
        return Counts(made, empty, 0, there, missing, shared, cut)

    def check_present(self, model: str, present: int) -> None:
        """Raises InputError where no reference stands in its document."""
        if not present:
            raise InputError(f"{model} learns from references that stand in their documents, and none does")

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
        """Write the weights into an empty folder."""
        checkpoint.write_tensors(folder / WEIGHTS, model.tensors())

    def load(self, folder: Path, card: Card) -> Loaded:
        """The trained model in a directory."""
        words = read_pieces(folder)
        model = build(card.model, card.options, words)
        checkpoint.fill(model, checkpoint.read_tensors(folder / WEIGHTS)[0], folder / WEIGHTS)
        return Loaded(card, words, model)

    def writer(self, loaded: Loaded, n: int, guide: Guide | None) -> Predict:
        """What predicts while the model is trained."""
        from karat.models.generators.unikp.reading import Reader

        return Reader(loaded, n).predict


class UniKPMaterial(TaggerMaterial):
    """Pieces with tags, and what is written of absent keyphrases."""

    def room(self, learning: UniKPLearning) -> int:
        """The pieces of absent keyphrases come behind the document."""
        return learning.written

    def check_present(self, model: str, present: int) -> None:
        """Absent references alone are enough to learn from."""

    def targets(self, pieces: Pieces, absent: Sequence[str], learning: UniKPLearning) -> list[int]:
        """`piece piece <sep> piece <eos>`, as many keyphrases as there is room for; where there are none, `none`."""
        found: list[int] = []
        for phrase in absent or [NONE]:
            numbers = [each for each in pieces.numbers(phrase) if each != pieces.mark]
            more = [SEP, *numbers] if found else numbers
            if numbers and len(found) + len(more) < learning.written:
                found += more
        return [*found, EOS]

    def writer(self, loaded: Loaded, n: int, guide: Guide | None) -> Predict:
        """What predicts greedily while the model is trained."""
        from karat.models.generators.decoding import Decoding
        from karat.models.generators.unikp.reading import BothReader

        return BothReader(loaded, n, Decoding()).predict


TAGGER, UNIKP = TaggerMaterial(), UniKPMaterial()


def _network(name: str, options: Any, words: Pieces) -> Callable[[], Tagger]:
    shape, learning = checkpoint.parted(name, options)
    module, _, kind = GENERATORS[name].network.partition(":")
    network = getattr(import_module(module), kind)
    return lambda: network(shape, learning, words.shape, AHEAD)


def build(name: str, options: Any, words: Pieces) -> Tagger:
    """The network of a model with new weights."""
    check_memory(name, options, words, 1)
    made = _network(name, options, words)()
    made.know(words)  # type: ignore[arg-type]
    return made


def check_memory(name: str, options: Any, words: Pieces, numbers: int) -> None:
    """Raises InputError unless so many numbers for each weight fit into memory."""
    with torch.device("meta"):  # where a tensor has a shape and no content
        weights = sum(each.numel() for each in _network(name, options, words)().parameters())
    if 4 * weights * numbers > memory_here():
        raise InputError(f"{name}: {weights:,} weights do not fit into the memory of this machine; make it smaller")
