"""Systems compared on the same pairs: every two, generators with extractors, and how many pairs that takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isfinite, sqrt
from typing import Any

import numpy as np

from karat.analyses.homogeneity.data import TOO_FEW, Data, Measured
from karat.analyses.homogeneity.result import Difference, kind_of, or_none
from karat.analyses.homogeneity.samples import mean_of
from karat.pairs.sets import Floats, Ints
from karat.stats.corrections import adjusted
from karat.stats.effects import POWER, detectable, documents_needed
from karat.stats.resampling import difference, grouped_sums, interval_of
from karat.stats.tests import ALPHA, randomisations, shift

TESTS = ("randomisation", "bootstrap")
KINDS = {"generates": "(generators)", "extracts": "(extractors)"}
APART = (0.01, 0.02, 0.05, 0.1)  # differences for which pairs are counted


def differences(data: Data, systems: Sequence[Measured]) -> Iterator[Difference]:
    """Every two systems on every measure, by randomisation of what hangs together and by the bootstrap."""
    options = data.options
    for metric in systems[0].values if systems else ():
        pairs = list(combinations(systems, 2))
        swapped = randomisations(
            [(one.samples[metric], other.samples[metric]) for one, other in pairs], options.resamples, options.seed
        )
        for (one, other), swap in zip(pairs, swapped, strict=True):
            apart = difference(one.estimates[metric], other.estimates[metric])
            ends = interval_of(apart, options.level, options.interval)
            both = ~np.isnan(one.values[metric]) & ~np.isnan(other.values[metric])
            p = shift(apart).p if both.sum() >= TOO_FEW else np.nan
            tests = dict(zip(TESTS, (swap.p, p), strict=True))
            whose = (one.protocol, metric, one.system, other.system)
            notes = tuple(f"{one.system} and {other.system} ({metric}): {note}" for note in swap.notes)
            yield Difference(*whose, apart.value, ends, tests, {}, notes)


def kinds_apart(data: Data, systems: Sequence[Measured]) -> list[Difference]:
    """The mean of the systems that generate less that of those that extract, pair by pair; nothing of one kind alone.

    Each kind is the mean over its systems of what they have on a pair, which counts where all systems are defined.
    """
    kinds = {kind: [each for each in systems if kind_of(each.generated[0]) == kind] for kind in KINDS}
    if not all(kinds.values()):
        return []
    found = []
    for metric in ("hooper", "rodgers"):
        both = []
        for kind, members in kinds.items():
            columns = np.stack([each.values[metric] for each in members])
            values = {metric: np.asarray(columns.mean(axis=0))}
            samples = {metric: mean_of(values[metric], data.units)}
            there = ~np.isnan(values[metric])
            own = (KINDS[kind], members[0].protocol, there, values, samples, data.estimates(samples))
            both.append(Measured(*own))
        found += list(differences(data, both))
    return corrected(found, "none")


def corrected(found: Sequence[Difference], correction: str) -> list[Difference]:
    """The differences with the p of each test adjusted over all of them."""
    by_test = {test: adjusted([each.tests[test] for each in found], correction) for test in TESTS}
    return [replace(each, adjusted={test: by_test[test][n] for test in TESTS}) for n, each in enumerate(found)]


# ---------------------------------------------------------------------------------------------- power


@dataclass(frozen=True, slots=True)
class Power:
    """How small a difference of two systems the pairs can tell, and how many pairs others would take."""

    protocol: str
    a: str
    b: str
    pairs: int  # on which both are defined
    difference: float
    sd: float  # of the difference over pairs
    effect: float  # how many times as large the variance is as that of so many pairs that share no document
    detectable: float  # the smallest difference that is found
    needed: tuple[float, ...]  # pairs for each difference of APART
    needed_own: float  # pairs for the difference that there is

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        return {
            "protocol": self.protocol,
            "a": self.a,
            "b": self.b,
            "pairs": self.pairs,
            "difference": or_none(self.difference),
            "sd": or_none(self.sd),
            "design_effect": or_none(self.effect),
            "detectable": or_none(self.detectable),
            "pairs_needed": {f"{apart:g}": or_none(count) for apart, count in zip(APART, self.needed, strict=True)},
            "pairs_needed_for_difference": or_none(self.needed_own),
        }


def powers(data: Data, systems: Sequence[Measured]) -> Iterator[Power]:
    """The power of a comparison of every two systems by Hooper, two-sided at .05 and with power .8.

    The variance is that of clusters of pairs that hang together by documents; its ratio to that of independent pairs
    says how many pairs are worth one. Fewer than ten pairs tell too little of how systems differ.
    """
    clusters = data.clusters()
    for one, other in combinations(systems, 2):
        apart = one.values["hooper"] - other.values["hooper"]
        there = ~np.isnan(apart)
        n = int(there.sum())
        sd, effect = spread(apart[there], clusters[there])
        worth = sd * sqrt(effect)
        value = float(apart[there].mean()) if n else np.nan
        usable = n >= TOO_FEW and isfinite(worth)
        least = detectable(worth, n, ALPHA, POWER) if usable else np.nan
        needed = tuple(float(documents_needed(worth, each, ALPHA, POWER)) if usable else np.nan for each in APART)
        own = float(documents_needed(worth, value, ALPHA, POWER)) if usable else np.nan
        yield Power(one.protocol, one.system, other.system, n, value, sd, effect, least, needed, own)


def spread(values: Floats, clusters: Ints) -> tuple[float, float]:
    """(standard deviation of values, the variance of their mean by clusters over that of independent values).

    >>> spread(np.array([1.0, 1.0, 3.0, 3.0]), np.array([0, 0, 1, 1]))
    (1.1547005383792515, 3.0)
    """
    n = len(values)
    if n < 2:
        return np.nan, np.nan
    moved = values - values.mean()
    sd = float(np.sqrt(moved @ moved / (n - 1)))
    numbered = np.unique(clusters, return_inverse=True)[1]
    count = int(numbered.max()) + 1
    if count < 2:
        return sd, np.nan
    if sd == 0:
        return 0.0, 1.0
    sums = grouped_sums(moved[:, None], numbered, count)[:, 0]
    variance = float(sums @ sums) * count / (count - 1) / n**2
    return sd, variance / (sd**2 / n)
