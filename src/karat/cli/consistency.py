"""karat consistency: how often a system gives one concept several names."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import (
    Files,
    check_output,
    deliver,
    fields_option,
    from_option,
    output_flags,
    runs_argument,
)

EPILOG = """\b
Examples:
  karat consistency t5.jsonl one2set.jsonl
  karat consistency t5.jsonl --corpus corpus.jsonl --worst 30 -f md
  karat consistency t5.jsonl --vocabulary terms.txt
  karat consistency t5.jsonl --model models/minilm --near 0.85

A vocabulary has a term a line, its variants behind it after tabs. No
references are needed; with --corpus, abbreviations are those that its texts
explain, as in `support vector machine (SVM)`.
"""


@click.command(epilog=EPILOG)
@runs_argument
@click.option(
    "--corpus",
    metavar="CORPUS",
    help="The documents, whose texts explain abbreviations.",
    shell_complete=completion.paths,
)
@click.option(
    "--model",
    default="hash",
    metavar="NAME",
    help="Embedder: hash, vectors:PATH or an encoder's directory (default hash).",
)
@click.option(
    "--near", type=float, default=0.9, metavar="T", help="Names are near with a cosine of T or more (default 0.9)."
)
@click.option("--no-near", is_flag=True, help="Do not compare vectors.")
@click.option(
    "--vocabulary",
    metavar="FILE",
    help="Controlled terms, one a line: how much of a run is among them, and what is nearest to the rest.",
    shell_complete=completion.paths,
)
@click.option(
    "--nearest",
    type=click.Choice(["levenshtein", "cosine"]),
    default="levenshtein",
    help="By what an entry is nearest: by letters or by vectors (default levenshtein).",
)
@click.option(
    "--worst",
    type=click.IntRange(0),
    default=10,
    metavar="N",
    help="Show the N worst concepts, and phrases that are no terms; 0 for all (default 10).",
)
@click.option(
    "--language",
    metavar="LANGUAGE",
    help="Stem with Snowball for this language, as french.",
    shell_complete=completion.languages,
)
@from_option
@fields_option
@output_flags
def consistency(
    runs: tuple[str, ...],
    corpus: str | None,
    near: float,
    no_near: bool,
    format_: str | None,
    output: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Show how often a system gives one concept several names.

    Names are one concept when they are equal by stem, in another order, when
    one abbreviates the other, or when their vectors are near. Shows how many
    have a rival and the worst concepts first.
    """
    check_output(format_, output, saves=False)
    from karat.analyses.consistency import consistency as consistency_of

    files = Files.of(options)
    documents = None if corpus is None else files.corpus(corpus)
    systems = list(map(files.run, runs))
    files.check()
    found = consistency_of(*systems, corpus=documents, near=None if no_near else near, **options)
    deliver(found, format_, output, quiet)
