"""Every table and figure of the papers is in the ledger, and what it says was measured still comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import ledger

PAPERS = {
    "homogeneity": "homogeneity-houbre.txt",
    "ngram": "ngram-metrics-kim.txt",
    "analysis": "analysis-kundu.txt",
    "reproducibility": "reproducibility-thomas.txt",
}


@pytest.mark.parametrize("name", ledger.NAMES)
def test_every_table_and_figure_of_a_paper_is_classified(name: str, shared: Path) -> None:
    text = (shared / "papers" / PAPERS[name]).read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:Table|Figure) \d+", text))
    found = {place for entry in ledger.load(name).entries for place in re.findall(r"\b(?:Table|Figure) \d+", entry.at)}
    assert sorted(named - found) == []


@pytest.mark.parametrize(
    ("key", "figure"), list(ledger.measured()), ids=lambda each: each if isinstance(each, str) else ""
)
def test_a_measured_figure_comes_out(key: str, figure: ledger.Measured, shared: Path) -> None:
    assert ledger.measure(figure, shared / "data") == ledger.figures()[key]
