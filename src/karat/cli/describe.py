"""karat describe: the portrait of a corpus, and where systems look in it."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import (
    Files,
    check_output,
    corpus_argument,
    deliver,
    jobs_option,
    matching_options,
    output_flags,
    progress,
)

EPILOG = """\b
Examples:
  karat describe corpus.jsonl
  karat describe corpus.jsonl t5.jsonl one2set.jsonl
  karat describe test.jsonl --train train.jsonl -f md -o CARD.md
  karat describe corpus.jsonl --protocol kundu2023 -f json

P, R, M, U are the shares of phrases that stand in the document, whose words
do in another order or place, of which some words do, of which none does
(Boudin and Gallina 2021). A document has five parts of 20 % of its
characters each; a phrase is in the part where it first occurs.
"""


@click.command(epilog=EPILOG)
@corpus_argument
@click.argument("runs", nargs=-1, metavar="[RUN...]", shell_complete=completion.paths)
@click.option(
    "--protocol",
    default="karat",
    metavar="NAME[,option=value...]",
    help="Convention by which phrases are found (default karat). See `karat list protocols`.",
    shell_complete=completion.protocols,
)
@click.option(
    "--train",
    metavar="CORPUS",
    help="Say which documents and references are also in this training corpus.",
    shell_complete=completion.paths,
)
@matching_options
@jobs_option
@output_flags
def describe(
    corpus: str,
    runs: tuple[str, ...],
    format_: str | None,
    output: str | None,
    quiet: bool,
    train: str | None,
    **options: Any,
) -> None:
    """Describe a corpus, and what systems find where in it.

    Counts references (how many, how long, present or absent, how generic,
    where in the documents), and documents that are there twice; warns of
    references that look stemmed or joined. With runs, the same of their
    predictions, and which references they miss. -f md writes a dataset card.
    """
    check_output(format_, output, saves=False)
    from karat.analyses.describe import describe as portrait

    files = Files.of(options)
    documents = files.corpus(corpus)
    systems = [files.run(run) for run in runs]
    training = None if train is None else files.corpus(train)
    files.check()
    with progress(quiet) as done:
        found = portrait(documents, *systems, train=training, progress=done, **options)
    deliver(found, format_, output, quiet)
