"""Seconds and peak memory of mining pairs of alike documents from made references.

    python -m benchmarks.pairs [--documents 20000 1000000] [--min 0.5] [--measure jaccard] [--types 2.8] [--common 0.01]
                               [--seed 0] [--repeat 1]

Documents have 1 to 15 references, 5.3 on average. One reference is given to a share of all documents (`--common`), the
others are drawn from as many types as `--types` times the documents, the n-th in proportion to 1 / (n + 20), so that
about two fifths of the drawn types are in more than one document. `join` goes from sets of numbers to pairs, `mine`
from a file of JSON lines to pairs. Each runs in a process of its own; that of `join` also makes the references, which
is part of its peak but not of its seconds.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.__main__ import Measured, Stage, run_once

MEAN, MOST = 4.3, 15
HEAD = 20  # how far the frequencies of the first types are evened out

Ints = NDArray[np.int64]


def made(documents: int, types: float, common: float, seed: int) -> tuple[Ints, Ints]:
    """(document, reference by number) of made references; number 0 is the common one."""
    draw = np.random.default_rng(seed)
    sizes = np.minimum(draw.poisson(MEAN, documents) + 1, MOST)
    share = np.cumsum(1 / (np.arange(int(types * documents)) + HEAD))
    drawn = np.searchsorted(share, draw.random(int(sizes.sum())) * share[-1]) + 1
    first = np.cumsum(sizes) - sizes
    drawn[first[draw.random(documents) < common]] = 0
    return np.repeat(np.arange(documents), sizes), drawn


def write(path: str, document: Ints, item: Ints) -> None:
    """The references as a corpus in JSON lines."""
    ends = np.flatnonzero(np.append(np.diff(document), 1)) + 1
    numbers, start = item.tolist(), 0
    with open(path, "w") as file:
        for n, end in enumerate(ends.tolist()):
            phrases = ", ".join(f'"phrase {number:07d}"' for number in numbers[start:end])
            file.write(f'{{"id": "d{n:07d}", "keyphrases": [{phrases}]}}\n')
            start = end


def stages(documents: int, given: argparse.Namespace, folder: Path) -> Iterator[Stage]:
    """Making the references, the join alone, and all of mining."""
    path = str(folder / f"{documents}.jsonl")
    numbers = f"{documents}, {given.types}, {given.common}, {given.seed}"
    setup = "from benchmarks.pairs import made, write"
    yield Stage(f"make {documents:,}", f"write(sys.argv[1], *made({numbers})); found = 0", setup, (path,))
    asked = f"{given.min}, {given.measure!r}"
    yield Stage(
        f"join {documents:,}",
        f"alike = join(Sets.of(*columns, {documents}), {asked}); found = len(alike.a)",
        f"from benchmarks.pairs import made; from karat.pairs.sets import Sets, join; columns = made({numbers})",
    )
    yield Stage(
        f"mine {documents:,}",
        f"found = len(mine_pairs(sys.argv[1], min={given.min}, measure={given.measure!r}))",
        "from karat.pairs.mine import mine_pairs",
        (path,),
    )


def line(stage: Stage, took: Measured) -> str:
    return f"{stage.name:<20}{took.seconds:>10.2f}{took.peak / 1e6:>12,.0f}{took.found:>14,}"


def best(stage: Stage, repeat: int) -> Measured:
    """The fastest of some runs."""
    return min((run_once(stage) for _ in range(repeat)), key=lambda took: took.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add: Any = parser.add_argument
    add("--documents", type=int, nargs="+", default=[20_000, 1_000_000])
    add("--min", type=float, default=0.5)
    add("--measure", choices=["jaccard", "max"], default="jaccard")
    add("--types", type=float, default=2.8)
    add("--common", type=float, default=0.01)
    add("--seed", type=int, default=0)
    add("--repeat", type=int, default=1)
    given = parser.parse_args()
    print(f"{'':<20}{'seconds':>10}{'peak MB':>12}{'pairs':>14}", flush=True)
    with TemporaryDirectory() as folder:
        for documents in given.documents:
            for stage in stages(documents, given, Path(folder)):
                print(line(stage, best(stage, given.repeat)), flush=True)
    print(f"karat on Python {sys.version.split()[0]}, numpy {np.__version__}")


if __name__ == "__main__":
    main()
