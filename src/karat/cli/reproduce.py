"""karat reproduce: the figures of a paper computed again, and which protocol gives them."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.shared import (
    Files,
    Output,
    development_flags,
    folder_flag,
    output_flags,
    reading_flags,
)
from karat.errors import InputError

EPILOG = """\b
Examples:
  karat reproduce corpus.jsonl t5.jsonl --reported paper.jsonl
  karat reproduce corpus.jsonl t5.jsonl one2set.jsonl --reported table1.csv \\
      --percent --protocol chan2019 -f md
  karat reproduce inspec.jsonl semeval.jsonl --runs runs --reported table1.csv

\b
FILE has a figure a line, JSON lines or a table:
  {"metric": "f1@M", "subset": "present", "value": 0.340}
with "system" and "corpus" where there are several, and "digits", the decimals
that were printed, where the value as written does not show them.

With --runs FOLDER all arguments are corpora, and the runs of each are
FOLDER/<name of the corpus>/<system>.jsonl: then all differences are also shown
in one table, corpora down and systems across.
"""


@verb("reproduce", epilog=EPILOG)
@click.argument("given", nargs=-1, required=True, metavar="CORPUS RUN...", shell_complete=completion.paths)
@folder_flag
@development_flags
@reading_flags
@output_flags
def reproduce(given: tuple[str, ...], runs: str | None, **options: Any) -> None:
    """Compute the figures of a paper again.

    Each figure beside what it is under --protocol, with the interval of that,
    whether the report lies in it, and the coefficient of variation; and the
    protocols that give the printed digits: published ones first, then each
    with one option of counting or the average changed, then each with one
    option of matching changed. All of these take a minute for some hundred
    documents: use -j for more, or --budget.
    """
    output, files = Output.of(options), Files.of(options)
    if runs is None and len(given) < 2:
        raise InputError("give a corpus and one run or more, or corpora with --runs FOLDER")
    what = files.given(given, runs, results=False)
    development = files.other(options)
    with files.work(options, output.quiet) as chosen:
        found = karat.reproduce(*what, development=development, **chosen)
    output.deliver(found)
