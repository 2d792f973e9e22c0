"""The printed figures of the original scripts on real corpora."""

from pathlib import Path

import pytest

import karat
from tests.figures import differences, read_figures

PROTOCOLS = [
    "chan2019",
    "chan2019,references=stemmed",
    "ye2021",
    "chen2020",
    "kpdrop2022",
    "kpdrop2022,pad=k",
    "meng2021",
    "meng2021,pad=k",
    "meng2021,tokenizer=split",
    "meng2021,tokenizer=split,pad=k",
    "kpeval2024",
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("system", ["t5", "one2set"])
@pytest.mark.parametrize("name", ["inspec", "semeval"])
def test_the_script_is_reproduced_on_real_predictions(shared: Path, name: str, system: str, protocol: str) -> None:
    figures = read_figures(shared / "golden" / "protocols.jsonl").get((name, system, protocol))
    if figures is None:
        assert (name, protocol) == ("inspec", "chan2019,references=stemmed")
        return
    corpus = karat.read(shared / "data" / f"{name}.chan19.jsonl.gz")
    run = karat.read_run(shared / "data" / "predictions" / name / f"{system}.jsonl.gz")
    assert differences(figures, corpus, run) == []


def test_all_4566_figures_are_looked_at(shared: Path) -> None:
    figures = read_figures(shared / "golden" / "protocols.jsonl")
    assert sum(map(len, figures.values())) == 4566
    assert {key[2] for key in figures} == set(PROTOCOLS)
    assert {key[0] for key in figures} == {"synthetic", "edge", "inspec", "semeval"}


def test_kundu_prints_the_t5_rows_of_kpdrop(shared: Path) -> None:
    corpus = shared / "data" / "inspec.chan19.jsonl.gz"
    run = shared / "data" / "predictions" / "inspec" / "t5.jsonl.gz"
    plain = karat.score(corpus, run, metrics=["f1@M:present", "f1@M:absent"], protocol="kpdrop2022")
    padded = karat.score(corpus, run, metrics=["f1@5:present"], protocol="kpdrop2022,pad=k")
    printed = [round(row["value"], 3) for row in [*plain.rows(), *padded.rows()]]
    assert printed == [0.340, 0.025, 0.288]  # Table 1; it prints .287 for the last one


def test_prmu_of_inspec_is_that_of_the_literature(shared: Path) -> None:
    shares = karat.prmu(shared / "data" / "inspec.jsonl.gz")
    assert [round(100 * v, 2) for v in shares["documents"].values()] == [78.81, 9.88, 6.54, 4.77]
    assert [round(100 * v, 2) for v in shares["corpus"].values()] == [78.30, 10.34, 6.51, 4.84]


def test_prmu_of_inspec_under_houbre2026_is_that_of_the_homogeneity_paper(shared: Path) -> None:
    corpus = shared / "data" / "inspec.jsonl.gz"
    shares = karat.prmu(corpus, protocol="houbre2026")["documents"]
    assert [round(100 * share, 2) for share in shares.values()] == [78.66, 9.92, 6.50, 4.93]
    [row] = karat.describe(corpus, protocol="houbre2026").rows()
    assert [f"{100 * row[name]:.1f}" for name in "PRMU"] == ["78.7", "9.9", "6.5", "4.9"]  # Table 1


def test_french_is_stemmed_by_snowball(shared: Path) -> None:
    corpus = karat.read(shared / "data" / "termith-fr.jsonl.gz")
    run = karat.Run.of(
        [{"id": d.id, "keyphrases": [k for k in d.keyphrases or [] if isinstance(k, str)]} for d in corpus]
    )
    results = karat.score(corpus, run, metrics=["f1@M"], language="french")
    assert results.rows()[0]["value"] == 1.0
    assert "stemmer=french" in next(iter(results.signatures.values()))
