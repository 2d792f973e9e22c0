"""What confidences and hits say of each other: columns of numbers, whatever they are of."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np

from karat.matching.columns import Bools, Floats, Ints
from karat.metrics.base import divide

COVERAGES = 20  # points of a curve
KPP_WIDTH, KPP_BINS = 0.1, 200  # of a histogram of perplexities
EDGE = 1e-9  # so that a number that is rounded to the end of a bin is in the next one


@dataclass(frozen=True, slots=True)
class Bin:
    """The predictions with a confidence from `low` up to `high`: how many, their mean confidence, the share of hits."""

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Parts:
    """What a Brier score is made of: reliability − resolution + uncertainty + within_bins."""

    reliability: float
    resolution: float
    uncertainty: float
    within_bins: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A threshold: the share of predictions that reach it, and the share of these that is wrong."""

    coverage: float
    threshold: float
    risk: float


@dataclass(frozen=True, slots=True)
class Threshold:
    """The lowest confidence from which on a given precision is reached, and what is kept then; None: none does."""

    wanted: float
    threshold: float | None
    precision: float | None
    predictions: int
    share: float
    correct_share: float | None  # of all correct predictions, those that are kept


def bins_of(confidence: Floats, correct: Bools, which: Ints, edges: Floats) -> tuple[Bin, ...]:
    """The bins, of which `edges` are all ends."""
    size = len(edges) - 1
    count = np.bincount(which, minlength=size)
    sure = divide(np.bincount(which, weights=confidence, minlength=size), count).tolist()
    right = divide(np.bincount(which, weights=correct, minlength=size), count).tolist()
    return tuple(
        Bin(low, high, n, sure[i] if n else None, right[i] if n else None)
        for i, (low, high, n) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), count.tolist(), strict=True))
    )


def kpp_histogram(kpp: Floats) -> tuple[int, ...]:
    """How many perplexities are in each bin of .1 from 1 on, the last holding all that are higher.

    >>> kpp_histogram(np.array([1.0, 1.05, 1.1, 1.35, 99.0]))[:5], len(kpp_histogram(np.array([1.0])))
    ((2, 1, 0, 1, 0), 200)
    """
    bins = np.floor(np.minimum((kpp - 1) / KPP_WIDTH, KPP_BINS) + EDGE)
    which = np.clip(bins, 0, KPP_BINS - 1).astype(np.int64)
    return tuple(np.bincount(which, minlength=KPP_BINS).tolist())


def brier_parts(confidence: Floats, correct: Bools, which: Ints) -> Parts:
    """The parts of the Brier score by bins (Murphy 1973), with what lies within them (Stephenson 2008).

    Reliability is Σ_b (n_b/n)(c_b − a_b)², resolution Σ_b (n_b/n)(a_b − a)², uncertainty a(1 − a), c_b being the mean
    confidence of a bin and a_b its accuracy. These three are the whole only if all confidences of a bin are equal; if
    not, the variance of confidence within bins less twice its covariance with being correct remains.
    """
    n, size = len(confidence), int(which.max(initial=0)) + 1
    count = np.bincount(which, minlength=size)
    sure = divide(np.bincount(which, weights=confidence, minlength=size), count, empty=0.0)
    right = divide(np.bincount(which, weights=correct, minlength=size), count, empty=0.0)
    overall = correct.mean()
    apart, off = confidence - sure[which], correct - right[which]
    return Parts(
        float((count * (sure - right) ** 2).sum() / n),
        float((count * (right - overall) ** 2).sum() / n),
        float(overall * (1 - overall)),
        float((apart**2 - 2 * apart * off).mean()),
    )


def ece_by_chance(confidence: Floats, which: Ints) -> float:
    """About the ECE of a system that is right exactly as often as it is sure, on so many predictions.

    Its hits in a bin have the variance Σ c(1 − c); the mean distance of a normal variable from its mean is √(2/π) σ.
    """
    variance = np.bincount(which, weights=confidence * (1 - confidence))
    return float(sqrt(2 / pi) * np.sqrt(variance).sum() / len(confidence))


def _by_confidence(confidence: Floats, correct: Bools) -> tuple[Floats, Ints, Ints]:
    """(the distinct confidences from the highest, how many predictions reach each, how many of these are correct)."""
    distinct, back = np.unique(-confidence, return_inverse=True)
    count = np.bincount(back, minlength=len(distinct))
    hits = np.bincount(back, weights=correct, minlength=len(distinct)).astype(np.int64)
    return -distinct, np.cumsum(count), np.cumsum(hits)


def threshold_for(confidence: Floats, correct: Bools, precision: float) -> Threshold:
    """The lowest confidence such that, of the predictions that reach it, the given share is correct.

    >>> found = threshold_for(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, False]), 0.6)
    >>> found.threshold, found.predictions, round(found.precision, 4)
    (0.7, 3, 0.6667)
    """
    levels, kept, hits = _by_confidence(confidence, correct)
    reached = np.flatnonzero(hits >= precision * kept - 1e-9)
    if not len(reached):
        return Threshold(precision, None, None, 0, 0.0, None)
    at = reached[-1]
    share = float(kept[at] / len(confidence))
    correct_share = float(hits[at] / hits[-1]) if hits[-1] else None
    return Threshold(precision, float(levels[at]), float(hits[at] / kept[at]), int(kept[at]), share, correct_share)


def risks(confidence: Floats, correct: Bools) -> Floats:
    """The share of wrong ones among the k surest predictions, for k from 1 on.

    Predictions of one confidence have no order; so each of them has the same part of their hits.
    """
    _, kept, hits = _by_confidence(confidence, correct)
    k = np.arange(1, len(confidence) + 1)
    found = np.interp(k, np.r_[0, kept], np.r_[0, hits])
    wrong: Floats = 1 - found / k
    return wrong


def risk_coverage(confidence: Floats, correct: Bools) -> tuple[CurvePoint, ...]:
    """The curve of risk by coverage at some shares of the predictions, the surest first."""
    risk, ordered = risks(confidence, correct), np.sort(confidence)[::-1]
    n = len(confidence)
    upto = sorted({-(-n * step // COVERAGES) for step in range(1, COVERAGES + 1)})
    return tuple(CurvePoint(k / n, float(ordered[k - 1]), float(risk[k - 1])) for k in upto)
