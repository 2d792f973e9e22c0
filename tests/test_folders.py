"""One folder of PDFs, texts, Markdown, HTML and docx files, with bad ones among them, through every verb."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.cli import karat as command
from karat.formats import folder
from tests import folders
from tests.fuzz.verbs import GIVEN

IDS = sorted(folders.identifier(number) for number in range(folders.COUNT))
SKIPPED = {
    "bomb.docx": "what this docx file unpacks to has more than 256 MB",
    "broken.docx": "this docx file cannot be read",
    "broken.pdf": "this PDF cannot be read",
    "empty.html": "no text in this HTML",
    "locked.pdf": "this PDF is encrypted",
    "scan.pdf": "no text in this PDF",
}
# Verbs that read no corpus: names, results, or runs alone.
WITHOUT_CORPUS = {
    *("annotate collect", "demo", "list", "pairs gather", "results check", "results merge", "results tables"),
    *("run rerank", "vocabulary map", "vocabulary show"),
}
RESAMPLES = ("--resamples", "20")
COMMANDS = {
    "annotate sheets": ("papers", "run.jsonl", "--task", "set", "-o", "out"),
    "audit": ("papers", "run.jsonl"),
    "compare": ("papers", "run.jsonl", "yake.jsonl", *RESAMPLES),
    "concepts": ("papers", "run.jsonl", "--vocabulary", "terms.txt"),
    "confidence": ("papers", "sure.jsonl"),
    "consistency": ("run.jsonl", "--corpus", "papers"),
    "corpus convert": ("papers", "-o", "out.jsonl"),
    "corpus df": ("papers", "-o", "out.json"),
    "describe": ("papers", "run.jsonl"),
    "homogeneity": ("papers", "pairs.jsonl", "run.jsonl", *RESAMPLES),
    "human": ("sets.jsonl", "--corpus", "papers", "--run", "run.jsonl", "--missing", "empty"),
    "nearmiss": ("papers", "run.jsonl"),
    "overlap": ("papers", "run.jsonl", "yake.jsonl"),
    "pairs describe": ("papers", "pairs.jsonl"),
    "pairs filter": ("papers", "others.jsonl", "-o", "out.jsonl", "--pairs", "out2.jsonl"),
    "pairs mine": ("papers", "-o", "out.jsonl", "--min", "0.1"),
    "pairs reformulate": (
        *("papers", "--via", "paraphrase", "--model", "m", "-o", "out.jsonl"),
        *("--base-url", "http://127.0.0.1:9/v1", "--dry-run"),
    ),
    "pairs repeats": ("papers", "run.jsonl", "yake.jsonl"),
    "pairs tables": ("papers", "run.jsonl", "--reformulations", "others.jsonl", "--missing", "empty", *RESAMPLES),
    "plot": ("scores", "papers", "run.jsonl", "yake.jsonl", "-o", "out.svg"),
    "predict": ("firstphrases", "papers", "-o", "out.jsonl"),
    "report": ("papers", "run.jsonl", "yake.jsonl", "-o", "out.html", *RESAMPLES),
    "reproduce": ("papers", "run.jsonl", "--reported", "figures.csv", "--budget", "20", *RESAMPLES),
    "retrieval": ("papers", "queries.jsonl", "qrels", "run.jsonl", *RESAMPLES),
    "run convert": ("run.jsonl", "--corpus", "papers", "-o", "out.csv"),
    "run ensemble": ("run.jsonl", "yake.jsonl", "--corpus", "papers", "-o", "out.jsonl"),
    "run show": ("papers", "run.jsonl", "--id", "reports/doc03"),
    "score": ("papers", "run.jsonl"),
    "table": ("papers", "run.jsonl", "yake.jsonl", *RESAMPLES),
    "train": ("kea", "papers", "-o", "out.json"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `papers` is, and what verbs read beside it."""
    path = tmp_path_factory.mktemp("library")
    folders.make(path / "papers", bad=True)
    for model in ("firstphrases", "yake"):
        karat.write(karat.predict(path / "papers", model, n=5), path / f"{'run' if model != 'yake' else 'yake'}.jsonl")
    documents = list(karat.read(path / "papers"))
    others = [
        {
            "id": f"{each.id}~p",
            "source": each.id,
            "method": "paraphrase",
            "title": each.title,
            "text": f"So. {each.text}",
        }
        for each in documents
    ]
    lines(path / "others.jsonl", others)
    lines(path / "sure.jsonl", [{"id": i, "keyphrases": ["insect ecology"], "scores": [0.5]} for i in IDS])
    lines(path / "pairs.jsonl", [{"a": IDS[0], "b": IDS[6]}, {"a": IDS[1], "b": IDS[7]}])
    lines(path / "sets.jsonl", [{"id": i, "system": "run", "annotator": "a", "score": 3} for i in IDS[:9]])
    (path / "terms.txt").write_text("honey bees\nleaf ants\ninsect ecology\n")
    lines(path / "queries.jsonl", [{"id": "q1", "text": "honey bees"}, {"id": "q2", "text": "leaf ants"}])
    (path / "qrels").write_text(f"q1 0 {IDS[0]} 1\nq2 0 {IDS[1]} 1\n")
    (path / "figures.csv").write_text("system,metric,value\nrun,f1@5:present,.5\n")
    return path


def lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[list[str | None]]:
    """The ids of a folder, each time that it is read to its end."""
    seen: list[list[str | None]] = []
    original = folder.Reading.__call__

    def recorded(self: folder.Reading) -> Iterator[Any]:
        ids: list[str | None] = []
        for batch in original(self):
            ids += batch.ids
            yield batch
        seen.append(ids)

    monkeypatch.setattr(folder.Reading, "__call__", recorded)
    return seen


def test_every_verb_that_reads_a_corpus_is_tried_below() -> None:
    assert set(COMMANDS) == set(GIVEN) - WITHOUT_CORPUS


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_verb_reads_the_same_documents_and_says_once_what_it_skipped(
    verb: str,
    place: Path,
    read: list[list[str | None]],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(place)
    for output in place.glob("out*"):
        shutil.rmtree(output) if output.is_dir() else output.unlink()
    assert not command.main([*verb.split(), *COMMANDS[verb]], standalone_mode=False)
    said = capfd.readouterr()
    shown = " ".join((said.out + said.err).split())
    if verb == "run show":  # reads no further than to the document
        assert "reports/doc03" in shown
        return
    assert read, "the folder was not read"
    assert all(ids == IDS for ids in read)
    for name, why in SKIPPED.items():
        assert shown.count(f"that cannot be read, {name}: {why}") == 1, name


def test_a_folder_has_its_documents_with_titles_texts_and_references(place: Path) -> None:
    found = {document.id: document for document in karat.read(place / "papers")}
    assert list(found) == IDS
    for number in range(folders.COUNT):
        document = found[folders.identifier(number)]
        assert document.keyphrases == folders.references(number)
        assert document.title == (None if folders.suffix(number) == ".txt" else folders.title(number))
        written = " ".join(folders.sentences(number))
        held = " ".join((document.text or "").split())
        assert held == (written if document.title else f"{folders.title(number)} {written}")


def test_a_run_of_a_folder_is_scored_described_and_reported_without_a_word_about_ids(place: Path) -> None:
    run = karat.predict(place / "papers", "firstphrases", n=3)
    assert run.ids == IDS
    assert karat.score(place / "papers", run, metrics=["recall@5"]).tallies
    found = karat.describe(place / "papers", run)
    assert not [note for note in found.notes if "ignored" in note or "missing" in note]


def test_the_folder_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        folders.make(tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) == 45
    assert all((tmp_path / "one" / each).read_bytes() == (tmp_path / "two" / each).read_bytes() for each in files)


@pytest.mark.parametrize("verb", ["score", "describe", "predict", "corpus convert"])
def test_a_folder_without_documents_is_one_sentence(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "cover.png").write_bytes(b"\x89PNG")
    (tmp_path / "run.jsonl").write_text('{"id": "a", "keyphrases": ["b"]}\n')
    with pytest.raises(karat.InputError, match=r"papers: no documents there \(files that end in \.txt, .* looked for"):
        command.main([*verb.split(), *COMMANDS[verb]], standalone_mode=False)
