"""karat audit: the same runs under every protocol."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import (
    Files,
    check_output,
    corpus_argument,
    deliver,
    development_flags,
    jobs_option,
    matching_options,
    output_flags,
    progress,
    runs_argument,
)
from karat.errors import InputError

EPILOG = """\b
Examples:
  karat audit corpus.jsonl t5.jsonl one2set.jsonl
  karat audit corpus.jsonl t5.jsonl -m f1@5:absent -f md -o audit.md
  karat audit corpus.jsonl t5.jsonl --against chan2019 --protocol karat \\
      --protocol kpdrop2022,pad=k
"""


@click.command(epilog=EPILOG)
@corpus_argument
@runs_argument
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="The metric (default f1@M:present).",
    shell_complete=completion.metrics,
)
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    metavar="NAME[,option=value...]",
    help="Convention to score under (repeatable; default all published ones). See `karat list protocols`.",
    shell_complete=completion.protocols,
)
@click.option(
    "--against",
    default="karat",
    metavar="PROTOCOL",
    help="What the others are explained by comparison with (default karat).",
    shell_complete=completion.protocols,
)
@click.option("--causes/--no-causes", default=True, help="Whether to look for what explains the differences.")
@matching_options
@development_flags
@jobs_option
@output_flags
def audit(
    corpus: str,
    runs: tuple[str, ...],
    format_: str | None,
    output: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Score runs under every protocol and explain the differences.

    One metric: protocols down, systems across, how far each system's scores
    are apart, whether the ranking of the systems changes, and which option of
    the protocols explains each difference, found by changing one at a time:
    each alone, then one after the other, so that the changes add up. Without
    --protocol: every published one, experimental ones marked, and the flags
    of their scripts. Twenty thousand documents take minutes: use -j, or
    --no-causes for the table alone.
    """
    check_output(format_, output)
    from karat.analyses.audit import audit as audit_runs

    files = Files.of(options)
    metrics = options.pop("metrics")
    if len(metrics) > 1:
        raise InputError(f"an audit is of one metric, not of {len(metrics)}: {', '.join(metrics)}")
    if metrics:
        options["metric"] = metrics[0]
    documents, systems = files.all(corpus, runs)
    with progress(quiet) as done:
        found = audit_runs(
            documents,
            *systems,
            protocol=options.pop("protocols"),
            development=files.other(options),
            progress=done,
            **options,
        )
    deliver(found, format_, output, quiet)
