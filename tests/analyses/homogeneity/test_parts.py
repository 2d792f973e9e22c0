"""Every pair by itself, correlations with WER, classes and methods, regressions and power: against other programs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import jiwer
import numpy as np
import pytest
import statsmodels.api as sm
from rouge_score.rouge_scorer import RougeScorer
from scipy import stats
from statsmodels.stats.power import TTestPower

import karat
from karat.analyses.homogeneity.compare import APART
from karat.formats.pairs import read_pairs

DEMO = Path(karat.__file__).parent / "demo"
FEW = 99
GENERAL = ["deep learning", "graph theory", "evolution", "statistics", "networks", "measurement"]


class Spaces:
    """What parts a text at its spaces, for rouge-score."""

    def tokenize(self, text: str) -> list[str]:
        return text.split()


def words(document: Any) -> str:
    return " ".join(re.findall(r"[^\W_]+", f"{document.title or ''} {document.text or ''}".lower()))


@pytest.fixture(scope="module")
def found() -> karat.Homogeneity:
    """The bundled documents and their paraphrases, and two systems: one copies, one adds general phrases."""
    documents, made = karat.read(DEMO / "corpus.jsonl"), karat.read(DEMO / "paraphrases.jsonl")
    copying, adding = [], []
    for n, each in enumerate([*documents, *made]):
        phrases = [word for word in str(each.text).split() if word.isalpha() and len(word) > 3][:6]
        copying.append({"id": each.id, "keyphrases": phrases[: 3 + n % 3]})
        general = [GENERAL[(n + i) % 6] for i in range(1 + n % 3)]
        adding.append({"id": each.id, "keyphrases": [*phrases[: 2 + n % 2], *general]})
    runs = [karat.Run.of(copying, "copying"), karat.Run.of(adding, "adding")]
    return karat.homogeneity(documents, DEMO / "pairs.jsonl", *runs, reformulations=made, resamples=FEW)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    both = [*karat.read(DEMO / "corpus.jsonl"), *karat.read(DEMO / "paraphrases.jsonl")]
    return {str(each.id): words(each) for each in both}


def columns(found: karat.Homogeneity, *names: str) -> np.ndarray:
    return np.array([[row[name] for name in names] for row in found.pair_rows()], dtype=float)


# ---------------------------------------------------------------------------------------------- each pair


def test_wer_of_each_pair_is_that_of_jiwer_and_rouge_that_of_rouge_score(
    found: karat.Homogeneity, texts: dict[str, str]
) -> None:
    scorer = RougeScorer(["rouge1"], tokenizer=Spaces())  # its own parts words at letters beyond a to z
    rows = found.pair_rows()
    assert len(rows) == 2 * 20
    for row in rows:
        a, b = texts[row["a"]], texts[row["b"]]
        assert row["wer"] == pytest.approx(jiwer.wer(a, b), abs=1e-12)
        assert row["rouge1"] == pytest.approx(scorer.score(a, b)["rouge1"].recall, abs=1e-12)


def test_the_means_of_the_pairs_are_the_printed_figures(found: karat.Homogeneity) -> None:
    for row in found.rows():
        own = [each for each in found.pair_rows() if each["system"] == row["system"]]
        for name in ("hooper", "rodgers"):
            assert np.mean([each[name] for each in own]) == pytest.approx(row[name])
    assert columns(found, "wer").mean() == pytest.approx(found.wer.value)
    assert columns(found, "rouge1").mean() == pytest.approx(found.rouge.value)


def test_correlations_with_both_are_those_of_scipy_on_the_pairs(found: karat.Homogeneity) -> None:
    for row in found.rows():
        own = [each for each in found.pair_rows() if each["system"] == row["system"]]
        hooper = [each["hooper"] for each in own]
        for column, end in (("rouge1", ""), ("wer", "_wer")):
            values = [each[column] for each in own]
            assert row[f"pearson{end}"] == pytest.approx(stats.pearsonr(hooper, values).statistic)
            assert row[f"spearman{end}"] == pytest.approx(stats.spearmanr(hooper, values).statistic)
            assert row[f"pearson{end}_ci"][0] < row[f"pearson{end}"] < row[f"pearson{end}_ci"][1]
            assert 0 < row[f"spearman{end}_p"] <= 1


@pytest.mark.parametrize("name", ["values.jsonl", "values.csv", "values.tsv", "values.parquet"])
def test_the_pairs_are_written_as_their_file_is_named(name: str, found: karat.Homogeneity, tmp_path: Path) -> None:
    if name.endswith("parquet"):
        parquet = pytest.importorskip("pyarrow.parquet")
    found.save_pairs(tmp_path / name)
    if name.endswith("jsonl"):
        read = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
    elif name.endswith("parquet"):
        read = parquet.read_table(tmp_path / name).to_pylist()
    else:
        with (tmp_path / name).open(newline="") as file:
            read = list(csv.DictReader(file, delimiter="\t" if name.endswith("tsv") else ","))
    expected = found.pair_rows()
    assert [(row["system"], row["a"], row["b"]) for row in read] == [(e["system"], e["a"], e["b"]) for e in expected]
    for field in ("hooper", "rodgers", "rouge1", "wer", "generated", "hooper_present"):
        assert [float(row[field]) for row in read] == pytest.approx([each[field] for each in expected])


def made(*lists: Sequence[str], pairs: Sequence[tuple[int, int]], texts: Sequence[str] = (), **options: Any) -> Any:
    """The result of one run over documents with texts."""
    own = list(texts) or [""] * len(lists)
    documents = [{"id": f"d{n}", "text": text} for n, text in enumerate(own)]
    run = [{"id": f"d{n}", "keyphrases": list(each)} for n, each in enumerate(lists)]
    given = [{"a": f"d{a}", "b": f"d{b}"} for a, b in pairs]
    return karat.homogeneity(documents, given, run, resamples=FEW, **options)


def test_what_is_undefined_on_a_pair_is_null_and_a_pair_that_is_left_out_is_not_there() -> None:
    result = made([], [], ["x"], pairs=[(0, 1), (0, 2)], texts=["", "a b", "a"], similarity="kmr")
    first, second = result.pair_rows()
    assert (first["hooper"], first["rodgers"], first["soft"], first["rouge1"], first["wer"]) == (None,) * 5
    assert (second["hooper"], second["soft"], second["generated"]) == (0.0, 0.0, 1.0)
    documents = [{"id": name, "text": name} for name in ("a", "b", "c")]
    run = [{"id": name, "keyphrases": [name]} for name in ("a", "b")]
    pairs = [{"a": "a", "b": "b"}, {"a": "a", "b": "c"}]
    kept = karat.homogeneity(documents, pairs, run, missing="skip", resamples=FEW).pair_rows()
    assert [(row["a"], row["b"]) for row in kept] == [("a", "b")]


# ---------------------------------------------------------------------------------------------- classes and methods


def test_classes_are_those_of_each_prediction_in_its_own_document() -> None:
    """a: `deep nets` present, `nets deep` reordered, `deep sea` mixed, `bees` unseen; b has `deep nets` and `bees`.

    In b both are unseen: of the 2 present and unseen predictions of a, both are predicted again; of R and M none.
    """
    lists = [["deep nets", "nets deep", "deep sea", "bees"], ["deep nets", "bees"]]
    result = made(*lists, pairs=[(0, 1)], texts=["Deep nets.", "Something else."])
    rows = {row["subset"]: row for row in result.as_dict()["classes"]}
    assert {name: (row["predictions"], row["again"]) for name, row in rows.items()} == {
        "present": (1, 1.0),
        "absent": (5, pytest.approx(3 / 5)),
        "R": (1, 0.0),
        "M": (1, 0.0),
        "U": (3, 1.0),
    }
    assert rows["present"]["share"] == pytest.approx(1 / 6)
    # Present is deep nets in a alone; absent are three in a and two in b, of which bees is shared.
    assert (rows["present"]["hooper"], rows["absent"]["hooper"]) == (0.0, pytest.approx(1 / 4))
    [pair] = result.pair_rows()
    assert (pair["hooper_present"], pair["hooper_absent"]) == (0.0, pytest.approx(1 / 4))


def test_methods_are_told_by_a_field_or_by_the_id_of_the_reformulation() -> None:
    documents = [{"id": f"d{n}", "text": "x y"} for n in range(3)]
    others = [{"id": "d0~back", "text": "x y"}, {"id": "d1~para~2", "text": "x z"}, {"id": "o", "text": "u v"}]
    pairs = [
        {"a": "d0", "b": "d0~back"},
        {"a": "d1", "b": "d1~para~2"},
        {"a": "d2", "b": "o", "method": "by hand"},
    ]
    lists = {"d0": "x", "d1": "x", "d2": "x", "d0~back": "x", "d1~para~2": "y", "o": "x"}
    run = [{"id": name, "keyphrases": [phrase]} for name, phrase in lists.items()]
    result = karat.homogeneity(documents, pairs, run, reformulations=others, resamples=FEW)
    found = {row["method"]: row for row in result.as_dict()["methods"] if row["system"] == "run"}
    assert {name: (row["pairs"], row["hooper"], row["wer"]) for name, row in found.items()} == {
        "back": (1, 1.0, 0.0),
        "para": (1, 0.0, 0.5),
        "by hand": (1, 1.0, 1.0),
    }
    assert [row["method"] for row in result.pair_rows()] == ["back", "para", "by hand"]
    assert "By the method of reformulation" in karat.render(result)


def test_pairs_without_a_method_have_no_table_of_methods() -> None:
    result = made(["x"], ["x"], pairs=[(0, 1)], texts=["x", "y"])
    assert result.as_dict()["methods"] == []
    assert "method of reformulation" not in karat.render(result)
    assert read_pairs([{"a": "d", "b": "e", "method": 3}]).methods == (None,)


# ---------------------------------------------------------------------------------------------- regression


@pytest.mark.parametrize("model", ["pooled", "within"])
def test_the_regression_is_that_of_statsmodels_on_the_pairs(model: str, found: karat.Homogeneity) -> None:
    rows = found.pair_rows()
    y, x = columns(found, "hooper")[:, 0], columns(found, "rouge1", "wer", "generated")
    systems = np.array([row["system"] == "adding" for row in rows], dtype=int)
    sources = np.unique([row["a"] for row in rows], return_inverse=True)[1]
    intercepts = np.ones((len(y), 1)) if model == "pooled" else np.eye(2)[systems]
    design = np.column_stack([x, intercepts])
    expected = sm.OLS(y, design).fit()
    scales = np.linalg.inv(design.T @ design) @ design.T
    scores = scales * expected.resid / np.sqrt(1 - expected.get_influence().hat_matrix_diag)
    by_source = np.stack([scores[:, sources == n].sum(axis=1) for n in range(20)], axis=1)
    squares = np.stack([(scales**2)[:, sources == n].sum(axis=1) for n in range(20)], axis=1)
    few = (squares**2).sum(axis=1) / squares.sum(axis=1) ** 2
    errors = np.sqrt((by_source**2).sum(axis=1) / (1 - few))
    [fit] = [each for each in found.as_dict()["regressions"] if each["model"] == model]
    assert [each["column"] for each in fit["coefficients"]] == ["ROUGE-1", "WER", "generated"]
    for j, each in enumerate(fit["coefficients"]):
        assert each["coefficient"] == pytest.approx(expected.params[j], rel=1e-7)
        assert each["standard_error"] == pytest.approx(errors[j], rel=1e-6)
        kurtosis = 20 * (by_source[j] ** 4).sum() / (by_source[j] ** 2).sum() ** 2
        assert each["df"] == pytest.approx(min(19, 40 / (2 + max(kurtosis - 3, 0) / 2)))
        assert each["p"] == pytest.approx(2 * stats.t.sf(abs(expected.params[j] / errors[j]), each["df"]), rel=1e-6)
        half = stats.t.isf(0.025, each["df"]) * errors[j]
        assert each["ci"] == pytest.approx([expected.params[j] - half, expected.params[j] + half], rel=1e-6)
    assert (fit["rows"], fit["documents"]) == (40, 20)
    if model == "pooled":
        assert fit["r2"] == pytest.approx(expected.rsquared)


def test_a_column_that_does_not_vary_is_said_and_left_out() -> None:
    """Only what stands in the text is predicted, so nothing is generated."""
    draw = Random(0)
    texts = [" ".join(draw.choices("abcdefgh", k=draw.randint(5, 9))) for _ in range(24)]
    lists = [text.split()[:3] for text in texts]
    result = made(*lists, pairs=[(2 * n, 2 * n + 1) for n in range(12)], texts=texts)
    assert "generated is not in the regression (pooled): it is the same everywhere" in result.notes
    [fit] = result.as_dict()["regressions"]
    assert [each["column"] for each in fit["coefficients"]] == ["ROUGE-1", "WER"]
    assert fit["dropped"] == [{"column": "generated", "why": "is the same everywhere"}]


def test_two_pairs_make_no_regression_and_no_nan() -> None:
    result = made(["x"], ["x"], ["y"], ["z"], pairs=[(0, 1), (2, 3)], texts=["x a", "b", "c d", "y d"])
    [fit] = result.as_dict()["regressions"]
    assert (fit["coefficients"], fit["reason"]) == ([], "2 pairs are too few")
    assert "Hooper by regression: none, 2 pairs are too few" in karat.render(result)
    assert "nan" not in karat.render(result)
    json.dumps(result.as_dict(), allow_nan=False)


def test_texts_that_are_all_the_same_make_no_regression() -> None:
    result = made(*[["x"]] * 24, pairs=[(2 * n, 2 * n + 1) for n in range(12)], texts=["x y"] * 24)
    [fit] = result.as_dict()["regressions"]
    assert fit["reason"] == "no column varies"
    assert [each["why"] for each in fit["dropped"]] == ["is the same everywhere"] * 3
    assert result.rows()[0]["pearson_wer"] is None


# ---------------------------------------------------------------------------------------------- kinds and power


def test_generators_are_compared_with_extractors_pair_by_pair(found: karat.Homogeneity) -> None:
    by_system = {name: [r for r in found.pair_rows() if r["system"] == name] for name in ("copying", "adding")}
    apart = [a["hooper"] - b["hooper"] for a, b in zip(by_system["adding"], by_system["copying"], strict=True)]
    [hooper, rodgers] = found.as_dict()["kinds"]
    assert (hooper["a"], hooper["b"], hooper["metric"]) == ("(generators)", "(extractors)", "hooper")
    assert hooper["difference"] == pytest.approx(np.mean(apart))
    assert rodgers["metric"] == "rodgers"


def test_the_pairs_that_a_difference_takes_are_those_of_a_paired_t_test(found: karat.Homogeneity) -> None:
    """With the t quantiles of as many pairs as there are, where the exact number has those of the pairs needed."""
    [power] = found.as_dict()["powers"]
    pairs = {name: [r["hooper"] for r in found.pair_rows() if r["system"] == name] for name in ("copying", "adding")}
    sd = np.std(np.subtract(pairs["copying"], pairs["adding"]), ddof=1)
    assert power["sd"] == pytest.approx(sd)
    assert power["design_effect"] == pytest.approx(1.0)  # no pair shares a document
    contrasts = [each.difference.contrast for each in found.differences if each.metric == "hooper"]
    [df] = {float(each.df_documents) for each in contrasts if each is not None}
    quantiles = stats.t.ppf(0.975, df) + stats.t.ppf(0.8, df)
    for apart in APART:
        exact = TTestPower().solve_power(effect_size=apart / sd, alpha=0.05, power=0.8)
        needed = power["pairs_needed"][f"{apart:g}"]
        assert needed == max(np.ceil((quantiles * sd / apart) ** 2), 2)
        assert exact <= needed <= 1.25 * exact + 1
    exact = TTestPower().solve_power(nobs=20, alpha=0.05, power=0.8) * sd
    assert power["detectable"] == pytest.approx(exact, rel=0.08)


def test_pairs_that_share_documents_are_worth_fewer() -> None:
    """The design effect is the squared standard error over that of independent pairs."""
    generator = np.random.default_rng(1)
    documents = [{"id": f"d{n}"} for n in range(24)]
    triples = [(3 * n + i, 3 * n + j) for n in range(8) for i, j in ((0, 1), (0, 2), (1, 2))]
    runs = []
    for m in "ab":
        share = generator.random(8) if m == "a" else np.full(8, 0.5)  # of phrases that a triple shares
        lists = [[f"p{i}" if generator.random() < share[n // 3] else f"p{i}{n}" for i in range(8)] for n in range(24)]
        runs.append(karat.Run.of(({"id": f"d{n}", "keyphrases": each} for n, each in enumerate(lists)), m))
    result = karat.homogeneity(documents, [{"a": f"d{a}", "b": f"d{b}"} for a, b in triples], *runs, resamples=FEW)
    [power] = result.as_dict()["powers"]
    hooper = result.as_dict()["differences"][0]
    values = {m: np.array([row["hooper"] for row in result.pair_rows() if row["system"] == m]) for m in "ab"}
    alone = stats.sem(values["a"] - values["b"])
    assert power["design_effect"] == pytest.approx(hooper["se"] ** 2 / alone**2)
    apart = values["a"] - values["b"]
    sums = (apart - apart.mean()).reshape(8, 3).sum(axis=1)  # every two pairs of a triple share a document
    assert hooper["se"] ** 2 == pytest.approx((sums**2).sum() / 24**2 * 8 / 7)
    assert power["design_effect"] > 2
    karat.render(result)


@pytest.mark.parametrize("count", [4, 14])
def test_a_single_hub_tells_nothing_of_power(count: int) -> None:
    documents = [{"id": f"d{n}", "text": "x"} for n in range(count)]
    draw = Random(0)
    runs = [
        karat.Run.of(({"id": f"d{n}", "keyphrases": draw.sample("uvwxyz", 3)} for n in range(count)), m) for m in "ab"
    ]
    pairs = [{"a": "d0", "b": f"d{n}"} for n in range(1, count)]
    result = karat.homogeneity(documents, pairs, *runs, resamples=FEW)
    [power] = result.as_dict()["powers"]
    assert (power["pairs"], power["detectable"], power["design_effect"]) == (count - 1, None, None)
    karat.render(result)


def test_systems_that_are_the_same_on_all_pairs_tell_nothing_of_power_and_of_columns() -> None:
    texts = ["x " + " ".join(f"w{i}" for i in range(n % 7)) for n in range(24)]
    pairs = [(2 * n, 2 * n + 1) for n in range(12)]
    documents = [{"id": f"d{n}", "text": text} for n, text in enumerate(texts)]
    run = [karat.Run.of(({"id": f"d{n}", "keyphrases": ["x"]} for n in range(24)), m) for m in "ab"]
    result = karat.homogeneity(documents, [{"a": f"d{a}", "b": f"d{b}"} for a, b in pairs], *run, resamples=FEW)
    [power] = result.as_dict()["powers"]
    assert (power["detectable"], power["design_effect"]) == (None, None)
    reasons = [each["reason"] for each in result.as_dict()["regressions"]]
    assert reasons == ["hooper is the same everywhere", "hooper is the same everywhere within each system"]
    assert "nan" not in karat.render(result)
    json.dumps(result.as_dict(), allow_nan=False)
