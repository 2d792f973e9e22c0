"""Discriminative power of metrics: the share of pairs of systems that differ significantly, and the mean effect size.

Sakai, T. (2006). Evaluating evaluation metrics based on the bootstrap. SIGIR. The tests are those of the comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isnan, nan

from karat.analyses.compare.notes import label
from karat.analyses.compare.result import DiscriminativePower, Pair
from karat.metrics.base import Request


def discriminative_powers(pairs: Sequence[Pair], alpha: float) -> tuple[DiscriminativePower, ...]:
    """Compute the discriminative power of each metric on each corpus, then the means over several corpora.

    A metric has no mean if some corpus lacks it or nothing could be tested there.
    """
    families: dict[tuple[str, str, Request], list[Pair]] = {}
    for pair in pairs:
        families.setdefault((pair.corpus, pair.protocol, pair.request), []).append(pair)
    powers = [_power(family, alpha) for family in families.values()]
    corpora = {pair.corpus for pair in pairs}
    return (*powers, *_means(powers, len(corpora))) if len(corpora) > 1 else tuple(powers)


def _power(pairs: Sequence[Pair], alpha: float) -> DiscriminativePower:
    """Compute the discriminative power of one metric on one corpus."""
    differences = [pair.apart for pair in pairs if not isnan(pair.apart.p)]
    significant = sum(difference.p <= alpha for difference in differences)
    adjusted = sum(difference.significant(alpha) for difference in differences)
    count = len(differences)
    return DiscriminativePower(
        (pairs[0].corpus,),
        pairs[0].protocol,
        pairs[0].request,
        count,
        significant,
        significant / count if count else nan,
        adjusted,
        adjusted / count if count else nan,
        _mean(abs(difference.effect.d_z) for difference in differences if difference.effect is not None),
        _mean(difference.detectable for difference in differences),
    )


def _means(powers: Sequence[DiscriminativePower], corpora: int) -> Iterator[DiscriminativePower]:
    """Yield the mean over corpora of each metric that all of them have."""
    metrics: dict[tuple[str, Request], list[DiscriminativePower]] = {}
    for power in powers:
        metrics.setdefault((power.protocol, power.request), []).append(power)
    for (protocol, request), by_corpus in metrics.items():
        if len(by_corpus) == corpora and all(power.pairs for power in by_corpus):
            yield DiscriminativePower(
                tuple(corpus for power in by_corpus for corpus in power.corpora),
                protocol,
                request,
                sum(power.pairs for power in by_corpus),
                sum(power.significant for power in by_corpus),
                _mean(power.share for power in by_corpus),
                sum(power.significant_adjusted for power in by_corpus),
                _mean(power.share_adjusted for power in by_corpus),
                _mean(power.d_z for power in by_corpus),
                _mean(power.detectable for power in by_corpus),
            )


def _mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are defined."""
    defined = [value for value in values if not isnan(value)]
    return sum(defined) / len(defined) if defined else nan


def notes_of_means(powers: Sequence[DiscriminativePower]) -> Iterator[str]:
    """Name the metrics whose discriminative power has no mean over corpora."""
    if len({corpus for power in powers for corpus in power.corpora}) < 2:
        return
    with_mean = {(power.protocol, power.request) for power in powers if len(power.corpora) > 1}
    without = [power.request for power in powers if (power.protocol, power.request) not in with_mean]
    for name in dict.fromkeys(map(label, without)):
        yield f"{name}: no mean discriminative power, since on some corpus no pair of systems could be tested"
