"""What holds for every registered metric, under every protocol."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
import karat.corpus
import karat.metrics
from karat.metrics.base import METRICS, Metric
from karat.protocol import PRESETS
from karat.results import Score
from tests.examples import examples

WORDS = ["graph", "graphs", "neural", "nets", "deep", "a", "ai", "train", "data/base", ",", "<unk>", "x_y"]
PROTOCOLS = sorted(PRESETS)
# What is said of predictions alone; some of it says nothing of a single prediction.
OF_TWO_PREDICTIONS = {"self_bleu", "self_edit_distance", "emb_sim", "sem_diverse_index"}
OF_RATIOS = {"duplicate_ratio", "dup_token_ratio", "unique_token_ratio", "unique_phrase_ratio"}
OF_PREDICTIONS = OF_TWO_PREDICTIONS | OF_RATIOS | {"count_mae"}
# How much unlike phrases are alike at most: they still share letters.
UNLIKE = {"emb_sim": 0.4, "self_edit_distance": 50.0, "sem_diverse_index": 1.0}
OF_CONFIDENCE = {"ece", "ece_mass", "mce", "brier", "kpp"}
# Facts, which are neither good nor bad.
PERFECT_FACTS: dict[str, dict[str, float | None]] = {
    "words": {"all": 2.0, "present": 2.0, "absent": 2.0},
    "share": {"all": 1.0, "present": (2 / 3 + 1 / 2) / 2, "absent": (1 / 3 + 1 / 2) / 2},
    "position": {"absent": None},
}
ERRORS = {name for name, metric in METRICS.load().items() if metric.better == "lower"}
SUBSETS = ["all", "present", "absent", "P", "R", "M", "U"]

phrases = st.lists(st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join), max_size=6)
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
documents = st.lists(
    st.fixed_dictionaries({"title": texts, "text": texts, "keyphrases": phrases, "predicted": phrases}),
    min_size=1,
    max_size=7,
)


def requests(metric: Metric) -> list[str]:
    """A metric in all its subsets, cutoffs and averages."""
    cutoffs = {"required": ["@2", "@M", "@O", "@G"], "optional": ["", "@2"], "none": [""]}[metric.cutoff]
    return [f"{metric.name}{k}:{s}/{a}" for k in cutoffs for s in SUBSETS for a in metric.averages]


def corpus_and_run(given: list[dict[str, Any]], predicted: str = "predicted") -> tuple[karat.Corpus, karat.Run]:
    numbered = [d | {"id": str(i)} for i, d in enumerate(given)]
    corpus = [{k: v for k, v in d.items() if k != "predicted"} for d in numbered]
    run = [{"id": d["id"], "keyphrases": d[predicted], "token_probs": sure(d, d[predicted])} for d in numbered]
    return karat.Corpus.of(corpus), karat.Run.of(run)


def sure(document: dict[str, Any], phrases: list[str]) -> list[list[float]]:
    """Probabilities of tokens: sure of the references, and of other phrases the less the longer they are."""
    return [[1.0] if phrase in document["keyphrases"] else [0.9, 1 / (2 + len(phrase))] for phrase in phrases]


# Some of the words as concepts, two of them by two labels, and one above another; what is no concept stays a string.
VOCABULARY = karat.Vocabulary.of(
    [
        karat.Concept("x:1", (karat.Label("graph"), karat.Label("deep nets", kind="alternative"))),
        karat.Concept("x:2", (karat.Label("neural nets"), karat.Label("ai", kind="alternative")), ("x:1",)),
        karat.Concept("x:3", (karat.Label("data"),)),
    ]
)


def scores(given: list[dict[str, Any]], metrics: list[str], protocol: str) -> karat.Results:
    vocabulary = VOCABULARY if metrics[0].startswith("hier_") else None
    return karat.score(*corpus_and_run(given), metrics=metrics, protocol=protocol, vocabulary=vocabulary)


def by_document(score: Score, documents: int) -> Any:
    """The rows of each document, added where it has several."""
    if score.rows.units is None:
        return score.rows.values
    found = np.zeros((documents, score.rows.values.shape[1]))
    np.add.at(found, score.rows.units, score.rows.values)
    return found


def some_references(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The documents, and one with a reference and a word of text, so that there is something to score."""
    return [*given, {"title": "deep nets", "text": "graph", "keyphrases": ["graph", "tree"], "predicted": ["graph"]}]


def test_no_metric_is_left_out() -> None:
    expected = "p r f1 map mrr bpref ndcg alpha_ndcg substring_precision substring_recall substring_f1 r_precision"
    soft = "soft_p soft_r soft_f sem_p sem_r sem_f"
    assert set(METRICS.load()) >= {*expected.split(), *soft.split(), *OF_PREDICTIONS}
    for metric in METRICS.load().values():
        assert metric.summary.endswith("."), f"{metric.name} says nothing of itself"
        assert metric.better in ("higher", "lower", None)


@pytest.mark.parametrize("name", sorted(METRICS.load()))
@settings(max_examples=examples(10), deadline=None)
@given(given=documents, protocol=st.sampled_from(PROTOCOLS))
def test_values_stay_within_their_bounds(name: str, given: list[dict[str, Any]], protocol: str) -> None:
    low, high = METRICS[name].bounds
    results = scores(some_references(given), requests(METRICS[name]), protocol)
    # gallina2020 counts references found against predictions made, and one prediction may find two.
    slack = 10.0 if protocol == "gallina2020" else 1e-12
    for score in results.scores:
        values = np.append(score.per_document(), score.value)
        values = values[~np.isnan(values)]
        assert ((values >= low - 1e-12) & (values <= high + slack)).all(), score.request


