"""The material of pretrained networks with an encoder and a decoder: a checkpoint is what `save_pretrained` writes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from karat.corpus import Document
from karat.embed.network import _offline_and_quiet
from karat.errors import InputError
from karat.formats.output import put_in_place, working_folder, writing_errors
from karat.libraries import library
from karat.models.generators import checkpoint
from karat.models.generators.base import Generator
from karat.models.generators.checkpoint import STATE, Card, Loaded
from karat.models.generators.examples import Change, Counts, Examples, content_of, writing_examples
from karat.models.generators.guiding import Guide
from karat.models.generators.material import Predict
from karat.models.generators.prepare import Task
from karat.models.generators.seq2seq import directory
from karat.models.generators.seq2seq.network import Pairs, Seq2Seq
from karat.models.generators.seq2seq.settings import Seq2SeqLearning, Seq2SeqShape
from karat.models.generators.seq2seq.texts import Language, references_of
from karat.models.generators.words import Stems

AT_ONCE = 256  # documents that the tokenizer gets
NUMBERS = 4  # for each weight in training: it, its gradient, and two that Adam keeps
OF_TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
OF_OTHERS = ("vocab.json", "merges.txt", "spiece.model", "sentencepiece.bpe.model", "chat_template.jinja")


class Material:
    """Tokens are those of the pretrained model; the directory is one that others can load."""

    files = frozenset(("config.json", "generation_config.json", "model.safetensors", *OF_TOKENIZER, *OF_OTHERS))

    def check(self, task: Task) -> None:
        """Raises InputError unless there is a pretrained model, and nothing is asked for that needs counted words."""
        shape, _ = parted(task.model, task.options)
        for name in ("drop", "guide"):
            if getattr(task.settings, name) is not None:
                raise InputError(f"--{name} is for generators that count their own words, not for {task.model}")
        if not shape.model:
            raise InputError(f"{task.model} begins with a pretrained model: write {task.model},model=DIR, or hf:NAME")
        if not task.settings.resume:
            directory.check(directory.directory_of(shape.model))

    def words(self, task: Task, folder: Path, documents: Iterator[Document]) -> Language:
        """The tokenizer and the configuration of the pretrained model, with added tokens."""
        shape, learning = parted(task.model, task.options)
        root = directory.directory_of(shape.model)
        directory.check(root)
        found = directory.load(root, added=shape.added, numbers=NUMBERS)
        some = False
        for document in documents:
            some = some or bool(document.keyphrases)
        if not some:
            raise InputError("a generator learns from references, and no document has any")
        with _saved(folder) as new:
            found.tokenizer.save_pretrained(new)
            found.network.config.save_pretrained(new)
            found.network.generation_config.save_pretrained(new)
        return Language.of(found, shape, learning)

    def write(
        self,
        path: Path,
        documents: Iterable[Document],
        words: Language,
        task: Task,
        *,
        valid: bool,
        others: frozenset[bytes] = frozenset(),
        progress: Callable[[int], object] | None = None,
    ) -> Counts:
        """Writes the examples of documents to a file, tokens of sources and targets."""
        stems = Stems(task.language)
        made = empty = shared = there = missing = cut = shortened = place = 0
        taken = iter(documents)
        with writing_examples(path, alone=True) as add:
            while some := list(islice(taken, AT_ONCE)):
                if progress is not None:
                    progress(len(some))
                shared += sum(content_of(each) in others for each in some) if others else 0
                learned = [(at, each, references_of(each, words.shape, stems)) for at, each in enumerate(some, place)]
                kept = [one for one in learned if one[2].texts]
                sources, many = words.sources([each for _, each, _ in kept])
                cut, place = cut + many, place + len(some)
                for (at, _, references), source in zip(kept, sources, strict=True):
                    if source:
                        target, whole = words.target(references.texts)
                        add(at, source, [], [target])
                        shortened += not whole
                        made, there, missing = made + 1, there + references.present, missing + references.absent
                empty += len(some) - sum(map(bool, sources))
        return Counts(made, empty, 0, there, missing, shared, cut, shortened)

    def read_words(self, folder: Path) -> Language:
        """The language of a training."""
        card = checkpoint.read_card(folder)
        return Language.of(directory.load(folder, weights=False), *parted(card.model, card.options))

    def examples(self, path: Path, words: Language, card: Card) -> Examples:
        """The examples in a file."""
        return Examples(path, words.rows, words=words.rows)

    def batch(
        self,
        examples: Examples,
        rows: Sequence[int] | NDArray[np.int64],
        words: Language,
        device: torch.device,
        change: Change | None = None,
    ) -> Pairs:
        """Some examples beside each other."""
        found = [examples.example(row) for row in np.asarray(rows).tolist()]
        sources, targets = [each.source for each in found], [each.target for each in found]
        if max(int(each.max()) for each in targets) >= words.rows:
            raise InputError(f"{examples.path}: its numbers are damaged; remove the directory, and train anew")
        return Pairs.of(sources, targets, words.marks.start, words.pad, device)

    def network(self, folder: Path, card: Card, words: Language) -> Generator:
        """The pretrained network; where a state is to be read, one whose weights do not matter."""
        shape, _ = parted(card.model, card.options)
        if (folder / STATE).is_file():
            return Seq2Seq(directory.unlearned(folder))
        root = directory.directory_of(shape.model)
        directory.check(root)
        return Seq2Seq(directory.load(root, added=shape.added).network)

    def save(self, folder: Path, model: Generator) -> None:
        """Write the network as `save_pretrained` does into an empty folder."""
        assert isinstance(model, Seq2Seq)
        with _offline_and_quiet(library("transformers", f"{folder}: a pretrained model")):
            model.network.save_pretrained(folder)

    def load(self, folder: Path, card: Card) -> Loaded:
        """The trained model in a directory."""
        directory.check(folder)
        found = directory.load(folder)
        return Loaded(card, Language.of(found, *parted(card.model, card.options)), Seq2Seq(found.network))

    def writer(self, loaded: Loaded, n: int, guide: Guide | None) -> Predict:
        """What predicts greedily."""
        from karat.models.generators.seq2seq.writing import Writer

        found = directory.Pretrained(loaded.model.network, loaded.words.tokenizer)
        how = found.search(1, loaded.words.length, None)
        return Writer(found, loaded.words, how, n, loaded.card.language)


def parted(name: str, options: dict[str, object]) -> tuple[Seq2SeqShape, Seq2SeqLearning]:
    """(what it reads and writes, how it learns) of the options of a model."""
    return checkpoint.parted(name, options)


@contextmanager
def _saved(folder: Path) -> Iterator[Path]:
    """A new folder, whose files are put into the directory at the end, one by one, each of them whole."""
    with writing_errors(folder, folder.parent), working_folder(folder / "pretrained") as new:
        with _offline_and_quiet(library("transformers", f"{folder}: a pretrained model")):
            yield new
        for path in sorted(new.iterdir()):
            with path.open("rb") as file:
                os.fsync(file.fileno())
            put_in_place(path, folder / path.name)


MATERIAL = Material()
