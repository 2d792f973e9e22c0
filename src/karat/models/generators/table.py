"""The material of generators that count their own words: a table of words, and numbers for copying."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from karat.corpus import Document
from karat.errors import InputError
from karat.formats.output import write_beside
from karat.models.generators import checkpoint
from karat.models.generators.base import Batch, Generator
from karat.models.generators.checkpoint import WEIGHTS, WORDS, Card, Loaded
from karat.models.generators.dropping import Drop
from karat.models.generators.examples import Change, Counts, Examples, write_examples
from karat.models.generators.guiding import Guide
from karat.models.generators.material import Predict
from karat.models.generators.prepare import Task
from karat.models.generators.settings import GENERATORS
from karat.models.generators.words import Words, count_words

NUMBERS = 4  # for each weight in training: it, its gradient, and two that Adam keeps


class Table:
    """Words are counted in the corpus, or are those of the model to go on from."""

    files = frozenset((WORDS, WEIGHTS))

    def check(self, task: Task) -> None:
        """Raises InputError where phrases are to be dropped that are not learned together."""
        _, learning = checkpoint.parted(task.model, task.options)
        if task.settings.drop is not None:
            Drop.of(task.settings.drop)
            if learning.targets == "one2one":
                raise InputError(
                    "--drop makes present phrases of a target absent ones: targets are one2seq, not one2one"
                )

    def words(self, task: Task, folder: Path, documents: Iterator[Document]) -> Words:
        """The table of words: that of the model to go on from, or of these documents, which are read either way."""
        _, learning = checkpoint.parted(task.model, task.options)
        if task.settings.start is None:
            words = count_words(documents, learning.read, learning.written)
        else:
            for _ in documents:
                pass
            words = checkpoint.read_words(task.settings.start)
        checkpoint.network(task.model, task.options, words, NUMBERS)
        write_beside(folder / WORDS, words.as_text().encode())
        return words

    def write(
        self,
        path: Path,
        documents: Iterable[Document],
        words: Words,
        task: Task,
        *,
        valid: bool,
        others: frozenset[bytes] = frozenset(),
        progress: Callable[[int], object] | None = None,
    ) -> Counts:
        """Writes the examples of documents to a file."""
        _, learning = checkpoint.parted(task.model, task.options)
        return write_examples(
            path,
            documents,
            words,
            language=task.language,
            targets=learning.targets,
            longest=learning.longest,
            guide=task.guide(),
            places=not valid and task.settings.drop is not None,
            others=others,
            progress=progress,
        )

    def read_words(self, folder: Path) -> Words:
        """The table of words of a training."""
        return checkpoint.read_words(folder)

    def examples(self, path: Path, words: Words, card: Card) -> Examples:
        """The examples in a file, with `<peos>` as the model has it."""
        _, learning = checkpoint.parted(card.model, card.options)
        own = GENERATORS[card.model].peos
        return Examples(path, words.written, own if learning.peos == "never" else learning.peos, len(words))

    def batch(
        self,
        examples: Examples,
        rows: Sequence[int] | NDArray[np.int64],
        words: Words,
        device: torch.device,
        change: Change | None = None,
    ) -> Batch:
        """Some examples beside each other."""
        return Batch.of(examples.arrays(rows, change), device)

    def network(self, folder: Path, card: Card, words: Words) -> Generator:
        """The network with new weights."""
        return checkpoint.build(card.model, card.options, words)

    def save(self, folder: Path, model: Generator) -> None:
        """Write the weights into an empty folder."""
        checkpoint.write_tensors(folder / WEIGHTS, model.tensors())

    def load(self, folder: Path, card: Card) -> Loaded:
        """The trained model in a directory."""
        words = checkpoint.read_words(folder)
        model = checkpoint.build(card.model, card.options, words)
        checkpoint.fill(model, checkpoint.read_tensors(folder / WEIGHTS)[0], folder / WEIGHTS)
        return Loaded(card, words, model)

    def writer(self, loaded: Loaded, n: int, guide: Guide | None) -> Predict:
        """What predicts greedily."""
        from karat.models.generators.writing import Writer

        return Writer(loaded, n=n, guide=guide).predict


TABLE = Table()
