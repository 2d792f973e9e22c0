"""karat audit: the same runs under every protocol."""

from __future__ import annotations

from karat.cli.shared import corpus_verb, development_files, development_flags

EPILOG = """\b
Examples:
  karat audit corpus.jsonl t5.jsonl one2set.jsonl
  karat audit corpus.jsonl t5.jsonl -m f1@5:absent -f md -o audit.md
  karat audit corpus.jsonl t5.jsonl --against chan2019 --protocol karat \\
      --protocol kpdrop2022,pad=k
"""


@corpus_verb("audit", epilog=EPILOG, extra=development_files, saves=True)
@development_flags
def audit() -> None:
    """Score runs under every protocol and explain the differences.

    One metric: protocols down, systems across, how far each system's scores
    are apart, whether the ranking of the systems changes, and which option of
    the protocols explains each difference, found by changing one at a time:
    each alone, then one after the other, so that the changes add up. Without
    --protocol: every published one, experimental ones marked, and the flags
    of their scripts. Twenty thousand documents take minutes: use -j, or
    --no-causes for the table alone.
    """
