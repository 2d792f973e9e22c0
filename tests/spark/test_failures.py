"""What fails on Spark is one sentence with the reason, and a signal ends the command without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import karat
from karat.spark.failures import cause_in
from tests.spark.commands import run_command
from tests.waiting import until

pytestmark = pytest.mark.spark

DEMO = Path(karat.__file__).parent / "demo" / "corpus.jsonl"
PLUG_IN = """
import os, time

def end(documents):
    os._exit(3)

def wait(documents, mark="mark"):
    open(mark, "w").close()
    while True:
        time.sleep(0.1)
"""


@pytest.mark.parametrize(
    ("master", "environment", "sentence"),
    [
        (
            "nonsense",
            {},
            "Spark cannot be started with the master nonsense: Java ended: org.apache.spark.SparkException: "
            "Master must either be yarn or start with spark, k8s, or local",
        ),
        (
            "local[2]",
            {"PYSPARK_PYTHON": "/nowhere/python"},
            'Spark: Cannot run program "/nowhere/python": error=2, No such file or directory; '
            "PYSPARK_PYTHON names the Python of the workers",
        ),
        (
            "local[2]",
            {"PYSPARK_PYTHON": "/bin/false"},
            "Spark: the workers' Python cannot be started; PYSPARK_PYTHON names the Python of the workers",
        ),
        (
            "local[2]",
            {"SPARK_LOCAL_DIRS": "/proc/nowhere"},
            "Spark cannot be started with the master local[2]: the Java process of Spark ended: it cannot create a "
            "folder for temporary files; SPARK_LOCAL_DIRS or spark.local.dir names another",
        ),
        (
            "local[2]",
            {"SPARK_HOME": "/nowhere"},
            "Spark cannot be started with the master local[2]: Java ended: "
            "[Errno 2] No such file or directory: '/nowhere/./bin/spark-submit'",
        ),
    ],
)
def test_a_session_that_cannot_be_started_is_explained(
    master: str, environment: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    done = run_command("describe", str(DEMO), "--engine", f"spark:{master}", cwd=tmp_path, **environment)
    assert (done.returncode, done.stderr) == (2, f"karat: {sentence}\n")


def test_java_that_fails_is_quoted(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho Picked up JAVA_TOOL_OPTIONS: x >&2\necho 'Error: no heap'\nexit 1\n")
    java.chmod(0o755)
    done = run_command("describe", str(DEMO), "--engine", "spark", JAVA_HOME=str(tmp_path))
    sentence = f"karat: the engine spark needs Java 17 or later, and {java} fails: Error: no heap\n"
    assert (done.returncode, done.stderr) == (2, sentence)


def test_a_plug_in_that_ends_its_worker_is_explained(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLUG_IN)
    words = ["predict", "./mine.py:end", str(DEMO), "-o", "run.jsonl", "--engine", "spark:local[2]"]
    done = run_command(*words, cwd=tmp_path)
    sentence = "karat: Spark: the Python process of a worker ended; it may have run out of memory\n"
    assert (done.returncode, done.stderr) == (2, sentence)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            "An error occurred while calling o3.count.\n: java.lang.OutOfMemoryError: Java heap space\n\tat x",
            "OutOfMemory",
        ),
        ("X\nCaused by: java.nio.file.AccessDeniedException: /data/a\n\t... 3 more", "AccessDeniedException: /data/a"),
        ("[UNRESOLVED_COLUMN] no column a. SQLSTATE: 42703\n\nJVM stacktrace:\n", "[UNRESOLVED_COLUMN] no column a."),
        (": java.lang.NullPointerException\n\tat x", "NullPointerException"),
    ],
)
def test_the_root_cause_is_taken_from_the_text_of_an_error(text: str, cause: str) -> None:
    assert cause_in(text).startswith(cause)


# ---------------------------------------------------------------------------------------------- signals


def start(folder: Path) -> subprocess.Popen[str]:
    """Start a command whose plug-in waits on a worker."""
    (folder / "mine.py").write_text(PLUG_IN)
    model = f"./mine.py:wait,mark={folder / 'mark'}"
    words = ["predict", model, str(DEMO), "-o", "run.jsonl", "--engine", "spark:local[2]"]
    return subprocess.Popen([sys.executable, "-m", "karat", *words], cwd=folder, stderr=subprocess.PIPE, text=True)


def java_of(process: int) -> list[int]:
    """Return the Java processes that a process started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, parent = status.read_text().split("(")[1].rpartition(")")[::2]
        except OSError:
            continue
        if name == "java" and int(parent.split()[1]) == process:
            found.append(int(status.parent.name))
    return found


ENDS = {signal.SIGTERM: (143, "karat: terminated\n"), signal.SIGINT: (130, "karat: interrupted\n")}


@pytest.mark.parametrize("number", ENDS, ids=lambda number: number.name)
@pytest.mark.parametrize("moment", ["while Java starts", "while a worker works"])
def test_a_signal_ends_the_command_and_java_without_a_traceback(
    number: signal.Signals, moment: str, tmp_path: Path
) -> None:
    with start(tmp_path) as process:
        if moment == "while Java starts":
            until(lambda: java_of(process.pid) or process.poll() is not None, "Java does not start")
        else:
            until(lambda: (tmp_path / "mark").exists() or process.poll() is not None, "no worker works")
        java = java_of(process.pid)
        process.send_signal(number)
        _, printed = process.communicate()
    assert (process.returncode, printed.lstrip("\n")) == ENDS[number]  # click ends the line of ^C
    assert java
    until(lambda: not any(Path(f"/proc/{each}").exists() for each in java), "Java does not end")


def test_a_java_process_that_is_killed_is_explained(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        until(lambda: (tmp_path / "mark").exists() or process.poll() is not None, "no worker works")
        for java in java_of(process.pid):
            os.kill(java, signal.SIGKILL)
        _, printed = process.communicate()
    sentence = "karat: Spark: the Java process of Spark ended: it may have run out of memory"
    assert (process.returncode, printed.startswith(sentence), printed.count("\n")) == (2, True, 1), printed
