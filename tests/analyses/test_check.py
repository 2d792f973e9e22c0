"""Results are a gate: floors, ceilings, and older results that must not be significantly better."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import karat
from karat.analyses.check import metric_text
from karat.metrics.base import Rows, parse_request
from karat.output import render
from karat.results import Part, Results, Score
from karat.tabular import p_value
from tests.forked import command

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "cli" / "golden"
DATA = ROOT / "tests" / "golden"
SIGNATURES = {"karat": "karat,average=mean-of-f,hash=1,karat=0", "chan2019": "chan2019,hash=1,karat=0"}


def score(values: list[float], metric: str = "f1@M:present/mean-of-f", **names: str) -> Score:
    """A score whose documents have these values, as precision and as recall where F1 is of their means."""
    width = 2 if metric.endswith("f-of-means") else 1
    rows = np.array([[0.0] * (width + 1) if value != value else [value] * width + [1.0] for value in values])
    named = {"corpus": "made", "system": "t5", "protocol": "karat"} | names
    return Score(named["corpus"], named["system"], named["protocol"], parse_request(metric), Rows(rows))


def results(*scores: Score) -> Results:
    ids = tuple(f"d{i}" for i in range(len(scores[0].rows.values)))
    return Results(scores, ids, {score.protocol: SIGNATURES[score.protocol] for score in scores})


def falling(documents: int, by: float = 0.5, metric: str = "f1@M:present/mean-of-f") -> tuple[Score, Score]:
    """(new, old) of ten documents, of which some are worse now and the others as they were."""
    old = [0.8] * 10
    return score([v - by * (i < documents) for i, v in enumerate(old)], metric), score(old, metric)


# ---------------------------------------------------------------------------------------------- bounds


def test_a_floor_that_is_reached_passes_and_one_that_is_missed_is_said() -> None:
    found = karat.check(results(score([0.2, 0.4])), minimum={"f1@M:present": 0.3})
    assert found.passed
    assert found.failures == []
    missed = karat.check(results(score([0.2, 0.4])), minimum={"f1@M:present": 0.3001})
    assert not missed.passed
    assert missed.failures == ["t5: f1@M:present/mean-of-f under karat is .3000, below .3001"]


def test_as_many_digits_are_shown_as_tell_the_two_apart() -> None:
    [said] = karat.check(results(score([0.34168])), minimum={"f1@M:present": 0.34173}).failures
    assert said.endswith("is .34168, below .34173")


def test_a_ceiling_is_for_what_is_better_when_lower() -> None:
    one = results(score([1.0, 3.0], "count_mae:present/mean"))
    assert karat.check(one, maximum={"count_mae:present": 2}).passed
    [said] = karat.check(one, maximum={"count_mae:present": 1.9}).failures
    assert said == "t5: count_mae:present/mean under karat is 2.0000, above 1.9000"
    with pytest.raises(karat.InputError, match="better the lower it is: give --max"):
        karat.check(one, minimum={"count_mae:present": 2})
    with pytest.raises(karat.InputError, match="better the higher it is: give --min"):
        karat.check(results(score([0.3])), maximum={"f1@M:present": 0.5})


def test_every_system_and_protocol_must_pass_unless_some_are_named() -> None:
    both = results(
        score([0.5]), score([0.1], system="weak"), score([0.2], "f1@M:present/f-of-means", protocol="chan2019")
    )
    floor = {"f1@M:present": 0.3}
    assert [row["system"] for row in karat.check(both, minimum=floor).rows() if not row["passed"]] == ["weak", "t5"]
    assert karat.check(both, minimum=floor, systems=["t5"], protocols=["karat"]).passed
    assert not karat.check(both, minimum=floor, systems=["t5"]).passed


def test_a_metric_without_an_average_is_in_that_of_its_protocol() -> None:
    averages = results(score([0.5]), score([0.1], "f1@M:present/f-of-means"))
    assert [row["average"] for row in karat.check(averages, minimum={"f1@M:present": 0.3}).rows()] == ["mean-of-f"]
    assert not karat.check(averages, minimum={"f1@M:present/f-of-means": 0.3}).passed


def test_an_undefined_score_reaches_no_floor() -> None:
    [said] = karat.check(results(score([float("nan")])), minimum={"f1@M:present": 0.0}).failures
    assert "is undefined" in said


def test_a_fitted_cutoff_is_found_as_it_was_asked_for() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "a", "keyphrases": ["a"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["a"]}], name="r")
    found = karat.score(corpus, run, metrics=["f1@V"])
    assert karat.check(found, minimum={"f1@V": 1.0}, no_worse_than=found).passed


# ---------------------------------------------------------------------------------------------- older results


@pytest.mark.parametrize(("documents", "p", "passes"), [(5, 2 / 32, True), (6, 2 / 64, False), (7, 2 / 128, False)])
def test_a_drop_fails_when_chance_does_not_explain_it(documents: int, p: float, passes: bool) -> None:
    """By hand: of n documents that all fell alike, 2 of the 2ⁿ swaps are as extreme, so that p is 2/2ⁿ."""
    new, old = falling(documents)
    found = karat.check(results(new), no_worse_than=results(old))
    [row] = found.rows()
    assert row["p"] == row["adjusted"] == pytest.approx(p)
    assert row["difference"] == pytest.approx(-0.05 * documents)
    assert found.passed is passes
    if not passes:
        [said] = found.failures
        assert said.startswith("t5: f1@M:present/mean-of-f under karat fell from .8000 to .")
        assert f"adjusted p {p_value(p)}" in said


def test_p_is_adjusted_over_all_metrics_that_both_hold() -> None:
    """By hand: 2/64 of each of two metrics becomes 4/64 by Holm, above .05; with one at 2/128 that one fails."""
    pairs = [falling(6), falling(6, metric="f1@M:absent/mean-of-f")]
    found = karat.check(results(*(new for new, _ in pairs)), no_worse_than=results(*(old for _, old in pairs)))
    assert [row["adjusted"] for row in found.rows()] == pytest.approx([4 / 64, 4 / 64])
    assert found.passed
    pairs[1] = falling(7, metric="f1@M:absent/mean-of-f")
    found = karat.check(results(*(new for new, _ in pairs)), no_worse_than=results(*(old for _, old in pairs)))
    assert [row["adjusted"] for row in found.rows()] == pytest.approx([2 / 64, 4 / 128])
    assert [row["passed"] for row in found.rows()] == [False, False]
    plain = karat.check(
        results(*(new for new, _ in pairs)), no_worse_than=results(*(old for _, old in pairs)), correction="none"
    )
    assert [row["adjusted"] for row in plain.rows()] == pytest.approx([2 / 64, 2 / 128])


def test_p_is_adjusted_over_systems_too() -> None:
    new, old = falling(6)
    both = [results(one, replace(one, system="other")) for one in (new, old)]
    found = karat.check(both[0], no_worse_than=both[1])
    assert [row["adjusted"] for row in found.rows()] == pytest.approx([4 / 64, 4 / 64])
    assert not karat.check(both[0], no_worse_than=both[1], systems=["t5"]).passed


def test_a_significant_rise_passes() -> None:
    old, new = falling(7)
    found = karat.check(results(new), no_worse_than=results(old))
    assert found.rows()[0]["adjusted"] == pytest.approx(2 / 128)
    assert found.passed


def test_what_is_better_when_lower_fails_when_it_rises() -> None:
    low, high = falling(7, metric="count_mae:present/mean")
    assert karat.check(results(low), no_worse_than=results(high)).passed
    [said] = karat.check(results(high), no_worse_than=results(low)).failures
    assert "rose from .4500 to .8000" in said


def test_alpha_decides() -> None:
    new, old = falling(5)
    assert not karat.check(results(new), no_worse_than=results(old), alpha=0.0626).passed
    assert karat.check(results(new), no_worse_than=results(old), alpha=0.0624).passed


def test_results_are_no_worse_than_themselves() -> None:
    new, _ = falling(5)
    found = karat.check(results(new), no_worse_than=results(new))
    assert found.passed
    assert found.rows()[0]["adjusted"] == 1.0


def test_a_system_alone_in_both_files_may_have_another_name_and_so_may_the_corpus() -> None:
    new, old = falling(6)
    found = karat.check(results(new), no_worse_than=results(replace(old, system="t5-old", corpus="before")))
    assert [(row["system"], row["corpus"]) for row in found.rows()] == [("t5", "made")]
    assert not found.passed


def test_seeds_of_a_system_are_compared_together() -> None:
    new, old = falling(8)
    seeds = [results(replace(one, system="t5#1"), replace(one, system="t5#2")) for one in (new, old)]
    found = karat.check(seeds[0], no_worse_than=seeds[1], resamples=500)
    [row] = found.rows()
    assert row["system"] == "t5"
    assert not found.passed
    assert row["test"] == "two_level_t"
    named = "two-level t over seeds and documents"
    assert f"tested by {named}, since randomisation does not apply: f1@M:present/mean-of-f" in found.notes
    assert f"p: {named}, two-sided" in karat.render(found, "table").replace("\n  ", " ")


def test_what_one_side_lacks_or_has_no_better_way_is_noted() -> None:
    new, old = falling(3)
    extra = score([0.5] * 10, "p@5/mean")
    found = karat.check(results(new, extra), no_worse_than=results(old))
    assert found.notes == ("t5: not compared, since it is not in the older results: p@5:all/mean",)


def test_with_a_margin_a_drop_must_be_ruled_out() -> None:
    draw = np.random.default_rng(5)
    old = draw.uniform(0.2, 0.8, 60)
    noisy, close = old + draw.normal(0, 0.2, 60), old + draw.normal(0, 0.005, 60)
    kept = karat.check(results(score(close.tolist())), no_worse_than=results(score(old.tolist())), margin=0.01)
    assert kept.passed
    blind = karat.check(results(score(noisy.tolist())), no_worse_than=results(score(old.tolist())), margin=0.01)
    assert not blind.passed
    assert "a drop of 0.01 cannot be ruled out" in blind.failures[0]
    [row] = kept.rows()
    d = close - old
    assert row["p"] == pytest.approx(stats.ttest_1samp(d + 0.01, 0, alternative="greater").pvalue, rel=0.1)
    assert row["detectable"] == pytest.approx(2.84 * d.std(ddof=1) / np.sqrt(60), rel=0.05)


def test_equal_scores_are_unchanged_and_the_bound_is_named() -> None:
    same = results(score([0.2, 0.4, 0.6]))
    [said] = karat.check(same, no_worse_than=same, margin=0.01).failures
    assert said.startswith(
        "t5: f1@M:present/mean-of-f under karat is unchanged at .4000: the bound of an equal pair over 3"
    )
    assert "documents is wider than the margin of 0.01 (adjusted p .9703)" in said
    turned = results(score([0.6, 0.4, 0.2]))
    [other] = karat.check(turned, no_worse_than=same, margin=0.01).failures
    assert "is unchanged at .4000: a drop of 0.01 cannot be ruled out" in other


# ---------------------------------------------------------------------------------------------- what cannot be checked


def test_what_cannot_be_checked_is_said() -> None:
    one = results(score([0.3] * 10))
    for options, said in (
        ({}, "nothing to check"),
        ({"minimum": {"f1@5:present": 0.3}}, "unknown metric 'f1@5:present'; did you mean 'f1@M:present/mean-of-f'"),
        ({"minimum": {"g1@5": 0.3}}, "unknown metric 'g1'"),
        ({"minimum": {"f1@M:present": 34}}, "f1 lies between 0 and 1"),
        ({"minimum": {"f1@M:present": 0.3}, "systems": ["T5"]}, "unknown system 'T5'; did you mean 't5'"),
        ({"minimum": {"f1@M:present": 0.3}, "protocols": ["carat"]}, "unknown protocol 'carat'; did you mean 'karat'"),
        ({"minimum": {"f1@M:present": 0.3}, "alpha": 2}, "alpha is a number above 0 and below 1"),
        ({"minimum": {"f1@M:present": 0.3}, "margin": np.inf}, "margin is a finite number above 0, not inf"),
        ({"minimum": {"f1@M:present": 0.3}, "margin": 0.0}, "margin is a number above 0, not 0.0"),
        ({"minimum": {"f1@M:present": 0.3}, "test": "z"}, "unknown value of test 'z'"),
    ):
        with pytest.raises(karat.InputError) as error:
            karat.check(one, **options)
        assert said in str(error.value)


def test_older_results_of_something_else_are_refused() -> None:
    one = results(score([0.3] * 10))
    other_hash = replace(one, signatures={"karat": SIGNATURES["karat"].replace("hash=1", "hash=2")})
    for old, said in (
        (results(score([0.3] * 9)), "not of the same documents: 'd9' is in one of them only"),
        (other_hash, "different signatures: hash=1 and hash=2"),
        (results(score([0.3] * 10, "r@M/mean")), "no score of t5 is also in the results (there are: r@M:all"),
        (results(score([0.3] * 10, system="a"), score([0.3] * 10, system="b")), "unknown system 't5' (known: a, b)"),
        (replace(one, part=Part(2, 3)), "of the shard 2/3; merge the shards first"),
        (replace(one, scores=()), "there is no score to check"),
    ):
        with pytest.raises(karat.InputError) as error:
            karat.check(one, no_worse_than=old)
        assert said in str(error.value)


def test_a_metric_is_told_as_it_can_be_asked_for() -> None:
    for text in ("f1@5:present/micro", "r@M:all/mean", "alpha_ndcg:absent/mean,alpha=0.3"):
        assert metric_text(parse_request(text)) == text
        assert parse_request(metric_text(parse_request(text))) == parse_request(text)


# ---------------------------------------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a better and a worse run, and damaged ones."""
    place = tmp_path_factory.mktemp("checked")
    for name, run in (("new", "alpha"), ("old", "beta")):
        system = karat.read_run(f"t5={DATA / f'synthetic.{run}.jsonl'}")
        metrics = ["f1@M:present", "f1@M:absent", "count_mae:present"]
        karat.score(DATA / "synthetic.corpus.jsonl", system, metrics=metrics).save(place / f"{name}.karat")
    (place / "damaged.karat").write_bytes((place / "new.karat").read_bytes()[:500])
    (place / "text.karat").write_text("no results")
    return place