@pytest.mark.parametrize("name", sorted(METRICS.load()))
@settings(max_examples=examples(6), deadline=None)
@given(given=documents, protocol=st.sampled_from(PROTOCOLS), order=st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(
    name: str, given: list[dict[str, Any]], protocol: str, order: Any
) -> None:
    given = some_references(given)
    shuffle = list(range(len(given)))
    order.shuffle(shuffle)
    straight = scores(given, requests(METRICS[name]), protocol)
    shuffled = scores([given[i] for i in shuffle], requests(METRICS[name]), protocol)
    for a, b in zip(straight.scores, shuffled.scores, strict=True):
        np.testing.assert_array_equal(by_document(a, len(given))[shuffle], by_document(b, len(given)))
        np.testing.assert_allclose(a.value, b.value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted(METRICS.load()))
@settings(max_examples=examples(6), deadline=None)
@given(given=documents, protocol=st.sampled_from(PROTOCOLS), size=st.integers(1, 3))
def test_chunks_concatenate(name: str, given: list[dict[str, Any]], protocol: str, size: int) -> None:
    given = some_references(given)
    whole = scores(given, requests(METRICS[name]), protocol)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(karat.corpus, "BATCH_DOCUMENTS", size)
        cut = scores(given, requests(METRICS[name]), protocol)
    for a, b in zip(whole.scores, cut.scores, strict=True):
        np.testing.assert_array_equal(a.rows.values, b.rows.values)
    assert whole.signatures == cut.signatures
    assert whole.notes == cut.notes


# Phrases of two words that share none: meng2017 drops single words, alpha-NDCG discounts what overlaps.
PERFECT = [
    {
        "title": "Deep nets",
        "text": "We train graphs on large data .",
        "keyphrases": ["deep nets", "train graphs", "random forests"],
    },
    {"title": "Planning", "text": "How to plan trees .", "keyphrases": ["plan trees", "chess playing"]},
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", sorted(METRICS.load()))
def test_a_perfect_run_is_perfect(name: str, protocol: str) -> None:
    metric = METRICS[name]
    given = [d | {"predicted": d["keyphrases"]} for d in PERFECT]
    best = {"higher": 1.0, "lower": 0.0, None: None}[metric.better]
    cutoff = "@M" if metric.cutoff == "required" else ""
    for subset in ("all", "present", "absent"):
        for average in metric.averages:
            results = scores(given, [f"{name}{cutoff}:{subset}/{average}"], protocol)
            value = results.rows()[0]["value"]
            if name == "mrr" and PRESETS[protocol].counting.reciprocal == "all":
                assert 0.5 < value <= 1.0  # the mean over all hits, which cannot all be first
            elif name in OF_TWO_PREDICTIONS and subset == "absent":  # one in each document
                expected = {"skip": None, "score": 1.0 if name == "emb_sim" else 0.0}
                assert value == expected[PRESETS[protocol].counting.diversity]
            elif name == "kpp":
                assert value == 1.0  # sure of everything
            elif name in PERFECT_FACTS:
                facts = PERFECT_FACTS[name]
                assert value == pytest.approx(facts[subset]) if subset in facts else 0.0 <= value < 1.0
            elif name in UNLIKE:
                assert value < (UNLIKE[name] if subset == "all" else metric.bounds[1])
            else:
                assert value == pytest.approx(best)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", sorted(METRICS.load()))
def test_an_empty_run_scores_nothing(name: str, protocol: str) -> None:
    metric = METRICS[name]
    given = [d | {"predicted": []} for d in PERFECT]
    cutoff = "@M" if metric.cutoff == "required" else ""
    # KPEval gives a number to documents without predictions too.
    scored = PRESETS[protocol].counting.diversity == "score" and name != "duplicate_ratio"
    for average in metric.averages:
        [row] = scores(given, [f"{name}{cutoff}:present/{average}"], protocol).rows()
        if name == "count_mae":
            assert row["value"] == 1.5
        elif name == "share" and PRESETS[protocol].matching.blank == "keep":
            assert row["value"] == 0.0  # the one empty prediction is absent
        elif name in OF_CONFIDENCE or name in PERFECT_FACTS:
            assert row["value"] is None
        elif metric.better == "lower" and name not in OF_PREDICTIONS:
            assert row["value"] == metric.bounds[1]  # an error: without predictions it is as high as it can be
        elif name in OF_PREDICTIONS and average == "mean" and not scored:
            assert row["value"] is None
            assert row["undefined"] == 2
        elif name == "dup_token_ratio":
            assert row["value"] == 1.0
        else:
            assert row["value"] == 0.0


@pytest.mark.parametrize("protocol", PROTOCOLS)
# The rows of `found` are references; where there are no references to miss, an error is undefined, not 0.
@pytest.mark.parametrize(
    "name",
    sorted(METRICS.load().keys() - OF_PREDICTIONS - OF_CONFIDENCE - PERFECT_FACTS.keys() - ERRORS - {"found"}),
)
def test_documents_without_references_of_a_kind_are_zero_or_left_out_as_the_protocol_says(
    name: str, protocol: str
) -> None:
    metric = METRICS[name]
    given: list[dict[str, Any]] = [
        {"title": "nets", "text": "deep nets", "keyphrases": ["deep nets"], "predicted": ["deep nets", "forests"]},
        {"title": "trees", "text": "plans", "keyphrases": ["trees", "search"], "predicted": ["trees", "search"]},
    ]
    cutoff = "@M" if metric.cutoff == "required" else ""
    [row] = scores(given, [f"{name}{cutoff}:absent"], protocol).rows()
    skips = PRESETS[protocol].counting.empty == "skip"
    assert row["undefined"] == (1 if skips else 0)
    assert row["documents"] == 2
    assert (row["value"] == 1.0) == skips
