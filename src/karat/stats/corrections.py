"""Corrections of p-values for the number of tests; what is undefined (NaN) was no test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from karat.errors import unknown


def holm(p: Sequence[float]) -> list[float]:
    """The p of several tests, adjusted for their number (Holm 1979); what is undefined was no test.

    Of m tests the smallest p is multiplied by m, the next by m − 1 and so on, and none is below one before it. Call
    those at most alpha differences: the chance that any one of them is none is alpha at most, however the tests depend
    on each other.

    >>> holm([0.01, 0.04, 0.03, float("nan")])
    [0.03, 0.06, 0.06, nan]
    """
    adjusted, largest = list(p), 0.0
    tested = _from_smallest(p)
    for rank, i in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p[i]))
        adjusted[i] = largest
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """The p of several tests, adjusted for the share of false discoveries (Benjamini and Hochberg 1995).

    The p at rank i of m becomes p · m / i, and none is above one after it. Call those at most alpha differences: the
    share of them that are none is alpha at most on average, if the tests are independent or go together.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")])
    [0.03, 0.04, 0.04, nan]
    """
    adjusted, smallest = list(p), 1.0
    tested = _from_smallest(p)
    for rank in range(len(tested), 0, -1):
        i = tested[rank - 1]
        smallest = min(smallest, p[i] * len(tested) / rank)
        adjusted[i] = smallest
    return adjusted


def _from_smallest(p: Sequence[float]) -> list[int]:
    """The places of the p that are defined, from the smallest on."""
    return sorted((i for i in range(len(p)) if p[i] == p[i]), key=lambda i: p[i])


CORRECTIONS: Mapping[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "none": list,
}


def adjusted(p: Sequence[float], correction: str = "holm") -> list[float]:
    """The p of several tests under a correction by its name: holm, bh or none."""
    if correction not in CORRECTIONS:
        raise unknown("correction", correction, CORRECTIONS)
    return CORRECTIONS[correction](p)


def bounded(p: Sequence[float], at_floor: Sequence[bool], correction: str = "holm") -> list[bool]:
    """Which adjusted p are upper bounds, since they come from a p that resamples could not make smaller.

    These are the ones that would be smaller if each p at its floor were 0.

    >>> bounded([0.01, 0.04, 0.03], [True, False, False])
    [True, False, False]
    """
    lowest = [0.0 if floored else one for one, floored in zip(p, at_floor, strict=True)]
    both = zip(adjusted(p, correction), adjusted(lowest, correction), strict=True)
    return [least < most for most, least in both]
