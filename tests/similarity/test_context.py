"""The similarity of contexts, worked out on paper."""

from __future__ import annotations

from math import log, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.similarity import Words, compare
from karat.similarity.context import Contexts, sentences_of
from tests.examples import examples

TEXTS = ["Graphs grow. Deep graphs shrink!", "Trees grow? Nothing\nholds nets."]


def test_texts_are_cut_into_sentences_of_stems() -> None:
    assert sentences_of(TEXTS) == [
        ("graph", "grow", "."),
        ("deep", "graph", "shrink", "!"),
        ("tree", "grow", "?"),
        ("noth",),
        ("hold", "net", "."),
    ]


def test_context_is_the_cosine_of_tf_idf_bags_of_the_sentences_that_hold_the_phrases() -> None:
    # graph: sentences 1 and 2, so graph twice and . grow deep shrink ! once; tree: sentence 3, tree grow ? once.
    # Of 5 sentences graph, grow and . are in 2, all others in 1.
    two, one = log(5 / 2), log(5)
    graph = sqrt((2 * two) ** 2 + 2 * two**2 + 3 * one**2)
    tree = sqrt(two**2 + 2 * one**2)
    found = compare("context", "graphs", "tree", sentences=sentences_of(TEXTS))
    assert found == pytest.approx(two * two / (graph * tree))


def test_a_phrase_that_no_sentence_holds_is_near_to_itself_alone() -> None:
    sentences = sentences_of(TEXTS)
    assert compare("context", "deep shrink", "graph", sentences=sentences) == 0
    assert compare("context", "deep shrink", "deep shrink", sentences=sentences) == 1
    assert compare("context", "deep graph", "graph", sentences=sentences) > 0.5


words = st.sampled_from("abcd")
sentence = st.lists(words, min_size=1, max_size=7).map(tuple)


@given(st.lists(sentence, min_size=1, max_size=6), st.lists(st.lists(words | st.just("x"), max_size=5).map(tuple)))
@settings(max_examples=examples(40), deadline=None)
def test_a_sentence_holds_a_phrase_where_its_words_follow_each_other(
    sentences: list[Words], phrases: list[Words]
) -> None:
    expected = {
        (p, s)
        for p, phrase in enumerate(phrases)
        for s, sentence in enumerate(sentences)
        if phrase and any(sentence[i : i + len(phrase)] == phrase for i in range(len(sentence)))
    }
    found = list(zip(*(side.tolist() for side in Contexts.of(sentences).holding(phrases)), strict=True))
    assert set(found) == expected
    assert len(found) == len(expected)
