"""On Spark every verb prints, byte for byte, what it prints on one process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.errors import KaratError
from tests.spark.commands import CLUSTER, Files, filled, on_spark, outcome, run_command

pytestmark = pytest.mark.spark

VERBS = {
    "score": ["score", "CORPUS", "RUN", "OTHER", "-m", "f1@5:present", "-m", "f1@M:absent", "-m", "map@10"],
    "score, several protocols": ["score", "CORPUS", "RUN", "--protocol", "chan2019", "--protocol", "meng2021"],
    "audit": ["audit", "CORPUS", "RUN", "-m", "f1@M:present", "--protocol", "chan2019", "--protocol", "ye2021"],
    "describe": ["describe", "CORPUS"],
    "overlap": ["overlap", "CORPUS", "RUN", "OTHER"],
    "nearmiss": ["nearmiss", "CORPUS", "RUN"],
    "compare": ["compare", "CORPUS", "RUN", "OTHER", "-m", "f1@M", "--resamples", "200"],
    "predict": ["predict", "tfidf", "CORPUS", "-n", "5"],
    "homogeneity": ["homogeneity", "CORPUS", "PAIRS", "RUN", "OTHER", "--resamples", "200"],
    "pairs by references": ["pairs", "mine", "CORPUS", "--min", ".3"],
    "pairs of equal sets": [
        "pairs",
        "mine",
        "CORPUS",
        "--min",
        ".6",
        "--measure",
        "max",
        "--identical",
        "keep",
        "--stem",
    ],
}


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_gives_the_bytes_of_one_process(name: str, files: Files, tmp_path: Path, spark: Any) -> None:
    mined = tmp_path / "pairs.jsonl"
    karat.mine_pairs(files[0], min=0.3).save(mined)
    words = [str(mined) if word == "PAIRS" else word for word in filled(VERBS[name], *files)]
    words += [] if words[0] == "pairs" else ["-f", "json"]
    here, there = outcome(words), on_spark(words)
    assert here.exit_code == there.exit_code == 0, there.output
    assert there.stdout == here.stdout


def test_document_frequencies_are_those_of_one_process(files: Files, tmp_path: Path, spark: Any) -> None:
    words = ["corpus", "df", str(files[0]), "-o"]
    outcome([*words, str(tmp_path / "here.json")])
    on_spark([*words, str(tmp_path / "there.json")])
    assert (tmp_path / "there.json").read_bytes() == (tmp_path / "here.json").read_bytes()


def test_documents_without_ids_are_looked_at_by_their_lines(tmp_path: Path, spark: Any) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(f'{{"text": "Deep nets {n}.", "keyphrases": ["deep nets"]}}\n' for n in range(50)))
    words = ["describe", str(path), "-f", "json"]
    assert on_spark(words).stdout == outcome(words).stdout


def test_part_files_and_parquet_give_the_same(files: Files, tmp_path: Path, spark: Any) -> None:
    import pyarrow.json
    import pyarrow.parquet

    corpus, run, other = files
    words = ["score", "CORPUS", f"t5={run}", "-m", "f1@M", "-f", "csv"]
    lines = corpus.read_text(encoding="utf-8").splitlines(keepends=True)
    parts = tmp_path / "corpus"
    parts.mkdir()
    for n in range(16):
        (parts / f"part-{n:05}.jsonl").write_text("".join(lines[n * len(lines) // 16 : (n + 1) * len(lines) // 16]))
    (parts / "_SUCCESS").touch()
    table = tmp_path / "corpus.parquet"
    pyarrow.parquet.write_table(pyarrow.json.read_json(corpus), table, row_group_size=500)
    here = outcome(filled(words, corpus, run, other)).stdout
    assert on_spark(filled(words, parts, run, other)).stdout == here
    assert on_spark(filled(words, table, run, other)).stdout == here


def test_data_frames_are_corpora_and_runs(files: Files, spark: Any) -> None:
    from karat.spark import corpus, engine, run

    frames = [spark.read.json(str(path)) for path in files[:2]]
    with engine():
        found = karat.score(corpus(frames[0], "made"), run(frames[1], "t5"), metrics=["f1@M", "p@5:present"])
    here = karat.score(
        karat.read(files[0], name="made"), karat.read_run(files[1], name="t5"), metrics=["f1@M", "p@5:present"]
    )
    assert found.rows() == here.rows()
    assert found.signatures == here.signatures


Damage = Callable[[list[str]], list[str]]
DAMAGED: dict[str, tuple[Damage, Damage]] = {
    "a document that the run lacks": (lambda lines: lines, lambda lines: lines[:40] + lines[41:]),
    "a run of other documents": (
        lambda lines: lines,
        lambda lines: [line.replace('"id": "', '"id": "x') for line in lines],
    ),
    "a further document": (lambda lines: lines[:-2], lambda lines: lines),
    "an id that comes twice": (lambda lines: [*lines, lines[7]], lambda lines: lines),
    "an id of a run that comes twice": (lambda lines: lines, lambda lines: [*lines, lines[3]]),
    "a line that is cut": (lambda lines: [*lines[:20], lines[20][:30], *lines[21:]], lambda lines: lines),
    "a line of a run that is cut": (lambda lines: lines, lambda lines: [*lines[:9], lines[9][:30], *lines[10:]]),
    "a document without an id": (lambda lines: [*lines[:5], '{"text": "x"}', *lines[6:]], lambda lines: lines),
    "no line at all": (lambda lines: [], lambda lines: lines),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_wrong_is_said_in_the_same_sentence(name: str, files: Files, tmp_path: Path, spark: Any) -> None:
    paths = [tmp_path / "corpus.jsonl", tmp_path / "run.jsonl"]
    for path, source, damage in zip(paths, files, DAMAGED[name], strict=False):
        lines = source.read_text(encoding="utf-8").splitlines()[:60]
        path.write_text("".join(f"{line}\n" for line in damage(lines)), encoding="utf-8")
    words = ["score", *map(str, paths)]
    with pytest.raises(KaratError) as here:
        outcome(words)
    with pytest.raises(KaratError) as there:
        on_spark(words)
    assert str(there.value) == str(here.value)


def test_other_formats_are_read_by_the_driver(spark: Any, tmp_path: Path) -> None:
    for n in range(30):
        (tmp_path / f"d{n}.txt").write_text(f"Deep nets number {n} learn keyphrases of texts.")
        (tmp_path / f"d{n}.key").write_text("deep nets\nkeyphrases\n")
    words = ["describe", str(tmp_path), "-f", "json"]
    assert on_spark(words).stdout == outcome(words).stdout


def test_json_lines_in_another_layout_are_not_taken_for_karat_s_own(spark: Any, tmp_path: Path) -> None:
    lines = [
        {"title": f"On nets {n}", "abstract": "Deep nets learn.", "keywords": "deep nets;graphs"} for n in range(30)
    ]
    path = tmp_path / "kp20k.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    words = ["describe", str(path), "-f", "json"]
    here = outcome(words)
    assert json.loads(here.stdout)["rows"][0]["phrases"] == 2
    assert on_spark(words).stdout == here.stdout


def test_documents_that_a_run_lacks_can_be_empty_or_left_out(files: Files, tmp_path: Path, spark: Any) -> None:
    some = tmp_path / "run.jsonl"
    some.write_text("".join(files[1].read_text(encoding="utf-8").splitlines(keepends=True)[::3]), encoding="utf-8")
    for missing in ("empty", "skip"):
        words = ["score", str(files[0]), str(some), "--missing", missing, "-f", "json"]
        assert on_spark(words).stdout == outcome(words).stdout


# ---------------------------------------------------------------------------------------------- starting


def test_a_missing_or_old_java_is_one_sentence(files: Files, tmp_path: Path) -> None:
    words = ["describe", str(files[0]), "--engine", "spark"]
    found = run_command(*words, PATH=os.path.dirname(sys.executable))
    assert found.returncode == 2
    assert found.stderr == "karat: the engine spark needs Java 17 or later, and there is no java on the path\n"
    (tmp_path / "bin").mkdir()
    old = tmp_path / "bin" / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_412\"' >&2\n")
    old.chmod(0o755)
    found = run_command(*words, JAVA_HOME=str(tmp_path))
    assert found.returncode == 2
    assert f"needs Java 17 or later, and {old} is Java 8; JAVA_HOME names another" in found.stderr


def test_an_unknown_engine_is_named(files: Files) -> None:
    found = run_command("describe", str(files[0]), "--engine", "spork")
    assert found.returncode == 2
    assert "unknown engine 'spork'; did you mean 'spark'?" in found.stderr


@pytest.mark.parametrize("words", [["score", "CORPUS", "RUN", "OTHER", "-f", "json"], ["pairs", "mine", "CORPUS"]])
def test_all_ways_to_the_same_give_the_same(words: list[str], files: Files, tmp_path: Path, spark: Any) -> None:
    words = filled(words, *files)
    here = outcome([*words, "-j", "1"]).stdout
    assert outcome([*words, "-j", "2"]).stdout == here
    assert on_spark(words).stdout == here
    found = run_command(*words, "--engine", CLUSTER)
    assert found.returncode == 0, found.stderr
    assert found.stdout == here
    if words[0] == "score":
        parts = [tmp_path / f"{n}.karat" for n in range(1, 17)]
        for n, part in enumerate(parts, 1):
            outcome([*words[:-2], "--shard", f"{n}/16", "-o", str(part)])
        assert outcome(["results", "merge", *map(str, parts), "-f", "json"]).stdout == here
