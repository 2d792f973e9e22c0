"""karat retrieval: what keyphrases do for search."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.shared import Files, Output, claim, corpus_argument, output_flags, reading_flags

EPILOG = """\b
Examples:
  karat retrieval corpus.jsonl queries.jsonl qrels.txt t5.jsonl one2set.jsonl
  karat retrieval judged.jsonl queries.tsv qrels.txt t5.jsonl \\
      --further train.jsonl --further test.jsonl --subset all --subset absent
  karat retrieval corpus.jsonl queries.jsonl qrels.txt t5.jsonl \\
      -m nDCG@10 -m R@1000 --weight 2 --k1 1.2 --b .75 -f latex
  karat retrieval corpus.jsonl queries.jsonl qrels.txt t5.jsonl \\
      --language french --baseline references --rankings trec
  karat retrieval corpus.jsonl queries.jsonl qrels.txt --trec other.trec

\b
QUERIES is JSON lines, CSV or TSV:   {"id": "q1", "text": "neural nets"}
QRELS is TREC's, or BEIR's TSV:      q1 0 d7 1
"""


@verb("retrieval", epilog=EPILOG)
@corpus_argument
@click.argument("queries", shell_complete=completion.paths)
@click.argument("qrels", shell_complete=completion.paths)
@click.argument("runs", nargs=-1, metavar="[RUN]...", shell_complete=completion.paths)
@click.option(
    "--further",
    multiple=True,
    metavar="CORPUS",
    help="Further documents of the collection (repeatable); no two may have one id.",
    shell_complete=completion.paths,
)
@click.option(
    "--trec",
    multiple=True,
    metavar="FILE",
    help="A TREC run of another engine to measure and compare, FILE or NAME=FILE (repeatable).",
    shell_complete=completion.paths,
)
@click.option(
    "--rankings",
    metavar="FOLDER",
    help="Write all rankings, the judgements and the queries as TREC files to a new FOLDER.",
    shell_complete=completion.new_paths,
)
@reading_flags
@output_flags
def retrieval(
    corpus: str,
    queries: str,
    qrels: str,
    runs: tuple[str, ...],
    further: tuple[str, ...],
    trec: tuple[str, ...],
    rankings: str | None,
    **options: Any,
) -> None:
    """Measure what keyphrases do for search.

    Documents are ranked for queries by BM25, on title and text alone and with
    each system's phrases added: all of them, the present, the absent, and
    those of each class of PRMU; likewise with the references. Rankings are
    measured by nDCG, recall, MAP and MRR, and compared query by query.
    """
    output, files = Output.of(options), Files.of(options)
    if rankings is not None:
        claim(rankings)
    documents, systems = files.corpus(corpus), list(map(files.run, runs))
    others = list(map(files.corpus, further))
    files.check()
    with files.work(options, output.quiet) as chosen:
        found = karat.retrieval(
            documents,
            queries,
            qrels,
            *systems,
            further=others,
            rankings=_named(trec),
            keep=rankings is not None,
            **chosen,
        )
    if rankings is not None:
        found.save_files(rankings)
    output.deliver(found)


def _named(paths: tuple[str, ...]) -> dict[str, str]:
    """TREC runs by name. Raises InputError if two have one name."""
    from karat.errors import InputError
    from karat.formats import split_name

    found: dict[str, str] = {}
    for path in paths:
        name, where = split_name(path)
        if name in found:
            raise InputError(f"two rankings are named {name!r} ({found[name]}, {where}); name them: NAME={where}")
        found[name] = where
    return found
