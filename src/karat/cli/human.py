"""karat human: metrics measured against people."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.shared import Files, Output, output_flags, reading_flags

EPILOG = """\b
Examples:
  karat human pairs.jsonl
  karat human pairs.jsonl -m overlap -m kmr -m bleu,reference=given \\
      --combine majority --level-of-scale ordinal
  karat human scores.jsonl --corpus corpus.jsonl --run t5.jsonl
  karat human scores.jsonl --corpus corpus.jsonl --run t5=a.jsonl \\
      --run one2set=b.jsonl -m f1@M -m soft_f,score=kmr --protocol kundu2023

\b
SCORES is JSON lines (also CSV, TSV, a JSON list, Parquet), one score a line:
  of what a system predicts for a document, with "system" if there are several
    {"id": "d1", "annotator": "x", "score": 0.4}
  of a prediction beside a reference
    {"prediction": "...", "reference": "...", "annotator": "x", "score": 3}
"""


@verb("human", epilog=EPILOG)
@click.argument("scores", shell_complete=completion.paths)
@reading_flags
@output_flags
def human(scores: str, corpus: str | None, runs: tuple[str, ...], **options: Any) -> None:
    """Measure metrics against people.

    How well each metric goes with the scores that people gave, with
    intervals, beside how well one annotator goes with the others; and whether
    one metric truly goes better with people than another. Of pairs also for
    short phrases and for each kind of near miss.
    """
    output, files = Output.of(options), Files.of(options)
    documents = files.corpus(corpus) if corpus else None
    systems = list(map(files.run, runs))
    files.check()
    with files.work(options, output.quiet) as chosen:
        found = karat.human(scores, corpus=documents, runs=systems, **chosen)
    output.deliver(found)
