"""Before the first step of a training: words are counted, examples written, and what was asked for is noted.

Where a training goes on, it is checked that corpus, model and settings are those it was begun with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec

from karat import __version__
from karat.corpus import Corpus, Document
from karat.errors import InputError, counted
from karat.formats.output import LOCK, NEW, writing_errors
from karat.models.generators import checkpoint
from karat.models.generators.checkpoint import (
    EXAMPLES,
    FILES,
    FORMAT,
    MODEL,
    STATE,
    VALID_EXAMPLES,
    WEIGHTS,
    Card,
)
from karat.models.generators.composing import composed
from karat.models.generators.examples import Counts, content_of
from karat.models.generators.guiding import Guide, guide_name, guide_of
from karat.models.generators.material import material_of
from karat.models.generators.settings import GENERATORS, Settings

VALIDATED = 512  # documents of the validation corpus that are looked at
HOW_LONG = ("resume", "minutes", "steps", "epochs")  # settings that may differ when a training goes on


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be trained, on which documents, and how."""

    model: str
    options: dict[str, Any]  # of the model: its shape and how it learns
    settings: Settings
    language: str
    corpus: Corpus
    valid: Corpus | None = None

    def kept(self) -> dict[str, Any]:
        """The settings that the weights depend on."""
        guide = None if self.settings.guide is None else guide_name(self.settings.guide)
        batch = self.settings.batch or GENERATORS[self.model].batch
        kept = {key: value for key, value in asdict(self.settings).items() if key not in HOW_LONG}
        return kept | {"guide": guide, "batch": batch}

    def guide(self) -> Guide | None:
        """What finds phrases that are put before the documents."""
        return None if self.settings.guide is None else guide_of(self.settings.guide, self.language)


def prepare(task: Task, folder: Path, progress: Callable[[int], object] | None = None) -> list[str]:
    """Fills the directory with all that a training needs; gives notes. On resuming, checks that all is as it was."""
    names = [each.name for each in folder.iterdir()] if folder.is_dir() else []
    material = material_of(task.model)
    known = FILES | material.files
    strange = sorted(name for name in names if name not in known and not name.endswith((NEW, LOCK)))
    if strange or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder}: is there already and is no directory of a training ({(strange or ['a file'])[0]})")
    if not checkpoint.is_checkpoint(folder):
        if learned := {GENERATORS[task.model].weights, STATE} & set(names):
            raise InputError(
                f"{folder}: has {min(learned)} without a {MODEL}; put that back, or name another directory"
            )
        new = not folder.exists()
        with writing_errors(folder, folder.parent):
            folder.mkdir(exist_ok=True)
        try:
            return _begin(task, folder, progress)
        except InputError:
            for path in folder.iterdir():
                if path.name not in names:
                    path.unlink()
            if new:
                folder.rmdir()
            raise
    if not task.settings.resume:
        raise InputError(f"{folder}: a trained model is there already; go on with --resume, or name another directory")
    _check_same(task, checkpoint.read_card(folder), folder)
    return []


def _begin(task: Task, folder: Path, progress: Callable[[int], object] | None) -> list[str]:
    """Writes words, examples and, when these are complete, the card; gives notes."""
    material = material_of(task.model)
    digest = blake2b(digest_size=16)
    words = material.words(task, folder, _hashed(task.corpus, digest))
    others = frozenset(map(content_of, task.valid or ()))
    made = _Counted(composed(task.corpus, task.language, task.settings.seed) if task.settings.augment else ())
    documents = chain(task.corpus, made)
    counts = material.write(folder / EXAMPLES, documents, words, task, valid=False, others=others, progress=progress)
    if not counts.documents:
        raise InputError("no document has references that can be written or copied")
    valid = None
    if task.valid is not None:
        checked = material.write(folder / VALID_EXAMPLES, islice(task.valid, VALIDATED), words, task, valid=True)
        if not checked.documents:
            raise InputError("no validation document has references that can be written or copied")
        valid = {"name": task.valid.name, "documents": checked.documents}
    corpus = {"name": task.corpus.name, "hash": digest.hexdigest(), "documents": counts.documents}
    if task.settings.augment:
        corpus["composed"] = made.count
    told: dict[str, Any] = {"language": task.language, "options": task.options, "settings": task.kept()}
    card = Card(format=FORMAT, model=task.model, karat=__version__, corpus=corpus, valid=valid, steps=0, **told)
    names = material.files | {*checkpoint.OF_TRAINING}
    checkpoint.write_card(folder, checkpoint.with_checksums(card, folder, names))
    return [*_notes_on(counts), *([made.note] if task.settings.augment else [])]


