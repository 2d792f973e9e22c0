"""Seconds, documents a second and peak memory of score, describe, pairs mine and predict, as corpora grow.

    python -m benchmarks.scale [--sizes 20000 200000 1000000] [--verbs score ...] [--ways 1 2 spark:local[2]]

A line of the table is one verb on one made corpus in one way: on one process (`1`), on several (`2`), or on an engine
(`spark:local[2]`). Each runs as `python -m karat ...`, with the load of the machine before it, because other work makes
wall seconds longer and CPU seconds somewhat. CPU seconds are those of all processes that the command starts. Memory
is sampled ten times a second from /proc: the largest Python process, the largest Java process, and all processes
together (pages that they share counted once); without Java the first is exact, as the system tells it.

Linux only. This process imports the standard library alone, as `benchmarks.speed` does, and for the same reason.
"""

import argparse
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from time import perf_counter

from benchmarks.__main__ import make
from benchmarks.tables import table

OWN = Path(__file__).resolve().parent.parent
SIZES = (20_000, 200_000, 1_000_000)
WAYS = ("1", "2", "spark:local[2]")
VERBS = {
    "score": ("score", "{corpus}", "{run}"),
    "describe": ("describe", "{corpus}"),
    "pairs mine": ("pairs", "mine", "{corpus}", "-o", "{scratch}/pairs.jsonl"),
    "predict tfidf": ("predict", "tfidf", "{corpus}", "-o", "{scratch}/run{suffix}"),
    "predict firstphrases": ("predict", "firstphrases", "{corpus}", "-o", "{scratch}/run{suffix}"),
    "audit": ("audit", "{corpus}", "{run}", "--protocol", "karat", "--protocol", "chan2019"),
}
USUAL = ("score", "describe", "pairs mine", "predict tfidf")
EVERY = 0.1  # seconds between two looks at the processes


@dataclass(slots=True)
class Seen:
    """What was seen of processes so far: their largest sizes, in bytes, and the CPU seconds of each."""

    python: int = 0  # of one process
    java: int = 0
    together: int = 0  # of all processes, pages that several share counted once
    cpu: dict[int, float] = field(default_factory=dict)

    def note(self, pids: Sequence[int]) -> None:
        """Looks at the processes once."""
        together = 0
        for pid in pids:
            resident, share, java = _sizes(pid)
            together += share
            self.cpu[pid] = max(self.cpu.get(pid, 0.0), _seconds(pid))
            if java:
                self.java = max(self.java, resident)
            else:
                self.python = max(self.python, resident)
        self.together = max(self.together, together)


@dataclass(frozen=True, slots=True)
class Took:
    """What one command took."""

    wall: float
    cpu: float
    load: float  # of the machine before it
    seen: Seen = field(default_factory=Seen)


# ---------------------------------------------------------------------------------------------- processes


def descendants(pid: int) -> list[int]:
    """A process and all that it has started and that still run."""
    found = [pid]
    for each in found:
        try:
            tasks = os.listdir(f"/proc/{each}/task")
            for task in tasks:
                found += map(int, Path(f"/proc/{each}/task/{task}/children").read_text().split())
        except OSError:  # it has ended
            continue
    return found


def _sizes(pid: int) -> tuple[int, int, bool]:
    """(resident bytes of a process, its share of pages that several have, whether it is Java)."""
    try:
        java = "java" in Path(f"/proc/{pid}/comm").read_text()
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return 0, 0, False
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.endswith("kB")}
    return sizes.get("Rss", 0), sizes.get("Pss", 0), java


def _seconds(pid: int) -> float:
    """The CPU seconds of a process, without those that it has started."""
    try:
        user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _watch(pid: int, seen: Seen, ended: threading.Event) -> None:
    while not ended.wait(EVERY):
        seen.note(descendants(pid))


