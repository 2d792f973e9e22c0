"""Every table and figure of the papers is in the ledger, and its stored values come out again."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
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


def differences(name: str, data: Path, folder: Path, part: str) -> list[str]:
    """Compute the figures of a paper again that need a part, and return those that differ from the stored ones."""
    session = ledger.Session(data, folder)
    session.prepare(name)
    different = []
    for entry in ledger.load(name).entries:
        for figure in (each for each in entry.figures if each.command and each.part == part):
            again, stored = session.measure(figure), ledger.stored(name)[ledger.key(entry, figure)]
            ends = [stored.value, stored.low, stored.high]
            if [again.value, again.low, again.high] != pytest.approx(ends, abs=2e-6):
                different.append(f"{ledger.key(entry, figure)}: {again}, not {stored}")
    return different


# A test for each paper, not for each figure: every command runs once, on one worker.
@pytest.mark.parametrize("name", ledger.NAMES)
def test_the_figures_of_a_paper_come_out_again(name: str, shared: Path, tmp_path: Path) -> None:
    assert differences(name, shared / "data", tmp_path, "") == []


@pytest.mark.wordnet
def test_the_figures_that_need_wordnet_come_out_again(shared: Path, tmp_path: Path) -> None:
    assert differences("ngram", shared / "data", tmp_path, "wordnet") == []


def test_a_figure_that_differs_is_named(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = next(entry for entry in ledger.load("homogeneity").entries if entry.at == "Table 1, Inspec original")
    kept = msgspec.structs.replace(ledger.load("homogeneity"), entries=[entry], prepare=[])
    wrong = {ledger.key(entry, figure): ledger.Value(0.5) for figure in entry.figures}
    monkeypatch.setattr(ledger, "load", lambda _: kept)
    monkeypatch.setattr(ledger, "stored", lambda _: wrong)
    assert len(differences("homogeneity", shared / "data", tmp_path, "")) == len(entry.figures)
