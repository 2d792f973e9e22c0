"""A model at work: documents in chunks, what it predicts for them, and what there is to say of them.

What is here runs in any process: this one, its workers, or those of an engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from karat.corpus import Batch, Document, Prediction
from karat.engines import received
from karat.models.base import CommonOptions, Counting, Model, Predict
from karat.models.documents import shown_id
from karat.models.find import ContractError, ModelSpec, reason
from karat.models.fingerprint import files_of, module_of
from karat.models.prompt import as_text

SAMPLED = 200  # characters of a document by which its language is detected
MOST_SAMPLES = 2000  # documents whose language is looked at


@dataclass(frozen=True, slots=True)
class Entry:
    """One document's prediction, with the title by which a reader knows the document."""

    prediction: Prediction
    title: str | None = None

    def id_at(self, place: int) -> str:
        """The id of the document, or its place where it has none."""
        return str(place if self.prediction.id is None else self.prediction.id)

    def head(self, place: int) -> str:
        """The id of the document, or its place, and its title."""
        return f"{self.id_at(place)}: {' '.join(self.title.split())}" if self.title else self.id_at(place)


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a chunk."""

    entries: list[Entry]
    without_text: list[str] = field(default_factory=list)  # documents
    without_phrases: list[str] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)
    of_model: list[str] = field(default_factory=list)  # what the model has to say
    counts: Counter[str] = field(default_factory=Counter)  # ... of so many documents
    failure: str | None = None


class Predictor:
    """Predicts for chunks; the model is made where it is first needed, once in each process.

    `files` are those that options of the model name, by option: another process may find them elsewhere.
    """

    def __init__(self, spec: ModelSpec, common: CommonOptions, files: Mapping[str, str] | None = None) -> None:
        self.spec, self.common = spec, common
        self.files = files_of(spec) if files is None else files
        self._model: Model | None = None
        self._predict: Predict | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Predictor, (self.spec, self.common, self.files)

    def needed(self) -> list[str]:
        """The files and folders that a worker elsewhere needs."""
        module = module_of(self.spec)
        return [*self.files.values(), *([] if module is None else [module])]

    @property
    def window(self) -> int:
        """How many documents the model wants at a time."""
        return self._made().window

    def _made(self) -> Model:
        """The model, made."""
        if self._model is None:
            self._model = self._find()
            self._predict = self._model.made(self.common)
        return self._model

    def _find(self) -> Model:
        options = self.spec.options
        elsewhere = {name: str(options[name]).replace(path, received(path)) for name, path in self.files.items()}
        return replace(self.spec, options={**options, **elsewhere}).find()

    def __call__(self, batch: Batch[Document]) -> Done:
        """What the model predicts for the documents of a batch."""
        self._made()
        assert self._predict is not None
        documents = batch.records()
        if self.spec.foreign:
            predictions, failure = _carefully(self._predict, documents, batch.places, self.spec.name)
        else:
            predictions, failure = list(self._predict(documents)), None
        return replace(self.outcome(batch, predictions), failure=failure)

    def outcome(self, batch: Batch[Document], predictions: Sequence[Prediction]) -> Done:
        """Return predictions with the titles of their documents, and what there is to tell of these."""
        model, documents = self._made(), batch.records()
        done = _entries(batch, documents, predictions)
        counts = Counter[str](self._predict.counts(documents) if isinstance(self._predict, Counting) else {})
        return replace(done, of_model=model.notes(self.common, documents), counts=counts)


def _carefully(
    predict: Predict, documents: Sequence[Document], places: Sequence[int], name: str
) -> tuple[list[Prediction], str | None]:
    """(predictions, None), or those before the document on which a plug-in fails and a sentence that names it."""
    try:
        return list(predict(documents)), None
    except ContractError as error:
        return [], str(error)
    except (Exception, SystemExit) as error:
        if len(documents) == 1:
            return [], f"{name} fails on {shown_id(documents[0], places[0])}: {reason(error)}"
    predictions: list[Prediction] = []
    for document, place in zip(documents, places, strict=True):
        found, failure = _carefully(predict, [document], [place], name)
        if failure is not None:
            return predictions, failure
        predictions += found
    return predictions, None  # it fails on all of them together only


def _entries(batch: Batch[Document], documents: Sequence[Document], predictions: Sequence[Prediction]) -> Done:
    """What is predicted, with the titles of documents and what there is to say of them."""
    done = Done([])
    for i, (document, prediction) in enumerate(zip(documents, predictions, strict=False)):
        done.entries.append(Entry(msgspec.structs.replace(prediction, id=document.id), document.title))
        text = as_text(document)
        name = shown_id(document, batch.places[i])
        if not text.strip():
            done.without_text.append(name)
        elif not prediction.keyphrases:
            done.without_phrases.append(name)
        done.samples.append(text[:SAMPLED])
    return done


def add(total: Done, done: Done, shown: bool) -> None:
    """Adds what became of a chunk to that of all before it; the predictions themselves only if they are `shown`."""
    if shown:
        total.entries.extend(done.entries)
    total.without_text.extend(done.without_text)
    total.without_phrases.extend(done.without_phrases)
    total.of_model.extend(note for note in done.of_model if note not in total.of_model)
    total.counts.update(done.counts)
    if len(total.samples) < MOST_SAMPLES:
        total.samples.extend(done.samples)
