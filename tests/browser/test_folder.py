"""The page that one command makes of a folder of documents, or of the export of a catalogue."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Open, choose, click, faults_of, one, texts, until
from tests.folders import BAD, COUNT, identifier, make, references, sentences, title
from tests.forked import program

pytestmark = pytest.mark.browser

MODELS = "multipartiterank,tfidf,yake"


def page_of(folder: Path, corpus: str) -> Path:
    """The page of a corpus, by the command."""
    words = ("report", corpus, "-o", "page.html", "--models", MODELS, "--resamples", "200")
    done = subprocess.run([*program(), *words], cwd=folder, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "page.html"


@pytest.fixture(scope="module")
def referred(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of thirty files, every other one with references, and of some that cannot be read."""
    folder = tmp_path_factory.mktemp("referred")
    make(folder / "papers", bad=True)
    return page_of(folder, "papers")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the same files without any references."""
    folder = tmp_path_factory.mktemp("alone")
    papers = make(folder / "papers")
    for path in [*papers.rglob("*.key"), *papers.rglob("*.tsv")]:
        path.unlink()
    return page_of(folder, "papers")


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a table as a catalogue exports it: a record a line, some of them with subjects."""
    folder = tmp_path_factory.mktemp("catalogue")
    with (folder / "catalogue.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["Record ID", "Title", "Abstract", "Subjects"])
        for n in range(COUNT):
            writer.writerow([f"r{n}", title(n), " ".join(sentences(n)), "; ".join(references(n) or ())])
    return page_of(folder, "catalogue.csv")


def facts(found: Any) -> dict[str, str]:
    return dict(zip(texts(found, ".facts dt"), texts(found, ".facts dd"), strict=True))


def quiet(found: Any) -> None:
    """Nothing happened that the page may not do."""
    assert found.execute_script("return window.seen") == []
    assert found.get_log("browser") == []
    assert found.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_the_page_of_a_folder_opens_with_who_is_best_and_counts_what_cannot_be_read(
    referred: Path, opened: Open
) -> None:
    found = opened(referred)
    told = facts(found)
    assert told["documents"] == str(COUNT)
    assert told["with references"] == "15"
    assert told["unreadable files"] == str(len(BAD))
    assert "15 of 30 documents have references; scores are of these alone." in texts(found, "#summary .figures li")
    notes = " ".join(texts(found, "#method .notes li"))
    for name in BAD:
        assert name in notes
    quiet(found)


def test_the_page_of_a_folder_without_references_opens_with_how_far_systems_agree(alone: Path, opened: Open) -> None:
    found = opened(alone)
    [first] = texts(found, ".verdict .first")
    assert first.startswith(f"Three systems indexed {COUNT} documents; of the ")
    assert "all three agree on" in first
    assert "unreadable files" not in facts(found)
    anchors = found.execute_script("return [...document.querySelectorAll('main section')].map((each) => each.id)")
    assert {"agreement", "consistency", "homogeneity", "documents"} <= set(anchors)
    assert {"scores", "audit", "overlap", "curves"}.isdisjoint(anchors)
    quiet(found)


def test_a_document_without_references_shows_who_gives_each_phrase(alone: Path, opened: Open) -> None:
    found = opened(alone)
    assert texts(found, ".row .who")[:2] == sorted(identifier(n) for n in range(COUNT))[:2]
    shown = one(found, ".view .finders")
    assert shown.get_attribute("title").startswith("also given by ")
    assert texts(found, ".view .text mark.shared") != []
    assert "(Hooper)" in one(found, ".view article").text
    choose(found, "System", "yake")
    until(found, "return document.querySelectorAll('.view .columns > div').length === 1")
    assert [each.strip() for each in texts(found, ".view .columns h4")] == ["yake"]


def test_documents_are_sorted_by_how_far_systems_agree(alone: Path, opened: Open) -> None:
    found = opened(alone)
    for order, turned in (("least agreement first", False), ("most agreement first", True)):
        choose(found, "Order", order)
        until(found, "return document.querySelectorAll('.row').length > 3")
        shares = [float(text.removesuffix(" %")) for text in texts(found, ".row .score")]
        assert shares == sorted(shares, reverse=turned)


def test_the_page_of_a_catalogue_has_its_titles_and_subjects(catalogue: Path, opened: Open) -> None:
    found = opened(catalogue)
    told = facts(found)
    assert (told["documents"], told["with references"]) == (str(COUNT), "15")
    choose(found, "Order", "as in the corpus")
    until(found, "return document.querySelector('.row .who').textContent === 'r0'")
    click(found, ".row")
    until(found, "return document.querySelector('.view .id').textContent === 'Document r0'")
    wanted = texts(found, ".view .wanted .phrases bdi")
    assert wanted == references(0)
    quiet(found)


def test_without_scripts_the_documents_of_a_folder_stand_there(alone: Path, opened: Open) -> None:
    found = opened(alone, scripts=False)
    articles = found.find_elements("css selector", "#without-script article")
    assert len(articles) == 20
    assert found.find_element("css selector", "#without-script mark.shared").is_displayed()
    assert found.find_element("css selector", "#without-script .finders").is_displayed()


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_wider_than_the_window(width: int, referred: Path, alone: Path, opened: Open) -> None:
    for path in (referred, alone):
        found = opened(path, width=width)
        assert found.execute_script("return document.documentElement.scrollWidth") == width


@pytest.mark.npm
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_no_fault_in_the_page_of_a_folder(
    theme: str, width: int, referred: Path, alone: Path, catalogue: Path, axe: str, opened: Open
) -> None:
    for path in (referred, alone, catalogue):
        assert faults_of(opened(path, width=width, theme=theme), axe) == []
