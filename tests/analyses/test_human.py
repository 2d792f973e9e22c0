"""Metrics against people: figures against scipy and by hand, what is undefined, and bad input."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import karat
from karat.analyses.human import human
from karat.analyses.human.result import Human
from karat.errors import InputError, KaratError, MissingExtraError
from karat.formats.human import read_judged
from karat.matching.columns import Aligned, Cutoff, Subset
from karat.metrics.base import METRICS, Rows, metric
from karat.output import render
from karat.similarity import compare
from karat.similarity.classes import classify
from karat.stats.agreement import combined, equal_shares, krippendorff
from karat.stats.correlation import correlate

GOLDEN = Path(__file__).parents[1] / "golden"
PAIRS, SETS = GOLDEN / "human.pairs.jsonl", GOLDEN / "human.sets.jsonl"
CORPUS = GOLDEN / "synthetic.corpus.jsonl"
RUNS = [f"alpha={GOLDEN / 'synthetic.alpha.jsonl'}", f"beta={GOLDEN / 'synthetic.beta.jsonl'}"]

Score = dict[str, Any]


def records(path: Path) -> list[Score]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def by_scipy(x: Sequence[float] | NDArray[Any], y: Sequence[float] | NDArray[Any]) -> list[float]:
    return [
        float(stats.pearsonr(x, y).statistic),
        float(stats.spearmanr(x, y).statistic),
        float(stats.kendalltau(x, y).statistic),
    ]


def figures(row: dict[str, Any]) -> list[float]:
    return [row["pearson"], row["spearman"], row["kendall"]]


def pair(prediction: str, reference: str, score: float, annotator: str = "x") -> Score:
    return {"prediction": prediction, "reference": reference, "annotator": annotator, "score": score}


def pairs_of(scores: dict[str, Sequence[float | None]]) -> list[Score]:
    """Scores of phrases that are more and more like `a b c d e f`, by annotator; None where there is none."""
    phrases = ["z", "a z", "a b z", "a b c z", "a b c d z", "a b c d e f"]
    return [
        pair(phrase, "a b c d e f", score, annotator)
        for annotator, given in scores.items()
        for phrase, score in zip(phrases, given, strict=False)
        if score is not None
    ]


def of_pairs(scores: list[Score], *metrics: str, **options: Any) -> Human:
    return human(scores, metrics=metrics or ["overlap"], **options)


# ---------------------------------------------------------------------------------------------- pairs


def test_correlations_of_pairs_are_those_of_scipy_in_every_subset() -> None:
    given: dict[tuple[str, str], list[float]] = {}
    for each in records(PAIRS):
        given.setdefault((each["prediction"], each["reference"]), []).append(each["score"])
    found = human(PAIRS, metrics=["overlap", "bleu,reference=given"])
    rows = {(row["metric"], row["subset"]): row for row in found.rows()}
    # Exact fractions are ties where floats may differ in their last digit.
    people = {item: round(sum(scores) / len(scores), 10) for item, scores in given.items()}
    values = {
        "overlap": {item: round(compare("overlap", *item), 10) for item in given},
        "bleu": {item: round(compare("bleu", *item, reference="given"), 10) for item in given},
    }
    members = {
        "all": list(given),
        "words<=3": [item for item in given if len(item[1].split()) <= 3],
        "direction=longer": [item for item in given if len(item[0].split()) > len(item[1].split())],
        "location=head": [item for item in given if classify([item])[0].location == "head"],
        "complexity=preposition": [item for item in given if classify([item])[0].complexity == "preposition"],
    }
    for subset, items in members.items():
        for name in ("overlap", "bleu"):
            expected = by_scipy([values[name][item] for item in items], [people[item] for item in items])
            assert rows[name, subset]["n"] == len(items)
            assert figures(rows[name, subset]) == pytest.approx(expected, abs=1e-9), (name, subset)
    assert rows["bleu", "all"]["options"] == {"reference": "given"}
    assert rows["overlap", "all"]["options"] == {}


def test_a_row_has_these_fields_and_its_intervals_hold_the_value() -> None:
    [row, *_] = human(PAIRS, metrics=["overlap"]).rows()
    assert list(row) == ["metric", "options", "subset", "n", "pearson", "spearman", "kendall", "ci"]
    for name in ("pearson", "spearman", "kendall"):
        low, high = row["ci"][name]
        assert low < row[name] < high


def test_the_interval_is_a_t_interval_of_fishers_z_with_the_jackknife_error() -> None:
    scores = pairs_of({"x": [0, 2, 1, 3, 3, 4]})
    x = np.array([compare("overlap", each["prediction"], each["reference"]) for each in scores])
    y = np.array([each["score"] for each in scores], dtype=float)
    [row, *_] = of_pairs(scores, level=0.8).rows()
    without = np.array([by_scipy(np.delete(x, i), np.delete(y, i)) for i in range(6)])
    errors = np.sqrt(5 * without.var(axis=0))  # (n − 1)/n Σ(r − mean)²
    for name, r, error in zip(("pearson", "spearman", "kendall"), by_scipy(x, y), errors, strict=True):
        half = stats.t.ppf(0.9, 5) * error / (1 - r * r)
        assert row["ci"][name] == pytest.approx(
            np.tanh([np.arctanh(r) - half, np.arctanh(r) + half]).tolist(), abs=0.02
        )


def test_a_pair_in_two_documents_is_two_items() -> None:
    scores = [{**pair("a b", "a c", score), "id": name} for name, score in (("d1", 1), ("d2", 3))]
    assert of_pairs(scores).items == 2


def test_the_means_of_near_misses_by_hand() -> None:
    scores = [
        *(pair("grid computing", "fast grid computing", score, who) for who, score in (("x", 2), ("y", 3))),
        *(pair("grid", "fast grid", score, who) for who, score in (("x", 0), ("y", 1))),
        pair("very fast grid", "fast", 4),
    ]
    assert of_pairs(scores).classes() == [
        {"location": "head", "direction": "shorter", "n": 2, "mean": (2.5 + 0.5) / 2},
        {"location": "middle", "direction": "longer", "n": 1, "mean": 4.0},
    ]


@pytest.mark.wordnet
def test_every_default_similarity_is_measured() -> None:
    names = "exact overlap overlap_head kmr bleu nist meteor rouge1 rougeL chrf levenshtein cosine"
    found = human(PAIRS)
    assert [row["metric"] for row in found.rows()][:12] == names.split()
    assert any("letters, not meanings" in note for note in found.notes)


def test_meteor_is_left_out_without_wordnet_unless_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARAT_WORDNET", str(tmp_path))
    found = human(PAIRS)
    assert "meteor" not in {row["metric"] for row in found.rows()}
    assert [note for note in found.notes if note.startswith("meteor is left out: WordNet's")]
    with pytest.raises(MissingExtraError, match="WordNet"):
        of_pairs(records(PAIRS), "meteor")


def test_context_takes_its_sentences_from_a_corpus() -> None:
    documents = [{"id": "1", "text": "Grid computing is fast. Fast grids cool. Trees grow. Grid computing and grids."}]
    scores = [pair("grid computing", "grids", 3), pair("trees", "grids", 0), pair("grids", "grid", 4)]
    rows = of_pairs(scores, "context", corpus=karat.Corpus.of(documents)).rows()
    assert rows[0]["options"] == {}
    assert rows[0]["pearson"] > 0.5
    with pytest.raises(InputError, match="give the documents with --corpus"):
        of_pairs(scores, "context")


# ---------------------------------------------------------------------------------------------- sets


def test_correlations_of_sets_are_those_of_scipy_over_documents_and_systems() -> None:
    given: dict[tuple[str, str], list[float]] = {}
    for each in records(SETS):
        given.setdefault((each["id"], each["system"]), []).append(each["score"])
    results = karat.score(CORPUS, *RUNS, metrics=["p@5", "r@M:absent"])
    values = {
        (score.request.label, identifier, score.system): value
        for score in results.scores
        for identifier, value in zip(results.ids, score.per_document().tolist(), strict=True)
    }
    found = human(SETS, corpus=CORPUS, runs=RUNS, metrics=["p@5", "r@M:absent"])
    for row in found.rows():
        items = [item for item in given if not isnan(values[row["metric"], *item])]
        people = [round(sum(given[item]) / len(given[item]), 10) for item in items]
        metric_values = [round(values[row["metric"], *item], 10) for item in items]
        assert row["n"] == len(items)
        assert figures(row) == pytest.approx(by_scipy(metric_values, people), abs=1e-9)
    assert [(row["metric"], row["subset"], row["n"]) for row in found.rows()] == [
        ("p@5", "all", 90),
        ("r@M", "absent", 84),
    ]
    assert "r@M:absent: 6 of 90 items left out, undefined" in found.notes
    assert list(found.signatures) == ["karat", "human"]
    assert found.signatures["karat"] == results.signatures["karat"]


CORPUS_OF_4 = karat.Corpus.of(
    [{"id": f"d{i}", "text": "a b c d", "keyphrases": list("abcd"[: i + 1])} for i in range(4)]
)
RUN_OF_4 = karat.Run.of([{"id": f"d{i}", "keyphrases": ["a"]} for i in range(4)], name="mine")
SCORES_OF_4 = [{"id": f"d{i}", "score": score} for i, score in enumerate([0.9, 0.8, 0.3, 0.1])]


def test_f1_of_a_document_by_itself_is_what_people_are_compared_with_under_any_average() -> None:
    # One reference of 1, 2, 3 and 4 is found by one prediction: F1 1, 2/3, 1/2 and 2/5.
    expected = by_scipy([1, 2 / 3, 1 / 2, 2 / 5], [0.9, 0.8, 0.3, 0.1])
    for protocol in ("karat", "chan2019", "karat,average=f-of-means"):
        [row] = human(SCORES_OF_4, corpus=CORPUS_OF_4, runs=RUN_OF_4, metrics=["f1@M"], protocol=protocol).rows()
        assert figures(row) == pytest.approx(expected)


def test_the_default_metrics_of_sets_are_f1_and_soft_f() -> None:
    rows = human(SETS, corpus=CORPUS, runs=RUNS).rows()
    assert [(row["metric"], row["options"]) for row in rows] == [("f1@M", {}), ("soft_f", {"score": "kmr"})]


def test_only_documents_with_scores_count_and_a_run_may_lack_the_others() -> None:
    short = karat.Run.of(list(RUN_OF_4)[:3], name="mine")
    whole = human(SCORES_OF_4[:3], corpus=CORPUS_OF_4, runs=RUN_OF_4, metrics=["f1@M"])
    assert human(SCORES_OF_4[:3], corpus=CORPUS_OF_4, runs=[short], metrics=["f1@M"]).rows() == whole.rows()
    with pytest.raises(InputError, match=r"memory:4: scores for an unknown document: 'd3' is not in memory; take it"):
        human(SCORES_OF_4, corpus=CORPUS_OF_4, runs=[short], metrics=["f1@M"])
    [row] = human(SCORES_OF_4, corpus=CORPUS_OF_4, runs=[short], metrics=["f1@M"], missing="empty").rows()
    assert figures(row) == pytest.approx(by_scipy([1, 2 / 3, 1 / 2, 0], [0.9, 0.8, 0.3, 0.1]))
    [row] = human(SCORES_OF_4, corpus=CORPUS_OF_4, runs=[short], metrics=["f1@M"], missing="skip").rows()
    assert row["n"] == 3


def test_a_run_without_ids_is_matched_by_line_and_may_end_early() -> None:
    bare = karat.Run.of([{"keyphrases": ["a"]}] * 3, name="mine")
    found = human(SCORES_OF_4[:3], corpus=CORPUS_OF_4, runs=bare, metrics=["f1@M"])
    assert found.rows()[0]["n"] == 3
    assert "line by line" in found.notes[1]
    with pytest.raises(InputError, match="'d3' is not in memory"):
        human(SCORES_OF_4, corpus=CORPUS_OF_4, runs=bare, metrics=["f1@M"])


def test_documents_are_drawn_together_when_several_systems_were_scored_on_them() -> None:
    once = [{**each, "system": "mine"} for each in SCORES_OF_4]
    twice = [*once, *({**each, "system": "same"} for each in SCORES_OF_4)]
    same = karat.Run.of(list(RUN_OF_4), name="same")
    options: dict[str, Any] = {"corpus": CORPUS_OF_4, "metrics": ["f1@M"]}
    [alone] = human(once, runs=[RUN_OF_4], **options).rows()
    [both] = human(twice, runs=[RUN_OF_4, same], **options).rows()
    assert (alone["n"], both["n"]) == (4, 8)
    assert both["ci"]["pearson"] == pytest.approx(alone["ci"]["pearson"])  # the second system adds nothing new


def test_a_metric_of_which_less_is_better_is_compared_by_how_it_goes_against_people() -> None:
    found = human(SCORES_OF_4, corpus=CORPUS_OF_4, runs=RUN_OF_4, metrics=["f1@M", "count_mae"])
    f1, mae = found.rows()
    assert mae["pearson"] < -0.9
    [row] = found.comparisons()
    assert found.best == ("count_mae",)  # the difference in number is 0, 1, 2, 3: nearly a line
    assert row["difference"] == pytest.approx(f1["pearson"] + mae["pearson"])
    assert "count_mae: lower is better, so the best is the most negative" in found.notes


def test_a_run_that_nobody_scored_is_told() -> None:
    scores = [{**each, "system": "mine"} for each in SCORES_OF_4]
    other = karat.Run.of(list(RUN_OF_4), name="other")
    found = human(scores, corpus=CORPUS_OF_4, runs=[RUN_OF_4, other], metrics=["f1@M"])
    assert "other: nobody scored it" in found.notes


@pytest.fixture
def odd_metrics() -> Iterator[None]:
    known = dict(METRICS.load())

    def middle(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.median(values[:, 0]))

    @metric("median_hits", better="higher", items=middle)
    def median_hits(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
        """The median of hits."""
        return Rows(np.ones((aligned.documents, 2)))

    @metric("neighbours", better="higher")
    def neighbours(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
        """A value of two documents."""
        return Rows(np.ones((1, 2)), np.zeros((1, 2), dtype=np.int64))

    yield
    METRICS.clear()
    METRICS.update(known)


@pytest.mark.usefixtures("odd_metrics")
def test_metrics_without_a_value_for_each_document_are_refused() -> None:
    given: dict[str, Any] = {"corpus": CORPUS_OF_4, "runs": RUN_OF_4}
    for name in ("median_hits", "neighbours"):
        with pytest.raises(InputError, match=f"{name} has no value for a document by itself"):
            human(SCORES_OF_4, metrics=[name], **given)
    with pytest.raises(InputError, match=r"f1@M:present/micro is of all documents together.*; write f1@M:present"):
        human(SCORES_OF_4, metrics=["f1@M:present/micro"], **given)
    assert human(SCORES_OF_4, metrics=["f1@M/mean-of-f"], **given).rows()[0]["metric"] == "f1@M"


# ---------------------------------------------------------------------------------------------- annotators


def test_scores_are_combined_by_mean_or_majority() -> None:
    values = np.array(
        [
            [1, 2, 2, 4],  # two say 2
            [0, 0, 4, 4],  # a tie; the median is 2, both are as near: the lower
            [0, 1, 4, 4],  # two say 4
            [0, 1, 2, 9],  # all differ; the median is 1.5, 1 and 2 are as near: the lower
            [0, 3, 4, np.nan],  # all differ; the median is 3
            [np.nan, np.nan, 5, np.nan],
            [np.nan] * 4,
        ]
    )
    assert combined(values, "majority")[:-1].tolist() == [2, 0, 4, 1, 3, 5]
    assert combined(values)[:-1].tolist() == pytest.approx([9 / 4, 2, 9 / 4, 3, 7 / 3, 5])
    assert isnan(combined(values, "majority")[-1])
    assert isnan(combined(values)[-1])


def test_the_order_of_annotators_moves_no_digit() -> None:
    values = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1]])
    assert len(set(combined(values).tolist())) == 1


def test_means_that_only_rounding_tells_apart_are_ties() -> None:
    scores = pairs_of({"x": [0.1, 0.2, 0.3, 0.9], "y": [0.7, 0.6, 0.5, 0.2]})  # means .4, .4, .4 and .55
    assert len(set(combined(np.array([[0.1, 0.7], [0.2, 0.6], [0.3, 0.5]])).tolist())) > 1
    [row, *_] = of_pairs(scores).rows()
    overlap = [compare("overlap", each["prediction"], each["reference"]) for each in scores[:4]]
    assert figures(row) == pytest.approx(by_scipy(overlap, [0.4, 0.4, 0.4, 0.55]))


ANNOTATED: dict[str, Sequence[float | None]] = {
    "x": [0, 1, 2, 2, 3, 4],
    "y": [1, 0, 2, 3, 4, 4],
    "z": [0, 2, None, 3, 3, None],
}


def test_the_ceiling_is_the_mean_of_each_annotator_against_the_mean_of_the_others() -> None:
    x, y = ANNOTATED["x"], ANNOTATED["y"]
    others_of_x = [(1 + 0) / 2, (0 + 2) / 2, 2, (3 + 3) / 2, (4 + 3) / 2, 4]
    others_of_y = [(0 + 0) / 2, (1 + 2) / 2, 2, (2 + 3) / 2, (3 + 3) / 2, 4]
    others_of_z = [(0 + 1) / 2, (1 + 0) / 2, (2 + 3) / 2, (3 + 4) / 2]
    each = [by_scipy(x, others_of_x), by_scipy(y, others_of_y), by_scipy([0, 2, 3, 3], others_of_z)]  # type: ignore[arg-type]
    found = of_pairs(pairs_of(ANNOTATED))
    assert [(row["annotator"], row["n"]) for row in found.annotators()] == [("x", 6), ("y", 6), ("z", 4)]
    for row, expected in zip(found.annotators(), each, strict=True):
        assert figures(row) == pytest.approx(expected)
    [ceiling, *_] = found.as_dict()["agreement"]["ceiling"]
    assert (ceiling["subset"], ceiling["n"], ceiling["annotators"], ceiling["left_out"]) == ("all", 6, 3, 0)
    assert figures(ceiling) == pytest.approx(np.mean(each, axis=0).tolist())
    low, high = ceiling["ci"]["pearson"]
    assert low < ceiling["pearson"] < high


def test_there_is_a_ceiling_of_every_subset() -> None:
    found = human(PAIRS, metrics=["kmr"])
    ceilings = found.as_dict()["agreement"]["ceiling"]
    assert [each["subset"] for each in ceilings] == [row["subset"] for row in found.rows()]


def test_agreement_by_hand() -> None:
    found = of_pairs(pairs_of(ANNOTATED), level_of_scale="ordinal").as_dict()["agreement"]
    # Of six items x and y agree on the third and the last; with z, on the first, fourth and fifth two agree, too.
    assert [(each["annotators"], each["n"], each["share"]) for each in found["exact"]] == [(2, 6, 5 / 6), (3, 4, 0.0)]
    assert found["exact"][1]["ci"] == pytest.approx([0.0, 1 - 0.025 ** (1 / 4)])  # nothing was seen on four items
    values = np.array([ANNOTATED["x"], ANNOTATED["y"], ANNOTATED["z"]], dtype=np.float64).T
    assert found["alpha"] == pytest.approx(krippendorff(values, "ordinal"))
    assert found["level_of_scale"] == "ordinal"


def test_shares_are_of_items_that_enough_annotators_scored() -> None:
    shares = equal_shares(np.array([[1.0, 1.0, 1.0], [1.0, np.nan, 2.0], [3.0, np.nan, np.nan]]))
    assert [(k, share.n, share.value) for k, share in shares] == [(2, 2, 0.5), (3, 1, 1.0)]


def test_an_annotator_with_one_item_or_constant_scores_is_left_out_of_the_ceiling_and_told() -> None:
    found = of_pairs(pairs_of(ANNOTATED | {"once": [3], "same": [2, 2, 2, 2]}))
    [ceiling, *_] = found.as_dict()["agreement"]["ceiling"]
    assert (ceiling["annotators"], ceiling["left_out"]) == (3, 2)
    rows = {row["annotator"]: row for row in found.annotators()}
    assert rows["once"]["pearson"] is None
    assert rows["once"]["ci"] == {"pearson": [None, None], "spearman": [None, None], "kendall": [None, None]}
    assert ceiling["pearson"] == pytest.approx(np.mean([rows[name]["pearson"] for name in "xyz"]))
    assert [note for note in found.notes if "annotator" in note] == [
        "annotator once: undefined, fewer than two items that others scored; left out of the ceiling",
        "annotator same: undefined, the scores of this annotator or of the others are all equal; "
        "left out of the ceiling",
    ]


def test_one_annotator_has_neither_ceiling_nor_agreement() -> None:
    found = of_pairs([{k: v for k, v in each.items() if k != "annotator"} for each in pairs_of({"x": [0, 1, 3]})])
    assert found.as_dict()["agreement"] == {
        "alpha": None,
        "ci": [None, None],
        "level_of_scale": "interval",
        "exact": [],
        "ceiling": [],
    }
    assert found.annotators() == []
    assert "there is one annotator, so that there is neither a ceiling nor agreement" in found.notes


# ---------------------------------------------------------------------------------------------- comparisons


def test_all_pairs_of_metrics_are_compared_and_adjusted_and_those_with_the_best_come_first() -> None:
    found = human(PAIRS, metrics=["exact", "overlap", "levenshtein", "kmr"])
    rows = {row["metric"]: row for row in found.rows() if row["subset"] == "all"}
    best = max(rows, key=lambda name: float(rows[name]["spearman"]))
    assert found.best == (best,)
    compared = found.comparisons()
    assert len(compared) == 6
    assert [row["against"] for row in compared[:3]] == [best] * 3
    assert {row["metric"] for row in compared[:3]} == set(rows) - {best}
    for row in compared:
        expected = rows[row["metric"]]["spearman"] - rows[row["against"]]["spearman"]
        assert row["difference"] == pytest.approx(expected)
        assert row["ci"][0] <= row["difference"] <= row["ci"][1]
        assert (row["coefficient"], row["test"], row["family"], row["items"]) == ("spearman", "t", 6, 54)
        assert 0 <= row["p"] <= row["p_adjusted"] <= 1
        assert row["p_adjusted_by"] == "max-t"
    assert [row["p"] for row in compared if row["p_adjusted"] < row["p"]] == []
    shown = render(found).split("Compared with")[1].split("Mean score")[0]
    assert "over all pairs of metrics (6 tests each)" in " ".join(shown.split())
    assert [line.split()[0] for line in shown.splitlines() if line.startswith(("exact", "leven", "kmr"))] == [
        row["metric"] for row in compared[:3]
    ]


def test_the_difference_is_a_jackknife_t_of_the_items() -> None:
    values = {name: [] for name in ("overlap", "kmr")}  # type: dict[str, list[float]]
    given: dict[tuple[str, str], list[float]] = {}
    for each in records(PAIRS):
        given.setdefault((each["prediction"], each["reference"]), []).append(each["score"])
    people = np.array([round(sum(scores) / len(scores), 10) for scores in given.values()])
    for name, own in values.items():
        own += [round(compare(name, *item), 10) for item in given]
    x, y = (np.array(values[name]) for name in ("overlap", "kmr"))
    without = [
        correlate(np.delete(x, i), np.delete(people, i))[1, 0] - correlate(np.delete(y, i), np.delete(people, i))[1, 0]
        for i in range(len(people))
    ]
    error = float(np.sqrt((len(people) - 1) * np.var(without)))
    [row] = human(PAIRS, metrics=["overlap", "kmr"]).comparisons()
    assert row["se"] == pytest.approx(error)
    assert row["p"] >= 2 * stats.t.sf(abs(row["difference"]) / error, len(people) - 1) - 1e-12


def test_a_metric_against_itself_has_p_1() -> None:
    found = human(PAIRS, metrics=["bleu", "bleu,reference=longer"])
    assert found.best == ("bleu", "bleu,reference=longer")
    [row] = found.comparisons()
    assert (row["difference"], row["p"], row["p_adjusted"], row["se"]) == (0.0, 1.0, 1.0, 0.0)
    unseen = 1 - 0.025 ** (1 / 54)  # at most this share of all items differs, and a correlation by 2 at most
    assert row["ci"] == pytest.approx([-2 * unseen, 2 * unseen])


def test_the_metric_to_compare_with_can_be_chosen() -> None:
    found = human(PAIRS, metrics=["exact", "overlap", "kmr"], against="exact")
    assert [(row["metric"], row["against"]) for row in found.comparisons()] == [("overlap", "exact"), ("kmr", "exact")]
    assert found.best == ("overlap",)
    with pytest.raises(InputError, match=r"unknown metric to compare with 'exakt'; did you mean 'exact'\?"):
        human(PAIRS, metrics=["exact", "kmr"], against="exakt")


def test_two_metrics_are_compared_where_both_are_defined() -> None:
    found = human(SETS, corpus=CORPUS, runs=RUNS, metrics=["f1@M", "f1@M:absent"])
    [row] = found.comparisons()
    assert (row["items"], row["n"]) == (84, 42)  # of two systems on 42 documents
    whole, absent = found.rows()
    assert row["difference"] != pytest.approx(absent["pearson"] - whole["pearson"])  # of 90 and of 84 items


def test_the_seed_chooses_the_draws_of_the_family_and_nothing_else() -> None:
    first, again, other = (human(PAIRS, metrics=["kmr", "chrf", "exact"], seed=seed).as_dict() for seed in (1, 1, 2))
    assert first == again
    assert first["rows"] == other["rows"]
    assert [row["p"] for row in first["comparisons"]] == [row["p"] for row in other["comparisons"]]


def test_the_coefficient_that_ranks_can_be_chosen() -> None:
    assert human(PAIRS, metrics=["overlap", "chrf"]).best == ("overlap",)
    assert human(PAIRS, metrics=["overlap", "chrf"], coefficient="pearson").best == ("chrf",)


# ---------------------------------------------------------------------------------------------- undefined


def test_constant_metrics_and_people_are_undefined_and_told() -> None:
    found = of_pairs(pairs_of({"x": [0, 1, 2, 3]}), "overlap", "exact")
    rows = {(row["metric"], row["subset"]): row for row in found.rows()}
    assert figures(rows["exact", "all"]) == [None, None, None]
    [note] = [note for note in found.notes if note.startswith("exact in all,")]
    assert note.endswith(": undefined, the metric has the same value everywhere")
    same = of_pairs(pairs_of({"x": [2, 2, 2]}), "overlap", "exact")
    [note] = [note for note in same.notes if note.startswith("every metric in all")]
    assert note.endswith("undefined, people's scores are all equal")
    assert (same.best, same.comparisons()) == ((), [])


def test_one_item_is_undefined_and_told() -> None:
    found = of_pairs(pairs_of({"x": [2]}))
    assert figures(found.rows()[0]) == [None, None, None]
    assert [note for note in found.notes if note.endswith("undefined, fewer than two items")]
    assert "–" in render(found)


def test_a_correlation_that_rests_on_one_item_has_no_interval_and_a_note() -> None:
    found = of_pairs([pair("a", "a", 4), pair("b", "c", 0), pair("d", "e", 1), pair("f", "g", 1)])
    row = found.rows()[0]
    assert row["pearson"] is not None
    assert row["ci"]["pearson"] == [None, None]
    assert [note for note in found.notes if note.endswith(": no interval, all items but one have the same value")]
    assert "nan" not in render(found)


def test_fewer_than_three_items_have_no_interval_and_no_test() -> None:
    found = of_pairs(pairs_of({"x": [0, 1]}), "overlap", "chrf")
    assert found.rows()[0]["ci"]["pearson"] == [None, None]
    assert found.comparisons()[0]["p"] is None
    assert [note for note in found.notes if note.endswith(": no interval, fewer than three items")]
    assert "nan" not in render(found)


def test_a_metric_that_is_undefined_on_nearly_all_items_is_not_tested() -> None:
    documents = [{"id": f"d{i}", "text": "a b c d", "keyphrases": ["a"] + ["z"] * (i < 2)} for i in range(8)]
    run = karat.Run.of([{"id": f"d{i}", "keyphrases": ["a", "bcd"[i % 3]][: 1 + i % 2]} for i in range(8)], name="m")
    scores = [{"id": f"d{i}", "score": i % 5} for i in range(8)]
    found = human(scores, corpus=karat.Corpus.of(documents), runs=run, metrics=["f1@M", "f1@M:absent"])
    [row] = found.comparisons()
    assert (row["items"], row["p"], row["p_adjusted"]) == (2, None, None)
    assert "nan" not in render(found)
    assert "NaN" not in render(found, "json")


def test_few_items_that_are_mostly_equal_have_a_note() -> None:
    few = of_pairs([pair(f"a{i}", f"a{i} b{i}" if i % 4 else f"a{i}", float(i % 4 == 0)) for i in range(40)])
    [note] = [note for note in few.notes if note.startswith("intervals of overlap are rough")]
    assert "more than half of the scores are equal, and there are fewer than 80 items" in note


ODD_SCORES: dict[str, tuple[dict[str, Sequence[float | None]], str]] = {
    "constant": ({"x": [2] * 12, "y": [2] * 12}, "Krippendorff's alpha: undefined, all scores are equal"),
    "two items": ({"x": [0, 1], "y": [0, 1]}, "metrics are not compared: it takes three items or more"),
    "one annotator": ({"x": [0, 1, 2, 3, 2, 1]}, "there is one annotator, so that there is neither a ceiling nor"),
    "nothing in common": (
        {"x": [0, 1, 2, None, None, None], "y": [None, None, None, 1, 2, 4]},
        "Krippendorff's alpha: undefined, no item was scored by two annotators",
    ),
    "two in common": (
        {"x": [0, 1, 2, 3, 2, 1], "y": [None, None, None, None, 3, 1]},
        "Krippendorff's alpha in all",
    ),
    "one constant": (
        {"x": [0, 1, 2, 3, 2, 1], "y": [2] * 6},
        "annotator y: undefined, the scores of this annotator or",
    ),
}


@pytest.mark.parametrize("case", ODD_SCORES)
def test_odd_scores_have_one_sentence_and_no_nan(case: str) -> None:
    scores, message = ODD_SCORES[case]
    found = of_pairs(pairs_of(scores), "overlap", "kmr", "exact")
    assert len([note for note in found.notes if note.startswith(message)]) == 1, found.notes
    for form in ("table", "md", "csv", "json", "latex", "html", "typst"):
        shown = render(found, form)
        assert not re.search(r"\bnan\b", shown, re.IGNORECASE), form
    assert "score: ." not in render(found)


def test_equal_metrics_are_tested_once() -> None:
    """overlap and rouge1 ignore the order of words, so that rougeL is compared with both by one test."""
    phrases = ["z y x w v", "a z y x w", "b a z y x", "c b a z y", "a b c d z", "e d c b a", "a b z y x", "a b c z y"]
    scores = [
        pair(phrase, "a b c d e f", score, annotator)
        for annotator in "xy"
        for phrase, score in zip(phrases, [0, 1, 2, 2, 3, 3, 1, 4], strict=True)
    ]
    found = of_pairs(scores, "overlap", "rouge1", "rougeL")
    by_pair = {frozenset((row["metric"], row["against"])): row for row in found.comparisons()}
    same = by_pair[frozenset(("overlap", "rouge1"))]
    assert (same["difference"], same["p_adjusted"]) == (0.0, 1.0)
    others = [row for row in by_pair.values() if row is not same]
    assert [row["family"] for row in others] == [1, 1]
    assert all(0 < row["p"] < 1 for row in others)
    assert [row["p_adjusted"] for row in others] == [row["p"] for row in others]


# ---------------------------------------------------------------------------------------------- files


def test_scores_are_read_from_every_container(tmp_path: Path) -> None:
    expected = human(PAIRS, metrics=["kmr"])
    given = records(PAIRS)
    packed, listed = tmp_path / "a.jsonl.gz", tmp_path / "a.json"
    packed.write_bytes(gzip.compress(PAIRS.read_bytes()))
    listed.write_text(json.dumps(given, indent=1))
    tables = {tmp_path / "a.csv": ",", tmp_path / "a.tsv": "\t", tmp_path / "no_suffix": ","}
    for path, delimiter in tables.items():
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(given[0]), delimiter=delimiter)
            writer.writeheader()
            writer.writerows(given)
    for path in (packed, listed, *tables):
        assert human(path, metrics=["kmr"]).rows() == expected.rows(), path
    assert human(given, metrics=["kmr"]).rows() == expected.rows()


def test_zst_files_are_read(tmp_path: Path) -> None:
    import zstandard

    (tmp_path / "a.jsonl.zst").write_bytes(zstandard.compress(SETS.read_bytes()))
    assert read_judged(tmp_path / "a.jsonl.zst").items == read_judged(SETS).items


def test_equal_repeats_count_once_and_are_told() -> None:
    scores = pairs_of(ANNOTATED)
    found = of_pairs([*scores, scores[0], scores[3]])
    assert found.rows() == of_pairs(scores).rows()
    assert "2 scores were given again, the same as before, and count once" in found.notes


PAIR, SET = '{"prediction": "a", "reference": "b", "annotator": "x", "score": 1}', '{"id": "s000", "score": 0.5}'

BAD = {
    '{"text": "a", "score": 1}': "neither an id nor a prediction and a reference (there is text, score)",
    '{"prediction": "a", "score": 1}': "a prediction without a reference",
    '{"prediction": " ", "reference": "b", "score": 1}': "the prediction is one phrase, not ' '",
    '{"prediction": ["a"], "reference": "b", "score": 1}': "the prediction is one phrase, not ['a']",
    '{"id": ["s000"], "score": 1}': "id is a string, not ['s000']",
    '{"id": "s000"}': "no score; a line is",
    '{"id": "s000", "score": "high"}': "the score 'high' is not a finite number; write one, as 3 or 0.4",
    '{"id": "s000", "score": "0.4"}': "without quotes",
    '{"id": "s000", "score": true}': "the score True is not a finite number",
    '{"id": "s000", "score": 1e999}': "",
    '{"id": "s000", "score": [1]}': "the score [1] is not a finite number",
    '{"id": "s000", "score": NaN}': "NaN and Infinity are no numbers there",
    '{"id": "s000", "annotator": {}, "score": 1}': "annotator is a string, not {}",
    "[1, 2]": "",
    "{": "not JSON",
}


@pytest.mark.parametrize("line", BAD)
def test_a_line_that_is_no_score_is_named_with_its_place(tmp_path: Path, line: str) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text(f"{SET if 'prediction' not in line else PAIR}\n{line}\n")
    with pytest.raises(InputError) as error:
        human(path, corpus=CORPUS, runs=RUNS[:1])
    assert f"{path}:2: " in str(error.value)
    assert BAD[line] in str(error.value)


def test_what_does_not_fit_together_is_named(tmp_path: Path) -> None:
    def message(*lines: str, **given: Any) -> str:
        path = tmp_path / "s.jsonl"
        path.write_text("".join(f"{line}\n" for line in lines))
        with pytest.raises(KaratError) as error:
            human(path, **given)
        return str(error.value).replace(f"{path}", "s.jsonl")

    sets: dict[str, Any] = {"corpus": CORPUS, "runs": RUNS[:1]}
    assert message(PAIR, SET) == (
        "s.jsonl:2: a score of a set (id), but line 1 has one of a pair (prediction, reference); "
        "write them to two files"
    )
    assert message(PAIR, "", PAIR.replace("1}", "2}")) == (
        "s.jsonl:3: annotator 'x' scores 'a' / 'b' 2, but 1 on line 1; keep one"
    )
    assert 'or name the annotators: "annotator": "x"' in message(SET, SET.replace("0.5", "0.6"))
    assert message("") == "s.jsonl: the file is empty"
    assert "--corpus CORPUS and --run RUN" in message(SET)
    assert "--corpus CORPUS and --run RUN" in message(SET, corpus=CORPUS)
    assert message(SET, SET.replace("s000", "d7"), **sets).startswith(
        f"s.jsonl:2: scores for an unknown document: 'd7' is not in {CORPUS}, whose ids are as 's000'"
    )
    assert message(SET, corpus=CORPUS, runs=RUNS) == (
        's.jsonl:1: no system, though there are 2 runs; write "system": "alpha" or "system": "beta"'
    )
    named = SET.replace("}", ', "system": "alpha"}')
    assert "no system, though other lines name one" in message(named, SET, **sets)
    assert "unknown system 'alfa'; did you mean 'alpha'?" in message(named.replace("alpha", "alfa"), **sets)
    assert "which need no run" in message(PAIR, runs=RUNS)
    assert "leave out --protocol" in message(PAIR, protocol="chan2019")
    assert "unknown similarity 'overlop'; did you mean 'overlap'" in message(PAIR, metrics=["overlop"])
    assert "unknown metric 'f2'" in message(SET, metrics=["f2@M"], **sets)
    assert message(PAIR, metrics=[]) == "there is no metric to measure against people"


def test_a_table_without_scores_says_what_a_line_is(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,score\n")
    with pytest.raises(InputError, match="there are no scores in it; a line is"):
        human(path)
    path.write_text("id,score\ns000,\n")
    with pytest.raises(InputError, match=r"a\.csv:2: no score"):
        human(path)
    path.write_text("id,score\ns000,nan\n")
    with pytest.raises(InputError, match=r"a\.csv:2: the score 'nan' is not a finite number; write one, as 3 or 0\.4$"):
        human(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"combine": "median"}, "unknown value of combine 'median'"),
        ({"coefficient": "kendal"}, "did you mean 'kendall'"),
        ({"level_of_scale": "ratio"}, "unknown value of level_of_scale 'ratio'"),
        ({"level": 95}, "level is a number above 0 and below 1, not 95"),
        ({"seed": -1}, "from 0 on, not -1"),
        ({"protocol": ["karat", "chan2019"]}, "under one protocol"),
    ],
)
def test_options_that_cannot_be_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        human(PAIRS, **options)
    assert message in str(error.value)


# ---------------------------------------------------------------------------------------------- as text


def test_names_in_files_are_never_markup_nor_formulas() -> None:
    scores = [{**each, "annotator": name} for name in ("=1+1|_", "b\x1b[2J\nc") for each in pairs_of({"": [0, 1, 3]})]
    found = of_pairs(scores)
    assert "'=1+1|_" in render(found, "csv")
    assert r"=1+1\|\_" in render(found, "md")
    assert "\x1b" not in render(found)
    assert "b�[2J c" in render(found)


def test_json_has_these_parts_and_no_nan() -> None:
    found = json.loads(render(of_pairs(pairs_of({"x": [1, 1], "y": [2, 3]})), "json"))
    assert list(found) == ["signatures", "rows", "annotators", "agreement", "classes", "comparisons", "notes"]
    assert found["rows"][0]["ci"]["pearson"] == [None, None]
    assert found["annotators"][0]["pearson"] is None
    assert found["signatures"]["human"].startswith("combine=mean,level_of_scale=interval,level=0.95,seed=0,")


def test_csv_has_a_line_for_each_metric_ceiling_and_annotator() -> None:
    found = human(PAIRS, metrics=["kmr", "bleu,reference=given"])
    lines = list(csv.DictReader(render(found, "csv").splitlines()))
    subsets = len({row["subset"] for row in found.rows()})
    assert [line["row"] for line in lines] == ["metric"] * 2 * subsets + ["ceiling"] * subsets + ["annotator"] * 3
    assert (lines[1]["metric"], lines[1]["options"], lines[-1]["metric"]) == ("bleu", "reference=given", "cem")
    assert float(lines[0]["pearson_low"]) == found.rows()[0]["ci"]["pearson"][0]
