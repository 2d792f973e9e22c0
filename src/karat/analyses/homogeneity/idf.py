"""Whether TF-IDF weighed two parts of a run by different document frequencies, as its scores tell.

A score is tf · idf. Within documents that were weighed together, the scores of one phrase are whole multiples of its
idf, so that their ratios are those of small whole numbers. Where this holds in both parts and not between them, the idf
of the parts differs. Of scores of another kind nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from karat.corpus import Run
from karat.text.normalise import normaliser

MOST_TIMES = 12  # how often a phrase may be in a text
NEAR = 1e-6
FEWEST = 10  # ratios, below which nothing is said
NEARLY_ALL = 0.95


def differs(run: Run, part: Mapping[str, str]) -> bool | None:
    """Whether documents of different parts were weighed by different frequencies; None where scores do not tell.

    `part` names the part of each document, by its id.
    """
    scores: dict[str, dict[str, list[float]]] = {}
    normal = normaliser("split", "porter", "lower")
    for prediction in run:
        own = part.get(str(prediction.id))
        if own is None or not prediction.scores:
            continue
        for phrase, score in zip(prediction.keyphrases or (), prediction.scores, strict=True):
            if phrase and score is not None and score > 0:
                scores.setdefault(normal(phrase), {}).setdefault(own, []).append(score)
    inside, across = list[bool](), list[bool]()
    for by_part in scores.values():
        firsts = [min(each) for each in by_part.values()]
        inside += [_whole(high / low) for each, low in zip(by_part.values(), firsts, strict=True) for high in each[1:]]
        across += [_whole(other / firsts[0]) for other in firsts[1:]]
    if min(len(inside), len(across)) < FEWEST or sum(inside) < NEARLY_ALL * len(inside):
        return None
    return sum(across) < NEARLY_ALL * len(across)


def _whole(ratio: float) -> bool:
    """Whether it is that of two small whole numbers.

    >>> [_whole(ratio) for ratio in (1.0, 2 / 3, 1.5000001, 1.0841)]
    [True, True, True, False]
    """
    near = Fraction(ratio).limit_denominator(MOST_TIMES)
    return near > 0 and abs(float(near) - ratio) <= NEAR * max(ratio, 1.0)
