"""The subtypes of Kim (2010), section 4.3 and 5.2, and the relations of Zesch and Gurevych (2009)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.similarity import words_of
from karat.similarity.classes import CLASSES, Classes, all_words, classify

EFFECTIVE = "effective grid computing algorithm"


def of(prediction: str, reference: str, both: bool = False) -> Classes:
    [found] = classify([(prediction, reference)], both=both)
    return found


@pytest.mark.parametrize(("candidate", "location"), [("c d", "head"), ("a b", "first"), ("b c", "middle")])
def test_the_locations_are_those_of_kim_whichever_phrase_is_predicted(candidate: str, location: str) -> None:
    """Kim's own letters: CD of ABCD holds the head, AB the first word, BC neither."""
    assert of(candidate, "a b c d").location == location
    assert of("a b c d", candidate).location == location


@pytest.mark.parametrize(
    ("candidate", "location"),
    [
        ("grid computing algorithm", "head"),
        ("computing algorithms", "head"),
        ("grid computing", "middle"),
        ("effective grids", "first"),
        ("sorting", "none"),
    ],
)
def test_the_candidates_of_kim_against_his_keyphrase(candidate: str, location: str) -> None:
    found = of(candidate, EFFECTIVE)
    assert (found.location, found.direction) == (location, "shorter")


def test_first_word_and_head_together_are_the_head_or_on_request_a_class_of_their_own() -> None:
    assert of("a d", "a b c d").location == "head"
    assert of("a d", "a b c d", both=True).location == "both"
    assert of("c d", "a b c d", both=True).location == "head"
    assert of("a b", "a b c d", both=True).location == "first"


def test_of_two_phrases_as_long_the_reference_is_the_longer() -> None:
    """c ends the prediction, and stands first in the reference."""
    assert of("a b c", "c e f").location == "first"
    assert of("c e f", "a b c").location == "head"


def test_direction_is_told_in_words_and_marks_are_none() -> None:
    assert of("deep net", "very deep net").direction == "shorter"
    assert of("very deep net", "deep net").direction == "longer"
    assert of("deep (net).", "deep nets").direction == "equal"
    assert of("support vector machine (svm)", "svm").location == "head"


def test_an_ampersand_inside_a_word_is_a_mark() -> None:
    found = of("R&D", "R&D management")
    assert (found.location, found.direction, found.relation) == ("first", "shorter", "part-of")
    assert of("R/D", "R&D").direction == "equal"
    assert of("R/D", "R&D").relation == "overlap"
    assert of("group & partition", "R&D").direction == "longer"


@pytest.mark.parametrize(
    ("phrase", "complexity"),
    [
        ("service quality", "simple"),
        ("quality of service", "preposition"),
        ("incentive for cooperation", "preposition"),
        ("inequality in welfare", "preposition"),
        ("agent security via approximate policy", "preposition"),
        ("performance and scalability", "conjunction"),
        ("group & partition", "conjunction"),
        ("R&D", "simple"),
        ("R&D management", "simple"),
        ("R&D & design", "conjunction"),
        ("management of R&D", "preposition"),
        ("task and resource allocation in agent system", "preposition"),
        ("state-of-the-art report", "simple"),
    ],
)
def test_the_complexity_is_the_references(phrase: str, complexity: str) -> None:
    """The phrases of section 2 of the paper; with a preposition and a conjunction, the preposition counts."""
    assert of("x", phrase).complexity == complexity
    assert of(phrase, "x").complexity == "simple"


@pytest.mark.parametrize(
    ("phrase", "words"),
    [
        (EFFECTIVE, "adjective-noun"),
        ("mobile ad-hoc network", "adjective-noun"),
        ("distributed architecture", "adjective-noun"),
        ("partially observable markov decision process", "adjective-noun"),
        ("intrusion detection", "noun-noun"),
        ("text mining", "noun-noun"),
        ("Sensor Networks", "noun-noun"),
        ("complexity", "other"),
        ("quality of service", "other"),
        ("task and resource allocation", "other"),
    ],
)
def test_the_word_classes_are_the_references(phrase: str, words: str) -> None:
    assert of("", phrase).words == words
    assert of(phrase, "").words == "other"


@pytest.mark.parametrize(
    ("prediction", "reference", "relation"),
    [
        ("Neural  Network", "neural network", "exact"),
        ("neural networks", "neural network", "morph"),
        (f"an {EFFECTIVE}", "grid computing algorithms", "include"),
        ("grid computing", EFFECTIVE, "part-of"),
        ("algorithm grids", EFFECTIVE, "overlap"),
        ("image reconstruction", "reconstructed images", "reordered"),
        ("net", "networks", "none"),
        ("c++", "c", "include"),
        ("a b a", "a b b", "overlap"),
        ("", "x", "none"),
    ],
)
def test_the_relation_of_two_phrases(prediction: str, reference: str, relation: str) -> None:
    """INCLUDE, PARTOF and MORPH of Zesch and Gurevych, on word boundaries (`net` is no part of `networks`)."""
    assert of(prediction, reference).relation == relation


def test_each_pair_has_its_place_also_when_it_comes_twice() -> None:
    pairs = [("a b", "a b c"), ("x", "y"), ("a b", "a b c")]
    found = classify(pairs)
    assert [each.relation for each in found] == ["part-of", "none", "part-of"]
    assert classify([]) == []


PHRASES = st.lists(st.sampled_from(["a", "b", "nets", "net", "of", "and", "deep", "-", "."]), max_size=5).map(" ".join)
TURNED = {"shorter": "longer", "longer": "shorter", "equal": "equal", "include": "part-of", "part-of": "include"}


@given(PHRASES, PHRASES, st.booleans())
@settings(deadline=None)
def test_prediction_and_reference_exchanged_turn_direction_and_relation_and_keep_the_location(
    a: str, b: str, both: bool
) -> None:
    there, back = of(a, b, both), of(b, a, both)
    assert back.direction == TURNED[there.direction]
    assert back.relation == TURNED.get(there.relation, there.relation)
    if there.direction != "equal":
        assert there.location == back.location


@given(PHRASES, PHRASES, st.booleans())
@settings(deadline=None)
def test_every_class_is_one_that_is_explained(a: str, b: str, both: bool) -> None:
    found = of(a, b, both)
    assert all(getattr(found, kind) in values for kind, values in CLASSES.items())
    left, right = ({word for word in words_of(text, "stems") if word.isalnum()} for text in (a, b))
    assert (found.location == "none") == left.isdisjoint(right)


@given(st.lists(st.text(max_size=12), max_size=4))
@settings(deadline=None)
def test_words_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    for form in ("stems", "surface"):
        assert all_words(texts, form) == [words_of(text, form) for text in texts]
