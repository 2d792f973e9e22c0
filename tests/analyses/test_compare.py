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
from karat.stats.corrections import adjusted
from karat.stats.seeds import seeds_of, two_level
from scipy import stats

import karat
from karat.analyses.compare import compare
from karat.analyses.compare.families import sample_of
from karat.analyses.compare.letters import letters
from karat.analyses.compare.result import Comparison
from karat.analyses.compare.tables import stars as stars_of
from karat.stats.tests import Alternative
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


def test_p_is_adjusted_over_all_comparisons() -> None:
    systems = [run(name, share, seed=i) for i, (name, share) in enumerate(zip("xyz", (0.5, 0.55, 0.7), strict=True))]
    found = compare(corpus(), *systems, metrics=["f1@M"], **QUICK).rows()
    p = sorted(row["tests"]["wilcoxon"] for row in found)
    by_hand = np.maximum.accumulate(np.minimum(np.array(p) * [3, 2, 1], 1.0))
    assert sorted(row["adjusted"]["wilcoxon"] for row in found) == pytest.approx(by_hand.tolist())


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
    p = {
        frozenset((row["a"], row["b"])): row["adjusted"]["randomisation"]
        for row in found.rows()[: len(found.rows()) // 2]
    }
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
    found = compare(corpus(), *SEVEN, metrics=["f1@M", "r@1"], **QUICK)
    assert len(found.rows()) == 2 * 21
    p = sorted(row["tests"]["t"] for row in found.rows())
    by_hand = np.maximum.accumulate(np.minimum(np.array(p) * np.arange(42, 0, -1), 1.0))
    assert sorted(row["adjusted"]["t"] for row in found.rows()) == pytest.approx(by_hand.tolist())
    said = " ".join(karat.render(found, "table", 80).split())
    assert "adjusted over 42 comparisons (Holm), each two systems on each metric, of which the 12 with the best" in said
    one = " ".join(
        karat.render(compare(corpus(), *SEVEN, metrics=["f1@M"], baseline="s4", **QUICK), "table", 80).split()
    )
    assert "adjusted over 6 comparisons (Holm)." in one
    assert "--all-pairs" not in one


@pytest.mark.parametrize(("width", "metrics", "most"), [(80, 2, 30), (80, 9, 50), (160, 9, 30)])
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
    text = karat.report(corpus(), *SEVERAL, resamples=50).html()
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
    assert len(d) == row["n"] == row["effect"]["documents_defined"] == 40
    sd = d.std(ddof=1)
    assert row["effect"]["detectable"] == pytest.approx((1.959964 + 0.841621) * sd / np.sqrt(40), rel=1e-6)
    needed = int(np.ceil(((1.959964 + 0.841621) * sd / d.mean()) ** 2))
    assert row["effect"]["documents_needed"] == needed
    assert row["effect"]["documents_needed_of_corpus"] == int(np.ceil(needed * 60 / 40))
    text = " ".join(karat.render(found).split())
    assert f"could have been found on these 40 documents; one of {d.mean():.4f}".replace(" 0.", " .") in text
    assert f"as found, needs {needed} such documents, {int(np.ceil(needed * 1.5))} with those on which it" in text


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
    assert of["greater"]["effect"]["detectable"] == pytest.approx(
        of["two-sided"]["effect"]["detectable"] * (1.644854 + 0.841621) / (1.959964 + 0.841621), rel=1e-6
    )


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


def test_a_p_on_the_floor_of_its_resamples_is_printed_as_a_bound() -> None:
    runs = run("good", 0.9, seed=1), run("bad", 0.1, seed=2)
    found = compare(corpus(), *runs, metrics=["f1@M", "f1@2"], resamples=999)
    for row in found.rows():
        assert row["tests"]["randomisation"] == row["tests"]["bootstrap"] == 1 / 1000
        assert row["adjusted"]["randomisation"] == 2 / 1000
        assert row["at_floor"] == {"tests": ["randomisation", "bootstrap"], "adjusted": ["randomisation", "bootstrap"]}
    for format in ("table", "md", "html"):
        text = karat.render(found, format)
        assert "≤ .0010" in text, format
        assert "≤ .0020" in text, format
        assert "≤: p is the smallest that the resamples can give, and may be less" in " ".join(text.split()), format
    assert ",0.001,0.002," in karat.render(found, "csv")
    assert ",True,True," in karat.render(found, "csv")
    few = compare(corpus(8), run("good", 0.9, 8, seed=1), run("bad", 0.1, 8, seed=2), metrics=["f1@M"], resamples=9)
    assert few.rows()[0]["at_floor"] == {"tests": ["bootstrap"], "adjusted": ["bootstrap"]}  # all swaps are tried


def test_resamples_are_as_many_as_the_comparisons_take() -> None:
    systems = [run(name, 0.5, 6, seed=i) for i, name in enumerate("abcdefg")]
    metrics = [f"{metric}@{k}" for metric in ("p", "r", "f1") for k in (1, 2, 3)]
    assert compare(corpus(6), *systems, metrics=metrics).options.resamples == 15_120  # 4 · 189 / .05
    assert compare(corpus(6), *systems, metrics=metrics, baseline="a").options.resamples == 10_000
    assert compare(corpus(6), *systems[:2], metrics=["f1@M"], alpha=0.0001).options.resamples == 40_000
    given_so = compare(corpus(6), *systems, metrics=metrics, resamples=500)
    assert given_so.options.resamples == 500
    assert "500 resamples cannot give a p below 0.3772 over 189 comparisons: take 3,779 or more" in given_so.notes


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
        p = pair.adjusted["t"]
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
