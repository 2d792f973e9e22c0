"""Predictions on Spark: those of one process, whoever writes them, and whatever happens to workers and driver."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.engines import received
from karat.errors import InputError, KaratError
from tests.spark.commands import CLUSTER, Files, on_spark, outcome, run_command
from tests.waiting import PATIENCE

pytestmark = pytest.mark.spark

PLUG_IN = """
import os, signal

def first_words(documents, mark="", kill="worker"):
    if mark and not os.path.exists(mark):
        open(mark, "w").close()
        parent = int(open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[1])
        os.kill(os.getpid() if kill == "worker" else parent, signal.SIGKILL)
    return [[(document.text or "").split(".")[0][:40]] for document in documents]
"""


def predictions(path: Path) -> list[Any]:
    return [(each.id, each.keyphrases, each.scores) for each in karat.read_run(path)]


def test_parquet_by_the_workers_is_the_run_of_one_process(files: Files, tmp_path: Path, spark: Any) -> None:
    words = ["predict", "tfidf", str(files[0]), "-n", "5", "-o"]
    here, there, own = tmp_path / "here.jsonl", tmp_path / "there.parquet", tmp_path / "own.parquet"
    outcome([*words, str(here)])
    outcome([*words, str(own)])
    assert on_spark([*words, str(there)]).exit_code == 0
    assert there.is_dir()
    assert sorted(each.name for each in tmp_path.iterdir() if ".part" in each.name) == []
    assert predictions(there) == predictions(own) == predictions(here)
    score = ["score", str(files[0]), "-m", "f1@5", "-f", "csv"]
    there_score = on_spark([*score, f"run={there}"]).stdout
    assert there_score == outcome([*score, f"run={here}"]).stdout
    with pytest.raises(InputError, match="is a directory"):
        on_spark([*words, str(there)])


def test_addresses_are_read_and_written(files: Files, tmp_path: Path, spark: Any) -> None:
    corpus = files[0].as_uri()
    on_spark(["predict", "firstphrases", corpus, "-n", "3", "-o", (tmp_path / "run.parquet").as_uri()])
    outcome(["predict", "firstphrases", str(files[0]), "-n", "3", "-o", str(tmp_path / "run.jsonl")])
    assert predictions(tmp_path / "run.parquet") == predictions(tmp_path / "run.jsonl")
    with pytest.raises(InputError, match="there is no such file"):
        on_spark(["describe", f"{corpus}x"])
    with pytest.raises(InputError, match="an address is read by an engine; write --engine spark"):
        outcome(["describe", corpus])


def test_what_a_model_says_comes_from_the_workers_too(tmp_path: Path, spark: Any) -> None:
    path = tmp_path / "corpus.jsonl"
    texts = ["Deep nets learn.", "", "of the and", "Graphs grow."]
    path.write_text("".join(f'{{"id": "d{n}", "text": "{text}"}}\n' for n, text in enumerate(texts)))
    said = on_spark(["predict", "firstphrases", str(path), "-o", str(tmp_path / "run.parquet")]).stderr
    assert said == outcome(["predict", "firstphrases", str(path), "-o", str(tmp_path / "run.jsonl")]).stderr
    assert "1 document has no text" in said


def test_an_error_of_a_model_is_a_sentence(files: Files, tmp_path: Path, spark: Any) -> None:
    frame = spark.read.json(str(files[0])).limit(10)
    with pytest.raises(InputError, match="unknown model 'tfdif'"):
        karat.spark.predict(frame, "tfdif")
    twice = tmp_path / "twice.jsonl"
    twice.write_text('{"id": "a", "text": "x"}\n' * 2)
    with pytest.raises(InputError, match="two documents have the id 'a'; ids are to differ"):
        on_spark(["predict", "firstphrases", str(twice), "-o", str(tmp_path / "run.parquet")])


def test_data_frames_become_predictions(files: Files, spark: Any) -> None:
    frame = spark.read.json(str(files[0]))
    found = {row.id: row.keyphrases for row in karat.spark.predict(frame, "tfidf", n=4).collect()}
    assert found == {each.id: each.keyphrases for each in karat.predict(str(files[0]), "tfidf", n=4)}


# ---------------------------------------------------------------------------------------------- what workers need


def test_a_trained_model_and_a_plug_in_are_sent_to_the_workers(files: Files, tmp_path: Path) -> None:
    some = tmp_path / "some.jsonl"
    some.write_text("".join(files[0].read_text(encoding="utf-8").splitlines(keepends=True)[:300]), encoding="utf-8")
    outcome(["train", "kea", str(some), "-o", str(tmp_path / "kea.json")])
    (tmp_path / "plugged.py").write_text(PLUG_IN)
    for model in ("kea,model=kea.json", "./plugged.py:first_words"):
        words = ["predict", model, "some.jsonl", "-n", "4", "--df", "some.jsonl", "-q", "-o"]
        here = run_command(*words, "here.jsonl", cwd=tmp_path)
        there = run_command(*words, "there.jsonl", "--engine", CLUSTER, cwd=tmp_path)
        assert here.returncode == there.returncode == 0, there.stderr
        assert (tmp_path / "there.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()


def content(folder: str, name: str) -> str:
    return Path(received(folder), name).read_text()


def test_a_folder_is_sent_to_the_workers_once(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights").write_text("1 2 3")
    script = f"""
