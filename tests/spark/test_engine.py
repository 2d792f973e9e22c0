"""On Spark every verb prints, byte for byte, what it prints on one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import karat
from benchmarks.made_corpus import write_corpus
from karat.cli import karat as command
from karat.errors import KaratError

pytestmark = pytest.mark.spark

DOCUMENTS = 5000
VERBS = {
    "score": ["score", "CORPUS", "RUN", "OTHER", "-m", "f1@5:present", "-m", "f1@M:absent", "-m", "map@10"],
    "score, several protocols": ["score", "CORPUS", "RUN", "--protocol", "chan2019", "--protocol", "meng2021"],
    "audit": ["audit", "CORPUS", "RUN", "-m", "f1@M:present", "--protocol", "chan2019", "--protocol", "ye2021"],
    "describe": ["describe", "CORPUS"],
    "overlap": ["overlap", "CORPUS", "RUN", "OTHER"],
    "nearmiss": ["nearmiss", "CORPUS", "RUN"],
    "compare": ["compare", "CORPUS", "RUN", "OTHER", "-m", "f1@M", "--resamples", "200"],
    "predict": ["predict", "tfidf", "CORPUS", "-n", "5"],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A made corpus, its run, and another run: the same phrases the other way round, in another order of documents."""
    made = write_corpus(tmp_path_factory.mktemp("made"), DOCUMENTS)
    lines = [json.loads(line) for line in made.run.read_text(encoding="utf-8").splitlines()]
    other = made.run.with_name("other.jsonl")
    turned = [json.dumps({**each, "keyphrases": each["keyphrases"][::-1]}) for each in reversed(lines)]
    other.write_text("\n".join(turned) + "\n", encoding="utf-8")
    return made.corpus, made.run, other


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session that all tests of this module share."""
    from karat.spark import session

    found = session("local[2]")
    yield found
    found.stop()


def outcome(words: list[str]) -> Result:
    return CliRunner().invoke(command, words, catch_exceptions=False)


def on_spark(words: list[str], spark: Any) -> Result:
    """What a command does on the session that is there."""
    return outcome([*words, "--engine", "spark"])


def filled(words: list[str], corpus: Path, run: Path, other: Path) -> list[str]:
    places = {"CORPUS": corpus, "RUN": run, "OTHER": other}
    return [str(places.get(word, word)) for word in words]


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_gives_the_bytes_of_one_process(name: str, files: tuple[Path, Path, Path], spark: Any) -> None:
    words = [*filled(VERBS[name], *files), "-f", "json"]
    here, there = outcome(words), on_spark(words, spark)
    assert here.exit_code == there.exit_code == 0, there.output
    assert there.stdout == here.stdout


def test_part_files_and_parquet_give_the_same(files: tuple[Path, Path, Path], tmp_path: Path, spark: Any) -> None:
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
    assert on_spark(filled(words, parts, run, other), spark).stdout == here
    assert on_spark(filled(words, table, run, other), spark).stdout == here


def test_data_frames_are_corpora_and_runs(files: tuple[Path, Path, Path], spark: Any) -> None:
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
def test_what_is_wrong_is_said_in_the_same_sentence(
    name: str, files: tuple[Path, Path, Path], tmp_path: Path, spark: Any
) -> None:
    paths = [tmp_path / "corpus.jsonl", tmp_path / "run.jsonl"]
    for path, source, damage in zip(paths, files, DAMAGED[name], strict=False):
        lines = source.read_text(encoding="utf-8").splitlines()[:60]
        path.write_text("".join(f"{line}\n" for line in damage(lines)), encoding="utf-8")
    words = ["score", *map(str, paths)]
    with pytest.raises(KaratError) as here:
        outcome(words)
    with pytest.raises(KaratError) as there:
        on_spark(words, spark)
    assert str(there.value) == str(here.value)


def test_other_formats_are_read_by_the_driver(spark: Any, tmp_path: Path) -> None:
    for n in range(30):
        (tmp_path / f"d{n}.txt").write_text(f"Deep nets number {n} learn keyphrases of texts.")
        (tmp_path / f"d{n}.key").write_text("deep nets\nkeyphrases\n")
    words = ["describe", str(tmp_path), "-f", "json"]
    assert on_spark(words, spark).stdout == outcome(words).stdout


def test_json_lines_in_another_layout_are_not_taken_for_karat_s_own(spark: Any, tmp_path: Path) -> None:
    lines = [
        {"title": f"On nets {n}", "abstract": "Deep nets learn.", "keywords": "deep nets;graphs"} for n in range(30)
    ]
    path = tmp_path / "kp20k.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    words = ["describe", str(path), "-f", "json"]
    here = outcome(words)
    assert json.loads(here.stdout)["rows"][0]["phrases"] == 2
    assert on_spark(words, spark).stdout == here.stdout


def test_documents_that_a_run_lacks_can_be_empty_or_left_out(
    files: tuple[Path, Path, Path], tmp_path: Path, spark: Any
) -> None:
    some = tmp_path / "run.jsonl"
    some.write_text("".join(files[1].read_text(encoding="utf-8").splitlines(keepends=True)[::3]), encoding="utf-8")
    for missing in ("empty", "skip"):
        words = ["score", str(files[0]), str(some), "--missing", missing, "-f", "json"]
        assert on_spark(words, spark).stdout == outcome(words).stdout


# ---------------------------------------------------------------------------------------------- starting


def run_command(*words: str, **changed: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | changed
    return subprocess.run(
        [sys.executable, "-m", "karat", *words], capture_output=True, text=True, env=environment, check=False
    )


def test_a_missing_or_old_java_is_one_sentence(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
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


def test_an_unknown_engine_is_named(files: tuple[Path, Path, Path]) -> None:
    found = run_command("describe", str(files[0]), "--engine", "spork")
    assert found.returncode == 2
    assert "unknown engine 'spork'; did you mean 'spark'?" in found.stderr


def test_workers_of_their_own_give_the_same(files: tuple[Path, Path, Path]) -> None:
    words = ["score", *map(str, files), "-m", "f1@M", "-f", "json"]
    found = run_command(*words, "--engine", "spark:local-cluster[2,1,1024]")
    assert found.returncode == 0, found.stderr
    assert found.stdout == outcome(words).stdout
