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
from scipy import stats

import karat
from karat.analyses.compare import compare
from karat.analyses.compare.families import sample_of
from karat.analyses.compare.letters import letters
from karat.analyses.compare.result import Comparison
from karat.analyses.compare.tables import stars as stars_of
from karat.options import Missing
from karat.stats.families import holm
from karat.stats.influence import Alternative, contrast, jackknife, score_interval
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
        assert set(row["tests"].values()) == {row["p"], row["p_adjusted"]} == {1.0}
        assert row["difference"] == 0
        assert row["effect"]["superiority"] == 0.5
    assert [note for note in found.notes if "equal" in note] == [
        "x and same are equal on every document (f1@M:all): p is 1"
    ]


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


def test_p_is_adjusted_over_the_pairs_of_systems_of_a_metric() -> None:
    systems = [run(name, share, seed=i) for i, (name, share) in enumerate(zip("xyz", (0.5, 0.55, 0.7), strict=True))]
    found = compare(corpus(), *systems, metrics=["f1@M", "r@1"], test="wilcoxon", **QUICK).rows()
    for metric in ("f1@M", "r@1"):
        own = [row for row in found if row["metric"] == metric]
        p = sorted(row["tests"]["wilcoxon"] for row in own)
        by_hand = np.maximum.accumulate(np.minimum(np.array(p) * [3, 2, 1], 1.0))
        assert sorted(row["p_adjusted"] for row in own) == pytest.approx(by_hand.tolist())
        assert {(row["p_adjusted_by"], row["family"]) for row in own} == {("holm", 3)}


SEVEN = [run(f"s{i}", share, seed=i) for i, share in enumerate((0.3, 0.9, 0.5, 0.2, 0.6, 0.4, 0.7))]


def cells_of(found: Comparison) -> list[dict[str, list[Any]]]:
    """For each group of the first table the cells of each system."""
    return [{row.name: list(row.cells) for row in group.rows} for group in next(found.tables()).groups]


