"""The other order of a phrase with `of`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.text.variants import of_variant, with_of_variants


@pytest.mark.parametrize(
    ("phrase", "other"),
    [
        ("quality of service", "service quality"),
        ("service quality", None),
        ("dynamic environment", None),
        ("Analysis of the Grid data", "Grid data Analysis"),
        ("quality of grid service", "grid service quality"),
        ("networks", None),
        ("of mice", None),
        ("state of", None),
        ("state of the", None),
        ("theory of types of logic", None),
        ("", None),
    ],
)
def test_the_other_order(phrase: str, other: str | None) -> None:
    assert of_variant(phrase) == other


words = st.text("abcdxyz", min_size=2, max_size=5)


@given(st.lists(words, min_size=1, max_size=4), st.lists(words, min_size=1, max_size=4))
def test_a_phrase_without_of_is_never_given_one(head: list[str], rest: list[str]) -> None:
    assert of_variant(" ".join([*head, *rest])) is None
    assert of_variant(" ".join([*head, "of", *rest])) == " ".join([*rest, *head])


def test_references_of_every_set_get_the_other_order_as_a_variant() -> None:
    corpus = karat.Corpus.of(
        [
            {
                "id": "1",
                "text": "x",
                "keyphrases": ["quality of service", ["qos", "service quality"], ["rank of nodes"], "nets", None],
                "reference_sets": {"author": ["model fit", "fit of a model"]},
            },
            {"id": "2"},
        ],
        name="mine",
    )
    first, second = with_of_variants(corpus)
    assert first.keyphrases == [
        ["quality of service", "service quality"],
        ["qos", "service quality"],
        ["rank of nodes", "nodes rank"],
        "nets",
        None,
    ]
    assert first.reference_sets == {"author": ["model fit", ["fit of a model", "model fit"]]}
    assert (second.keyphrases, second.reference_sets) == (None, None)
    assert (with_of_variants(corpus).name, with_of_variants(corpus).ids) == ("mine", ["1", "2"])


def test_a_variant_counts_as_the_reference() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "x", "keyphrases": ["quality of service"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["service qualities"]}])
    assert karat.score(corpus, run, metrics=["f1@M"]).scores[0].value == 0.0
    assert karat.score(with_of_variants(corpus), run, metrics=["f1@M"]).scores[0].value == 1.0
