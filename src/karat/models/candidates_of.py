"""Candidate phrases for prompts: the references of documents, the predictions of a run, or what a model finds."""

from __future__ import annotations

import os
from collections.abc import Mapping

from karat.corpus import Corpus, Document, Run, text_of_id
from karat.errors import InputError
from karat.formats import read_run, split_name
from karat.formats.base import first_variant

REFERENCES = "references"
MOST = 20  # candidates of a document


def candidates_of(
    origin: str, documents: Mapping[str, Document], source: str, language: str = "english"
) -> dict[str, list[str]]:
    """The candidates of each document, by its id.

    Raises InputError if the source is neither `references` nor a run nor a model, or if it has none for any document.
    """
    if source == REFERENCES:
        found = {name: list(_references(document)) for name, document in documents.items()}
    elif os.path.exists(split_name(source)[1]):
        found = _of_run(read_run(source))
    else:
        found = _of_model(documents, source, language)
    if not any(found.get(name) for name in documents):
        raise InputError(f"--candidates {source}: has no phrase for any document of {origin}")
    return {name: found.get(name, [])[:MOST] for name in documents}


def _references(document: Document) -> list[str]:
    return [phrase for phrase in map(first_variant, document.keyphrases or ()) if phrase]


def _of_run(run: Run) -> dict[str, list[str]]:
    listed = ((text_of_id(each.id), each.keyphrases or []) for each in run)
    return {name: [phrase for phrase in phrases if phrase] for name, phrases in listed if name is not None}


def _of_model(documents: Mapping[str, Document], model: str, language: str) -> dict[str, list[str]]:
    from karat.models.find import ENDPOINT
    from karat.models.run import predict

    if model.startswith(ENDPOINT):
        raise InputError(f"--candidates {model}: a language model finds none; name an extractor, a run or references")
    given = ({"id": name, "title": each.title, "text": each.text} for name, each in documents.items())
    run = predict(Corpus.of(given, "documents"), model, n=MOST, language=language.lower())
    return _of_run(run)
