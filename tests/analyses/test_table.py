"""The table of a paper: its values are those of score, its tests those of compare, and its ranks those of scipy."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import rankdata

import karat
from karat.analyses.compare.ranks import best_and_second
from karat.metrics.base import parse_request

WORDS = ["bee", "hive", "honey", "swarm", "queen", "comb", "nectar", "pollen", "drone", "brood", "wax", "sting"]
SYSTEMS = {"alpha": 0.6, "beta": 0.5, "gamma": 0.2, "delta": 0.2}
METRICS = ["f1@5:present", "f1@M:present", "f1@5:absent"]
FEW = 2_000  # resamples


def corpus_of(name: str, documents: int = 30, seed: int = 0) -> karat.Corpus:
    """Documents of six words with three present references and an absent one."""
    pick = random.Random(f"{name}{seed}")
    records = []
    for n in range(documents):
        words = pick.sample(WORDS, 6)
        records.append({"id": f"{name}{n}", "text": " , ".join(words), "keyphrases": [*words[:3], "bee keeping"]})
    return karat.Corpus.of(records, name)


def run_of(corpus: karat.Corpus, name: str, right: float) -> karat.Run:
    """Predictions of which some share is right."""
    pick = random.Random(f"{corpus.name}{name}")
    records = []
    for document in corpus:
        phrases = [str(phrase) for phrase in document.keyphrases or ()]
        wrong = [word for word in WORDS if word not in phrases]
        records.append(
            {"id": document.id, "keyphrases": [p if pick.random() < right else pick.choice(wrong) for p in phrases]}
        )
    return karat.Run.of(records, name)


def given(
    *lacking: tuple[str, str], corpora: tuple[str, ...] = ("ants", "bees", "cats")
) -> list[tuple[Any, list[Any]]]:
    """Corpora with their runs, without those that are named."""
    made = [corpus_of(name) for name in corpora]
    return [
        (corpus, [run_of(corpus, name, right) for name, right in SYSTEMS.items() if (corpus.name, name) not in lacking])
        for corpus in made
    ]


def cells(found: karat.PaperTable) -> dict[tuple[str, str, str, str], dict[str, Any]]:
    return {(row["corpus"], row["system"], row["metric"], row["subset"]): row for row in found.rows()}


@pytest.fixture(scope="module")
def table() -> karat.PaperTable:
    return karat.table(given(), metrics=METRICS, resamples=FEW, intervals=True)


# ---------------------------------------------------------------------------------------------- values, tests, ranks


def test_values_are_those_of_score(table: karat.PaperTable) -> None:
    for corpus, runs in given():
        for row in karat.score(corpus, *runs, metrics=METRICS).rows():
            assert cells(table)[corpus.name, row["system"], row["metric"], row["subset"]]["value"] == row["value"]


def test_values_on_paper() -> None:
    # References bee, hive; of the predictions bee, wax the first is right: precision and recall are 1/2, so is F1. The
    # other system finds both: 1. The third finds none: 0, which is no second best.
    corpus = karat.Corpus.of([{"id": "1", "text": "bee hive , wax", "keyphrases": ["bee", "hive"]}], "paper")
    lists = {"half": ["bee", "wax"], "both": ["bee", "hive"], "none": ["wax"]}
    runs = [karat.Run.of([{"id": "1", "keyphrases": own}], name) for name, own in lists.items()]
    rows = karat.table(corpus, *runs, metrics=["f1@5:present"], significance=False).rows()
    assert [row["value"] for row in rows] == [0.5, 1.0, 0.0]
    assert [row["best"] for row in rows] == [False, True, False]
    assert [row["second"] for row in rows] == [True, False, False]


def test_p_values_against_the_best_are_those_of_compare(table: karat.PaperTable) -> None:
    compared = karat.compare(given(), metrics=METRICS, resamples=FEW)
    pairs = {(p.corpus, p.request.label, p.request.subset, frozenset((p.a, p.b))): p for p in compared.pairs}
    tested = [row for row in table.rows() if row["p"] is not None]
    assert len(tested) > 20
    for row in tested:
        [best] = row["against"]
        pair = pairs[row["corpus"], row["metric"], row["subset"], frozenset((row["system"], best))]
        assert (row["p"], row["p_adjusted"]) == (pair.apart.p, pair.apart.adjusted)
        assert bool(row["mark"]) == (pair.apart.adjusted <= 0.05)
    assert {row["mark"] for row in tested} == {"", "†"}


def test_p_values_against_a_baseline_are_those_of_compare() -> None:
    table = karat.table(given(), metrics=METRICS, resamples=FEW, baseline="beta")
    compared = karat.compare(given(), metrics=METRICS, resamples=FEW, baseline="beta")
    pairs = {(p.corpus, p.request.label, p.request.subset, p.a): p for p in compared.pairs}
    for row in table.rows():
        if row["system"] == "beta":
            assert (row["p"], row["mark"], row["against"]) == (None, "", [])
            continue
        pair = pairs[row["corpus"], row["metric"], row["subset"], row["system"]]
        assert (row["p"], row["p_adjusted"]) == (pair.apart.p, pair.apart.adjusted)
        expected = ("†" if pair.difference > 0 else "‡") if pair.apart.adjusted <= 0.05 else ""
        assert row["mark"] == expected
    assert "‡" in {row["mark"] for row in table.rows()}


def test_intervals_are_those_of_compare(table: karat.PaperTable) -> None:
    compared = karat.compare(given(), metrics=METRICS, resamples=FEW)
    for each in compared.standings:
        row = cells(table)[each.corpus, each.system, each.request.label, each.request.subset]
        assert (row["low"], row["high"]) == each.interval


def test_mean_ranks_are_those_of_scipy(table: karat.PaperTable) -> None:
    found = cells(table)
    columns = [
        [found[corpus, name, metric[:4], metric[5:]]["value"] for name in SYSTEMS]
        for corpus in ("ants", "bees", "cats")
        for metric in METRICS
    ]
    expected = sum(rankdata([-value for value in column]) for column in columns) / len(columns)
    [ranks] = table.ranks
    assert (ranks.columns, ranks.corpora) == (9, ("ants", "bees", "cats"))
    assert [ranks.ranks[name] for name in SYSTEMS] == pytest.approx(expected.tolist())


def test_lower_is_better_for_errors() -> None:
    found = karat.table(given(), metrics=["count_mae"], significance=False)
    for corpus in ("ants", "bees", "cats"):
        rows = [row for row in found.rows() if row["corpus"] == corpus]
        assert [row["system"] for row in rows if row["best"]] == [
            r["system"] for r in rows if r["value"] == min(x["value"] for x in rows)
        ]
    assert "count_mae ↓" in karat.render(found)


@pytest.mark.parametrize(
    ("values", "metric", "best", "second"),
    [
        ({"a": 0.5, "b": 0.5, "c": 0.4}, "f1@5", ("a", "b"), ("c",)),
        ({"a": 0.0, "b": 0.0}, "f1@5", (), ()),
        ({"a": 0.1, "b": 0.0, "c": 0.0}, "f1@5", ("a",), ()),
        ({"a": 0.1}, "f1@5", (), ()),
        ({"a": float("nan"), "b": 0.2, "c": 0.1}, "f1@5", ("b",), ("c",)),
        ({"a": 2.0, "b": 1.0, "c": 3.0}, "count_mae", ("b",), ("a",)),
    ],
)
def test_best_and_second_share_ties(values: dict[str, float], metric: str, best: Any, second: Any) -> None:
    assert best_and_second(values, parse_request(metric)) == (best, second)


# ---------------------------------------------------------------------------------------------- missing runs


def test_a_system_that_lacks_a_corpus_has_an_empty_cell_and_no_rank() -> None:
    found = karat.table(given(("bees", "alpha")), metrics=METRICS, significance=False)
    row = cells(found)["bees", "alpha", "f1@5", "present"]
    assert (row["missing"], row["value"]) == (True, None)
    assert found.ranks[0].corpora == ("ants", "bees", "cats")
    assert "alpha" not in found.ranks[0].ranks
    assert "alpha: no rank, since a corpus lacks a run" in " ".join(karat.render(found).split())
    assert "alpha has no run on bees: these cells are empty" in found.notes
    [line] = [line for line in karat.render(found, "md").splitlines() if line.startswith("| alpha")]
    assert line.count("|  |") > 0


def test_table_and_compare_rank_the_same_systems_on_the_same_corpora() -> None:
    one = given(("bees", "alpha"))
    of_table = karat.table(one, metrics=METRICS[:1], significance=False).ranks[0]
    [of_compare] = karat.compare(one, metrics=METRICS[:1], resamples=FEW).rankings
    assert len(of_table.corpora) == of_compare.friedman.corpora
    assert of_table.ranks == dict(zip(of_compare.systems, of_compare.friedman.ranks.tolist(), strict=True))


def test_where_no_two_systems_have_every_corpus_ranks_are_over_the_common_ones() -> None:
    first, *others = list(SYSTEMS)[:-1]
    some = given(("bees", first), *(("cats", name) for name in others), corpora=("ants", "bees", "cats", "dogs"))
    found = karat.table(some, metrics=METRICS, significance=False)
    assert found.ranks[0].corpora == ("ants", "dogs")
    assert list(found.ranks[0].ranks) == list(SYSTEMS)
    compared = karat.compare(some, metrics=METRICS[:1], resamples=FEW)
    assert "fewer than two systems have a run on every corpus, so all are ranked on ants, dogs" in compared.notes
    assert [each.friedman.corpora for each in compared.rankings] == [2]


def test_without_a_common_corpus_there_are_no_ranks() -> None:
    found = karat.table(
        given(("ants", "alpha"), ("bees", "beta"), ("cats", "gamma")), metrics=METRICS, significance=False
    )
    assert found.ranks == ()
    assert "no corpus has a run of every system, so there are no mean ranks" in found.notes
    assert "rank" not in karat.render(found).splitlines()[4]


def test_where_the_baseline_is_missing_nothing_is_tested() -> None:
    found = karat.table(given(("bees", "beta")), metrics=METRICS[:1], resamples=FEW, baseline="beta")
    assert {row["corpus"] for row in found.rows() if row["p"] is not None} == {"ants", "cats"}
    assert "beta, the baseline, has no run on bees: nothing is tested there" in found.notes


def test_one_system_on_one_corpus_is_a_table_without_marks() -> None:
    corpus = corpus_of("ants")
    found = karat.table(corpus, run_of(corpus, "alpha", 0.5), metrics=METRICS, resamples=FEW, intervals=True)
    assert not any(row["best"] or row["mark"] for row in found.rows())
    assert found.ranks == ()
    assert all(row["low"] <= row["value"] <= row["high"] for row in found.rows())


# ---------------------------------------------------------------------------------------------- results, protocols


def test_results_and_files_give_the_same_table(tmp_path: Path) -> None:
    parts = [karat.score(corpus, *runs, metrics=METRICS) for corpus, runs in given()]
    expected = karat.table(given(), metrics=METRICS, resamples=FEW).as_dict()
    assert karat.table(*parts, resamples=FEW).as_dict() == expected
    karat.collect(parts).save(tmp_path / "all.karat")
    assert karat.table(tmp_path / "all.karat", resamples=FEW).as_dict() == expected


def test_metrics_choose_among_those_of_results() -> None:
    parts = [karat.score(corpus, *runs, metrics=METRICS) for corpus, runs in given()]
    found = karat.table(*parts, metrics="f1@5:absent", significance=False)
    assert {(row["metric"], row["subset"]) for row in found.rows()} == {("f1@5", "absent")}
    with pytest.raises(karat.InputError, match=r"ants: no score of p@1 \(there are: f1@5:present/mean-of-f, "):
        karat.table(*parts, metrics="p@1")


def test_results_of_other_protocols_stand_in_tables_of_their_own() -> None:
    (ants, one), (bees, two), _ = given()
    parts = [karat.score(ants, *one, metrics=METRICS), karat.score(bees, *two, metrics=METRICS, protocol="chan2019")]
    found = karat.table(*parts, significance=False)
    assert [str(table.title).partition(";")[0] for table in found.tables()] == [
        "4 systems under the protocol karat",
        "4 systems under the protocol chan2019",
    ]
    assert "there is no score under karat on bees" in found.notes


def test_corpora_in_other_languages_stand_in_one_table() -> None:
    found = karat.table(given(), metrics=METRICS, significance=False, languages={"cats": "french"})
    assert next(row["protocol"] for row in found.rows() if row["corpus"] == "cats") == "karat,stemmer=french"
    assert len(list(found.tables())) == 1
    assert found.ranks[0].columns == 9


def test_seeds_are_one_system() -> None:
    corpus = corpus_of("ants")
    runs = [run_of(corpus, name, right) for name, right in (("a#1", 0.5), ("a#2", 0.6), ("a#3", 0.7), ("b", 0.1))]
    found = karat.table(corpus, *runs, metrics=METRICS, resamples=FEW)
    expected = [row["value"] for row in karat.score(corpus, *runs, metrics=METRICS[:1]).rows()[:3]]
    row = cells(found)["ants", "a", "f1@5", "present"]
    assert (row["seeds"], row["value"]) == (3, pytest.approx(sum(expected) / 3))
    assert cells(found)["ants", "b", "f1@5", "present"]["test"] == "two_level_t"


# ---------------------------------------------------------------------------------------------- names and groups


def test_names_groups_and_order_are_as_given() -> None:
    found = karat.table(
        given(),
        metrics=METRICS,
        significance=False,
        groups={"good": ["beta", "alpha"], "bad": ["delta"]},
        systems=["alpha=Alpha (base)"],
        corpora={"cats": "Cats"},
        order=["cats,ants", "alpha"],
    )
    [table] = found.tables()
    shown = [(group.name, [row.name for row in group.rows]) for group in table.groups]
    assert shown == [("", ["gamma"]), ("good", ["Alpha (base)", "beta"]), ("bad", ["delta"])]
    assert list(dict.fromkeys(column.above[0] for column in table.columns)) == ["Cats", "ants", "bees", ""]
    assert {row["system_name"] for row in found.rows() if row["group"] == "good"} == {"Alpha (base)", "beta"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": ["good=alpha,betta"]}, "unknown system of the group good 'betta'.*beta"),
        ({"groups": ["good=alpha", "bad=alpha"]}, "alpha stands in two groups"),
        ({"groups": ["good=alpha,alpha"]}, "alpha stands in two groups"),
        ({"groups": ["good"]}, "good: write NAME=SYSTEM,..."),
        ({"systems": ["alpha"]}, "alpha: write SYSTEM=NAME"),
        ({"systems": ["alpah=A"]}, "unknown system 'alpah'"),
        ({"systems": {"alpha": "beta"}}, "alpha and beta are both called 'beta'"),
        ({"corpora": ["dogs=Dogs"]}, "unknown corpus 'dogs'"),
        ({"order": "omega"}, "unknown system or corpus 'omega'"),
        ({"languages": ["dogs=french"]}, "unknown corpus 'dogs'"),
        ({"languages": ["cats=frensh"]}, "unknown language 'frensh'"),
        ({"baseline": "omega"}, "unknown baseline 'omega'"),
        ({"baseline": "alpha", "significance": False}, "leave out --baseline or --no-significance"),
    ],
)
def test_a_name_of_nothing_is_an_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(karat.InputError, match=message):
        karat.table(
            given(),
            metrics=METRICS[:1],
            **({"significance": False} | options if "baseline" not in options else options),
        )


# ---------------------------------------------------------------------------------------------- every format


@pytest.mark.parametrize("format", ["table", "md", "html", "latex", "typst", "csv", "json"])
def test_no_format_drops_what_another_shows(format: str) -> None:
    found = karat.table(
        given(("bees", "alpha")), metrics=METRICS, resamples=FEW, groups={"good": ["alpha", "beta"]}, digits=5
    )
    text = karat.render(found, format)
    for expected in ("ants", "bees", "cats", "present", "absent", "f1@5", "f1@M", "good", "alpha", "beta", "gamma"):
        assert expected in text
    marks = {"latex": r"\dag", "json": "†"}
    assert marks.get(format, "†") in text
    digits = [f"{row['value']:.5f}"[1:] for row in found.rows() if row["value"] and row["value"] < 1]
    if format in ("csv", "json"):
        assert all(str(row["value"]) in text for row in found.rows() if row["value"] is not None)
        assert "mean_rank" in text or '"ranks"' in text
    else:
        assert all(each in text for each in digits)
        assert f"{min(found.ranks[0].ranks.values()):.2f}" in text
        assert "max-T" in text
        assert "refs:" in text


def test_percent_and_digits() -> None:
    corpus = karat.Corpus.of([{"id": "1", "text": "bee hive , wax", "keyphrases": ["bee", "hive", "wax"]}], "paper")
    runs = [
        karat.Run.of([{"id": "1", "keyphrases": own}], name) for name, own in (("a", ["bee"]), ("b", ["bee", "hive"]))
    ]
    options: dict[str, Any] = {"metrics": ["r@5:present", "count_mae:present"], "significance": False}
    lines = {name: karat.render(karat.table(corpus, *runs, **options, **more), "md") for name, more in
             (("fractions", {}), ("percent", {"percent": True}), ("digits", {"digits": 2}))}  # fmt: skip
    assert "| a | _.3333_ | _2.0000_ | _2.00_ |" in lines["fractions"]
    assert "| a | _33.3_ | _2.00_ | _2.00_ |" in lines["percent"]
    assert "| a | _.33_ | _2.00_ | _2.00_ |" in lines["digits"]


def test_csv_has_a_line_for_each_cell_and_json_its_signatures() -> None:
    found = karat.table(given(("bees", "alpha")), metrics=METRICS, significance=False)
    rows = list(csv.DictReader(io.StringIO(karat.render(found, "csv"))))
    assert len(rows) == 4 * 3 * 3
    assert [row["value"] for row in rows if row["missing"] == "True"] == [""] * 3
    assert {row["mean_rank"] for row in rows if row["system"] == "beta"} == {str(found.ranks[0].ranks["beta"])}
    content = json.loads(karat.render(found, "json"))
    assert list(content) == ["signatures", "short_signatures", "rows", "ranks", "tests", "notes"]
    assert content["short_signatures"]["karat on ants"].startswith(f"karat|karat|v{karat.__version__}|refs:")
