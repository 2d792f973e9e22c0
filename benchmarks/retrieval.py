"""Seconds and peak memory of searching a collection with the phrases of one system.

    python -m benchmarks.retrieval [--documents 20000] [--queries 250] [--words 60] [--seed 0] [--repeat 1]
    python -m benchmarks.retrieval --corpus FILE [--further FILE ...] --queries-file FILE --qrels FILE --run FILE

Each stage is a process of its own that reads the files, as the command does; importing karat is part of its seconds.
Queries are made of the words of documents, each of which is judged relevant to its own. `all` adds all phrases of the
references and of the run, `subsets` those of every subset, which is what the command does by default.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.__main__ import Measured, Stage, made_stage, run_once


def write_queries(folder: Path, corpus: str, count: int, words: int, seed: int) -> tuple[str, str]:
    """The paths of queries and judgements: some words of some documents, which these are to find."""
    draw = Random(seed)
    with open(corpus, encoding="utf-8") as file:
        documents = draw.sample([json.loads(line) for line in file], count)
    queries, qrels = folder / "queries.jsonl", folder / "qrels.txt"
    texts = [f"{each.get('title') or ''} {each.get('text') or ''}".split() for each in documents]
    asked = [{"id": f"q{n}", "text": " ".join(draw.choices(text or ["x"], k=words))} for n, text in enumerate(texts)]
    queries.write_text("".join(json.dumps(each) + "\n" for each in asked), encoding="utf-8")
    qrels.write_text("".join(f"q{n} 0 {each['id']} 1\n" for n, each in enumerate(documents)), encoding="utf-8")
    return str(queries), str(qrels)


def stages(corpus: str, further: list[str], queries: str, qrels: str, run: str) -> Iterator[Stage]:
    """The text alone, one system's phrases, and those of every subset."""
    call = "from karat import retrieval; found = retrieval(*sys.argv[1:{}], further=sys.argv[5:]{}).documents"
    paths = (corpus, queries, qrels, run, *further)
    yield Stage("text alone", call.format(4, ", subsets=['all']"), arguments=paths)
    yield Stage("all", call.format(5, ", subsets=['all']"), arguments=paths)
    yield Stage("subsets", call.format(5, ""), arguments=paths)


def best(stage: Stage, repeat: int) -> Measured:
    """The fastest of some runs."""
    return min((run_once(stage) for _ in range(repeat)), key=lambda took: took.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add: Any = parser.add_argument
    add("--documents", type=int, default=20_000)
    add("--queries", type=int, default=250)
    add("--words", type=int, default=60)
    add("--seed", type=int, default=0)
    add("--repeat", type=int, default=1)
    for name in ("--corpus", "--queries-file", "--qrels", "--run"):
        add(name)
    add("--further", nargs="*", default=[])
    given = parser.parse_args()
    files = (given.corpus, given.queries_file, given.qrels, given.run)
    if any(files) and not all(files):
        parser.error("--corpus, --queries-file, --qrels and --run go together")
    print(f"{'':<20}{'seconds':>10}{'peak MB':>12}{'documents':>14}", flush=True)
    with TemporaryDirectory() as folder:
        corpus, queries, qrels, run = files
        if corpus is None:
            run_once(made_stage(Path(folder), given.documents, given.seed))
            corpus, run = f"{folder}/corpus.jsonl", f"{folder}/run.jsonl"
            queries, qrels = write_queries(Path(folder), corpus, given.queries, given.words, given.seed)
        for stage in stages(corpus, given.further, queries, qrels, run):
            took = best(stage, given.repeat)
            print(f"{stage.name:<20}{took.seconds:>10.2f}{took.peak / 1e6:>12,.0f}{took.found:>14,}", flush=True)
    print(f"karat on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
