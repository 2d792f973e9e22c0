"""karat human: metrics measured against people."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.shared import Files, Output, check_file, output_flags, reading_flags

EPILOG = """\b
Examples:
  karat human pairs.jsonl
  karat human pairs.jsonl -m overlap -m kmr -m bleu,reference=given \\
      --combine majority --level-of-scale ordinal
  karat human wide.csv -m kim2010 --scale 0:4
  karat human wide.csv -m kim2010 --learn weights.json
  karat human other.csv -m overlap -m placed:weights.json
  karat human scores.jsonl --corpus corpus.jsonl --run t5.jsonl
  karat human scores.jsonl --corpus corpus.jsonl --run t5=a.jsonl \\
      --run one2set=b.jsonl -m f1@M -m soft_f,score=kmr --protocol kundu2023

\b
SCORES is JSON lines (also CSV, TSV, a JSON list, Parquet), one score a line:
  of what a system predicts for a document, with "system" if there are several
    {"id": "d1", "annotator": "x", "score": 0.4}
  of a prediction beside a reference
    {"prediction": "...", "reference": "...", "annotator": "x", "score": 3}
or a wide table (CSV, TSV, Parquet), a column of scores for each annotator:
    prediction,reference,ana,ben
    grid computing,effective grid computing,3,4
"""


@verb("human", epilog=EPILOG)
@click.argument("scores", shell_complete=completion.paths)
@click.option(
    "--learn",
    metavar="FILE",
    help="Learn weights by place from the scores of pairs, judge them by cross-validation beside the metrics, and "
    "write them to FILE, for placed:FILE.",
    shell_complete=completion.new_paths,
)
@reading_flags
@output_flags
def human(scores: str, corpus: str | None, runs: tuple[str, ...], learn: str | None, **options: Any) -> None:
    """Measure metrics against people.

    How well each metric goes with the scores that people gave, with
    intervals, beside how well one annotator goes with the others; and whether
    one metric truly goes better with people than another. Of pairs also for
    short phrases and for each kind of near miss.
    """
    output, files = Output.of(options), Files.of(options)
    check_file(learn)
    documents = files.corpus(corpus) if corpus else None
    systems = list(map(files.run, runs))
    files.check()
    with files.work(options, output.quiet) as chosen:
        found = karat.human(scores, corpus=documents, runs=systems, learn=learn is not None, **chosen)
    if learn is not None and found.weights is not None:
        found.weights.save(learn)
    output.deliver(found)
