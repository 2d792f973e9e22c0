"""Commands under an audit hook, which sees every file that is opened, beside the record that karat keeps of its files.

    python tests/faults/audited.py FOLDER < COMMANDS

Standard input is a JSON list of commands, each a list of words, in which `{url}` is a chat endpoint on loopback. Each
is run in the folder, in a process of its own. Prints a JSON list with one object a command: its exit code, its standard
error, and the files of the folder that it opened: how many, and which were not in the record when they were opened.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from karat.formats.output import LOCK
from karat.record import FileRecord, recording
from tests.faults.stopping import ROOT, _command
from tests.forked import load
from tests.pairs.server import serving


class Audit:
    """The files below a folder that this process opens, compared with a record."""

    def __init__(self, folder: Path, record: FileRecord) -> None:
        self.folder, self.record = os.path.realpath(folder), record
        self.opened: set[str] = set()
        self.unrecorded: set[str] = set()

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Compare the file of an event with the record."""
        if event == "open":
            path, _, flags = arguments
            self.compare(path, bool(flags & (os.O_WRONLY | os.O_RDWR)))
        elif event == "sqlite3.connect":
            self.compare(arguments[0], writes=True)

    def compare(self, path: Any, writes: bool) -> None:
        """Note a file, and whether the record has it as an input, or as an output where it is written."""
        if not isinstance(path, str | bytes | os.PathLike):
            return  # a number: what opened it is known
        real = os.path.realpath(os.fsdecode(path))
        if not real.startswith(f"{self.folder}{os.sep}") or os.path.isdir(real) or "__pycache__" in real:
            return
        if not writes and not os.path.exists(real):  # nothing to open, or a name within a folder that is open
            return
        self.opened.add(real)
        folder, name = os.path.split(real)
        if name.startswith(".") and name.endswith(LOCK):
            real = os.path.join(folder, name[1 : -len(LOCK)])
        if not self.record.is_output(real) and (writes or real not in self.record.inputs):
            self.unrecorded.add(f"{os.path.relpath(real, self.folder)} ({'written' if writes else 'read'})")


def audited(folder: Path, words: list[str]) -> dict[str, Any]:
    """Run a command in a process of its own and return what the hook saw."""
    reader, writer = os.pipe()
    errors, error_file = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(error_file, 2)
            with recording() as record:
                audit = Audit(folder, record)
                sys.addaudithook(audit)
                code = _command(words)
            found = {"code": code, "opened": len(audit.opened), "unrecorded": sorted(audit.unrecorded)}
            os.write(writer, json.dumps(found).encode())
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.close(writer)
    os.close(error_file)
    with os.fdopen(errors, encoding="utf-8", errors="replace") as said, os.fdopen(reader, "rb") as seen_file:
        message, seen_bytes = said.read(), seen_file.read()
    os.waitpid(child, 0)
    return {"stderr": message, **json.loads(seen_bytes or b"{}")}


def audit(folder: Path, lines: Sequence[str]) -> list[dict[str, Any]]:
    """Run this file on command lines: a hook cannot be taken back, so it needs a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, str(folder)],
        input=json.dumps([line.split() for line in lines]),
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def main(folder: str) -> None:
    """Run the commands of standard input."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    commands = json.load(sys.stdin)
    load()
    with serving() as endpoint:
        lines = [[word.replace("{url}", endpoint.url) for word in words] for words in commands]
        print(json.dumps([audited(Path(folder), words) for words in lines]))


if __name__ == "__main__":
    main(sys.argv[1])
