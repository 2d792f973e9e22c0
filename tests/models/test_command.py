"""karat predict and karat corpus df as a user types them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

import karat
from tests.forked import program
from tests.pairs.server import Endpoint, answer, serving

MODELS = """
def first_words(documents, n=10, upper=False):
    "The first words."
    print("at work")
    words = [(document.text or "").split()[:n] for document in documents]
    return [[word.upper() if upper else word for word in each] for each in words]

def picky(documents):
    return [[document.text.split()[1]] for document in documents]
"""
TEXTS = {"d1": "=1+2 bees dance", "d2": "wasps sting", "d3": "moths"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_models.py").write_text(MODELS)
    lines = [json.dumps({"id": name, "text": text}) for name, text in TEXTS.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.fixture(scope="module")
def server() -> Iterator[Endpoint]:
    with serving() as found:
        found.usual = answer("insects\nflight")
        yield found


def ran(folder: Path, *arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    without = {name: value for name, value in os.environ.items() if not name.startswith("KARAT_")}
    return subprocess.run(
        [*program(), *arguments],
        cwd=folder,
        env=without | environment,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def printed(folder: Path, *arguments: str, stdin: str = "") -> str:
    done = ran(folder, *arguments, stdin=stdin)
    assert (done.returncode, done.stderr.replace("at work\n", "")) == (0, ""), done.stderr  # what the plug-in prints
    return done.stdout


def test_a_run_is_written_as_it_is_printed(folder: Path) -> None:
    words = ("predict", "./my_models.py:first_words,upper=true", "corpus.jsonl", "-n", "2")
    assert printed(folder, *words, "-o", "run.jsonl") == ""
    lines = (folder / "run.jsonl").read_text()
    assert json.loads(lines.splitlines()[1]) == {"id": "d2", "keyphrases": ["WASPS", "STING"]}
    assert printed(folder, *words, "-f", "jsonl") == lines
    printed(folder, *words, "-o", "run.jsonl.gz", "-j", "2")
    assert gzip.decompress((folder / "run.jsonl.gz").read_bytes()).decode() == lines
    shown = json.loads(printed(folder, *words, "-o", "again.jsonl", "-f", "json"))
    assert (folder / "again.jsonl").read_text() == lines
    assert [row["keyphrases"] for row in shown["rows"]][1] == ["WASPS", "STING"]


def test_standard_input_is_a_text_or_a_corpus(folder: Path) -> None:
    words = ("predict", "./my_models.py:first_words", "-", "-f", "jsonl")
    assert json.loads(printed(folder, *words, stdin="bees fly\n")) == {"id": "stdin", "keyphrases": ["bees", "fly"]}
    assert json.loads(printed(folder, *words, stdin='{"id": 7, "text": "ants"}\n')) == {"id": 7, "keyphrases": ["ants"]}


def test_tables_for_spreadsheets_hold_no_formulas(folder: Path) -> None:
    words = ("predict", "./my_models.py:first_words", "corpus.jsonl", "-n", "2")
    assert printed(folder, *words, "-f", "csv") == (
        "id,title,keyphrase 1,keyphrase 2\nd1,,'=1+2,bees\nd2,,wasps,sting\nd3,,moths,\n"
    )
    printed(folder, *words, "-o", "a.xlsx")
    printed(folder, *words, "-o", "b.xlsx")
    assert (folder / "a.xlsx").read_bytes() == (folder / "b.xlsx").read_bytes()
    with zipfile.ZipFile(folder / "a.xlsx") as book:
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
        strings = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
    assert [cell.get("t") for cell in sheet.findall(".//{*}c")] == ["s"] * 16
    assert sheet.findall(".//{*}f") == []
    assert "=1+2" in [text.text for text in strings.findall(".//{*}t")]


def test_frequencies_are_counted_once_and_read_again(folder: Path) -> None:
    done = ran(folder, "corpus", "df", "corpus.jsonl", "-o", "df.tsv.gz")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.endswith("phrases of 3 documents\n")
    words = ("predict", "tfidf", "corpus.jsonl", "-f", "jsonl")
    assert printed(folder, *words, "--df", "df.tsv.gz") == printed(folder, *words, "--df", "corpus.jsonl")
    with_note = ran(folder, *words)
    assert with_note.stdout == printed(folder, *words, "--df", "df.tsv.gz")
    assert with_note.stderr == "note: document frequencies are those of the 3 documents at hand; --df names others\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("tfidff corpus.jsonl", "unknown model 'tfidff'; did you mean 'tfidf'?"),
        ("tfidf corpus.jsonl --df none.json", "none.json: there is no such file"),
        ("tfidf none.jsonl", "none.jsonl: there is no such file"),
        (
            "./my_models.py:picky corpus.jsonl",
            "./my_models.py:picky fails on document 'd3': IndexError: list index out of range",
        ),
        (
            "./my_models.py:picky corpus.jsonl -o corpus.jsonl",
            "corpus.jsonl: is one of the inputs, which are never",
        ),
        ("./my_models.py:picky corpus.jsonl -o run.doc", "-o run.doc: its suffix names no format (known: .jsonl"),
        ("./my_models.py:picky corpus.jsonl -f xlsx", "-f xlsx: an Excel file needs a name: -o FILE.xlsx"),
        (
            "./my_models.py:picky corpus.jsonl --shots corpus.jsonl:1",
            "--shots is for llm: models only, and the model is ./my_models.py:picky",
        ),
        ("llm:small corpus.jsonl --stem", "--stem is not for llm:, and the model is llm:small"),
        ("llm:small corpus.jsonl", "no endpoint is named: write --base-url https://host/v1"),
        ("./my_models.py:first_words corpus.jsonl --title-weight 0", "the weight of a title is more than 0, not 0"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(folder: Path, words: str, said: str) -> None:
    done = ran(folder, "predict", *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"karat: {said}"), done.stderr
    assert done.stderr.count("\n") == 1


def test_a_plug_in_that_was_edited_begins_anew_since_its_earlier_phrases_may_be_others(folder: Path) -> None:
    words = ("predict", "./my_models.py:picky", "corpus.jsonl", "-o", "run.jsonl")
    done = ran(folder, *words)
    assert done.returncode == 2
    assert done.stderr.endswith("run.jsonl.part; the same command goes on from there\n")
    (folder / "my_models.py").write_text(MODELS.replace("split()[1]", "split()[-1]"))
    done = ran(folder, *words)
    said = "note: run.jsonl.part was of another model, other options or other documents: begun anew\n"
    assert (done.returncode, done.stderr) == (0, said)
    assert [each.keyphrases for each in karat.read_run(folder / "run.jsonl")] == [["dance"], ["sting"], ["moths"]]


def test_a_language_model_is_asked_and_its_answers_are_kept(folder: Path, server: Endpoint) -> None:
    words = ("predict", "llm:small", "corpus.jsonl", "--base-url", server.url, "-n", "1", "-o", "run.jsonl")
    dry = ran(folder, *words, "--dry-run")
    assert "3 requests, 0 of them answered already, 3 left" in dry.stdout
    assert server.asked == []
    done = ran(folder, *words, KARAT_LLM_KEY="sk-4711-very-secret")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert [each.keyphrases for each in karat.read_run(folder / "run.jsonl")] == [["insects"]] * 3
    assert (server.asked[0]["model"], len(server.asked)) == ("small", 3)
    assert ran(folder, *words, "-q").returncode == 0
    assert len(server.asked) == 3
    assert (folder / "run.jsonl.answers.sqlite").exists()
    assert b"very-secret" not in b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())
