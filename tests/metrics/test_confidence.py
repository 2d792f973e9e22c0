"""Metrics of confidence: keyphrase perplexity by hand, its extremes, and what a run must tell."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

import karat

CORPUS = karat.Corpus.of([{"id": "d1", "text": "Deep nets.", "keyphrases": ["deep nets", "trees"]}])


def value(metric: str, corpus: karat.Corpus = CORPUS, **told: Any) -> Any:
    run = karat.Run.of([{"id": "d1", "keyphrases": ["deep nets", "graph", "forest"], **told}])
    return karat.score(corpus, run, metrics=[metric]).rows()[0]["value"]


PROBS = [[0.5, 0.125], [0.8], [0.1, 0.1, 0.1]]


def test_perplexity_and_confidence_by_hand() -> None:
    # (.5 · .125)^(−1/2) = 4, 1/.8 = 1.25, 10; of these the median is 4. Confidences .25 (right), .8 and .1 (wrong).
    assert value("kpp", token_probs=PROBS) == pytest.approx(4)
    assert value("ece", token_probs=PROBS) == pytest.approx((0.75 + 0.8 + 0.1) / 3)
    assert value("mce", token_probs=PROBS) == pytest.approx(0.8)
    assert value("brier", token_probs=PROBS) == pytest.approx((0.75**2 + 0.8**2 + 0.1**2) / 3)
    # In one bin: 1.15 sure, 1 right.
    assert value("ece,bins=1", token_probs=PROBS) == pytest.approx(0.15 / 3)
    # Two bins of equal mass: .1 alone, then .25 and .8 with one hit.
    assert value("ece_mass,bins=2", token_probs=PROBS) == pytest.approx((0.1 + abs(1.05 - 1)) / 3)


def test_logarithms_and_scores_are_read_in_their_turn() -> None:
    logs = [[log(p) for p in tokens] for tokens in PROBS]
    assert value("kpp", token_logprobs=logs, scores=[-9.0, 7.0, 2.0]) == pytest.approx(4)
    scores = [0.25, 0.8, 0.1]
    assert value("brier,confidence=scores", scores=scores) == pytest.approx(value("brier", token_probs=PROBS))
    assert value("ece,confidence=scores", token_probs=[[0.5]] * 3, scores=scores) == pytest.approx(1.65 / 3)


def test_long_phrases_and_tiny_probabilities_do_not_underflow() -> None:
    tiny = [[1e-300] * 1000, [1e-300, 1.0], [1.0] * 1000]
    assert value("kpp:absent", token_probs=tiny) == pytest.approx((1e150 + 1) / 2)
    assert value("kpp:present", token_probs=tiny) == pytest.approx(1e300)
    nought = [[0.5, 0.0], [0.5], [1.0]]
    assert value("kpp:present", token_probs=nought) == float("inf")
    assert value("brier:present", token_probs=nought) == 1.0  # confidence 0, and right


def test_predictions_without_a_confidence_are_left_out() -> None:
    nan = float("nan")
    odd: list[Any] = [[0.75], [0.5, nan], None]
    assert value("ece", token_probs=odd) == pytest.approx(0.25)
    assert value("ece", token_probs=[[0.75], [1.5], [-0.5]]) == pytest.approx(0.25)
    assert value("ece", token_probs=[[0.75], [0.5, None], []]) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("metric", "told", "message"),
    [
        ("ece", {}, r'no prediction tells how sure .*, in run \(memory\); write "token_probs" or "token_logprobs" or'),
        ("brier,confidence=scores", {"token_probs": PROBS}, r'write "scores": numbers of each phrase, as "scores": \['),
        ("brier", {"scores": [0.5, 0.3, 0.1]}, "scores are not assumed to be probabilities.*: ece,confidence=scores"),
        ("ece", {"token_probs": [[-0.1], [-2.0], [0.0]]}, 'they are logarithms; name them "token_logprobs"'),
        ("ece", {"token_logprobs": [[0.1], [0.5], None]}, 'they are probabilities; name them "token_probs"'),
        ("kpp", {"token_probs": [[7.0], [-1.0], None]}, "no phrase has token_probs that can be used: .* from -1 to 7"),
        ("mce", {"scores": [0.5, 3.5, 0.1]}, "document 'd1': the score 3.5 of 'graph' is not from 0 to 1"),
        ("ece,bins=0", {"token_probs": PROBS}, "option bins of ece is a number from 1"),
        ("kpp,confidence=token_prob", {"token_probs": PROBS}, "did you mean 'token_probs'"),
        ("brier,bins=3", {"token_probs": PROBS}, "unknown option of brier 'bins'"),
    ],
)
def test_what_cannot_be_a_confidence_is_refused_in_words(metric: str, told: dict[str, Any], message: str) -> None:
    with pytest.raises(karat.InputError, match=message):
        value(metric, **told)


def test_a_comparison_resamples_them_like_any_metric() -> None:
    documents = [{"id": str(i), "text": "a b", "keyphrases": ["a"]} for i in range(12)]
    sure = [{"id": str(i), "keyphrases": ["a", "b"], "token_probs": [[0.9], [0.9]]} for i in range(12)]
    unsure = [{"id": str(i), "keyphrases": ["a", "b"], "token_probs": [[0.9], [0.1 + i / 100]]} for i in range(12)]
    runs = [karat.Run.of(sure, "sure"), karat.Run.of(unsure, "unsure")]
    metrics = ["ece", "ece_mass", "mce", "brier", "kpp"]
    found = karat.compare(karat.Corpus.of(documents), *runs, metrics=metrics, resamples=200)
    ends = {(row["system"], row["metric"]): row["ci"] for row in found.as_dict()["systems"]}
    # Every document is alike: .9 sure, half right. With 95 % confidence at most this share of others is not.
    unseen = 1 - 0.025 ** (1 / 12)
    assert ends["sure", "ece"] == pytest.approx([0.4 - unseen, 0.4 + unseen])
    assert ends["sure", "kpp"] == pytest.approx([1 / 0.9, 1 / 0.9])
    # Of .9 and .1, .11, ... .21: apart by .1 and by these, on which it depends which documents are drawn.
    low, high = ends["unsure", "ece"]
    assert (0.1 + 0.1) / 2 < low < (0.1 + 0.155) / 2 < high < (0.1 + 0.21) / 2


# ---------------------------------------------------------------------------------------------- Kundu's own rules

PLACEHOLDERS = "kundu2023,duplicates=surface,ece_total=placeholders"
TWO = karat.Corpus.of(
    [
        {"id": "d1", "text": "Deep nets learn.", "keyphrases": ["deep nets"]},
        {"id": "d2", "text": "Deep nets learn.", "keyphrases": ["deep nets"]},
    ]
)


def calibration_error(run: list[dict[str, Any]], protocol: str, metric: str = "ece") -> float:
    found: float = karat.score(TWO, karat.Run.of(run), metrics=[metric], protocol=protocol).rows()[0]["value"]
    return found


def test_placeholders_stand_for_kinds_without_predictions() -> None:
    """d1 has two present predictions that are written differently and no absent one, d2 none at all: 2 + 1 + 2."""
    run: list[dict[str, Any]] = [
        {"id": "d1", "keyphrases": ["deep nets", "deep net", "deep net"], "scores": [0.9, 0.8, 0.7]},
        {"id": "d2", "keyphrases": [], "scores": []},
    ]
    of_scores = "ece,confidence=scores"
    assert calibration_error(run, "kundu2023", of_scores) == pytest.approx(0.1)  # by stems they are one prediction
    assert calibration_error(run, "kundu2023,duplicates=surface", of_scores) == pytest.approx((0.1 + 0.2) / 2)
    assert calibration_error(run, PLACEHOLDERS, of_scores) == pytest.approx((0.1 + 0.2) / 5)
    assert calibration_error(run, PLACEHOLDERS, "ece:present,confidence=scores") == pytest.approx((0.1 + 0.2) / 3)
    assert calibration_error(run, PLACEHOLDERS, "ece:absent,confidence=scores") == 0
    assert calibration_error(run, PLACEHOLDERS, "mce,confidence=scores") == pytest.approx(0.2)


def test_what_has_no_confidence_counts_among_the_predictions_that_are_divided_by() -> None:
    run: list[dict[str, Any]] = [
        {"id": "d1", "keyphrases": ["deep nets", "cut off"], "token_probs": [[0.9], None]},
        {"id": "d2", "keyphrases": ["deep nets", "trees"], "token_probs": [[0.6], [0.3]]},
    ]
    assert calibration_error(run, PLACEHOLDERS) == pytest.approx((0.1 + 0.4 + 0.3) / 4)
    assert calibration_error(run, "kundu2023") == pytest.approx((0.1 + 0.4 + 0.3) / 3)


def test_a_part_of_the_joined_references_of_its_kind_is_correct() -> None:
    """Present are `neural network graph` one after the other, absent is `forest`."""
    corpus = karat.Corpus.of(
        [{"id": "1", "text": "Neural networks and graphs.", "keyphrases": ["neural networks", "graph", "forests"]}]
    )
    phrases = ["network graph", "net", "forest", "neural networks"]
    run = karat.Run.of(
        [{"id": "1", "keyphrases": phrases, "scores": [0.85] * 4, "kinds": ["present", "present", "absent", "absent"]}]
    )
    protocols = [
        f"kundu2023,kinds={kinds},correct={rule}" for kinds in ("text", "run") for rule in ("hit", "substring")
    ]
    results = [karat.confidence(corpus, run, protocol=each, confidence="scores") for each in protocols]
    found = [result.rows()[0]["correct"] for result in results]
    # By the text, `network graph` and `forest` are absent and the others present; `neural networks` is no part of what
    # is absent, as the run has it.
    assert found == [2, 3, 2, 3]
    by_kind = karat.confidence(corpus, run, protocol=protocols[3], confidence="scores").rows()
    assert [(row["subset"], row["predictions"], row["correct"]) for row in by_kind] == [
        ("all", 4, 3),
        ("present", 2, 2),
        ("absent", 2, 1),
    ]


def test_the_verb_and_the_metric_give_the_same_calibration_error_under_every_rule() -> None:
    run = karat.Run.of(
        [
            {"id": "d1", "keyphrases": ["deep nets", "deep net", "trees"], "scores": [0.9, 0.8, 0.4]},
            {"id": "d2", "keyphrases": ["net", "nets", "learn"], "scores": [0.2, 0.3, 0.9]},
        ]
    )
    for total in ("judged", "placeholders"):
        for rule in ("hit", "substring"):
            for duplicates in ("drop", "surface", "keep"):
                protocol = f"kundu2023,ece_total={total},correct={rule},duplicates={duplicates}"
                rows = karat.confidence(TWO, run, protocol=protocol, confidence="scores").rows()
                metrics = [f"ece{subset},confidence=scores" for subset in ("", ":present", ":absent")]
                scored = karat.score(TWO, run, metrics=metrics, protocol=protocol).rows()
                assert [row["ece"] for row in rows] == [row["value"] for row in scored], protocol
