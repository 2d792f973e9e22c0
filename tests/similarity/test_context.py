"""The similarity of contexts, worked out on paper."""

from __future__ import annotations

from math import log, sqrt

import pytest

from karat.similarity import compare
from karat.similarity.context import sentences_of

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
