"""Letters: systems that share one do not differ significantly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from karat.analyses.compare.options import CompareOptions
from karat.analyses.compare.result import Pair, Standing
from karat.metrics.base import Request

Key = tuple[str, str, Request]  # corpus, protocol and request: what one family of systems is compared on


def lettered(standings: Sequence[Standing], pairs: Sequence[Pair], options: CompareOptions) -> list[Standing]:
    """The standings with letters: systems that share one do not differ significantly.

    With a baseline not all are compared, and one-sided tests ask one way alone: then there are none. Systems without a
    value have none either.
    """
    if options.baseline is not None or options.alternative != "two-sided":
        return list(standings)
    families: dict[Key, list[int]] = {}
    for i, each in enumerate(standings):
        families.setdefault((each.corpus, each.protocol, each.request), []).append(i)
    apart: dict[Key, set[frozenset[str]]] = {}
    for pair in pairs:
        if pair.apart.significant(options.alpha):
            key = pair.corpus, pair.protocol, pair.request
            apart.setdefault(key, set()).add(frozenset((pair.a, pair.b)))
    found = list(standings)
    for key, members in families.items():
        sign = -1 if key[2].spec.better != "lower" else 1
        order = sorted(
            (i for i in members if not np.isnan(standings[i].value)), key=lambda i: sign * standings[i].value
        )
        given = letters([standings[i].system for i in order], apart.get(key, set()))
        for i in order:
            found[i] = replace(found[i], letters=given[standings[i].system])
    return found


def letters(systems: Sequence[str], apart: set[frozenset[str]]) -> dict[str, str]:
    """The letters of systems, given from the best on and who differs: without a letter in common exactly those.

    By insertion and absorption (Piepho 2004).

    >>> letters(["x", "y", "z"], {frozenset("xz")})
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    groups = [set(systems)]
    for pair in sorted(map(sorted, apart)):
        one, other = pair
        split = [group for group in groups if one in group and other in group]
        groups = [group for group in groups if group not in split]
        groups += [rest for whole in split for rest in (whole - {one}, whole - {other})]
        groups = [g for i, g in enumerate(groups) if not any(g < h or (g == h and j < i) for j, h in enumerate(groups))]
    place = {system: i for i, system in enumerate(systems)}
    groups.sort(key=lambda group: sorted(place[system] for system in group))
    return {system: "".join(_letter(i) for i, g in enumerate(groups) if system in g) for system in systems}


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"({number + 1})"
