"""Comparisons of systems on the same pairs: all pairs of systems, generators with extractors, and power."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, nan
from typing import Any

import numpy as np

from karat.analyses.homogeneity.data import TOO_FEW, Data, Measured
from karat.analyses.homogeneity.result import Comparison, Row, kind_of, or_none
from karat.analyses.homogeneity.samples import mean_of
from karat.errors import counted
from karat.stats.difference import FEWEST, Contestants, Correction, Difference, adjust_families, compare_pairs

FEW_DF = 5.0  # degrees of freedom, below which a note says so
MOST_NOTES = 3  # comparisons that are named one by one
RAISED = (
    "in {0:,} of {1:,} figures and differences the dyadic variance is below that of independent pairs, which is used "
    "there"
)
NO_DEPENDENCE = (
    "all pairs share documents with each other, so their dependence cannot be estimated: intervals and p are those of "
    "independent pairs, with one degree of freedom"
)
KINDS = {"generates": "(generators)", "extracts": "(extractors)"}
APART = (0.01, 0.02, 0.05, 0.1)  # differences for which pairs are counted


def comparisons(data: Data, systems: Sequence[Measured], correction: Correction | None = None) -> list[Comparison]:
    """Compare every two systems on every measure, on the pairs on which both are defined.

    p is adjusted over all pairs of systems on one measure.
    """
    how = data.options.inference(correction)
    metrics = list(systems[0].values) if systems else []
    keys = [(metric, *pair) for metric in metrics for pair in combinations(systems, 2)]
    differences = compare_pairs([_contestants(data, *key) for key in keys], how)
    differences = adjust_families(differences, [metric for metric, _, _ in keys], how)
    return [_comparison(*key, difference) for key, difference in zip(keys, differences, strict=True)]


def _contestants(data: Data, metric: str, one: Measured, other: Measured) -> Contestants:
    x, y = one.values[metric], other.values[metric]
    defined = ~np.isnan(x) & ~np.isnan(y)
    a, b = (mean_of(np.where(defined, values, np.nan), data.units) for values in (x, y))
    return Contestants([a], [b])


def _comparison(metric: str, one: Measured, other: Measured, difference: Difference) -> Comparison:
    defined = [~np.isnan(each.values[metric]) for each in (one, other)]
    pairs, different = int((defined[0] & defined[1]).sum()), bool((defined[0] != defined[1]).any())
    return Comparison(one.protocol, metric, one.system, other.system, pairs, different, difference)


def compare_kinds(data: Data, systems: Sequence[Measured]) -> list[Comparison]:
    """Compare the mean of the systems that generate with that of those that extract; nothing of one kind alone.

    Each kind is the mean over its systems of their values on a pair, which counts where all systems are defined.
    """
    kinds = {kind: [each for each in systems if kind_of(each.generated[0]) == kind] for kind in KINDS}
    if not all(kinds.values()):
        return []
    means = []
    for kind, members in kinds.items():
        values = {
            metric: np.asarray(np.stack([each.values[metric] for each in members]).mean(axis=0))
            for metric in ("hooper", "rodgers")
        }
        means.append(Measured(KINDS[kind], members[0].protocol, ~np.isnan(values["hooper"]), values, {}))
    return comparisons(data, means, "none")


# ---------------------------------------------------------------------------------------------- notes


def comparison_notes(compared: Sequence[Comparison]) -> Iterator[str]:
    """Name the comparisons that have too few pairs for a test, or count them where they are many."""
    few = dict.fromkeys(
        (each.a, each.b, each.pairs, each.difference.n) for each in compared if each.difference.n < FEWEST
    )
    if len(few) > MOST_NOTES:
        total = len({(each.a, each.b) for each in compared})
        yield (
            f"{len(few):,} of {total:,} comparisons have fewer than {FEWEST} pairs, or pairs of fewer than {FEWEST} "
            "documents and their reformulations, on which both systems are defined, too few for a test"
        )
        return
    for a, b, pairs, units in few:
        count = counted(pairs, "pair") if pairs else "no pair"
        count += "" if pairs == units else f" of {counted(units, 'document')} and reformulations"
        yield f"{a} and {b}: {count} on which both are defined, too few for a test"


def dependence_notes(rows: Sequence[Row], compared: Sequence[Comparison]) -> Iterator[str]:
    """State where the variance of pairs that share documents cannot be estimated or is below that of independent
    pairs.
    """
    figures = [figure.dyadic for row in rows for figure in row.figures.values()]
    differences = [None if each.difference.contrast is None else each.difference.contrast.dyadic for each in compared]
    known = [each for each in (*figures, *differences) if each is not None]
    raised = [each for each in known if bool(each.raised)]
    if raised and all(each.complete for each in raised):
        yield NO_DEPENDENCE
    elif raised:
        yield RAISED.format(len(raised), len(known))
    least = min((float(each.df) for each in known if each.shares and not each.complete), default=inf)
    if least < FEW_DF:
        yield (
            "the pairs share so many documents that some intervals and p rest on "
            f"{least:.1f} degrees of freedom: they are wide"
        )


# ---------------------------------------------------------------------------------------------- power


@dataclass(frozen=True, slots=True)
class Power:
    """The smallest difference of two systems that the pairs detect, and the pairs that other differences take."""

    protocol: str
    a: str
    b: str
    pairs: int  # on which both are defined
    sd: float  # of the difference over pairs
    effect: float  # the variance over that of as many pairs that share no document
    detectable: float
    needed: tuple[float, ...]  # pairs for each difference of APART

    def as_dict(self) -> dict[str, Any]:
        """Return the row of the JSON output."""
        return {
            "protocol": self.protocol,
            "a": self.a,
            "b": self.b,
            "pairs": self.pairs,
            "sd": or_none(self.sd),
            "design_effect": or_none(self.effect),
            "detectable": or_none(self.detectable),
            "pairs_needed": {f"{apart:g}": or_none(count) for apart, count in zip(APART, self.needed, strict=True)},
        }


def powers(systems: Sequence[Measured], compared: Sequence[Comparison]) -> Iterator[Power]:
    """Compute the power of each comparison by Hooper, two-sided at .05 and with power .8.

    With fewer than ten pairs, where the difference is the same on all pairs, and where all pairs share documents with
    each other, the figures are undefined.
    """
    values = {each.system: each.values["hooper"] for each in systems}
    for each in compared:
        if each.metric != "hooper":
            continue
        apart = values[each.a] - values[each.b]
        apart = apart[~np.isnan(apart)]
        contrast, n = each.difference.contrast, len(apart)
        sd = float(apart.std(ddof=1)) if n > 1 else nan
        if contrast is None or n < TOO_FEW or not contrast.varies or (contrast.dyadic and contrast.dyadic.complete):
            yield Power(each.protocol, each.a, each.b, n, sd, nan, nan, (nan,) * len(APART))
            continue
        effect = float(contrast.documents) / (sd**2 / n)
        pairs_per_unit = n / contrast.n
        needed = tuple(float(np.ceil(contrast.needed(d) * pairs_per_unit)) for d in APART)
        yield Power(each.protocol, each.a, each.b, n, sd, effect, each.difference.detectable, needed)
