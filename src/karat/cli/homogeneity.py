"""karat homogeneity: whether systems give alike documents the same keyphrases."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.pairs import pairs_out_option
from karat.cli.shared import Files, Output, check_file, corpus_argument, output_flags, reading_flags, runs_argument

EPILOG = """\b
Examples:
  karat homogeneity corpus.jsonl pairs.jsonl t5.jsonl one2set.jsonl
  karat homogeneity corpus.jsonl pairs.jsonl t5.jsonl --cutoff 5 --no-stem
  karat homogeneity corpus.jsonl pairs.jsonl t5.jsonl --match-length
  karat homogeneity corpus.jsonl pairs.jsonl t5.jsonl --score kmr -f md
  karat homogeneity corpus.jsonl pairs.jsonl t5.jsonl \\
      --reformulations paraphrases.jsonl --pairs-out values.csv

`karat pairs mine` finds pairs. Hooper = |A ∩ B| / |A ∪ B| of the phrases for
the two documents of a pair, Rodgers the same of their words. Intervals and
tests account for pairs that share documents. Compare systems by lists of
one length (--cutoff); unrelated pairs show the agreement that is chance.
"""


@verb("homogeneity", epilog=EPILOG)
@corpus_argument
@click.argument("pairs", shell_complete=completion.paths)
@runs_argument
@pairs_out_option
@reading_flags
@output_flags
def homogeneity(
    corpus: str,
    pairs: str,
    runs: tuple[str, ...],
    reformulations: str | None,
    pairs_out: str | None,
    **options: Any,
) -> None:
    """Show whether systems index alike documents alike.

    For each system how alike its predictions are for the two documents of a
    pair, what share of them it generates, and how its agreement goes with
    that of the texts (ROUGE-1, WER); the same by class of phrase and method
    of reformulation; a regression, and how many pairs tell which difference;
    what the references would reach, and what an extractor could; and how
    generic the phrases are that both documents have.
    """
    output, files = Output.of(options), Files.of(options)
    check_file(pairs_out)
    others = None if reformulations is None else files.corpus(reformulations)
    documents, systems = files.all(corpus, runs)
    with files.work(options, output.quiet) as chosen:
        found = karat.homogeneity(documents, pairs, *systems, reformulations=others, **chosen)
    if pairs_out is not None:
        found.save_pairs(pairs_out)
    output.deliver(found)
