"""The made corpus has the shape that its figures claim, and the same seed always gives the same one."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.made_corpus import MadeCorpus, write_corpus

DOCUMENTS = 300
ROOT = Path(__file__).resolve().parent.parent


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def words_and_marks(document: dict[str, Any]) -> list[str]:
    """The lower-cased tokens of a document's title and text."""
    return re.findall(r"\w+(?:-\w+)*|[^\w\s]", f"{document['title']} {document['text']}".lower())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeCorpus:
    """A corpus that the tests only read."""
    return write_corpus(tmp_path_factory.mktemp("made"), DOCUMENTS, seed=3)


def test_same_seed_gives_same_bytes(made: MadeCorpus, tmp_path: Path) -> None:
    again = write_corpus(tmp_path, DOCUMENTS, seed=3)
    assert again.corpus.read_bytes() == made.corpus.read_bytes()
    assert again.run.read_bytes() == made.run.read_bytes()
    other = write_corpus(tmp_path, DOCUMENTS, seed=4)
    assert other.corpus.read_bytes() != made.corpus.read_bytes()


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_hash_seed_changes_nothing(made: MadeCorpus, tmp_path: Path, hash_seed: str) -> None:
    command = [sys.executable, "-m", "benchmarks.made_corpus", str(tmp_path)]
    command += ["--documents", str(DOCUMENTS), "--seed", "3"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    assert (tmp_path / "corpus.jsonl").read_bytes() == made.corpus.read_bytes()
    assert (tmp_path / "run.jsonl").read_bytes() == made.run.read_bytes()
    assert f"tokens: {made.tokens}\n" in done.stdout


def test_only_the_two_files_are_left(made: MadeCorpus) -> None:
    assert sorted(made.corpus.parent.iterdir()) == [made.corpus, made.run]


def test_failure_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr("benchmarks.made_corpus.json.dumps", refuse)
    with pytest.raises(OSError, match="no room"):
        write_corpus(tmp_path, 1)
    assert list(tmp_path.iterdir()) == []


def test_documents_are_distinct(made: MadeCorpus) -> None:
    documents = lines(made.corpus)
    assert len({document["text"] for document in documents}) == DOCUMENTS
    assert [document["id"] for document in documents] == [f"d{n:07d}" for n in range(1, DOCUMENTS + 1)]
    assert [prediction["id"] for prediction in lines(made.run)] == [document["id"] for document in documents]


def test_figures_are_those_of_the_files(made: MadeCorpus) -> None:
    documents = lines(made.corpus)
    tokens = [token for document in documents for token in words_and_marks(document)]
    assert made.documents == len(documents) == DOCUMENTS
    assert made.tokens == len(tokens)
    assert made.word_types == len({token for token in tokens if re.match(r"\w", token)})
    assert made.references == sum(len(document["keyphrases"]) for document in documents)
    assert made.predictions == sum(len(line["keyphrases"]) for line in lines(made.run))


def test_references_and_predictions_a_document(made: MadeCorpus) -> None:
    documents = lines(made.corpus)
    assert {len(document["keyphrases"]) for document in documents} == set(range(2, 9))
    assert all(len(set(document["keyphrases"])) == len(document["keyphrases"]) for document in documents)
    phrases = [phrase for document in documents for phrase in document["keyphrases"]]
    assert {len(phrase.split()) for phrase in phrases} == {1, 2, 3, 4}
    counts = {len(line["keyphrases"]) for line in lines(made.run)}
    assert min(counts) == 0
    assert max(counts) == 20


def test_half_of_the_references_are_in_the_text(made: MadeCorpus) -> None:
    present = 0
    for document in lines(made.corpus):
        text = f" {' '.join(words_and_marks(document))} "
        present += sum(f" {phrase.lower()} " in text for phrase in document["keyphrases"])
    assert 0.5 <= present / made.references <= 0.65


def test_lengths_of_titles_and_sentences(made: MadeCorpus) -> None:
    for document in lines(made.corpus):
        assert 6 <= len(document["title"].split()) <= 14
        for sentence in document["text"].split(". "):
            assert 12 <= len(sentence.split()) <= 28
            assert sentence[0].isupper()


def test_vocabulary_grows_more_slowly_than_text(made: MadeCorpus, tmp_path: Path) -> None:
    tenth = write_corpus(tmp_path, DOCUMENTS // 10, seed=3)
    assert 2 * tenth.word_types < made.word_types < 10 * tenth.word_types


@pytest.mark.parametrize(("documents", "seed"), [(-1, 0), (1, -1)])
def test_negative_numbers_are_refused(tmp_path: Path, documents: int, seed: int) -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        write_corpus(tmp_path, documents, seed)
