"""Document frequencies: counted, kept in files of two kinds, and read back."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from karat.corpus import Document
from karat.errors import InputError
from karat.models.extractors.frequencies import (
    Frequencies,
    frequencies_at,
    frequencies_of,
    read_frequencies,
    save_frequencies,
)
from tests.models.test_pke import GOLDEN, read_golden

SOME = Frequencies(3, {"neural net": 2, "réseau": 1})


def test_the_frequencies_are_those_of_pke() -> None:
    golden = read_golden(GOLDEN)

    assert frequencies_of(golden.documents) == golden.frequencies


def test_longer_n_grams_and_other_languages_are_counted_on_request_and_progress_is_told() -> None:
    told: list[int] = []
    documents = [Document(text="big deep neural nets")] * 150

    found = frequencies_of(documents, n=4, progress=told.append)
    assert (found.documents, found.counts["big deep neural net"]) == (150, 150)
    assert sum(told) == 150
    assert frequencies_of([Document(text="les réseaux")], language="french") == Frequencies(1, {"réseau": 1})


@pytest.mark.parametrize("name", ["df.json", "df.json.gz", "df.tsv", "df.tsv.gz", "df"])
def test_what_is_saved_is_read_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    save_frequencies(path, SOME)

    assert read_frequencies(path) == frequencies_at(path) == SOME


def test_the_files_are_those_of_pke(tmp_path: Path) -> None:
    for name, content in {
        "pke.tsv.gz": gzip.compress("--NB_DOC--\t3\nneural net\t2\nréseau\t1\n".encode()),
        "pke.tsv": "neural net\t2\r\nréseau\t1\r\n--NB_DOC--\t3\r\n".encode(),
        "golden.json": json.dumps({"neural net": 2, "réseau": 1, "--NB_DOC--": 3}).encode(),
    }.items():
        (tmp_path / name).write_bytes(content)
        assert frequencies_at(tmp_path / name) == SOME
    save_frequencies(tmp_path / "mine.tsv", SOME)
    assert (tmp_path / "mine.tsv").read_text(encoding="utf-8") == "--NB_DOC--\t3\nneural net\t2\nréseau\t1\n"


def test_a_corpus_is_counted_where_there_is_no_file_of_frequencies(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"id": "a", "text": "Deep nets."}\n{"id": "b", "text": "A net."}\n')

    assert frequencies_at(path) == Frequencies(2, {"deep": 1, "deep net": 1, "net": 2})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "the file is empty; write"),
        ("--NB_DOC--\t3\nneural net\ttwo\n", ":2: 'neural net\\ttwo' is no phrase, tab and count; write"),
        ("--NB_DOC--\t3\nneural net\t-1\n", ":2: "),
        ("neural net\t2\n", "the number of documents is missing; write it as the count of --NB_DOC--"),
        ('{"--NB_DOC--": 3, "net": 4}', "a phrase is in 4 documents, but --NB_DOC-- is 3"),
        ('{"--NB_DOC--": 3, "net": -4}', "the count of 'net' is -4; write 0 or more"),
        ('{"--NB_DOC--": 3, "net": "x"}', "no JSON of phrases and counts (Expected `int`, got `str`"),
        ('{"--NB_DOC--": 3, "net"', "no JSON of phrases and counts (Input data was truncated)"),
        ('{"net": 3}', "the number of documents is missing"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "df"
    path.write_text(content)

    with pytest.raises(InputError) as caught:
        read_frequencies(path)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)


def test_what_a_table_cannot_hold_and_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot stand in a table; write JSON"):
        save_frequencies(tmp_path / "df.tsv", Frequencies(1, {"a\tb": 1}))
    with pytest.raises(InputError, match="there is no such file"):
        frequencies_at(tmp_path / "nowhere.json")
