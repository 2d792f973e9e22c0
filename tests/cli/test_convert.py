"""Conversion by the command: what it writes, and what it says of losses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.test_bad_input import command, environment

CORPUS = (
    '{"id": "d1", "title": "Bees", "text": "Quality of life.", "keyphrases": ["quality of life", ["bee", "bees"]]}\n'
)
RUN = '{"id": "d1", "keyphrases": ["life quality"], "scores": [0.5]}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    (tmp_path / "run.jsonl").write_text(RUN)
    (tmp_path / "old.jsonl").write_text("as it was")
    return tmp_path


def ran(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """(exit code, standard output, standard error) of the command."""
    done = subprocess.run(command(arguments), cwd=folder, env=environment(), capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_without_an_output_it_goes_to_standard_output(folder: Path) -> None:
    assert ran(folder, "run", "convert", "run.jsonl", "--to", "csv") == (
        0,
        "id,keyphrases,scores,token_probs,token_logprobs,kinds\nd1,life quality,[0.5],,,\n",
        "",
    )


def test_variants_are_added(folder: Path) -> None:
    code, printed, _ = ran(folder, "corpus", "convert", "corpus.jsonl", "--variants", "of-pp")
    assert code == 0
    assert '"keyphrases":[["quality of life","life quality"],["bee","bees"]]' in printed


def test_what_is_lost_is_said(folder: Path) -> None:
    arguments = ("corpus", "convert", "corpus.jsonl", "--to", "kp20k", "-o", "old.jsonl")
    assert ran(folder, *arguments) == (
        2,
        "",
        "karat: old.jsonl: the format kp20k cannot hold everything of corpus.jsonl: variants of keyphrases of "
        "1 documents, first 'd1'; write it all the same with --lossy\n",
    )
    assert (folder / "old.jsonl").read_text() == "as it was"
    assert ran(folder, *arguments, "--lossy") == (
        0,
        "",
        "note: lost: variants of keyphrases of 1 documents, first 'd1'\n",
    )
    assert '"keyword":"quality of life;bee"' in (folder / "old.jsonl").read_text()


def test_standard_output_is_named_where_it_cannot_hold_something(folder: Path) -> None:
    code, printed, said = ran(folder, "run", "convert", "run.jsonl", "--to", "kp20k")
    assert (code, printed) == (2, "")
    assert said.startswith("karat: standard output: the format kp20k cannot hold everything of run.jsonl: scores")


def test_a_folder_needs_a_name(folder: Path) -> None:
    code, printed, said = ran(folder, "corpus", "convert", "corpus.jsonl", "--to", "folder", "--lossy")
    assert (code, printed) == (2, "")
    assert "the format folder is a folder: name it with -o" in said
