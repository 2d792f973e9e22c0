"""A new metric is one function; the three escapes are honoured."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import karat
from karat.matching.columns import Aligned, Cutoff, Floats, Subset
from karat.metrics.base import METRICS, Fit, Rows, metric, ratio_rows, rows
from karat.results.files import encode, load
from karat.results.merge import merge

CORPUS = karat.Corpus.of(
    [
        {"id": "a", "text": "deep nets", "keyphrases": ["deep nets", "trees"]},
        {"id": "b", "text": "graphs", "keyphrases": ["graphs"]},
        {"id": "c", "text": "plans", "keyphrases": ["chess", "plans", "go"]},
    ]
)
RUN = karat.Run.of(
    [
        {"id": "a", "keyphrases": ["deep nets"]},
        {"id": "b", "keyphrases": ["graph", "tree", "plan"]},
        {"id": "c", "keyphrases": ["chess", "rook"]},
    ],
    name="mine",
)


@pytest.fixture(autouse=True)
def forget_new_metrics() -> Iterator[None]:
    known = dict(METRICS.load())
    yield
    METRICS.clear()
    METRICS.update(known)


def test_a_new_metric_is_one_function() -> None:
    @metric("miss", cutoff=True, better="lower")
    def miss(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
        """Share of the references that are not among the first k predictions."""
        references = aligned.count_references(subset)
        return ratio_rows(references - aligned.count_hits(cutoff, subset), references)

    results = karat.score(CORPUS, RUN, metrics=["miss@M", "miss@1:present"])
    assert [row["value"] for row in results.rows()] == pytest.approx([(1 / 2 + 0 + 2 / 3) / 3, (0 + 0 + 1) / 3])
    assert results.scores[0].per_document().tolist() == pytest.approx([1 / 2, 0, 2 / 3])


def test_options_are_keywords_with_defaults() -> None:
    @metric("scaled", better=None)
    def scaled(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, by: float = 1.0) -> Rows:
        """References times a factor."""
        return rows(by * aligned.count_references(subset))

    results = karat.score(CORPUS, RUN, metrics=["scaled", "scaled,by=2.5"])
    assert [row["value"] for row in results.rows()] == [2.0, 5.0]
    assert results.rows()[1]["options"] == {"by": 2.5}
    with pytest.raises(karat.InputError, match="option of scaled 'bye'; did you mean 'by'"):
        karat.score(CORPUS, RUN, metrics=["scaled,bye=2"])
    with pytest.raises(karat.InputError, match="option by of scaled is a float, not 'two'"):
        karat.score(CORPUS, RUN, metrics=["scaled,by=two"])


def weighted_median(values: Floats, weights: Floats) -> Floats:
    order = np.argsort(values[:, 0], kind="stable")
    total = np.cumsum(weights[..., order], axis=-1)
    return np.asarray(values[order][(total >= total[..., -1:] / 2).argmax(axis=-1), 0])


def register_items_metric() -> None:
    @metric("median_words", better=None, items=weighted_median, bounds=(0.0, np.inf))
    def median_words(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
        """Median number of words of the predictions."""
        ranked = aligned.ranked(subset)
        words = np.array([len(aligned.forms[p].split()) for p in ranked.phrase.tolist()], dtype=float)
        return Rows(np.column_stack([words, np.ones(len(words))]), units=ranked.document)


def test_items_are_kept_phrase_by_phrase_and_finished_with_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    register_items_metric()
    monkeypatch.setattr("karat.corpus.BATCH_DOCUMENTS", 1)
    [score] = karat.score(CORPUS, RUN, metrics=["median_words"]).scores
    assert score.rows.units is not None
    assert score.rows.units.tolist() == [0, 1, 1, 1, 2, 2]
    assert score.value == 1.0
    finish = score.request.spec.items
    assert finish is not None
    heavy = np.array([[1.0] * 6, [9.0, 1, 1, 1, 1, 1]])
    assert finish(score.rows.values, heavy).tolist() == [1.0, 2.0]


def test_units_of_pairs_survive_chunks_files_and_merging(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    @metric("neighbours", better=None, bounds=(0.0, np.inf))
    def neighbours(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
        """Difference in references of each document and itself."""
        n = np.arange(aligned.documents)
        return Rows(np.column_stack([np.zeros(len(n)), np.ones(len(n))]), units=np.column_stack([n, n]))

    monkeypatch.setattr("karat.corpus.BATCH_DOCUMENTS", 2)
    whole = karat.score(CORPUS, RUN, metrics=["neighbours"])
    units = whole.scores[0].rows.units
    assert units is not None
    assert units.tolist() == [[0, 0], [1, 1], [2, 2]]
    path = f"{tmp_path}/x.karat"
    whole.save(path)
    assert encode(load(path)) == encode(whole)
    shards = [karat.score(CORPUS, RUN, metrics=["neighbours"], shard=f"{i}/2") for i in (1, 2)]
    assert encode(merge(shards)) == encode(whole)


def test_a_fitted_constant_is_found_on_all_documents_and_given_to_the_rows() -> None:
    fit = Fit(
        gather=lambda aligned, subset: rows(aligned.count_references(subset)),
        settle=lambda gathered: float(max(part.values[:, 0].max() for part in gathered)),
    )

    @metric("relative", better=None, fit=fit)
    def relative(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, fitted: float) -> Rows:
        """References over the largest number of references."""
        return rows(aligned.count_references(subset) / fitted)

    [row] = karat.score(CORPUS, RUN, metrics=["relative"]).rows()
    assert row["value"] == pytest.approx((2 + 1 + 3) / 3 / 3)
    assert row["options"] == {"fitted": 3.0}
    [part] = karat.score(CORPUS, RUN, metrics=["relative"], shard="2/3").rows()
    assert part["value"] == pytest.approx(1 / 3)
