"""karat human: metrics measured against people."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import Files, check_output, deliver, jobs_option, matching_options, output_flags, progress
from karat.errors import InputError

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


@click.command(epilog=EPILOG)
@click.argument("scores", shell_complete=completion.paths)
@click.option(
    "--corpus",
    metavar="CORPUS",
    help="The documents: for scores of sets, and for the similarity context.",
    shell_complete=completion.paths,
)
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="RUN",
    help="What people scored, for scores of sets (repeatable).",
    shell_complete=completion.paths,
)
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="What is measured (repeatable): for sets a metric, as f1@M; for pairs a similarity, as kmr.",
    shell_complete=lambda *typed: [*completion.metrics(*typed), *completion.similarities(*typed)],
)
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    metavar="NAME[,option=value...]",
    help="Convention to score sets under (default karat).",
    shell_complete=completion.protocols,
)
@click.option(
    "--combine",
    type=click.Choice(["mean", "majority"]),
    default="mean",
    help="How the annotators' scores of an item become one (default mean).",
)
@click.option(
    "--coefficient",
    type=click.Choice(["pearson", "spearman", "kendall"]),
    help="By which metrics are ranked (default spearman for pairs, pearson for sets).",
)
@click.option("--against", metavar="METRIC", help="What the others are compared with (default the best).")
@click.option(
    "--level-of-scale",
    type=click.Choice(["nominal", "ordinal", "interval"]),
    default="interval",
    help="What the scores are, for Krippendorff's alpha (default interval).",
)
@click.option("--level", type=float, default=0.95, metavar="L", help="Level of the intervals (default 0.95).")
@click.option("--resamples", type=int, default=2000, metavar="N", help="Resamples of the items (default 2000).")
@click.option("--seed", type=int, default=0, metavar="N", help="Which resamples (default 0).")
@matching_options
@jobs_option
@output_flags
def human(
    scores: str,
    corpus: str | None,
    runs: tuple[str, ...],
    format_: str | None,
    output: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Measure metrics against people.

    How well each metric goes with the scores that people gave, with
    intervals, beside how well one annotator goes with the others; and whether
    one metric truly goes better with people than another. Of pairs also for
    short phrases and for each kind of near miss.
    """
    check_output(format_, output, saves=False)
    from karat.analyses.human import human as against_people

    files = Files.of(options)
    metrics, protocols = options.pop("metrics"), options.pop("protocols")
    if len(protocols) > 1:
        raise InputError(f"people are compared under one protocol, not under {len(protocols)}: {', '.join(protocols)}")
    documents = files.corpus(corpus) if corpus else None
    systems = list(map(files.run, runs))
    files.check()
    with progress(quiet) as done:
        found = against_people(
            scores,
            corpus=documents,
            runs=systems,
            metrics=metrics or None,
            protocol=protocols[0] if protocols else "karat",
            progress=done,
            **options,
        )
    deliver(found, format_, output, quiet)
