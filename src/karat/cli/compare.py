"""karat compare: which system is better, by how much, and how sure that is."""

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
    metric_option,
    output_flags,
    progress,
    protocol_option,
    runs_of,
)
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.analyses.compare import Comparison

EPILOG = """\b
Examples:
  karat compare corpus.jsonl t5.jsonl one2set.jsonl
  karat compare corpus.jsonl t5.jsonl one2set.jsonl catseq.jsonl \\
      --baseline catseq -m f1@M:present -m f1@M:absent -f latex
  karat compare corpus.jsonl new.jsonl old.jsonl --baseline old \\
      --alternative greater --stars
  karat compare monday.karat tuesday.karat
  karat compare corpus.jsonl t5#1=a.jsonl t5#2=b.jsonl one2set.jsonl
  karat compare inspec.jsonl semeval.jsonl --runs runs -m f1@M:present

With --runs FOLDER all arguments are corpora, and the runs of each are
FOLDER/<name of the corpus>/<system>.jsonl: systems are then also ranked over
all corpora. Runs named SYSTEM#1, SYSTEM#2... are seeds of one system.
"""


@click.command(epilog=EPILOG)
@click.argument("given", nargs=-1, required=True, metavar="CORPUS RUN RUN...", shell_complete=completion.paths)
@protocol_option
@metric_option
@click.option("--runs", metavar="FOLDER", help="Runs of several corpora, in a folder for each.")
@click.option("--baseline", metavar="NAME", help="Compare all systems with this one (default each with each).")
@click.option(
    "--test",
    type=click.Choice(["randomisation", "bootstrap", "t", "wilcoxon", "mcnemar", "mcnemar_exact"]),
    default="randomisation",
    help="The test that is shown and gives the letters (default randomisation); -f json has all of them.",
)
@click.option(
    "--alternative",
    type=click.Choice(["two-sided", "greater", "less"]),
    default="two-sided",
    help="Which differences a − b the tests look for (default two-sided): greater asks whether a, or with --baseline "
    "the system that is not the baseline, has the higher number, less whether it has the lower.",
)
@click.option("--alpha", type=float, default=0.05, metavar="A", help="Level of significance (default 0.05).")
@click.option(
    "--correction",
    type=click.Choice(["holm", "bh", "none"]),
    default="holm",
    help="How p is adjusted over all comparisons (default holm).",
)
@click.option(
    "--resamples",
    type=click.IntRange(1),
    metavar="N",
    help="Resamples (default 10000, or 4 m / alpha for m comparisons if these are more).",
)
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="Which resamples (default 0).")
@interval_options
@click.option("--stars", is_flag=True, help="Mark differences: * adjusted p at most .05, ** .01, *** .001.")
@matching_options
@development_flags
@jobs_option
@output_flags
def compare(
    given: tuple[str, ...],
    runs: str | None,
    format_: str | None,
    output: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Compare systems, with honest statistics.

    Every system's scores with intervals; every difference with its interval,
    p-values of tests of the very number that is printed, adjusted over all
    comparisons made, and effect sizes; letters that tell which systems
    differ. Instead of a corpus and runs, .karat files of the same documents.
    """
    check_output(format_, output, saves=False)
    files = Files.of(options)
    options["metrics"] = options["metrics"] or None
    options["protocol"] = options.pop("protocols") or "karat"
    with progress(quiet) as done:
        if all(path.endswith(".karat") for path in given):
            found = _of_results(given, options)
        elif runs is not None:
            found = _of_folder(files, given, runs, options | {"progress": done})
        else:
            found = _of_runs(files, given, options | {"progress": done})
    deliver(found, format_, output, quiet)


def _of_results(given: tuple[str, ...], options: dict[str, Any]) -> Comparison:
    from karat.analyses.compare import Options, compare_results
    from karat.results import load

    if options["metrics"]:
        raise InputError("-m chooses nothing in .karat files: score with the metric, or leave it out")
    own = {name: value for name, value in options.items() if name in Options.__dataclass_fields__}
    return compare_results([load(path) for path in given], **own)


def _of_runs(files: Files, given: tuple[str, ...], options: dict[str, Any]) -> Comparison:
    from karat.analyses.compare import compare as compare_runs

    if len(given) < 3:
        raise InputError("give a corpus and two runs or more, .karat files, or corpora with --runs FOLDER")
    documents, systems = files.all(given[0], given[1:])
    return compare_runs(documents, *systems, development=files.other(options), **options)


def _of_folder(files: Files, given: tuple[str, ...], folder: str, options: dict[str, Any]) -> Comparison:
    from karat.analyses.compare import compare_corpora

    if options.pop("dev_corpus") or options.pop("dev_runs"):
        raise InputError("--dev-corpus is of one corpus: leave it out with --runs")
    corpora = [files.corpus(path) for path in given]
    listed = [(corpus, [files.run(path) for path in runs_of(folder, corpus.name)]) for corpus in corpora]
    files.check()
    return compare_corpora(listed, **options)
