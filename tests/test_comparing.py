"""Comparing systems: the number tested is the number printed, whoever is named first."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.comparing import Comparison, compare, compare_corpora, letters
from tests.examples import examples

QUICK: dict[str, Any] = {"resamples": 2000}


def corpus(documents: int = 60, name: str = "made") -> karat.Corpus:
    return karat.Corpus.of(
        ({"id": str(i), "text": "x", "keyphrases": [f"a{i}", f"b{i}", f"c{i}"]} for i in range(documents)), name=name
    )


def run(name: str, share: float, documents: int = 60, seed: int = 0) -> karat.Run:
    """A run that finds each reference with a probability, and predicts three phrases a document."""
    draw = np.random.default_rng(seed)
    lists = []
    for i in range(documents):
        hits = draw.random(3) < share
        right = [phrase for phrase, hit in zip((f"a{i}", f"b{i}", f"c{i}"), hits, strict=True) if hit]
        lists.append({"id": str(i), "keyphrases": [*right, *(f"w{i}x{j}" for j in range(3 - len(right)))]})
    return karat.Run.of(lists, name=name)


def first(found: Comparison) -> dict[str, Any]:
    return found.rows()[0]


def test_a_better_system_is_found_whichever_is_named_first() -> None:
    good, bad = run("good", 0.7, seed=1), run("bad", 0.3, seed=2)
    one = first(compare(corpus(), good, bad, metrics=["f1@M"]))
    other = first(compare(corpus(), bad, good, metrics=["f1@M"]))
    assert one["difference"] == -other["difference"] > 0.2
    for name, p in one["tests"].items():
        assert p < 0.001, name
        assert other["tests"][name] == pytest.approx(p, rel=0.5), name
    assert one["ci"][0] > 0
    assert one["ci"] == pytest.approx([-other["ci"][1], -other["ci"][0]], abs=1e-9)


def test_a_run_against_itself_has_p_1_and_says_so() -> None:
    same = karat.Run.of(list(run("x", 0.5)), name="same")
    found = compare(corpus(), run("x", 0.5), same, metrics=["f1@M", "f1@M/f-of-means"], **QUICK)
    for row in found.rows():
        assert set(row["tests"].values()) == set(row["adjusted"].values()) == {1.0}
        assert row["difference"] == 0
        assert row["effect"]["superiority"] == 0.5
    assert sum("are equal on every document" in note for note in found.notes) == 2


@pytest.mark.parametrize("average", ["mean-of-f", "f-of-means", "micro"])
def test_the_statistic_is_that_of_score_in_every_average(average: str) -> None:
    systems = run("x", 0.6, seed=3), run("y", 0.5, seed=4)
    asked = [f"f1@2/{average}"]
    printed = [row["value"] for row in karat.score(corpus(), *systems, metrics=asked).rows()]
    found = compare(corpus(), *systems, metrics=asked, **QUICK)
    assert [first(found)["value_a"], first(found)["value_b"]] == pytest.approx(printed, abs=1e-12)
    assert [each["value"] for each in found.systems()] == pytest.approx(printed, abs=1e-12)
    assert first(found)["average"] == average


def test_each_is_compared_with_each_or_all_with_the_baseline() -> None:
    systems = [run(name, 0.5, seed=i) for i, name in enumerate("xyz")]
    every = compare(corpus(), *systems, metrics=["f1@M", "r@1"], **QUICK)
    assert [(row["a"], row["b"]) for row in every.rows()[:3]] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert len(every.rows()) == 6
    some = compare(corpus(), *systems, metrics=["f1@M"], baseline="x", **QUICK)
    assert [(row["a"], row["b"]) for row in some.rows()] == [("y", "x"), ("z", "x")]
    assert {each["letters"] for each in some.systems()} == {""}


def test_p_is_adjusted_over_all_comparisons() -> None:
    systems = [run(name, share, seed=i) for i, (name, share) in enumerate(zip("xyz", (0.5, 0.55, 0.7), strict=True))]
    found = compare(corpus(), *systems, metrics=["f1@M"], **QUICK).rows()
    p = sorted(row["tests"]["wilcoxon"] for row in found)
    by_hand = np.maximum.accumulate(np.minimum(np.array(p) * [3, 2, 1], 1.0))
    assert sorted(row["adjusted"]["wilcoxon"] for row in found) == pytest.approx(by_hand.tolist())


def test_results_files_are_compared_like_their_runs(tmp_path: Path) -> None:
    systems = run("x", 0.6, seed=3), run("y", 0.5, seed=4)
    paths = []
    for system in systems:
        paths.append(str(tmp_path / f"{system.name}.karat"))
        karat.score(corpus(), system, metrics=["f1@M", "found@M"]).save(paths[-1])
    saved, direct = compare(*paths, **QUICK), compare(corpus(), *systems, metrics=["f1@M"], **QUICK)
    assert saved.rows() == direct.rows()


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    def saved(name: str, documents: int, protocol: str = "karat") -> str:
        path = str(tmp_path / f"{name}.karat")
        karat.score(corpus(documents), run(name, 0.5, documents), metrics=["f1@M"], protocol=protocol).save(path)
        return path

    with pytest.raises(karat.InputError, match="not of the same documents: '9' is in one of them only"):
        compare(saved("x", 10), saved("y", 9))
    with pytest.raises(karat.InputError, match="no metric on which two systems"):
        compare(saved("x", 10), saved("y", 10, "chan2019"))
    with pytest.raises(karat.InputError, match="two runs or more can be compared, not 1"):
        compare(corpus(), run("x", 0.5))
    with pytest.raises(karat.InputError, match="unknown baseline 'z'"):
        compare(corpus(), run("x", 0.5), run("y", 0.5), baseline="z")
    with pytest.raises(karat.InputError, match="'59'"):
        compare(corpus(), run("x", 0.5), run("y", 0.5, 59))
    with pytest.raises(karat.InputError, match="alpha is between 0 and 1, not 5"):
        compare(corpus(), run("x", 0.5), run("y", 0.5), alpha=5)


def test_results_of_different_references_are_not_compared(tmp_path: Path) -> None:
    other = karat.Corpus.of(({"id": str(i), "text": "x", "keyphrases": ["z"]} for i in range(60)), name="made")
    karat.score(corpus(), run("x", 0.5), metrics=["f1@M"]).save(tmp_path / "x.karat")
    karat.score(other, run("y", 0.5), metrics=["f1@M"]).save(tmp_path / "y.karat")
    with pytest.raises(karat.InputError, match="different signatures: hash="):
        compare(tmp_path / "x.karat", tmp_path / "y.karat")


def test_one_document_is_too_few_to_tell() -> None:
    found = compare(corpus(1), run("x", 0.9, 1, seed=1), run("y", 0.0, 1), metrics=["f1@M"], **QUICK)
    assert first(found)["tests"]["randomisation"] == 1.0
    assert first(found)["tests"]["t"] is None


def test_fewer_resamples_than_alpha_needs_are_noted() -> None:
    found = compare(corpus(), run("x", 0.9, seed=1), run("y", 0.1), metrics=["f1@M"], resamples=10)
    assert any("10 resamples cannot give a p below" in note for note in found.notes)


def test_seeds_of_a_system_are_drawn_too() -> None:
    systems = [run("x#1", 0.6, seed=1), run("x#2", 0.62, seed=2), run("x#3", 0.58, seed=3), run("y", 0.3, seed=4)]
    found = compare(corpus(), *systems, metrics=["f1@M"], **QUICK)
    [row] = found.rows()
    assert (row["a"], row["b"]) == ("x", "y")
    values = [score["value"] for score in karat.score(corpus(), *systems, metrics=["f1@M"]).rows()]
    mine, other = found.systems()
    assert mine["value"] == pytest.approx(np.mean(values[:3]))
    assert mine["sd"] == pytest.approx(np.std(values[:3], ddof=1))
    assert (mine["seeds"], other["seeds"], other["sd"]) == (3, 1, None)
    assert list(row["tests"]) == ["bootstrap"]
    assert row["tests"]["bootstrap"] < 0.01


def test_systems_are_ranked_over_corpora() -> None:
    listed = [
        (corpus(name=f"c{i}"), [run("good", 0.8, seed=i), run("middle", 0.5, seed=i), run("bad", 0.2, seed=i)])
        for i in range(4)
    ]
    found = compare_corpora(listed, metrics=["f1@M"], **QUICK)
    [ranking] = found.as_dict()["rankings"]
    # Four corpora that all say the same: chi2 = 12 N / (k (k + 1)) sum (R - (k + 1) / 2)^2 = 4 * (1 + 0 + 1) = 8
    assert ranking["ranks"] == {"good": 1.0, "middle": 2.0, "bad": 3.0}
    assert ranking["chi2"] == pytest.approx(8.0)
    # All orders that are the same in every corpus are 6 of 6^4; rank sums 7 or 8 apart are 54 of them, 6 or more 162.
    assert ranking["p_used"] == ranking["permutation_p"] == pytest.approx(6 / 6**4)
    assert (ranking["method"], ranking["p_at_floor"]) == ("exact", False)
    assert ranking["critical_difference"] == 7 / 4
    assert ranking["smallest_p"] == pytest.approx(6 / 6**4)
    assert ranking["cliques"] == [["good", "middle"], ["middle", "bad"]]
    assert [(pair["a"], pair["b"]) for pair in ranking["pairs"]] == [
        ("good", "middle"),
        ("good", "bad"),
        ("middle", "bad"),
    ]
    assert ranking["pairs"][1]["p"] == pytest.approx(6 / 6**4)


names = st.sampled_from("vwxyz")


@settings(max_examples=examples(60))
@given(st.sets(st.frozensets(names, min_size=2, max_size=2)))
def test_systems_share_a_letter_exactly_when_they_do_not_differ(apart: set[frozenset[str]]) -> None:
    found = letters("vwxyz", apart)
    for a, b in combinations("vwxyz", 2):
        assert (not set(found[a]) & set(found[b])) == (frozenset((a, b)) in apart)
