"""Conversion by the command: what it writes, what it says, and that a failure leaves the old file whole."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.test_bad_input import INTERRUPTED, command, environment, into_a_closed_pipe, outcome, started

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


def ran(folder: Path, *arguments: str, most_bytes: int | None = None) -> tuple[int, str, str]:
    """(exit code, standard output, standard error); files cannot grow over `most_bytes`, as on a full disk."""

    def limit() -> None:
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    done = subprocess.run(
        command(arguments), cwd=folder, env=environment(), capture_output=True, check=False, preexec_fn=limit
    )
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


def test_a_full_disk_leaves_the_old_file_whole(folder: Path) -> None:
    (folder / "large.jsonl").write_text(CORPUS.replace("Bees", "Bees " * 10_000))
    code, printed, said = ran(folder, "corpus", "convert", "large.jsonl", "-o", "old.jsonl", most_bytes=1000)
    assert (code, printed) == (2, "")
    assert said == "karat: old.jsonl: could not be written (File too large)\n"
    assert (folder / "old.jsonl").read_text() == "as it was"
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_scores_that_do_not_fit_on_the_disk_leave_the_old_file_whole(folder: Path) -> None:
    (folder / "old.csv").write_text("as it was")
    code, printed, said = ran(folder, "score", "corpus.jsonl", "run.jsonl", "-o", "old.csv", most_bytes=100)
    assert (code, printed) == (2, "")
    assert said == "karat: old.csv: could not be written (File too large)\n"
    assert (folder / "old.csv").read_text() == "as it was"


def test_an_interrupt_leaves_the_old_file_whole(folder: Path) -> None:
    os.mkfifo(folder / "slow.jsonl")
    process = started(folder, ["corpus", "convert", "slow.jsonl", "--from", "karat", "-o", "old.jsonl"])
    with (folder / "slow.jsonl").open("wb") as pipe:  # opened when the command has come to its reading
        pipe.write(CORPUS.encode())
        pipe.flush()
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        assert outcome(process) == INTERRUPTED
    assert (folder / "old.jsonl").read_text() == "as it was"
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_output_that_nobody_reads_is_no_reason_to_complain(folder: Path) -> None:
    done = into_a_closed_pipe(folder, ["corpus", "convert", "corpus.jsonl"])
    assert (done.returncode, done.stderr) == (0, b"")


# ---------------------------------------------------------------------------------------------- long lines, odd numbers


def test_a_line_of_fifty_megabytes_is_scored(folder: Path) -> None:
    (folder / "long.jsonl").write_text(CORPUS.replace("Quality of life.", "life quality " * (50 * 80_000)))
    code, printed, said = ran(folder, "score", "long.jsonl", "run.jsonl", "-m", "p@1:present", "-f", "csv")
    assert (code, said) == (0, "")
    assert printed.splitlines()[1].startswith("long,run,karat,p@1,,present,mean,0.0,")


def test_a_broken_line_of_fifty_megabytes_gets_one_short_sentence(folder: Path) -> None:
    (folder / "long.jsonl").write_text('{"id": "d1", "text": "' + "x" * (50 << 20))
    code, printed, said = ran(folder, "score", "long.jsonl", "run.jsonl")
    assert (code, printed) == (2, "")
    assert said == "karat: long.jsonl:1: not JSON: Input data was truncated\n"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ('"scores": [NaN]', "not JSON: NaN and Infinity are no numbers there; write null (column 49)"),
        ('"scores": [1, 2]', "2 scores for 1 keyphrases"),
        ('"token_probs": [[0.5], [0.2]]', "2 token_probs for 1 keyphrases"),
        ('"kinds": ["extracted"]', "a kind is `present` or `absent`, not 'extracted'"),
    ],
)
def test_what_makes_no_sense_in_a_run_is_named_with_its_line(folder: Path, told: str, said: str) -> None:
    (folder / "odd.jsonl").write_text(f'{{"id": "d1", "keyphrases": ["life"], {told}}}\n')
    assert ran(folder, "score", "corpus.jsonl", "odd.jsonl") == (2, "", f"karat: odd.jsonl:1: {said}\n")
