"""karat pairs tables: the three tables of a study of homogeneity."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import (
    Files,
    check_output,
    corpus_argument,
    deliver,
    fields_option,
    from_option,
    interval_options,
    one_protocol_options,
    output_flags,
    progress,
    resampling_options,
    runs_argument,
)

EPILOG = """\b
Examples:
  karat pairs tables corpus.jsonl runs/ --reformulations paraphrases.jsonl
  karat pairs tables corpus.jsonl runs/ --min 0.4 -f latex
  karat pairs tables corpus.jsonl tfidf.jsonl t5.jsonl \\
      --reformulations back.jsonl --reformulations para.jsonl --cutoff 5

A RUN predicts for the documents and for their reformulations, by their ids. In
a folder, files of one name are one system's: runs/documents/tfidf.jsonl and
runs/reformulations/tfidf.jsonl, or runs/tfidf.jsonl for both.
"""


@click.command("tables", epilog=EPILOG)
@corpus_argument
@runs_argument
@click.option(
    "--reformulations",
    multiple=True,
    metavar="FILE",
    help="Reformulations of the documents, which are filtered as by `karat pairs filter` (repeatable).",
    shell_complete=completion.paths,
)
@click.option(
    "--min", type=float, default=0.5, metavar="T", help="Least Jaccard index of references of a pair (default 0.5)."
)
@click.option(
    "--length",
    type=float,
    default=0.1,
    metavar="S",
    help="By what share of words a reformulation may be longer or shorter (default 0.1).",
)
@click.option("--cutoff", default="M", metavar="K", help="The first K predictions, or M (default M, all).")
@one_protocol_options
@click.option(
    "--missing",
    type=click.Choice(["error", "empty", "skip"]),
    default="error",
    help="A document that a run lacks: an error, no predictions, or left out.",
)
@resampling_options
@interval_options
@from_option
@fields_option
@output_flags
def tables(
    corpus: str, runs: tuple[str, ...], format_: str | None, output: str | None, quiet: bool, **options: Any
) -> None:
    """Make the three tables of a study of homogeneity.

    Those of Houbre, Boudin and Daille: what the documents are like, how alike
    systems index documents and their reformulations, and how alike documents
    that share references.
    """
    check_output(format_, output, saves=False)
    from karat.analyses.study import runs_in, study

    files = Files.of(options)
    documents, systems = files.corpus(corpus), runs_in(runs, files.run)
    files.check()
    reformulations = list(options.pop("reformulations")) or None
    with progress(quiet) as done:
        found = study(documents, reformulations, *systems, progress=done, **options)
    deliver(found, format_, output, quiet)
