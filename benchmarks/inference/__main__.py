"""Run the calibration bench: `python -m benchmarks.inference --help`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import perf_counter

from benchmarks.inference.base import NO_BAR, Cell, failures, tables

MODULES = ("documents", "seeds", "pairs", "human", "calibration", "retrieval", "shares")
PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
START, END = "<!-- figures by python -m benchmarks.inference --write -->\n", "<!-- end of the figures -->"


def modules(names: Sequence[str] = MODULES) -> list[str]:
    """Return the names of the modules that exist."""
    return [name for name in names if Path(__file__).with_name(f"{name}.py").exists()]


def parts(module: str) -> list[str]:
    """Return the names of the functions of a module whose cells can be computed at the same time."""
    found = getattr(import_module(f"benchmarks.inference.{module}"), "PARTS", None)
    return ["cells"] if found is None else [part.__name__ for part in found]


def compute(module: str, part: str, trials: int, seed: int, quick: bool) -> list[Cell]:
    """Compute the cells of a part of a module, and show each row on the standard error output."""
    start, last, cells = perf_counter(), "", []
    for cell in getattr(import_module(f"benchmarks.inference.{module}"), part)(trials, seed, quick):
        cells.append(cell)
        if cell.row != last:
            _report(f"{module}: {cell.section}: {cell.row}")
        last = cell.row
    _report(f"{module}: {part}: {len(cells)} cells in {perf_counter() - start:.0f} s")
    return cells


def _report(message: str) -> None:
    print(f"benchmarks.inference: {message}", file=sys.stderr, flush=True)


def compute_all(names: Sequence[str], trials: int, seed: int, quick: bool, jobs: int) -> dict[str, list[Cell]]:
    """Compute the cells of modules, by module and in their order whatever the number of processes."""
    tasks = [(module, part) for module in names for part in parts(module)]
    cells: dict[str, list[Cell]] = {name: [] for name in names}
    if jobs == 1:
        results: Iterator[list[Cell]] = (compute(*task, trials, seed, quick) for task in tasks)
        for (module, _), own in zip(tasks, results, strict=True):
            cells[module] += own
        return cells
    with ProcessPoolExecutor(jobs) as pool:
        futures = [pool.submit(compute, *task, trials, seed, quick) for task in tasks]
        for (module, _), future in zip(tasks, futures, strict=True):
            cells[module] += future.result()
    return cells


def report(cells: dict[str, list[Cell]], trials: int, seed: int) -> str:
    """Return the Markdown text: the tables of each module, and the cells that fail."""
    blocks = [f"{trials:,} trials a cell unless a module has fewer, seed {seed}. Percentages; * marks cells that fail."]
    for module, own in cells.items():
        blocks += [f"### {module}", *tables(own)]
    lines = failures(cell for own in cells.values() for cell in own)
    count = sum(cell.bar != NO_BAR for own in cells.values() for cell in own)
    blocks += ["### Cells that fail", f"{len(lines):,} of {count:,} cells that have a bar."]
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


def write_page(text: str) -> None:
    """Replace the tables of docs/statistics.md."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    write_atomically(PAGE, f"{before}{START}\n{text}\n{END}{rest.partition(END)[2]}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inference", description=__doc__)
    parser.add_argument("--trials", type=int, default=2000, help="trials a cell (default: 2000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random numbers (default: 0)")
    parser.add_argument("--only", default=",".join(modules()), help="modules, separated by commas (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--quick", action="store_true", help="compute few cells, of synthetic data")
    parser.add_argument("-o", "--output", type=Path, help="write the tables to this file")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/statistics.md")
    options = parser.parse_args(arguments)
    names = options.only.split(",")
    for name in names:
        if name not in modules():
            parser.error(f"no module {name!r}: choose from {', '.join(modules())}")
    if options.trials < 1 or options.jobs < 1:
        parser.error("--trials and --jobs must be 1 or more")
    if options.write and not {START.strip(), END} <= set(PAGE.read_text(encoding="utf-8").splitlines()):
        parser.error(f"{PAGE} has no place for the tables")
    cells = compute_all(names, options.trials, options.seed, options.quick, options.jobs)
    text = report(cells, options.trials, options.seed)
    print(text, end="")
    if options.output is not None:
        write_atomically(options.output, text)
    if options.write:
        write_page(text)


if __name__ == "__main__":
    main()
