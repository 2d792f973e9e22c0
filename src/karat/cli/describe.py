"""karat describe: the portrait of a corpus, and where systems look in it."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import Files, corpus_verb

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


def _training(files: Files, options: dict[str, Any]) -> dict[str, Any]:
    path = options.pop("train")
    return {"train": None if path is None else files.corpus(path)}


any_runs = click.argument("runs", nargs=-1, metavar="[RUN...]", shell_complete=completion.paths)


@corpus_verb("describe", epilog=EPILOG, extra=_training, runs=any_runs)
def describe() -> None:
    """Describe a corpus, and what systems find where in it.

    Counts references (how many, how long, present or absent, how generic,
    where in the documents), and documents that are there twice; warns of
    references that look stemmed or joined. With runs, the same of their
    predictions, and which references they miss. -f md writes a dataset card.
    """
