"""Commands on one process and on Spark, for the tests beside this file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from click.testing import CliRunner, Result

from karat.cli import karat as command

CLUSTER = "spark:local-cluster[2,1,1024]"  # two workers, processes of their own
Files = tuple[Path, Path, Path]  # a corpus, its run, another run


def outcome(words: list[str]) -> Result:
    """What a command does in this process."""
    return CliRunner().invoke(command, words, catch_exceptions=False)


def on_spark(words: list[str]) -> Result:
    """What a command does on the session that is there."""
    return outcome([*words, "--engine", "spark"])


def filled(words: list[str], corpus: Path, run: Path, other: Path) -> list[str]:
    """The words of a command with its files."""
    places = {"CORPUS": corpus, "RUN": run, "OTHER": other}
    return [str(places.get(word, word)) for word in words]


def run_command(
    *words: str, flags: Sequence[str] = (), module: str | None = "karat", cwd: Path | None = None, **changed: str
) -> subprocess.CompletedProcess[str]:
    """What a command does in a process of its own; `flags` are those of Python."""
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | changed
    start = [sys.executable, *flags, *(["-m", module] if module is not None else [])]
    return subprocess.run([*start, *words], capture_output=True, text=True, env=environment, check=False, cwd=cwd)
