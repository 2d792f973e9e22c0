"""BLEU and chrF are sacrebleu's, NIST is nltk's, ROUGE is rouge-score's, overlap is that of Kim's paper."""

from __future__ import annotations

from typing import Any

import pytest
import sacrebleu
from nltk.translate.nist_score import sentence_nist
from rapidfuzz.distance import Levenshtein
from rouge_score.rouge_scorer import RougeScorer

from karat.similarity import Words, compare
from karat.similarity.ngrams import plain_nist
from tests.similarity.made import Pair, made_pairs, scores

PAIRS = made_pairs(800, seed=3) + made_pairs(800, seed=4, words=list("abc"), longest=9)
LETTERS = made_pairs(1_000, seed=5, words=["network", "networks", "netting", "work", "aaaa", "a", "é", "x-ray", ","])


def longer_last(pair: Pair) -> Pair:
    return (pair[1], pair[0]) if len(pair[0]) > len(pair[1]) else pair


def in_roles(pairs: list[Pair], reference: str) -> list[Pair]:
    return list(map(longer_last, pairs)) if reference == "longer" else pairs


@pytest.mark.parametrize("reference", ["longer", "given"])
def test_bleu_is_that_of_sacrebleu(reference: str) -> None:
    expected = [
        sacrebleu.sentence_bleu(" ".join(a), [" ".join(b)], tokenize="none", use_effective_order=True).score / 100
        for a, b in in_roles(PAIRS, reference)
    ]
    assert scores("bleu", PAIRS, reference=reference) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("reference", ["longer", "given"])
def test_chrf_is_that_of_sacrebleu(reference: str) -> None:
    pairs = PAIRS + LETTERS
    expected = [sacrebleu.sentence_chrf(" ".join(a), [" ".join(b)]).score / 100 for a, b in in_roles(pairs, reference)]
    assert scores("chrf", pairs, reference=reference) == pytest.approx(expected, abs=1e-9)


def test_chrf_of_many_letters_is_that_of_sacrebleu() -> None:
    # With as many letters as this, n-grams have to be numbered anew.
    words = [chr(0x4E00 + i) + chr(0x4E00 + i * 7 % 3000) for i in range(3000)]
    pairs = made_pairs(300, seed=6, words=words, longest=8) + made_pairs(300, seed=7, words=words[:5], longest=8)
    expected = [sacrebleu.sentence_chrf(" ".join(a), [" ".join(b)]).score / 100 for a, b in pairs]
    assert scores("chrf", pairs, reference="given") == pytest.approx(expected, abs=1e-9)
    assert sum(score > 0 for score in expected) > 200


def by_nltk(judged: Words, reference: Words) -> float:
    """nltk's NIST; it divides by 0 at orders beyond the phrase's length, which add nothing."""
    return float(sentence_nist([list(reference)], list(judged), n=min(5, len(judged))))


def numbered(pair: Pair) -> Any:
    number: dict[str, int] = {}
    return [tuple(number.setdefault(word, len(number)) for word in words) for words in pair]


def test_nist_before_normalisation_is_that_of_nltk() -> None:
    found = [plain_nist(*numbered(pair)) for pair in PAIRS]
    assert found == pytest.approx([by_nltk(*pair) for pair in PAIRS], abs=1e-9)


@pytest.mark.parametrize("reference", ["longer", "given"])
def test_nist_is_a_share_of_the_score_of_the_reference_with_itself(reference: str) -> None:
    expected = [
        float(a == b) if len(b) == 1 else 1.0 if a == b else min(1.0, by_nltk(a, b) / by_nltk(b, b))
        for a, b in in_roles(PAIRS, reference)
    ]
    assert scores("nist", PAIRS, reference=reference) == pytest.approx(expected, abs=1e-9)


class AtBlanks:
    def tokenize(self, text: str) -> list[str]:
        return text.split()


@pytest.mark.parametrize("name", ["rouge1", "rougeL"])
def test_rouge_is_the_f1_of_rouge_score(name: str) -> None:
    scorer = RougeScorer([name], tokenizer=AtBlanks())
    expected = [scorer.score(" ".join(b), " ".join(a))[name].fmeasure for a, b in PAIRS]
    assert scores(name, PAIRS) == pytest.approx(expected, abs=1e-9)


def test_levenshtein_is_that_of_characters() -> None:
    expected = [1 - Levenshtein.distance(x := " ".join(a), y := " ".join(b)) / max(len(x), len(y)) for a, b in LETTERS]
    assert scores("levenshtein", LETTERS) == pytest.approx(expected, abs=1e-9)
    assert compare("levenshtein", "Kitten", "sitting") == pytest.approx(1 - 3 / 7)


@pytest.mark.parametrize(
    ("prediction", "reference", "plain", "head"),
    [
        ("A B", "A B C", 2 / 3, 5 / 11),
        ("B C", "A B C", 2 / 3, 9 / 11),
        ("A B C", "B C", 2 / 3, 9 / 11),
        ("effective grid", "effective grid computing algorithm", 2 / 4, 0.28),
        ("grid computing", "effective grid computing algorithm", 2 / 4, 0.40),
        ("computing algorithms", "effective grid computing algorithm", 2 / 4, 0.72),
        ("grid computing algorithm", "effective grid computing algorithm", 3 / 4, 0.88),
        ("A B", "B C", 1 / 2, 1 / 3),  # of equal lengths the reference's weights count: 1/2 of 3/2
        ("B C", "A B", 1 / 2, 2 / 3),
        ("A", "A A", 1 / 2, 2 / 3),  # the occurrence nearest the head
        ("A A", "A B C D", 1 / 4, (1 / 4) / (25 / 12)),
    ],
)
def test_overlap_by_hand(prediction: str, reference: str, plain: float, head: float) -> None:
    assert compare("overlap", prediction, reference) == pytest.approx(plain)
    assert compare("overlap_head", prediction, reference) == pytest.approx(head)


def test_the_longer_phrase_is_the_reference_unless_the_given_one_is_asked_for() -> None:
    long, short = "effective grid computing", "grid computing"
    assert compare("bleu", long, short) == compare("bleu", short, long) == compare("bleu,reference=given", short, long)
    assert compare("bleu", long, short) != compare("bleu,reference=given", long, short)
