"""Files of pairs: what is read, and what is said of what cannot be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from karat.errors import InputError
from karat.formats.pairs import read_pairs


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.jsonl", '{"a": "x", "b": 2, "jaccard": 0.5}\n\n{"a": "x", "b": "z"}\n'),
        ("p.json", '[{"a": "x", "b": "2"}, {"a": "x", "b": "z"}]'),
        ("p.csv", "a,b,jaccard\nx,2,0.5\nx,z,\n"),
        ("p.tsv", "b\ta\n2\tx\nz\tx\n"),
        ("p", "a,b\nx,2\nx,z\n"),
    ],
)
def test_pairs_come_in_every_container(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    found = read_pairs(tmp_path / name)
    assert (found.a, found.b, len(found)) == (("x", "x"), ("2", "z"), 2)


def test_a_pair_knows_its_line(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"a": "x", "b": "y"}\n\n{"a": "x", "b": "z"}\n')
    assert [read_pairs(path).at(n) for n in (0, 1)] == [f"{path}:1", f"{path}:3"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"a": "x"}'], '1: no b (there is a); a line is {"a": "d1", "b": "d7"}'),
        (['{"b": "x"}'], '1: no a (there is b); a line is {"a": "d1", "b": "d7"}'),
        (["{}"], "1: no a (there is nothing); a line is"),
        (['{"a": "x", "b": "y"}', '{"a": "x", "b": ["y"]}'], "2: b is the id of a document, not ['y']; a line is"),
        (['{"a": true, "b": "y"}'], "1: a is the id of a document, not True; a line is"),
        (['{"a": "x", "b": "x"}'], "1: 'x' is paired with itself; a pair is of two documents"),
        (['{"a": "x", "b": "y"}', '{"a": "y", "b": "x"}'], "2: 'y' and 'x' are a pair on line 1 already; keep one"),
        (['{"a": "x", "b": "y"}', '{"a": "x", "b": "y"}'], "2: 'x' and 'y' are a pair on line 1 already; keep one"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, lines: list[str], said: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=re.escape(f"{path}:{said}")):
        read_pairs(path)


def test_a_file_without_pairs_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("a,b\n")
    with pytest.raises(InputError, match=re.escape('p.csv: there are no pairs in it; a line is {"a": "d1"')):
        read_pairs(tmp_path / "p.csv")
    (tmp_path / "p.jsonl").write_text("")
    with pytest.raises(InputError, match=r"p\.jsonl: the file is empty"):
        read_pairs(tmp_path / "p.jsonl")
    with pytest.raises(InputError, match="memory: there are no pairs in it"):
        read_pairs([])


def test_what_is_no_record_is_no_pair() -> None:
    wrong: list[Any] = ["x,y"]
    with pytest.raises(InputError, match="memory:1: a line is"):
        read_pairs(wrong)