import karat.spark, karat.engines, os
from tests.spark.test_predict import content
from functools import partial
with karat.spark.engine("local-cluster[2,1,1024]"):
    engine = karat.engines.engine()
    found = list(engine.map(partial(content, {str(folder)!r}), ["weights"] * 5, [{str(folder)!r}]))
    os.rename({str(folder)!r}, {str(tmp_path / "moved")!r})
    again = list(engine.map(partial(content, {str(tmp_path / "moved")!r}), ["weights"], [{str(tmp_path / "moved")!r}]))
print(found, again)
"""
    paths = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"{['1 2 3'] * 5} ['1 2 3']\n", done.stderr


def test_workers_without_karat_are_one_sentence(files: Files, tmp_path: Path) -> None:
    import numpy
    import pyarrow

    bare = tmp_path / "packages"
    bare.mkdir()
    for module in (numpy, pyarrow):
        folder = Path(str(module.__file__)).parent
        for path in [folder, *folder.parent.glob(f"{folder.name}.libs")]:
            (bare / path.name).symlink_to(path)
    python = tmp_path / "python"
    spark = "$(echo $PYTHONPATH | tr : '\\n' | grep -E 'pyspark|py4j' | paste -sd:)"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{bare}:{spark}" exec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    found = run_command("describe", str(files[0]), "--engine", CLUSTER, PYSPARK_PYTHON=str(python))
    assert found.returncode == 2
    said = [line for line in found.stderr.splitlines() if line.startswith("karat:")]
    assert said == [
        "karat: the workers' Python has no karat: install it there, or ship an environment (conda-pack or venv-pack, "
        "and spark.archives; docs/scale.md)"
    ], found.stderr


# ---------------------------------------------------------------------------------------------- what is killed


@pytest.mark.parametrize(("kill", "master"), [("worker", "spark:local[2]"), ("executor", CLUSTER)])
def test_a_worker_that_is_killed_does_not_change_the_answer(
    kill: str, master: str, files: Files, tmp_path: Path
) -> None:
    (tmp_path / "plugged.py").write_text(PLUG_IN)
    mark = tmp_path / "killed"
    words = [f"./plugged.py:first_words,mark={mark},kill={kill}", str(files[0]), "-q", "-o", "there.jsonl"]
    found = run_command("predict", *words, "--engine", master, cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert mark.exists()
    run_command("predict", "./plugged.py:first_words", str(files[0]), "-q", "-o", "here.jsonl", cwd=tmp_path)
    assert (tmp_path / "there.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()


def test_a_driver_that_is_killed_goes_on_where_it_was(
    files: Files, tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from karat.spark import writing

    there = tmp_path / "there.parquet"
    words = ["predict", "firstphrases", str(files[0]), "-n", "3", "-o", str(there), "--engine", "spark:local[2]"]
    script = f"""
from karat.spark import writing
writing.BLOCK = 1250
from karat.cli import main
import sys
sys.argv = ["karat", *{words!r}]
main()
"""
    killed = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    until = time.monotonic() + PATIENCE
    second = Path(f"{there}.part", "_block-00001", "_SUCCESS")
    while not second.exists() and killed.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert second.exists()
    assert not there.exists()
    monkeypatch.setattr(writing, "BLOCK", 1250)
    said = on_spark(words[:-2]).stderr
    assert "went on after " in said
    outcome(["predict", "firstphrases", str(files[0]), "-n", "3", "-o", str(tmp_path / "here.jsonl")])
    assert predictions(there) == predictions(tmp_path / "here.jsonl")


def test_a_damaged_part_file_is_named(files: Files, tmp_path: Path, spark: Any) -> None:
    import gzip
    import shutil

    parts = tmp_path / "parts"
    parts.mkdir()
    lines = files[0].read_text(encoding="utf-8").splitlines(keepends=True)
    for n in range(4):
        with gzip.open(parts / f"part-{n}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(lines[n * 100 : n * 100 + 100])
    damaged = parts / "part-2.jsonl.gz"
    damaged.write_bytes(damaged.read_bytes()[:-500])
    with pytest.raises(KaratError, match=f"{damaged}: the file is damaged or cut off"):
        on_spark(["describe", str(parts)])
    on_spark(["predict", "firstphrases", str(files[0]), "-o", str(tmp_path / "run.parquet")])
    shutil.copytree(tmp_path / "run.parquet", tmp_path / "cut.parquet")
    cut = sorted((tmp_path / "cut.parquet").glob("part-*"))[1]
    cut.write_bytes(cut.read_bytes()[:-100])
    with pytest.raises(KaratError, match=f"{cut}: the file is damaged or cut off"):
        on_spark(["score", str(files[0]), str(tmp_path / "cut.parquet")])
