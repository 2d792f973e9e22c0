"""karat overlap: what systems predict alike, right and wrong, and what they would score together."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.shared import (
    Files,
    Output,
    check_file,
    corpus_argument,
    documents_out_option,
    output_flags,
    reading_flags,
)

EPILOG = """\b
Examples:
  karat overlap corpus.jsonl t5.jsonl one2set.jsonl
  karat overlap corpus.jsonl t5.jsonl one2set.jsonl --protocol chan2019 \\
      --empty zero -f json
  karat overlap corpus.jsonl t5.jsonl one2set.jsonl --review review.csv
  karat score corpus.jsonl t5.jsonl --extra-references review.csv

The percentages are those of Thomas and Vajjala (2024). A review has a line for
each phrase; set its `accept` to true where the phrase is a good keyphrase. The
same command again keeps what is decided and adds phrases that are new.
"""


@verb("overlap", epilog=EPILOG)
@corpus_argument
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...", shell_complete=completion.paths)
@click.option(
    "--review",
    metavar="FILE",
    help="Write the phrases that systems share and references lack to FILE, JSON lines or CSV (under the first "
    "protocol).",
    shell_complete=completion.new_paths,
)
@documents_out_option
@reading_flags
@output_flags
def overlap(corpus: str, runs: tuple[str, ...], review: str | None, documents_out: str | None, **options: Any) -> None:
    """Show what systems predict alike, right and wrong.

    For every two systems: of the phrases that either predicts, the
    percentage that both predict and that is correct, and wrong, with a
    histogram. Then what the union, the intersection and the majority of all
    systems would score.
    """
    output, files = Output.of(options), Files.of(options)
    check_file(review)
    check_file(documents_out)
    from karat.formats.reviews import Review, merge_review, read_review, write_review

    reviewed = Review() if review is None else read_review(review)
    documents, systems = files.all(corpus, runs)
    with files.work(options, output.quiet) as chosen:
        found = karat.overlap(documents, *systems, **chosen)
    if review is not None:
        write_review(review, merge_review(reviewed, found.review()), reviewed.columns)
    if documents_out is not None:
        found.save_documents(documents_out)
    output.deliver(found)
