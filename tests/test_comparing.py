"""Comparing systems: the number tested is the number printed, whoever is named first."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import karat
from karat.comparing import Comparison, compare, compare_corpora, letters
from karat.report.comparisons import stars as stars_of
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


def ranked(corpora: int, **options: Any) -> Comparison:
    """Two systems on some corpora, the first always better."""
    listed = [(corpus(6, f"c{i}"), [run("good", 1.0, 6, seed=i), run("bad", 0.0, 6)]) for i in range(corpora)]
    return compare_corpora(listed, metrics=["f1@M"], resamples=9, **options)


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
    found = compare_corpora(listed, metrics=["f1@M"], resamples=9)
    assert found.rankings[0].systems == ("x", "y")
    assert "z has no run on two, three, so it is left out of the ranks over all corpora" in found.notes


def test_a_corpus_on_which_a_metric_is_undefined_is_named_and_ranks_go_by_the_others() -> None:
    def bare(name: str, phrase: str) -> karat.Corpus:
        return karat.Corpus.of([{"id": "0", "text": "a0 is here", "keyphrases": [phrase]}], name=name)

    runs = [karat.Run.of([{"id": "0", "keyphrases": [each]}], name=each) for each in ("a0", "b0")]
    several = [(bare(name, "b0" if name == "none" else "a0"), runs) for name in ("one", "none", "two")]
    found = compare_corpora(several, metrics=["r@M:present"], resamples=9)
    assert "r@M:present: undefined on none, which its ranks leave out" in found.notes
    assert [each.friedman.corpora for each in found.rankings] == [2]
    assert compare_corpora(several[:2], metrics=["r@M:present"], resamples=9).rankings == ()


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
    for side, way in (("greater", "worse"), ("less", "better")):
        found = compare(corpus(), *runs, metrics=["count_mae", "f1@M"], alternative=side, **QUICK)
        [note] = [note for note in found.notes if "lower is better" in note]
        assert note.endswith(f"is {way}")
        assert "f1@M" not in note
    assert not any("lower is" in n for n in compare(corpus(), *runs, metrics=["count_mae"], **QUICK).notes)
    with pytest.raises(karat.InputError, match="unknown alternative 'grater'; did you mean 'greater'"):
        compare(corpus(), *runs, alternative="grater")


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
        assert "† best" in starred
        assert "* best" in plain


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
