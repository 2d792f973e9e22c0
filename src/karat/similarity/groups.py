"""Similarities that a paper measures together, by the paper's name."""

from __future__ import annotations

from collections.abc import Iterable

# The columns of Table 3 of Kim and others 2010, in its order: R-precision, modified R-precision, BLEU, METEOR, NIST,
# ROUGE-1, and the similarity of the contexts of phrases, which the paper takes from web pages.
GROUPS: dict[str, tuple[str, ...]] = {
    "kim2010": ("overlap", "overlap_head", "bleu", "meteor", "nist", "rouge1", "context"),
}


def ungrouped(names: Iterable[str]) -> list[str]:
    """The names, each group replaced by its members; what comes twice is there once.

    >>> ungrouped(["kmr", "kim2010", "bleu"])
    ['kmr', 'overlap', 'overlap_head', 'bleu', 'meteor', 'nist', 'rouge1', 'context']
    """
    return list(dict.fromkeys(member for name in names for member in GROUPS.get(name, (name,))))
