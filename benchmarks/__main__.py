"""Seconds and peak memory of karat on a made corpus, from one command.

    python -m benchmarks [--documents 20000] [--seed 0] [-j N ...] [--folder DIR] [--repeat 3] [--peer]

Every stage runs in a process of its own, so that nothing is remembered when its clock starts and its peak
memory is its own. This process stays small and imports the standard library alone, because a process that is
started from a large one inherits that one's peak. Linux and macOS only, as the peaks come from getrusage.
"""

import argparse
import ast
import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

PEER_DOCUMENTS = 2000
STAMP = "made.json"  # beside the files of a made corpus: what they were made of, and their figures
FIGURES = ("documents", "tokens", "word_types", "references", "predictions")

# What a child runs. Its last act is to report; literals, as importing json would be part of what is measured.
PROGRAM = """
import sys
from time import perf_counter
report, found = sys.argv.pop(1), None
{setup}
start = perf_counter()
try:
    {work}
finally:
    seconds = perf_counter() - start
    loaded = "numpy" in sys.modules
    from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
    own, child = getrusage(RUSAGE_SELF).ru_maxrss, getrusage(RUSAGE_CHILDREN).ru_maxrss
    with open(report, "w") as file:
        file.write(repr(dict(seconds=seconds, own=own, child=child, loaded=loaded, found=found)))
"""
COMMAND = "from karat.cli import main; main()"


@dataclass(frozen=True, slots=True)
class Stage:
    """Something to measure: a program for a fresh process, and what its numbers stand for."""

    name: str
    work: str  # one line, timed; what it assigns to `found` comes back
    setup: str = ""  # one line, not timed
    arguments: tuple[str, ...] = ()
    documents: int | None = None  # how many it goes through; None where that means nothing
    whole: bool = False  # whether the seconds are those of the process from its start to its end
    jobs: int = 1  # processes that it starts, where more than one


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run of a stage took."""

    seconds: float
    peak: float  # bytes
    loaded: bool  # whether numpy was imported
    found: Any


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table; without a measurement the stage was skipped."""

    stage: Stage
    measured: Measured | None

    @property
    def rate(self) -> float | None:
        """Documents a second, where that means something."""
        if self.measured is None or self.stage.documents is None:
            return None
        return self.stage.documents / self.measured.seconds


# ---------------------------------------------------------------------------------------------- measuring


def measure(planned: Sequence[Stage], repeat: int) -> list[Measured]:
    """The fastest of some runs of each stage.

    All stages run once before any runs again, so that other work on the machine does not fall on one stage alone.
    """
    runs = [[_announced(stage, turn, repeat) for stage in planned] for turn in range(1, repeat + 1)]
    return [min(same, key=lambda measured: measured.seconds) for same in zip(*runs, strict=True)]


def _announced(stage: Stage, turn: int, repeat: int) -> Measured:
    count = f" ({turn} of {repeat})" if repeat > 1 else ""
    print(f"benchmarks: {stage.name}{count}", file=sys.stderr, flush=True)
    return run_once(stage)


def run_once(stage: Stage) -> Measured:
    """What one run of a stage took, in a process of its own; a stage that fails ends everything, in words."""
    program = PROGRAM.format(setup=stage.setup, work=stage.work)
    with TemporaryDirectory() as scratch:
        report = Path(scratch, "report")
        arguments = [argument.replace("{scratch}", scratch) for argument in stage.arguments]
        command = [sys.executable, "-c", program, str(report), *arguments]
        start = perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        wall = perf_counter() - start
        if done.returncode:
            raise SystemExit(f"benchmarks: {stage.name} failed (exit {done.returncode})\n{done.stderr.rstrip()}")
        told = ast.literal_eval(report.read_text())
    # Of its children a process knows the largest only, so all are taken to be as large.
    peak = told["own"] + (stage.jobs * told["child"] if stage.jobs > 1 else 0)
    unit = 1 if sys.platform == "darwin" else 1024
    return Measured(wall if stage.whole else told["seconds"], peak * unit, told["loaded"], told["found"])


# ---------------------------------------------------------------------------------------------- the corpus


