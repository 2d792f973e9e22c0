"""The expected calibration error of released systems, under the conventions of the paper's authors."""

from pathlib import Path

import pytest

import karat

# ECE in percent, and how many distinct predictions there are.
FIGURES = {
    ("inspec", "t5", "chan19"): (28.48, 2719),
    ("semeval", "t5", "chan19"): (27.31, 602),
    ("inspec", "exhird", "chen20"): (8.70, 2801),
    ("semeval", "exhird", "chen20"): (9.36, 470),
}


@pytest.mark.parametrize(("corpus", "system", "form"), FIGURES)
def test_the_calibration_error_of_released_systems(shared: Path, corpus: str, system: str, form: str) -> None:
    run = shared / "data" / "predictions" / corpus / "confidence" / f"{system}.jsonl.gz"
    documents = shared / "data" / f"{corpus}.{form}.jsonl.gz"
    row = karat.confidence(documents, run, protocol="kundu2023").rows()[0]
    error, predictions = FIGURES[corpus, system, form]
    assert (row["subset"], row["predictions"]) == ("all", predictions)
    assert 100 * row["ece"] == pytest.approx(error, abs=0.005)
    low, high = row["ece_debiased_ci"]
    assert low < row["ece_debiased"] < min(row["ece"] + 0.001, high)
