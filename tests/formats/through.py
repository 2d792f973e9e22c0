"""Documents and predictions through one format: read, or written and read back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from karat.corpus import Document, Prediction
from karat.formats.base import Format


def documents(form: Format, path: str) -> list[Document]:
    """The documents that a format reads."""
    assert form.corpus is not None
    return [document for batch in form.corpus(path)() for document in batch.records()]


def predictions(form: Format, path: str) -> list[Prediction]:
    """The predictions that a format reads."""
    assert form.run is not None
    return [prediction for batch in form.run(path)() for prediction in batch.records()]


def saved(form: Format, path: str | Path, given: Iterable[Document]) -> list[Document]:
    """Documents as they are after a format has written and read them."""
    assert form.save_corpus is not None
    form.save_corpus(str(path), given)
    return documents(form, str(path))


def saved_run(form: Format, path: str | Path, given: Iterable[Prediction]) -> list[Prediction]:
    """Predictions as they are after a format has written and read them."""
    assert form.save_run is not None
    form.save_run(str(path), given)
    return predictions(form, str(path))