def made_stage(folder: Path, documents: int, seed: int) -> Stage:
    """The stage that makes the corpus and finds its figures."""
    return Stage(
        "make",
        "made = write_corpus(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])); "
        f"found = {{name: getattr(made, name) for name in {FIGURES}}}",
        "from pathlib import Path; from benchmarks.made_corpus import write_corpus",
        (str(folder), str(documents), str(seed)),
        documents,
    )


def make(folder: Path, documents: int, seed: int, repeat: int) -> tuple[Line, dict[str, int]]:
    """The line of the stage `make`, empty if the folder holds this very corpus, and the corpus's figures."""
    stage, stamp = made_stage(folder, documents, seed), folder / STAMP
    maker = hashlib.sha256(Path(__file__).with_name("made_corpus.py").read_bytes()).hexdigest()[:16]
    origin = {"documents": documents, "seed": seed, "maker": maker}
    kept = json.loads(stamp.read_text()) if stamp.exists() else None
    if kept and kept["origin"] == origin and kept["sizes"] == _sizes(folder):
        return Line(stage, None), kept["figures"]
    if kept is None and any(size is not None for size in _sizes(folder)):
        raise SystemExit(f"benchmarks: {folder} holds a corpus that was not made here; give another --folder")
    folder.mkdir(parents=True, exist_ok=True)
    stamp.write_text("{}")  # what is half made is known as ours, and as not to be kept
    [measured] = measure([stage], repeat)
    stamp.write_text(json.dumps({"origin": origin, "sizes": _sizes(folder), "figures": measured.found}))
    return Line(stage, measured), measured.found


def _sizes(folder: Path) -> list[int | None]:
    paths = [folder / "corpus.jsonl", folder / "run.jsonl"]
    return [path.stat().st_size if path.exists() else None for path in paths]


# ---------------------------------------------------------------------------------------------- the stages


def stages(folder: Path, documents: int, jobs: Sequence[int]) -> list[Stage]:
    """All stages after `make`, in their order."""
    files = str(folder / "corpus.jsonl"), str(folder / "run.jsonl")
    steps = [
        Stage(name, f"{name}(*sys.argv[1:])", f"from benchmarks.stages import {name}", files, documents)
        for name in ("read", "join", "prepare", "align", "metrics")
    ]
    score = ("score", *files, "-f", "json", "-o", "{scratch}/scores.json")
    return [
        Stage("import", "import karat.analyses.score"),
        *steps,
        Stage("score", COMMAND, "", score, documents, whole=True),
        *(
            Stage(f"score -j {n}", COMMAND, "", (*score, "-j", str(n)), documents, whole=True, jobs=n)
            for n in dict.fromkeys(jobs)
        ),
    ]


def peer_stage(folder: Path, documents: int) -> Stage:
    """The stage that scores the first documents by plain loops."""
    count = min(documents, PEER_DOCUMENTS)
    return Stage(
        f"peer, {count:,} documents",
        "found = peer(sys.argv[1], sys.argv[2], int(sys.argv[3]))",
        "import nltk.stem.porter; from benchmarks.stages import peer",
        (str(folder / "corpus.jsonl"), str(folder / "run.jsonl"), str(count)),
        count,
    )


STARTUP = (
    Stage("karat --help", COMMAND, arguments=("--help",), whole=True),
    Stage("import karat", "import karat", whole=True),
)
# Also compiles what is not compiled yet, which would be the first stage's burden otherwise.
VERSIONS = Stage(
    "versions", "import karat.analyses.score, numpy; found = dict(karat=karat.__version__, numpy=numpy.__version__)"
)


# ---------------------------------------------------------------------------------------------- the table


def table(lines: Sequence[Line]) -> str:
    """The table of all stages."""
    head = f"{'stage':<24}{'seconds':>12}{'peak MB':>12}{'documents/s':>16}"
    return "\n".join([head, "-" * len(head), *map(_row, lines)])


def _row(line: Line) -> str:
    if line.measured is None:
        return f"{line.stage.name:<24}{'kept':>12}{'-':>12}{'-':>16}"
    rate = "-" if line.rate is None else f"{line.rate:,.0f}"
    seconds, peak = f"{line.measured.seconds:,.3f}", f"{line.measured.peak / 1e6:,.0f}"
    return f"{line.stage.name:<24}{seconds:>12}{peak:>12}{rate:>16}"