@pytest.mark.parametrize("baseline", [None, "s4"])
def test_several_systems_are_shown_best_first_with_their_differences_to_one(baseline: str | None) -> None:
    found = compare(corpus(), *SEVEN, metrics=["f1@M", "count_mae"], baseline=baseline, **QUICK)
    scores = karat.score(corpus(), *SEVEN, metrics=["f1@M"]).scores
    values = {score.system: float(np.mean(score.per_document())) for score in scores}
    shown = cells_of(found)[0]
    assert list(shown) == sorted(values, key=lambda name: -values[name])
    reference = baseline or max(values, key=lambda name: values[name])
    p = {frozenset((row["a"], row["b"])): row["p_adjusted"] for row in found.rows()[: len(found.rows()) // 2]}
    for name, (value, difference, adjusted_p) in shown.items():
        assert value.value == pytest.approx(values[name])
        if name == reference:
            assert (difference, adjusted_p) == (None, None)
        else:
            assert difference.value == pytest.approx(values[name] - values[reference])
            assert adjusted_p[0] == p[frozenset((name, reference))]
    counts = [cells[0].value for cells in cells_of(found)[1].values()]  # of an error: the lowest is the best
    assert counts == sorted(counts)


def test_what_p_is_adjusted_over_is_said_and_is_what_was_compared() -> None:
    found = compare(corpus(), *SEVEN, metrics=["f1@M", "r@1"], family="all", test="t", correction="holm", **QUICK)
    assert len(found.rows()) == 2 * 21
    p = sorted(row["tests"]["t"] for row in found.rows())
    by_hand = np.maximum.accumulate(np.minimum(np.array(p) * np.arange(42, 0, -1), 1.0))
    assert sorted(row["p_adjusted"] for row in found.rows()) == pytest.approx(by_hand.tolist())
    said = " ".join(karat.render(found, "table", 80).split())
    assert "adjusted by Holm over all tests (42 tests each); intervals are not adjusted; the 12 differences" in said
    one = " ".join(
        karat.render(compare(corpus(), *SEVEN, metrics=["f1@M"], baseline="s4", **QUICK), "table", 80).split()
    )
    assert "adjusted by step-down max-T over all systems against s4 on one metric and corpus (6 tests each);" in one
    assert "--all-pairs" not in one


@pytest.mark.parametrize(("width", "metrics", "most"), [(80, 2, 31), (80, 9, 50), (160, 9, 30)])
def test_seven_systems_fit_a_screen(width: int, metrics: int, most: int) -> None:
    requests = [f"{name}@{k}" for name in ("f1", "p", "r") for k in (1, 2, "M")][:metrics]
    found = compare(corpus(), *SEVEN, metrics=requests, resamples=200)
    text = karat.render(found, "table", width)
    tables = text.partition("\nnote:")[0]
    assert tables.count("\n") <= most
    assert max(map(len, text.splitlines())) <= width
    every = karat.render(compare(corpus(), *SEVEN, metrics=requests, resamples=200, all_pairs=True), "table", width)
    assert every.count(" − ") >= 21 * metrics


def test_the_rows_of_csv_and_json_are_those_of_all_pairs_whatever_is_shown() -> None:
    every, best = (
        compare(corpus(), *SEVEN, metrics=["f1@M"], all_pairs=all_pairs, **QUICK) for all_pairs in (True, False)
    )
    assert every.as_dict() == best.as_dict()
    assert karat.render(every, "csv") == karat.render(best, "csv")


def test_all_pairs_and_a_baseline_are_not_shown_together() -> None:
    with pytest.raises(karat.InputError, match="leave one of the two out"):
        compare(corpus(), *SEVEN, baseline="s1", all_pairs=True)


def test_an_interval_of_a_difference_to_the_best_holds_it_whichever_was_named_first() -> None:
    for systems in (SEVEN, SEVEN[::-1]):
        for difference in (
            cells[1] for cells in cells_of(compare(corpus(), *systems, metrics=["f1@M"], **QUICK))[0].values()
        ):
            if difference is not None:
                low, high = (float(end) for end in difference.after[-1].strip(" []").split(","))
                assert low <= difference.value <= high < 0


def test_one_sided_tests_without_a_baseline_show_every_pair_as_it_was_tested() -> None:
    text = karat.render(compare(corpus(), *SEVEN, metrics=["f1@M"], alternative="greater", **QUICK), "table", 80)
    assert all(f"s{a} − s{b}" in text for a, b in combinations(range(7), 2))


def test_notes_on_several_corpora_say_which_one_they_are_of() -> None:
    twice = [
        karat.Run.of([p if i else {"id": "0", "keyphrases": ["a0", "a0"]} for i, p in enumerate(each)], each.name)
        for each in SEVEN[:2]
    ]
    listed = [(corpus(name="one"), twice), (corpus(name="other"), twice)]
    notes = compare(listed, metrics=["f1@M"], resamples=99).notes
    assert [note for note in notes if "repeated" in note] == [
        f"{name}: {system}, karat: 1 repeated of 179 predictions dropped"
        for name in ("one", "other")
        for system in ("s0", "s1")
    ]


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
    with pytest.raises(karat.InputError, match="alpha is a number above 0 and below 1, not 5"):
        compare(corpus(), run("x", 0.5), run("y", 0.5), alpha=5)


def test_results_of_different_references_are_not_compared(tmp_path: Path) -> None:
    other = karat.Corpus.of(({"id": str(i), "text": "x", "keyphrases": ["z"]} for i in range(60)), name="made")
    karat.score(corpus(), run("x", 0.5), metrics=["f1@M"]).save(tmp_path / "x.karat")
    karat.score(other, run("y", 0.5), metrics=["f1@M"]).save(tmp_path / "y.karat")
    with pytest.raises(karat.InputError, match="different signatures: hash="):
        compare(tmp_path / "x.karat", tmp_path / "y.karat")


def test_one_document_is_too_few_to_tell() -> None:
    found = compare(corpus(1), run("x", 0.9, 1, seed=1), run("y", 0.0, 1), metrics=["f1@M"], **QUICK)
    assert (first(found)["p"], first(found)["tests"], first(found)["ci"]) == (None, {}, [None, None])
    assert "x and y have 1 document in common on f1@M:all: nothing is tested" in found.notes
    assert "nan" not in karat.render(found, "table")


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
    x, y = (jackknife(*(sample_of(score, 60) for score in scores[i : i + 3])) for i in (0, 3))
    apart = contrast(x, y)
    assert row["tests"] == {"two_level_t": float(apart.p())}
    assert row["ci"] == pytest.approx(apart.interval())
    assert row["difference"] == pytest.approx(np.mean(x.values) - np.mean(y.values))
    assert row["test"] == "two_level_t"
    mine, other = found.systems()
    assert mine["sd"] == pytest.approx(np.std(x.values, ddof=1))
    assert (mine["seeds"], other["seeds"], mine["ci_by"]) == (3, 3, "two_level_t")
    assert mine["ci"] == pytest.approx(score_interval(contrast(x)))
    assert (mine["letters"], other["letters"]) == ("a", "b")


def test_the_interval_over_seeds_ends_where_values_do() -> None:
    found = compare(corpus(), *seeded("x", (0.2, 0.9), 0), *seeded("y", (0.1, 0.9), 5), metrics=["f1@M"])
    assert [each["ci"] for each in found.systems()] == [pytest.approx([0.0, 1.0], abs=1e-4)] * 2
    assert found.rows()[0]["ci"] == [-1.0, 1.0]


def test_systems_with_and_without_seeds_are_adjusted_together_and_single_runs_are_named() -> None:
    found = compare(corpus(), *SEVERAL, *SINGLE, metrics=["f1@M"], **QUICK)
    rows = found.rows()
    used = ["randomisation" if {row["a"], row["b"]} == {"w", "z"} else "two_level_t" for row in rows]
    assert used.count("two_level_t") == 5
    assert all(name in row["tests"] for row, name in zip(rows, used, strict=True))
    p = [row["tests"][name] for row, name in zip(rows, used, strict=True)]
    assert [row["test"] for row in rows] == used
    assert [row["p_adjusted"] for row in rows] == pytest.approx(holm([row["p"] for row in rows]))
    assert [row["p"] for row in rows if not row["p_approximate"]] == [
        each for each, row in zip(p, rows, strict=True) if not row["p_approximate"]
    ]
    for name in "wz":
        assert sum(note.startswith(f"{name} has one run and others have several seeds") for note in found.notes) == 1
    assert not any("x has one run" in note for note in found.notes)


def test_two_seeds_that_differ_much_say_nothing_and_that_is_said() -> None:
    two = [*seeded("x", (0.75, 0.55), 0), *seeded("y", (0.5, 0.35), 10)]
    found = compare(corpus(), *two, metrics=["f1@M"])
    [row] = found.rows()
    assert row["p_adjusted"] > 0.05
    least = found.pairs[0].apart.contrast.deviation(0.05)  # type: ignore[union-attr]
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
    assert f"paired randomisation; where a system has several seeds, {NAMED}, two-sided" in text


def test_the_page_names_the_test_of_seeds() -> None:
    text = karat.report(corpus(), *SEVERAL, resamples=50).html()
    assert f"p: {NAMED}, two-sided; adjusted by Holm over" in text
    assert f"{NAMED}, adjusted by Holm over" in text  # in the summary
    assert "paired randomisation" not in text


def test_a_test_that_does_not_apply_is_not_named() -> None:
    found = compare(corpus(), *SINGLE, metrics=["mrr"], test="mcnemar", **QUICK)
    assert "p: jackknife t, two-sided" in karat.render(found, "table")


def test_systems_are_ranked_over_corpora() -> None:
    listed = [
        (corpus(name=f"c{i}"), [run("good", 0.8, seed=i), run("middle", 0.5, seed=i), run("bad", 0.2, seed=i)])
        for i in range(4)
    ]
    found = compare(listed, metrics=["f1@M"], **QUICK)
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


def ranked(corpora: int, **options: Any) -> Comparison:
    """Two systems on some corpora, the first always better."""
    listed = [(corpus(6, f"c{i}"), [run("good", 1.0, 6, seed=i), run("bad", 0.0, 6)]) for i in range(corpora)]
    return compare(listed, metrics=["f1@M"], resamples=9, **options)


def test_two_systems_on_three_corpora_that_agree_have_a_p_of_a_quarter_and_are_not_told_apart() -> None:
    found = ranked(3)
    [ranking] = found.as_dict()["rankings"]
    assert (ranking["p_used"], ranking["f_p"], ranking["smallest_p"]) == (0.25, 0.0, 0.25)
    assert (ranking["critical_difference"], ranking["cliques"]) == (None, [["good", "bad"]])
    assert found.notes[-1] == (
        "ranks of 2 systems on 3 corpora cannot tell any two apart, whatever they are: p is 0.25 at the least"
    )
    text = karat.render(found)
    assert "Friedman p .2500 (exact)" in text
    assert "no two ranks over 3 corpora" in text


def test_two_systems_are_told_apart_by_their_ranks_on_six_corpora_and_not_on_five() -> None:
    five, six = ranked(5), ranked(6)
    assert [each.cliques for each in five.rankings + six.rankings] == [(("good", "bad"),), ()]
    assert any("cannot tell any two apart" in note for note in five.notes)
    assert not any("cannot tell any two apart" in note for note in six.notes)
    assert "ranks less than 1.00 apart (Nemenyi) share a bar" in " ".join(karat.render(six).split())
    assert ranked(5, alpha=0.1).rankings[0].cliques == ()


def test_a_system_without_a_run_on_some_corpus_is_named() -> None:
    runs = [run("x", 0.8, 6), run("y", 0.5, 6, seed=1), run("z", 0.2, 6, seed=2)]
    listed = [(corpus(6, "one"), runs), (corpus(6, "two"), runs[:2]), (corpus(6, "three"), runs[:2])]
    found = compare(listed, metrics=["f1@M"], resamples=9)
    assert found.rankings[0].systems == ("x", "y")
    assert "z has no run on two, three, so it is left out of the ranks over all corpora" in found.notes


def test_a_corpus_on_which_a_metric_is_undefined_is_named_and_ranks_go_by_the_others() -> None:
    def bare(name: str, phrase: str) -> karat.Corpus:
        return karat.Corpus.of([{"id": "0", "text": "a0 is here", "keyphrases": [phrase]}], name=name)

    runs = [karat.Run.of([{"id": "0", "keyphrases": [each]}], name=each) for each in ("a0", "b0")]
    several = [(bare(name, "b0" if name == "none" else "a0"), runs) for name in ("one", "none", "two")]
    found = compare(several, metrics=["r@M:present"], resamples=9)
    assert "r@M:present: undefined on none, which its ranks leave out" in found.notes
    assert [each.friedman.corpora for each in found.rankings] == [2]
    assert compare(several[:2], metrics=["r@M:present"], resamples=9).rankings == ()


def test_what_can_be_found_goes_by_the_documents_on_which_the_metric_is_defined() -> None:
    lists = [{"id": str(i), "text": f"a{i}", "keyphrases": [f"a{i}"] if i % 3 else [f"b{i}"]} for i in range(60)]
    runs = [
        karat.Run.of(
            [{"id": str(i), "keyphrases": [f"a{i}" if (i * step) % 7 < most else "w"]} for i in range(60)], name
        )
        for name, step, most in (("x", 3, 5), ("y", 5, 3))
    ]
    found = compare(karat.Corpus.of(lists, name="made"), *runs, metrics=["f1@M:present"], **QUICK)
    row = first(found)
    x, y = (each.per_document() for each in karat.score(karat.Corpus.of(lists), *runs, metrics=["f1@M:present"]).scores)
    d = (x - y)[~np.isnan(x)]
    assert len(d) == row["n"] == 40
    multiple = stats.t.ppf(0.975, 39) + stats.t.ppf(0.8, 39)
    assert row["detectable"] == pytest.approx(multiple * d.std(ddof=1) / np.sqrt(40), rel=1e-6)
    text = " ".join(karat.render(found).split())
    assert "could have been detected on these 40 documents" in text
    planned = compare(karat.Corpus.of(lists, name="made"), *runs, metrics=["f1@M:present"], difference=0.1, **QUICK)
    needed = int(np.ceil((multiple * d.std(ddof=1) / 0.1) ** 2))
    assert f"{needed} [" in karat.render(planned)


def test_one_sided_tests_ask_whether_the_first_is_higher_or_lower() -> None:
    runs = run("x", 0.6, 12, seed=3), run("y", 0.45, 12, seed=4)
    of = {
        side: first(compare(corpus(12), *runs, metrics=["f1@M"], alternative=side))
        for side in ("two-sided", "greater", "less")
    }
    x, y = (each.per_document() for each in karat.score(corpus(12), *runs, metrics=["f1@M"]).scores)
    for side, row in of.items():
        assert row["tests"]["t"] == pytest.approx(stats.ttest_rel(x, y, alternative=side).pvalue)
        expected = stats.permutation_test(
            (x, y),
            lambda a, b, axis: np.round(np.mean(a - b, axis=axis), 9),
            permutation_type="samples",
            alternative=side,
            vectorized=True,
            n_resamples=np.inf,
        )
        assert row["tests"]["randomisation"] == pytest.approx(expected.pvalue)
        assert row["ci"] == of["two-sided"]["ci"]
    for test, p in of["greater"]["tests"].items():
        assert p < of["two-sided"]["tests"][test] < of["less"]["tests"][test], test
    assert of["greater"]["detectable"] < of["two-sided"]["detectable"]


def test_with_a_baseline_greater_asks_whether_the_other_system_is_higher() -> None:
    good, bad = run("good", 0.8, seed=1), run("bad", 0.2, seed=2)
    for runs in ((good, bad), (bad, good)):
        found = compare(corpus(), *runs, metrics=["f1@M"], baseline="bad", alternative="greater", **QUICK)
        assert (first(found)["a"], first(found)["b"]) == ("good", "bad")
        assert first(found)["tests"]["t"] < 0.001
        assert {each.letters for each in found.standings} == {""}
        assert "one-sided: whether a − b is above 0" in " ".join(karat.render(found).split())


def test_where_lower_is_better_a_note_says_what_one_sided_tests_ask() -> None:
    runs = run("x", 0.6, seed=3), run("y", 0.5, seed=4)
    sides: tuple[tuple[Alternative, str], ...] = (("greater", "worse"), ("less", "better"))
    for side, way in sides:
        found = compare(corpus(), *runs, metrics=["count_mae", "f1@M"], alternative=side, **QUICK)
        [note] = [note for note in found.notes if "lower is better" in note]
        assert note.endswith(f"is {way}")
        assert "f1@M" not in note
    assert not any("lower is" in n for n in compare(corpus(), *runs, metrics=["count_mae"], **QUICK).notes)
    with pytest.raises(karat.InputError, match="unknown value of alternative 'grater'; did you mean 'greater'"):
        compare(corpus(), *runs, alternative="grater")  # type: ignore[arg-type]


def test_a_p_below_what_resamples_can_tell_is_that_of_t_and_marked() -> None:
    runs = run("good", 0.9, seed=1), run("bad", 0.1, seed=2), run("worse", 0.05, seed=3)
    found = compare(corpus(), *runs, metrics=["f1@M"], resamples=999)
    row = first(found)
    assert row["tests"]["randomisation"] == 1 / 1000
    assert row["p"] < 1e-6
    assert row["p"] <= row["p_adjusted"] < 1e-5
    assert row["p_approximate"]
    assert row["p_adjusted_approximate"]
    assert "≈" in karat.render(found, "table")
    assert "no resample was as extreme, so p is that of the t distribution" in " ".join(karat.render(found).split())
    few = compare(corpus(8), run("good", 0.9, 8, seed=1), run("bad", 0.1, 8, seed=2), metrics=["f1@M"], resamples=9)
    assert not few.rows()[0]["p_approximate"]  # all swaps are tried


@pytest.mark.parametrize("missing", ["skip", "common"])
def test_a_system_against_a_part_of_itself_does_not_differ(missing: Missing) -> None:
    part = karat.Run.of(list(run("x", 0.5))[25:], name="part")
    found = compare(corpus(), run("x", 0.5), part, metrics=["f1@M", "words@M"], missing=missing, **QUICK)
    for row in found.rows():
        assert (row["difference"], row["p"], row["p_adjusted"], row["n"]) == (0, 1, 1, 35)
        assert row["value_a"] == row["value_b"]
    assert len({each["value"] for each in found.systems() if each["metric"] == "f1@M"}) == 1
    assert any("part lacks 25 of 60 documents" in note for note in found.notes)
    assert any("only 35 of 60 documents are in all runs; without part there are 60" in note for note in found.notes)


def test_runs_without_common_documents_are_an_error() -> None:
    first_half, second_half = (list(run(name, 0.5)) for name in "xy")
    runs = karat.Run.of(first_half[:30], name="x"), karat.Run.of(second_half[30:], name="y")
    with pytest.raises(karat.InputError, match="the runs have no document in common"):
        compare(corpus(), *runs, metrics=["f1@M"], missing="skip")


def test_metrics_that_are_undefined_on_some_documents_are_compared_on_common_ones() -> None:
    some = karat.Run.of([{"id": str(i), "keyphrases": [f"a{i} b"] if i % 2 else []} for i in range(60)], name="some")
    found = compare(corpus(), run("x", 0.9), some, metrics=["words@M"], **QUICK)
    row = first(found)
    x, y = (each.per_document() for each in karat.score(corpus(), run("x", 0.9), some, metrics=["words@M"]).scores)
    both = ~np.isnan(x) & ~np.isnan(y)
    assert row["n"] == both.sum() < 60
    assert (row["value_a"], row["value_b"]) == pytest.approx((x[both].mean(), y[both].mean()))
    assert f"{x[both].mean():.4f}".lstrip("0") in karat.render(found, "table")


@pytest.mark.parametrize("format", ["table", "md", "html", "latex", "typst", "csv"])
def test_stars_mark_differences_on_request_with_a_legend(format: str) -> None:
    systems = [run(name, share, seed=i) for i, (name, share) in enumerate(zip("xyz", (0.9, 0.5, 0.1), strict=True))]
    starred, plain = (
        karat.render(compare(corpus(), *systems, metrics=["f1@M"], stars=stars), format) for stars in (True, False)
    )
    assert "***" in starred.replace("\\*", "*")
    assert "***" not in plain.replace("\\*", "*")
    if format != "csv":
        assert "at most .001" in " ".join(starred.split()).replace("\\", "")
    if format == "table":
        assert "best†" in starred
        assert "best*" in plain


def test_stars_go_by_the_adjusted_p() -> None:
    systems = [run(name, share, seed=i) for i, (name, share) in enumerate(zip("xyz", (0.7, 0.5, 0.45), strict=True))]
    found = compare(corpus(), *systems, metrics=["f1@M"], stars=True, test="t")
    for pair in found.pairs:
        p = pair.apart.adjusted
        expected = "***" if p <= 0.001 else "**" if p <= 0.01 else "*" if p <= 0.05 else ""
        assert stars_of(found, pair) == expected
    assert len({stars_of(found, pair) for pair in found.pairs}) > 1


names = st.sampled_from("vwxyz")


@settings(max_examples=examples(60))
@given(st.sets(st.frozensets(names, min_size=2, max_size=2)))
def test_systems_share_a_letter_exactly_when_they_do_not_differ(apart: set[frozenset[str]]) -> None:
    found = letters("vwxyz", apart)
    for a, b in combinations("vwxyz", 2):
        assert (not set(found[a]) & set(found[b])) == (frozenset((a, b)) in apart)


def test_extra_references_count_in_comparisons(tmp_path: Path) -> None:
    review = tmp_path / "review.csv"
    review.write_text("id,phrase,accept\n" + "".join(f"{i},new{i},true\n" for i in range(60)), encoding="utf-8")
    hit = karat.Run.of([{"id": str(i), "keyphrases": [f"a{i}", f"new{i}"]} for i in range(60)], name="hit")
    miss = karat.Run.of([{"id": str(i), "keyphrases": [f"a{i}", f"old{i}"]} for i in range(60)], name="miss")
    [plain] = compare(corpus(), hit, miss, metrics=["p@M"], **QUICK).rows()
    assert (plain["value_a"], plain["difference"]) == (0.5, 0.0)
    found = compare(corpus(), hit, miss, metrics=["p@M"], extra_references=review, **QUICK)
    [row] = found.rows()
    assert (row["value_a"], row["difference"]) == (1.0, 0.5)
    assert any("with 60 extra references for 60 documents" in note for note in found.notes)
    scored = karat.score(corpus(), hit, miss, metrics=["p@M"], extra_references=review)
    assert [score.value for score in scored.scores] == [row["value_a"], row["value_b"]]
    with pytest.raises(karat.InputError, match="a review of extra references is of one corpus"):
        compare([(corpus(), [hit, miss]), (corpus(name="b"), [hit, miss])], extra_references=review)
    with pytest.raises(karat.InputError, match="--extra-references adds nothing to"):
        compare(scored, extra_references=review)


def test_differences_that_rest_on_few_documents_and_wilcoxon_have_notes() -> None:
    few = karat.Run.of(
        [{"id": str(i), "keyphrases": [f"a{i}", f"b{i}" if i < 4 else "x"]} for i in range(60)], name="few"
    )
    base = karat.Run.of([{"id": str(i), "keyphrases": [f"a{i}", "x"]} for i in range(60)], name="base")
    notes = compare(corpus(), few, base, metrics=["f1@M"], **QUICK).notes
    assert "differences that rest on fewer than 10 documents have rough intervals: f1@M:all (1 of 1)" in notes
    usual = compare(corpus(), run("good", 0.9, seed=1), base, metrics=["f1@M"], **QUICK).notes
    assert not any("rough intervals" in note or "Wilcoxon" in note for note in usual)
    other = compare(corpus(), run("good", 0.9, seed=1), base, metrics=["f1@M"], test="wilcoxon", **QUICK).notes
    assert "Wilcoxon's test also rejects systems of equal means where differences are skewed" in other
