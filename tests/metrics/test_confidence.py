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
    assert value("brier", scores=scores) == pytest.approx(value("brier", token_probs=PROBS))
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
    assert ends["sure", "ece"] == pytest.approx([0.4, 0.4])  # every document is alike: .9 sure, half right
    assert ends["sure", "kpp"] == pytest.approx([1 / 0.9, 1 / 0.9])
    # Of .9 and .1, .11, ... .21: apart by .1 and by these, on which it depends which documents are drawn.
    low, high = ends["unsure", "ece"]
    assert (0.1 + 0.1) / 2 < low < (0.1 + 0.155) / 2 < high < (0.1 + 0.21) / 2
