"""karat overlap: what systems predict alike, right and wrong, and what they would score together."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import completion
from karat.cli.shared import (
    Files,
    check_file,
    check_output,
    corpus_argument,
    deliver,
    jobs_option,
    matching_options,
    output_options,
    progress,
    protocol_option,
)

EPILOG = """\b
Examples:
  karat overlap corpus.jsonl t5.jsonl one2set.jsonl
  karat overlap corpus.jsonl t5.jsonl one2set.jsonl --protocol chan2019 \\
      --empty zero -f json
  karat overlap corpus.jsonl t5.jsonl one2set.jsonl --review review.csv
  karat score corpus.jsonl t5.jsonl --extra-references review.csv

The percentages are those of Thomas and Vajjala (2024). A review has a line for
each phrase; set its `accept` to true where the phrase is a good keyphrase.
"""


@click.command(epilog=EPILOG)
@corpus_argument
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...", shell_complete=completion.paths)
@protocol_option
@click.option(
    "--empty",
    type=click.Choice(["skip", "zero"]),
    default="skip",
    help="A document for which neither system predicts a phrase: left out and counted, or 0 (default skip).",
)
@click.option(
    "--at-least",
    type=click.IntRange(1),
    default=2,
    metavar="N",
    help="For a review: phrases that N systems predict (default 2).",
)
@click.option(
    "--review",
    metavar="FILE",
    help="Write the phrases that systems share and references lack to FILE, JSON lines or CSV (under the first "
    "protocol).",
    shell_complete=completion.paths,
)
@click.option(
    "--k", type=float, default=60.0, metavar="K", help="K of reciprocal rank fusion, the union's order (default 60)."
)
@matching_options
@jobs_option
@output_options
def overlap(
    corpus: str,
    runs: tuple[str, ...],
    format_: str | None,
    output: str | None,
    quiet: bool,
    review: str | None,
    **options: Any,
) -> None:
    """Show what systems predict alike, right and wrong.

    For every two systems: of the phrases that either predicts, the
    percentage that both predict and that is correct, and wrong, with a
    histogram. Then what the union, the intersection and the majority of all
    systems would score.
    """
    check_output(format_, output, saves=False)
    check_file(review, "review")
    from karat.analyses.overlap import overlap as overlap_of
    from karat.formats.reviews import write_review

    files = Files.of(options)
    protocols = options.pop("protocols")
    documents, systems = files.all(corpus, runs)
    with progress(quiet) as done:
        found = overlap_of(documents, *systems, protocol=protocols or "karat", progress=done, **options)
    if review is not None:
        write_review(review, found.review())
    deliver(found, format_, output, quiet)
