"""What differs between kinds of generators around the network: words, examples, and the files of a directory.

Most kinds count words of their own (`table.py`). One that begins with a pretrained model has the tokenizer of that, and
writes the files that others can load. The training (`loop.py`) knows this interface alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from karat.corpus import Document, Prediction
from karat.models.generators.settings import GENERATORS

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from karat.models.generators.base import Generator
    from karat.models.generators.checkpoint import Card, Loaded
    from karat.models.generators.examples import Change, Counts, Examples
    from karat.models.generators.guiding import Guide
    from karat.models.generators.prepare import Task

Predict = Callable[[Sequence[Document]], list[Prediction]]


class Material(Protocol):
    """The words, examples and files of a kind of generator; `words` are of a type that it alone knows."""

    @property
    def files(self) -> frozenset[str]:
        """Names of files in the directory of a training, beside those that every training has."""

    def check(self, task: Task) -> None:
        """Raises InputError where a training cannot be as it is asked for, before anything is written."""

    def words(self, task: Task, folder: Path, documents: Iterator[Document]) -> Any:
        """The words of a new training, which are written to its directory; `documents` are read to the end."""

    def write(
        self,
        path: Path,
        documents: Iterable[Document],
        words: Any,
        task: Task,
        *,
        valid: bool,
        others: frozenset[bytes] = frozenset(),
        progress: Callable[[int], object] | None = None,
    ) -> Counts:
        """Writes the examples of documents to a file; `others` are documents of another corpus, which are counted."""

    def read_words(self, folder: Path) -> Any:
        """The words of a training in its directory."""

    def examples(self, path: Path, words: Any, card: Card) -> Examples:
        """The examples in a file."""

    def batch(
        self,
        examples: Examples,
        rows: Sequence[int] | NDArray[np.int64],
        words: Any,
        device: torch.device,
        change: Change | None = None,
    ) -> Any:
        """Some examples as what the loss of the network takes."""

    def network(self, folder: Path, card: Card, words: Any) -> Generator:
        """The network before the first step."""

    def save(self, folder: Path, model: Generator) -> None:
        """Write the weights into an empty folder."""

    def load(self, folder: Path, card: Card) -> Loaded:
        """The trained model in a directory."""

    def writer(self, loaded: Loaded, n: int, guide: Guide | None) -> Predict:
        """What predicts greedily while the model is trained."""


def material_of(name: str) -> Material:
    """The material of a kind of generator."""
    module, _, found = GENERATORS[name].material.partition(":")
    material: Material = getattr(import_module(module), found)
    return material
