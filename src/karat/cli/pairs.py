"""karat pairs mine: pairs of documents that are alike."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb, verbs
from karat.cli.shared import Files, check_file, corpus_argument, echo_notes, quiet_option, reading_flags, write_out

MINE_EPILOG = """\b
Examples:
  karat pairs mine corpus.jsonl -o pairs.jsonl
  karat pairs mine corpus.jsonl --min 0.2 --stem --text-max 0.5 -o pairs.csv
  karat pairs mine corpus.jsonl --measure max --min 0.6 --nearest 5
  karat pairs mine corpus.jsonl --by embedding --model models/scibert \\
      --min 0.8 --nearest 3 -o pairs.jsonl

A line is {"a": "d1", "b": "d7", "jaccard": 0.5}, what `karat homogeneity`
reads.
"""


pairs_out_option = click.option(
    "--pairs-out",
    metavar="FILE",
    help="Write what each system has on each pair: .jsonl, .csv, .tsv or .parquet.",
    shell_complete=completion.new_paths,
)


@click.group("pairs", commands=verbs())
def pairs_group() -> None:
    """Work on pairs of alike documents."""


@verb("mine_pairs", name="mine", epilog=MINE_EPILOG)
@corpus_argument
@reading_flags
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE: .jsonl, .csv, .tsv or .parquet (default JSON lines to standard output).",
    shell_complete=completion.new_paths,
)
@quiet_option
def mine(corpus: str, output: str | None, quiet: bool, **options: Any) -> None:
    """Find pairs of documents that are alike.

    By default those that share half of their references or more: lower-cased
    sets in which a repeat counts once. Documents without references are left
    out and counted. The search is exact.
    """
    check_file(output)
    files = Files.of(options)
    documents = files.corpus(corpus)
    files.check()
    with files.work(options, quiet) as chosen:
        found = karat.mine_pairs(documents, **chosen)
    if output is not None:
        found.save(output)
    else:
        import msgspec

        encode = msgspec.json.Encoder().encode
        for row in found:
            write_out(encode(row).decode() + "\n")
    if not quiet:
        echo_notes(found.notes)


pairs_group.add_command(mine)
