"""karat score: the scores of runs against a corpus."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import (
    Files,
    check_output,
    corpus_argument,
    deliver,
    development_options,
    jobs_option,
    matching_options,
    metric_option,
    output_options,
    progress,
    protocol_option,
    runs_argument,
)

EPILOG = """\b
Examples:
  karat score corpus.jsonl t5.jsonl one2set.jsonl
  karat score inspec.jsonl.gz t5=runs/t5.jsonl.gz --protocol chan2019 \\
      --protocol kpdrop2022,pad=k -m f1@5:present -m f1@M:absent -f json
  karat score test_src.txt+test_trg.txt predictions.txt --protocol ye2021
  karat score corpus.jsonl predictions.csv \\
      --fields "run:id=doc,keyphrases=preds,separator=;"
  karat score corpus.jsonl run.jsonl --shard 3/16 -o part3.karat

A METRIC is NAME[@CUTOFF][:SUBSET][/AVERAGE][,option=value...]: a cutoff is a
number, M, O, G or V, a subset all, present, absent, P, R, M or U.

CORPUS and RUN are PATH or NAME=PATH; `-` is standard input. Parallel files
are joined by `+`.
"""


@click.command(epilog=EPILOG)
@corpus_argument
@runs_argument
@protocol_option
@metric_option
@click.option("--averages", is_flag=True, help="Every average of each metric, not the protocol's own alone.")
@click.option(
    "--extra-references",
    metavar="FILE",
    help="Add the references that a review accepts; `karat overlap --review` writes one.",
    shell_complete=completion.paths,
)
@matching_options
@development_options
@jobs_option
@click.option("--shard", metavar="I/N", help="Score every N-th document from the I-th on; then `results merge`.")
@output_options
def score(
    corpus: str,
    runs: tuple[str, ...],
    format_: str | None,
    output: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Score runs against a corpus.

    Without -m: F1 at 5, M and O for present, absent and all phrases, in the
    protocol's own average.
    """
    check_output(format_, output)
    from karat.analyses.score import score as score_runs

    files = Files.of(options)
    metrics, protocols = options.pop("metrics"), options.pop("protocols")
    documents, systems = files.all(corpus, runs)
    with progress(quiet) as done:
        results = score_runs(
            documents,
            *systems,
            metrics=metrics or None,
            protocol=protocols or "karat",
            development=files.development(options),
            progress=done,
            **options,
        )
    deliver(results, format_, output, quiet)
