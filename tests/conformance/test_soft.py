"""F_KMR of Kundu 2023 on the authors' own outputs."""

from pathlib import Path

import pytest

import karat

FIGURES = [
    ("inspec.chan19", "t5", (0.3917, 0.0487)),
    ("semeval.chan19", "t5", (0.3495, 0.0401)),
    ("inspec.chen20", "confidence/exhird", (0.3656, 0.0425)),
    ("semeval.chen20", "confidence/exhird", (0.3921, 0.0420)),
]


@pytest.mark.parametrize(("corpus", "run", "printed"), FIGURES)
def test_soft_f_of_present_and_absent_phrases(
    shared: Path, corpus: str, run: str, printed: tuple[float, float]
) -> None:
    predictions = shared / "data" / "predictions" / corpus.split(".")[0] / f"{run}.jsonl.gz"
    results = karat.score(
        shared / "data" / f"{corpus}.jsonl.gz",
        predictions,
        metrics=["soft_f:present,score=kmr", "soft_f:absent,score=kmr"],
        protocol="kundu2023",
    )
    assert [row["value"] for row in results.rows()] == pytest.approx(printed, abs=5e-5)
