"""karat confidence: whether systems know when they are right."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import Files, corpus_verb

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


def _fit(files: Files, options: dict[str, Any]) -> dict[str, Any]:
    return {"fit": files.other(options, "fit")}


@corpus_verb("confidence", epilog=EPILOG, extra=_fit)
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
def confidence() -> None:
    """Show whether systems know when they are right.

    Compares how sure a system is of its phrases with how often they are
    correct: expected calibration error, bins, Brier score, keyphrase
    perplexity, and what is gained by keeping only what it is sure of.
    """