def ratios(lines: Sequence[Line]) -> list[str]:
    """How much quicker several processes are than one, and karat than plain loops."""
    rates = {line.stage.name: line.rate or 0.0 for line in lines}
    found = [
        f"seconds, score / {name}: {rate / rates['score']:.2f}"
        for name, rate in rates.items()
        if name.startswith("score -j")
    ]
    peers = [rate for name, rate in rates.items() if name.startswith("peer")]
    return found + [f"documents/s, score / peer: {rates['score'] / rate:,.1f}" for rate in peers]


def notes(lines: Sequence[Line], repeat: int) -> list[str]:
    """What one has to know to read the table."""
    best = f"the fastest of {repeat} runs" if repeat > 1 else "one run"
    said = [
        f"Each stage: {best}, in a fresh process.",
        "prepare, align and metrics are cumulative: each reads and joins, and does what",
        "the one before it does. Seconds are without start and imports; for score they",
        "are those of the whole command. MB with -j: the parent's and N times the",
        "largest worker's peak, shared pages counted in each.",
    ]
    if any(line.measured is None for line in lines):
        said.append("make: skipped, the corpus was kept: the folder holds this size and seed.")
    return said


def startup(lines: Sequence[Line]) -> list[str]:
    """What is said of the starts that must be quick and without numpy."""
    return [
        f"{line.stage.name}: {took.seconds:.3f} s, numpy {'imported' if took.loaded else 'not imported'}"
        for line in lines
        if (took := line.measured) is not None
    ]


def facts(figures: dict[str, int], versions: dict[str, str]) -> list[str]:
    """The corpus's figures, and what it was measured on."""
    counts = [f"{figures[name]:,} {name.replace('_', ' ')}" for name in FIGURES]
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    python = platform.python_version()
    return [
        f"corpus: {', '.join(counts[:3])},",
        f"        {', '.join(counts[3:])}",
        f"karat {versions['karat']}, Python {python}, numpy {versions['numpy']}, cores: {cores}",
    ]


# ---------------------------------------------------------------------------------------------- the command


def _from(least: int) -> Any:
    """A reader of whole numbers from `least` on."""

    def whole_number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} on")
        return int(text)

    return whole_number


def parse(given: Sequence[str] | None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser("python -m benchmarks", description="Seconds and peak memory of karat.")
    parser.add_argument("--documents", type=_from(1), default=20_000, help="size of the corpus (20000)")
    parser.add_argument("--seed", type=_from(0), default=0, help="seed of the corpus (0)")
    parser.add_argument("-j", dest="jobs", type=_from(1), nargs="+", default=[2], help="processes (2)")
    parser.add_argument("--folder", type=Path, help="where the corpus is kept (.benchmarks/DOCUMENTS-SEED)")
    parser.add_argument("--repeat", type=_from(1), default=3, help="runs of each stage, of which the best (3)")
    parser.add_argument("--peer", action="store_true", help="also time plain loops with NLTK's stemmer")
    arguments = parser.parse_args(given)
    if arguments.folder is None:
        arguments.folder = Path(".benchmarks", f"{arguments.documents}-{arguments.seed}")
    if arguments.peer and find_spec("nltk") is None:
        parser.error("--peer needs NLTK: pip install nltk")
    return arguments


def main(given: Sequence[str] | None = None) -> None:
    """Nothing; measures all stages and prints their table."""
    asked = parse(given)
    versions = run_once(VERSIONS).found
    made, figures = make(asked.folder, asked.documents, asked.seed, asked.repeat)
    planned = [*STARTUP, *stages(asked.folder, asked.documents, asked.jobs)]
    if asked.peer:
        planned.append(peer_stage(asked.folder, asked.documents))
    measured = list(map(Line, planned, measure(planned, asked.repeat)))
    starts, lines = measured[: len(STARTUP)], [made, *measured[len(STARTUP) :]]
    blocks = [
        notes(lines, asked.repeat),
        [table(lines)],
        ratios(lines),
        startup(starts),
        facts(figures, versions),
    ]
    print("\n\n".join("\n".join(block) for block in blocks))


if __name__ == "__main__":
    main()
