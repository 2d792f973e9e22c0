"""Partial matching, the area under precision and recall, and discounted recall, as Meng 2021 defines them.

What is compared with is written from these definitions: every pairing is tried, every point of the curve is drawn.
"""

from __future__ import annotations

from itertools import pairwise, permutations
from math import log2
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from tests.examples import examples

words = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map(" ".join)
phrases = st.lists(words, max_size=5, unique=True)


def value(metric: str, references: list[str], predictions: list[str], protocol: str = "karat") -> Any:
    corpus = karat.Corpus.of([{"id": "1", "text": "x", "keyphrases": references}])
    run = karat.Run.of([{"id": "1", "keyphrases": predictions}])
    return karat.score(corpus, run, metrics=[metric], protocol=protocol).rows()[0]["value"]


def grams(phrase: str) -> set[str]:
    """The words of a phrase, and every two that follow each other."""
    parts = phrase.split()
    return {*parts, *(f"{one} {other}" for one, other in pairwise(parts))}


def jaccard(one: str, other: str) -> float:
    return len(grams(one) & grams(other)) / len(grams(one) | grams(other))


def best_pairing(predictions: list[str], references: list[str]) -> float:
    """The most that a pairing is worth, all of them tried."""
    few, many = sorted((predictions, references), key=len)
    return max(sum(map(jaccard, few, chosen)) for chosen in permutations(many, len(few)))


@settings(max_examples=examples(60), deadline=None)
@given(phrases.filter(bool), phrases, st.integers(1, 4), st.booleans())
def test_partial_matching_is_the_best_of_all_pairings(
    references: list[str], predictions: list[str], k: int, padded: bool
) -> None:
    worth, protocol = best_pairing(predictions[:k], references), f"karat,pad={'k' if padded else 'none'}"
    below = k if padded else min(k, len(predictions))
    p, r = worth / below if below else 0.0, worth / len(references)
    assert value(f"partial_p@{k}", references, predictions, protocol) == pytest.approx(p)
    assert value(f"partial_r@{k}", references, predictions, protocol) == pytest.approx(r)
    f1 = 2 * p * r / (p + r) if p + r else 0.0
    assert value(f"partial_f1@{k}", references, predictions, protocol) == pytest.approx(f1)


def test_a_phrase_is_in_one_pair_only() -> None:
    # Both predictions are nearest to neural nets, 1 and 3/5; the second is then left with deep nets, 2/6.
    references, predictions = ["neural nets", "deep nets"], ["neural nets", "deep neural nets"]
    assert value("partial_p@M", references, predictions) == pytest.approx((1 + 2 / 6) / 2)
    assert value("soft_p,score=overlap", references, predictions) == pytest.approx((1 + 2 / 3) / 2)


def test_any_variant_of_a_reference_is_good_for_its_pair() -> None:
    assert value("partial_p@M", [["bees", "neural nets"]], ["nets"]) == pytest.approx(1 / 3)  # type: ignore[list-item]


@settings(max_examples=examples(60), deadline=None)
@given(phrases.filter(bool), phrases)
def test_the_area_is_that_under_the_drawn_curve(references: list[str], predictions: list[str]) -> None:
    curve, hits = [(0.0, 1.0)], 0
    for rank, phrase in enumerate(predictions, start=1):
        hits += phrase in references
        curve.append((hits / len(references), hits / rank))
    curve.append((curve[-1][0], 0.0))
    area = sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(curve))
    assert value("pr_auc", references, predictions) == pytest.approx(area)


@settings(max_examples=examples(60), deadline=None)
@given(phrases.filter(bool), phrases)
def test_recall_is_discounted_beyond_the_number_of_references(references: list[str], predictions: list[str]) -> None:
    n = len(references)
    ranks = [rank for rank, phrase in enumerate(predictions, start=1) if phrase in references]
    recall = sum(1.0 if rank <= n else 1 / log2(rank - n + 2) for rank in ranks) / n
    assert value("sadr", references, predictions) == pytest.approx(recall)


def test_repeated_references_count_as_often_in_the_script() -> None:
    # One of two equal references is found: recall ends at 1/2, which the line from precision 1 to 1 reaches.
    assert value("pr_auc", ["net", "net"], ["net"], "meng2021") == pytest.approx(0.5)
    assert value("sadr", ["net", "net"], ["bee", "net"], "meng2021") == pytest.approx(0.5)
    assert value("partial_r@M", ["net", "net"], ["net"], "meng2021") == pytest.approx(0.5)
    assert [value(metric, ["net", "net"], ["net"]) for metric in ("pr_auc", "sadr", "partial_r@M")] == [1.0, 1.0, 1.0]
