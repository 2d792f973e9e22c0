"""Several corpora in one table, pairs without a run, and runs of one system: figures by hand, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat
from karat.analyses.homogeneity.idf import differs
from karat.errors import InputError

FEW = 99


def corpus(name: str, *lists: list[str], text: str = "Graphs and trees.") -> karat.Corpus:
    return karat.Corpus.of(({"id": f"d{n}", "text": text, "keyphrases": k} for n, k in enumerate(lists)), name)


def run(name: str, *lists: list[str]) -> karat.Run:
    return karat.Run.of(({"id": f"d{n}", "keyphrases": k} for n, k in enumerate(lists)), name)


PAIR = [{"a": "d0", "b": "d1"}]


def measured(name: str, *lists: list[str], **options: Any) -> karat.Homogeneity:
    return karat.homogeneity(corpus(name, ["graphs"], ["trees"]), PAIR, run("one", *lists), resamples=FEW, **options)


# ---------------------------------------------------------------------------------------------- several corpora


def test_results_of_several_corpora_and_languages_are_one_table(tmp_path: Path) -> None:
    first, second = measured("english", ["a", "b"], ["a"]), measured("french", ["a"], ["a"], language="french")
    path = tmp_path / "first.json"
    path.write_text(karat.render(first, "json"))
    found = karat.gather_homogeneity(path, second)
    rows = [(row["corpus"], row["language"], row["hooper"]) for row in found.rows()]
    assert rows == [("english", None, 0.5), ("french", "french", 1.0)]
    assert found.means() == [{"system": "one", "corpora": 2, "hooper": 0.75, "rodgers": 0.75, "generated": 1.0}]
    shown = karat.render(found)
    assert "french (french), 1 pair" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert [line.split(",")[1] for line in karat.render(found, "csv").splitlines()[1:]] == ["english", "french"]


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        "[]",
        "not JSON",
        json.dumps({"signatures": {}, "rows": [], "ceilings": [], "options": {}}),
        json.dumps({"signatures": {}, "rows": [{"corpus": "c", "hooper": "x"}], "ceilings": [], "options": {}}),
        json.dumps({"signatures": {}, "rows": [{"corpus": 3}], "ceilings": [], "options": {}}),
    ],
)
def test_a_file_that_is_no_result_is_said_to_be_none(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"no result of karat homogeneity.*give files that"):
        karat.gather_homogeneity(path)


@pytest.mark.parametrize("name", ["hooper", "phrases_per_document", "unrelated_hooper", "unrelated_pairs"])
@pytest.mark.parametrize("value", [10**400, "<b>"])
def test_a_row_with_what_is_no_figure_is_refused(name: str, value: object, tmp_path: Path) -> None:
    result = measured("c", ["a"], ["a"]).as_dict()
    result["rows"][0][name] = value
    path = tmp_path / "x.json"
    path.write_text(json.dumps(result))
    with pytest.raises(InputError, match="no result of karat homogeneity"):
        karat.gather_homogeneity(path)


def test_a_corpus_is_gathered_once() -> None:
    with pytest.raises(InputError, match="two results are of a corpus 'same'"):
        karat.gather_homogeneity(measured("same", ["a"], ["a"]), measured("same", ["a"], ["b"]))
    with pytest.raises(InputError, match="nothing to gather"):
        karat.gather_homogeneity()


# ---------------------------------------------------------------------------------------------- pairs without a run


def test_pairs_are_described_without_a_run() -> None:
    """Shared is graphs, which three documents have: df 3; all types are graphs, trees, nets with df 3, 1, 1."""
    documents = corpus("c", ["graphs", "trees"], ["graphs", "neural nets"], ["graphs"])
    found = karat.describe_pairs(documents, PAIR)
    [row] = found.rows()
    assert (row["pairs"], row["documents"], row["wer"], row["rouge1"]) == (1, 2, 0.0, 1.0)
    assert (row["components"], row["largest_component"]) == (1, 1)
    assert row["references_hooper"] == pytest.approx(1 / 3)
    assert row["extractors_hooper"] == pytest.approx(1 / 2)  # graphs and trees stand in the text, neural nets not
    assert (row["shared_df_types"], row["all_df_types"]) == (3.0, pytest.approx(5 / 3))
    assert (row["all_df_occurrences"], row["all_words_types"]) == (pytest.approx(11 / 5), pytest.approx(4 / 3))
    assert [row[f"{name}_both"] for name in "PRMU"] == [pytest.approx((1 + 1 / 2) / 2), 0, 0, pytest.approx(1 / 4)]
    assert max(map(len, karat.render(found).splitlines())) <= 80
    assert (
        karat.render(found, "csv")
        .splitlines()[0]
        .startswith("corpus,pairs,documents,components,largest_component,rouge1")
    )


def test_a_description_is_what_homogeneity_says_of_the_references() -> None:
    documents = corpus("c", ["graphs", "trees"], ["graphs"], ["trees", "graphs"])
    pairs = [*PAIR, {"a": "d1", "b": "d2"}]
    [row] = karat.describe_pairs(documents, pairs).rows()
    other = karat.homogeneity(documents, pairs, run("x", ["a"], ["a"], ["a"]), resamples=FEW).as_dict()
    assert row["references_hooper"] == other["ceilings"][0]["hooper"]
    assert row["shared_df_types"] == other["genericness"][0]["types"]["shared_df"]


def test_pairs_of_unknown_documents_are_named() -> None:
    with pytest.raises(InputError, match="no document 'd9'"):
        karat.describe_pairs(corpus("c", ["x"]), [{"a": "d0", "b": "d9"}])


def test_documents_without_references_or_texts_are_described_all_the_same() -> None:
    documents = karat.Corpus.of([{"id": "d0"}, {"id": "d1"}], "c")
    found = karat.describe_pairs(documents, PAIR)
    [row] = found.rows()
    assert (row["references_hooper"], row["rouge1"], row["P_both"]) == (None, None, None)
    assert any("no document has references" in note for note in found.notes)
    assert "nan" not in karat.render(found)


# ---------------------------------------------------------------------------------------------- runs of one system


def test_run_to_run_homogeneity_is_the_mean_over_documents_of_every_two_runs() -> None:
    """Hooper of runs 1 and 2: 1/2 and 1; of 1 and 3: 0 and 1; of 2 and 3: 0 and 1. In all runs: c of four phrases."""
    runs = [run(n, *lists) for n, lists in (("1", [["a", "b"], ["c"]]), ("2", [["a"], ["c"]]), ("3", [["x"], ["c"]]))]
    found = karat.repeats(corpus("c", ["a"], ["a"]), *runs)
    assert [(row["a"], row["b"], row["hooper"]) for row in found.rows()] == [
        ("1", "2", 0.75),
        ("1", "3", 0.5),
        ("2", "3", 0.5),
    ]
    mean = found.as_dict()["mean"]
    assert mean["hooper"] == pytest.approx((0.75 + 0.5 + 0.5) / 3)
    assert mean["stable"] == pytest.approx((0 / 3 + 1 / 1) / 2)
    assert [row["same"] for row in found.rows()] == [1, 1, 1]
    assert max(map(len, karat.render(found).splitlines())) <= 80


def test_a_document_for_which_nothing_is_predicted_is_undefined() -> None:
    found = karat.repeats(corpus("c", ["a"], ["a"]), run("1", ["a"], []), run("2", ["a"], []))
    [row] = found.rows()
    assert (row["hooper"], row["documents"], row["same"]) == (1.0, 1, 1)
    assert found.notes == ("1 and 2 are the same on every document: another temperature may tell more",)


def test_one_run_or_one_that_lacks_a_document_is_refused() -> None:
    documents = corpus("c", ["a"], ["a"])
    with pytest.raises(InputError, match="two runs or more"):
        karat.repeats(documents, run("1", ["a"], ["a"]))
    with pytest.raises(InputError, match="no predictions for document 'd1'"):
        karat.repeats(documents, run("1", ["a"], ["a"]), run("2", ["a"]))


# ---------------------------------------------------------------------------------------------- document frequencies


def weighed(start: int, count: int, idf: dict[str, float], seed: int) -> list[dict[str, Any]]:
    generator = np.random.default_rng(seed)
    found = []
    for n in range(start, start + count):
        phrases = generator.choice(list(idf), 4, replace=False).tolist()
        scores = [float(generator.integers(1, 5)) * idf[phrase] for phrase in phrases]
        found.append({"id": f"d{n}", "keyphrases": phrases, "scores": scores})
    return found


def idf(seed: int) -> dict[str, float]:
    generator = np.random.default_rng(seed)
    return {f"phrase{n}": float(np.log2(1000 / generator.integers(1, 200))) for n in range(40)}


def test_scores_show_whether_tfidf_used_the_same_document_frequencies() -> None:
    part = {f"d{n}": "documents" if n < 30 else "reformulations" for n in range(60)}
    same = karat.Run.of([*weighed(0, 30, idf(0), 1), *weighed(30, 30, idf(0), 2)], "tfidf")
    other = karat.Run.of([*weighed(0, 30, idf(0), 1), *weighed(30, 30, idf(9), 2)], "tfidf")
    assert differs(same, part) is False
    assert differs(other, part) is True


def test_scores_of_another_kind_and_runs_without_scores_tell_nothing() -> None:
    part = {f"d{n}": "documents" if n < 30 else "reformulations" for n in range(60)}
    generator = np.random.default_rng(0)
    lists = [*weighed(0, 30, idf(0), 1), *weighed(30, 30, idf(0), 2)]
    random = [{**each, "scores": generator.random(4).tolist()} for each in lists]
    assert differs(karat.Run.of(random, "t5"), part) is None
    plain = [{"id": each["id"], "keyphrases": each["keyphrases"]} for each in lists]
    assert differs(karat.Run.of(plain, "t5"), part) is None
    assert differs(karat.Run.of(lists[:3], "tfidf"), part) is None
