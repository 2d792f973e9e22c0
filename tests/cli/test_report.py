"""karat report of documents alone: one command from a folder to the page, ended and begun again, and two at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.folders import BAD, COUNT, make
from tests.forked import program
from tests.waiting import PATIENCE, until

# A model that notes each document, and that waits at one of them until it may go on.
SLOW = """
import os, time
from pathlib import Path

def model(documents):
    for each in documents:
        with open("seen", "a") as file:
            file.write(f"{each.id}\\n")
        while each.id == "d40" and not Path("go").exists():
            time.sleep(0.01)
    return [[each.text.split()[0]] for each in documents]
"""


def report(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*program(), "report", *words], cwd=folder, capture_output=True, check=False, text=True, timeout=PATIENCE
    )


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """A folder with a corpus of sixty documents, and a model that waits at one of them."""
    lines = (json.dumps({"id": f"d{n}", "text": f"Bees{n} dance."}) + "\n" for n in range(60))
    (tmp_path / "bees.jsonl").write_text("".join(lines))
    (tmp_path / "slow.py").write_text(SLOW)
    return tmp_path


def seen(folder: Path) -> list[str]:
    return (folder / "seen").read_text().split() if (folder / "seen").exists() else []


COMMAND = ("bees.jsonl", "-o", "page.html", "--models", "firstphrases,./slow.py:model")


def test_a_report_that_is_killed_goes_on_with_what_was_predicted_and_a_second_one_meanwhile_is_refused(
    slow: Path,
) -> None:
    begun = subprocess.Popen([sys.executable, "-m", "karat", "report", *COMMAND], cwd=slow, stderr=subprocess.DEVNULL)
    until(lambda: "d40" in seen(slow), "the model has come to the document")
    for words in (COMMAND, ("bees.jsonl", "-o", "other.html", "--models", "yake", "--keep-runs", "page.runs")):
        second = report(slow, *words)
        assert second.returncode == 2
        [said] = second.stderr.splitlines()
        assert "is writing it; wait for that to end, or name another file" in said
    begun.kill()
    begun.wait()
    assert not (slow / "page.html").exists()
    (slow / "seen").unlink()
    (slow / "go").touch()
    done = report(slow, *COMMAND)
    assert done.returncode == 0, done.stderr
    assert "note: firstphrases: what was predicted before is taken as it is" in done.stderr
    assert "note: ./slow.py:model: went on after 32 documents that were there already" in done.stderr
    assert seen(slow)[0] == "d32"
    assert (slow / "page.html").read_text().startswith("<!doctype html>")
    runs = sorted(path.name for path in (slow / "page.runs" / "bees").glob("*.jsonl"))
    assert runs == ["firstphrases.jsonl", "slow.py-model.jsonl"]
    assert len((slow / "page.runs" / "bees" / "slow.py-model.jsonl").read_text().splitlines()) == 60


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of thirty documents, every other one with references, and of files that cannot be read."""
    folder = tmp_path_factory.mktemp("of papers")
    make(folder / "papers", bad=True)
    return folder


def test_a_folder_becomes_a_page_by_one_command_and_what_cannot_be_read_is_named(papers: Path) -> None:
    done = report(papers, "papers", "-o", "page.html", "--models", "firstphrases,yake", "-n", "5")
    assert done.returncode == 0, done.stderr
    for name in BAD:
        assert sum(name in line for line in done.stderr.splitlines()) == 1, name
    page = (papers / "page.html").read_text()
    assert f"<dt>documents</dt><dd>{COUNT}</dd>" in page
    assert f"<dt>unreadable files</dt><dd>{len(BAD)}</dd>" in page
    assert "15 of 30 documents have references; scores are of these alone." in page
    assert done.stderr.splitlines()[-1] == "page.runs: the runs of each model, for --runs page.runs"
    again = report(papers, "papers", "--runs", "page.runs", "-o", "again.html", "-q")
    assert (again.returncode, again.stderr) == (0, "")
    assert f"<dt>documents</dt><dd>{COUNT}</dd>" in (papers / "again.html").read_text()


def test_the_page_and_the_runs_may_not_stand_among_the_documents(papers: Path) -> None:
    for words in (("-o", "papers/page.html"), ("-o", "page.html", "--keep-runs", "papers/runs")):
        done = report(papers, "papers", *words)
        assert done.returncode == 2
        assert "which is an input; name a place outside of that folder" in done.stderr
    assert not list((papers / "papers").glob("*.runs"))
