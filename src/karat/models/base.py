"""What a model is: documents in, predictions out, in order; and the register of those that karat brings along.

A model is made once, of the options that all models share (`CommonOptions`) and of its own options, and is then called
with some documents at a time. It holds nothing that changes between two calls, so that documents can be cut into
chunks, over processes or over sessions, and give the same predictions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, get_args, get_origin, get_type_hints, runtime_checkable

from karat.corpus import Document, Prediction
from karat.errors import InputError, unknown
from karat.models.extractors.frequencies import Frequencies
from karat.registry import Registry

Predict = Callable[[Sequence[Document]], Iterable[Prediction]]  # one prediction for each document, in order
Make = Callable[..., Predict]  # (common, *, option=default...) -> Predict

Need = Literal["tags", "frequencies", "embedder", "training", "pretrained", "endpoint"]


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """The options that all models share; a model ignores those that it has no use for."""

    n: int = 10  # phrases for each document
    language: str = "english"
    guessed: bool = False  # whether the language was guessed
    tagger: str | None = None  # textblob, spacy:NAME, or None for the language's own
    frequencies: Frequencies | None = None  # document frequencies of stemmed phrases
    stem: bool = False  # give stems instead of phrases as they stand in the text
    redundancy: bool = False  # leave out a phrase that is inside a better one
    title_weight: float = 1.0  # how many times a title counts
    threads: int = 1  # of a model that uses threads instead of processes


@runtime_checkable
class Counting(Protocol):
    """A model, as it is called, that says something of some documents, as that they were cut."""

    def counts(self, documents: Sequence[Document]) -> Mapping[str, int]:
        """Sentences, {} for a number of documents and {were} for its verb, and of how many documents each holds."""


Notes = Callable[["CommonOptions", Sequence[Document]], list[str]]  # what is to be said of predicting some documents


def no_notes(common: CommonOptions, documents: Sequence[Document]) -> list[str]:
    """No notes."""
    return []


@dataclass(frozen=True, slots=True)
class Model:
    """A model by name: what it does, what it needs, its options, and how it is made.

    `notes` says in sentences what a user should know of predicting some documents. It depends on nothing but its
    arguments, so that it can be called chunk by chunk, in any process; each note is then shown once.
    """

    name: str
    summary: str
    needs: tuple[Need, ...]
    make: Make
    options: Mapping[str, Any]
    notes: Notes = no_notes
    window: int = 32  # documents that it is called with at a time
    threads: bool = False  # whether several jobs are threads of one process, not processes

    def made(self, common: CommonOptions) -> Predict:
        """The model as it is called."""
        return self.make(common, **self.options)


MODELS: Registry[Model] = Registry("model", lambda found: found.make)


def model(
    name: str, *, needs: tuple[Need, ...] = (), notes: Notes = no_notes, window: int = 32, threads: bool = False
) -> Callable[[Make], Make]:
    """Registers what makes a model; its keyword arguments with defaults become the model's options."""

    def register(make: Make) -> Make:
        summary = (inspect.getdoc(make) or "").split("\n")[0]
        parameters = inspect.signature(make).parameters.values()
        options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        MODELS[name] = Model(name, summary, needs, make, options, notes, window, threads)
        return make

    return register


def settled(found: Model, options: Mapping[str, Any]) -> Model:
    """The model with these options, each of them known, of its default's type and one of its values."""
    hints = get_type_hints(found.make) if options else {}
    checked = dict(found.options)
    for name, value in options.items():
        if name not in found.options:
            raise unknown(f"option of {found.name}", name, found.options)
        checked[name] = _of_type(found, name, value)
        if get_origin(hints.get(name)) is Literal and checked[name] not in get_args(hints[name]):
            raise unknown(f"{name} of {found.name}", str(value), get_args(hints[name]))
    return replace(found, options=checked)


def _of_type(found: Model, name: str, value: Any) -> Any:
    """The value of an option as its default's type, also where it was written as text."""
    default = found.options[name]
    if not isinstance(value, str) or default is None or isinstance(default, str):
        return value
    if isinstance(default, bool):
        if value not in ("true", "false"):
            raise InputError(f"option {name} of {found.name} is true or false, not {value!r}")
        return value == "true"
    try:
        return type(default)(value)
    except ValueError:
        raise InputError(f"option {name} of {found.name} is a {type(default).__name__}, not {value!r}") from None
