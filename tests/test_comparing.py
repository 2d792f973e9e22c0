"""Comparing systems: the number tested is the number printed, whoever is named first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.comparing import Comparison, compare, compare_corpora, letters, sample_of
from karat.stats.corrections import adjusted
from karat.stats.seeds import seeds_of, two_level
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


def seeded(name: str, shares: Sequence[float], first: int) -> list[karat.Run]:
    """The seeds of a system, each of which finds references with its own probability."""
    return [run(f"{name}#{i}", share, seed=first + i) for i, share in enumerate(shares, 1)]


SEVERAL = [*seeded("x", (0.6, 0.62, 0.58), 0), *seeded("y", (0.35, 0.3, 0.33), 10)]
SINGLE = [run("w", 0.5, seed=20), run("z", 0.2, seed=21)]


@pytest.mark.parametrize("metric", ["f1@M", "f1@2/f-of-means"])
def test_several_seeds_are_compared_over_seeds_and_documents(metric: str) -> None:
    found = compare(corpus(), *SEVERAL, metrics=[metric], **QUICK)
    [row] = found.rows()
    scores = karat.score(corpus(), *SEVERAL, metrics=[metric]).scores
    x, y = (seeds_of([sample_of(score, 60) for score in scores[i : i + 3]]) for i in (0, 3))
    apart = two_level(x, y)
    assert row["tests"] == {"two_level_t": float(apart.p())}
    assert row["ci"] == pytest.approx(apart.interval())
    assert row["difference"] == pytest.approx(np.mean(x.values) - np.mean(y.values))
    assert (row["effect"]["df_documents"], row["effect"]["df_seeds"]) == (59, float(apart.df_seeds))
    assert row["ci_by"] == "two_level_t"
    mine, other = found.systems()
    assert mine["sd"] == pytest.approx(np.std(x.values, ddof=1))
    assert (mine["seeds"], other["seeds"], mine["ci_by"]) == (3, 3, "two_level_t")
    assert mine["ci"] == pytest.approx(two_level(x).interval())
    assert (mine["letters"], other["letters"]) == ("a", "b")


def test_the_interval_over_seeds_ends_where_values_do() -> None:
    found = compare(corpus(), *seeded("x", (0.2, 0.9), 0), *seeded("y", (0.1, 0.9), 5), metrics=["f1@M"])
    assert [each["ci"] for each in found.systems()] == [[0.0, 1.0], [0.0, 1.0]]
    assert found.rows()[0]["ci"] == [-1.0, 1.0]


def test_systems_with_and_without_seeds_are_adjusted_together_and_single_runs_are_named() -> None:
    found = compare(corpus(), *SEVERAL, *SINGLE, metrics=["f1@M"], **QUICK)
    rows = found.rows()
    used = ["randomisation" if {row["a"], row["b"]} == {"w", "z"} else "two_level_t" for row in rows]
    assert used.count("two_level_t") == 5
    assert all(name in row["tests"] for row, name in zip(rows, used, strict=True))
    p = [row["tests"][name] for row, name in zip(rows, used, strict=True)]
    assert [row["adjusted"][name] for row, name in zip(rows, used, strict=True)] == pytest.approx(adjusted(p, "holm"))
    [t] = [row["adjusted"]["t"] for row in rows if "t" in row["tests"]]
    others = [row["tests"].get("t", row["tests"].get("two_level_t")) for row in rows]
    assert t == pytest.approx(adjusted(others, "holm")[rows.index(next(row for row in rows if "t" in row["tests"]))])
    for name in "wz":
        assert sum(note.startswith(f"{name} has one run, others several seeds") for note in found.notes) == 1
    assert not any("x has one run" in note for note in found.notes)


def test_two_seeds_that_differ_much_say_nothing_and_that_is_said() -> None:
    two = [*seeded("x", (0.75, 0.55), 0), *seeded("y", (0.5, 0.35), 10)]
    found = compare(corpus(), *two, metrics=["f1@M"])
    [row] = found.rows()
    assert row["adjusted"]["two_level_t"] > 0.05
    least = row["effect"]["critical_difference"]
    assert (
        f"nothing can be concluded from two seeds that differ so much: x − y on f1@M:all (significant from {least:.4f} "
        "on); take three or more"
    ) in found.notes
    three = compare(corpus(), *SEVERAL, metrics=["f1@M"])
    assert not any("nothing can be concluded" in note for note in three.notes)


def test_documents_on_which_a_metric_is_undefined_are_not_counted_with_seeds_either() -> None:
    documents = [
        {"id": str(i), "text": "x", "keyphrases": [f"a{i}", f"b{i}", f"c{i}"] if i % 4 else []} for i in range(60)
    ]
    found = compare(karat.Corpus.of(documents, name="made"), *SEVERAL, metrics=["f1@M"])
    assert [row["n"] for row in found.rows()] == [45]
    assert found.rows()[0]["effect"]["df_documents"] == 44
    assert "f1@M all, 45 documents" in karat.render(found, "table")


def test_seeds_that_are_equal_on_every_document_have_p_1() -> None:
    again = [karat.Run.of(list(one), name=one.name.replace("x", "z")) for one in SEVERAL[:3]]
    found = compare(corpus(), *SEVERAL[:3], *again, metrics=["f1@M"])
    assert found.rows()[0]["tests"] == {"two_level_t": 1.0}
    assert any("are equal on every document" in note for note in found.notes)


NAMED = "two-level t over seeds and documents"


@pytest.mark.parametrize("form", ["table", "md", "latex", "typst", "csv", "json", "html"])
def test_every_format_names_the_test_of_seeds_and_no_other(form: str) -> None:
    found = compare(corpus(), *SEVERAL, metrics=["f1@M"], **QUICK)
    text = " ".join(karat.render(found, form).split())
    assert ("two_level_t" if form in ("csv", "json") else NAMED) in text
    assert not any(word in text for word in ("randomisation", "bootstrap", "bca", "resamples"))


@pytest.mark.parametrize("form", ["table", "md", "latex", "typst"])
def test_every_format_names_both_tests_where_some_systems_have_seeds(form: str) -> None:
    found = compare(corpus(), *SEVERAL, *SINGLE, metrics=["f1@M"], **QUICK)
    text = " ".join(karat.render(found, form).split())
    assert f"paired randomisation, and where a system has several seeds {NAMED}, two-sided" in text


def test_the_page_names_the_test_of_seeds() -> None:
    text = karat.page(corpus(), *SEVERAL, resamples=50).html()
    assert f"p: {NAMED}, two-sided; adjusted over" in text
    assert f"{NAMED}, adjusted over" in text  # in the summary
    assert "paired randomisation" not in text


def test_a_test_that_does_not_apply_is_not_named() -> None:
    found = compare(corpus(), *SINGLE, metrics=["mrr"], test="mcnemar", **QUICK)
    assert "p: paired bootstrap, two-sided" in karat.render(found, "table")


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
    assert ranking["critical_difference"] == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 4)), abs=1e-3)
    assert ranking["cliques"] == [["good", "middle"], ["middle", "bad"]]


names = st.sampled_from("vwxyz")


@settings(max_examples=examples(60))
@given(st.sets(st.frozensets(names, min_size=2, max_size=2)))
def test_systems_share_a_letter_exactly_when_they_do_not_differ(apart: set[frozenset[str]]) -> None:
    found = letters("vwxyz", apart)
    for a, b in combinations("vwxyz", 2):
        assert (not set(found[a]) & set(found[b])) == (frozenset((a, b)) in apart)
