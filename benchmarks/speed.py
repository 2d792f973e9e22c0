"""CPU seconds, wall seconds and peak memory of karat's commands on made corpora, and of two checkouts side by side.

    python -m benchmarks.speed [--checkout CHECKOUT] [--against CHECKOUT] [--lines NAME ...] [--documents N]

A line of the table is one command, run as `python -m karat ...` in a fresh process, so that the same lines can be
measured in any checkout: `--checkout` names one instead of this, `--against` another one whose figures are printed as
"before". CPU seconds are those of the process and of all processes that it started; megabytes are those of the largest
of these processes. Every command first runs on a small corpus, unmeasured, so that compiling modules is not measured.

This process imports the standard library alone, because a process that is started from a large one inherits that
one's peak. Linux and macOS only, as the figures come from wait4.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from time import perf_counter

from benchmarks.__main__ import STAMP, make
from benchmarks.tables import table

OWN = Path(__file__).resolve().parent.parent
SUBSETS = ("all", "present", "absent")
CUTOFFS = ("5", "10", "M")
SMALL = 20  # documents of the corpus on which commands run unmeasured
KEPT = 0.8  # share of the predictions of the first system that another one keeps


# ---------------------------------------------------------------------------------------------- the lines


@dataclass(frozen=True, slots=True)
class Line:
    """A command to measure, in whose arguments {corpus}, {run1} to {run3} and {scratch} stand for paths."""

    name: str
    about: str
    command: tuple[str, ...]
    documents: int = 20_000
    before: tuple[tuple[str, ...], ...] = ()  # commands that run first, unmeasured


def _score(metrics: Sequence[str], *options: str) -> tuple[str, ...]:
    """The command that scores the first system by the metrics, at all cutoffs and for all subsets."""
    names = (f"{name}@{cutoff}:{subset}" for subset in SUBSETS for cutoff in CUTOFFS for name in metrics)
    return ("score", "{corpus}", "{run1}", *(word for name in names for word in ("-m", name)), *options)


EXACT = ("p", "r", "f1")
RANKING = (*EXACT, "map", "ndcg", "alpha_ndcg")
SCORES = tuple(
    ("score", "{corpus}", f"{{run{n}}}", "-m", "f1@M:present", "-o", f"{{scratch}}/{n}.karat") for n in (1, 2)
)
LINES = (
    Line("exact", "P, R, F1 @5, 10, M, all/present/absent, -j 1", _score(EXACT, "-j", "1")),
    Line("exact-default", "the same on as many processes as the command takes by itself", _score(EXACT)),
    Line("ranking", "the same and MAP, NDCG, alpha-NDCG, -j 1", _score(RANKING, "-j", "1"), 4_000),
    Line("ranking-default", "the same on as many processes as the command takes", _score(RANKING), 4_000),
    Line("one-document", "karat score with its default metrics", ("score", "{corpus}", "{run1}"), 1),
    Line("audit", "karat audit with its defaults, -j 1", ("audit", "{corpus}", "{run1}", "-j", "1")),
    Line(
        "report",
        "karat report of three systems, -j 2",
        ("report", "{corpus}", "{run1}", "{run2}", "{run3}", "-j", "2", "-o", "{scratch}/page.html"),
    ),
    Line("describe", "karat describe of the corpus, -j 1", ("describe", "{corpus}", "-j", "1")),
    Line(
        "compare",
        "bootstrap and permutation of two systems, 10,000 resamples, scores given",
        ("compare", "{scratch}/1.karat", "{scratch}/2.karat", "--resamples", "10000", "-j", "1"),
        before=SCORES,
    ),
)
NAMES = tuple(line.name for line in LINES)


# ---------------------------------------------------------------------------------------------- corpora and systems


def made_folder(kept: Path, documents: int, seed: int) -> Path:
    """The folder of a made corpus with the runs of three systems; what is there from before is kept."""
    folder = (kept / f"{documents}-{seed}").resolve()
    make(folder, documents, seed, repeat=1)
    for number in (2, 3):
        path = folder / f"run{number}.jsonl"
        if not path.exists() or path.stat().st_mtime_ns < (folder / STAMP).stat().st_mtime_ns:
            write_system(folder, path, seed + number)
    return folder


def write_system(folder: Path, path: Path, seed: int) -> None:
    """Nothing; writes the run of another system, which is like the first but misses and finds other references."""
    chance = random.Random(seed)
    partial = path.with_suffix(".partial")
    with (
        (folder / "corpus.jsonl").open(encoding="utf-8") as corpus,
        (folder / "run.jsonl").open(encoding="utf-8") as run,
        partial.open("w", encoding="utf-8") as file,
    ):
        for document, predicted in zip(map(json.loads, corpus), map(json.loads, run), strict=True):
            phrases = [phrase for phrase in predicted["keyphrases"] if chance.random() < KEPT]
            for phrase in [phrase.lower() for phrase in document["keyphrases"] if chance.random() < 1 - KEPT]:
                phrases.insert(chance.randint(0, len(phrases)), phrase)
            file.write(json.dumps({"id": predicted["id"], "keyphrases": phrases}) + "\n")
    os.replace(partial, path)


# ---------------------------------------------------------------------------------------------- measuring


@dataclass(frozen=True, slots=True)
class Took:
    """What one command took."""

    cpu: float  # seconds of all processes, of user and system
    wall: float  # seconds from start to end
    peak: float  # megabytes of the largest process


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checkout of karat, and where the compiled modules of its processes are kept."""

    root: Path
    compiled: Path

    def run(self, arguments: Sequence[str], scratch: Path) -> Took:
        """What `python -m karat` with the arguments took; a command that fails ends everything, in words."""
        command = [sys.executable, "-m", "karat", *arguments]
        with TemporaryFile("w+") as errors:
            start = perf_counter()
            process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=errors, cwd=scratch, env=self._environment()
            )
            _, status, used = os.wait4(process.pid, 0)
            wall = perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                shown = " ".join(command[1:])
                raise SystemExit(f"speed: {shown} failed in {self.root} (exit {process.returncode})\n{errors.read()}")
        unit = 1 if sys.platform == "darwin" else 1024
        return Took(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * unit / 1e6)

    def version(self) -> str:
        """Which karat the processes of this checkout import; none but its own will do."""
        program = "import karat; print(karat.__file__); print(karat.__version__)"
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=self._environment(),
            cwd=self.compiled.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"speed: karat of {self.root} cannot be imported\n{done.stderr}")
        file, version = done.stdout.splitlines()
        if not Path(file).resolve().is_relative_to(self.root):
            raise SystemExit(f"speed: processes of {self.root} import another karat, {file}")
        return version

    def _environment(self) -> dict[str, str]:
        unset = ("PYTHONDONTWRITEBYTECODE", "PYTHONPROFILEIMPORTTIME", "PYTHONHOME")
        kept = {name: value for name, value in os.environ.items() if name not in unset}
        return kept | {"PYTHONPATH": str(self.root / "src"), "PYTHONPYCACHEPREFIX": str(self.compiled)}


