"""`karat confidence` as a command: what it reads, what it says of bad input, the same bytes on two processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_output import DEMO, karat

CORPUS = """\
{"id": "d1", "text": "Deep nets learn.", "keyphrases": ["deep nets", "trees"]}
{"id": "d2", "text": "Bees swarm.", "keyphrases": ["bees"]}
"""
RUN = """\
{"id": "d1", "keyphrases": ["deep nets", "x", "y"], "token_probs": [[0.9, 0.8], [NaN, 0.5], [0.3, null]]}
{"id": "d2", "keyphrases": ["bees", "swarm"], "token_probs": [[2.5], null]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    (tmp_path / "run.jsonl").write_text(RUN)
    return tmp_path


def answer(folder: Path, *flags: str) -> Any:
    done = karat("confidence", "corpus.jsonl", "run.jsonl", "-f", "json", *flags, cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def refusal(folder: Path, *arguments: str) -> str:
    done = karat(*arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert "Traceback" not in done.stderr.decode()
    return done.stderr.decode().splitlines()[-1]


def test_nan_null_and_impossible_numbers_are_read_named_and_counted(folder: Path) -> None:
    found = answer(folder)
    assert list(found)[:3] == ["signatures", "rows", "notes"]
    whole = found["rows"][0]
    assert (whole["predictions"], whole["left_out"], whole["documents"], whole["undefined"]) == (1, 4, 2, 1)
    assert whole["ece"] == pytest.approx(1 - 0.72**0.5)
    assert "4 of 5 predictions are left out: 3 without numbers, or with null or NaN ('x' of document d1" in "".join(
        found["notes"]
    )
    # The other verbs read it as well, and the phrases that have no numbers go last there.
    reranked = karat("run", "rerank", "run.jsonl", "--by", "kpp", "-o", "again.jsonl", cwd=folder)
    assert "the probability 2.5 is not from 0 to 1" in reranked.stderr.decode()
    (folder / "run.jsonl").write_text(RUN.replace("2.5", "0.5"))
    assert karat("run", "rerank", "run.jsonl", "--by", "kpp", "-o", "again.jsonl", cwd=folder).returncode == 0
    assert json.loads((folder / "again.jsonl").read_text().splitlines()[0])["token_probs"] == [[0.9, 0.8], None, None]
    assert karat("score", "corpus.jsonl", "run.jsonl", cwd=folder).returncode == 0


def test_python_s_infinite_logarithm_is_a_probability_of_0(folder: Path) -> None:
    line = '{"id": "d%d", "keyphrases": ["bees", "swarm"], "token_logprobs": [[-0.5], [-Infinity]]}\n'
    (folder / "run.jsonl").write_text(line % 1 + line % 2)
    found = answer(folder)
    assert found["rows"][0]["histogram"] == [2, 0, 0, 0, 0, 0, 2, 0, 0, 0]
    assert any("with a probability of 0" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("", "karat: no prediction tells how sure the system is, in run (run.jsonl); write"),
        (
            ', "token_probs": [[-0.5], [-1.5]]',
            "karat: run.jsonl: no token_probs are above 0: they are logarithms; name",
        ),
        (', "scores": [0.5, NaN]', "karat: run.jsonl:1: not JSON: NaN and Infinity are no numbers there; write null"),
    ],
)
def test_a_run_that_does_not_tell_how_sure_it_is_is_an_error(folder: Path, told: str, message: str) -> None:
    lines = ('{"id": "d%d", "keyphrases": ["x", "y"]%s}\n' % (n, told) for n in (1, 2))  # noqa: UP031
    (folder / "run.jsonl").write_text("".join(lines))
    assert refusal(folder, "confidence", "corpus.jsonl", "run.jsonl").startswith(message)


def test_the_flags_of_a_fit_go_together_and_name_their_systems(folder: Path) -> None:
    asked = ("confidence", "corpus.jsonl", "a=run.jsonl", "b=run.jsonl", "--calibrate", "isotonic")
    assert refusal(folder, *asked, "--fit-corpus", "corpus.jsonl") == "karat: --fit-corpus and --fit-run go together"
    fit = ("--fit-corpus", "corpus.jsonl", "--fit-run", "a=run.jsonl")
    assert refusal(folder, *asked, *fit) == "karat: no run to fit on is named 'b'; name it: --fit-run b=PATH"
    found = answer(folder, "--calibrate", "isotonic", *fit)
    assert found["rows"][0]["calibrated"]["itself"]  # the same files under another name


def test_the_bytes_are_the_same_on_two_processes(folder: Path) -> None:
    asked = ("confidence", *DEMO, "-f", "json")
    assert karat(*asked, "-j", "2", cwd=folder).stdout == karat(*asked, cwd=folder).stdout
