"""karat train: models that learn from documents with references."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import Files, check_file, corpus_argument, fields_option, from_option, progress, quiet_option

EPILOG = """\b
Examples:
  karat train kea train.jsonl -o kea.json
  karat predict kea,model=kea.json test.jsonl -o run.jsonl
  karat train kea,longest=4 train.jsonl --language french -o kea-fr.json.gz

The table shows what was learned: the odds say how many times as likely it is
for a keyphrase as for another candidate to be in that range.
"""


def _names(incomplete: str) -> list[str]:
    """The models that can be trained and begin like this."""
    from karat.predicting.training import trainers

    return [name for name in trainers() if name.startswith(incomplete)]


@click.command(epilog=EPILOG)
@click.argument(
    "model",
    metavar="MODEL[,option=value...]",
    shell_complete=lambda _context, _parameter, incomplete: _names(incomplete),
)
@corpus_argument
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="File to write the trained model to, JSON; .gz packs it.",
    shell_complete=completion.paths,
)
@click.option(
    "--language",
    default="english",
    metavar="LANGUAGE",
    help="Language of the documents, as french (default english).",
    shell_complete=completion.languages,
)
@from_option
@fields_option
@quiet_option
def train(model: str, corpus: str, output: str, language: str, quiet: bool, **options: Any) -> None:
    """Train a model on documents whose keyphrases are known.

    MODEL is kea (Witten 1999): candidates that resemble the keyphrases of
    CORPUS in frequency and place. `karat predict kea,model=FILE` then finds
    such candidates in other documents.
    """
    check_file(output)
    from karat.predicting import training
    from karat.report.trainings import as_table

    files = Files.of(options)
    documents = files.corpus(corpus)
    files.check()
    with progress(quiet) as done:
        found = training.train(documents, model, output=output, language=language, progress=done)
    click.echo(as_table(found))
    if not quiet:
        for note in found.notes:
            click.echo(f"note: {note}", err=True)