def measured(line: Line, checkout: Checkout, folder: Path) -> Took:
    """What a line's command took on the corpus of a folder."""
    with TemporaryDirectory() as scratch:
        paths = {"corpus": folder / "corpus.jsonl", "run1": folder / "run.jsonl", "scratch": scratch}
        paths |= {f"run{number}": folder / f"run{number}.jsonl" for number in (2, 3)}
        for command in line.before:
            checkout.run([word.format(**paths) for word in command], Path(scratch))
        return checkout.run([word.format(**paths) for word in line.command], Path(scratch))


def least(line: Line, checkouts: Sequence[Checkout], folder: Path, repeat: int) -> list[Took]:
    """What a line takes in each checkout: each figure is the least of some runs, which alternate between checkouts."""
    runs: list[list[Took]] = [[] for _ in checkouts]
    for _ in range(repeat):
        for checkout, took in zip(checkouts, runs, strict=True):
            took.append(measured(line, checkout, folder))
            _log(f"{line.name} in {checkout.root}: {_summary(took[-1])}")
    return [Took(*(min(getattr(t, name) for t in same) for name in ("cpu", "wall", "peak"))) for same in runs]


def figures(line: Line, checkouts: Sequence[Checkout], options: argparse.Namespace) -> list[str]:
    """The cells of a line, after its command has run on a small corpus in each checkout."""
    documents = 1 if line.documents == 1 else options.documents or line.documents
    small, folder = (made_folder(options.folder, n, options.seed) for n in (SMALL, documents))
    for checkout in checkouts:
        measured(line, checkout, small)
    return [f"{documents:,}", *cells(least(line, checkouts, folder, options.repeat))]


