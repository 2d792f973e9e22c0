"""Similarities of shared words (Kim 2010): overlap, and overlap with weights that rise towards the head."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from karat.similarity.base import Floats, Ints, Words, in_roles, similarity
from karat.similarity.patterns import Labels, by_pattern, table


@similarity("overlap", form="stems")
def overlap(phrases: Sequence[Words], left: Ints, right: Ints) -> Floats:
    """Words in common / words of the longer phrase ("R-precision" in Kim 2010); a repeated word counts as often."""
    return by_pattern(table(phrases), left, right, _overlap)


def _overlap(prediction: Labels, reference: Labels) -> float:
    return common(prediction, reference) / max(len(prediction), len(reference))


def common(a: Sequence[object], b: Sequence[object]) -> int:
    """How many items two sequences have in common, repeats counted."""
    return (Counter(a) & Counter(b)).total()


@similarity("overlap_head", form="stems")
def overlap_head(phrases: Sequence[Words], left: Ints, right: Ints) -> Floats:
    """Weight of the shared words / weight of all, word i of N weighing 1 / (N − i + 1) ("modified R-precision").

    The words are those of the longer phrase, and of the reference if both are as long (Kim 2010). Of a word that it
    has more often than the other phrase, the occurrences nearest the head count.
    """
    judged, longer = in_roles(phrases, left, right, "longer")
    return by_pattern(table(phrases), judged, longer, _overlap_head)


def _overlap_head(shorter: Labels, longer: Labels) -> float:
    free, matched, total = Counter(shorter), 0.0, 0.0
    for place, word in enumerate(reversed(longer), start=1):
        total += 1 / place
        if free[word]:
            free[word] -= 1
            matched += 1 / place
    return matched / total
