"""What holds for every similarity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.matching.concepts import concepts_for
from karat.protocol import Matching
from karat.similarity import SIMILARITIES, Words
from karat.similarity.base import Floats
from karat.vocabulary import Concept, Label, Vocabulary
from tests.similarity.made import made_pairs

SYMMETRIC = ["exact", "levenshtein", "overlap", "rouge1", "rougeL", "context", "cosine", "concept"]
WORDS = ["car", "automobile", "cars", "net", "nets", "work", "network", "a", "of", "é", "-", "\ud800", "x" * 40]
SENTENCES = [("net", "work", "a", "of"), ("car", "net"), ("a", "car", "of", "net"), ("é", "work"), ("car", "a", "net")]

VOCABULARY = Vocabulary.of(
    [
        Concept("x:1", (Label("network"), Label("net work", kind="alternative"))),
        Concept("x:2", (Label("car"), Label("automobile", kind="alternative")), ("x:1",)),
        Concept("x:3", (Label("work"),), ("x:2",)),
    ]
)

phrase = st.lists(st.sampled_from(WORDS), max_size=7).map(tuple)
tables = st.lists(phrase, min_size=1, max_size=8, unique=True)
# bertscore needs a model, and it alone may be negative: the tests of encoders say what holds for it.
NAMES = [name for name in SIMILARITIES if name not in ("bertscore", "meteor")]
METEOR = [pytest.param("meteor", marks=pytest.mark.wordnet), "meteor,synonyms=none"]
every = pytest.mark.parametrize("name", [*NAMES, *METEOR])


def scored(name: str, phrases: list[Words], left: Any, right: Any) -> Floats:
    name, _, option = name.partition(",")
    more: dict[str, Any] = {"sentences": SENTENCES} if name == "context" else {}
    more |= {"concepts": concepts_for(VOCABULARY, Matching(stemmer="none"))} if name == "concept" else {}
    more |= dict([option.split("=")] if option else [])
    columns = np.array(left, dtype=np.int64), np.array(right, dtype=np.int64)
    return SIMILARITIES[name].function(phrases, *columns, **more)


def crossed(count: int) -> Any:
    return np.divmod(np.arange(count * count), count)


@every
@given(phrases=tables)
@settings(max_examples=40, deadline=None)
def test_scores_are_between_0_and_1_and_those_of_identical_phrases_1(name: str, phrases: list[Words]) -> None:
    found = scored(name, phrases, *crossed(len(phrases))).reshape(len(phrases), -1)
    assert found.dtype == np.float64
    assert ((found >= 0) & (found <= 1)).all()
    assert np.diag(found) == pytest.approx(1, abs=1e-12)


@every
@given(phrases=tables)
@settings(max_examples=20, deadline=None)
def test_a_phrase_without_words_is_0_to_all_others(name: str, phrases: list[Words]) -> None:
    others = [words for words in phrases if words]
    ends = np.zeros(len(others), dtype=np.int64), np.arange(1, len(others) + 1)
    assert not scored(name, [(), *others], *ends).any()
    assert not scored(name, [(), *others], *ends[::-1]).any()


@pytest.mark.parametrize("name", SYMMETRIC)
@given(phrases=tables)
@settings(max_examples=40, deadline=None)
def test_these_do_not_ask_which_phrase_is_the_reference(name: str, phrases: list[Words]) -> None:
    found = scored(name, phrases, *crossed(len(phrases))).reshape(len(phrases), -1)
    assert found == pytest.approx(found.T, abs=1e-12)


@every
@given(phrases=tables, seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_a_pair_has_its_score_whatever_pairs_and_phrases_stand_beside_it(
    name: str, phrases: list[Words], seed: int
) -> None:
    left, right = crossed(len(phrases))
    found = scored(name, phrases, left, right)
    draws = np.random.default_rng(seed)
    order, place = draws.permutation(len(left)), draws.permutation(len(phrases))
    moved = [phrases[i] for i in np.argsort(place)]
    again = scored(name, moved, place[left[order]], place[right[order]])
    assert again == pytest.approx(found[order], abs=1e-12)
    alone = scored(name, [phrases[left[-1]], phrases[right[-1]]], [0], [1])
    assert alone == pytest.approx(found[-1:], abs=1e-12)


@every
def test_no_pairs_and_no_phrases_have_no_scores(name: str) -> None:
    assert scored(name, [], [], []).shape == (0,)
    assert scored(name, [("a",)], [], []).shape == (0,)


@pytest.mark.parametrize("name", [*(name for name in NAMES if name != "context"), *METEOR])
def test_equal_phrases_that_are_listed_twice_are_equal(name: str) -> None:
    assert scored(name, [("net", "work"), ("net", "work")], [0], [1]) == pytest.approx(1)


@pytest.mark.parametrize("name", ["kmr", "bleu", "overlap", "rougeL", *METEOR])
def test_very_long_phrases_are_scored(name: str) -> None:
    [(long, other)] = made_pairs(1, seed=9, words=list("abcdefgh"), longest=1)
    assert scored(name, [long * 300, other + long * 2], [0], [1])[0] < 1


def test_the_similarities_of_embeddings_are_among_them() -> None:
    assert {"cosine", "bertscore"} <= set(SIMILARITIES)


def test_every_similarity_says_what_it_is_and_in_which_form_it_wants_words() -> None:
    for name, similarity in SIMILARITIES.items():
        assert similarity.name == name
        assert similarity.form in ("stems", "surface")
        assert similarity.summary.endswith((".", ")"))
