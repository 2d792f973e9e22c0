"""Workers of Spark import nothing of the current folder, and have no keys."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat
from tests.hostile_folder import imported_modules, write_hostile_modules
from tests.spark.commands import CLUSTER, run_command

pytestmark = pytest.mark.spark

SECRETS = {"KARAT_LLM_KEY": "sk-4711", "HF_TOKEN": "hf-4711", "AWS_SECRET_ACCESS_KEY": "aws-4711"}
DEMO = Path(karat.__file__).parent / "demo" / "corpus.jsonl"
PLUG_IN = """
import os
import numpy
import pyarrow

def variables(documents):
    return [[f"{name}={value}" for name, value in os.environ.items()] for document in documents]
"""


@pytest.mark.parametrize("engine", ["spark:local[2]", CLUSTER])
def test_workers_import_nothing_of_the_current_folder_and_have_no_keys(engine: str, tmp_path: Path) -> None:
    write_hostile_modules(tmp_path)
    (tmp_path / "mine.py").write_text(PLUG_IN)
    words = ["predict", "./mine.py:variables", str(DEMO), "-n", "999", "-q", "-o", "run.jsonl", "--engine", engine]
    done = run_command(*words, flags=["-P"], cwd=tmp_path, **SECRETS)
    assert done.returncode == 0, done.stderr
    assert imported_modules(tmp_path) == []
    phrases = [phrase or "" for each in karat.read_run(tmp_path / "run.jsonl") for phrase in each.keyphrases or []]
    assert "PYTHONSAFEPATH=1" in phrases
    assert not any(secret in phrase for phrase in phrases for secret in SECRETS.values())


def test_a_verb_without_a_plug_in_imports_nothing_of_the_current_folder(tmp_path: Path) -> None:
    write_hostile_modules(tmp_path)
    words = ["score", str(DEMO), str(DEMO.with_name("by-hand.jsonl")), "-q", "--engine", "spark:local[2]"]
    done = run_command(*words, flags=["-P"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert imported_modules(tmp_path) == []


def test_modules_of_a_script_are_sent_to_the_workers(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def first_words(documents):\n    return [['bees']] * len(documents)\n")
    (tmp_path / "job.py").write_text(
        "import karat, karat.spark, mine\n"
        f"with karat.spark.engine('local[2]'):\n    run = karat.predict({str(DEMO)!r}, mine.first_words)\n"
        "print({phrase for prediction in run for phrase in prediction.keyphrases})\n"
    )
    done = run_command(flags=[str(tmp_path / "job.py")], module=None, cwd=tmp_path)
    assert done.stdout == "{'bees'}\n", done.stderr
