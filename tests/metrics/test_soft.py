"""Soft scores: the frame on the paper's examples and against plain loops, its options, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
import karat.corpus
from karat.similarity import compare
from tests.similarity.test_kmr import TABLE_4

CHEAP = ["exact", "kmr", "overlap", "overlap_head", "bleu", "nist", "rouge1", "rougeL", "chrf", "levenshtein"]


def scored(
    documents: list[tuple[list[Any], list[str]]], *metrics: str, protocol: str = "karat", text: str = "none"
) -> karat.Results:
    """The results of (references, predictions) lists."""
    corpus = karat.Corpus.of({"id": str(i), "text": text, "keyphrases": r} for i, (r, _) in enumerate(documents))
    run = karat.Run.of({"id": str(i), "keyphrases": p} for i, (_, p) in enumerate(documents))
    return karat.score(corpus, run, metrics=list(metrics), protocol=protocol)


def values(*given: Any, **options: Any) -> list[float]:
    return [row["value"] for row in scored(*given, **options).rows()]


@pytest.mark.parametrize("protocol", ["kundu2023", "karat,tokenizer=split"])
@pytest.mark.parametrize(("predictions", "references", "kmr", "f1"), TABLE_4)
def test_table_4_of_kundu(
    predictions: str, references: str, kmr: tuple[float, float, float], f1: float, protocol: str
) -> None:
    document = references.split(", "), predictions.split(", ")
    found = values([document], "soft_p", "soft_r", "soft_f", "f1@M", protocol=protocol)
    assert found == pytest.approx([*kmr, f1], abs=5e-4)


words = st.lists(st.sampled_from(["deep", "neural", "nets", "graph", "graphs", "search"]), min_size=1, max_size=4)
lists = st.lists(words.map(" ".join), max_size=5)


@pytest.mark.parametrize("name", CHEAP)
@settings(max_examples=25, deadline=None)
@given(documents=st.lists(st.tuples(lists, lists), min_size=1, max_size=4), threshold=st.sampled_from([0.0, 0.4, 1.0]))
def test_the_frame_is_the_formula_done_by_loops(
    name: str, documents: list[tuple[list[Any], list[str]]], threshold: float
) -> None:
    documents = [*documents, (["graph"], ["graph"])]
    asked = [f"{metric},score={name},threshold={threshold}" for metric in ("soft_p", "soft_r", "soft_f")]
    results = scored(documents, *asked, protocol="karat,duplicates=keep,reference_duplicates=keep,empty=zero")
    for i, (references, predictions) in enumerate(documents):
        table = [[compare(name, p, r) for r in references] for p in predictions]
        table = [[score if score >= threshold - 1e-9 else 0.0 for score in row] for row in table]
        p = sum(max(row, default=0.0) for row in table) / len(predictions) if predictions else 0.0
        r = sum(map(max, zip(*table, strict=True))) / len(references) if table and references else 0.0
        expected = [p, r, 2 * p * r / (p + r) if p + r else 0.0]
        assert [score.per_document()[i] for score in results.scores] == pytest.approx(expected, abs=1e-12)


def test_a_score_of_exactly_the_threshold_is_kept() -> None:
    # 3 edits in 5 are .4; grid computing in effective grid computing algorithm weighs 5/6 of 25/12, .4 again.
    five = (["a b c d e"], ["a b x y z"])
    assert values([five], "soft_f", "soft_f,threshold=0.41") == [pytest.approx(0.4), 0.0]
    head = (["effective grid computing algorithm"], ["grid computing"])
    assert values([head], "soft_f,score=overlap_head") == [pytest.approx(0.4)]


def test_the_best_variant_of_a_reference_counts() -> None:
    document: tuple[list[Any], list[str]] = ([["tree search", "graph search"], "chess"], ["deep graph search"])
    found = values([document], "soft_p,score=overlap", "soft_r,score=overlap")
    assert found == pytest.approx([2 / 3, (2 / 3 + 0) / 2])


def test_a_cutoff_takes_the_first_predictions_alone() -> None:
    document = (["graph search"], ["graph", "graph search"])
    assert values([document], "soft_p@1", "soft_r@1", "soft_p@2", "soft_p") == pytest.approx([0.5, 0.5, 0.75, 0.75])


def test_subsets_are_compared_apart() -> None:
    document = (["graph search", "deep nets"], ["graph nets", "deep search"])
    results = scored([document], "soft_f:present", "soft_f:absent", "soft_f:all", text="a graph search")
    assert [row["value"] for row in results.rows()] == pytest.approx([0.0, 0.5, 0.5])


def test_kmr_of_kundu_stems_what_was_stemmed_before() -> None:
    # databases → databas → databa: references that come stemmed meet predictions that do not.
    document = (["databas"], ["databases"])
    assert values([document], "soft_f", "f1@M", protocol="kundu2023") == [1.0, 0.0]
    assert values([document], "soft_f", protocol="kundu2023,soft_stems=once") == [0.0]


def test_surface_scores_see_the_phrases_as_they_are_given() -> None:
    document = (["neural network"], ["Neural networks"])
    assert values([document], "soft_f,score=exact", "soft_f,score=levenshtein") == pytest.approx([1.0, 14 / 15])


def test_scores_of_a_file_are_used_and_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    line = {"prediction": "summarization system", "reference": "summarization model", "score": 0.9}
    document = (["summarization model"], ["Summarization System"])
    path.write_text(json.dumps(line) + "\n")
    assert values([document], f"soft_f,score=file:{path}") == [pytest.approx(0.9)]
    path.write_text(json.dumps(line | {"score": 0.25}) + "\n")
    os.utime(path, ns=(1, 1))
    assert values([document], f"soft_f,score=file:{path},threshold=0.2") == [pytest.approx(0.25)]
    with pytest.raises(karat.InputError, match="no score for the prediction 'other'"):
        values([(["summarization model"], ["other"])], f"soft_f,score=file:{path}")


def test_context_looks_at_the_sentences_of_all_documents_however_they_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["Deep nets learn images. Graph search is slow.", "Neural nets learn images. Plans fail.", "Chess is old."]
    corpus = karat.Corpus.of({"id": str(i), "text": t, "keyphrases": ["deep nets"]} for i, t in enumerate(texts))
    run = karat.Run.of({"id": str(i), "keyphrases": ["neural nets", "chess"]} for i in range(3))
    whole = karat.score(corpus, run, metrics=["soft_p,score=context,threshold=0"])
    monkeypatch.setattr(karat.corpus, "BATCH_DOCUMENTS", 1)
    cut = karat.score(corpus, run, metrics=["soft_p,score=context,threshold=0"])
    np.testing.assert_array_equal(whole.scores[0].rows.values, cut.scores[0].rows.values)
    # Both stand beside "learn images": ln(6/2) twice of ln(6/1), ln(6/2) thrice; chess has nothing in common.
    assert 0.1 < whole.rows()[0]["value"] < 0.5
    assert whole.rows()[0]["options"] == {"score": "context", "threshold": 0.0}
    shards = [karat.score(corpus, run, metrics=["soft_p,score=context,threshold=0"], shard=f"{i}/2") for i in (1, 2)]
    assert karat.merge(shards).rows() == whole.rows()


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ("soft_f,score=kmrr", "did you mean 'kmr'"),
        ("soft_f,threshold=1.01", "from 0 to 1, not 1.01"),
        ("soft_f,threshold=-0.1", "from 0 to 1, not -0.1"),
        ("soft_f,threshold=nan", "from 0 to 1, not nan"),
        ("soft_f,threshold=high", "threshold of soft scores is a float, not 'high'"),
        ("soft_f,score=bleu,referenc=given", "did you mean 'reference'"),
        ("soft_f,score=bleu,reference=shorter", "unknown reference of bleu 'shorter'"),
        ("soft_f,score=kmr,model=hash", "unknown option of kmr 'model'"),
        ("soft_f,score=file:/no/such/file", "there is no such file"),
        ("soft_f,score=bertscore", "needs a model"),
        ("soft_f,score=cosine,model=/no/such/model", "there is no such directory"),
        ("sem_f,model=/no/such/model", "there is no such directory"),
        ("sem_f,threshold=2", "from 0 to 1, not 2"),
    ],
)
def test_bad_options_are_refused_in_words(metric: str, says: str) -> None:
    with pytest.raises(karat.InputError, match=says):
        values([(["graph"], ["graphs search"])], metric)


def test_the_embedder_that_needs_no_model_says_what_it_is() -> None:
    for metric in ("soft_f,score=cosine", "sem_f", "emb_sim"):
        [note] = scored([(["graph"], ["graph search", "trees"])], metric).notes
        assert "letters, not meanings" in note
    assert scored([(["graph"], ["graph search"])], "soft_f").notes == ()
