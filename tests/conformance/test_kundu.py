"""Table by table, the printed cells of Kundu and others 2023 that can be recomputed, and the protocols that give them.

Cells of Krapivin and KP20k, of BERTScore and of the human scores need corpora, models and scores that are not at hand.
"""

from __future__ import annotations

from math import floor
from pathlib import Path
from runpy import run_path

import pytest

import karat

FINDINGS = run_path(str(Path(__file__).parents[2] / "examples" / "papers" / "findings.py"))
F1 = ["f1@M:present", "f1@5:present", "f1@M:absent", "f1@5:absent"]


def values(corpus: Path, run: Path, metrics: list[str], protocol: str) -> list[float]:
    return [row["value"] for row in karat.score(corpus, run, metrics=metrics, protocol=protocol).rows()]


# ---------------------------------------------------------------------------------------------- table 1

TABLE_1 = {
    "inspec": ([0.340, 0.287, 0.025, 0.014], [0.3399, 0.2883, 0.0249, 0.0135]),
    "semeval": ([0.306, 0.275, 0.023, 0.016], [0.3059, 0.2751, 0.0231, 0.0163]),
}


@pytest.mark.parametrize("corpus", TABLE_1)
def test_seven_of_eight_cells_of_t5_in_table_1_are_those_of_kpdrop_padded(shared: Path, corpus: str) -> None:
    run = shared / "data" / "predictions" / corpus / "t5.jsonl.gz"
    found = values(shared / "data" / f"{corpus}.chan19.jsonl.gz", run, F1, "kpdrop2022,pad=k")
    printed, computed = TABLE_1[corpus]
    assert found == pytest.approx(computed, abs=5e-5)
    agree = [round(value, 3) == cell for value, cell in zip(found, printed, strict=True)]
    assert agree == [True, corpus != "inspec", True, True]  # .287 is printed where it is .2883


def test_table_1_is_not_that_of_kundu2023(shared: Path) -> None:
    run = shared / "data" / "predictions" / "inspec" / "t5.jsonl.gz"
    found = values(shared / "data" / "inspec.chan19.jsonl.gz", run, F1, "kundu2023,pad=k")
    assert found == pytest.approx([0.3128, 0.2650, 0.0220, 0.0123], abs=5e-5)


def test_exhird_in_table_1_is_copied_from_another_paper_and_not_of_this_run(shared: Path) -> None:
    run = shared / "data" / "predictions" / "inspec" / "confidence" / "exhird.jsonl.gz"
    found = values(shared / "data" / "inspec.chen20.jsonl.gz", run, F1, "chen2020")
    assert found == pytest.approx([0.2862, 0.2499, 0.0227, 0.0121], abs=5e-5)  # printed: .291 .253 .022 .011


# ---------------------------------------------------------------------------------------------- table 2

EXHIRD, with_four_words_twice = FINDINGS["AUTHORS"]["exhird"]
# As printed; recomputed from the released run; and from what the authors counted. Percent.
TABLE_2 = {
    ("inspec", "t5"): (26.75, 27.4419, 26.7584),
    ("semeval", "t5"): (26.64, 27.1298, 26.6476),
    ("inspec", "exhird"): (9.99, 10.2994, 9.9987),
    ("semeval", "exhird"): (10.18, 9.9742, 10.1812),
}


@pytest.mark.parametrize(("corpus", "system"), TABLE_2)
def test_all_four_cells_of_table_2_are_given_by_the_authors_rules(shared: Path, corpus: str, system: str) -> None:
    printed, released, counted = TABLE_2[corpus, system]
    protocol, count = FINDINGS["AUTHORS"][system]
    documents = shared / "data" / f"{corpus}.{FINDINGS['FORMS'][system]}.jsonl.gz"
    folder = shared / "data" / "predictions" / corpus
    found = [
        100 * karat.confidence(documents, each, protocol=protocol).rows()[0]["ece"]
        for each in (folder / "confidence" / f"{system}.jsonl.gz", karat.Run.of(count(folder), name=system))
    ]
    assert found == pytest.approx([released, counted], abs=5e-5)
    assert floor(100 * found[1]) / 100 == printed  # cut after two decimals, not rounded


def test_the_metric_ece_follows_the_same_rules(shared: Path) -> None:
    run = karat.Run.of(with_four_words_twice(shared / "data" / "predictions" / "semeval"), name="exhird")
    [row] = karat.score(shared / "data" / "semeval.chen20.jsonl.gz", run, metrics=["ece"], protocol=EXHIRD).rows()
    assert 100 * row["value"] == pytest.approx(10.1812, abs=5e-5)


def test_the_bins_of_exhird_on_semeval_are_those_that_the_authors_publish(shared: Path) -> None:
    """Their hits and predictions in each tenth of confidence."""
    run = karat.Run.of(with_four_words_twice(shared / "data" / "predictions" / "semeval"), name="exhird")
    found = karat.confidence(shared / "data" / "semeval.chen20.jsonl.gz", run, protocol=EXHIRD)
    counts = [(round(each["accuracy"] * each["n"]), each["n"]) for each in found.rows()[0]["bins"]]
    assert counts == [
        (5, 23),
        (23, 111),
        (22, 71),
        (33, 77),
        (45, 84),
        (45, 71),
        (20, 46),
        (31, 46),
        (8, 15),
        (3, 3),
    ]


# ---------------------------------------------------------------------------------------------- tables 3 and 5

TABLE_3 = {"inspec": [1326, 845, 686, 602, 173], "semeval": [346, 126, 103, 54, 20]}


@pytest.mark.parametrize("corpus", TABLE_3)
def test_all_ten_cells_of_table_3_are_given_by_raw_positions(shared: Path, corpus: str) -> None:
    documents = shared / "data" / f"{corpus}.chan19.jsonl.gz"
    assert karat.describe(documents, protocol="kundu2023,position=raw").rows()[0]["positions"] == TABLE_3[corpus]


TABLE_5 = {
    ("inspec.chan19", "t5"): ([0.392, 0.049], [0.3917, 0.0487]),
    ("semeval.chan19", "t5"): ([0.349, 0.040], [0.3495, 0.0401]),
    ("inspec.chen20", "confidence/exhird"): ([0.366, 0.042], [0.3656, 0.0425]),
    ("semeval.chen20", "confidence/exhird"): ([0.393, 0.042], [0.3921, 0.0420]),
}


@pytest.mark.parametrize(("corpus", "run"), TABLE_5)
def test_all_eight_cells_of_kmr_in_table_5_are_those_of_repeats_by_surface(shared: Path, corpus: str, run: str) -> None:
    printed, by_stem = TABLE_5[corpus, run]
    path = shared / "data" / "predictions" / corpus.split(".")[0] / f"{run}.jsonl.gz"
    metrics = ["soft_f:present,score=kmr", "soft_f:absent,score=kmr"]
    documents = shared / "data" / f"{corpus}.jsonl.gz"
    by_surface = values(documents, path, metrics, "kundu2023,duplicates=surface")
    assert [round(value, 3) for value in by_surface] == printed
    assert values(documents, path, metrics, "kundu2023") == pytest.approx(by_stem, abs=5e-5)
