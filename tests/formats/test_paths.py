"""Paths and names: `+` in folders, `=` and `/` in names."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.corpus import split_paths
from karat.errors import InputError
from karat.formats import read, read_run, split_name
from karat.formats.write import write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("c++", "plain"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "src.txt").write_text("a title <eos> a text\n")
        (tmp_path / name / "trg.txt").write_text("title;text\n")
    (tmp_path / "a+b.jsonl").write_text('{"id": "d1", "keyphrases": ["a"]}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("plain/src.txt+plain/trg.txt", ["plain/src.txt", "plain/trg.txt"]),
        ("c++/src.txt+c++/trg.txt", ["c++/src.txt", "c++/trg.txt"]),
        ("c++/src.txt+plain/trg.txt", ["c++/src.txt", "plain/trg.txt"]),
        ("plain/src.txt+c++/trg.txt", ["plain/src.txt", "c++/trg.txt"]),
        ("c++/src.txt+c++/none.txt", ["c++/src.txt", "c++/none.txt"]),
        ("c++/new_src.txt+c++/new_trg.txt", ["c++/new_src.txt", "c++/new_trg.txt"]),
        ("a+b.jsonl", ["a+b.jsonl"]),
        ("c++/none.jsonl", ["c++/none.jsonl"]),
        ("plain/src.txt+plain/trg.txt+plain/src.txt", ["plain/src.txt", "plain/trg.txt", "plain/src.txt"]),
        ("x/y+z/u+v/w", ["x/y", "z/u", "v/w"]),
    ],
)
def test_a_plus_sign_parts_paths_unless_it_belongs_to_one(path: str, parts: list[str]) -> None:
    assert split_paths(path) == parts


def test_a_pair_of_files_is_read_from_and_written_to_a_folder_with_a_plus_sign() -> None:
    corpus = read("c++/src.txt+c++/trg.txt")

    assert [document.keyphrases for document in corpus] == [["title", "text"]]
    assert corpus.name == "src"
    write(corpus, "c++/s.txt+c++/t.txt", format="chan")
    assert Path("c++/t.txt").read_text() == Path("c++/trg.txt").read_text()
    with pytest.raises(InputError, match=r"^c\+\+/none\.txt: there is no such file"):
        read("c++/src.txt+c++/none.txt")


@pytest.mark.parametrize(
    ("argument", "name", "path"),
    [
        ("t5=a+b.jsonl", "t5", "a+b.jsonl"),
        ("lr=0.1=a+b.jsonl", "lr=0.1", "a+b.jsonl"),
        ("t5/large=a+b.jsonl", "t5/large", "a+b.jsonl"),
        ("a:b=c++/src.txt+plain/trg.txt", "a:b", "c++/src.txt+plain/trg.txt"),
        ("x/y=-", "x/y", "-"),
        ("t5=none.jsonl", "t5", "none.jsonl"),
        ("=a+b.jsonl", "", "=a+b.jsonl"),
        ("runs/lr=1.jsonl", "lr=1", "runs/lr=1.jsonl"),
        ("datasets:midas/inspec,split=plain", "inspec", "datasets:midas/inspec,split=plain"),
    ],
)
def test_a_name_may_hold_equals_signs_and_slashes_before_a_path_that_exists(
    argument: str, name: str, path: str
) -> None:
    assert split_name(argument) == (name or split_name(argument)[0], path)


def test_a_run_is_named_with_a_slash() -> None:
    run = read_run("t5/lr=0.1=a+b.jsonl")

    assert (run.name, run.origin) == ("t5/lr=0.1", "a+b.jsonl")
