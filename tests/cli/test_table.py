"""karat table, and karat score and karat results merge over several corpora, as commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_output import DATA, karat

METRICS = ("-m", "f1@5:present", "-m", "f1@M:absent")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two corpora with their runs, of which one lacks a system."""
    place = tmp_path_factory.mktemp("table")
    for corpus in ("ants", "bees"):
        (place / f"{corpus}.jsonl").write_bytes((DATA / "synthetic.corpus.jsonl").read_bytes())
        (place / "runs" / corpus).mkdir(parents=True)
        for system in ("alpha", "beta"):
            content = (DATA / f"synthetic.{system}.jsonl").read_bytes()
            (place / "runs" / corpus / f"{system}.jsonl").write_bytes(content)
    (place / "runs" / "bees" / "beta.jsonl").unlink()
    return place


def rows(folder: Path, *arguments: str) -> list[dict[str, object]]:
    done = karat(*arguments, "-f", "json", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    found: list[dict[str, object]] = json.loads(done.stdout)["rows"]
    return found


def test_runs_of_several_corpora_are_tabled_scored_and_merged_alike(folder: Path) -> None:
    corpora = ("ants.jsonl", "bees.jsonl", "--runs", "runs")
    table = rows(folder, "table", *corpora, *METRICS, "--resamples", "500")
    assert [row["missing"] for row in table] == [False] * 4 + [False] * 2 + [True] * 2
    values = {(row["corpus"], row["system"], row["metric"]): row["value"] for row in table if not row["missing"]}
    scored = rows(folder, "score", *corpora, *METRICS)
    assert {(row["corpus"], row["system"], row["metric"]): row["value"] for row in scored} == values
    for name in ("ants", "bees"):
        done = karat("score", f"{name}.jsonl", "--runs", "runs", *METRICS, "-q", "-o", f"{name}.karat", cwd=folder)
        assert done.returncode == 0, done.stderr.decode()
    assert karat("results", "merge", "ants.karat", "bees.karat", "-q", "-o", "both.karat", cwd=folder).returncode == 0
    assert rows(folder, "results", "merge", "both.karat") == scored
    assert rows(folder, "table", "both.karat", "--resamples", "500") == table


def test_a_shard_of_one_corpus_is_scored_from_a_folder(folder: Path) -> None:
    done = karat("score", "ants.jsonl", "--runs", "runs", "--shard", "1/2", *METRICS, "-f", "json", cwd=folder)
    assert {row["documents"] for row in json.loads(done.stdout)["rows"]} == {200}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("table", "ants.jsonl"), "give corpora with --runs FOLDER, a corpus and its runs, or .karat files"),
        (("table", "ants.jsonl", "--runs", "nowhere"), "nowhere: there is no such folder"),
        (("table", "x.karat", "ants.jsonl"), "give .karat files alone, or corpora and runs without them"),
        (("table", "ants.jsonl", "ants.jsonl", "--runs", "runs"), "two corpora are named 'ants'; name them: NAME=PATH"),
        (("score", "ants.jsonl", "ants.jsonl", "--runs", "runs"), "two corpora are named 'ants'; name them: NAME=PATH"),
        (
            ("score", "ants.jsonl", "bees.jsonl", "--runs", "runs", "--shard", "1/2"),
            "--shard is of one corpus: leave it out with several",
        ),
    ],
)
def test_what_cannot_be_done_is_one_sentence(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    (folder / "x.karat").write_bytes(b"")
    done = karat(*arguments, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", f"karat: {said}\n")


def test_how_to_cite_goes_where_it_does_not_disturb(folder: Path) -> None:
    given = ("score", "ants.jsonl", "runs/ants/alpha.jsonl", *METRICS, "-q", "--cite")
    shown = karat(*given, cwd=folder)
    assert b"Scores are computed with karat" in shown.stdout
    read = karat(*given, "-f", "json", cwd=folder)
    assert json.loads(read.stdout)["rows"]
    assert b"@software{karat," in read.stderr
    filed = karat(*given, "-o", "scores.json", cwd=folder)
    assert filed.stdout.startswith(b"Scores are computed with karat")
