"""Scores computed elsewhere are read from JSON lines or tab-separated lines."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.similarity import compare, find

JSON = """\
{"prediction": "Deep nets", "reference": "chiu's nets", "score": 0.25}

{"prediction": "a", "reference": "b", "score": 1}
"""
TSV = "Deep nets\tchiu's nets\t0.25\na\tb\t1\n"


def written(folder: Path, text: str) -> str:
    path = folder / "scores, all.jsonl"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    "text",
    [
        JSON,
        TSV,
        "prediction\treference\tscore\n" + TSV,
        "score\tid\tprediction\treference\n0.25\t7\tdeep nets\tchiu 's nets\n",
    ],
)
def test_scores_are_looked_up_whatever_the_case_and_the_blanks(tmp_path: Path, text: str) -> None:
    name = f"file:{written(tmp_path, text)}"
    assert compare(name, "deep  nets", "Chiu 's nets") == 0.25
    assert find(name).form == "surface"


def test_compressed_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv.gz"
    path.write_bytes(gzip.compress(TSV.encode()))
    assert compare(f"file:{path}", "a", "b") == 1


def test_a_pair_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, TSV)
    with pytest.raises(InputError) as raised:
        compare(f"file:{path}", "b", "a")
    assert str(raised.value) == f"{path}: there is no score for the prediction 'b' and the reference 'a'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TSV + "c\td\t1.5\n", "line 3: the score '1.5' is not in [0, 1]"),
        (TSV + "c\td\tnan\n", "line 3: the score 'nan' is not in [0, 1]"),
        (TSV + "c\td\thigh\n", "line 3: the score 'high' is not a number"),
        (TSV + "c\td\n", "line 3: 2 columns separated by tabs, not 3 (prediction, reference, score)"),
        (TSV + "a\tb\t0.5\n", "line 3: 'a' / 'b' has the score 0.5, but 1 on line 2"),
        (
            JSON + '{"prediction": "c", "reference": "d", "score": NaN}',
            "line 4: not JSON (NaN and Infinity",
        ),
        (JSON + '{"prediction": "c", "reference": "d", "score": -1}', "line 4: the score -1 is not in [0, 1]"),
        (JSON + '{"prediction": "c", "reference": "d", "score": true}', "line 4: the score True is not in [0, 1]"),
        (JSON + '{"prediction": "c", "reference": "d", "score": null}', "line 4: the score None is not a number"),
        (JSON + '{"prediction": "c", "reference": ["d"], "score": 1}', "line 4: prediction and reference are strings"),
        (JSON + '{"prediction": "c"}', "line 4: no reference and no score;"),
        (JSON + '{"prediction": "c", ', "line 4: not JSON"),
    ],
)
def test_bad_lines_are_told_with_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as raised:
        find(f"file:{path}")
    assert str(raised.value).startswith(f"{path}, {message}")


def test_a_missing_file_and_an_option_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        find(f"file:{tmp_path}/none.tsv")
    with pytest.raises(InputError, match=r"unknown option of file:.* 'reference'"):
        find(f"file:{written(tmp_path, TSV)}", reference="given")
