"""Homogeneity on real documents, every pair against jiwer, rouge-score, scipy and statsmodels."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import pytest
import statsmodels.api as sm
from rouge_score.rouge_scorer import RougeScorer
from scipy import stats

import karat


class Spaces:
    """What parts a text at its spaces, for rouge-score."""

    def tokenize(self, text: str) -> list[str]:
        return text.split()


def words(document: dict[str, Any]) -> str:
    return " ".join(re.findall(r"[^\W_]+", f"{document.get('title') or ''} {document.get('text') or ''}".lower()))


@pytest.fixture(scope="module")
def found(shared: Path) -> karat.Homogeneity:
    """Two released systems on the documents of Inspec that share a tenth of their references."""
    corpus = shared / "data" / "inspec.chan19.jsonl.gz"
    runs = [shared / "data" / "predictions" / "inspec" / f"{name}.jsonl.gz" for name in ("t5", "one2set")]
    return karat.homogeneity(corpus, karat.mine_pairs(corpus, min=0.1), *runs, resamples=999)


@pytest.fixture(scope="module")
def texts(shared: Path) -> dict[str, str]:
    with gzip.open(shared / "data" / "inspec.chan19.jsonl.gz", "rt", encoding="utf-8") as file:
        return {each["id"]: words(each) for each in map(json.loads, file)}


def test_wer_and_rouge_of_every_pair_are_those_of_jiwer_and_rouge_score(
    found: karat.Homogeneity, texts: dict[str, str]
) -> None:
    scorer = RougeScorer(["rouge1"], tokenizer=Spaces())
    rows = [row for row in found.pair_rows() if row["system"] == "t5"]
    assert len(rows) == found.pairs > 50
    for row in rows:
        a, b = texts[row["a"]], texts[row["b"]]
        assert row["wer"] == pytest.approx(jiwer.wer(a, b), abs=1e-12)
        assert row["rouge1"] == pytest.approx(scorer.score(a, b)["rouge1"].recall, abs=1e-12)


@pytest.mark.parametrize("system", ["t5", "one2set"])
def test_correlations_are_those_of_scipy(system: str, found: karat.Homogeneity) -> None:
    [row] = [row for row in found.rows() if row["system"] == system]
    own = [each for each in found.pair_rows() if each["system"] == system]
    for column, end in (("rouge1", ""), ("wer", "_wer")):
        x, y = ([each[name] for each in own] for name in ("hooper", column))
        assert row[f"pearson{end}"] == pytest.approx(stats.pearsonr(x, y).statistic)
        assert row[f"spearman{end}"] == pytest.approx(stats.spearmanr(x, y).statistic)


@pytest.mark.parametrize("model", ["pooled", "within"])
def test_the_regression_is_that_of_statsmodels(model: str, found: karat.Homogeneity) -> None:
    rows = [row for row in found.pair_rows() if None not in (row["hooper"], row["generated"])]
    y = np.array([row["hooper"] for row in rows])
    x = np.array([[row[name] for name in ("rouge1", "wer", "generated")] for row in rows])
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        while parents.setdefault(name, name) != name:
            name = parents[name]
        return name

    for row in rows:
        parents[root(row["a"])] = root(row["b"])
    clusters = np.unique([root(row["a"]) for row in rows], return_inverse=True)[1]
    systems = np.unique([row["system"] for row in rows], return_inverse=True)[1]
    intercepts = np.eye(2)[systems] if model == "within" else np.ones((len(y), 1))
    expected = sm.OLS(y, np.column_stack([x, intercepts])).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "df_correction": True}, use_t=True
    )
    [fit] = [each for each in found.as_dict()["regressions"] if each["model"] == model]
    assert fit["clusters"] == clusters.max() + 1
    for j, each in enumerate(fit["coefficients"]):
        assert each["coefficient"] == pytest.approx(expected.params[j], rel=1e-6)
        assert each["standard_error"] == pytest.approx(expected.bse[j], rel=1e-6)
        assert each["ci"] == pytest.approx(expected.conf_int()[j], rel=1e-5, abs=1e-9)
        assert each["p"] == pytest.approx(expected.pvalues[j], rel=1e-5)


def test_sentences_in_another_order_keep_every_word_and_every_reference(shared: Path) -> None:
    corpus = shared / "data" / "inspec.jsonl.gz"
    made = karat.reformulate(corpus, "order")
    found = karat.filter_reformulations(corpus, list(made))
    [summary] = found.summary()
    assert summary["reformulations"] == len(made) > 450
    assert summary["rouge1"] == pytest.approx(1.0)
    assert summary["wer"] > 0.3


def test_tfidf_that_weighs_reformulations_by_themselves_is_noted(shared: Path, tmp_path: Path) -> None:
    corpus = karat.read(shared / "data" / "inspec.jsonl.gz")
    made = karat.reformulate(corpus, "order")
    half = [each for n, each in enumerate(made) if n % 2]  # other documents, so other frequencies
    path = tmp_path / "made.jsonl"
    path.write_text("".join(json.dumps({"id": e.id, "source": e.source, "text": e.text}) + "\n" for e in half))
    others = karat.Corpus.of(({"id": each.id, "text": each.text} for each in half), "half")
    first = karat.predict(corpus, "tfidf", 5)
    noted = []
    for frequencies in (corpus, None):
        second = karat.predict(others, "tfidf", 5, frequencies=frequencies)
        run = karat.Run.of([*first, *second], "tfidf")
        notes = karat.study(corpus, path, run, resamples=9).notes
        noted.append(any("different document frequencies" in note for note in notes))
    assert noted == [False, True]
