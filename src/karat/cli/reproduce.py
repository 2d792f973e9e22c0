"""karat reproduce: the figures of a paper computed again, and which protocol gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from karat.cli import completion
from karat.cli.shared import (
    Files,
    check_output,
    deliver,
    development_flags,
    interval_options,
    jobs_option,
    matching_options,
    output_flags,
    progress,
    resampling_options,
    runs_of,
)
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.corpus import Corpus, Run

EPILOG = """\b
Examples:
  karat reproduce corpus.jsonl t5.jsonl --reported paper.jsonl
  karat reproduce corpus.jsonl t5.jsonl one2set.jsonl --reported table1.csv \\
      --percent --protocol chan2019 -f md
  karat reproduce inspec.jsonl semeval.jsonl --runs runs --reported table1.csv

\b
FILE has a figure a line, JSON lines or a table:
  {"metric": "f1@M", "subset": "present", "value": 0.340}
with "system" and "corpus" where there are several, and "digits", the decimals
that were printed, where the value as written does not show them.

With --runs FOLDER all arguments are corpora, and the runs of each are
FOLDER/<name of the corpus>/<system>.jsonl: then all differences are also shown
in one table, corpora down and systems across.
"""


@click.command(epilog=EPILOG)
@click.argument("given", nargs=-1, required=True, metavar="CORPUS RUN...", shell_complete=completion.paths)
@click.option(
    "--reported", required=True, metavar="FILE", help="The figures of the paper.", shell_complete=completion.paths
)
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    metavar="NAME[,option=value...]",
    help="Convention to recompute under (default karat). See `karat list protocols`.",
    shell_complete=completion.protocols,
)
@click.option("--percent", is_flag=True, help="The figures are in percent: 37.4 is .374.")
@click.option("--runs", metavar="FOLDER", help="Runs of several corpora, in a folder for each.")
@click.option(
    "--budget",
    type=click.IntRange(0),
    metavar="N",
    help="Try N protocols, published ones first (default all with one option changed).",
)
@resampling_options
@interval_options
@matching_options
@development_flags
@jobs_option
@output_flags
def reproduce(
    given: tuple[str, ...],
    runs: str | None,
    format_: str | None,
    output: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Compute the figures of a paper again.

    Each figure beside what it is under --protocol, with the interval of that,
    whether the report lies in it, and the coefficient of variation; and the
    protocols that give the printed digits: published ones first, then each
    with one option of counting or the average changed, then each with one
    option of matching changed. All of these take a minute for some hundred
    documents: use -j for more, or --budget.
    """
    check_output(format_, output, saves=False)
    files = Files.of(options)
    protocols = options.pop("protocols")
    if len(protocols) > 1:
        raise InputError(
            f"figures are recomputed under one protocol, not under {len(protocols)}: {', '.join(protocols)}"
        )
    options["protocol"] = protocols[0] if protocols else "karat"
    corpora = _of_folder(files, given, runs) if runs is not None else [_of_runs(files, given)]
    options["development"] = files.other(options)
    if runs is not None and options["development"] is not None:
        raise InputError("--dev-corpus is of one corpus: leave it out with --runs")
    from karat.analyses.reproduce import reproduce_corpora

    with progress(quiet) as done:
        found = reproduce_corpora(corpora, progress=done, **options)
    deliver(found, format_, output, quiet)


def _of_runs(files: Files, given: tuple[str, ...]) -> tuple[Corpus, list[Run]]:
    if len(given) < 2:
        raise InputError("give a corpus and one run or more, or corpora with --runs FOLDER")
    return files.all(given[0], given[1:])


def _of_folder(files: Files, given: tuple[str, ...], folder: str) -> list[tuple[Corpus, list[Run]]]:
    corpora = [files.corpus(path) for path in given]
    found = [(corpus, [files.run(path) for path in runs_of(folder, corpus.name)]) for corpus in corpora]
    files.check()
    return found
