"""Measures of diversity: by hand, and self-BLEU as NLTK computes it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

import karat
from karat.metrics.diversity import own_bleu
from tests.examples import examples


def value(predictions: list[str], metric: str, protocol: str = "karat") -> Any:
    corpus = karat.Corpus.of([{"id": "1", "text": "x", "keyphrases": ["x"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": predictions}])
    return karat.score(corpus, run, metrics=[metric], protocol=protocol).rows()[0]["value"]


def test_repeats_are_counted_by_stems() -> None:
    # deep net, deep network, deep nets: deep thrice, net twice, network once; two distinct phrases of three
    predictions = ["deep net", "deep network", "Deep nets"]
    assert value(predictions, "dup_token_ratio") == pytest.approx(1 - 3 / 6)
    assert value(predictions, "unique_token_ratio") == pytest.approx(3 / 6)
    assert value(predictions, "unique_phrase_ratio") == pytest.approx(2 / 3)


phrase = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5).map(tuple)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(phrase, min_size=2, max_size=5))
def test_self_bleu_is_that_of_nltk(phrases: list[tuple[str, ...]]) -> None:
    smooth = SmoothingFunction().method1
    each = [
        sentence_bleu(phrases[:i] + phrases[i + 1 :], words, (1 / 3, 1 / 3, 1 / 3), smoothing_function=smooth)
        for i, words in enumerate(phrases)
    ]
    assert own_bleu(phrases) == pytest.approx(sum(each) / len(each), abs=1e-12)


@pytest.mark.parametrize(
    ("metric", "none", "one"),
    [
        ("dup_token_ratio", 1, 0),
        ("unique_token_ratio", 0, 1),
        ("unique_phrase_ratio", 0, 1),
        ("self_bleu", 0, 0),
        ("self_edit_distance", 0, 0),
        ("emb_sim", 0, 1),
        ("sem_diverse_index", 0, 0),
    ],
)
def test_too_few_predictions_are_left_out_or_scored_as_kpeval_does(metric: str, none: int, one: int) -> None:
    assert value([], metric) is None
    assert value([], metric, "kpeval2024,blank=drop") == none
    assert value(["deep net"], metric, "kpeval2024") == one
    of_pairs = ("self_bleu", "self_edit_distance", "emb_sim", "sem_diverse_index")
    assert (value(["deep net"], metric) is None) == (metric in of_pairs)


def test_kpeval_cuts_the_words_of_self_bleu_once_more_with_nltk() -> None:
    # As stems the two share nothing; NLTK makes `<`, `digit`, `>` of <digit>, so they share three words of four.
    predictions = ["<digit>bit", "<digit>byte"]
    smooth = SmoothingFunction().method1
    cut = [["<", "digit", ">", "bit"], ["<", "digit", ">", "byte"]]
    each = [sentence_bleu([cut[1 - i]], cut[i], (1 / 3, 1 / 3, 1 / 3), smoothing_function=smooth) for i in (0, 1)]
    assert value(predictions, "self_bleu", "kpeval2024,bleu_tokens=stems") == 0.0
    assert value(predictions, "self_bleu", "kpeval2024") == pytest.approx(sum(each) / 2)


def longest_common(one: str, other: str) -> int:
    """The length of the longest sequence of characters that stand in both, in order, by the book."""
    row = [0] * (len(other) + 1)
    for a in one:
        new = [0]
        for j, b in enumerate(other):
            new.append(row[j] + 1 if a == b else max(row[j + 1], new[j]))
        row = new
    return row[-1]


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.text("abc ", min_size=1, max_size=8).filter(str.strip), min_size=2, max_size=5))
def test_self_edit_distance_is_the_mean_likeness_of_any_two_predictions(phrases: list[str]) -> None:
    texts = [" ".join(phrase.split()) for phrase in phrases]
    ratios = [
        200 * longest_common(one, other) / (len(one) + len(other))
        for i, one in enumerate(texts)
        for j, other in enumerate(texts)
        if i != j
    ]
    found = value(phrases, "self_edit_distance", "karat,stemmer=none")
    assert found == pytest.approx(sum(ratios) / len(ratios), abs=1e-9)
