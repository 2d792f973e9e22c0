"""The phrases that a model gives of those that it ranked."""

from __future__ import annotations

from collections.abc import Iterable

from karat.models.base import CommonOptions


def chosen(ranked: Iterable[tuple[str, str, float]], common: CommonOptions) -> list[tuple[str, float]]:
    """The first n of ranked (phrase, joined stems, score) as (phrase or stems, score), by the common options.

    >>> ranked = [("deep nets", "deep net", 3.0), ("nets", "net", 2.0), ("bees", "bee", 1.0)]
    >>> chosen(ranked, CommonOptions(n=2)), chosen(ranked, CommonOptions(n=2, redundancy=True, stem=True))
    ([('deep nets', 3.0), ('nets', 2.0)], [('deep net', 3.0), ('bee', 1.0)])
    """
    found: list[tuple[str, float]] = []
    better: list[str] = []
    if common.n < 1:
        return found
    for phrase, form, score in ranked:
        if common.redundancy and any(f" {form} " in other for other in better):
            continue
        better.append(f" {form} ")
        found.append((form if common.stem else phrase, score))
        if len(found) == common.n:
            break  # without a look at what comes next, which may be costly
    return found
