"""Training: models that learn from documents with references, and the files they learn into."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

from karat.corpus import Corpus, Document
from karat.errors import InputError, counted, unknown
from karat.formats.output import writing
from karat.matching.inputs import CorpusLike, as_corpus
from karat.models.base import MODELS, CommonOptions, Model, Predict, settled
from karat.models.documents import document_language
from karat.models.find import parse_model
from karat.models.generators.settings import GENERATORS, Settings, checked, torch_or_error, training_options
from karat.options import (
    Progress,
    document_language_option,
    flat,
    group,
    option,
    path_option,
    progress_option,
    public,
    required,
)
from karat.registry import Registry
from karat.tabular import Column, Kind, Table, rows_of

_EVERY = 20  # documents between two calls of progress


@dataclass(frozen=True, slots=True)
class Learned:
    """What a model learned: the content of its file, and what a reader should know of it."""

    content: bytes
    documents: int
    rows: tuple[Mapping[str, Any], ...]  # what was learned, as a table
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained model: its name, the file it is in, how many documents it learned from, and what it learned."""

    model: str
    path: str
    documents: int
    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """Which model learned from how many documents, and where it is: on one line, from which the path is copied."""
        return f"{self.model}, learned from {counted(self.documents, 'document')}: {self.path}"

    def tables(self) -> Iterator[Table]:
        """A row for each thing that was learned."""
        if self.rows:
            corner, *names = self.rows[0]
            rows = rows_of((str(row[corner]), [row[name] for name in names]) for row in self.rows)
            yield Table("", corner, [Column(name, LEARNED) for name in names], rows)


def _learned(value: object) -> str:
    """A count with commas, another number with three digits, a text as it is."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}" if isinstance(value, float) else str(value)


LEARNED = Kind(_learned)
Train = Callable[..., Learned]  # (documents, language, *, option=default...) -> Learned
TRAINERS: Registry[Model] = Registry("model to train", lambda found: found.make)


def trainer(name: str) -> Callable[[Train], Train]:
    """Registers what trains the model of a name; its keyword arguments with defaults become options of training."""

    def register(train: Train) -> Train:
        summary = (inspect.getdoc(train) or "").split("\n")[0]
        parameters = inspect.signature(train).parameters.values()
        options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        TRAINERS[name] = Model(name, summary, (), train, options)  # type: ignore[arg-type]
        return train

    return register


def trainers() -> dict[str, Model]:
    """The models that can be trained, by name."""
    import_module("karat.models.all")
    return TRAINERS | {name: _trainable(name) for name in GENERATORS}


def _trainable(name: str) -> Model:
    """The options of a generator's training, as a model whose options can be settled."""

    def make(_common: CommonOptions, **_options: Any) -> Predict:
        raise NotImplementedError(name)

    kind = GENERATORS[name]
    kinds = (kind.shape,) if kind.reward else (kind.shape, kind.learning)
    make.__annotations__ = {key: hint for kind in kinds for key, hint in get_type_hints(kind).items()}
    return Model(name, f"The training of {name}.", (), make, training_options(name))


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """What a model is trained with, and where it goes."""

    output: str | Path = required(
        "Where the trained model goes: of kea a file, JSON, packed by .gz; of a generator a directory.",
        metavar="FILE|DIR",
        flags=("-o", "--output"),
        complete="new_paths",
    )
    language: str | None = document_language_option()
    options: Mapping[str, Any] | None = option(None, "The model's own options.", command=False)
    valid: CorpusLike | None = path_option("Generators: validation documents.", "CORPUS")
    settings: Settings = group(Settings)
    progress: Progress | None = progress_option()
    tell: Callable[[Any], None] | None = option(None, "Called with how far a training is.", command=False)


@public(TrainOptions)
def train(
    corpus: CorpusLike,
    model: str = "kea",
    *,
    output: str | Path,
    language: str | None = None,
    options: Mapping[str, Any] | None = None,
    valid: CorpusLike | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    epochs: float | None = None,
    batch: int | None = None,
    accumulate: int = 1,
    precision: str = "fp32",
    device: str = "auto",
    seed: int = 0,
    stop: str | None = None,
    augment: str | None = None,
    drop: str | None = None,
    guide: str | None = None,
    jobs: int = 1,
    resume: bool = False,
    start: str | None = None,
    progress: Progress | None = None,
    tell: Callable[[Any], None] | None = None,
) -> Trained:
    """Trains a model on documents with references and writes it to a file; `karat.predict` takes that as its model.

    A model is named as for the command, `kea,longest=4`, or with `options`. A generator is written to a directory; how
    long it is trained is given by minutes, steps or epochs. Raises InputError if there is no such model to train.
    """
    arguments = dict(locals())
    given = {name: arguments[name] for name in Settings.__dataclass_fields__}
    spec = parse_model(model, options)
    there = trainers()
    if spec.name not in there:
        if spec.name in MODELS:
            raise InputError(f"{spec.name} learns nothing: it predicts as it is (trained are {', '.join(there)})")
        raise unknown("model to train", spec.name, there)
    found = settled(there[spec.name], spec.options)
    documents = as_corpus(corpus)
    tongue, said = document_language(documents, language)
    if spec.name in GENERATORS:
        looked_at = None if valid is None else as_corpus(valid)
        trained = _generator(documents, found, output, tongue, looked_at, progress, tell, given)
        return replace(trained, notes=(*said, *trained.notes))
    changed = [name for name, value in flat(Settings()).items() if given[name] != value]
    if changed or valid is not None:
        name = next(iter(changed), "valid")
        raise InputError(f"--{name} is for generators ({', '.join(GENERATORS)}), not for {spec.name}")
    learned: Learned = found.make(_with_progress(documents, progress), tongue, **found.options)  # type: ignore[assignment]
    with writing(output) as file:
        file.write(learned.content)
    return Trained(spec.name, str(output), learned.documents, learned.rows, (*said, *learned.notes))


def _generator(
    corpus: Corpus,
    model: Model,
    output: str | Path,
    language: str,
    valid: Corpus | None,
    progress: Callable[[int], object] | None,
    tell: Callable[[Any], None] | None,
    settings: Mapping[str, Any],
) -> Trained:
    """A generator, trained into a directory."""
    how = checked(Settings, {key: str(each) if isinstance(each, Path) else each for key, each in settings.items()})
    torch_or_error(f"training {model.name}")
    from karat.models.generators.loop import train_generator
    from karat.models.generators.prepare import Task, started

    options = dict(model.options)
    if GENERATORS[model.name].reward:
        options = started(model.name, options, how.start)
    elif how.start is not None:
        raise InputError(f"--from {how.start}: is for a model that goes on from a trained one, not for {model.name}")
    task = Task(model.name, options, how, language, corpus, valid)
    found = train_generator(task, output, tell, progress)
    network = GENERATORS[options.get("of", model.name)]  # of tgrf, the one that it goes on from
    notes = (*network.notes(corpus), *found.notes)
    return Trained(model.name, str(output), found.card.documents, found.log, notes)


def _with_progress(documents: Iterable[Document], progress: Callable[[int], object] | None) -> Iterator[Document]:
    """The documents; `progress` is called as they are taken."""
    count = 0
    for count, document in enumerate(documents, 1):
        yield document
        if progress is not None and not count % _EVERY:
            progress(_EVERY)
    if progress is not None:
        progress(count % _EVERY)
