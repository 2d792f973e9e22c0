"""Search of a part of the ACM collection: scores and measures are those of other tools on real queries."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import bm25s
import ir_measures
import pytest
from nltk.stem.porter import PorterStemmer

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
