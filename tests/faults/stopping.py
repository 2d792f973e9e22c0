"""A command that is killed at each of its writes in turn, and run again.

    python tests/faults/stopping.py [--every N] FOLDER ARGUMENT...

Runs `karat ARGUMENT...` in copies of the folder: once unbroken, then for every write, sync, rename and other change of
a file (with `--every`, for each N-th) once killed there (a write also after half of its bytes) and run again. `{url}`
in an argument is a chat endpoint on loopback. Prints one JSON object: how many times it was killed at what, and a list
of faults.

The commands are forked from this process, which has everything loaded, so that hundreds of them take seconds.
"""

from __future__ import annotations

import argparse
import builtins
import io
import json
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CHANGES = ("fsync", "replace", "rename", "unlink", "mkdir", "rmdir", "truncate", "ftruncate", "write")
DATABASE = (".sqlite", ".sqlite-wal", ".sqlite-shm")  # holds times, so that two are not equal byte for byte
MODEL = "model"  # the directory of a training
MOST = 400  # kills of one command: more would mean that it never ends


class Stop:
    """Kills this process at the n-th change of a file; told what it was about to do through a pipe."""

    def __init__(self, at: int, told: int) -> None:
        self.at, self.told, self.seen = at, told, 0

    def point(self, what: str, first: Callable[[], object] = lambda: None) -> None:
        if self.seen == self.at:
            first()
            os_write(self.told, what.encode())
            os.kill(os.getpid(), signal.SIGKILL)
        self.seen += 1


os_write = os.write


class TornFile(io.FileIO):
    """A file that is written in two steps, between which the process may be killed."""

    stop: Stop

    def write(self, data: Any) -> int:
        half = bytes(data)[: len(data) // 2]
        self.stop.point("write")
        self.stop.point("half a write", lambda: io.FileIO.write(self, half))
        return super().write(data) or 0


def break_at(stop: Stop) -> None:
    """Puts the stop before everything that changes a file, in this process."""
    TornFile.stop = stop
    for name in CHANGES:
        setattr(os, name, _stopping(stop, name, getattr(os, name)))
    plain = io.open

    def opened(file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **more: Any) -> Any:
        if not set(mode) & set("wax+") or "b" not in mode:
            return plain(file, mode, buffering, *rest, **more)
        raw = TornFile(file, mode.replace("b", ""), closefd=more.get("closefd", True))
        return io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)

    builtins.open = io.open = opened
    _break_database(stop)


def _stopping(stop: Stop, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def change(*arguments: Any, **options: Any) -> Any:
        stop.point(name)
        return function(*arguments, **options)

    return change


def _break_database(stop: Stop) -> None:
    """Stops before and after each transaction of the answers; what SQLite does within one is its own affair."""
    from karat.llm.store import Store

    transaction = Store._transaction

    @contextmanager
    def stopping(self: Store) -> Iterator[Any]:
        stop.point("transaction")
        with transaction(self) as run:
            yield run
        stop.point("after a transaction")

    Store._transaction = stopping  # type: ignore[method-assign]


# ---------------------------------------------------------------------------------------------- commands


def run(folder: Path, arguments: list[str], at: int | None = None) -> tuple[int, str, str]:
    """(exit code or minus the signal, what it was killed at, standard error) of a command in a folder."""
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            code = 70
            try:
                os.chdir(folder)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(said.fileno(), 2)
                if at is not None:
                    break_at(Stop(at, writer))
                code = _command(arguments)
            finally:
                os._exit(code)
        os.close(writer)
        _, status = os.waitpid(child, 0)
        with os.fdopen(reader, "rb") as told:
            where = told.read().decode()
        said.seek(0)
        return os.waitstatus_to_exitcode(status), where, said.read().decode()


def _command(arguments: list[str]) -> int:
    from karat.cli import main

    sys.argv = ["karat", *arguments]
    try:
        main()
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 0
    return 0


def content(folder: Path) -> dict[str, bytes]:
    """The files of a folder, hidden ones and those of folders below it too, but for databases."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith(DATABASE)]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def stop_everywhere(folder: Path, arguments: list[str], asked: Callable[[], int], every: int = 1) -> dict[str, Any]:
    """What came of killing a command at each of its changes; `asked` tells how many requests there were so far."""
    faults: list[str] = []
    kills: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="karat-faults-") as place:
        before = content(folder)
        whole = _copy(folder, Path(place, "whole"))
        already = asked()
        code, _, said = run(whole, arguments)
        requests, expected = asked() - already, content(whole)
        if code:
            return {"kills": {}, "faults": [f"unbroken: code {code}: {said}"]}
        for at in range(0, MOST, every):
            broken = _copy(folder, Path(place, str(at)))
            already = asked()
            code, where, _ = run(broken, arguments, at)
            if code != -signal.SIGKILL:
                faults += [] if content(broken) == expected else [f"not killed at {at}, and another outcome"]
                break
            kills[where] += 1
            faults += [f"{where} ({at}): {fault}" for fault in _half(content(broken), before, expected)]
            faults += [f"{where} ({at}): {fault}" for fault in _damaged(broken / MODEL)]
            code, _, said = run(broken, arguments)
            if code and content(broken) != expected:  # a folder that is whole already is refused
                faults.append(f"{where} ({at}): the same command again: code {code}: {said}")
            elif content(broken) != expected:
                names = {name for name, _ in content(broken).items() ^ expected.items()}
                faults.append(f"{where} ({at}): another outcome: {sorted(names)}")
            if asked() - already > requests + 1:  # the one that was under way
                faults.append(f"{where} ({at}): {asked() - already} requests instead of {requests}")
            shutil.rmtree(broken)
        else:
            faults.append(f"killed {MOST} times, and no end")
    return {"kills": dict(kills), "faults": faults}


def _half(now: dict[str, bytes], before: dict[str, bytes], expected: dict[str, bytes]) -> Iterator[str]:
    """Files under a final name that are neither as they were nor as they are to be."""
    for name, found in now.items():
        parts = name.split("/")
        final = not name.endswith(".part") and not any(part.startswith(".") for part in parts) and parts[0] != MODEL
        if final and found not in (before.get(name), expected.get(name)):
            yield f"{name} is half a file"


def _damaged(folder: Path) -> Iterator[str]:
    """Files of a trained model that do not match their checksums; it is replaced several times in a training."""
    from karat.errors import InputError
    from karat.models.generators import checkpoint

    if checkpoint.is_checkpoint(folder):
        try:
            checkpoint.check_files(folder, checkpoint.read_card(folder), training=True)
        except InputError as error:
            yield str(error)


def _copy(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    return to


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("folder", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    from tests.forked import load

    load()
    if MODEL in options.arguments:
        import torch

        from karat.models.generators import copyrnn, loop, table  # noqa: F401

        torch.set_num_threads(1)
    from karat.formats import unfinished
    from karat.models import run as running
    from tests.pairs.server import serving

    running.CHUNK = 2  # five documents are three chunks
    unfinished.SYNC_SECONDS = 0.0  # each of them is synced
    with serving() as endpoint:
        words = [argument.replace("{url}", endpoint.url) for argument in options.arguments]
        found = stop_everywhere(options.folder, words, lambda: len(endpoint.asked), options.every)
        print(json.dumps(found))


if __name__ == "__main__":
    main()
