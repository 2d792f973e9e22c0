"""Expected calibration error without the bias of few predictions, and intervals of it and of the Brier score.

ECE is Σ_b |D_b| / n over bins b, with D_b the sum of confidence − correct over the predictions of a bin. D_b varies
from sample to sample with a standard error s_b, and the mean of |D_b| exceeds |μ_b|: for a normal D_b it is

    m(μ, s) = s √(2/π) exp(−μ²/2s²) + μ (1 − 2 Φ(−μ/s)),

so ECE is too large, the more so the fewer predictions there are and the smaller it is. Kumar, Liang and Ma (2019) and
Roelofs et al. (2022) correct the squared error of each bin, and simulate a normal D_b for the absolute one. Here the
bias is removed in closed form, to second order (a bootstrap of the bootstrap), with standard errors over documents:

    g(D, s) = 3 |D| − 3 m(D, s) + m(D, √2 s)

No estimator of |μ| is without bias at μ = 0; the calibration bench shows what remains. First-order correction,
2 |D| − m(D, s), leaves more.

The row of a document has the predictions, D and D² of each bin, then its hits, the sum of its confidences, the divisor
of ECE, and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from karat.stats.base import Floats, Ints
from karat.stats.influence import Bools, Contrast, contrast, jackknife, score_interval
from karat.stats.resampling import Sample

PSEUDO_PREDICTIONS = 4  # as many as Agresti and Coull (1998) add to a share at 95 %


def calibration_rows(bins: Sequence[Floats], divisor: Floats | Ints) -> Floats:
    """Return the row of each document; 0 where it has no prediction.

    Args:
        bins: predictions, sums of confidences and hits of each bin, [documents, bins] each
        divisor: what ECE is divided by, [documents]: the predictions of each document, or what a protocol says
    """
    counts, confidences, hits = bins
    apart = confidences - hits
    totals = (hits.sum(axis=1), confidences.sum(axis=1), divisor, divisor > 0)
    return np.concatenate([counts, apart, apart**2, np.stack(totals, axis=1)], axis=1)


def folded_mean(mean: Floats, error: Floats) -> Floats:
    """Return the mean of |X| for a normal X.

    >>> folded_mean(np.array([0.0, 3.0]), np.array([1.0, 0.0])).round(4).tolist()
    [0.7979, 3.0]
    """
    from scipy.special import ndtr

    size, some = np.abs(mean), error > 0
    z = np.where(some, size / np.where(some, error, 1.0), np.inf)
    return np.asarray(error * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + size * (1 - 2 * ndtr(-z)))


def debiased_size(value: Floats, error: Floats, order: int = 2) -> Floats:
    """Estimate |μ| from a normal value with a standard error, without the bias of |value| to first or second order.

    >>> debiased_size(np.array([0.0, 1.0, 5.0]), np.ones(3)).round(4).tolist()
    [-1.2653, 0.8994, 5.0001]
    """
    size, once = np.abs(value), folded_mean(value, error)
    if order == 1:
        return np.asarray(2 * size - once)
    return np.asarray(3 * size - 3 * once + folded_mean(value, np.sqrt(2) * error))


def finish_debiased(sums: Floats, order: int = 2) -> Floats:
    """Return the debiased ECE of sums over documents; NaN with fewer than two documents. It may be below 0."""
    bins = (sums.shape[-1] - 4) // 3
    apart, squares = sums[..., bins : 2 * bins], sums[..., 2 * bins : 3 * bins]
    divisor, n = sums[..., -2], sums[..., -1:]
    enough = np.where(n > 1, n, np.nan)
    variance = np.maximum(squares - apart**2 / enough, 0.0) * enough / (enough - 1)
    sizes = debiased_size(apart, np.sqrt(variance), order).sum(axis=-1)
    return np.asarray(sizes / np.where(divisor > 0, divisor, np.nan))


def calibration_error(rows: Floats) -> Contrast:
    """Return the debiased ECE of documents with its variance; see `calibration_rows`.

    The variance is that of the first-order estimator by the jackknife, which overstates that of the second order. It is
    at least the variance of a share of hits with PSEUDO_PREDICTIONS more predictions at the mean confidence: where no
    prediction is correct, the jackknife sees no variance of hits.
    """
    error = contrast(jackknife(Sample(rows, partial(finish_debiased, order=1))))
    sums = rows.sum(axis=0)
    bins = (len(sums) - 4) // 3
    predictions, (hits, confidence, divisor, _) = sums[:bins].sum(), sums[-4:]
    if not predictions:
        return error
    share = (hits + PSEUDO_PREDICTIONS * confidence / predictions) / (predictions + PSEUDO_PREDICTIONS)
    binomial = predictions * share * (1 - share) / divisor**2
    return replace(error, value=finish_debiased(sums), documents=np.maximum(error.documents, binomial))


def calibration_interval(error: Contrast, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of a debiased ECE, value ± h between 0 and 1, with a value below 0 taken for 0.

    NaN with fewer than two documents.
    """
    at_least_0 = replace(error, value=np.maximum(error.value, 0.0))
    low, high = (float(np.clip(end, 0.0, 1.0)) for end in at_least_0.interval(level))
    return low, high


# ---------------------------------------------------------------------------------------------- Brier score


def brier_rows(document: Ints, confidence: Floats, correct: Floats | Bools, documents: int) -> Floats:
    """Return Σ (confidence − correct)², the predictions, and Σ (1 − 2 confidence)² confidence of each document."""
    weights = ((confidence - correct) ** 2, np.ones(len(document)), (1 - 2 * confidence) ** 2 * confidence)
    return np.stack([np.bincount(document, weights=each, minlength=documents) for each in weights], axis=1)


def brier_score(rows: Floats) -> Contrast:
    """Return the Brier score of documents with its variance; see `brier_rows`.

    To the variance by the jackknife comes that of one more correct prediction, with the probability that is its
    confidence: it changes the score by (1 − 2 confidence)/n. Where hardly any prediction is correct, the jackknife sees
    too little variance.
    """
    score = contrast(jackknife(Sample(rows, lambda sums: sums[..., 0] / np.where(sums[..., 1], sums[..., 1], np.nan))))
    _, predictions, unseen = rows.sum(axis=0)
    return replace(score, documents=score.documents + unseen / predictions**3) if predictions else score


def brier_interval(score: Contrast, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of a Brier score; NaN with fewer than two documents."""
    return score_interval(score, level) if score.n > 1 else (np.nan, np.nan)
