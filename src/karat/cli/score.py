"""karat score: the scores of runs against a corpus."""

from __future__ import annotations

from typing import Any

import click

from karat.cli.shared import (
    check_output,
    deliver,
    metric_option,
    output_options,
    progress,
    protocol_option,
)

EPILOG = """\b
Examples:
  karat score corpus.jsonl t5.jsonl one2set.jsonl
  karat score inspec.jsonl.gz t5=runs/t5.jsonl.gz --protocol chan2019 \\
      --protocol kpdrop2022,pad=k -m f1@5:present -m f1@M:absent -f json
  karat score test_src.txt+test_trg.txt predictions.txt --protocol ye2021
  karat score corpus.jsonl run.jsonl --shard 3/16 -o part3.karat

A METRIC is NAME[@CUTOFF][:SUBSET][/AVERAGE][,option=value...]: a cutoff is a
number, M, O, G or V, a subset all, present, absent, P, R, M or U.

CORPUS and RUN are PATH or NAME=PATH; `-` is standard input. Parallel text
files are joined by `+`.
"""


@click.command(epilog=EPILOG)
@click.argument("corpus")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@protocol_option
@metric_option
@click.option("--averages", is_flag=True, help="Every average of each metric, not the protocol's own alone.")
@click.option("--references", metavar="NAME", help="Score against a named reference set.")
@click.option("--language", metavar="LANGUAGE", help="Stem with Snowball for this language, as french.")
@click.option("--from", "from_", metavar="FORMAT", help="Format of the files (see `karat list formats`).")
@click.option("--by", type=click.Choice(["id", "line"]), help="Match runs by id or line by line.")
@click.option(
    "--missing",
    type=click.Choice(["error", "empty", "skip"]),
    default="error",
    help="A document that a run lacks: an error, no predictions, or left out.",
)
@click.option("--dev-corpus", metavar="CORPUS", help="Development documents, on which the k of @V is fitted.")
@click.option("--dev-run", "dev_runs", multiple=True, metavar="RUN", help="Their predictions (repeatable).")
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, metavar="N", help="Processes (default 1).")
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
    from karat.errors import InputError
    from karat.evaluate import score as score_runs
    from karat.formats import read, read_run

    development = options.pop("dev_corpus"), options.pop("dev_runs")
    if bool(development[0]) != bool(development[1]):
        raise InputError("--dev-corpus and --dev-run go together")
    form = options.pop("from_")
    metrics, protocols = options.pop("metrics"), options.pop("protocols")
    with progress(quiet) as done:
        results = score_runs(
            read(corpus, format=form),
            *(read_run(run, format=form) for run in runs),
            metrics=metrics or None,
            protocol=protocols or "karat",
            development=development if development[0] else None,
            progress=done,
            **options,
        )
    deliver(results, format_, output, quiet)
