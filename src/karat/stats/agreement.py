"""Agreement of annotators: one score an item from several, equal scores, and Krippendorff's alpha, with intervals.

Intervals are by the jackknife: units, which are documents or items, are left out in turn. Shares have t intervals on
the logit scale, and alpha on Fisher's z scale, which is the same for a range of −1 to 1.

Where most scores are equal, alpha depends on the few units with other scores, and a sample without them has an alpha
that is too low with a variance that is too small. So the variance at the upper end has one term more: w δ², with δ the
increase of alpha by one more unit on which all annotators give the same rare score, and w = min(1, 4 m⁴), m the share
of the most frequent score. The calibration bench (`python -m benchmarks.inference`) shows the coverage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import Literal

import numpy as np

from karat.stats.base import ALIKE, Floats, Ints
from karat.stats.influence import contrast, interval_between, jackknife_of, score_interval

Scale = Literal["nominal", "ordinal", "interval"]
Combination = Literal["mean", "majority"]

SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval")
COMBINATIONS: tuple[Combination, ...] = ("mean", "majority")
FEWEST_UNITS = 3  # below which alpha has no interval


@dataclass(frozen=True, slots=True)
class AgreementValue:
    """A measure of agreement with its confidence interval, NaN where it is undefined."""

    value: float
    interval: tuple[float, float]
    n: int  # items


# ---------------------------------------------------------------------------------------------- combined scores


def combined(values: Floats, how: Combination = "mean") -> Floats:
    """Combine values[items, annotators] into one value an item, NaN where nobody gave one: the mean or the majority's.

    Of values that equally many gave the one nearest the median is taken, and of two equally near the lower.

    >>> combined(np.array([[1.0, 2.0, 2.0], [0.0, 3.0, 4.0], [1.0, 3.0, np.nan]]), "majority").tolist()
    [2.0, 3.0, 1.0]
    """
    if how == "mean":
        ordered = np.sort(values, axis=1)  # so that the order of annotators does not change a digit
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nansum(ordered, axis=1) / (~np.isnan(ordered)).sum(axis=1))
    return np.array([_majority(row[~np.isnan(row)]) for row in values], dtype=np.float64)


def _majority(scores: Floats) -> float:
    if not len(scores):
        return nan
    distinct, counts = np.unique(scores, return_counts=True)
    first = distinct[counts == counts.max()]
    return float(first[np.argmin(np.abs(first - np.median(scores)))])


# ---------------------------------------------------------------------------------------------- equal scores


def equal_shares(values: Floats, units: Ints | None = None, level: float = 0.95) -> list[tuple[int, AgreementValue]]:
    """Return for each k from 2 on the share of items with k values or more on which k or more are equal.

    >>> shares = equal_shares(np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 3.0], [1.0, 2.0, np.nan]]))
    >>> [(k, share.n, round(share.value, 4)) for k, share in shares]
    [(2, 3, 0.6667), (3, 2, 0.5)]
    """
    scores = [row[~np.isnan(row)] for row in values]
    most = np.array([np.unique(row, return_counts=True)[1].max(initial=0) for row in scores])
    size = np.array(list(map(len, scores)))
    able = {k: size >= k for k in range(2, int(size.max(initial=0)) + 1)}
    return [
        (k, _mean((most[some] >= k).astype(float), None if units is None else units[some], level))
        for k, some in able.items()
    ]


def equal_pairs(values: Floats, units: Ints | None = None, level: float = 0.95) -> AgreementValue:
    """Return the share of pairs of annotators that give an item the same value, the mean over the items with two or
    more.

    >>> round(equal_pairs(np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 3.0], [1.0, np.nan, np.nan]])).value, 4)
    0.6667
    """
    several = (~np.isnan(values)).sum(axis=1) > 1
    counts = [np.unique(row[~np.isnan(row)], return_counts=True)[1] for row in values[several]]
    shares = [(same * (same - 1)).sum() / (same.sum() * (same.sum() - 1)) for same in counts]
    return _mean(np.array(shares), None if units is None else units[several], level)


def all_equal(values: Floats, units: Ints | None = None, level: float = 0.95) -> AgreementValue:
    """Return the share of items with two values or more whose values are all equal.

    >>> all_equal(np.array([[1.0, 1.0, np.nan], [3.0, 3.0, 2.0], [1.0, np.nan, np.nan]])).value
    0.5
    """
    several = (~np.isnan(values)).sum(axis=1) > 1
    some = values[several]
    equal = np.nanmax(some, axis=1) == np.nanmin(some, axis=1) if len(some) else np.zeros(0)
    return _mean(equal.astype(float), None if units is None else units[several], level)


def _mean(shares: Floats, units: Ints | None, level: float) -> AgreementValue:
    """Return the mean of shares of items, with its interval."""
    if not len(shares):
        return AgreementValue(nan, (nan, nan), 0)

    def mean(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return np.asarray(weights @ shares / weights.sum(axis=1))

    found = jackknife_of(mean, np.arange(len(shares)) if units is None else units)
    return AgreementValue(float(shares.mean()), score_interval(contrast(found), level), len(shares))


# ---------------------------------------------------------------------------------------------- Krippendorff's alpha


def krippendorff(values: Floats, scale: Scale = "interval") -> float:
    """Return Krippendorff's alpha of values[items, annotators]: 1 − observed disagreement / that expected by chance.

    Values may be missing (NaN); only items with two or more count. Alpha is NaN where there are none, and where all
    values are equal.
    """
    several = values[(~np.isnan(values)).sum(axis=1) > 1]
    return float(_alphas(several, scale, np.ones((1, len(several))))[0])


def alpha_with_interval(
    values: Floats, scale: Scale = "interval", units: Ints | None = None, level: float = 0.95
) -> AgreementValue:
    """Return Krippendorff's alpha with its jackknife t interval on Fisher's z scale.

    `units` are the documents of the items; without them each item is a unit. The interval is NaN with fewer than three
    units, and where alpha is undefined without one of them.
    """
    some = (~np.isnan(values)).sum(axis=1) > 1
    several = values[some]
    of_items = np.arange(len(several)) if units is None else units[some]
    one = contrast(jackknife_of(lambda weights: _alphas(several, scale, weights), of_items))
    if one.n < FEWEST_UNITS or np.isnan(one.error):
        return AgreementValue(float(one.value), (nan, nan), len(several))
    upper = replace(one, documents=one.documents + _unseen_agreement(several, scale, len(several) / one.n))
    low, high = (interval_between(each, level, (-1.0, 1.0))[end] for end, each in enumerate((one, upper)))
    return AgreementValue(float(one.value), (low, high), len(several))


def _unseen_agreement(values: Floats, scale: Scale, items: float) -> float:
    """Return w δ²: the variance by one more unit, of so many items, on which annotators agree on a rare score.

    The rare score is the least frequent one of a nominal scale, and otherwise the end of the scale that increases alpha
    more.
    """
    scores, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    rare = scores[[counts.argmin()]] if scale == "nominal" else scores[[0, -1]]
    given = round(float((~np.isnan(values)).sum(axis=1).mean()))
    agreed = np.full((len(rare), values.shape[1]), nan)
    agreed[:, :given] = rare[:, None]
    weights = np.concatenate([np.ones((len(rare) + 1, len(values))), items * np.eye(len(rare) + 1, len(rare))], axis=1)
    *more, now = _alphas(np.concatenate([values, agreed]), scale, weights).tolist()
    share = float(counts.max() / counts.sum())
    increase = max(0.0, *(float(alpha - now) for alpha in more))
    return min(1.0, 4 * share**4) * increase * increase


def _alphas(values: Floats, scale: Scale, weights: Floats) -> Floats:
    """Compute alpha for each row of weights[some, items]; every item has two values or more."""
    there = ~np.isnan(values)
    if not len(values):
        return np.full(len(weights), nan)
    levels, code = np.unique(values[there], return_inverse=True)
    size = there.sum(axis=1)
    counts = np.zeros((len(values), len(levels)))  # how often each item has each level
    np.add.at(counts, (np.repeat(np.arange(len(values)), size), code), 1)
    totals = weights @ counts  # [some, levels]
    n = totals.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if scale == "nominal":
            observed = weights @ ((size**2 - (counts**2).sum(axis=1)) / (size - 1))
            expected = (n**2 - (totals**2).sum(axis=1)) / (n - 1)
        else:
            places = _places(levels, totals, scale)  # [some, levels]
            means = places @ counts.T / size  # [some, items]
            squares = places**2 @ counts.T - size * means**2
            observed = (weights * squares * (size / (size - 1))).sum(axis=1)
            expected = (totals * places**2).sum(axis=1) * n / (n - 1)
        alpha = 1 - np.maximum(observed, 0.0) / expected
    varied = (totals > 0).sum(axis=1) > 1
    return np.where(varied, np.where(observed <= ALIKE * expected, 1.0, alpha), nan)


def _places(levels: Floats, totals: Floats, scale: Scale) -> Floats:
    """Return the place of each level less the mean over all values, [some, levels].

    The ordinal distance of two values, the values between them and half of both, is that of their mean ranks.
    """
    if scale == "ordinal":
        places = np.cumsum(totals, axis=1) - (totals - 1) / 2
    else:
        places = np.broadcast_to(levels / (np.abs(levels).max() or 1.0), totals.shape)
    return np.asarray(places - (totals * places).sum(axis=1, keepdims=True) / totals.sum(axis=1, keepdims=True))
