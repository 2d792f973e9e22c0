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


def test_the_mean_cosine_of_any_two_predictions(vectors: str) -> None:
    # car/automobile .6, car/chess 0, automobile/chess .8
    asked = f"emb_sim,model={vectors}"
    assert values(["x"], ["car", "automobile", "chess"], asked) == [pytest.approx(1.4 / 3)]
    assert values(["x"], ["chess", "automobiles"], asked) == [pytest.approx(-1.0)]
    assert values(["x"], ["car"], asked) == [None]
    assert values(["x"], ["car"], asked, protocol="kpeval2024") == [1.0]
