"""Search: scores against bm25s and a loop, measures against ir_measures, tests against scipy, and what is refused."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import bm25s
import ir_measures
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import permutation_test, rankdata, skew, ttest_rel
from scipy.stats import t as student
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

import karat
from karat import InputError
from karat.analyses.retrieval.bm25 import search, term_weights
from karat.analyses.retrieval.index import Analysis, Counts, Vocabulary
from karat.analyses.retrieval.measures import parse_measure, parse_measures
from karat.analyses.retrieval.result import Condition, RetrievalOptions
from karat.analyses.retrieval.statistics import compare_conditions, notes_of_tests

WORDS = [
    "bee",
    "dance",
    "hive",
    "honey",
    "swarm",
    "queen",
    "worker",
    "drone",
    "pollen",
    "nectar",
    "flower",
    "wing",
    "sting",
    "comb",
    "wax",
]


def collection(seed: int = 0, documents: int = 60) -> list[dict[str, Any]]:
    """Made documents of few words, so that scores are often equal."""
    draw = Random(seed)
    return [
        {
            "id": f"d{n}",
            "title": " ".join(draw.choices(WORDS, k=draw.randrange(1, 4))),
            "text": " ".join(draw.choices(WORDS, k=draw.randrange(0, 12))),
            "keyphrases": [" ".join(draw.choices(WORDS, k=2)) for _ in range(draw.randrange(4))],
        }
        for n in range(documents)
    ]


def predicted(documents: Sequence[Mapping[str, Any]], seed: int = 1) -> list[dict[str, Any]]:
    draw = Random(seed)
    return [
        {"id": each["id"], "keyphrases": [" ".join(draw.choices(WORDS, k=draw.randrange(1, 3))) for _ in range(3)]}
        for each in documents
    ]


def asked(documents: Sequence[Mapping[str, Any]], seed: int = 2) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    draw = Random(seed)
    queries = {f"q{n}": " ".join(draw.choices(WORDS, k=draw.randrange(1, 7))) for n in range(25)}
    ids = [each["id"] for each in documents]
    return queries, {query: {i: draw.randrange(-1, 4) for i in draw.sample(ids, 8)} for query in queries}


def by_hand(
    texts: Mapping[str, Mapping[str, float]], query: Sequence[str], k1: float = 0.9, b: float = 0.4
) -> list[tuple[str, float]]:
    """BM25 in a loop: documents as weighted counts of words; best first, equal scores by id from the last on."""
    mean = sum(sum(words.values()) for words in texts.values()) / len(texts)
    scores = {}
    for identifier, words in texts.items():
        total = 0.0
        for word in query:
            tf = words.get(word, 0.0)
            df = sum(word in other for other in texts.values())
            idf = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
            total += idf * tf / (tf + k1 * (1 - b + b * sum(words.values()) / mean)) if tf else 0.0
        if total > 0:
            scores[identifier] = float(np.float32(total))
    return sorted(scores.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)


# ---------------------------------------------------------------------------------------------- scores


@pytest.mark.parametrize(("k1", "b", "weight"), [(0.9, 0.4, 1.0), (1.2, 0.75, 2.0), (0.9, 0.0, 0.5), (0.0, 1.0, 1.0)])
def test_rankings_are_those_of_a_loop_over_the_formula(k1: float, b: float, weight: float) -> None:
    documents = collection()
    queries, judged = asked(documents)
    run = predicted(documents)
    found = karat.retrieval(
        documents, queries, judged, run, k1=k1, b=b, weight=weight, stem=False, stop=False, keep=True, resamples=9
    )
    phrases = {each["id"]: each["keyphrases"] for each in run}
    plain = {each["id"]: Counter(f"{each['title']} {each['text']}".split()) for each in documents}
    more = {
        i: {word: words[word] + weight * added[word] for word in words | added}
        for i, words in plain.items()
        for added in [Counter(" ".join(dict.fromkeys(phrases[i])).split())]
    }
    for name, texts in (("text", plain), ("system-run-all", more)):
        ranking = found.ranking(name)
        for query, text in queries.items():
            expected = by_hand(texts, text.split(), k1, b)
            assert [i for i, _ in ranking[query]] == [i for i, _ in expected]
            assert [s for _, s in ranking[query]] == pytest.approx([s for _, s in expected], rel=1e-6)


def test_scores_are_those_of_bm25s_with_lucenes_idf() -> None:
    documents = collection(3, 200)
    queries, judged = asked(documents)
    found = karat.retrieval(documents, queries, judged, stem=False, stop=False, keep=True, resamples=9)
    model = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    model.index([f"{each['title']} {each['text']}".split() for each in documents], show_progress=False)
    for query, text in queries.items():
        scores = model.get_scores(text.split())
        ranked = dict(found.ranking("text")[query])
        for number, each in enumerate(documents):
            assert ranked.get(each["id"], 0.0) == pytest.approx(float(scores[number]), rel=1e-5, abs=1e-6)


def test_a_whole_weight_is_as_many_repetitions_of_the_phrases() -> None:
    documents, run = collection(4), predicted(collection(4))
    queries, judged = asked(documents)
    weighted = karat.retrieval(documents, queries, judged, run, weight=3, keep=True, resamples=9, subsets=["all"])
    phrases = {each["id"]: " ".join(dict.fromkeys(each["keyphrases"])) for each in run}
    thrice = [{**each, "text": f"{each['text']} {' '.join([phrases[each['id']]] * 3)}"} for each in documents]
    repeated = karat.retrieval(thrice, queries, judged, keep=True, resamples=9, subsets=["all"])
    assert weighted.ranking("system-run-all") == repeated.ranking("text")


def test_a_query_that_repeats_a_word_counts_it_as_often_or_once() -> None:
    documents = [{"id": "a", "text": "bee wax wax"}, {"id": "b", "text": "bee bee wax"}, {"id": "c", "text": "comb"}]
    values = {
        how: dict(
            karat.retrieval(
                documents, {"q": "bee bee wax"}, {"q": {"b": 1}}, query_terms=how, keep=True, resamples=9, stem=False
            ).ranking("text")["q"]
        )
        for how in ("counted", "distinct")
    }
    texts = {each["id"]: Counter(each["text"].split()) for each in documents}
    assert values["counted"] == pytest.approx(dict(by_hand(texts, ["bee", "bee", "wax"])), rel=1e-6)
    assert values["distinct"] == pytest.approx(dict(by_hand(texts, ["bee", "wax"])), rel=1e-6)


def test_the_worked_example_of_the_docs_is_right() -> None:
    documents = [{"id": "1", "text": "Bees dance."}, {"id": "2", "text": "Bees sleep."}]
    run = [{"id": "1", "keyphrases": ["communication"]}, {"id": "2", "keyphrases": ["dance"]}]
    found = karat.retrieval(
        documents, {"q": "communication of bees"}, {"q": {"1": 1}}, run, keep=True, subsets=["all"], resamples=9
    )
    assert [i for i, _ in found.ranking("text")["q"]] == ["2", "1"]
    assert [score for _, score in found.ranking("text")["q"]] == pytest.approx([math.log(1.2) / 1.9] * 2)
    [(first, high), (second, low)] = found.ranking("system-run-all")["q"]
    assert (first, second) == ("1", "2")
    assert (high, low) == pytest.approx((math.log(2) / 1.9 + math.log(1.2) / 1.9, math.log(1.2) / 1.9))


def test_stop_words_are_left_out_before_words_are_stemmed_and_marks_are_no_words() -> None:
    assert Analysis().terms("The networks' (trained) being – used, and-so-on 3.5!") == ["network", "train", "3", "5"]
    assert Analysis(stemmer="none", stop="none").terms("The nets") == ["the", "nets"]
    assert Analysis("marks", "french", "french").terms("Les réseaux - de neurones") == ["réseau", "neuron"]


def test_texts_without_spaces_are_cut_as_the_protocol_cuts_them() -> None:
    documents = [{"id": "1", "text": "蜜蜂跳舞。"}, {"id": "2", "text": "德国的蜡 Bees"}]
    for language in ("chinese", "zh"):
        found = karat.retrieval(
            documents,
            {"q": "蜜蜂", "r": "the bees"},
            {"q": {"1": 1}, "r": {"2": 1}},
            language=language,
            keep=True,
            resamples=9,
        )
        assert {query: [i for i, _ in ranked] for query, ranked in found.ranking("text").items()} == {
            "q": ["1"], "r": ["2"]
        }  # fmt: skip
    assert Analysis(stop="none").terms("蜜蜂 net") == ["蜜", "蜂", "net"]
    terms = Vocabulary(Analysis(stop="none"), ["蜜蜂"])
    assert terms.of("蜜x蜂") == [0, -1, 1]


def test_terms_are_the_same_however_they_are_remembered() -> None:
    texts = ["Bees and re\u0301seaux, wax-moths", "ÉTÉ İstanbul x\u200by", "a\u00adb"]
    terms = Vocabulary(Analysis(stop="none"), ["bees réseaux wax moths été xy ab istanbul"])
    for text in texts:
        known = [terms.numbers.get(term, -1) for term in Analysis(stop="none").terms(text)]
        assert terms.of(text) == terms.of(text) == known


def test_equal_scores_are_ordered_by_id_from_the_last_on_and_cut_at_the_depth() -> None:
    documents = [{"id": i, "text": "bee"} for i in ("b", "c", "a", "ä")]
    found = karat.retrieval(documents, {"q": "bees"}, {"q": {"a": 1}}, keep=True, depth=3, resamples=9)
    assert [i for i, _ in found.ranking("text")["q"]] == ["ä", "c", "b"]
    run = [ir_measures.ScoredDoc("q", each["id"], 1.0) for each in documents]
    [value] = ir_measures.calc_aggregate([ir_measures.RR], [ir_measures.Qrel("q", "c", 1)], run).values()
    assert value == 0.5


def test_searching_blocks_of_queries_gives_what_searching_them_at_once_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = collection(5)
    queries, judged = asked(documents)
    whole = karat.retrieval(documents, queries, judged, keep=True, resamples=9).ranking("text")
    monkeypatch.setattr("karat.analyses.retrieval.bm25.AT_ONCE", 1)
    assert karat.retrieval(documents, queries, judged, keep=True, resamples=9).ranking("text") == whole


def test_a_collection_without_any_term_of_the_queries_finds_nothing() -> None:
    terms = Vocabulary(Analysis(), ["bee"])
    counts = Counts.of([(0, 0, "x y")], 1, 1, terms)
    weights = term_weights(counts.matrix(len(terms)), np.array([2.0]), 0.9, 0.4)
    [ranked] = search(csr_array(np.ones((1, 1))), weights, np.zeros(1, dtype=np.int64), 5)
    assert len(ranked.documents) == 0


# ---------------------------------------------------------------------------------------------- phrases


def test_phrases_are_told_apart_as_score_tells_them_apart() -> None:
    documents = [
        {"id": "1", "title": "Dancing bees", "text": "A hive of bees dances."},
        {"id": "2", "title": "Wax", "text": "Comb and wax."},
    ]
    run = [
        {"id": "1", "keyphrases": ["dancing bees", "bees hive", "hive minds", "telegraphy", "Dancing Bee"]},
        {"id": "2", "keyphrases": ["wax"]},
    ]
    found = karat.retrieval(documents, {"q": "telegraphy minds"}, {"q": {"1": 1}}, run, keep=True, resamples=9)
    phrases = {row["subset"]: row["phrases"] for row in found.rows() if row["system"] == "run"}
    assert phrases == {"all": 2.5, "present": 1.0, "absent": 1.5, "P": 1.0, "R": 0.5, "M": 0.5, "U": 0.5}
    hits = {
        subset: [i for i, _ in found.ranking(f"system-run-{subset}")["q"]] for subset in ("all", "present", "M", "U")
    }
    assert hits == {"all": ["1"], "present": [], "M": ["1"], "U": ["1"]}


def test_subsets_in_which_documents_hold_the_same_are_searched_and_tested_once() -> None:
    documents = collection(6)
    queries, judged = asked(documents)
    extracted = [{"id": each["id"], "keyphrases": [each["title"]]} for each in documents]
    found = karat.retrieval(documents, queries, judged, extracted, metrics=["RR"], resamples=99, keep=True)
    rows = {(row["system"], row["subset"]): row for row in found.rows()}
    assert rows["run", "absent"]["same_as"] == "text"
    assert rows["run", "P"]["same_as"] == "system-run-all"
    differences = differences_of(found)
    assert ("run", "absent", "RR") not in differences
    assert differences["run", "P", "RR"]["p_adjusted"] == differences["run", "all", "RR"]["p_adjusted"]
    text = np.array(found.per_query["text", "RR"])
    values = [np.array(found.per_query[key]) - text for key in found.per_query if key[0] != "text"]
    tests = {row.round(12).tobytes() for row in values if row.any()}
    assert len(tests) < len(differences)
    assert {row["family"] for row in differences.values()} == {len(tests)}
    assert "system-run-absent" not in found.kept


def test_the_first_predictions_are_added_and_all_references() -> None:
    documents: list[dict[str, Any]] = [
        {"id": "1", "text": "x", "keyphrases": ["bee", "wax", "comb"]},
        {"id": "2", "text": "y"},
    ]
    run = [{"id": "1", "keyphrases": ["hive", "hives", "sting", "queen"]}, {"id": "2", "keyphrases": []}]
    found = karat.retrieval(documents, {"q": "z"}, {"q": {"1": 1}}, run, cutoff="2", subsets=["all"], resamples=9)
    assert {row["system"]: row["phrases"] for row in found.rows()} == {"text": 0.0, "references": 1.5, "run": 1.0}


def test_of_variants_of_a_reference_the_first_is_added() -> None:
    documents: list[dict[str, Any]] = [
        {"id": "1", "text": "x", "keyphrases": [["bee", "apis"], "wax"]},
        {"id": "2", "text": "y"},
    ]
    found = karat.retrieval(
        documents, {"q": "apis", "r": "bee"}, {"q": {"1": 1}, "r": {"1": 1}}, keep=True, resamples=9
    )
    assert {query: len(found.ranking("references-all")[query]) for query in ("q", "r")} == {"q": 0, "r": 1}


# ---------------------------------------------------------------------------------------------- measures

NAMES = ("nDCG@10", "nDCG@3", "nDCG", "R@5", "R(rel=2)@5", "AP", "AP@7", "AP(rel=3)", "RR", "RR@2", "P@5", "Success@3")


def test_measures_are_those_of_ir_measures_for_every_query() -> None:
    documents = collection(7, 120)
    queries, judged = asked(documents, 8)
    judged["q0"] = {"d1": 0, "d2": -1}  # nothing is relevant
    judged["q1"]["nowhere"] = 3  # a document that is not in the collection
    found = karat.retrieval(documents, queries, judged, metrics=NAMES, keep=True, resamples=9, depth=30)
    qrels = [ir_measures.Qrel(q, d, r) for q, each in judged.items() for d, r in each.items()]
    run = [ir_measures.ScoredDoc(q, d, s) for q, each in found.ranking("text").items() for d, s in each]
    measures = {name: ir_measures.parse_measure(name) for name in NAMES}
    theirs = {(str(m.measure), m.query_id): m.value for m in ir_measures.iter_calc(measures.values(), qrels, run)}
    for name in NAMES:
        values = dict(zip(found.queries, found.per_query["text", name], strict=True))
        # Of a query without a relevant document trec_eval says 0, and so does karat.
        expected = {q: theirs.get((str(measures[name]), q), 0.0) for q in found.queries}
        assert values == pytest.approx(expected, abs=1e-12)


def test_other_names_of_measures_are_understood_and_unknown_ones_suggested() -> None:
    assert list(map(str, parse_measures(["MAP", "mrr@10", "recall@5", "ndcg@10", "nDCG@10"]))) == [
        "AP", "RR@10", "R@5", "nDCG@10"
    ]  # fmt: skip
    assert list(map(str, parse_measures(None))) == ["nDCG@10", "R@100", "AP", "RR"]
    for text, said in {
        "R": "R needs a cutoff: write it as R@100",
        "nDGC@10": "did you mean 'nDCG'",
        "nDCG(rel=2)@10": "nDCG goes by the relevance itself",
        "P@0": "from 1 on",
        "P@@": "is no measure",
    }.items():
        with pytest.raises(InputError, match=re.escape(said)):
            parse_measure(text)


def test_a_ranking_of_another_engine_is_measured_beside_the_others(tmp_path: Path) -> None:
    documents = collection(9)
    queries, judged = asked(documents)
    own = karat.retrieval(documents, queries, judged, keep=True, resamples=9)
    own.save_files(tmp_path / "trec")
    found = karat.retrieval(documents, queries, judged, rankings={"again": tmp_path / "trec/text.trec"}, resamples=9)
    values = {(row["kind"], row["metric"]): row["value"] for row in found.rows()}
    for name in ("nDCG@10", "R@100", "AP", "RR"):
        assert values["ranking", name] == values["text", name]


# ---------------------------------------------------------------------------------------------- statistics


def differences_of(found: karat.Retrieval) -> dict[tuple[str, str | None, str], dict[str, Any]]:
    return {(row["system"], row["subset"], row["metric"]): row for row in found.differences()}


def test_p_is_that_of_scipys_permutation_test_over_the_values_of_queries() -> None:
    documents, run = collection(10), predicted(collection(10), 11)
    queries, judged = asked(documents)
    few = dict(list(queries.items())[:9])
    found = karat.retrieval(documents, few, judged, run, metrics=["nDCG@10"], subsets=["all"], correction="none")
    a, b = (np.array(found.per_query[name, "nDCG@10"]) for name in ("system-run-all", "text"))
    expected = permutation_test(
        (a, b),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    ).pvalue
    row = differences_of(found)["run", "all", "nDCG@10"]
    assert row["p"] == row["p_adjusted"] == pytest.approx(expected)
    assert (row["test"], row["baseline"], row["n"]) == ("randomisation", "text", 9)
    assert row["difference"] == pytest.approx(float((a - b).mean()))
    assert (row["value_a"], row["value_b"]) == pytest.approx((a.mean(), b.mean()))
    wins, losses = int((a > b + 1e-12).sum()), int((b > a + 1e-12).sum())
    assert (row["effect"]["wins"], row["effect"]["ties"], row["effect"]["losses"]) == (wins, 9 - wins - losses, losses)


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_p_of_other_tests_is_that_of_scipy_and_of_all_signs_of_ranks(test: str) -> None:
    documents, run = collection(10), predicted(collection(10), 11)
    queries, judged = asked(documents)
    few = dict(list(queries.items())[:9])
    options: dict[str, Any] = {"metrics": ["AP"], "test": test, "correction": "none", "subsets": ["all"]}
    found = karat.retrieval(documents, few, judged, run, **options)
    a, b = (np.array(found.per_query[name, "AP"]) for name in ("system-run-all", "text"))
    expected = float(ttest_rel(a, b).pvalue) if test == "t" else _wilcoxon(a - b)
    row = differences_of(found)["run", "all", "AP"]
    assert row["test"] == test
    assert row["p"] == row["tests"][test] == pytest.approx(expected)


def _wilcoxon(apart: np.ndarray[Any, Any]) -> float:
    """Return the share of all signs of the ranks with as small a smaller sum, of differences that are not 0."""
    apart = np.round(apart[np.abs(apart) > 1e-12], 12)
    ranks = rankdata(np.abs(apart))
    observed = min(ranks[apart > 0].sum(), ranks[apart < 0].sum())
    return float(min(1.0, 2 * np.mean([ranks[signs > 0].sum() <= observed for signs in _signs(len(apart))])))


def test_the_interval_of_a_difference_is_that_of_t_and_of_a_score_on_the_logit_scale() -> None:
    documents, run = collection(12), predicted(collection(12), 13)
    queries, judged = asked(documents)
    found = karat.retrieval(documents, queries, judged, run, subsets=["all"], metrics=["AP"], level=0.9)
    a, b = (np.array(found.per_query[name, "AP"]) for name in ("system-run-all", "text"))
    apart, n = a - b, len(a)
    about = apart - apart.mean()
    kurtosis = n * (about**4).sum() / (about**2).sum() ** 2
    df = min(n - 1, 2 * n / (2 + max(kurtosis - 3, 0) / 2))
    row = differences_of(found)["run", "all", "AP"]
    error = apart.std(ddof=1) / math.sqrt(n)
    assert row["se"] == pytest.approx(error)
    assert row["ci"] == pytest.approx(student.interval(0.9, df, apart.mean(), error))
    [score] = [each for each in found.rows() if each["system"] == "run"]
    x = a.mean()
    half = student.ppf(0.95, n - 1) * a.std(ddof=1) / math.sqrt(n) / (x * (1 - x))
    assert score["ci"] == pytest.approx([1 / (1 + math.exp(-(math.log(x / (1 - x)) + s * half))) for s in (-1, 1)])


def test_a_condition_that_finds_nothing_has_an_upper_bound() -> None:
    documents = collection(12)
    queries, judged = asked(documents)
    found = karat.retrieval(documents, dict.fromkeys(queries, "nowhere"), judged, metrics=["AP"])
    low, high = proportion_confint(0, 25, alpha=0.05, method="beta")
    for row in found.rows():
        assert (row["value"], row["ci"]) == (0.0, pytest.approx([low, high]))
    for row in found.differences():
        assert (row["difference"], row["p"], row["p_adjusted"]) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_p_is_adjusted_over_what_is_compared_on_one_measure(correction: str) -> None:
    documents, run = collection(12), predicted(collection(12), 13)
    queries, judged = asked(documents)
    options: dict[str, Any] = {"subsets": ["present", "absent"], "metrics": ["AP", "RR"], "correction": correction}
    found = karat.retrieval(documents, queries, judged, run, **options)
    for metric in ("AP", "RR"):
        rows = [row for row in found.differences() if row["metric"] == metric]
        assert [row["family"] for row in rows] == [4] * 4
        method = {"holm": "holm", "bh": "fdr_bh"}[correction]
        expected = multipletests([row["p"] for row in rows], method=method)[1]
        assert [row["p_adjusted"] for row in rows] == pytest.approx(expected)


def test_max_t_is_that_of_a_loop_over_all_signs_of_queries() -> None:
    documents, run = collection(12), predicted(collection(12), 13)
    queries, judged = asked(documents)
    few = dict(list(queries.items())[:8])
    found = karat.retrieval(documents, few, judged, run, subsets=["present", "absent"], metrics=["AP"])
    rows = found.differences()
    text = np.array(found.per_query["text", "AP"])
    names = [("" if row["kind"] == "references" else "system-") + f"{row['system']}-{row['subset']}" for row in rows]
    scores = [np.array(found.per_query[name, "AP"]) - text for name in names]
    # t of flipped signs with the root of the sum of squares, which no sign changes.
    t = [[abs((s * z).sum()) / math.sqrt((z**2).sum()) for z in scores] for s in _signs(8)]
    observed = t[0]
    order = sorted(range(4), key=lambda i: -observed[i])
    expected, largest = {}, 0.0
    for rank, i in enumerate(order):
        rest = order[rank:]
        share = np.mean([max(one[j] for j in rest) >= observed[i] - 1e-9 for one in t])
        largest = expected[i] = max(largest, float(share))
    for i, row in enumerate(rows):
        assert row["p_adjusted"] == pytest.approx(max(expected[i], row["p"]))
        assert row["p_adjusted_by"] == "max-t"


def _signs(count: int) -> list[np.ndarray[Any, Any]]:
    return [np.array([1 - 2 * (number >> bit & 1) for bit in range(count)]) for number in range(2**count)]


def test_fewer_than_three_queries_are_not_tested() -> None:
    documents, run = collection(12), predicted(collection(12), 13)
    queries, judged = asked(documents)
    found = karat.retrieval(documents, dict(list(queries.items())[:2]), judged, run, metrics=["AP"], subsets=["all"])
    assert "only 2 queries: nothing is tested" in found.notes
    for row in found.differences():
        assert (row["p"], row["p_adjusted"], row["ci"], row["n"]) == (None, None, [None, None], 2)
    assert "nan" not in karat.render(found, "table").lower()


def test_differences_that_rest_on_few_queries_are_counted_in_a_note() -> None:
    documents = collection(6)
    queries, judged = asked(documents)
    run = [{"id": each["id"], "keyphrases": ["honey comb"] if each["id"] == "d3" else []} for each in documents]
    options: dict[str, Any] = {"metrics": ["AP"], "subsets": ["all"], "test": "wilcoxon", "resamples": 99}
    found = karat.retrieval(documents, queries, judged, run, **options)
    text = np.array(found.per_query["text", "AP"])
    counts = [
        int((np.abs(np.array(found.per_query[name, "AP"]) - text) > 1e-12).sum())
        for name in ("references-all", "system-run-all")
    ]
    few = sum(0 < count < 10 for count in counts)
    assert few == 1
    assert f"differences that rest on fewer than 10 queries have rough intervals: AP ({few} of 2)" in found.notes
    assert "Wilcoxon's test also rejects systems of equal means where differences are skewed" in found.notes


def test_skewed_differences_are_named_in_a_note() -> None:
    draw = np.random.default_rng(0)
    text = draw.uniform(0.4, 0.6, size=(60, 2))
    other = text + np.stack([draw.normal(0, 0.05, 60), np.where(np.arange(60) == 0, 0.4, 0.001)], axis=1)
    assert abs(skew(other[:, 0] - text[:, 0])) < 3 < abs(skew(other[:, 1] - text[:, 1]))
    values = {Condition("text", "text"): text, Condition("ranking", "other"): other}
    rows = compare_conditions(values, parse_measures(["AP", "RR"]), RetrievalOptions(resamples=99))
    note = "differences of RR are skewed: the chance of any wrong rejection at .05 may be 8 %"
    assert list(notes_of_tests(rows, 60)) == [note]


def test_systems_are_compared_with_a_baseline_subset_by_subset() -> None:
    documents, run = collection(14), predicted(collection(14), 15)
    queries, judged = asked(documents)
    options: dict[str, Any] = {"metrics": ["AP"], "subsets": ["all", "absent"], "resamples": 99}
    plain = karat.retrieval(documents, queries, judged, {"a": run}, **options)
    found = karat.retrieval(documents, queries, judged, {"a": run}, baseline="references", **options)
    values = {(row["system"], row["subset"]): row["value"] for row in plain.rows()}
    assert {system for system, _, _ in differences_of(found)} == {"text", "a"}
    for (system, subset, _), row in differences_of(found).items():
        if system == "a":
            assert row["baseline"] == f"references-{subset}"
            expected = values["a", subset] - values["references", subset]
            assert row["difference"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("jobs", [2, 3])
def test_numbers_are_the_same_on_any_number_of_processes(tmp_path: Path, jobs: int) -> None:
    documents = collection(16, 3000)
    queries, judged = asked(documents)
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in documents))
    first, second = (
        karat.retrieval(path, queries, judged, predicted(documents), resamples=99, jobs=n).as_dict() for n in (1, jobs)
    )
    assert first == second


# ---------------------------------------------------------------------------------------------- collections and files


def test_several_corpora_make_one_collection(tmp_path: Path) -> None:
    documents, run = collection(17, 50), predicted(collection(17, 50))
    queries, judged = asked(documents)
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, part in zip(paths, (documents[:20], documents[20:]), strict=True):
        path.write_text("".join(json.dumps(each) + "\n" for each in part))
    whole = karat.retrieval(documents, queries, judged, run, resamples=99)
    parts = karat.retrieval(paths[0], queries, judged, run, further=paths[1:], resamples=99)
    assert [row | {"corpus": ""} for row in parts.rows()] == [row | {"corpus": ""} for row in whole.rows()]
    assert parts.documents == 50


def test_an_id_that_two_files_have_names_both_places(tmp_path: Path) -> None:
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    paths[0].write_text('{"id": "1", "text": "x"}\n{"id": "2", "text": "x"}\n')
    paths[1].write_text('{"id": "3", "text": "x"}\n{"id": "2", "text": "x"}\n')
    with pytest.raises(InputError, match=r"b\.jsonl:2: id '2' is that of .*a\.jsonl:2 too; keep one"):
        karat.retrieval(paths[0], {"q": "x"}, {"q": {"1": 1}}, further=[paths[1]])
    paths[1].write_text('{"text": "x"}\n')
    with pytest.raises(InputError, match=r"b\.jsonl:1: no id; documents of several files need one"):
        karat.retrieval(paths[0], {"q": "x"}, {"q": {"1": 1}}, further=[paths[1]])


def test_the_files_of_a_test_are_what_other_tools_measure_alike(tmp_path: Path) -> None:
    documents, run = collection(18), predicted(collection(18))
    queries, judged = asked(documents)
    found = karat.retrieval(documents, queries, judged, {"a b": run}, keep=True, resamples=9)
    names = found.save_files(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(names)
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "out/qrels.txt")))
    values = {(row["kind"], row["subset"], row["metric"]): row["value"] for row in found.rows()}
    ranking = list(ir_measures.read_trec_run(str(tmp_path / "out/system-a b-all.trec")))
    for measure, value in ir_measures.calc_aggregate(
        map(ir_measures.parse_measure, ("AP", "nDCG@10")), qrels, ranking
    ).items():
        assert value == pytest.approx(values["system", "all", str(measure)], abs=1e-12)
    with pytest.raises(InputError, match="is there already"):
        found.save_files(tmp_path / "out")


def test_names_that_could_be_paths_are_refused_as_names_of_files(tmp_path: Path) -> None:
    documents = collection(19)
    queries, judged = asked(documents)
    found = karat.retrieval(documents, queries, judged, {"../x": predicted(documents)}, keep=True, resamples=9)
    with pytest.raises(InputError, match="cannot be the name of a file"):
        found.save_files(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_what_is_left_out_or_cannot_be_found_is_counted_and_said(tmp_path: Path) -> None:
    (tmp_path / "other.trec").write_text("q1 Q0 1 1 2 x\n")
    documents = [{"id": "1", "text": "bees"}, {"id": "2"}]
    queries = {"q1": "bees", "q2": "the of and", "q3": "unjudged", "q4": "bees"}
    judged = {"q1": {"1": 1, "9": 1}, "q2": {"1": 1}, "q4": {"2": 0}, "qx": {"1": 1, "2": 1}}
    run = [{"id": "1", "keyphrases": ["wax"]}]
    found = karat.retrieval(
        documents, queries, judged, run, missing="empty", rankings={"other": tmp_path / "other.trec"}, resamples=9
    )
    assert set(found.notes) >= {
        "1 document without title and text: only phrases can find them",
        "run: 1 document that the run lacks get no phrases",
        "1 query without judgements left out",
        "2 judgements of 1 query left out that are not there, as 'qx'",
        "1 judgement of documents that are not in the collection, as '9': relevant ones count as not found",
        "1 query without a relevant document: every ranking scores 0",
        "1 query without a term once stop words are left out: nothing is found, which scores 0",
        "other: 2 queries that it does not rank score 0",
        "only 3 queries: intervals of differences may be too narrow",
    }
    assert found.queries == ("q1", "q2", "q4")


DOCUMENTS = [{"id": "1", "text": "x"}, {"id": "2", "text": "y"}]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"missing": "skip"}, "write --missing empty"),
        ({"subsets": ["presents"]}, "unknown subset 'presents'; did you mean 'present'?"),
        ({"subsets": []}, "no subset of phrases is given"),
        ({"cutoff": "0"}, "cutoff is a whole number from 1 on, or M, not '0'"),
        ({"baseline": "tfidf"}, "unknown baseline 'tfidf'"),
        ({"b": 1.5}, "b is a number from 0 to 1"),
        ({"weight": 0}, "weight is a number above 0"),
        ({"metrics": ["f1@5"]}, "unknown measure 'f1'"),
        ({"depht": 3}, "did you mean 'depth'"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        karat.retrieval(DOCUMENTS, {"q": "x"}, {"q": {"1": 1}}, **options)
    assert said in str(refused.value)


def test_a_run_that_lacks_documents_and_queries_that_nobody_judged_are_refused() -> None:
    with pytest.raises(InputError, match="no predictions for document '2'"):
        karat.retrieval(DOCUMENTS, {"q": "x"}, {"q": {"1": 1}}, [{"id": "1", "keyphrases": []}])
    with pytest.raises(
        InputError, match="no query has judgements: queries are named as 'a', those that are judged as 'q'"
    ):
        karat.retrieval(DOCUMENTS, {"a": "x"}, {"q": {"1": 1}})
    with pytest.raises(InputError, match="no document has a title or a text, so there is nothing to search"):
        karat.retrieval([{"id": "1", "keyphrases": ["x"]}], {"q": "x"}, {"q": {"1": 1}})


def test_the_signature_of_the_search_names_every_convention() -> None:
    found = karat.retrieval(DOCUMENTS, {"q": "x"}, {"q": {"1": 1}}, language="french", k1=1.2, resamples=9)
    assert found.search == (
        "bm25,idf=lucene,k1=1.2,b=0.4,weight=1,cutoff=M,tokenizer=split_nopunc,stemmer=french,stop=french,"
        "segmentation=characters,query=counted,depth=1000,scores=single,ties=id-descending,"
        f"karat={karat.__version__}"
    )
    [signature] = found.signatures.values()
    assert "stemmer=french" in signature


@pytest.mark.parametrize("form", ["table", "md", "html", "latex", "typst", "csv", "json"])
def test_every_format_has_every_condition(form: str) -> None:
    documents = collection(20)
    queries, judged = asked(documents)
    found = karat.retrieval(documents, queries, judged, {"alpha": predicted(documents)}, metrics=["AP"], resamples=99)
    text = karat.render(found, form)
    assert text.count("absent") >= 2
    assert "alpha" in text
    assert "AP" in text
