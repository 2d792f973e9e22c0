"""karat audit: the same runs under every protocol."""

from __future__ import annotations

from typing import Any

import karat
from karat.cli.flags import verb
from karat.cli.shared import (
    Files,
    Output,
    corpus_argument,
    development_flags,
    output_flags,
    reading_flags,
    runs_argument,
)

EPILOG = """\b
Examples:
  karat audit corpus.jsonl t5.jsonl one2set.jsonl
  karat audit corpus.jsonl t5.jsonl -m f1@5:absent -f md -o audit.md
  karat audit corpus.jsonl t5.jsonl --against chan2019 --protocol karat \\
      --protocol kpdrop2022,pad=k
"""


@verb("audit", epilog=EPILOG)
@corpus_argument
@runs_argument
@development_flags
@reading_flags
@output_flags
def audit(corpus: str, runs: tuple[str, ...], **options: Any) -> None:
    """Score runs under every protocol and explain the differences.

    One metric: protocols down, systems across, how far each system's scores
    are apart, whether the ranking of the systems changes, and which option of
    the protocols explains each difference, found by changing one at a time:
    each alone, then one after the other, so that the changes add up. Without
    --protocol: every published one, experimental ones marked, and the flags
    of their scripts. Twenty thousand documents take minutes: use -j, or
    --no-causes for the table alone.
    """
    output, files = Output.of(options, saves=True), Files.of(options)
    documents, systems = files.all(corpus, runs)
    development = files.other(options)
    with files.work(options, output.quiet) as chosen:
        found = karat.audit(documents, *systems, development=development, **chosen)
    output.deliver(found)
