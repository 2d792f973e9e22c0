"""Figures of a paper are computed again, and the protocol that gives them is named."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from math import isnan, pi, sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.analyses.reproduce import coefficient_of_variation, gives
from karat.output import render
from karat.protocol import change, published
from tests import forked

DATA = Path(__file__).parents[1] / "golden"
SYNTHETIC = [DATA / f"synthetic.{name}.jsonl" for name in ("corpus", "alpha", "beta")]
ONLY_PUBLISHED = len(published())
QUICK: dict[str, Any] = {"resamples": 200}

# By hand, for the run below: P is 1 and 1, R is 1/4 and 1, F is .4 and 1. The mean of F is .7, F of the means 1 and
# .625 is .76923; together there are 2 hits of 2 predictions and 5 references, so that micro F is .57143.
CORPUS = karat.Corpus.of(
    [
        {"id": "1", "text": "a b c d", "keyphrases": ["a", "b", "c", "d"]},
        {"id": "2", "text": "e f", "keyphrases": ["e"]},
    ],
    name="made",
)
SHORT = karat.Run.of([{"id": "1", "keyphrases": ["a"]}, {"id": "2", "keyphrases": ["e"]}], name="short")
MEAN_OF_F, F_OF_MEANS, MICRO = 0.7, 2 * 0.625 / 1.625, 2 * 0.4 / 1.4


def figure(value: float | str, metric: str = "f1@M", **fields: Any) -> dict[str, Any]:
    return {"metric": metric, "value": value, **fields}


def first(reported: Sequence[dict[str, Any]], **options: Any) -> dict[str, Any]:
    return karat.reproduce(CORPUS, SHORT, reported=reported, **(QUICK | options)).rows()[0]


def named(row: dict[str, Any]) -> list[tuple[str, str]]:
    return [(candidate["protocol"], candidate["average"]) for candidate in row["candidates"]]


# ---------------------------------------------------------------------------------------------- Belz's coefficient


@pytest.mark.parametrize(
    ("measured", "printed"),
    [
        ([84.51, 84.50, 87.46, 85.60, 84.20, 86.61, 86.20], 1.562),
        ([30.65, 30.65, 29.13, 30.65, 29.96], 2.487),
        ([87.50, 80.75, 89.36, 88.10, 89.64, 88.80], 4.176),
        ([31.11, 30.28, 31.11, 29.12], 3.572),
    ],
)
def test_the_coefficient_of_variation_is_that_of_belz_and_others_2022_table_4(
    measured: list[float], printed: float
) -> None:
    assert round(coefficient_of_variation(measured), 3) == printed


@given(st.floats(0.01, 1), st.floats(0.01, 1))
def test_of_two_values_it_is_what_paper_and_pencil_give(a: float, b: float) -> None:
    """s is |a − b|/√2 and c₄(2) is √(2/π), so that CV* is 1.125 · 100 · (|a − b| √π / 2) / ((a + b) / 2)."""
    by_hand = 112.5 * sqrt(pi) * abs(a - b) / (a + b)
    assert coefficient_of_variation([a, b]) == pytest.approx(by_hand, rel=1e-9, abs=1e-9)


def test_it_is_undefined_of_one_value_and_of_a_mean_of_zero() -> None:
    assert isnan(coefficient_of_variation([0.3]))
    assert isnan(coefficient_of_variation([]))
    assert isnan(coefficient_of_variation([0.0, 0.0]))


# ---------------------------------------------------------------------------------------------- printed digits


@pytest.mark.parametrize(
    ("value", "reported", "digits", "how"),
    [
        (0.33989, 0.340, 3, "rounded"),
        (0.3405, 0.340, 3, "rounded"),  # a half goes to the even digit
        (0.3405, 0.341, 3, "rounded"),  # or up
        (0.3408, 0.340, 3, "truncated"),
        (0.3410, 0.340, 3, None),
        (0.33949, 0.340, 3, None),
        (0.3408, 0.34, 2, "rounded"),
        (-0.0008, 0.0, 2, "rounded"),
        (-0.128, -0.12, 2, "truncated"),
        (0.7, 1.0, 0, "rounded"),
    ],
)
def test_a_value_gives_printed_digits_rounded_or_cut_off(
    value: float, reported: float, digits: int, how: str | None
) -> None:
    assert gives(value, reported, digits) == how


@given(st.integers(0, 10**9), st.integers(1, 6))
def test_whatever_is_rounded_or_cut_off_is_given(billionths: int, digits: int) -> None:
    value, unit = billionths / 10**9, 10 ** (9 - digits)
    assert gives(value, round(value, digits), digits) == "rounded"
    assert gives(value, billionths // unit / 10**digits, digits) in ("rounded", "truncated")
    assert gives(value, (billionths // unit + 2) / 10**digits, digits) is None


# ---------------------------------------------------------------------------------------------- rows


def test_a_row_says_how_far_report_and_recomputed_value_are_apart() -> None:
    row = first([figure(0.769, subset="present")])
    names = "corpus system metric options subset average reported digits recomputed difference ci inside cv candidates"
    assert list(row) == names.split()
    assert (row["corpus"], row["system"], row["metric"], row["subset"]) == ("made", "short", "f1@M", "present")
    assert row["recomputed"] == pytest.approx(MEAN_OF_F)
    assert row["difference"] == pytest.approx(0.769 - MEAN_OF_F)
    assert row["cv"] == pytest.approx(112.5 * sqrt(pi) * (0.769 - MEAN_OF_F) / (0.769 + MEAN_OF_F))
    assert row["ci"][0] <= row["recomputed"] <= row["ci"][1]
    assert row["inside"] is (row["ci"][0] <= 0.769 <= row["ci"][1])


def test_the_interval_is_that_of_compare() -> None:
    options: dict[str, Any] = {"resamples": 500, "seed": 3, "level": 0.9}
    beside = karat.compare(*SYNTHETIC, metrics=["f1@5:present"], protocol="chan2019", **options)
    reported = [figure(0.6, "f1@5", subset="present")]
    found = karat.reproduce(*SYNTHETIC[:2], reported=reported, protocol="chan2019", budget=0, **options).rows()[0]
    standing = beside.systems()[0]
    assert found["recomputed"] == pytest.approx(standing["value"], abs=1e-12)
    assert found["ci"] == pytest.approx(standing["ci"], abs=1e-12)
    assert found["candidates"] == []


def test_a_report_outside_the_interval_is_called_that() -> None:
    reported = [figure(value, "f1@M", subset="present") for value in (0.64, 0.55)]
    rows = karat.reproduce(*SYNTHETIC[:2], reported=reported, budget=0, **QUICK).rows()
    assert [row["inside"] for row in rows] == [True, False]


# ---------------------------------------------------------------------------------------------- candidates


def test_the_average_that_gives_the_figure_is_named() -> None:
    rows = karat.reproduce(
        CORPUS, SHORT, reported=[figure(0.7692), figure(0.5714), figure(0.7000, digits=4)], **QUICK
    ).rows()
    assert ("karat,average=f-of-means", "f-of-means") in named(rows[0])
    assert ("kpdrop2022", "f-of-means") in named(rows[0])
    assert ("karat", "micro") in named(rows[1])
    assert named(rows[2])[0] == ("karat", "mean-of-f")
    assert {candidate["how"] for row in rows for candidate in row["candidates"]} == {"rounded"}


def test_a_figure_in_a_named_average_is_looked_for_in_that_one_alone() -> None:
    row = first([figure(0.7692, "f1@M/micro")])
    assert row["recomputed"] == pytest.approx(MICRO)
    assert {average for _, average in named(row)} == {"micro"}
    assert {candidate["how"] for candidate in row["candidates"]} == {"nearest"}


def test_digits_that_were_cut_off_are_marked() -> None:
    [candidate, *_] = first([figure(0.76)], protocol="karat,average=f-of-means", budget=1)["candidates"]
    assert candidate == {
        "protocol": "karat,average=f-of-means",
        "average": "f-of-means",
        "value": pytest.approx(F_OF_MEANS),
        "how": "truncated",
    }


def test_published_protocols_come_before_changed_ones() -> None:
    own = {(str(protocol), protocol.counting.average) for protocol in published()}
    told = named(first([figure(0.7)]))
    plain = [each for each in told if each in own]
    assert told[: len(plain)] == plain
    assert 3 < len(plain) < len(told)


def test_a_change_that_changes_nothing_is_not_told() -> None:
    row = first([figure(0.7000, digits=4)])
    for name, _ in named(row):
        if name not in map(str, published()):
            base = next(str(p) for p in published() if name.startswith(str(p).split(",")[0]))
            own = karat.score(CORPUS, SHORT, metrics=["f1@M"], protocol=[base, name]).rows()
            assert own[0]["value"] != own[1]["value"], name


def test_every_candidate_is_what_score_gives() -> None:
    found = karat.reproduce(*SYNTHETIC[:2], reported=[figure("0.64", "f1@5", subset="present")], budget=600, **QUICK)
    [row] = found.rows()
    assert len(row["candidates"]) > 3
    for candidate in row["candidates"]:
        asked = f"f1@5:present/{candidate['average']}"
        again = karat.score(*SYNTHETIC[:2], metrics=[asked], protocol=candidate["protocol"]).rows()[0]
        assert again["value"] == candidate["value"]


def test_the_script_that_printed_a_figure_is_named() -> None:
    """The figures are what the original scripts print, four and more digits of each."""
    lines = [json.loads(line) for line in (DATA / "figures.jsonl").read_text().splitlines()]
    own = [
        line
        for line in lines
        if (line["corpus"], line["system"]) == ("synthetic", "alpha")
        and line["metric"] in ("f1@5", "f1@M")
        and line["subset"] in ("present", "absent")
        and line["protocol"] in map(str, published())
    ]
    assert len(own) > 40
    assert len({line["protocol"] for line in own}) >= 7
    for line in own:
        line["value"] = f"{line['value']:.4f}"
    reported = [{name: line[name] for name in ("metric", "subset", "value")} for line in own]
    found = karat.reproduce(*SYNTHETIC[:2], reported=reported, budget=100, **QUICK)
    for line, row in zip(own, found.rows(), strict=True):
        protocol = karat.parse_protocol(line["protocol"])
        if line["average"] != "micro":
            protocol = change(protocol, average=line["average"])
        assert (str(protocol), line["average"]) in named(row), line


def test_a_budget_bounds_what_is_tried() -> None:
    few, all_published, more = (
        karat.reproduce(CORPUS, SHORT, reported=[figure(0.7)], budget=budget, **QUICK)
        for budget in (3, ONLY_PUBLISHED, 40)
    )
    assert few.tried == (3, 0, 0)
    assert all_published.tried == (ONLY_PUBLISHED, 0, 0)
    assert more.tried == (ONLY_PUBLISHED, 40 - ONLY_PUBLISHED, 0)
    assert more.as_dict()["tried"] == 40
    everything = karat.reproduce(CORPUS, SHORT, reported=[figure(0.7)], **QUICK)
    assert everything.tried[0] == ONLY_PUBLISHED
    assert everything.tried[1] > 100
    assert everything.tried[2] > 200


def test_the_chosen_protocol_is_tried_too() -> None:
    found = karat.reproduce(
        CORPUS, SHORT, reported=[figure(0.7692)], protocol="karat,average=f-of-means,limit=3", budget=1, **QUICK
    )
    assert named(found.rows()[0]) == [("karat,limit=3,average=f-of-means", "f-of-means")]


def test_a_signature_is_a_protocol_with_its_reference_set() -> None:
    corpus = karat.Corpus.of(
        [{"id": "1", "text": "a b", "keyphrases": ["x"], "reference_sets": {"author": ["a"]}}], name="sets"
    )
    run = karat.Run.of([{"id": "1", "keyphrases": ["a"]}], name="r")
    signature = karat.score(corpus, run, metrics=["f1@M"], references="author").signatures["karat"]
    row = karat.reproduce(corpus, run, reported=[figure("1.00")], protocol=signature, budget=3, **QUICK).rows()[0]
    assert row["recomputed"] == 1.0
    assert named(row)[0] == ("karat", "mean-of-f")


# ---------------------------------------------------------------------------------------------- what is reported


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.jsonl", '{"metric": "f1@M", "subset": "present", "value": 0.700}\n'),
        ("r.jsonl", '{"metric": "f1@M:present", "value": "0.700"}\n'),
        ("r.jsonl", '{"metric": "f1@M:present", "value": 0.7, "digits": 3}\n'),
        ("r.json", '[{"metric": "f1@M", "subset": "present", "value": 0.700}]'),
        ("r.csv", "metric,subset,value,digits\nf1@M,present,.700,\n"),
        ("r.csv", "metric;subset;value\nf1@M;present;.700\n"),
        ("r.tsv", "metric\tsubset\tvalue\tdigits\nf1@M\tpresent\t.7\t3\n"),
    ],
)
def test_figures_are_read_with_the_digits_they_are_written_with(tmp_path: Path, name: str, text: str) -> None:
    row = karat.reproduce(CORPUS, SHORT, reported=written(tmp_path, name, text), budget=1, **QUICK).rows()[0]
    assert (row["reported"], row["digits"], row["subset"]) == (0.7, 3, "present")


def test_percentages_are_shares_with_two_more_digits() -> None:
    row = first([figure("76.9")], percent=True)
    assert (row["reported"], row["digits"]) == (0.769, 3)
    assert ("karat,average=f-of-means", "f-of-means") in named(row)


def test_a_metric_that_is_no_share_stays_as_it_is_under_percent() -> None:
    row = first([figure("1.5", "count_mae")], percent=True)
    assert (row["reported"], row["digits"]) == (1.5, 1)
    assert row["recomputed"] == pytest.approx(1.5)  # 1 prediction for 4 references, 1 for 1


@pytest.mark.parametrize(
    ("reported", "said"),
    [
        ([figure(34.2)], "between 0 and 1, where f1 lies; if it is in percent, give --percent"),
        ([figure(-0.1)], "between 0 and 1"),
        ([figure(0.3, "ncdg@5")], "figure 1: unknown metric 'ncdg'; did you mean 'ndcg'"),
        ([figure(0.3), figure(0.3, "f1")], "figure 2: metric 'f1' needs a cutoff"),
        ([figure(0.3, subset="presnt")], "unknown subset 'presnt'; did you mean 'present'"),
        ([figure(0.3, "f1@M:absent", subset="present")], "write one of them"),
        ([figure("x")], "the value 'x' is not a number"),
        ([figure("nan")], "is not a number"),
        ([figure(True)], "is not a number"),
        ([{"metric": "f1@M"}], "no value"),
        ([{"value": 0.3}], "no metric"),
        ([figure(0.3417, digits=3)], "more decimals than its digits, 3"),
        ([figure(0.3, digits=-1)], "digits is a whole number from 0 to 12"),
        ([], "there are no figures"),
        ([figure(0.3, system="shrt")], "unknown system 'shrt'; did you mean 'short'"),
        ([figure(0.3, corpus="mode")], "unknown corpus 'mode'; did you mean 'made'"),
    ],
)
def test_a_report_that_cannot_be_used_is_refused_in_a_sentence(reported: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(karat.InputError) as error:
        karat.reproduce(CORPUS, SHORT, reported=reported, **QUICK)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("r.jsonl", "", "the file is empty"),
        ("r.csv", "", "the file is empty"),
        ("r.csv", "metric,value\n", "there are no figures in it"),
        ("r.json", "[]", "there are no figures in it"),
        ("r.csv", "metric,value\nf1@M,.3\nf1@M,high\n", "r.csv:3: the value 'high' is not a number"),
        ("r.jsonl", '{"metric": "f1@M", "value": 0.3}\n{"metric": "f1@M", "value": }\n', "r.jsonl:2: not JSON"),
        ("r.jsonl", '{"metric": "f1@M", "value": 1e999}\n', "is not a number"),
        ("r.jsonl", '{"metric": ["f1@M"], "value": 0.3}\n', "metric is a string"),
        ("r.csv", "metric,value\nf1@M\n", "r.csv:2: 1 cells, but the header has 2"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(karat.InputError) as error:
        karat.reproduce(CORPUS, SHORT, reported=written(tmp_path, name, text), **QUICK)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"level": 1.5}, "level is a number above 0 and below 1, not 1.5"),
        ({"interval": "bcq"}, "unknown value of interval 'bcq'"),
        ({"budget": -1}, "budget is a whole number from 0 on"),
        ({"resamples": 0}, "resamples is a whole number from 1 to 10,000,000"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(karat.InputError, match=said):
        karat.reproduce(CORPUS, SHORT, reported=[figure(0.7)], **options)


# ---------------------------------------------------------------------------------------------- several


def pieces() -> list[tuple[karat.Corpus, list[karat.Run]]]:
    """The made corpus twice under two names, with a run each that predicts all there is for the second."""
    other = karat.Corpus.of(list(CORPUS), name="other")
    wide = karat.Run.of(
        [{"id": "1", "keyphrases": ["a", "b", "c", "d"]}, {"id": "2", "keyphrases": ["e"]}], name="wide"
    )
    return [(CORPUS, [SHORT, wide]), (other, [SHORT])]


def test_figures_of_several_corpora_and_systems_are_told_apart() -> None:
    reported = [
        figure("80.0", corpus="made", system="short", subset="present"),
        figure("90.0", corpus="made", system="wide", subset="present"),
        figure("60.0", corpus="other", system="short", subset="present"),
        figure("50.0", corpus="other", system="catseq", subset="present"),
    ]
    found = karat.reproduce(pieces(), reported=reported, percent=True, budget=2, **QUICK)
    assert [(row["corpus"], row["system"], row["recomputed"]) for row in found.rows()] == [
        ("made", "short", pytest.approx(0.7)),
        ("made", "wide", 1.0),
        ("other", "short", pytest.approx(0.7)),
    ]
    assert list(found.signatures) == ["karat on made", "karat on other"]
    assert "figures of what has no run here are left out: catseq on other" in found.notes
    lines = render(found).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("Reported and recomputed apart: f1@M"))
    assert [line.split() for line in lines[at + 2 : at + 5]] == [
        ["corpus", "short", "present", "wide", "present"],
        ["made", "↓10.0", "↑10.0"],
        ["other", "↑10.0", "–"],
    ]
    assert r"made & $\downarrow$10.0 & $\uparrow$10.0" in render(found, "latex")


def test_a_figure_that_may_be_of_several_is_refused() -> None:
    with pytest.raises(
        karat.InputError, match='figure 1: which corpus is it of\\? write "corpus", one of: made, other'
    ):
        karat.reproduce(pieces(), reported=[figure(0.7)], **QUICK)
    with pytest.raises(karat.InputError, match='figure 1: which system is it of\\? write "system"'):
        karat.reproduce(pieces(), reported=[figure(0.7, corpus="made")], **QUICK)


def test_corpora_need_runs_and_names_of_their_own() -> None:
    with pytest.raises(karat.InputError, match="give at least one run"):
        karat.reproduce(CORPUS, reported=[figure(0.7)])
    with pytest.raises(karat.InputError, match="two corpora are named 'made'"):
        karat.reproduce([(CORPUS, [SHORT]), (CORPUS, [SHORT])], reported=[figure(0.7)])


def test_runs_without_a_figure_are_told() -> None:
    found = karat.reproduce(*pieces()[0][:1], *pieces()[0][1], reported=[figure(0.7, system="wide")], budget=1, **QUICK)
    assert "no figure is reported of short on made" in found.notes
    assert [row["system"] for row in found.rows()] == ["wide"]


# ---------------------------------------------------------------------------------------------- text


def test_tables_show_figures_as_they_were_printed() -> None:
    found = karat.reproduce(CORPUS, SHORT, reported=[figure("0.70", subset="present")], budget=1, **QUICK)
    assert render(found).splitlines()[4].split()[:5] == ["f1@M", "present", ".70", ".7000", ".0000"]
    assert "What gives the printed digits, of 1 protocol tried" in " ".join(render(found).split())
    row = render(found, "csv").splitlines()[1].split(",")
    assert row[:9] == ["made", "short", "f1@M", "", "present", "mean-of-f", "0.7", "2", "0.7"]
    assert row[-5:] == ["karat", "mean-of-f", "0.7", "rounded", "1"]
    assert json.loads(render(found, "json"))["rows"] == found.rows()
    assert "| made" not in render(found, "md")
    assert "f1@M present | .70 | .7000" in render(found, "md")


# ---------------------------------------------------------------------------------------------- the command


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command `karat reproduce` in a process of its own."""
    return forked.command(folder, "reproduce", *arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made corpus as two files, runs of both in folders, and reports."""
    place = tmp_path_factory.mktemp("reproduced")
    for corpus, runs in pieces():
        karat.write(corpus, place / f"{corpus.name}.jsonl")
        (place / "runs" / corpus.name).mkdir(parents=True)
        for run in runs:
            karat.write(run, place / "runs" / corpus.name / f"{run.name}.jsonl")
    written(place, "short.jsonl", (place / "runs" / "made" / "short.jsonl").read_text())
    written(place, "paper.csv", "corpus,system,metric,value\nmade,short,f1@M,80.0\nother,short,f1@M,60.0\n")
    written(place, "one.jsonl", '{"metric": "f1@M", "value": 0.700}\n')
    written(place, "two.jsonl", '{"metric": "f1@M", "value": 70.0}\n')
    written(place, "empty.jsonl", "")
    return place


def test_the_command_gives_what_python_gives(folder: Path) -> None:
    done = command(folder, "made.jsonl", "short.jsonl", "--reported", "one.jsonl", "--budget", "5", "-f", "json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert list(found) == ["signatures", "rows", "tried", "notes"]
    assert found["tried"] == 5
    again = karat.reproduce(CORPUS, SHORT, reported=folder / "one.jsonl", budget=5)
    assert found["rows"] == again.rows()


def test_runs_of_several_corpora_come_from_a_folder(folder: Path) -> None:
    arguments = ("made.jsonl", "other.jsonl", "--runs", "runs", "--reported", "paper.csv", "--percent", "--budget", "1")
    done = command(folder, *arguments)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["made", "↓10.0"] in lines
    assert ["other", "↑10.0"] in lines
    assert "note: no figure is reported of wide on made" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("made.jsonl", "--reported", "one.jsonl"), "give a corpus and one run or more"),
        (("made.jsonl", "short.jsonl", "--reported", "two.jsonl"), "two.jsonl:1: the value 70 of f1@M is not between"),
        (("made.jsonl", "short.jsonl", "--reported", "empty.jsonl"), "empty.jsonl: the file is empty"),
        (("made.jsonl", "short.jsonl", "--reported", "none.jsonl"), "none.jsonl: there is no such file"),
        (("made.jsonl", "other.jsonl", "--runs", "nowhere", "--reported", "one.jsonl"), "there is no such folder"),
        (
            ("x=made.jsonl", "--runs", "runs", "--reported", "one.jsonl"),
            "no folder of runs for the corpus x (there are",
        ),
        (
            ("made.jsonl", "short.jsonl", "--reported", "one.jsonl", "--protocol", "karat", "--protocol", "ye2021"),
            "--protocol names one, not 2: karat, ye2021",
        ),
        (("made.jsonl", "short.jsonl", "--reported", "one.jsonl", "-o", "r.karat"), "this verb writes no .karat file"),
    ],
)
def test_bad_input_ends_with_2_and_one_sentence(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = command(folder, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("karat: ")
    assert said in line


def test_options_of_calibration_are_changed_for_calibration_errors_alone() -> None:
    """.9 and .8 are both right, one absent phrase and two of the second document are placeholders: .3 / 5."""
    corpus = karat.Corpus.of([{"id": str(n), "text": "Deep nets learn.", "keyphrases": ["deep nets"]} for n in (1, 2)])
    run = karat.Run.of(
        [
            {"id": "1", "keyphrases": ["deep nets", "deep net"], "token_probs": [[0.9], [0.8]]},
            {"id": "2", "keyphrases": [], "token_probs": []},
        ]
    )
    found = karat.reproduce(corpus, run, reported=[figure("0.06", "ece")], **QUICK)
    assert any("ece_total=placeholders" in each["protocol"] for each in found.rows()[0]["candidates"])
    plain = karat.reproduce(corpus, run, reported=[figure("0.5", "f1@M")], **QUICK)
    assert plain.tried[1] < found.tried[1]
