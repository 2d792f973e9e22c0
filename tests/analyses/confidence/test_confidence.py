"""karat.confidence: what it finds, on documents that can be counted by hand and on the bundled ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import logit

import karat
from karat.analyses.confidence.result import Calibrate, Confidence

DEMO = Path(karat.__file__).parent / "demo"
DOCUMENTS = [
    {"id": "d1", "text": "Deep nets learn.", "keyphrases": ["deep nets", "trees"]},
    {"id": "d2", "text": "Bees swarm.", "keyphrases": ["bees"]},
]
# Present: deep nets .9 (right), bees .6 (right), swarm .6 (wrong). Absent: tree .5 (right), x .4 (wrong).
RUN = [
    {"id": "d1", "keyphrases": ["deep nets", "tree", "deep net"], "token_probs": [[0.81, 1.0], [0.5], [0.2, 0.2]]},
    {"id": "d2", "keyphrases": ["bees", "swarm", "x"], "token_probs": [[0.6], [0.36, 1.0], [0.4]]},
]


def found(run: list[dict[str, Any]] = RUN, **options: Any) -> Confidence:
    return karat.confidence(karat.Corpus.of(DOCUMENTS), karat.Run.of(run, "mine"), **options)


@pytest.fixture(scope="module")
def demo() -> list[dict[str, Any]]:
    return karat.confidence(DEMO / "corpus.jsonl", DEMO / "by-hand.jsonl").rows()


def test_five_predictions_by_hand() -> None:
    whole, present, absent = found(precision=0.75).rows()
    assert [row["subset"] for row in (whole, present, absent)] == ["all", "present", "absent"]
    # Bins .4, .5, .6 (two) and .9, apart by .4, .5, .1 and .1; the repeat `deep net` is dropped.
    assert (whole["predictions"], whole["correct"], whole["left_out"], whole["undefined"]) == (5, 3, 0, 0)
    assert whole["ece"] == pytest.approx((0.4 + 0.5 + 2 * 0.1 + 0.1) / 5)
    assert whole["mce"] == pytest.approx(0.5)
    assert whole["brier"] == pytest.approx((0.1**2 + 0.5**2 + 0.4**2 + 0.6**2 + 0.4**2) / 5)
    assert present["ece"] == pytest.approx((2 * 0.1 + 0.1) / 3)
    assert absent["ece"] == pytest.approx((0.4 + 0.5) / 2)
    assert whole["bins"][6] == {
        "low": 0.6,
        "high": 0.7,
        "n": 2,
        "confidence": pytest.approx(0.6),
        "accuracy": pytest.approx(0.5),
    }
    assert whole["bins"][0]["confidence"] is None
    assert [whole["kpp_median"], present["kpp_median"], absent["kpp_median"]] == pytest.approx([1 / 0.6, 1 / 0.6, 2.25])
    assert whole["histogram"] == [0, 0, 0, 0, 1, 1, 2, 0, 0, 1]
    assert [(each["rank"], each["n"]) for each in whole["ranks"]] == [(1, 2), (2, 2), (3, 1)]
    medians = [(1 / 0.9 + 1 / 0.6) / 2, (2 + 1 / 0.6) / 2, 2.5]
    assert [each["kpp_median"] for each in whole["ranks"]] == pytest.approx(medians)
    first, second = whole["token_positions"]
    assert (first["n"], first["mean"], first["median"]) == (5, pytest.approx((0.81 + 0.5 + 0.6 + 0.36 + 0.4) / 5), 0.5)
    assert (second["n"], second["q1"], second["q3"]) == (2, 1.0, 1.0)
    # Of those from .9, .6, .5 and .4 on: 1 of 1, 2 of 3, 3 of 4 and 3 of 5 are right.
    assert (whole["threshold"]["threshold"], whole["threshold"]["share"]) == (0.5, 0.8)


def test_the_figures_of_the_verb_are_those_of_the_metrics(demo: list[dict[str, Any]]) -> None:
    names = ["ece", "mce", "brier", "kpp"]
    metrics = [f"{name}:{row['subset']}" for row in demo for name in names]
    scores = karat.score(DEMO / "corpus.jsonl", DEMO / "by-hand.jsonl", metrics=metrics).rows()
    figures = [row["kpp_median" if name == "kpp" else name] for row in demo for name in names]
    assert figures == pytest.approx([score["value"] for score in scores], rel=1e-12)
    assert [row["subset"] for row in demo] == ["all", "present", "absent"]


def test_parts_histograms_bins_and_curves_add_up(demo: list[dict[str, Any]]) -> None:
    for row in demo:
        parts = row["reliability"] - row["resolution"] + row["uncertainty"] + row["within_bins"]
        assert row["brier"] == pytest.approx(parts, abs=1e-12)
        assert sum(row["histogram"]) == sum(each["n"] for each in row["bins"]) == row["predictions"]
        assert sum(each["n"] for each in row["ranks"]) == row["token_positions"][0]["n"] == row["predictions"]
        assert row["risk_coverage"][-1]["risk"] == pytest.approx(1 - row["accuracy"])
        assert row["ece_debiased_ci"][0] < row["ece_debiased"] < row["ece_debiased_ci"][1]
    assert demo[0]["predictions"] == demo[1]["predictions"] + demo[2]["predictions"]


@pytest.mark.parametrize("copies", [1, 5])
@pytest.mark.parametrize("documents", [40, 160])
def test_documents_are_the_units_of_intervals_not_predictions(documents: int, copies: int) -> None:
    """Repeating each prediction within its document leaves the variance over documents as it is."""
    sure, hits = np.resize([0.15, 0.45, 0.85, 0.95], documents), np.resize([False, True, True, False], documents)
    phrases = [f"w{n}" for n in range(copies)]
    corpus = [{"id": str(i), "keyphrases": phrases if hit else ["z"]} for i, hit in enumerate(hits)]
    run = [{"id": str(i), "keyphrases": phrases, "scores": [c] * copies} for i, c in enumerate(sure.tolist())]
    row = karat.confidence(karat.Corpus.of(corpus), karat.Run.of(run), confidence="scores").rows()[0]
    squares = (sure - hits) ** 2
    brier = squares.mean()
    one_more = ((1 - 2 * sure) ** 2 * sure).mean() / (documents * copies) ** 2  # correct prediction
    error = np.sqrt(squares.var(ddof=1) / documents + one_more)
    assert one_more < 0.1 * squares.var(ddof=1) / documents
    reach = stats.t.ppf(0.975, documents - 1) * error / (brier * (1 - brier))
    assert row["brier"] == pytest.approx(brier)
    assert logit(row["brier_ci"]) == pytest.approx([logit(brier) - reach, logit(brier) + reach])


def test_the_parts_that_only_rank_need_no_tokens() -> None:
    documents = [{"id": str(i), "keyphrases": ["a", "b"]} for i in range(2)]
    run = [{"id": str(i), "keyphrases": ["a", "x"], "scores": [0.5, 0.5]} for i in range(2)]
    result = karat.confidence(karat.Corpus.of(documents), karat.Run.of(run), confidence="scores")
    assert result.rows()[0]["token_positions"] == []
    assert "cannot be told apart" in result.notes[-1]


def test_what_has_no_confidence_is_named_left_out_and_counted() -> None:
    nan = float("nan")
    odd = [
        {"id": "d1", "keyphrases": ["deep nets", "tree", "y"], "token_probs": [[1.5], [0.5], [0.2, nan]]},
        {"id": "d2", "keyphrases": ["bees", "swarm", "x"], "token_probs": [[0.6], [-0.1, 1.0], [0.0, 0.9]]},
    ]
    result = found(odd, precision=1.0)
    whole, present, absent = result.rows()
    assert [row["left_out"] for row in (whole, present, absent)] == [3, 2, 1]
    assert (whole["predictions"], whole["kpp_median"], absent["kpp_median"]) == (3, 2.0, None)
    assert result.notes[0] == (
        "mine: 3 of 6 predictions are left out: 1 without numbers, or with null or NaN ('y' of document d1), 1 with a "
        "negative probability ('swarm' of document d2), 1 with a probability above 1 ('deep nets' of document d1)"
    )
    assert result.notes[1] == "mine: predictions with a probability of 0, whose confidence is 0 and KPP infinite: 1"


@pytest.mark.parametrize(
    ("documents", "note"),
    [
        (1, "the debiased ECE and intervals need two documents with predictions"),
        (
            3,
            "fewer than 25 documents have predictions (mine, all): the debiased ECE keeps some bias, and intervals "
            "may cover less than the level says",
        ),
    ],
)
def test_few_documents_are_noted(documents: int, note: str) -> None:
    corpus = karat.Corpus.of({"id": str(n), "keyphrases": ["a"]} for n in range(documents))
    run = karat.Run.of(
        [{"id": str(n), "keyphrases": ["a", "b"], "token_probs": [[0.9], [0.6 + n / 50]]} for n in range(documents)],
        "mine",
    )
    result = karat.confidence(corpus, run)
    [row] = result.rows()
    assert note in result.notes
    assert (row["ece_debiased"] is None) == (row["ece_debiased_ci"][0] is None) == (documents == 1)
    assert row["ece"] is not None
    assert "nan" not in karat.render(result).lower()


def test_constant_confidences_and_hits_keep_an_interval_that_is_not_a_point() -> None:
    """Of 30 documents each prediction is wrong: the accuracy may still be above 0."""
    corpus = karat.Corpus.of({"id": str(n), "keyphrases": ["z"]} for n in range(30))
    run = karat.Run.of([{"id": str(n), "keyphrases": ["a"], "token_probs": [[0.3]]} for n in range(30)], "mine")
    [row] = karat.confidence(corpus, run).rows()
    assert (row["ece"], row["ece_debiased"]) == (pytest.approx(0.3), pytest.approx(0.3))
    low, high = row["ece_debiased_ci"]
    share = 4 * 0.3 / 34
    half = 2.0452 * (share * (1 - share) / 30) ** 0.5  # Student's t with 29 degrees of freedom
    assert (low, high) == (pytest.approx(0.3 - half, abs=1e-4), pytest.approx(0.3 + half, abs=1e-4))
    assert 0.0 <= row["brier_ci"][0] < 0.09 < row["brier_ci"][1]


def test_a_precision_that_is_never_reached_is_said() -> None:
    result = found([record | {"keyphrases": ["u", "v", "w"]} for record in RUN], precision=0.5)
    assert result.rows()[0]["threshold"]["threshold"] is None
    assert "mine, all: no threshold of confidence gives a precision of 0.5" in result.notes


def overconfident(n: int, name: str, seed: int) -> tuple[karat.Corpus, karat.Run]:
    """A corpus, and a run that is as often right as the square of its confidence."""
    random = np.random.default_rng(seed)
    sure = random.uniform(0.3, 1.0, size=(n, 5))
    right = random.random((n, 5)) < sure**2
    corpus = [{"id": str(i), "keyphrases": [f"w{j}" for j in range(5) if right[i, j]] + ["z"]} for i in range(n)]
    phrases = [f"w{j}" for j in range(5)]
    run = [{"id": str(i), "keyphrases": phrases, "scores": sure[i].tolist()} for i in range(n)]
    return karat.Corpus.of(corpus, name), karat.Run.of(run, "mine")


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_a_calibration_fitted_elsewhere_helps_here(method: Calibrate) -> None:
    corpus, run = overconfident(400, "test", 1)
    other, fit = overconfident(800, "dev", 2)
    result = karat.confidence(corpus, run, calibrate=method, fit=(other, [fit]), confidence="scores")
    [row] = result.rows()
    after = row["calibrated"]
    assert (after["method"], after["corpus"], after["run"], after["itself"]) == (method, "dev", "mine", False)
    assert not any("judged by" in note for note in result.notes)
    assert row["ece"] > 0.15
    assert after["ece"] < (row["ece"] if method == "temperature" else 0.05)
    assert after["brier"] < row["brier"]
    assert sum(each["n"] for each in after["bins"]) == row["predictions"]


def test_a_calibration_fitted_on_what_it_is_judged_by_says_so() -> None:
    corpus, run = overconfident(100, "test", 1)
    result = karat.confidence(corpus, run, calibrate="isotonic", confidence="scores")
    [row] = result.rows()
    assert row["calibrated"]["itself"]
    assert row["calibrated"]["ece"] == pytest.approx(0, abs=1e-9)  # nothing is left where it was fitted
    assert any("fitted on the predictions that it is judged by" in note for note in result.notes)


def test_what_cannot_be_fitted_leaves_confidences_as_they_are_and_says_why() -> None:
    """Sure of .9 and right in one of three: neither all right nor all wrong, and no temperature goes below .5."""
    corpus = karat.Corpus.of({"id": str(n), "keyphrases": ["a"]} for n in range(4))
    run = karat.Run.of(
        [{"id": str(n), "keyphrases": ["a", "b", "c"], "scores": [0.9, 0.9, 0.8]} for n in range(4)], name="mine"
    )
    options: dict[str, Any] = {"confidence": "scores"}
    result = karat.confidence(corpus, run, calibrate="temperature", **options)
    [row] = result.rows()
    assert (row["calibrated"], row["ece"] is None) == (None, False)
    assert (
        "mine: no temperature fits best (the higher the better, without end: of 12 surer than .5 4 are right), so its "
        "confidences stay as they are; --calibrate platt or isotonic can move them across .5 too"
    ) in result.notes
    assert "After" not in karat.render(result)
    [row] = karat.confidence(corpus, run, calibrate="isotonic", **options).rows()
    assert row["calibrated"]["ece"] == pytest.approx(0, abs=1e-9)
    unfit = karat.confidence(corpus, run, calibrate="platt", **options)
    assert unfit.rows()[0]["calibrated"] is None
    assert any(
        "no Platt scaling fits best (no right prediction is less sure than a wrong one)" in n for n in unfit.notes
    )


def test_platt_scaling_tells_its_numbers_and_a_falling_curve_is_noted() -> None:
    """σ(slope · logit + intercept) is the accuracy of each of two confidences: 1 of 4 at .9, 3 of 4 at .6."""
    corpus = karat.Corpus.of(
        [{"id": str(n), "keyphrases": ["a"] * (n == 0) + ["b"] * (n != 3) + ["z"]} for n in range(4)]
    )
    run = karat.Run.of({"id": str(n), "keyphrases": ["a", "b"], "scores": [0.9, 0.6]} for n in range(4))
    result = karat.confidence(corpus, run, calibrate="platt", confidence="scores")
    after = result.rows()[0]["calibrated"]
    slope = -2 * np.log(3) / (np.log(9) - np.log(1.5))
    assert (after["slope"], after["temperature"]) == (pytest.approx(slope, abs=1e-6), None)
    assert after["intercept"] == pytest.approx(-np.log(3) - slope * np.log(9), abs=1e-6)
    assert "After Platt scaling (slope = -1.226, intercept = 1.596)" in " ".join(karat.render(result).split())
    assert any("the surer, the less often right" in note for note in result.notes)


# ---------------------------------------------------------------------------------------------- scores


def scored(*lists: list[float], confidence: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """The first row of a run with these scores, and the notes on them."""
    corpus = karat.Corpus.of({"id": str(n), "keyphrases": ["a"]} for n in range(len(lists)))
    phrases = list("abcdefgh")
    run = karat.Run.of(
        [{"id": str(n), "keyphrases": phrases[: len(each)], "scores": each} for n, each in enumerate(lists)], "mine"
    )
    result = karat.confidence(corpus, run, confidence=confidence)
    return result.rows()[0], [note for note in result.notes if "scores" in note]


NEEDED = "; ECE, Brier score and reliability need probabilities between 0 and 1, and only measures of rank are computed"
SHARES = [[0.5, 0.3, 0.2 - n / 100] for n in range(10)]


@pytest.mark.parametrize(
    ("lists", "why"),
    [
        ([[12.25, 3.0], [0.5]], "not probabilities (largest 12.2)"),
        ([[0.5, -0.25]], "not probabilities (smallest -0.25)"),
        (SHARES, "not probabilities (those of a document add up to 1 at most, as weights do)"),
        (
            [[0.9, 0.8], [0.7]],
            "not assumed to be probabilities (from 0.7 to 0.9; if they are, use --confidence scores)",
        ),
    ],
)
def test_scores_are_no_probabilities_unless_the_user_says_so(lists: list[list[float]], why: str) -> None:
    row, notes = scored(*lists)
    assert notes == [f"scores of mine are {why}{NEEDED}"]
    names = ("mean_confidence", "ece", "ece_debiased", "ece_by_chance", "mce", "brier", "reliability", "kpp_median")
    assert [row[name] for name in names] == [None] * len(names)
    assert (row["bins"], row["ece_debiased_ci"], row["brier_ci"]) == ([], [None, None], [None, None])
    assert not row["probabilities"]
    assert row["aurc"] is not None
    assert len(row["risk_coverage"]) > 0


def test_scores_of_any_size_rank_predictions() -> None:
    """With scores s and 10 s − 3 the order is the same, and so is everything that depends on it alone."""
    lists = [[0.9, 0.8, 0.1], [0.7, 0.95], [0.3]]
    small, _ = scored(*lists, confidence="scores")
    large, _ = scored(*([10 * score - 3 for score in each] for each in lists))
    assert large["aurc"] == small["aurc"]
    assert [(p["coverage"], p["risk"]) for p in large["risk_coverage"]] == [
        (p["coverage"], p["risk"]) for p in small["risk_coverage"]
    ]
    assert large["risk_coverage"][-1]["threshold"] == pytest.approx(-2)


def test_scores_that_the_user_calls_probabilities_are_used_as_such() -> None:
    row, notes = scored([0.9, 0.8], [0.7], confidence="scores")
    assert (row["probabilities"], notes) == (True, [])
    assert row["ece"] == pytest.approx((0.1 + 0.8 + 0.3) / 3)
    _, notes = scored(*SHARES, confidence="scores")
    assert notes == [
        "mine: its scores add up to 1 at most in each document, as the weights of extractors do, not probabilities"
    ]
    with pytest.raises(karat.InputError, match=r"the score 12\.2 of 'a' is not from 0 to 1"):
        scored([12.2, 3.0], confidence="scores")


def test_no_calibration_is_fitted_on_scores_that_only_rank() -> None:
    corpus = karat.Corpus.of({"id": str(n), "keyphrases": ["a"]} for n in range(4))
    run = karat.Run.of([{"id": str(n), "keyphrases": ["a", "b"], "scores": [9.0, 2.5]} for n in range(4)], "mine")
    result = karat.confidence(corpus, run, calibrate="isotonic")
    assert result.rows()[0]["calibrated"] is None
    assert any(note.startswith("scores of mine are not probabilities (largest 9)") for note in result.notes)
    text = karat.render(result)
    assert "Median KPP" not in text
    assert "surest" in text
    assert "nan" not in text.lower()


def test_nothing_is_said_of_scores_where_probabilities_of_tokens_are_read() -> None:
    corpus = karat.Corpus.of([{"id": "1", "keyphrases": ["a"]}])
    run = karat.Run.of([{"id": "1", "keyphrases": ["a"], "scores": [0.1], "token_probs": [[0.9]]}])
    assert not [note for note in karat.confidence(corpus, run).notes if "scores" in note]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 0}, "bins is a whole number from 1 to 1,000,000, not 0"),
        ({"binning": "widht"}, "did you mean 'width'"),
        ({"precision": 50}, "the wanted precision is above 0 and at most 1, as 0.5, not 50"),
        ({"confidence": "probs"}, "unknown value of confidence 'probs'"),
        ({"calibrate": "plat"}, "unknown value of calibrate 'plat'; did you mean 'platt'"),
        ({"level": 95}, "level is a number above 0 and below 1, not 95"),
        ({"fit": (karat.Corpus.of(DOCUMENTS), [karat.Run.of(RUN)])}, "nothing is fitted without a calibration"),
        ({"confidence": "scores"}, r'in mine \(memory\); write "scores"'),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(options: dict[str, Any], message: str) -> None:
    with pytest.raises(karat.InputError, match=message):
        found(**options)
