"""The bundled corpus is what the documentation says it is."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import msgspec
import pytest

import karat
from karat.matching.columns import PRMU

FOLDER = files("karat") / "demo"


def lines(name: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in (FOLDER / name).read_bytes().splitlines()]


CORPUS = {document["id"]: document for document in lines("corpus.jsonl")}
PARAPHRASES = lines("paraphrases.jsonl")


def classes(document: dict[str, Any], references: list[str]) -> list[str]:
    """The PRMU class of each reference against the document's text."""
    found = []
    for reference in references:
        shares = karat.prmu(karat.Corpus.of([document | {"keyphrases": [reference]}]))["corpus"]
        found.append(max(PRMU, key=shares.__getitem__))
    return found


def test_there_are_sixty_documents_in_six_fields_and_twenty_paraphrases() -> None:
    fields = [document["field"] for document in CORPUS.values()]
    assert {field: fields.count(field) for field in fields} == dict.fromkeys(fields, 10)
    assert len(set(fields)) == 6
    assert len(PARAPHRASES) == 20


@pytest.mark.parametrize("identifier", CORPUS)
def test_a_document_has_the_length_of_an_abstract_and_references_of_every_class(identifier: str) -> None:
    document = CORPUS[identifier]
    assert 90 <= len(document["text"].split()) <= 180
    assert 4 <= len(document["keyphrases"]) <= 8
    assert set(classes(document, document["keyphrases"])) == set(PRMU)


@pytest.mark.parametrize("paraphrase", PARAPHRASES, ids=lambda paraphrase: paraphrase["id"])
def test_a_paraphrase_keeps_the_keyphrases_and_the_length(paraphrase: dict[str, Any]) -> None:
    source = CORPUS[paraphrase["source"]]
    references = source["keyphrases"]
    assert paraphrase["keyphrases"] == references
    kept = zip(classes(source, references), classes(paraphrase, references), strict=True)
    assert all(after in "PR" for before, after in kept if before == "P")
    before, after = len(source["text"].split()), len(paraphrase["text"].split())
    assert abs(after - before) <= 0.1 * before


def test_the_pairs_are_those_of_the_paraphrases() -> None:
    assert lines("pairs.jsonl") == [{"a": p["source"], "b": p["id"]} for p in PARAPHRASES]


def test_the_run_tells_a_probability_of_every_word() -> None:
    run = lines("by-hand.jsonl")
    assert [prediction["id"] for prediction in run] == list(CORPUS)
    for prediction in run:
        for phrase, probabilities in zip(prediction["keyphrases"], prediction["token_probs"], strict=True):
            assert len(phrase.split()) == len(probabilities)
            assert all(0 < probability < 1 for probability in probabilities)
