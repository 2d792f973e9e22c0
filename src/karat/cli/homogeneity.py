"""karat homogeneity: whether systems give alike documents the same keyphrases."""

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
    matching_options,
    output_flags,
    progress,
    protocol_option,
    resampling_options,
    runs_argument,
)

EPILOG = """\b
Examples:
  karat homogeneity corpus.jsonl pairs.jsonl t5.jsonl one2set.jsonl
  karat homogeneity corpus.jsonl pairs.jsonl t5.jsonl --cutoff 5 --no-stem
  karat homogeneity corpus.jsonl pairs.jsonl t5.jsonl --score kmr -f md
  karat homogeneity corpus.jsonl pairs.jsonl t5.jsonl \\
      --reformulations paraphrases.jsonl

`karat pairs mine` finds pairs. Hooper = |A ∩ B| / |A ∪ B| of the phrases for
the two documents of a pair, Rodgers the same of their words. Intervals and
tests draw documents, not pairs.
"""


@click.command(epilog=EPILOG)
@corpus_argument
@click.argument("pairs", shell_complete=completion.paths)
@runs_argument
@protocol_option
@click.option(
    "--measure",
    type=click.Choice(["jaccard", "max"]),
    default="jaccard",
    help="What both share over the union, or over the larger of both sets (default jaccard).",
)
@click.option("--no-stem", is_flag=True, help="Compare words as they are, whatever the protocol stems.")
@click.option("--cutoff", default="M", metavar="K", help="The first K predictions, or M (default M, all).")
@click.option(
    "--score",
    "similarity",
    metavar="NAME[,option=value...]",
    help="Soft scores too: F of SoftKeyScore between both lists, as kmr. See `karat list similarities`.",
    shell_complete=completion.similarities,
)
@click.option("--threshold", type=float, default=0.4, metavar="T", help="Scores below T are 0 (default 0.4).")
@click.option(
    "--reformulations",
    metavar="CORPUS",
    help="The corpus of b, where pairs are of documents and their reformulations.",
    shell_complete=completion.paths,
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bh", "none"]),
    default="holm",
    help="How p is adjusted over all comparisons of systems (default holm).",
)
@resampling_options
@interval_options
@matching_options
@output_flags
def homogeneity(
    corpus: str,
    pairs: str,
    runs: tuple[str, ...],
    format_: str | None,
    output: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Show whether systems index alike documents alike.

    For each system how alike its predictions are for the two documents of a
    pair, what share of them it generates, and how its agreement goes with
    that of the texts (ROUGE-1); what the references would reach, and what an
    extractor could; and how generic the phrases are that both documents have.
    """
    check_output(format_, output, saves=False)
    from karat.analyses.homogeneity import homogeneity as homogeneity_of

    files = Files.of(options)
    protocols, reformulations = options.pop("protocols"), options.pop("reformulations")
    options["stem"] = not options.pop("no_stem")
    options["reformulations"] = None if reformulations is None else files.corpus(reformulations)
    documents, systems = files.all(corpus, runs)
    with progress(quiet) as done:
        found = homogeneity_of(documents, pairs, *systems, protocol=protocols or "karat", progress=done, **options)
    deliver(found, format_, output, quiet)
