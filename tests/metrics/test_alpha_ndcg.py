"""alpha-NDCG is what its definition says, one document after the other and for each cutoff anew."""

from __future__ import annotations

from collections.abc import Callable
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from tests.examples import examples

# Stems of their own, some of them part of others, so that relations of strings and of stems differ.
WORDS = ["ab", "abc", "cd", "ef", "efg"]
CUTOFFS = [1, 2, 8, 9, 40]

phrase = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
lists = st.lists(phrase, max_size=20, unique=True)
documents = st.lists(st.tuples(lists.filter(bool), lists), min_size=1, max_size=6)
Covers = Callable[[str, str], bool]


def stands_in(prediction: str, reference: str) -> bool:
    return f" {prediction} " in f" {reference} "


def substring(prediction: str, reference: str) -> bool:
    return prediction in reference


def stem_sets(prediction: str, reference: str) -> bool:
    one, other = set(prediction.split()), set(reference.split())
    return one <= other or other <= one


def gain(phrase: str, before: list[str], references: list[str], covers: Covers, keep: float) -> float:
    return sum(keep ** sum(covers(b, r) for b in before) for r in references if covers(phrase, r))


def discounted(gains: list[float]) -> float:
    return sum(each / log2(rank + 2) for rank, each in enumerate(gains))


def dcg(ranked: list[str], references: list[str], covers: Covers, keep: float) -> float:
    return discounted([gain(p, ranked[:rank], references, covers, keep) for rank, p in enumerate(ranked)])


def greedy(candidates: list[str], references: list[str], covers: Covers, keep: float, depth: int) -> list[str]:
    order: list[str] = []
    left = list(candidates)
    while left and len(order) < depth:
        order.append(max(left, key=lambda c: gain(c, order, references, covers, keep)))
        left.remove(order[-1])
    return order


def clarke(references: list[str], predictions: list[str], keep: float, k: int) -> float:
    candidates = predictions + [r for r in sorted(references) if r not in predictions]
    best = greedy(candidates, references, stands_in, keep, k)
    return min(1.0, dcg(predictions[:k], references, stands_in, keep) / dcg(best, references, stands_in, keep))


def chan(references: list[str], predictions: list[str], keep: float, k: int) -> float:
    ideal = dcg(greedy(predictions, references, substring, keep, k), references, substring, keep)
    return dcg(predictions[:k], references, substring, keep) / ideal if ideal else 0.0


def meng(references: list[str], predictions: list[str], keep: float, k: int) -> float:
    gains = []
    for rank, phrase in enumerate(predictions[: min(k, len(references))]):
        times = [sum(stem_sets(b, r) for b in predictions[:rank]) for r in references if stem_sets(phrase, r)]
        gains.append(keep ** max(times) if times else 0.0)
    return discounted(gains) / discounted([1.0] * len(references))


@pytest.mark.parametrize("rule", [clarke, chan, meng])
@settings(max_examples=examples(40), deadline=None)
@given(given=documents, alpha=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))  # sums of whose powers are exact
def test_all_documents_at_once_score_as_each_by_the_definition(
    rule: Callable[[list[str], list[str], float, int], float], given: list[tuple[list[str], list[str]]], alpha: float
) -> None:
    # Of references that gain the same, the one that the corpus has first is taken first: here the alphabet's.
    given = [(sorted({reference for references, _ in given for reference in references}), []), *given]
    corpus = karat.Corpus.of([{"id": str(i), "keyphrases": r} for i, (r, _) in enumerate(given)])
    run = karat.Run.of([{"id": str(i), "keyphrases": p} for i, (_, p) in enumerate(given)])
    asked = [f"alpha_ndcg@{k},alpha={alpha}" for k in CUTOFFS]
    scores = karat.score(corpus, run, metrics=asked, protocol=f"karat,stemmer=none,alpha={rule.__name__}").scores
    for score, k in zip(scores, CUTOFFS, strict=True):
        expected = [rule(r, p, 1 - alpha, k) if p else 0.0 for r, p in given]
        np.testing.assert_allclose(score.per_document(), expected, rtol=1e-12, atol=1e-12)
