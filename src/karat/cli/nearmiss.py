"""karat nearmiss: what runs almost got, and of which kind it is."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.shared import (
    Files,
    Output,
    check_file,
    corpus_argument,
    output_flags,
    reading_flags,
    runs_argument,
)

EPILOG = """\b
Examples:
  karat nearmiss corpus.jsonl t5.jsonl
  karat nearmiss corpus.jsonl t5.jsonl one2set.jsonl --subset absent -f md
  karat nearmiss corpus.jsonl t5.jsonl --score kmr --threshold 0.4
  karat nearmiss corpus.jsonl t5.jsonl --every --all-pairs pairs.jsonl
  karat nearmiss corpus.jsonl t5.jsonl --relation include,part-of \\
      --all-pairs pairs.csv

A table of pairs (.csv, .tsv) also has the classes of each pair; `karat human`
reads it once people have added a column of scores each.

The kinds are those of Kim (2010), location in the longer phrase, complexity
and words of the reference, and the relation of Zesch and Gurevych (2009).
"""


@verb("nearmiss", epilog=EPILOG)
@corpus_argument
@runs_argument
@click.option(
    "--all-pairs",
    metavar="FILE",
    help="Write every near miss to FILE, for people to judge: as JSON lines with id, prediction and reference; to .csv "
    "or .tsv also with relation, location, direction, complexity, words and similarity.",
    shell_complete=completion.new_paths,
)
@reading_flags
@output_flags
def nearmiss(corpus: str, runs: tuple[str, ...], all_pairs: str | None, **options: Any) -> None:
    """Show what runs almost got, and what kind of near miss it is.

    A near miss is a prediction that is no hit but shares a word with a
    missed reference, or with --threshold has such a score with one. Counted
    by where the shared words stand, by what the reference is made of, and
    by how the two phrases are related, with examples.
    """
    from karat.analyses.nearmiss.pairs import check_container, writing_pairs

    output, files = Output.of(options), Files.of(options)
    if all_pairs is not None:
        check_container(all_pairs)
    check_file(all_pairs)
    documents, systems = files.all(corpus, runs)
    writer = nullcontext() if all_pairs is None else writing_pairs(all_pairs)
    with files.work(options, output.quiet) as chosen, writer as pairs:
        found = karat.nearmiss(documents, *systems, pairs=pairs, **chosen)
    output.deliver(found)
