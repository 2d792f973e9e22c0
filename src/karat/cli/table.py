"""karat table: the table of a paper."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.shared import Files, Output, cite_flag, folder_flag, output_flags, reading_flags
from karat.errors import InputError

EPILOG = """\b
Examples:
  karat table inspec.jsonl semeval.jsonl kp20k.jsonl --runs runs
  karat table inspec.jsonl semeval.jsonl --runs runs --protocol chan2019 \\
      --group extractors=tfidf,yake --group generators=t5,one2set \\
      --system t5="T5 (base)" --corpus inspec=Inspec --percent -o table.tex
  karat table inspec.jsonl semeval.jsonl --runs runs --baseline tfidf \\
      -m f1@5:present -m f1@M:absent --intervals -f md
  karat table inspec.karat semeval.karat --order one2set,t5 -f typst

With --runs FOLDER all arguments are corpora, and the runs of each are
FOLDER/<name of the corpus>/<system>.jsonl. A run that is missing leaves its
cells empty; a system without a run on some corpus has no mean rank.
"""


@verb("table", epilog=EPILOG)
@click.argument("given", nargs=-1, required=True, metavar="CORPUS...", shell_complete=completion.paths)
@folder_flag
@cite_flag
@reading_flags
@output_flags
def table(given: tuple[str, ...], runs: str | None, cite: bool, **options: Any) -> None:
    """Make a table of systems, corpora and metrics.

    It is the table of a paper: systems down, corpora and metrics across. The
    best value of each column is bold and the second one underlined; marks
    tell which differ significantly from the best, or from --baseline. Instead
    of corpora and --runs, a corpus and its runs, or .karat files.
    """
    output, files = Output.of(options), Files.of(options)
    if runs is None and len(given) < 2 and not given[0].endswith(".karat"):
        raise InputError("give corpora with --runs FOLDER, a corpus and its runs, or .karat files")
    what = files.given(given, runs)
    with files.work(options, output.quiet) as chosen:
        found = karat.table(*what, **chosen)
    output.deliver(found, cite)
