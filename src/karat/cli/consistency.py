"""karat consistency: how often a system gives one concept several names."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli.flags import verb
from karat.cli.shared import Files, Output, output_flags, reading_flags, runs_argument

EPILOG = """\b
Examples:
  karat consistency t5.jsonl one2set.jsonl
  karat consistency t5.jsonl --corpus corpus.jsonl --worst 30 -f md
  karat consistency t5.jsonl --vocabulary terms.txt
  karat consistency t5.jsonl --model models/minilm --near 0.85

A vocabulary is a SKOS thesaurus, or has a term a line, its variants behind it
after tabs. No references are needed; with --corpus, abbreviations are those
that its texts explain, as in `support vector machine (SVM)`.
"""


@verb("consistency", epilog=EPILOG)
@runs_argument
@click.option("--no-near", is_flag=True, help="Do not compare vectors.")
@reading_flags
@output_flags
def consistency(runs: tuple[str, ...], corpus: str | None, near: float, no_near: bool, **options: Any) -> None:
    """Show how often a system gives one concept several names.

    Names are one concept when they are equal by stem, in another order, when
    one abbreviates the other, or when their vectors are near. Shows how many
    have a rival and the worst concepts first.
    """
    output, files = Output.of(options), Files.of(options)
    documents = None if corpus is None else files.corpus(corpus)
    systems = list(map(files.run, runs))
    files.check()
    found = karat.consistency(*systems, corpus=documents, near=None if no_near else near, **options)
    output.deliver(found)
