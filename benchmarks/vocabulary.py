"""CPU seconds and peak memory of vocabularies: reading a thesaurus, mapping a run, scoring concepts.

    python -m benchmarks.vocabulary [--documents 20000] [--concepts 10000] [--similar 0.9] [--seed 0] [--folder DIR]

A made corpus and its run, and a thesaurus whose labels are the corpus's most frequent references. Each stage runs in a
process of its own on one core; those that map and score read the thesaurus, too.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.__main__ import Stage, run_once
from benchmarks.made_corpus import write_corpus
from benchmarks.made_thesaurus import made_thesaurus
from karat.formats.vocabulary import write_vocabulary

SETUP = "import karat; from time import process_time; begun = process_time()"
WORK = "what = {}; found = (process_time() - begun, what)"


def stages(folder: Path, similar: float) -> Iterator[Stage]:
    """Reading, mapping and scoring."""
    arguments = tuple(str(folder / name) for name in ("corpus.jsonl", "run.jsonl", "thesaurus.ttl"))
    corpus, run, file = (f"sys.argv[{n}]" for n in (1, 2, 3))
    mapped = "sum(each.count for each in karat.map_concepts({}, vocabulary={}).phrases if each.found.how)"
    works = {
        "read": f"len(karat.read_vocabulary({file}))",
        "map": mapped.format(run, file),
        f"map similar={similar:g}": mapped.format(run, f'{file} + ",similar={similar}"'),
        "score f1 hier_f": f"len(karat.score({corpus}, {run}, vocabulary={file}, metrics=['f1@5', 'hier_f@5']).ids)",
        "score f1, strings": f"len(karat.score({corpus}, {run}, metrics=['f1@5']).ids)",
        "concepts": f"len(karat.concepts({corpus}, {run}, vocabulary={file}).rows())",
    }
    for name, work in works.items():
        yield Stage(name, WORK.format(work), SETUP, arguments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add: Any = parser.add_argument
    add("--documents", type=int, default=20_000)
    add("--concepts", type=int, default=10_000)
    add("--similar", type=float, default=0.9)
    add("--seed", type=int, default=0)
    add("--folder", type=Path)
    given = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        made = write_corpus(folder, given.documents, given.seed)
        thesaurus = made_thesaurus(given.concepts, given.seed, made.corpus)
        write_vocabulary(thesaurus, folder / "thesaurus.ttl")
        size = f"{len(thesaurus):,} concepts, {sum(thesaurus.languages.values()):,} labels"
        print(f"{made.documents:,} documents, {made.predictions:,} phrases, {size}")
        print(f"{'':<20}{'CPU seconds':>12}{'peak MB':>10}{'found':>12}", flush=True)
        for stage in stages(folder, given.similar):
            took = run_once(stage)
            seconds, what = took.found
            print(f"{stage.name:<20}{seconds:>12.2f}{took.peak / 1e6:>10,.0f}{what:>12,}", flush=True)
    print(f"karat on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
