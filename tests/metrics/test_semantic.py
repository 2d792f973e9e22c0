"""Semantic precision and recall with word vectors small enough to be worked out on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import karat


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    path = tmp_path / "vectors.txt"
    path.write_text("car 1 0\ncars 1 0\nautomobile 0.6 0.8\nchess 0 1\nautomobiles 0 -1\n")
    return f"vectors:{path}"


def values(references: list[Any], predictions: list[str], *metrics: str, protocol: str = "karat") -> list[float]:
    corpus = karat.Corpus.of([{"id": "1", "text": "a car", "keyphrases": references}])
    run = karat.Run.of([{"id": "1", "keyphrases": predictions}])
    return [row["value"] for row in karat.score(corpus, run, metrics=list(metrics), protocol=protocol).rows()]


def test_each_phrase_is_worth_its_nearest_other(vectors: str) -> None:
    # cosines: car/automobile .6, chess/automobile .8, car/chess 0
    found = values(["automobile", "chess"], ["car"], *(f"sem_{x},model={vectors}" for x in "prf"))
    assert found == pytest.approx([0.6, 0.3, 0.4])
    assert values(["automobile"], ["car"], f"sem_f,model={vectors},threshold=0.61") == [0.0]


def test_equal_stems_count_one_on_both_sides_and_in_kpeval_on_one(vectors: str) -> None:
    # automobiles is at -.8 of automobile, but has its stem
    asked = [f"sem_{x},model={vectors}" for x in "pr"]
    assert values(["automobile"], ["automobiles"], *asked) == [1.0, 1.0]
    assert values(["automobile"], ["automobiles"], *asked, protocol="kpeval2024") == [1.0, 0.0]


def test_repeated_references_are_compared_once_and_in_kpeval_as_they_are_listed(vectors: str) -> None:
    # Of car, cars and chess two are left: car and chess; the script looks at the first two of the list, car and cars.
    # automobile is at .6 of car and cars, and at .8 of chess.
    asked = [f"sem_{x},model={vectors}" for x in "pr"]
    references = ["car", "cars", "chess"]
    assert values(references, ["automobile"], *asked) == pytest.approx([0.8, (0.6 + 0.8) / 2])
    assert values(references, ["automobile"], *asked, protocol="kpeval2024") == pytest.approx([0.6, (0.6 + 0.6) / 2])
    # Which reference a prediction is, by its stems, the script knows of all that are left.
    assert values(references, ["chess"], *asked, protocol="kpeval2024") == [1.0, 0.0]
    # The same text twice counts once in recall: car, and not car and Car; automobile is the second that is left.
    references = ["car", "Car", "automobile"]
    assert values(references, ["automobile"], *asked) == pytest.approx([1.0, (0.6 + 1.0) / 2])
    assert values(references, ["chess", "car"], *asked, protocol="kpeval2024") == pytest.approx([0.5, 1.0])


def test_pieces_of_words_are_put_together_before_they_are_embedded(vectors: str) -> None:
    asked = [f"sem_{x},model={vectors}" for x in "pr"]
    assert values(["auto ##mobile"], ["car"], *asked, protocol="kpeval2024") == pytest.approx([0.6, 0.6])


def test_the_mean_cosine_of_any_two_predictions(vectors: str) -> None:
    # car/automobile .6, car/chess 0, automobile/chess .8
    asked = f"emb_sim,model={vectors}"
    assert values(["x"], ["car", "automobile", "chess"], asked) == [pytest.approx(1.4 / 3)]
    assert values(["x"], ["chess", "automobiles"], asked) == [pytest.approx(-1.0)]
    assert values(["x"], ["car"], asked) == [None]
    assert values(["x"], ["car"], asked, protocol="kpeval2024") == [1.0]


def test_the_root_of_the_mean_square_cosine_of_any_two_predictions(vectors: str) -> None:
    # .6² + 0² + .8² = 1 over three pairs; the script has each of them in both orders, and does not divide.
    asked, three = f"sem_diverse_index,model={vectors}", ["car", "automobile", "chess"]
    assert values(["x"], three, asked) == [pytest.approx((1 / 3) ** 0.5)]
    assert values(["x"], three, asked, protocol="kpeval2024") == [pytest.approx(2**0.5)]
    assert values(["x"], ["chess", "automobiles"], asked) == [pytest.approx(1.0)]  # at -1: opposite is no less alike
    assert values(["x"], ["car"], asked) == [None]
    assert values(["x"], ["car"], asked, protocol="kpeval2024") == [0.0]
