"""KMR is 1 − TER as pyter computes it on padded phrases, and Table 4 of its paper follows."""

from __future__ import annotations

import pyter
import pytest

from karat.similarity import Words, compare
from karat.similarity.edits import count_edits
from karat.text.porter import stem
from tests.similarity.made import made_pairs, scores


def by_pyter(prediction: Words, reference: Words, pad: str = "\0") -> float:
    length = max(len(prediction), len(reference))
    padded = [[*words, *[pad] * (length - len(words))] for words in (prediction, reference)]
    return 1 - float(pyter.ter(*padded))


def outcomes(prediction: list[str], reference: list[str]) -> set[int]:
    """The numbers of edits that pyter could find, whichever of equally good moves it took."""
    before = pyter.edit_distance(prediction, reference)
    moved = set()
    for start, to, length in pyter._findpairs(prediction, reference):
        rest = prediction[:start] + prediction[start + length :]
        moved.add((*rest[:to], *prediction[start : start + length], *rest[to:]))
    after = {words: pyter.edit_distance(words, reference) for words in moved}
    best = min(after.values(), default=before)
    if best >= before:
        return {before}
    return {1 + n for words, d in after.items() if d == best for n in outcomes(list(words), reference)}


def test_kmr_is_that_of_pyter_on_random_pairs() -> None:
    pairs = made_pairs(3_000)  # benchmarks.kmr does it on 100,000
    found = scores("kmr", pairs)
    different = [pair for pair, score in zip(pairs, found, strict=True) if abs(score - by_pyter(*pair)) > 1e-9]
    assert different == []


@pytest.mark.parametrize("pad", ["<pad>", "\0", ""])
def test_kmr_does_not_depend_on_how_a_pad_before_all_words_is_written(pad: str) -> None:
    pairs = made_pairs(1_000, seed=1, words=list("abcd"), longest=8)
    assert scores("kmr", pairs) == pytest.approx([by_pyter(*pair, pad) for pair in pairs], abs=1e-9)


def test_where_equally_good_moves_end_differently_the_alphabet_decides_as_in_pyter() -> None:
    pairs = [pair for pair in made_pairs(4_000, seed=2, words=list("abcd")) if len(pair[0]) == len(pair[1])]
    open_to_choice = 0
    for (prediction, reference), score in zip(pairs, scores("kmr", pairs), strict=True):
        possible = {1 - n / len(reference) for n in outcomes(list(prediction), list(reference))}
        open_to_choice += len(possible) > 1
        assert min(abs(score - each) for each in possible) < 1e-9
        assert score == pytest.approx(by_pyter(prediction, reference), abs=1e-9)
    assert open_to_choice > 0


def test_aligned_blocks_may_move_unlike_in_sacrebleu() -> None:
    prediction, reference = "system of linear algebra equat", "linear algebra equat"
    assert compare("kmr", prediction, reference) == 2 / 5  # 3 edits, where sacrebleu finds 4


def test_a_score_of_exactly_two_fifths_reaches_the_threshold() -> None:
    assert compare("kmr", "a b c d e", "a b x y z") >= 0.4
    assert compare("kmr", "a b c d e f g h i j", "a b c d q r s t u v") >= 0.4


def test_phrases_without_a_common_word_are_0_and_moves_are_cheaper_than_edits() -> None:
    assert compare("kmr", "deep learning", "graph search") == 0
    assert compare("kmr", "retrieval of information", "of information retrieval") == pytest.approx(2 / 3)
    assert count_edits((1, 2, 3), (1, 2, 3)) == (0, False)


TABLE_4 = [
    (
        "performance evaluation, information retrieval, web search engine",
        "performance, information retrieval, world wide web, search engine",
        (0.500, 0.375, 0.429),
        0.286,
    ),
    (
        "bgp, network engineering, routing protocols",
        "routing, traffic engineering, modeling, bgp",
        (0.667, 0.500, 0.571),
        0.286,
    ),
    (
        "pwarx identification, chiu's clustering algorithm, affine sub model estimation, hyperplane partitions",
        "experimental validation, clustering, identification, hybrid systems, pwarx models, "
        "chiu's clustering technique",
        (0.292, 0.194, 0.233),
        0.0,
    ),
]


def soft(name: str, predictions: list[str], references: list[str], threshold: float) -> tuple[float, float, float]:
    """Soft precision, recall and F as SoftKeyScore defines them, on phrases split at blanks."""
    form = [[tuple(map(stem, phrase.split())) for phrase in side] for side in (predictions, references)]
    table = [[scores(name, [(p, r)])[0] for r in form[1]] for p in form[0]]
    kept = [[score if score >= threshold else 0.0 for score in row] for row in table]
    precision = sum(map(max, kept)) / len(predictions)
    recall = sum(map(max, zip(*kept, strict=True))) / len(references)
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@pytest.mark.parametrize(("predictions", "references", "kmr", "f1"), TABLE_4)
def test_table_4_of_kundu_by_the_rules_of_the_text(
    predictions: str, references: str, kmr: tuple[float, float, float], f1: float
) -> None:
    sides = predictions.split(", "), references.split(", ")
    assert soft("kmr", *sides, 0.4) == pytest.approx(kmr, abs=5e-4)
    assert soft("exact", *sides, 0.4)[2] == pytest.approx(f1, abs=5e-4)


def test_the_083_of_table_4_is_the_recall_where_an_apostrophe_is_split_on_one_side() -> None:
    predictions, references, *_ = TABLE_4[2]
    sides = predictions.split(", "), references.replace("chiu's", "chiu 's").split(", ")
    assert soft("kmr", *sides, 0.4) == pytest.approx((0.125, 0.083, 0.100), abs=5e-4)
