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

    A metric that some corpus lacks, or on which nothing could be tested there, has no mean.
    """
    families: dict[tuple[str, str, Request], list[Pair]] = {}
    for pair in pairs:
        families.setdefault((pair.corpus, pair.protocol, pair.request), []).append(pair)
    single = [_of_pairs(own, alpha) for own in families.values()]
    corpora = dict.fromkeys(pair.corpus for pair in pairs)
    return (*single, *_means(single, len(corpora))) if len(corpora) > 1 else tuple(single)


def _of_pairs(pairs: Sequence[Pair], alpha: float) -> DiscriminativePower:
    """Compute the discriminative power of one metric on one corpus."""
    differences = [pair.apart for pair in pairs if not isnan(pair.apart.p)]
    significant = sum(one.p <= alpha for one in differences)
    adjusted = sum(one.significant(alpha) for one in differences)
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
        _mean(abs(one.effect.d_z) for one in differences if one.effect is not None),
        _mean(one.detectable for one in differences),
    )


def _means(single: Sequence[DiscriminativePower], corpora: int) -> Iterator[DiscriminativePower]:
    """Yield the mean over corpora of each metric that all of them have."""
    metrics: dict[tuple[str, Request], list[DiscriminativePower]] = {}
    for each in single:
        metrics.setdefault((each.protocol, each.request), []).append(each)
    for (protocol, request), own in metrics.items():
        if len(own) == corpora and all(each.pairs for each in own):
            yield DiscriminativePower(
                tuple(corpus for each in own for corpus in each.corpora),
                protocol,
                request,
                sum(each.pairs for each in own),
                sum(each.significant for each in own),
                _mean(each.share for each in own),
                sum(each.significant_adjusted for each in own),
                _mean(each.share_adjusted for each in own),
                _mean(each.d_z for each in own),
                _mean(each.detectable for each in own),
            )


def _mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are defined."""
    defined = [value for value in values if not isnan(value)]
    return sum(defined) / len(defined) if defined else nan


def notes_of_means(powers: Sequence[DiscriminativePower]) -> Iterator[str]:
    """Name the metrics whose discriminative power has no mean over corpora."""
    if len({corpus for each in powers for corpus in each.corpora}) < 2:
        return
    with_mean = {(each.protocol, each.request) for each in powers if len(each.corpora) > 1}
    for name in dict.fromkeys(label(e.request) for e in powers if (e.protocol, e.request) not in with_mean):
        yield f"{name}: no mean discriminative power, since on some corpus no pair of systems could be tested"