def run(arguments: Sequence[str], checkout: Path, scratch: str) -> Took:
    """What `python -m karat` with the arguments took; a command that fails ends everything, in words."""
    command = [sys.executable, "-m", "karat", *arguments]
    environment = os.environ | {"PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    seen, ended, load = Seen(), threading.Event(), os.getloadavg()[0]
    with TemporaryFile("w+") as errors:
        start = perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, cwd=scratch, env=environment)
        watcher = threading.Thread(target=_watch, args=(process.pid, seen, ended))
        watcher.start()
        _, status, used = os.wait4(process.pid, 0)
        wall = perf_counter() - start
        ended.set()
        watcher.join()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise SystemExit(f"scale: {' '.join(command[1:])} failed (exit {process.returncode})\n{errors.read()}")
    if not seen.java:
        seen.python = max(seen.python, used.ru_maxrss * 1024)  # exact, where no other kind of process was waited for
    # Nobody waits for the processes of Java, whose seconds are then those that were seen last.
    return Took(wall, max(used.ru_utime + used.ru_stime, sum(seen.cpu.values())), load, seen)


# ---------------------------------------------------------------------------------------------- the table


def flags(way: str) -> tuple[str, ...]:
    """The flags of a way to run: a number of processes, or an engine."""
    return ("-j", way) if way.isdecimal() else ("--engine", way)


def measured(verb: str, way: str, folder: Path, checkout: Path) -> Took:
    """What a verb took on the corpus of a folder."""
    with TemporaryDirectory() as scratch:
        suffix = ".parquet" if way.startswith("spark") else ".jsonl"  # what workers of an engine can write themselves
        paths = {"corpus": folder / "corpus.jsonl", "run": folder / "run.jsonl", "scratch": scratch, "suffix": suffix}
        return run([*(word.format(**paths) for word in VERBS[verb]), *flags(way)], checkout, scratch)


def cells(documents: int, took: Took) -> Iterator[str]:
    """The figures of a line."""
    yield f"{took.wall:,.1f}"
    yield f"{took.cpu:,.1f}"
    yield f"{documents / took.wall:,.0f}"
    yield f"{documents / took.cpu:,.0f}"
    for size in (took.seen.python, took.seen.java, took.seen.together):
        yield f"{size / 1e6:,.0f}" if size else "–"
    yield f"{took.load:.1f}"


HEAD = (
    *("verb", "documents", "way", "wall s", "CPU s", "documents/s", "documents/CPU s"),
    *("Python MB", "Java MB", "together MB", "load"),
)


def parse(given: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.scale", description=(__doc__ or "").split("\n")[0])
    add = parser.add_argument
    add("--sizes", nargs="+", type=int, default=SIZES, metavar="N", help="documents (20000 200000 1000000)")
    add("--verbs", nargs="+", choices=tuple(VERBS), default=USUAL, metavar="VERB", help="what to run (the first four)")
    add("--ways", nargs="+", default=WAYS, metavar="WAY", help="processes, or an engine (1 2 spark:local[2])")
    add("--folder", type=Path, default=Path(".benchmarks"), help="where corpora are kept (.benchmarks)")
    add("--checkout", type=Path, default=OWN, help="the checkout of karat to measure (this one)")
    add("--seed", type=int, default=0, metavar="N", help="seed of the corpora (0)")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> None:
    """Nothing; measures the verbs and prints their table."""
    options = parse(given)
    rows = []
    for documents in options.sizes:
        folder = (options.folder / f"{documents}-{options.seed}").resolve()
        make(folder, documents, options.seed, repeat=1)
        for verb in options.verbs:
            for way in options.ways:
                took = measured(verb, way, folder, options.checkout.resolve())
                rows.append([verb, f"{documents:,}", way, *cells(documents, took)])
                print(f"scale: {', '.join(f'{n} {c}' for n, c in zip(HEAD, rows[-1], strict=True))}", file=sys.stderr)
    print(table(list(HEAD), rows))
    print(
        "\nMB: the largest process of each kind; together: all processes, shared pages once. Load: before the command."
    )
    print(f"Python {platform.python_version()}, cores: {len(os.sched_getaffinity(0))}")


if __name__ == "__main__":
    main()
