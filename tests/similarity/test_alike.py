"""Where R-precision, BLEU-1 and ROUGE-1 of Kim (2010) order pairs alike, and where they do not.

S has n words and L has m ≥ n; r = n / m. S is *held* by L if each word of S is in L, repeats counted.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import exp, log2

import numpy as np
import pytest
import sacrebleu
from nltk.translate.bleu_score import sentence_bleu
from rouge_score.rouge_scorer import RougeScorer
from scipy import stats

from karat.similarity import compare
from karat.similarity.classes import classify
from tests.similarity.made import WORDS, Pair, made_pairs, scores

ROUGE = RougeScorer(["rouge1"])
BLEU1 = sacrebleu.BLEU(max_ngram_order=1, effective_order=True, tokenize="none")


def held_pairs(count: int, seed: int, *, in_a_row: bool, repeats: bool) -> list[Pair]:
    """Pairs in which one phrase holds the other, either of them first."""
    chance, pairs = random.Random(seed), []
    for _ in range(count):
        m = chance.randint(1, 8)
        longer = chance.choices(WORDS[:4], k=m) if repeats else chance.sample(WORDS, k=m)
        n = chance.randint(1, m)
        start = chance.randint(0, m - n)
        places = range(start, start + n) if in_a_row else chance.sample(range(m), n)
        shorter, whole = tuple(longer[place] for place in places), tuple(longer)
        pairs.append((shorter, whole) if chance.random() < 0.5 else (whole, shorter))
    return pairs


def lengths(pairs: Sequence[Pair]) -> list[tuple[int, int]]:
    return [(min(map(len, pair)), max(map(len, pair))) for pair in pairs]


def in_roles(pair: Pair) -> tuple[list[str], list[str]]:
    """(the phrase with fewer words, that with more, which plays the reference)."""
    prediction, reference = map(list, pair)
    return (reference, prediction) if len(prediction) > len(reference) else (prediction, reference)


def rising(values: Sequence[float], rates: Sequence[tuple[int, int]]) -> bool:
    """Whether equal rates n/m have equal values, and higher rates higher ones."""
    by_rate: dict[float, list[float]] = {}
    for value, (n, m) in zip(values, rates, strict=True):
        by_rate.setdefault(n / m, []).append(value)
    ends = [(min(own), max(own)) for _, own in sorted(by_rate.items())]
    return all(high - low < 1e-12 for low, high in ends) and all(a[1] < b[0] for a, b in pairwise(ends))


@pytest.mark.parametrize("in_a_row", [True, False])
@pytest.mark.parametrize("repeats", [True, False])
def test_of_held_phrases_all_three_are_rising_functions_of_n_over_m(in_a_row: bool, repeats: bool) -> None:
    """overlap is r, ROUGE-1 is 2r / (1 + r), BLEU-1 with the longer as reference is exp(1 − 1/r)."""
    pairs = held_pairs(600, 1, in_a_row=in_a_row, repeats=repeats)
    rates = lengths(pairs)
    overlap, rouge = scores("overlap", pairs), scores("rouge1", pairs)
    turned = list(map(in_roles, pairs))
    by_sacrebleu = [BLEU1.sentence_score(" ".join(a), [" ".join(b)]).score / 100 for a, b in turned]
    by_nltk = [sentence_bleu([b], a, weights=(1.0,)) for a, b in turned]
    by_rouge = [ROUGE.score(" ".join(b), " ".join(a))["rouge1"].fmeasure for a, b in turned]
    assert overlap == pytest.approx([n / m for n, m in rates])
    assert rouge == pytest.approx(by_rouge)
    assert by_rouge == pytest.approx([2 * (n / m) / (1 + n / m) for n, m in rates])
    assert by_sacrebleu == pytest.approx(by_nltk)
    assert by_sacrebleu == pytest.approx([exp(1 - m / n) for n, m in rates])
    assert rising(overlap, rates)
    assert rising(rouge, rates)
    assert rising(by_nltk, rates)


def test_so_rank_correlations_with_anything_are_equal_and_pearson_is_not() -> None:
    pairs = held_pairs(400, 2, in_a_row=False, repeats=False)
    people = np.random.default_rng(0).integers(0, 5, len(pairs))
    columns = [
        scores("overlap", pairs),
        scores("rouge1", pairs),
        [sentence_bleu([b], a, weights=(1.0,)) for a, b in map(in_roles, pairs)],
    ]
    columns = [[round(value, 10) for value in column] for column in columns]
    spearman = [stats.spearmanr(column, people).statistic for column in columns]
    kendall = [stats.kendalltau(column, people).statistic for column in columns]
    pearson = [stats.pearsonr(column, people).statistic for column in columns]
    assert spearman == pytest.approx([spearman[0]] * 3, abs=1e-12)
    assert kendall == pytest.approx([kendall[0]] * 3, abs=1e-12)
    assert len({round(value, 4) for value in pearson}) == 3


def test_of_words_in_a_row_bleu_of_all_orders_is_bleu_1() -> None:
    """Every n-gram of S is in L, so that all precisions are 1 and the brevity penalty alone is left."""
    pairs = held_pairs(600, 3, in_a_row=True, repeats=False)
    assert scores("bleu", pairs) == pytest.approx([exp(1 - m / n) for n, m in lengths(pairs)])
    apart = [(("a", "c"), ("a", "b", "c", "d")), (("a", "b"), ("a", "b", "c", "d"))]
    first, second = scores("bleu", apart)
    assert first < second  # of one rate, but a c are not in a row


def test_the_relations_include_and_part_of_are_held_in_a_row() -> None:
    pairs = [(" ".join(a), " ".join(b)) for a, b in held_pairs(200, 4, in_a_row=True, repeats=False)]
    assert {each.relation for each in classify(pairs)} <= {"include", "part-of", "exact"}


def test_nist_over_that_of_the_reference_is_alike_where_no_word_is_twice() -> None:
    """All words have the information log2 m, longer n-grams have none; so NIST is log2 m times the penalty of r."""
    pairs = [pair for pair in held_pairs(600, 5, in_a_row=False, repeats=False) if max(map(len, pair)) > 1]
    rates = lengths(pairs)
    found = scores("nist", pairs)
    beta = np.log(0.5) / np.log(1.5) ** 2
    assert found == pytest.approx([exp(beta * np.log(n / m) ** 2) for n, m in rates])
    assert rising(found, rates)
    raw = [score * log2(m) for score, (_, m) in zip(found, rates, strict=True)]
    assert not rising(raw, rates)  # as it is, it also rises with the length
    once, twice = compare("nist", "a", "a b"), compare("nist", "a b", "a b c c")
    assert once != pytest.approx(twice)  # of one rate, but a word that is twice tells less


def test_meteor_is_not_alike() -> None:
    """One chunk of n words is punished by .5 / n³: half of two words is less than half of four."""
    one, two = (compare("meteor", *pair, synonyms="none") for pair in (("a", "a b"), ("a b", "a b c d")))
    f_mean = 0.5 / (0.9 * 1 + 0.1 * 0.5)
    assert [one, two] == pytest.approx([f_mean * (1 - 0.5), f_mean * (1 - 0.5 / 8)])


def test_with_the_reference_as_given_bleu_1_is_r_or_exp_and_not_alike() -> None:
    """A prediction of five words that holds two: r = .4 is the precision; one of two held by four: exp(−1) = .368."""
    longer, shorter = ("a b c d e", "a b"), ("a b", "a b c d")
    assert compare("overlap", *longer) < compare("overlap", *shorter)
    assert sentence_bleu([["a", "b"]], list("abcde"), weights=(1.0,)) == pytest.approx(0.4)
    assert sentence_bleu([list("abcd")], ["a", "b"], weights=(1.0,)) == pytest.approx(exp(-1))
    assert exp(-1) < 0.4


def test_of_phrases_that_only_overlap_they_are_not_alike() -> None:
    """Two of three and four words: overlap 2/4, ROUGE-1 4/7. One of one and two: overlap 1/2, ROUGE-1 2/3."""
    some, held = ("a b x", "a b c d"), ("a", "a b")
    assert compare("overlap", *some) == compare("overlap", *held) == 0.5
    assert [compare("rouge1", *some), compare("rouge1", *held)] == pytest.approx([4 / 7, 2 / 3])


def test_the_recall_of_rouge_1_against_the_longer_phrase_is_overlap_for_every_pair() -> None:
    pairs = made_pairs(800, seed=6) + made_pairs(800, seed=7, words=list("abc"), longest=9)
    assert any((Counter(a) & Counter(b)).total() < min(len(a), len(b)) for a, b in pairs)
    recall = [ROUGE.score(" ".join(b), " ".join(a))["rouge1"].recall for a, b in map(in_roles, pairs)]
    assert scores("overlap", pairs) == pytest.approx(recall)
