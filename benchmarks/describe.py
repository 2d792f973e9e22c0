"""Seconds and peak memory of describing a made corpus, alone, with a run and with a training corpus; `score` beside it.

    python -m benchmarks.describe [--documents 20000] [--seed 0] [--repeat 1] [--corpus FILE --run FILE]

Each stage is a process of its own that reads the files, as the command does; importing karat is part of its seconds.
With --corpus and --run these files are described, and none are made. The training corpus is the corpus itself, so that
every document is found in it: the worst case.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.__main__ import Measured, Stage, made_stage, run_once


def stages(corpus: str, run: str) -> Iterator[Stage]:
    """Describing in three ways, and scoring."""
    described = "from karat.analyses.describe import describe; found = describe({}).texts.documents"
    yield Stage("describe", described.format("sys.argv[1]"), arguments=(corpus,))
    yield Stage("describe with a run", described.format("*sys.argv[1:]"), arguments=(corpus, run))
    yield Stage("describe --train", described.format("sys.argv[1], train=sys.argv[1]"), arguments=(corpus,))
    yield Stage(
        "score",
        "from karat.analyses.score import score; found = len(score(*sys.argv[1:]).ids)",
        arguments=(corpus, run),
    )


def best(stage: Stage, repeat: int) -> Measured:
    """The fastest of some runs."""
    return min((run_once(stage) for _ in range(repeat)), key=lambda took: took.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add: Any = parser.add_argument
    add("--documents", type=int, default=20_000)
    add("--seed", type=int, default=0)
    add("--repeat", type=int, default=1)
    add("--corpus")
    add("--run")
    given = parser.parse_args()
    if (given.corpus is None) != (given.run is None):
        parser.error("--corpus and --run go together")
    print(f"{'':<20}{'seconds':>10}{'peak MB':>12}{'documents':>14}", flush=True)
    with TemporaryDirectory() as folder:
        if given.corpus is None:
            run_once(made_stage(Path(folder), given.documents, given.seed))
        corpus, run = given.corpus or f"{folder}/corpus.jsonl", given.run or f"{folder}/run.jsonl"
        for stage in stages(corpus, run):
            took = best(stage, given.repeat)
            print(f"{stage.name:<20}{took.seconds:>10.2f}{took.peak / 1e6:>12,.0f}{took.found:>14,}", flush=True)
    print(f"karat on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
