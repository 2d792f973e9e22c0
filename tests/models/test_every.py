"""What holds for every extractor, on a few documents."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from karat.corpus import Document, Prediction
from karat.models.base import CommonOptions, settled
from karat.models.extractors.frequencies import Frequencies
from karat.models.find import own_models

DOCUMENTS = [
    Document(
        id="nets",
        title="Deep neural networks for image search",
        text="Neural networks learn image features. We train deep neural networks, and search images by them.",
    ),
    Document(id="bees", text="Honey bees dance. The waggle dance of honey bees tells where nectar is found."),
    Document(id="empty", text=""),
    Document(id="one", title="Graphs"),
]
KNOWN = Frequencies(3, {"neural network": 1, "bee": 1, "search": 2})
OPTIONS = {"embedrank": {"model": "hash"}, "keybert": {"model": "hash"}}
EXTRACTORS = [
    name for name, model in own_models().items() if not {"training", "pretrained", "endpoint"} & {*model.needs}
]


def predicted(name: str, documents: Sequence[Document], n: int = 5) -> list[Prediction]:
    model = settled(own_models()[name], OPTIONS.get(name, {}))
    return list(model.made(CommonOptions(n=n, frequencies=KNOWN))(documents))


@pytest.mark.parametrize("name", EXTRACTORS)
def test_each_document_has_its_phrases_in_order_and_no_more_than_asked(name: str) -> None:
    found = predicted(name, DOCUMENTS)
    assert [each.id for each in found] == [each.id for each in DOCUMENTS]
    for each in found:
        phrases = each.keyphrases or []
        assert len(phrases) == len(set(phrases)) <= 5
        assert all(phrase and phrase.strip() for phrase in phrases)
        assert each.scores is None or len(each.scores) == len(phrases)
    assert found[0].keyphrases
    assert not found[2].keyphrases


@pytest.mark.parametrize("name", EXTRACTORS)
def test_a_document_has_the_same_phrases_beside_any_other(name: str) -> None:
    together = predicted(name, DOCUMENTS)
    assert [predicted(name, [document])[0] for document in DOCUMENTS] == together
    assert predicted(name, DOCUMENTS[::-1])[::-1] == together


@pytest.mark.parametrize("name", EXTRACTORS)
def test_fewer_phrases_are_the_first_of_many(name: str) -> None:
    few, many = predicted(name, DOCUMENTS[:2], 2), predicted(name, DOCUMENTS[:2], 5)
    assert [each.keyphrases for each in few] == [(each.keyphrases or [])[:2] for each in many]


@pytest.mark.parametrize("name", own_models())
def test_a_model_says_in_a_sentence_what_it_does(name: str) -> None:
    assert own_models()[name].summary.endswith(".")