def _summary(took: Took) -> str:
    return f"{took.cpu:.2f} s CPU, {took.wall:.2f} s wall, {took.peak:.0f} MB"


def _log(text: str) -> None:
    print(f"speed: {text}", file=sys.stderr, flush=True)


# ---------------------------------------------------------------------------------------------- the table


def cells(took: Sequence[Took]) -> Iterator[str]:
    """The figures of a line; with another checkout's before them and the ratio after / before behind them."""
    for name, digits in (("cpu", 2), ("wall", 2), ("peak", 0)):
        values = [getattr(each, name) for each in took]
        yield from (f"{value:,.{digits}f}" for value in values)
        if len(values) > 1:
            yield f"{values[-1] / values[0]:.2f}"


def head(checkouts: int) -> list[str]:
    """The names of the columns."""
    figures = ("CPU s", "wall s", "MB")
    if checkouts == 1:
        return ["line", "documents", *figures]
    return ["line", "documents", *(name for f in figures for name in (f"{f}: before", "after", "ratio"))]


def notes(lines: Sequence[Line], repeat: int) -> list[str]:
    """What the lines stand for, and how they were measured."""
    width = max(len(line.name) for line in lines)
    best = f"the least of {repeat} runs" if repeat > 1 else "one run"
    return [
        *(f"{line.name:<{width}}  {line.about}" for line in lines),
        "",
        f"Each figure: {best} of the whole command in a fresh process. CPU: user and system, of all",
        "processes that the command starts. MB: the peak of the largest of them. Ratio: after / before.",
    ]


# ---------------------------------------------------------------------------------------------- the command


def _from(least: int, text: str) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} on")
    return int(text)


def _checkout(text: str) -> Path:
    root = Path(text).resolve()
    if not (root / "src" / "karat").is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no checkout of karat: it has no folder src/karat")
    return root


def parse(given: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    lines = "\n".join(f"  {line.name:<16}{line.about}, {line.documents:,} documents" for line in LINES)
    parser = argparse.ArgumentParser(
        "python -m benchmarks.speed",
        description="CPU seconds, wall seconds and peak memory of karat's commands on made corpora.",
        epilog=f"lines:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--checkout", type=_checkout, default=OWN, metavar="CHECKOUT", help="the checkout to measure (this one)")
    add("--against", type=_checkout, metavar="CHECKOUT", help="another checkout of karat, to print as `before`")
    add("--lines", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help="the lines to measure (all)")
    add("--documents", type=lambda text: _from(1, text), metavar="N", help="documents of every line (its own number)")
    add("--seed", type=lambda text: _from(0, text), default=0, metavar="N", help="seed of the corpora (0)")
    add("--folder", type=Path, default=Path(".benchmarks"), help="where corpora are kept (.benchmarks)")
    add("--repeat", type=lambda text: _from(1, text), default=1, metavar="N", help="runs, of which the least (1)")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> None:
    """Nothing; measures the lines and prints their table."""
    options = parse(given)
    lines = [line for line in LINES if line.name in options.lines]
    roots = [options.against, options.checkout] if options.against else [options.checkout]
    with TemporaryDirectory() as folder:
        checkouts = [Checkout(root, Path(folder, f"compiled{n}")) for n, root in enumerate(roots)]
        versions = [checkout.version() for checkout in checkouts]
        rows = [[line.name, *figures(line, checkouts, options)] for line in lines]
    print("\n".join(notes(lines, options.repeat)), table(head(len(roots)), rows), sep="\n\n", end="\n\n")
    names = ("before", "after") if len(roots) > 1 else ("measured",)
    for name, root, version in zip(names, roots, versions, strict=True):
        print(f"{name}: karat {version} in {root}")
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    print(f"Python {platform.python_version()}, cores: {cores}")


if __name__ == "__main__":
    main()
