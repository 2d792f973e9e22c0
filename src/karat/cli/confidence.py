"""karat confidence: whether systems know when they are right."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import (
    Files,
    check_output,
    corpus_argument,
    deliver,
    interval_options,
    jobs_option,
    matching_options,
    output_options,
    progress,
    protocol_option,
    resampling_options,
    runs_argument,
)
from karat.errors import InputError

EPILOG = """\b
Examples:
  karat confidence corpus.jsonl t5.jsonl
  karat confidence corpus.jsonl t5.jsonl one2set.jsonl --protocol kundu2023
  karat confidence corpus.jsonl t5.jsonl --precision 0.5 --binning mass
  karat confidence test.jsonl t5=test.t5.jsonl --calibrate temperature \\
      --fit-corpus dev.jsonl --fit-run t5=dev.t5.jsonl

A run tells how sure it is by "token_probs": [[0.9, 0.8], [0.3]], a list of
probabilities for each phrase, by "token_logprobs", their natural logarithms,
or by "scores" from 0 to 1.
"""


@click.command(epilog=EPILOG)
@corpus_argument
@runs_argument
@protocol_option
@click.option(
    "--confidence",
    type=click.Choice(["token_probs", "token_logprobs", "scores"]),
    help="What confidence is made of (default: the first of these that a document has).",
)
@click.option("--bins", type=click.IntRange(1, 1_000_000), default=10, metavar="N", help="Bins of ECE (default 10).")
@click.option(
    "--binning",
    type=click.Choice(["width", "mass"]),
    default="width",
    help="Bins of one width, or with as many predictions each (default width).",
)
@click.option(
    "--precision",
    type=float,
    metavar="P",
    help="Find the lowest confidence from which on this share of the predictions is correct.",
)
@click.option(
    "--calibrate",
    type=click.Choice(["temperature", "platt", "isotonic"]),
    help="Also show confidences after temperature or Platt scaling, or isotonic regression, fitted on --fit-corpus and "
    "--fit-run.",
)
@click.option(
    "--fit-corpus",
    metavar="CORPUS",
    help="Documents on which the calibration is fitted.",
    shell_complete=completion.paths,
)
@click.option(
    "--fit-run",
    "fit_runs",
    multiple=True,
    metavar="RUN",
    help="Their predictions, named as the run they are for: NAME=PATH (repeatable).",
    shell_complete=completion.paths,
)
@resampling_options
@interval_options
@matching_options
@jobs_option
@output_options
def confidence(
    corpus: str,
    runs: tuple[str, ...],
    format_: str | None,
    output: str | None,
    quiet: bool,
    fit_corpus: str | None,
    fit_runs: tuple[str, ...],
    **options: Any,
) -> None:
    """Show whether systems know when they are right.

    Compares how sure a system is of its phrases with how often they are
    correct: expected calibration error, bins, Brier score, keyphrase
    perplexity, and what is gained by keeping only what it is sure of.
    """
    check_output(format_, output, saves=False)
    if bool(fit_corpus) != bool(fit_runs):
        raise InputError("--fit-corpus and --fit-run go together")
    from karat.analyses.confidence import confidence as confidence_of

    files = Files.of(options)
    protocols = options.pop("protocols")
    fit = (files.corpus(fit_corpus), list(map(files.run, fit_runs))) if fit_corpus else None
    documents, systems = files.all(corpus, runs)
    with progress(quiet) as done:
        found = confidence_of(documents, *systems, protocol=protocols or "karat", fit=fit, progress=done, **options)
    deliver(found, format_, output, quiet)
