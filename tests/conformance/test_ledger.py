"""Every table and figure of the papers is in the ledger, and what it says was measured still comes out."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
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


FIGURES = [
    pytest.param(
        name,
        entry,
        figure,
        id=f"{name}, {ledger.key(entry, figure)}",
        marks=[getattr(pytest.mark, figure.part)] if figure.part else [],
    )
    for name in ledger.NAMES
    for entry in ledger.load(name).entries
    for figure in entry.figures
    if figure.command
]


@pytest.fixture(scope="module")
def sessions(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ledger.Session]:
    """Return the session of a paper, whose files are prepared."""

    @cache
    def session(name: str) -> ledger.Session:
        made = ledger.Session(shared / "data", tmp_path_factory.mktemp(name))
        made.prepare(name)
        return made

    return session


@pytest.mark.parametrize(("name", "entry", "figure"), FIGURES)
def test_a_figure_comes_out_again(
    name: str, entry: ledger.Entry, figure: ledger.Figure, sessions: Callable[[str], ledger.Session]
) -> None:
    again, stored = sessions(name).measure(figure), ledger.measured(name)[ledger.key(entry, figure)]
    assert [again.value, again.low, again.high] == pytest.approx([stored.value, stored.low, stored.high], abs=2e-6)
