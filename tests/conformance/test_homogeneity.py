"""Homogeneity on real documents, every pair against jiwer, rouge-score, scipy and statsmodels."""

from __future__ import annotations

import gzip
import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import pytest
import statsmodels.api as sm
from rouge_score.rouge_scorer import RougeScorer
from scipy import stats
from scipy.cluster.hierarchy import DisjointSet

import karat
from tests.dyadic import correction, sharing

RUNS = ("t5", "one2set")


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
    runs = [shared / "data" / "predictions" / "inspec" / f"{name}.jsonl.gz" for name in RUNS]
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
    systems = np.unique([row["system"] for row in rows], return_inverse=True)[1]
    intercepts = np.eye(2)[systems] if model == "within" else np.ones((len(y), 1))
    design = np.column_stack([x, intercepts])
    expected = sm.OLS(y, design).fit()
    scales = np.linalg.inv(design.T @ design) @ design.T
    scores = scales * expected.resid / np.sqrt(1 - expected.get_influence().hat_matrix_diag)
    pairs = sorted({(row["a"], row["b"]) for row in rows})
    of_pair = np.array([[(row["a"], row["b"]) == pair for row in rows] for pair in pairs], dtype=float)
    ids = sorted({name for pair in pairs for name in pair})
    shares = sharing([[ids.index(a), ids.index(b)] for a, b in pairs])
    [fit] = [each for each in found.as_dict()["regressions"] if each["model"] == model]
    assert fit["documents"] == len(ids)
    n = len(pairs)
    for j, each in enumerate(fit["coefficients"]):
        own, squares = of_pair @ scores[j], of_pair @ scales[j] ** 2
        dyadic, alone = own @ shares @ own, own @ own
        factor, _ = correction(dyadic / alone, shares)
        factor *= (1 - shares.sum() / n**2) / (1 - squares @ shares @ squares / squares.sum() ** 2)
        error = np.sqrt(max(dyadic * factor, alone * n / (n - 1)))
        assert each["coefficient"] == pytest.approx(expected.params[j], rel=1e-6)
        assert each["standard_error"] == pytest.approx(error, rel=1e-5)
        assert each["p"] == pytest.approx(2 * stats.t.sf(abs(expected.params[j] / error), each["df"]), rel=1e-4)
        half = stats.t.isf(0.025, each["df"]) * error
        assert each["ci"] == pytest.approx([expected.params[j] - half, expected.params[j] + half], abs=1e-6)


@pytest.mark.parametrize("metric", ["hooper", "rodgers"])
def test_the_error_of_a_difference_is_the_dyadic_one_by_hand(metric: str, found: karat.Homogeneity) -> None:
    [difference] = [each for each in found.as_dict()["differences"] if each["metric"] == metric]
    rows = {name: {(r["a"], r["b"]): r[metric] for r in found.pair_rows() if r["system"] == name} for name in RUNS}
    common = [pair for pair, value in rows["t5"].items() if value is not None and rows["one2set"].get(pair) is not None]
    apart = np.array([rows["t5"][pair] - rows["one2set"][pair] for pair in common])
    about = (apart - apart.mean()) / len(apart)
    ids = sorted({name for pair in common for name in pair})
    shares = sharing([[ids.index(a), ids.index(b)] for a, b in common])
    dyadic, alone = about @ shares @ about, about @ about
    factor, _ = correction(dyadic / alone, shares)
    assert (difference["n"], difference["difference"]) == (len(common), pytest.approx(apart.mean()))
    assert difference["se"] == pytest.approx(max(np.sqrt(max(dyadic * factor, 0.0)), stats.sem(apart)), rel=1e-5)


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


# ---------------------------------------------------------------------------------------------- unrelated pairs


@pytest.mark.parametrize("match_length", [False, True])
def test_the_chance_level_is_that_of_a_loop_over_the_lists(shared: Path, match_length: bool) -> None:
    """Phrases are lower-cased words, as `stemmer=none` and this comparison have them."""
    corpus = shared / "data" / "inspec.chan19.jsonl.gz"
    path = shared / "data" / "predictions" / "inspec" / "t5.jsonl.gz"
    mined = karat.mine_pairs(corpus, min=0.1)
    options: dict[str, Any] = {"stem": False, "match_length": match_length, "resamples": 99}
    [row] = karat.homogeneity(corpus, mined, path, **options).rows()
    references = {each.id: plain(each.keyphrases) for each in karat.read(corpus)}
    lists = {each.id: list(plain(each.keyphrases)) for each in karat.read_run(path)}
    pairs = {frozenset((each["a"], each["b"])) for each in mined.rows()}
    documents = sorted(frozenset().union(*pairs))
    values = []
    for a, b in combinations(documents, 2):
        if frozenset((a, b)) in pairs or references[a].keys() & references[b].keys():
            continue
        least = min(len(lists[a]), len(lists[b])) if match_length else None
        one, other = set(lists[a][:least]), set(lists[b][:least])
        if lists[a] or lists[b]:
            values.append(len(one & other) / len(one | other) if lists[a] and lists[b] else 0.0)
    assert row["unrelated_pairs"] == len(values) > 1000
    assert row["unrelated_hooper"] == pytest.approx(np.mean(values), abs=1e-12)
    assert row["phrases_per_document"] == pytest.approx(np.mean([len(lists[each]) for each in documents]))


def plain(keyphrases: Any) -> dict[str, None]:
    """The distinct phrases, lower-cased and without marks."""
    first = (each if isinstance(each, str) else each[0] for each in keyphrases)
    return dict.fromkeys(filter(None, (" ".join(re.findall(r"[^\W_]+", each.lower())) for each in first)))


def test_most_pairs_of_acm_cr_are_in_one_component(shared: Path, tmp_path: Path) -> None:
    """The 855 pairs of docs/generators.md, by a disjoint set."""
    parts = [shared / "data" / "training" / f"acm-cr.{name}.jsonl.gz" for name in ("test", "valid")]
    corpus = tmp_path / "acm-cr.jsonl.gz"
    corpus.write_bytes(b"".join(part.read_bytes() for part in parts))
    mined = karat.mine_pairs(corpus, min=0.25, stem=True)
    pairs = [(row["a"], row["b"]) for row in mined.rows()]
    joined = DisjointSet({name for pair in pairs for name in pair})
    for a, b in pairs:
        joined.merge(a, b)
    largest = max(sum(a in subset for a, _ in pairs) for subset in joined.subsets())
    [row] = karat.describe_pairs(corpus, mined).rows()
    assert (row["pairs"], row["documents"]) == (len(pairs), len(set(joined))) == (855, 595)
    assert (row["components"], row["largest_component"]) == (joined.n_subsets, largest) == (116, 585)
