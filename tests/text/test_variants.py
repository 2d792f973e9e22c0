"""The two orders of a phrase with `of`."""

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
        ("service quality", "quality of service"),
        ("Analysis of the Grid data", "Grid data Analysis"),
        ("grid service quality", "quality of grid service"),
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


@given(st.lists(words, min_size=2, max_size=4))
def test_twice_the_other_order_is_the_phrase_itself(phrase: list[str]) -> None:
    first = " ".join(phrase)
    second = of_variant(first)
    assert second is not None
    assert of_variant(second) == first


def test_references_of_every_set_get_the_other_order_as_a_variant() -> None:
    corpus = karat.Corpus.of(
        [
            {
                "id": "1",
                "text": "x",
                "keyphrases": ["quality of service", ["qos", "service quality"], "nets", None],
                "reference_sets": {"author": ["model fit"]},
            },
            {"id": "2"},
        ],
        name="mine",
    )
    first, second = with_of_variants(corpus)
    assert first.keyphrases == [
        ["quality of service", "service quality"],
        ["qos", "service quality", "quality of service"],
        "nets",
        None,
    ]
    assert first.reference_sets == {"author": [["model fit", "fit of model"]]}
    assert (second.keyphrases, second.reference_sets) == (None, None)
    assert (with_of_variants(corpus).name, with_of_variants(corpus).ids) == ("mine", ["1", "2"])


def test_a_variant_counts_as_the_reference() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "x", "keyphrases": ["quality of service"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["service qualities"]}])
    assert karat.score(corpus, run, metrics=["f1@M"]).scores[0].value == 0.0
    assert karat.score(with_of_variants(corpus), run, metrics=["f1@M"]).scores[0].value == 1.0
