"""Run the calibration bench: `python -m benchmarks.inference --help`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import perf_counter

from benchmarks.inference.base import NO_BAR, Cell, failures, summary, tables

MODULES = ("documents", "seeds", "retrieval", "pairs", "human", "calibration", "shares", "ranks")
TITLES = {
    "documents": "Documents",
    "seeds": "Several seeds",
    "retrieval": "Retrieval",
    "pairs": "Pairs of documents",
    "human": "Correlations and agreement",
    "calibration": "Calibration errors",
    "shares": "Shares",
    "ranks": "Ranks over corpora",
}
DOCS = Path(__file__).parents[2] / "docs"
PAGE, ALL = DOCS / "statistics.md", DOCS / "error-rates.md"
START, END = "<!-- figures by python -m benchmarks.inference --write -->\n", "<!-- end of the figures -->"


def parts(module: str) -> list[str]:
    """Return the names of the functions of a module whose cells can be computed at the same time."""
    found = getattr(import_module(f"benchmarks.inference.{module}"), "PARTS", None)
    return ["cells"] if found is None else [part.__name__ for part in found]


def compute(module: str, part: str, trials: int, seed: int, quick: bool, keep: Path | None = None) -> list[Cell]:
    """Compute the cells of a part of a module, and show each row on the standard error output.

    In the folder `keep` are the cells of parts that are finished, so that an interrupted bench goes on.
    """
    kept = None if keep is None else keep / f"{module}.{part}.{trials}.{seed}{'.quick' if quick else ''}.json"
    if kept is not None and kept.exists():
        return [Cell(**(cell | {"bar": tuple(cell["bar"])})) for cell in json.loads(kept.read_text(encoding="utf-8"))]
    start, last, cells = perf_counter(), "", []
    for cell in getattr(import_module(f"benchmarks.inference.{module}"), part)(trials, seed, quick):
        cells.append(cell)
        if cell.row != last:
            _report(f"{module}: {cell.section}: {cell.row}")
        last = cell.row
    _report(f"{module}: {part}: {len(cells)} cells in {perf_counter() - start:.0f} s")
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, json.dumps([asdict(cell) | {"rate": float(cell.rate)} for cell in cells]))
    return cells


def _report(message: str) -> None:
    print(f"benchmarks.inference: {message}", file=sys.stderr, flush=True)


def compute_all(
    names: Sequence[str], trials: int, seed: int, quick: bool, jobs: int, keep: Path | None = None
) -> dict[str, list[Cell]]:
    """Compute the cells of modules, by module and in their order whatever the number of processes."""
    tasks = [(module, part) for module in names for part in parts(module)]
    cells: dict[str, list[Cell]] = {name: [] for name in names}
    if jobs == 1:
        results: Iterator[list[Cell]] = (compute(*task, trials, seed, quick, keep) for task in tasks)
        for (module, _), own in zip(tasks, results, strict=True):
            cells[module] += own
        return cells
    with ProcessPoolExecutor(jobs) as pool:
        futures = [pool.submit(compute, *task, trials, seed, quick, keep) for task in tasks]
        for (module, _), future in zip(tasks, futures, strict=True):
            cells[module] += future.result()
    return cells


def report(cells: dict[str, list[Cell]], trials: int, seed: int, complete: bool = True) -> str:
    """Return the Markdown text: the tables of each module and the cells that fail, or the range of each table."""
    shown = "* marks cells that fail" if complete else "lowest and highest cell, in brackets how many fail"
    blocks = [f"{trials:,} trials a cell unless a table has fewer, seed {seed}. Percentages; {shown}."]
    level = "##" if complete else "###"
    for module, own in cells.items():
        blocks += [f"{level} {TITLES[module]}", *(tables(own) if complete else summary(own))]
    if not complete:
        return "\n\n".join(blocks) + "\n"
    lines = failures(cell for own in cells.values() for cell in own)
    count = sum(cell.bar != NO_BAR for own in cells.values() for cell in own)
    blocks += ["## Cells that fail", f"{len(lines):,} of {count:,} cells that have a bar."]
    return "\n\n".join([*blocks, *(["\n".join(f"* {line}" for line in lines)] if lines else [])]) + "\n"


def write_atomically(path: Path, text: str) -> None:
    """Write a file beside its place, and move it there."""
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=path.name, delete=False) as file:
        file.write(text)
    Path(file.name).chmod(0o666 & ~_umask())
    os.replace(file.name, path)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_page(page: Path, text: str) -> None:
    """Replace the tables of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    write_atomically(page, f"{before}{START}\n{text}\n{END}{rest.partition(END)[2]}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inference", description=__doc__)
    parser.add_argument("--trials", type=int, default=2000, help="trials a cell (default: 2000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random numbers (default: 0)")
    parser.add_argument("--only", default=",".join(MODULES), help="modules, separated by commas (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--quick", action="store_true", help="compute few cells, of synthetic data")
    parser.add_argument("-o", "--output", type=Path, help="write the tables to this file")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep finished parts there, and go on with them")
    parser.add_argument(
        "--write", action="store_true", help="write the tables into docs/error-rates.md and docs/statistics.md"
    )
    options = parser.parse_args(arguments)
    names = options.only.split(",")
    for name in names:
        if name not in MODULES:
            parser.error(f"no module {name!r}: choose from {', '.join(MODULES)}")
    if options.trials < 1 or options.jobs < 1:
        parser.error("--trials and --jobs must be 1 or more")
    for page in (PAGE, ALL) if options.write else ():
        if not {START.strip(), END} <= set(page.read_text(encoding="utf-8").splitlines()):
            parser.error(f"{page} has no place for the tables")
    cells = compute_all(names, options.trials, options.seed, options.quick, options.jobs, options.keep)
    text = report(cells, options.trials, options.seed)
    print(text, end="")
    if options.output is not None:
        write_atomically(options.output, text)
    if options.write:
        write_page(ALL, text)
        write_page(PAGE, report(cells, options.trials, options.seed, complete=False))


if __name__ == "__main__":
    main()
