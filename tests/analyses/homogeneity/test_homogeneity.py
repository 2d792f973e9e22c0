"""Homogeneity: worked examples, ceilings, correlations and intervals against other programs, bad input."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from scipy import special, stats
from statsmodels.stats.multitest import multipletests

import karat
from karat.analyses.homogeneity.measures import rouge
from karat.analyses.homogeneity.samples import Units, pearson_of, spearman_of
from karat.errors import InputError
from karat.similarity import compare
from karat.stats.influence import jackknife

DEMO = Path(karat.__file__).parent / "demo"
FEW = 99  # resamples, where the interval does not matter

SHARED = ["natural language processing", "homogeneity evaluation"]
PAPER = [[*SHARED, "keyphrase generation"], [*SHARED, "text generation"]]  # the worked example of the paper


def run(lists: Sequence[Sequence[str]] | Mapping[str, Sequence[str]], name: str = "run") -> karat.Run:
    named = lists if isinstance(lists, Mapping) else {f"d{n}": each for n, each in enumerate(lists, 1)}
    return karat.Run.of(({"id": i, "keyphrases": list(each)} for i, each in named.items()), name)


def corpus(count: int, **fields: Sequence[Any]) -> karat.Corpus:
    each = ({name: values[n] for name, values in fields.items()} for n in range(count))
    return karat.Corpus.of({"id": f"d{n}", **own} for n, own in enumerate(each, 1))


def pair(a: int, b: int) -> dict[str, str]:
    return {"a": f"d{a}", "b": f"d{b}"}


def found(*lists: Sequence[str], pairs: Sequence[tuple[int, int]] = ((1, 2),), **options: Any) -> dict[str, Any]:
    """The row of one run over documents without anything."""
    given_pairs = [pair(a, b) for a, b in pairs]
    [row] = karat.homogeneity(corpus(len(lists)), given_pairs, run(lists), resamples=FEW, **options).rows()
    return row


# ---------------------------------------------------------------------------------------------- agreement


def test_the_worked_example_of_the_paper_is_2_of_4_phrases_and_6_of_8_words() -> None:
    row = found(*PAPER)
    assert (row["hooper"], row["rodgers"]) == (2 / 4, 6 / 8)


def test_with_the_larger_set_below_it_is_the_printed_2_of_3_and_6_of_7() -> None:
    row = found(*PAPER, measure="max")
    assert (row["hooper"], row["rodgers"]) == (2 / 3, 6 / 7)


def test_phrases_are_equal_by_their_stems_unless_that_is_turned_off() -> None:
    """By stems one of 2 phrases and 2 of 3 words; as they are none of 3 phrases and one of 4 words."""
    lists = [["neural networks"], ["neural network", "graphs"]]
    assert [found(*lists)[name] for name in ("hooper", "rodgers")] == [1 / 2, 2 / 3]
    assert [found(*lists, stem=False)[name] for name in ("hooper", "rodgers")] == [0, 1 / 4]


def test_a_mark_is_no_word() -> None:
    assert found(["input / output"], ["input output"])["rodgers"] == 1.0


def test_pairs_without_a_prediction_on_both_sides_are_left_out_and_counted() -> None:
    """Three pairs: 1 of 2 shared; nothing on one side, 0; nothing on both, undefined."""
    lists = [["a", "b"], ["a"], [], [], ["c"]]
    row = found(*lists, pairs=[(1, 2), (3, 5), (3, 4)])
    assert (row["hooper"], row["undefined"], row["pairs"], row["documents"]) == (0.25, 1, 3, 5)


def test_where_every_pair_is_undefined_there_is_no_number() -> None:
    row = found([], [])
    assert (row["hooper"], row["hooper_ci"], row["rodgers"], row["undefined"]) == (None, [None, None], None, 1)


def test_only_the_first_predictions_count_with_a_cutoff() -> None:
    lists = [["a", "b", "c"], ["a", "c", "b"]]
    assert [found(*lists, cutoff=k)["hooper"] for k in ("1", "2", "3", "M")] == [1, 1 / 3, 1, 1]


def test_repeats_and_invalid_predictions_are_dropped_before_the_cutoff() -> None:
    assert found(["a", "A", "<unk>", "b"], ["a", "b"], cutoff="2")["hooper"] == 1.0


def test_the_mean_is_over_pairs() -> None:
    lists = [["a", "b"], ["a", "b"], ["a", "c"]]
    assert found(*lists, pairs=[(1, 2), (1, 3)])["hooper"] == pytest.approx((1 + 1 / 3) / 2)


WORDS = st.lists(st.sampled_from(["a", "b", "c", "a b", "b c d", "e"]), max_size=5)


@settings(deadline=None, max_examples=40)
@given(st.lists(WORDS, min_size=2, max_size=6), st.booleans())
def test_agreement_is_that_of_plain_sets(lists: list[list[str]], largest: bool) -> None:
    pairs = [(i, j) for i in range(len(lists)) for j in range(i)]
    expected: dict[str, list[float]] = {"hooper": [], "rodgers": []}
    for i, j in pairs:
        for name, cut in (("hooper", lambda phrase: [phrase]), ("rodgers", str.split)):
            one, other = ({part for phrase in lists[n] for part in cut(phrase)} for n in (i, j))
            if one or other:
                below = max(len(one), len(other)) if largest else len(one | other)
                expected[name].append(len(one & other) / below)
    row = found(*lists, pairs=[(i + 1, j + 1) for i, j in pairs], measure="max" if largest else "jaccard")
    for name, values in expected.items():
        assert row[name] == (pytest.approx(np.mean(values)) if values else None)
    assert row["undefined"] == len(pairs) - len(expected["hooper"])


# ---------------------------------------------------------------------------------------------- soft agreement


def test_soft_agreement_is_f_of_the_nearest_phrases() -> None:
    """a has x y z and u, b has x y and v: x y z is 2/3 near x y by overlap, u and v are near nothing.

    P = (2/3 + 0) / 2 and R = (2/3 + 0) / 2, so F = 1/3.
    """
    row = found(["x y z", "u"], ["x y", "v"], similarity="overlap")
    assert row["soft"] == pytest.approx(1 / 3)
    assert row["hooper"] == 0
    assert found(["x y z", "u"], ["x y", "v"], similarity="overlap", threshold=0.7)["soft"] == 0


@pytest.mark.parametrize("name", ["kmr", "chrf", "bleu", "cosine"])
def test_soft_agreement_goes_by_any_similarity(name: str) -> None:
    one, other = ["neural network models", "graph"], ["deep neural networks", "graph theory", "bees"]
    scores = np.array([[compare(name, x, y) for y in other] for x in one])
    scores[scores < 0.4] = 0
    p, r = scores.max(axis=1).mean(), scores.max(axis=0).mean()
    assert found(one, other, similarity=name)["soft"] == pytest.approx(2 * p * r / (p + r))


def test_soft_agreement_of_nothing_is_undefined_and_with_nothing_zero() -> None:
    assert found([], [], similarity="kmr")["soft"] is None
    assert found(["x"], [], similarity="kmr")["soft"] == 0
    assert found(["x"], ["x"], similarity="kmr")["soft"] == 1


def test_without_a_similarity_nothing_is_said_of_soft_agreement() -> None:
    assert not [name for name in found(*PAPER) if name.startswith("soft")]


def test_contexts_of_phrases_are_those_of_the_corpus() -> None:
    documents = corpus(2, text=["Bees build hives. Wasps build nests.", "Bees build combs. Wasps sting."])
    lists = [["bees", "hives"], ["wasps", "nests"]]
    result = karat.homogeneity(documents, [pair(1, 2)], run(lists), similarity="context", threshold=0, resamples=FEW)
    sentences = ["bee build hive .", "wasp build nest .", "bee build comb .", "wasp sting ."]
    texts = [tuple(text.split()) for text in sentences]
    scores = np.array([[compare("context", x, y, sentences=texts) for y in lists[1]] for x in lists[0]])
    p, r = scores.max(axis=1).mean(), scores.max(axis=0).mean()
    assert p > 0
    assert result.rows()[0]["soft"] == pytest.approx(2 * p * r / (p + r))


# ---------------------------------------------------------------------------------------------- texts and references

TEXTS = ["Deep nets on graphs.", "Nets that are deep."]
REFERENCES = [["deep nets", "graphs", "trees"], ["deep nets", "nets", "trees"]]


def test_ceilings_are_those_of_the_references() -> None:
    """All references: deep net and tree of 4. Present in the first deep net and graph, in the second net: none of 3."""
    result = karat.homogeneity(
        corpus(2, text=TEXTS, keyphrases=REFERENCES), [pair(1, 2)], run([["x"], ["x"]]), resamples=FEW
    )
    ceilings = {row["ceiling"]: (row["hooper"], row["rodgers"]) for row in result.as_dict()["ceilings"]}
    assert ceilings == {"references": (2 / 4, 3 / 4), "extractors": (0.0, 1 / 3)}


def test_the_generated_share_is_of_predictions_that_are_not_in_their_document() -> None:
    """graph and net are in the first document, graph and tree not in the second: 2 of 4. d3 is in no pair."""
    lists = [["graphs", "nets"], ["graph", "trees"], ["x", "y"]]
    result = karat.homogeneity(corpus(3, text=[*TEXTS, "z"]), [pair(1, 2)], run(lists), resamples=FEW)
    assert result.rows()[0]["generated"] == 0.5


def test_the_generated_share_is_told_over_predictions_and_as_the_mean_over_documents() -> None:
    """Not in their text are 1 of 1, 0 of 1 and 1 of 4: 2 of 6 in all, 1.25 / 3 on average; d4 has no prediction."""
    lists = [["x"], ["graphs"], ["graphs", "nets", "a", "y"], []]
    texts = ["a graph", "a graph", "graphs of a net", "a graph"]
    pairs = [pair(1, 2), pair(2, 3), pair(1, 3), pair(3, 4)]
    result = karat.homogeneity(corpus(4, text=texts), pairs, run(lists), resamples=FEW)
    [row] = result.rows()
    assert row["generated"] == row["generated_micro"] == pytest.approx(2 / 6)
    assert row["generated_mean"] == pytest.approx((1 + 0 + 1 / 4) / 3)
    assert " .3333 .4167 " in " ".join(karat.render(result).split())


def test_without_texts_what_needs_them_is_left_open_and_said() -> None:
    result = karat.homogeneity(corpus(2, keyphrases=REFERENCES), [pair(1, 2)], run(PAPER), resamples=FEW)
    row = result.rows()[0]
    assert [row[name] for name in ("generated", "pearson", "spearman")] == [None] * 3
    assert {each["ceiling"]: each["hooper"] for each in result.as_dict()["ceilings"]} == {
        "references": 0.5,
        "extractors": None,
    }
    assert result.notes == (
        "the documents have no title and no text, so what is generated, the extractors' ceiling and ROUGE-1 are open",
        "only 1 pair: systems cannot be compared, and only figures of 0 and 1 have an interval",
    )


def test_rouge_is_that_of_rouge_score() -> None:
    texts = [text for document in karat.read(DEMO / "corpus.jsonl") if (text := f"{document.title} {document.text}")]
    a, b = np.arange(0, 40, 2), np.arange(1, 41, 2)
    scorer = RougeScorer(["rouge1"], use_stemmer=False)
    plain = [re.sub("[^a-z0-9]+", " ", text.lower()) for text in texts]
    expected = [scorer.score(plain[i], plain[j])["rouge1"].recall for i, j in zip(a, b, strict=True)]
    assert rouge(a, b, dict(enumerate(plain))).tolist() == pytest.approx(expected)
    assert rouge(a, b, dict(enumerate(texts))).tolist() == pytest.approx(expected, abs=0.01)


def test_rouge_of_a_missing_text_is_undefined() -> None:
    assert np.isnan(rouge(np.array([0, 1]), np.array([1, 0]), {0: "x", 1: ""})).all()


def columns(seed: int, count: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    x = generator.integers(0, 6, count) / 5
    return x, np.round(0.5 * x + generator.random(count), 2)


def test_correlations_and_the_influence_of_each_pair_are_those_of_scipy() -> None:
    """The influence of a pair on Pearson's r is by leaving it out, that on Spearman's rho is the limit of it."""
    x, y = columns(0, 300)
    units = Units.of(np.arange(300), np.arange(1, 301) % 300, together=False)
    for make, expected, near in ((pearson_of, stats.pearsonr, 1e-9), (spearman_of, stats.spearmanr, 0.02)):
        sample = make(x, y, units)
        assert sample.value() == pytest.approx(expected(x, y).statistic)
        without = np.array([expected(np.delete(x, i), np.delete(y, i)).statistic for i in range(300)])
        influence = (without.mean() - without) * 299 / 300
        found = jackknife(sample).influence[0]
        assert np.abs(found - influence).max() <= near * np.abs(influence).max()


def test_correlations_leave_out_what_is_undefined_and_a_constant_has_none() -> None:
    x, y = columns(2, 12)
    units = Units.of(np.arange(12), np.arange(12), together=True)
    some = x.copy()
    some[3] = np.nan
    for make, expected in ((pearson_of, stats.pearsonr), (spearman_of, stats.spearmanr)):
        assert make(some, y, units).value() == pytest.approx(expected(np.delete(x, 3), np.delete(y, 3)).statistic)
        assert np.isnan(make(np.full(12, 0.3), y, units).value())
        assert np.isnan(make(np.full(12, np.nan), y, units).value())


def test_hooper_is_correlated_with_rouge_over_the_pairs() -> None:
    """Texts of ten words of which n are shared; predictions of ten phrases of which some are."""
    shared = [9, 2, 7, 4, 5, 1, 8, 3, 6, 2, 7, 4]
    agreed = [8, 3, 5, 5, 6, 0, 8, 2, 7, 1, 6, 4]
    texts, lists, pairs = [], [], []
    for n, (words, phrases) in enumerate(zip(shared, agreed, strict=True)):
        for side in "ab":
            texts.append(" ".join(f"w{i}" if i < words else f"w{i}{side}" for i in range(10)))
            lists.append([f"p{i}" if i < phrases else f"p{i}{side}" for i in range(10)])
        pairs.append(pair(2 * n + 1, 2 * n + 2))
    result = karat.homogeneity(corpus(24, text=texts), pairs, run(lists), resamples=999)
    row = result.rows()[0]
    x, y = np.array(agreed) / (20 - np.array(agreed)), np.array(shared) / 10
    assert row["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic)
    assert row["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic)
    low, high = row["pearson_ci"]
    assert low < row["pearson"] <= high
    assert 0 < row["pearson_p"] < 0.05
    assert 0 < row["spearman_p"] < 0.05
    assert result.rouge.value == pytest.approx(y.mean())


# ---------------------------------------------------------------------------------------------- intervals


def test_the_units_of_pairs_are_both_documents_and_those_of_reformulations_their_source() -> None:
    units = Units.of(np.array([4, 4, 7]), np.array([7, 9, 9]), together=False)
    assert (units.count, units.of_pair.tolist()) == (3, [[0, 1], [0, 2], [1, 2]])
    units = Units.of(np.array([4, 4, 7]), np.array([10, 11, 12]), together=True)
    assert (units.count, units.of_pair.tolist()) == (2, [0, 0, 1])


def logit_interval(mean: float, error: float, df: float) -> list[float]:
    half = stats.t.isf(0.025, df) * error / (mean * (1 - mean))
    return [special.expit(special.logit(mean) + sign * half) for sign in (-1, 1)]


def test_the_interval_of_disjoint_pairs_is_that_of_t_on_the_logit_scale() -> None:
    lists = [["a", "b", "c", "d", "e"][n % 4 :: 1 + n % 3] for n in range(40)]
    row = found(*lists, pairs=[(2 * n + 1, 2 * n + 2) for n in range(20)])
    sets = [{*each} for each in lists]
    values = np.array([len(sets[2 * n] & sets[2 * n + 1]) / len(sets[2 * n] | sets[2 * n + 1]) for n in range(20)])
    kurtosis = 20 * ((values - values.mean()) ** 4).sum() / ((values - values.mean()) ** 2).sum() ** 2
    df = min(19, 40 / (2 + max(kurtosis - 3, 0) / 2))
    assert row["hooper_ci"] == pytest.approx(logit_interval(values.mean(), stats.sem(values), df))


def test_the_interval_of_reformulations_is_clustered_by_source() -> None:
    """Three reformulations of each of twelve documents, against a regression on a constant in statsmodels."""
    generator = np.random.default_rng(0)
    lists, pairs, values = {}, [], []
    for n in range(12):
        lists[f"d{n + 1}"] = ["a", "b", "c", "d"]
        for m in range(3):
            count = generator.integers(0, 3) + (n % 3)
            lists[f"r{n}.{m}"] = [*"abcd"[:count], "z"]
            pairs.append({"a": f"d{n + 1}", "b": f"r{n}.{m}"})
            values.append(count / 5)
    others = [{"id": each["b"]} for each in pairs]
    [row] = karat.homogeneity(corpus(12), pairs, run(lists), reformulations=others, resamples=FEW).rows()
    source = np.repeat(np.arange(12), 3)
    fit = sm.OLS(values, np.ones(36)).fit(cov_type="cluster", cov_kwds={"groups": source})
    assert row["hooper_ci"] == pytest.approx(logit_interval(float(np.mean(values)), float(fit.bse[0]), 11))


def test_intervals_do_not_depend_on_the_seed() -> None:
    lists = [["a", "b", "c", "d", "e"][n % 4 :: 1 + n % 3] for n in range(40)]
    pairs = [(n + 1, n + 2) for n in range(39)]
    once, other = (found(*lists, pairs=pairs, seed=seed)["hooper_ci"] for seed in (0, 1))
    assert once == other


def test_a_system_without_any_agreement_has_the_exact_bound() -> None:
    row = found(*[[f"p{n}"] for n in range(40)], pairs=[(2 * n + 1, 2 * n + 2) for n in range(20)])
    assert (row["hooper"], row["hooper_ci"][0]) == (0, 0)
    assert row["hooper_ci"][1] == pytest.approx(stats.binomtest(0, 20).proportion_ci().high)


# ---------------------------------------------------------------------------------------------- comparing systems


def agreeing(counts: Sequence[int], name: str) -> karat.Run:
    """A run in which the two documents of each pair share some of four phrases."""
    lists = [[f"p{i}" if i < count else f"p{i}{side}" for i in range(4)] for count in counts for side in "ab"]
    return run(lists, name)


def hooper_of(counts: Sequence[int]) -> np.ndarray:
    return np.asarray(np.array(counts) / (8 - np.array(counts)))


def test_disjoint_pairs_are_compared_by_a_paired_t_test() -> None:
    generator = np.random.default_rng(3)
    counts = generator.integers(0, 5, (2, 30))
    pairs = [pair(2 * n + 1, 2 * n + 2) for n in range(30)]
    result = karat.homogeneity(corpus(60), pairs, agreeing(counts[0], "x"), agreeing(counts[1], "y"), resamples=FEW)
    x, y = map(hooper_of, counts)
    expected = stats.ttest_rel(x, y)
    kurtosis = stats.kurtosis(x - y)  # excess
    assert kurtosis < 0  # so that t has n − 1 degrees of freedom
    hooper, rodgers = result.as_dict()["differences"]
    assert (hooper["metric"], rodgers["metric"]) == ("hooper", "rodgers")
    assert (hooper["a"], hooper["b"], hooper["test"]) == ("x", "y", "dyadic_t")
    assert hooper["difference"] == pytest.approx((x - y).mean())
    assert hooper["p"] == pytest.approx(expected.pvalue)
    assert hooper["ci"] == pytest.approx([*expected.confidence_interval()])
    assert (hooper["family"], hooper["p_adjusted"]) == (1, hooper["p"])


def test_pairs_that_share_documents_are_compared_with_the_dyadic_variance() -> None:
    """A ring of documents: the products of each pair with itself and both its neighbours, in a plain loop."""
    generator = np.random.default_rng(5)
    lists = [[[f"p{i}" for i in range(6) if generator.random() < share] for _ in range(30)] for share in (0.5, 0.7)]
    pairs = [pair(n + 1, (n + 1) % 30 + 1) for n in range(30)]
    runs = [run([each or ["z"] for each in some], name) for some, name in zip(lists, "xy", strict=True)]
    result = karat.homogeneity(corpus(30), pairs, *runs, resamples=FEW)
    rows = result.pair_rows()
    x, y = (np.array([row["hooper"] for row in rows if row["system"] == name]) for name in "xy")
    apart = x - y
    about = apart - apart.mean()
    total = sum(about[i] * about[j % 30] for i in range(30) for j in (i - 1, i, i + 1))
    plain = float(about @ about)
    hooper = result.as_dict()["differences"][0]
    low, high = plain / 30 / 29, total / 30**2
    assert hooper["se"] ** 2 >= low * (1 - 1e-9)
    # Of a ring A has the row sums 3 and the trace 30, so P has the trace 27: the factor is at ρ = 0 30 / 27.
    if total / plain < 27 / 29:
        assert hooper["se"] ** 2 == pytest.approx(max(low, high * 30 / 27))
    else:
        assert high * 30 / 27 <= hooper["se"] ** 2 <= high * 1.6
    assert hooper["difference"] == pytest.approx(apart.mean())


def test_a_system_compared_with_itself_does_not_differ() -> None:
    lists = [["a"], ["a", "b"], ["c"], ["d"]] * 5
    pairs = [pair(2 * n + 1, 2 * n + 2) for n in range(10)]
    result = karat.homogeneity(corpus(20), pairs, run(lists, "x"), run(lists, "y"), resamples=FEW)
    for each in result.as_dict()["differences"]:
        assert (each["difference"], each["p"], each["p_adjusted"]) == (0.0, 1.0, 1.0)


def test_a_system_compared_with_a_copy_that_lacks_documents_does_not_differ() -> None:
    lists = {f"d{n + 1}": [["a"], ["a", "b"], ["c"], ["d"]][n % 4] for n in range(40)}
    some = {name: phrases for name, phrases in lists.items() if int(name[1:]) > 13}
    pairs = [pair(n + 1, n + 2) for n in range(39)]
    result = karat.homogeneity(corpus(40), pairs, run(lists, "x"), run(some, "y"), resamples=FEW, missing="skip")
    for each in result.as_dict()["differences"]:
        assert (each["difference"], each["p"], each["pairs"], each["n"]) == (0.0, 1.0, 26, 26)
        assert each["value_a"] == each["value_b"]


def test_the_means_of_a_comparison_are_over_the_pairs_on_which_both_systems_are_defined() -> None:
    x = {f"d{n + 1}": ["a", "b"][: 1 + n % 2] for n in range(24)}
    y = {name: ([] if int(name[1:]) < 9 else phrases) for name, phrases in x.items()}
    pairs = [pair(2 * n + 1, 2 * n + 2) for n in range(12)]
    result = karat.homogeneity(corpus(24), pairs, run(x, "x"), run(y, "y"), resamples=FEW)
    hooper = result.as_dict()["differences"][0]
    assert (hooper["pairs"], hooper["value_a"], hooper["value_b"], hooper["p"]) == (8, 0.5, 0.5, 1.0)
    assert "pairs" in karat.render(result)


def test_adjusted_p_is_between_that_of_one_test_and_that_of_bonferroni() -> None:
    counts = np.random.default_rng(6).integers(0, 5, (3, 30))
    pairs = [pair(2 * n + 1, 2 * n + 2) for n in range(30)]
    runs = [agreeing(each, name) for each, name in zip(counts, "xyz", strict=True)]
    rows = karat.homogeneity(corpus(60), pairs, *runs, resamples=2000).as_dict()["differences"]
    hooper = [row for row in rows if row["metric"] == "hooper"]
    assert [row["family"] for row in rows] == [3] * 6
    for row in hooper:
        assert row["p"] <= row["p_adjusted"] <= min(3 * row["p"] + 0.02, 1)
    simple = karat.homogeneity(corpus(60), pairs, *runs, correction="holm").as_dict()["differences"]
    expected = multipletests([row["p"] for row in hooper], method="holm")[1]
    assert [row["p_adjusted"] for row in simple if row["metric"] == "hooper"] == pytest.approx(expected)


def test_fewer_than_three_pairs_are_not_compared_and_a_note_says_so() -> None:
    notes = {1: "only 1 pair: systems cannot be compared, and only figures of 0 and 1 have an interval"}
    notes[2] = "x and y: 2 pairs on which both are defined, too few for a test"
    for count, said in notes.items():
        counts = [[4, 3], [0, 1]]
        runs = [agreeing(each[:count], name) for each, name in zip(counts, "xy", strict=True)]
        pairs = [pair(2 * n + 1, 2 * n + 2) for n in range(count)]
        result = karat.homogeneity(corpus(2 * count), pairs, *runs, resamples=FEW)
        assert [note for note in result.notes if "compared" in note or "test" in note] == [said]
        for row in result.as_dict()["differences"]:
            assert (row["p"], row["p_adjusted"], row["ci"]) == (None, None, [None, None])
        assert "nan" not in karat.render(result)


def test_reformulations_of_two_documents_are_not_compared() -> None:
    pairs = [{"a": f"d{n}", "b": f"r{n}{m}"} for n in (1, 2) for m in "ab"]
    names = ["d1", "d2", *(each["b"] for each in pairs)]
    runs = [run({name: [*"abc"[: 1 + (n + k) % 3]] for n, name in enumerate(names)}, "xy"[k]) for k in (0, 1)]
    others = [{"id": each["b"]} for each in pairs]
    result = karat.homogeneity(corpus(2), pairs, *runs, reformulations=others, resamples=FEW)
    assert (
        "x and y: 4 pairs of 2 documents and reformulations on which both are defined, too few for a test"
        in result.notes
    )


def test_many_comparisons_without_enough_pairs_are_one_sentence() -> None:
    runs = [run([[name, "a"], ["a"], ["b"], ["b", name]], name) for name in "uvwx"]
    result = karat.homogeneity(corpus(4), [pair(1, 2), pair(3, 4)], *runs, resamples=FEW)
    [said] = [note for note in result.notes if "test" in note]
    assert said.startswith("6 of 6 comparisons have fewer than 3 pairs")


def test_systems_without_a_common_pair_are_not_compared() -> None:
    x = {f"d{n}": ["a"] if n <= 12 else [] for n in range(1, 25)}
    y = {f"d{n}": ["a"] if n > 12 else [] for n in range(1, 25)}
    pairs = [pair(2 * n + 1, 2 * n + 2) for n in range(12)]
    result = karat.homogeneity(corpus(24), pairs, run(x, "x"), run(y, "y"), resamples=FEW)
    assert "x and y: no pair on which both are defined, too few for a test" in result.notes
    assert "nan" not in karat.render(result)
    json.dumps(result.as_dict(), allow_nan=False)


def test_pairs_that_all_share_one_document_are_said_to_tell_nothing_of_their_dependence() -> None:
    counts = np.random.default_rng(7).integers(1, 5, (2, 13))
    runs = [
        run([[f"p{i}" for i in range(count)] for count in each], name) for each, name in zip(counts, "xy", strict=True)
    ]
    result = karat.homogeneity(corpus(13), [pair(1, n) for n in range(2, 14)], *runs, resamples=FEW)
    said = "all pairs share documents with each other, so their dependence cannot be estimated"
    assert any(note.startswith(said) for note in result.notes)
    rows = result.pair_rows()
    x, y = (np.array([row["hooper"] for row in rows if row["system"] == name]) for name in "xy")
    hooper = result.as_dict()["differences"][0]
    assert hooper["se"] == pytest.approx(stats.sem(x - y))
    assert hooper["p"] == pytest.approx(2 * stats.t.sf(abs((x - y).mean() / stats.sem(x - y)), 1))


def test_a_dyadic_variance_below_that_of_independent_pairs_is_said() -> None:
    """Along a chain of documents pairs agree and disagree in turn."""
    lists = [["a"], ["a"], ["b"], ["b"]] * 8
    result = karat.homogeneity(corpus(32), [pair(n + 1, n + 2) for n in range(31)], run(lists), resamples=FEW)
    assert "figures and differences the dyadic variance is below that of independent pairs" in " ".join(result.notes)


def test_a_correlation_of_fewer_than_ten_pairs_has_no_p() -> None:
    """Eleven pairs, of which two have no prediction for either document: nine are correlated."""
    texts = [f"w x{n} y{n % 3}" if n % 2 else f"w x{n - 1} z{n}" for n in range(22)]
    lists = [["a", f"b{n // 4}"] if n % 3 else ["a", f"c{n}"] for n in range(18)] + [[]] * 4
    pairs = [pair(2 * n + 1, 2 * n + 2) for n in range(11)]
    result = karat.homogeneity(corpus(22, text=texts), pairs, run(lists), resamples=FEW)
    [row] = result.rows()
    assert (row["pairs"], row["undefined"]) == (11, 2)
    assert (row["pearson"] is None, row["pearson_p"], row["spearman_p"]) == (False, None, None)
    assert any(
        note.endswith("correlations with fewer than 10 pairs have no interval and no p") for note in result.notes
    )


def test_stems_beside_pairs_that_were_found_without_are_noted(tmp_path: Path) -> None:
    """Pairs that were mined have a score; others, and those by stems, need no note."""
    made = corpus(2, keyphrases=[["trees", "nets"], ["trees", "bees"]])
    said = "agreement and genericness compare phrases by their stems, while pairs that were mined without --stem"

    def noted(pairs: Any, **options: Any) -> bool:
        notes = karat.homogeneity(made, pairs, run(PAPER), resamples=FEW, **options).notes
        return any(note.startswith(said) for note in notes)

    mined = karat.mine_pairs(made, min=0.3)
    mined.save(tmp_path / "pairs.csv")
    assert noted(mined)
    assert noted(tmp_path / "pairs.csv")
    assert not noted(mined, stem=False)
    assert not noted(mined, protocol="karat,stemmer=none")
    stems = karat.mine_pairs(made, min=0.3, stem=True)
    assert not noted(stems)
    for name in ("stems.csv", "stems.jsonl"):
        stems.save(tmp_path / name)
        assert not noted(tmp_path / name)
    assert not noted([pair(1, 2)])


# ---------------------------------------------------------------------------------------------- genericness


def test_genericness_is_that_counted_by_hand() -> None:
    """The pair shares a b and c. a b is in 3 documents, c in 2, d and e f g in 1: types 7/4, occurrences 15/7.

    Words: shared 2 and 1; all types 2, 1, 1, 3; occurrences 3·2 + 2·1 + 1 + 3 over 7.
    """
    lists = [["A b", "c"], ["a b", "c", "d"], ["a b", "e f g", "a b"]]
    result = karat.homogeneity(corpus(3, keyphrases=lists), [pair(1, 2)], run([["x"], ["y"], ["x"]]), resamples=FEW)
    references, system = result.as_dict()["genericness"]
    assert references["system"] is None
    assert references["types"] == {
        "shared": 2,
        "all": 4,
        "shared_df": 2.5,
        "all_df": 7 / 4,
        "shared_words": 1.5,
        "all_words": 7 / 4,
    }
    assert references["occurrences"] == {
        "shared": 2,
        "all": 7,
        "shared_df": 2.5,
        "all_df": pytest.approx((9 + 4 + 1 + 1) / 7),
        "shared_words": 1.5,
        "all_words": pytest.approx(12 / 7),
    }
    assert (system["system"], system["documents"], system["types"]["all"]) == ("run", 3, 2)
    assert (system["types"]["shared"], system["types"]["shared_df"], system["types"]["all_df"]) == (0, None, 1.5)


def test_a_phrase_counts_for_each_pair_that_shares_it() -> None:
    """All three share a, the first two also b c: 3 and 2 documents over types; a occurs in three pairs."""
    lists = [["a", "b c"], ["a", "b c"], ["a"]]
    pairs = [pair(1, 2), pair(1, 3), pair(2, 3)]
    result = karat.homogeneity(corpus(3, keyphrases=lists), pairs, run(lists), resamples=FEW)
    [references, system] = result.as_dict()["genericness"]
    assert references["types"] == system["types"]
    assert (references["types"]["shared"], references["types"]["shared_df"]) == (2, 2.5)
    assert (references["occurrences"]["shared"], references["occurrences"]["shared_df"]) == (4, (3 * 3 + 2) / 4)
    assert references["occurrences"]["shared_words"] == (3 * 1 + 2) / 4


# ---------------------------------------------------------------------------------------------- reformulations


def demo_run(kept: int, name: str = "kept") -> karat.Run:
    """The run of the demo, and for paraphrases its first phrases of the source."""
    own = {str(p.id): [phrase or "" for phrase in p.keyphrases or ()] for p in karat.read_run(DEMO / "by-hand.jsonl")}
    more = {str(d.id): own[str(d.id).removesuffix("-p")][:kept] for d in karat.read(DEMO / "paraphrases.jsonl")}
    return run({**own, **more}, name)


def test_reformulations_are_a_corpus_of_their_own() -> None:
    result = karat.homogeneity(
        DEMO / "corpus.jsonl",
        DEMO / "pairs.jsonl",
        demo_run(99),
        reformulations=DEMO / "paraphrases.jsonl",
        resamples=FEW,
    )
    row = result.rows()[0]
    assert (row["pairs"], row["documents"], row["hooper"], row["rodgers"]) == (20, 40, 1.0, 1.0)
    ceilings = {each["ceiling"]: each["hooper"] for each in result.as_dict()["ceilings"]}
    assert ceilings["references"] == 1.0
    assert 0.5 < ceilings["extractors"] < 1
    references = result.as_dict()["genericness"][0]
    assert references["documents"] == 60  # a reformulation is no further document


def test_a_reformulation_without_references_has_those_of_its_source() -> None:
    documents = corpus(1, text=["Deep nets on graphs."], keyphrases=[["deep nets", "graphs", "trees"]])
    other = karat.Corpus.of([{"id": "p", "text": "Graphs and nets."}])
    both = run({"d1": ["x"], "p": ["x"]})
    result = karat.homogeneity(documents, [{"a": "d1", "b": "p"}], both, reformulations=other, resamples=FEW)
    ceilings = {each["ceiling"]: each["hooper"] for each in result.as_dict()["ceilings"]}
    assert ceilings == {"references": 1.0, "extractors": 1 / 2}  # deep net and graph, graph


def test_a_named_set_of_the_source_is_taken_too() -> None:
    documents = corpus(1, text=["Deep nets."], reference_sets=[{"reader": ["nets", "trees"]}])
    other = karat.Corpus.of([{"id": "p", "text": "Trees."}])
    both = run({"d1": ["x"], "p": ["x"]})
    result = karat.homogeneity(
        documents, [{"a": "d1", "b": "p"}], both, reformulations=other, references="reader", resamples=FEW
    )
    ceilings = {each["ceiling"]: each["hooper"] for each in result.as_dict()["ceilings"]}
    assert ceilings == {"references": 1.0, "extractors": 0.0}


# ---------------------------------------------------------------------------------------------- input


def test_a_run_may_hold_more_or_fewer_documents_than_the_corpus() -> None:
    lists = {"d1": ["a"], "d3": ["a"], "z": ["q"]}
    result = karat.homogeneity(corpus(4), [pair(1, 3)], run(lists), resamples=FEW)
    assert result.rows()[0]["hooper"] == 1.0
    assert "run: 1 document of the run left out, being in no corpus" in result.notes


def test_a_document_that_a_run_lacks_is_an_error_or_empty_or_left_out() -> None:
    lists = {"d1": ["a"], "d2": ["a"]}
    given_pairs = [pair(1, 2), pair(1, 3)]
    with pytest.raises(InputError) as error:
        karat.homogeneity(corpus(3), given_pairs, run(lists))
    assert str(error.value) == (
        "memory: no predictions for document 'd3' of the pair on line 2 of memory; take it as empty with --missing "
        "empty, or leave the pair out with --missing skip"
    )
    empty = karat.homogeneity(corpus(3), given_pairs, run(lists), missing="empty", resamples=FEW).rows()[0]
    assert (empty["hooper"], empty["pairs"]) == (0.5, 2)
    skipped = karat.homogeneity(corpus(3), given_pairs, run(lists), missing="skip", resamples=FEW)
    assert [(row["hooper"], row["pairs"], row["undefined"]) for row in skipped.rows()] == [(1.0, 1, 0)]
    assert "run: 1 of 2 pairs left out, of which the run lacks a document" in skipped.notes


def test_a_pair_of_an_unknown_document_is_said_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"a": "d1", "b": "d2"}\n{"a": "d1", "b": "q"}\n')
    with pytest.raises(InputError) as error:
        karat.homogeneity(corpus(2), path, run(PAPER))
    assert str(error.value) == (
        f"{path}:2: there is no document 'q' in memory; --reformulations names the corpus of b, where it is another one"
    )
    path.write_text('{"a": "d1", "b": "d22"}\n')
    with pytest.raises(InputError, match=r"there is no document 'd22' in memory; did you mean 'd2'"):
        karat.homogeneity(corpus(2), path, run(PAPER))


def test_documents_and_reformulations_have_different_ids() -> None:
    with pytest.raises(InputError, match="document 'd1' is in memory and in memory; a run tells them by their ids"):
        karat.homogeneity(corpus(2), [pair(1, 2)], run(PAPER), reformulations=corpus(2))


def test_lines_without_ids_are_matched_by_their_order() -> None:
    documents = karat.Corpus.of([{"text": "x"}, {"text": "y"}])
    system = karat.Run.of([{"keyphrases": each} for each in PAPER])
    result = karat.homogeneity(documents, [{"a": 1, "b": 2}], system, resamples=FEW)
    assert result.rows()[0]["hooper"] == 0.5
    short = karat.Run.of([{"keyphrases": ["a"]}])
    with pytest.raises(InputError, match="memory: 1 lines without ids, but there are 2 documents; give both ids"):
        karat.homogeneity(documents, [{"a": 1, "b": 2}], short)


def test_ids_of_a_run_are_checked() -> None:
    twice = karat.Run.of([{"id": "d1"}, {"id": "d1"}])
    with pytest.raises(InputError, match="memory: id 'd1' is on line 1 and on line 2"):
        karat.homogeneity(corpus(2), [pair(1, 2)], twice)
    without = karat.Run.of([{"id": "d1"}, {"keyphrases": []}])
    with pytest.raises(InputError, match="memory:2: no id, though earlier lines have one"):
        karat.homogeneity(corpus(2), [pair(1, 2)], without)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measure": "dice"}, "unknown value of measure 'dice'"),
        ({"cutoff": "O"}, "the cutoff of homogeneity is a number from 1 on, or M for all, not 'O'"),
        ({"cutoff": "0"}, "the cutoff of homogeneity is a number from 1 on, or M for all, not '0'"),
        ({"similarity": "kmrr"}, "unknown similarity 'kmrr'; did you mean 'kmr'"),
        ({"threshold": 2}, "a threshold is a number from 0 to 1, not 2"),
        ({"resamples": 0}, "resamples is a whole number from 1 to 10,000,000, not 0"),
        ({"level": 1}, "level is a number above 0 and below 1, not 1"),
        ({"correction": "hom"}, "unknown value of correction 'hom'"),
        ({"interval": "bca"}, "unknown keyword of homogeneity() 'interval'"),
        ({"missing": "drop"}, "unknown value of missing 'drop'"),
        ({"references": "author"}, "has no reference sets, so --references author cannot choose one"),
        ({"protocol": "chan2018"}, "unknown protocol 'chan2018'; did you mean 'chan2019'"),
    ],
)
def test_what_cannot_be_chosen_is_said(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        karat.homogeneity(corpus(2), [pair(1, 2)], run(PAPER), **options)


def test_a_run_is_needed() -> None:
    with pytest.raises(InputError, match="homogeneity is of one run or more; give at least one"):
        karat.homogeneity(corpus(2), [pair(1, 2)])


def test_mined_pairs_can_be_given_as_they_are() -> None:
    documents = corpus(3, keyphrases=[["a", "b"], ["a", "b", "c"], ["x"]])
    mined = karat.mine_pairs(documents)
    result = karat.homogeneity(documents, mined, run([["a"], ["a"], ["b"]]), resamples=FEW)
    assert (result.pairs, result.rows()[0]["hooper"]) == (1, 1.0)


def test_every_protocol_has_rows_of_its_own() -> None:
    names = ["karat", "karat,stemmer=none"]
    lists = [["neural networks"], ["neural network"]]
    result = karat.homogeneity(corpus(2, text=TEXTS), [pair(1, 2)], run(lists), protocol=names, resamples=FEW)
    assert [(row["protocol"], row["hooper"]) for row in result.rows()] == [(names[0], 1.0), (names[1], 0.0)]
    assert list(result.signatures) == names
    assert all(",set=keyphrases," in text for text in result.signatures.values())


@pytest.mark.parametrize("format", ["table", "md", "latex", "csv", "json"])
def test_it_can_be_shown_in_every_format(format: str) -> None:
    from karat.output import render

    documents = corpus(2, text=TEXTS, keyphrases=REFERENCES)
    result = karat.homogeneity(
        documents, [pair(1, 2)], run(PAPER, "x"), run(PAPER, "y"), similarity="kmr", resamples=FEW
    )
    text = render(result, format)
    assert "hooper" in text
    assert "x" in text
    if format == "json":
        assert [row["hooper"] for row in json.loads(text)["rows"]] == [0.5, 0.5]


def test_large_and_small_blocks_of_soft_scores_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = [[f"{x} {y}" for x, y in product("abc"[: 1 + n % 3], "de")] for n in range(6)]
    pairs = [(i, j) for i in range(1, 7) for j in range(1, i)]
    whole = found(*lists, pairs=pairs, similarity="kmr")["soft"]
    monkeypatch.setattr("karat.pairs.sets.blocks.__defaults__", (1,))
    assert found(*lists, pairs=pairs, similarity="kmr")["soft"] == pytest.approx(whole)


def test_two_pairs_are_not_correlated_as_they_are_always_in_line() -> None:
    texts = ["a b", "a c", "a b c", "a b d"]
    lists = [["x"], ["x"], ["x"], ["y"]]
    row = karat.homogeneity(corpus(4, text=texts), [pair(1, 2), pair(3, 4)], run(lists), resamples=FEW).rows()[0]
    assert [row[name] for name in ("pearson", "pearson_p", "spearman", "spearman_p")] == [None] * 4
