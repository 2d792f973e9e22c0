"""karat describe: the portrait of a corpus, and where systems look in it."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.shared import Files, Output, corpus_argument, output_flags, reading_flags

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


@verb("describe", epilog=EPILOG)
@corpus_argument
@click.argument("runs", nargs=-1, metavar="[RUN...]", shell_complete=completion.paths)
@reading_flags
@output_flags
def describe(corpus: str, runs: tuple[str, ...], train: str | None, **options: Any) -> None:
    """Describe a corpus, and what systems find where in it.

    Counts references (how many, how long, present or absent, how generic,
    where in the documents), and documents that are there twice; warns of
    references that look stemmed or joined. With runs, the same of their
    predictions, and which references they miss. -f md writes a dataset card.
    """
    output, files = Output.of(options), Files.of(options)
    training = None if train is None else files.corpus(train)
    documents, systems = files.all(corpus, runs)
    with files.work(options, output.quiet) as chosen:
        found = karat.describe(documents, *systems, train=training, **chosen)
    output.deliver(found)
