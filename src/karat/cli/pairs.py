"""karat pairs mine: pairs of documents that are alike."""

from __future__ import annotations

import sys
from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import Files, check_file, corpus_argument, fields_option, from_option, progress, quiet_option

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


@click.group("pairs")
def pairs_group() -> None:
    """Work on pairs of alike documents."""


@pairs_group.command("mine", epilog=MINE_EPILOG)
@corpus_argument
@click.option(
    "--by",
    type=click.Choice(["references", "text", "embedding"]),
    default="references",
    help="What is compared: references, the words of the texts, or vectors of them (default references).",
)
@click.option("--min", type=float, default=0.5, metavar="T", help="The lowest score of a pair (default 0.5).")
@click.option(
    "--measure",
    type=click.Choice(["jaccard", "max"]),
    default="jaccard",
    help="What is shared over the union, or over the larger of both sets (default jaccard).",
)
@click.option("--stem", is_flag=True, help="Compare Porter stems, not lower-cased words.")
@click.option(
    "--identical",
    type=click.Choice(["keep", "drop"]),
    default="drop",
    help="Pairs of documents that have the very same set, or text (default drop).",
)
@click.option(
    "--text-max",
    type=float,
    metavar="T",
    help="Leave out pairs whose texts are alike: a Jaccard index of their words above T.",
)
@click.option(
    "--nearest",
    type=click.IntRange(1),
    metavar="N",
    help="Only pairs that are among the N best of one of their documents.",
)
@click.option(
    "--model",
    default="hash",
    metavar="NAME",
    help="Embedder of --by embedding: hash, vectors:PATH or an encoder's directory (default hash).",
)
@click.option("--references", metavar="NAME", help="Compare a named reference set.")
@click.option(
    "--language",
    metavar="LANGUAGE",
    help="Stem with Snowball for this language, as french.",
    shell_complete=completion.languages,
)
@from_option
@fields_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE: .jsonl, .csv, .tsv or .parquet (default JSON lines to standard output).",
    shell_complete=completion.paths,
)
@quiet_option
def mine(corpus: str, output: str | None, quiet: bool, **options: Any) -> None:
    """Find pairs of documents that are alike.

    By default those that share half of their references or more: lower-cased
    sets in which a repeat counts once. Documents without references are left
    out and counted. The search is exact.
    """
    check_file(output)
    from karat.pairs.mine import mine_pairs

    files = Files.of(options)
    documents = files.corpus(corpus)
    files.check()
    with progress(quiet) as done:
        found = mine_pairs(documents, progress=done, **options)
    if output is not None:
        found.save(output)
    else:
        import msgspec

        encode = msgspec.json.Encoder().encode
        sys.stdout.buffer.writelines(encode(row) + b"\n" for row in found)
        sys.stdout.buffer.flush()
    if not quiet:
        for note in found.notes:
            click.echo(f"note: {note}", err=True)
