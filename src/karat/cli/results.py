"""karat results: work on saved results."""

from __future__ import annotations

from math import isfinite
from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb, verbs
from karat.cli.score import save_documents
from karat.cli.shared import Output, check_file, documents_out_option, output_flags, say
from karat.errors import InputError

MERGE_EPILOG = """\b
Examples:
  karat results merge part*.karat -o all.karat
  karat results merge all.karat -f latex
  karat results merge all.karat --documents-out values.parquet
  karat results merge inspec.karat semeval.karat -o both.karat
"""

CHECK_EPILOG = """\b
Examples:
  karat results check new.karat --min f1@M:present=.3 --min f1@M:absent=.02
  karat results check new.karat --no-worse-than old.karat --alpha 0.01
  karat results check new.karat --system t5 --max count_mae:present=2 -f md

METRIC is as in `karat score -m`; without an average it is that of the
protocol. Exit code 1 says that a bound is missed or that something is worse.
"""

TABLES_EPILOG = """\b
Examples:
  karat results tables decoding inspec.karat semeval.karat
  karat results tables cutoffs inspec.karat -m f1 --percent -f latex
  karat results tables averages inspec.karat semeval.karat
  karat results tables transfer kp20k.karat kptimes.karat -f md

\b
Tables are laid out by the names of systems, given when runs are scored:
  decoding  NAME@DECODING, as t5@greedy=PATH t5@beam=PATH
  cutoffs   NAME; scored with -m f1@5:present -m f1@M:present -m f1@O:present
  averages  NAME; scored with --averages
  transfer  TRAINING or NAME@TRAINING, as kp20k=PATH or t5@kp20k=PATH
"""


@click.group(commands=verbs())
def results() -> None:
    """Work on saved results (.karat files)."""


@results.command(epilog=MERGE_EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=completion.paths)
@documents_out_option
@output_flags
def merge(files: tuple[str, ...], documents_out: str | None, **options: Any) -> None:
    """Merge the shards of a scoring, and results of several corpora.

    All shards I/N of `karat score --shard I/N -o FILE.karat` are needed; the
    outcome is the same as if the corpus had been scored at once. Results of
    different corpora go beside each other into one file, which `karat table`
    and `karat compare` read. One whole file is shown as it is.
    """
    from karat.results.files import load_all

    output = Output.of(options, saves=True)
    check_file(documents_out)
    found = karat.collect(each for path in files for each in load_all(path))
    save_documents(found, documents_out, output.quiet)
    output.deliver(found.parts[0] if len(found.parts) == 1 else found)


@verb("check", epilog=CHECK_EPILOG)
@click.argument("file", metavar="FILE", shell_complete=completion.paths)
@click.option(
    "--min",
    "minimum",
    multiple=True,
    metavar="METRIC=VALUE",
    help="A floor: the metric must be at least that (repeatable).",
    shell_complete=completion.metrics,
)
@click.option(
    "--max",
    "maximum",
    multiple=True,
    metavar="METRIC=VALUE",
    help="A ceiling, for metrics that are better when lower (repeatable).",
    shell_complete=completion.metrics,
)
@output_flags
def check(file: str, minimum: tuple[str, ...], maximum: tuple[str, ...], **options: Any) -> int:
    """Check results, as a gate: exit code 1 if they fall short.

    Every system must reach the floors, and must not be worse than older
    results of the same documents by more than chance: a drop counts when a
    paired test, adjusted over all metrics that both files hold, finds it
    significant. What fails is said in a sentence each on standard error.
    """
    output = Output.of(options)
    found = karat.check(file, minimum=_bounds("--min", minimum), maximum=_bounds("--max", maximum), **options)
    output.deliver(found)
    for failure in found.failures:
        say(f"karat: {failure}")
    return 0 if found.passed else 1


def _bounds(flag: str, given: tuple[str, ...]) -> dict[str, float]:
    """The number for each metric."""
    found: dict[str, float] = {}
    for text in given:
        metric, _, written = text.rpartition("=")
        try:
            number = float(written)
        except ValueError:
            number = float("nan")
        if not metric or not isfinite(number):
            raise InputError(f"{flag} {text}: write METRIC=VALUE, as f1@M:present=.3")
        if metric in found:
            raise InputError(f"{flag} {text}: {metric} is given twice")
        found[metric] = number
    return found


@verb("tables", epilog=TABLES_EPILOG)
@click.argument("kind", type=click.Choice(["decoding", "cutoffs", "averages", "transfer"]), metavar="KIND")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=completion.paths)
@output_flags
def tables(kind: str, files: tuple[str, ...], **options: Any) -> None:
    """Make tables for a paper from results.

    KIND is decoding (strategies side by side), cutoffs (5, 10, M, O...),
    averages (macro against micro) or transfer (training against test
    corpora): the tables of Thomas and Vajjala (2024) for your runs.
    """
    output = Output.of(options)
    output.deliver(karat.tables(kind, *files, **options))


for command in (check, tables):
    results.add_command(command)
