"""karat compare: differences of systems with intervals, tests and effect sizes."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.shared import (
    Files,
    Output,
    cite_flag,
    development_flags,
    folder_flag,
    output_flags,
    reading_flags,
)
from karat.errors import InputError

EPILOG = """\b
Examples:
  karat compare corpus.jsonl t5.jsonl one2set.jsonl
  karat compare corpus.jsonl t5.jsonl one2set.jsonl catseq.jsonl \\
      --baseline catseq -m f1@M:present -m f1@M:absent -f latex
  karat compare corpus.jsonl new.jsonl old.jsonl --baseline old \\
      --alternative greater --stars
  karat compare monday.karat tuesday.karat
  karat compare corpus.jsonl t5#1=a.jsonl t5#2=b.jsonl one2set.jsonl
  karat compare corpus.jsonl pilot.jsonl old.jsonl --difference .01
  karat compare inspec.jsonl semeval.jsonl --runs runs -m f1@M:present

With --runs FOLDER all arguments are corpora, and the runs of each are
FOLDER/<name of the corpus>/<system>.jsonl: systems are then also ranked over
all corpora. Runs named SYSTEM#1, SYSTEM#2... are seeds of one system.
"""


@verb("compare", epilog=EPILOG)
@click.argument("given", nargs=-1, required=True, metavar="CORPUS RUN RUN...", shell_complete=completion.paths)
@folder_flag
@development_flags
@cite_flag
@reading_flags
@output_flags
def compare(given: tuple[str, ...], runs: str | None, cite: bool, **options: Any) -> None:
    """Compare systems on the documents that all of them have.

    Prints the scores with confidence intervals, and of each difference the
    interval, p, adjusted p and effect size. Systems that share a letter do
    not differ significantly. Instead of a corpus and runs, .karat files of
    the same corpus can be given.
    """
    output, files = Output.of(options), Files.of(options)
    if runs is None and len(given) < 3 and not all(path.endswith(".karat") for path in given):
        raise InputError("give a corpus and two runs or more, .karat files, or corpora with --runs FOLDER")
    what = files.given(given, runs)
    development = files.other(options)
    with files.work(options, output.quiet) as chosen:
        found = karat.compare(*what, development=development, **chosen)
    output.deliver(found, cite)
