"""Overlap with weights by place: by hand, between overlap and overlap_head, learned, saved, and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import karat
from karat.errors import InputError
from karat.similarity import compare, find, words_of
from karat.similarity.placed import Places, Weights, learn, places_of, read_weights
from tests.similarity.made import made_pairs, scores
from tests.wide import TRUE, rows

PAIRS = made_pairs(500, seed=8) + made_pairs(300, seed=9, words=list("abc"), longest=8)


def test_equal_weights_are_overlap() -> None:
    assert scores("placed", PAIRS) == pytest.approx(scores("overlap", PAIRS))


def test_weights_of_1_over_the_place_are_overlap_head(tmp_path: Path) -> None:
    path = tmp_path / "head.json"
    Weights(tuple(1 / place for place in range(1, 10))).save(path)
    assert scores(f"placed:{path}", PAIRS) == pytest.approx(scores("overlap_head", PAIRS))


def test_weights_by_hand(tmp_path: Path) -> None:
    """Of a b c d, d weighs 1, c 1/2, b 1/4, a 1/4 · 2 as the first; of two words the first weighs 1/2 · 2."""
    path = tmp_path / "w.json"
    Weights((1.0, 0.5, 0.25), first=2.0).save(path)
    cases = {
        ("c d", "a b c d"): 1.5 / 2.25,
        ("a b", "a b c d"): 0.75 / 2.25,
        ("a b c d", "b c"): 0.75 / 2.25,
        ("a", "a d"): 1.0 / 2.0,
        ("a", "a"): 1.0,
        ("x", "a b"): 0.0,
        ("a", "a a b"): 0.5 / 2.0,  # of a word that is there twice, the one nearest the head counts
    }
    for pair, expected in cases.items():
        assert compare(f"placed:{path}", *pair) == pytest.approx(expected), pair
        assert compare("placed", *pair, weights=str(path)) == pytest.approx(expected)


def test_soft_scores_take_weights_from_a_file(tmp_path: Path) -> None:
    """One prediction and one reference, so that soft F is their score."""
    path = tmp_path / "w.json"
    Weights((1.0, 0.5)).save(path)
    corpus = karat.Corpus.of([{"id": "1", "keyphrases": ["effective grid"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["grid"]}])
    metrics = [f"soft_f,score=placed:{path}", "soft_f,score=overlap"]
    assert [row["value"] for row in karat.score(corpus, run, metrics=metrics).rows()] == pytest.approx([1 / 1.5, 0.5])
    found = karat.nearmiss(corpus, run, similarity=f"placed:{path}")
    assert found.rows()[0]["mean_score"] == pytest.approx(1 / 1.5)


def test_weights_that_change_on_disk_are_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    for second, expected in ((1.0, 0.5), (0.25, 0.8)):
        Weights((1.0, second)).save(path)
        assert compare(f"placed:{path}", "b", "a b") == pytest.approx(expected)


# ---------------------------------------------------------------------------------------------- learning


def made(pairs: int, noise: float) -> tuple[Places, Any]:
    """Places of made pairs, and how near they are by the true weights, with noise."""
    found = list(rows(pairs, seed=5))
    stems = [(words_of(pair[1], "stems"), words_of(pair[2], "stems")) for pair, _, _ in found]
    people = np.array([near for _, near, _ in found]) + np.random.default_rng(1).normal(0, noise, pairs)
    return places_of(stems), people


def test_the_true_weights_are_found() -> None:
    """Without noise r is 1 at the true weights and nowhere else; a little shrinkage stays."""
    places, people = made(600, 0.0)
    found = learn(places, people, shrink=0.0)
    assert found.places == pytest.approx(TRUE.places, abs=0.02)
    assert found.first == pytest.approx(TRUE.first, abs=0.03)
    assert stats.pearsonr(places.scores(np.log([*found.places[1:], found.first])), people).statistic > 0.9999


def test_learned_scores_are_those_of_the_similarity(tmp_path: Path) -> None:
    places, people = made(80, 0.1)
    found, path = learn(places, people), tmp_path / "w.json"
    found.save(path)
    stems = [(words_of(p[1], "stems"), words_of(p[2], "stems")) for p, _, _ in rows(80, seed=5)]
    assert scores(f"placed:{path}", stems) == pytest.approx(
        places.scores(np.log([*found.places[1:], found.first])).tolist(), abs=1e-6
    )
    assert read_weights(str(path)).places == found.places


def test_shrinkage_leaves_weights_near_1() -> None:
    places, people = made(60, 0.3)
    far = [learn(places, people, shrink) for shrink in (0.0, 0.05, 100.0)]
    spread = [sum(np.log([*each.places, each.first]) ** 2) for each in far]
    assert spread[0] > spread[1] > spread[2]
    assert far[2].places == pytest.approx((1, 1, 1, 1), abs=0.01)


def test_constant_scores_teach_nothing() -> None:
    places, people = made(30, 0.0)
    assert learn(places, np.ones_like(people)) == Weights((1.0, 1.0, 1.0, 1.0))


# ---------------------------------------------------------------------------------------------- files

WHOLE = {"kind": "weights by place", "version": 1, "places": [1, 0.5], "first": 1}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("{", "not JSON"),
        ("[1]", "w.json"),
        (json.dumps({"kind": "kea"}), "holds no weights by place; `karat human SCORES --learn FILE` writes them"),
        (json.dumps(WHOLE | {"version": 2}), "weights of version 2, but this karat reads 1"),
        (json.dumps(WHOLE | {"places": []}), "places is a list of weights from the head on"),
        (json.dumps(WHOLE | {"places": {"a": 1}}), "places is a list of weights"),
        (json.dumps(WHOLE | {"places": [1, 0]}), "a weight is a number above 0, not 0"),
        (json.dumps(WHOLE | {"places": [1, "x"]}), "a weight is a number above 0, not 'x'"),
        (json.dumps(WHOLE | {"first": True}), "a weight is a number above 0, not True"),
    ],
)
def test_a_file_without_weights_is_said_to_be_one(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "w.json"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        find(f"placed:{path}")
    assert said in str(error.value)


def test_a_missing_file_and_a_group_are_named() -> None:
    with pytest.raises(InputError, match=r"no\.json"):
        find("placed:no.json")
    with pytest.raises(InputError, match="kim2010 is a group of similarities, where one is asked for: overlap, "):
        find("kim2010")
    with pytest.raises(InputError, match="takes no further options"):
        karat.score(
            karat.Corpus.of([{"id": "1", "keyphrases": ["a"]}]),
            karat.Run.of([{"id": "1", "keyphrases": ["a"]}]),
            metrics=["soft_f,score=placed:w.json,reference=given"],
        )
