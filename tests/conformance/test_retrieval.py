"""Search of a part of the ACM collection: scores, measures and tests are those of other tools on real queries."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import bm25s
import ir_measures
import numpy as np
import pytest
from nltk.stem.porter import PorterStemmer
from scipy import stats
from statsmodels.stats.multitest import multipletests

import karat
from karat.analyses.retrieval.index import Analysis
from karat.formats.trec import read_qrels, read_queries

NAMES = ("nDCG@10", "R@100", "AP", "RR")


def stems(phrase: str) -> tuple[str, ...]:
    """What a phrase is compared by under the protocol `karat`: of two with the same stems one is added."""
    return tuple(map(PorterStemmer().stem, re.findall(r"\w+(?:-\w+)*|[^\w\s]", phrase.lower())))


def test_scores_and_measures_of_real_queries_are_those_of_bm25s_and_ir_measures(shared: Path) -> None:
    folder = shared / "data" / "retrieval"
    corpora = [folder / "acm-cr.judged.jsonl.gz", shared / "data" / "training" / "acm-cr.test.jsonl.gz"]
    paths = (folder / "acm-cr.queries.jsonl", folder / "acm-cr.qrels")
    found = karat.retrieval(corpora[0], *paths, further=corpora[1:], subsets=["all"], keep=True, resamples=99)
    assert (found.documents, len(found.queries)) == (1438, 255)
    lines = (line for path in corpora for line in gzip.decompress(path.read_bytes()).splitlines())
    documents = [json.loads(line) for line in lines]
    plain = {each["id"]: f"{each['title']} {each['text']}" for each in documents}
    phrases = {
        each["id"]: " ".join({stems(phrase): phrase for phrase in each["keyphrases"][::-1]}.values())
        for each in documents
    }
    queries, judged = read_queries(paths[0]), read_qrels(paths[1])
    terms = Analysis().terms
    qrels = [ir_measures.Qrel(query, d, r) for query, each in judged.items() for d, r in each.items()]
    values = {(row["kind"], row["metric"]): row["value"] for row in found.rows()}
    for kind, condition in (("text", "text"), ("references", "references-all")):
        texts = plain if kind == "text" else {i: f"{text} {phrases[i]}" for i, text in plain.items()}
        model = bm25s.BM25(method="lucene", k1=0.9, b=0.4, dtype="float64")
        model.index([terms(text) for text in texts.values()], show_progress=False)
        ranking = found.ranking(condition)
        far = 0
        for query, text in queries.items():
            theirs = dict(zip(texts, model.get_scores(terms(text)).tolist(), strict=True))
            far += sum(score != pytest.approx(theirs[i], rel=1e-5) for i, score in ranking[query])
        assert far == 0
        run = [ir_measures.ScoredDoc(query, d, s) for query, each in ranking.items() for d, s in each]
        for measure, value in ir_measures.calc_aggregate(map(ir_measures.parse_measure, NAMES), qrels, run).items():
            assert values[kind, str(measure)] == pytest.approx(value, abs=1e-12)


def test_differences_on_real_queries_are_those_of_scipy_statsmodels_and_a_loop_over_signs(shared: Path) -> None:
    folder = shared / "data" / "retrieval"
    paths = (folder / "acm-cr.judged.jsonl.gz", folder / "acm-cr.queries.jsonl", folder / "acm-cr.qrels")
    options: dict[str, Any] = {"metrics": NAMES, "subsets": ["all", "present", "absent", "U"]}
    found = karat.retrieval(*paths, correction="holm", **options)
    adjusted = karat.retrieval(*paths, **options).differences()
    draw = np.random.default_rng(5)
    signs = draw.choice([-1.0, 1.0], size=(20_000, len(found.queries)))
    for measure in NAMES:
        rows = [row for row in found.differences() if row["metric"] == measure]
        text = np.array(found.per_query["text", measure])
        apart = [np.array(found.per_query[f"references-{row['subset']}", measure]) - text for row in rows]
        for row, d in zip(rows, apart, strict=True):
            assert row["n"] == len(d) == 255
            assert row["difference"] == pytest.approx(d.mean(), abs=1e-12)
            assert row["se"] == pytest.approx(stats.sem(d))
            assert row["tests"]["t"] == pytest.approx(stats.ttest_1samp(d, 0).pvalue)
            df = min(len(d) - 1, 2 * len(d) / (2 + max(stats.kurtosis(d), 0) / 2))
            assert row["ci"] == pytest.approx(stats.t.interval(0.95, df, d.mean(), stats.sem(d)))
            share = float((np.abs(signs @ d) >= abs(d.sum()) - 1e-9).mean())
            assert row["p"] == pytest.approx(share, abs=0.025)  # five standard errors of both simulations
        holm = multipletests([row["p"] for row in rows], method="holm")[1]
        assert [row["p_adjusted"] for row in rows] == pytest.approx(holm)
        # Step-down max-T: the largest of the studentised differences that are left, with one sign for each query.
        t = np.stack([np.abs(signs @ d) / np.sqrt(d @ d) for d in apart])
        observed = np.array([abs(d.sum()) / np.sqrt(d @ d) for d in apart])
        order, largest = np.argsort(-observed), 0.0
        by_max_t = [row for row in adjusted if row["metric"] == measure]
        for rank, i in enumerate(order):
            largest = max(largest, float((t[order[rank:]].max(axis=0) >= observed[i] - 1e-9).mean()))
            assert by_max_t[i]["p_adjusted"] == pytest.approx(max(largest, by_max_t[i]["p"]), abs=0.025)