class _Counted:
    """Documents that are composed, counted as they are taken."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents, self.count = documents, 0

    def __iter__(self) -> Iterator[Document]:
        for document in self._documents:
            self.count += 1
            yield document

    @property
    def note(self) -> str:
        """How many there are."""
        if not self.count:
            return "no example was composed: no two documents with a title and a text share enough keyphrases"
        return f"{self.count:,} examples were composed of a title and the text of another document"


def started(name: str, options: Mapping[str, Any], start: str | None) -> dict[str, Any]:
    """The options of a generator that goes on from a trained one to learn by reward.

    Raises InputError if there is none, or if it does not write `<peos>` between present and absent phrases.
    """
    if start is None:
        raise InputError(
            f"{name} goes on from a trained generator: write --from DIR, as of karat train tgnet,peos=always"
        )
    card = checkpoint.read_card(start)
    _, learning = checkpoint.parted(card.model, card.options)
    if GENERATORS[card.model].reward:
        raise InputError(f"{start}: is a {card.model} already: go on from the generator that it was trained from")
    if not GENERATORS[card.model].one2one or learning.targets != "one2seq":
        raise InputError(f"{start}: is a {card.model}, which does not write one sequence that can be rewarded")
    if learning.peos != "always":
        raise InputError(
            f"{start}: was trained without <peos>, where rewards arrive: train it as {card.model},peos=always"
        )
    checkpoint.check_files(Path(start), card)
    checkpoint.read_tensors(Path(start) / WEIGHTS)
    return {**card.options, **options, "of": card.model}


def _hashed(corpus: Corpus, digest: Any) -> Iterator[Document]:
    for document in corpus:
        digest.update(msgspec.msgpack.encode(document))
        yield document


def _notes_on(counts: Counts) -> Iterator[str]:
    if counts.shared:
        yield f"{counts.shared:,} of the training documents are also validation documents: validation looks too good"
    if counts.empty:
        yield f"{_documents(counts.empty, 'was', 'were')} left out: without text or references"
    if counts.unwritable:
        yield f"{_documents(counts.unwritable, 'was', 'were')} left out: no reference can be written or copied"
    if counts.cut:
        yield f"{_documents(counts.cut, 'is', 'are')} longer than what is read: what comes after was not learned from"
    if counts.shortened:
        has = _documents(counts.shortened, "has", "have")
        yield f"{has} more references than are written at once (length=): the last ones were not learned"
    if not counts.present:
        yield "all references are absent from their documents: nothing can be learned of copying"


def _documents(count: int, one: str, several: str) -> str:
    """How many documents, with a verb."""
    return f"{counted(count, 'document')} {one if count == 1 else several}"


def _check_same(task: Task, card: Card, folder: Path) -> None:
    """Raises InputError unless a training that is to go on is of the same corpus, model and settings."""
    digest = blake2b(digest_size=16)
    for _ in _hashed(task.corpus, digest):
        pass
    if card.model != task.model:
        raise InputError(
            f"{folder}: was trained with another model ({card.model}, not {task.model}); name another directory"
        )
    here = {"language": task.language, **task.options, **task.kept(), "corpus": digest.hexdigest()}
    there = {"language": card.language, **card.options, **card.settings}
    there["corpus"] = card.corpus["hash"]
    if task.settings.steps is not None and card.steps:
        here["steps"], there["steps"] = task.settings.steps, card.steps
    for key, value in here.items():
        if key != "device" and there.get(key) != value:
            raise InputError(
                f"{folder}: was trained with another {key} ({there.get(key)}, not {value}); name another directory"
            )