CHECK = ("results", "check")
COMMANDS = {
    "check.txt": ("new.karat", "--min", "f1@M:present=.6", "--no-worse-than", "old.karat"),
    "check.md": ("new.karat", "--min", "f1@M:absent=.4", "--max", "count_mae:present=1", "-f", "md"),
    "check.tex": ("new.karat", "--no-worse-than", "old.karat", "--test", "wilcoxon", "-f", "latex"),
    "check.csv": ("new.karat", "--no-worse-than", "old.karat", "--correction", "none", "-f", "csv"),
    "check.json": ("new.karat", "--min", "f1@M:present=.6", "-f", "json"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_prints_what_was_reviewed(folder: Path, name: str) -> None:
    done = command(folder, *CHECK, *COMMANDS[name])
    assert (done.returncode, done.stderr) == (0, "")
    if os.environ.get("KARAT_REWRITE"):
        (GOLDEN / name).write_text(done.stdout, encoding="utf-8")
    assert done.stdout == (GOLDEN / name).read_text(encoding="utf-8")
    assert [line for line in done.stdout.splitlines() if len(line) > 80 and name.endswith(".txt")] == []


def test_a_gate_that_fails_ends_with_1_and_a_sentence_for_each_failure(folder: Path) -> None:
    done = command(folder, *CHECK, "old.karat", "--min", "f1@M:present=.6", "--no-worse-than", "new.karat", "-q")
    assert done.returncode == 1
    said = done.stderr.splitlines()
    assert len(said) == 4
    assert said[0] == "karat: t5: f1@M:present/mean-of-f under karat is .5526, below .6000"
    assert all(line.startswith("karat: t5: ") for line in said)
    assert "4 of 4 checks fail" in done.stdout


def test_a_failing_gate_still_writes_its_file(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "gate.json"
    done = command(folder, *CHECK, "new.karat", "--min", "f1@M:present=.9", "-o", str(out))
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads(out.read_text())["passed"] is False


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("new.karat",), "nothing to check"),
        (("new.karat", "--min", "f1@M:present"), "write METRIC=VALUE, as f1@M:present=.3"),
        (("new.karat", "--min", "f1@M:present=high"), "write METRIC=VALUE"),
        (("new.karat", "--min", "f1@M:present=nan"), "write METRIC=VALUE"),
        (("new.karat", "--min", "=.3"), "write METRIC=VALUE"),
        (("new.karat", "--min", "f1@M:present=.3", "--min", "f1@M:present=.4"), "f1@M:present is given twice"),
        (("new.karat", "--min", "f1@5:present=.3"), "new.karat: unknown metric 'f1@5:present'; did you mean"),
        (("new.karat", "--no-worse-than", "nothing.karat"), "nothing.karat: there is no such file"),
        (("new.karat", "--no-worse-than", "damaged.karat"), "damaged.karat: not a .karat file, or damaged"),
        (("text.karat", "--min", "f1@M:present=.3"), "text.karat: not a .karat file, or damaged"),
        (("new.karat", "--min", "f1@M=.3", "-o", "gate.karat"), "this verb writes no .karat file"),
    ],
)
def test_bad_input_ends_with_2_and_one_sentence(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = command(folder, *CHECK, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("karat: ")
    assert said in line


def test_the_json_is_the_row_of_python(folder: Path) -> None:
    done = command(folder, *CHECK, "new.karat", "--no-worse-than", "old.karat", "-f", "json")
    found: Any = karat.check(folder / "new.karat", no_worse_than=folder / "old.karat")
    assert json.loads(done.stdout) == found.as_dict()
    assert render(found, "json") == done.stdout
