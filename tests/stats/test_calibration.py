"""The debiased ECE and its interval against figures from outside karat: numerical integration, scikit-learn, loops."""

from __future__ import annotations

from math import erf, exp, pi, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.metrics.confidence import Judged, bin_sums, width_bins
from karat.stats.calibration import (
    calibration_error,
    calibration_interval,
    calibration_rows,
    debiased_size,
    finish_debiased,
    folded_mean,
)

Floats = NDArray[np.float64]


def predictions(documents: int, seed: int, shift: float = 0.0) -> Judged:
    """Five predictions a document, right with probability confidence − shift."""
    random = np.random.default_rng(seed)
    confidence = random.beta(1.2, 3, size=5 * documents)
    correct = random.random(5 * documents) < confidence - shift
    return Judged(np.repeat(np.arange(documents), 5), confidence, 1 / confidence, correct)


def rows_of(judged: Judged, documents: int, bins: int = 10) -> Floats:
    sums = bin_sums(judged, width_bins(judged.confidence, bins), bins, documents)
    return calibration_rows(sums, np.bincount(judged.document, minlength=documents))


def by_hand(judged: Judged, documents: int, order: int) -> float:
    """Return the debiased ECE by loops and `math`."""

    def folded(mean: float, error: float) -> float:
        if not error:
            return abs(mean)
        z = abs(mean) / error
        return error * sqrt(2 / pi) * exp(-z * z / 2) + abs(mean) * erf(z / sqrt(2))

    total = 0.0
    for low in range(10):
        inside = [low / 10 <= c < (low + 1) / 10 for c in judged.confidence]
        apart = [0.0] * documents
        for document, c, y, there in zip(judged.document, judged.confidence, judged.correct, inside, strict=True):
            apart[document] += (c - y) * there
        mean = sum(apart) / documents
        error = sqrt(documents / (documents - 1) * sum((d - mean) ** 2 for d in apart))
        size = abs(sum(apart))
        if order == 1:
            total += 2 * size - folded(size, error)
        else:
            total += 3 * size - 3 * folded(size, error) + folded(size, sqrt(2) * error)
    return total / len(judged.confidence)


def test_the_mean_of_a_folded_normal_variable_is_that_of_scipy() -> None:
    from scipy.stats import foldnorm

    means, errors = np.array([0.0, 0.3, -1.2, 4.0]), np.array([1.0, 0.5, 2.0, 0.7])
    expected = [foldnorm.mean(abs(m) / s, scale=s) for m, s in zip(means, errors, strict=True)]
    assert folded_mean(means, errors) == pytest.approx(expected)


@pytest.mark.parametrize(("mean", "most"), [(0.0, 0.4), (0.5, 0.1), (1.0, 0.11), (2.0, 0.08), (4.0, 0.01)])
def test_the_bias_of_a_size_is_much_reduced(mean: float, most: float) -> None:
    """Integrate over a normal variable: |X| has the bias .80 at 0 and .40 at half a standard error."""
    z, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / weights.sum()
    bias = float((weights * debiased_size(mean + z, np.ones(120))).sum()) - mean
    assert abs(bias) < most


@pytest.mark.parametrize("order", [1, 2])
def test_the_debiased_error_is_that_of_a_loop(order: int) -> None:
    judged = predictions(12, seed=3, shift=0.1)
    found = finish_debiased(rows_of(judged, 12).sum(axis=0), order)
    assert float(found) == pytest.approx(by_hand(judged, 12, order), abs=1e-12)


def test_bins_are_those_of_scikit_learn() -> None:
    calibration = pytest.importorskip("sklearn.calibration")
    judged = predictions(400, seed=1)
    counts, confidences, hits = (each.sum(axis=0) for each in bin_sums(judged, width_bins(judged.confidence), 10, 400))
    right, sure = calibration.calibration_curve(judged.correct, judged.confidence, n_bins=10)
    some = counts > 0
    assert hits[some] / counts[some] == pytest.approx(right)
    assert confidences[some] / counts[some] == pytest.approx(sure)


def test_the_interval_is_value_and_t_times_the_jackknife_error() -> None:
    from scipy.stats import t

    judged = predictions(40, seed=5, shift=0.1)
    rows = rows_of(judged, 40)
    without = [by_hand(_without(judged, n), 39, 1) for n in range(40)]
    pulls = (np.mean(without) - np.array(without)) * 39 / 40
    error = sqrt(40 / 39 * float((pulls**2).sum()))
    kurtosis = 40 * float((pulls**4).sum()) / float((pulls**2).sum()) ** 2
    df = min(39.0, 80 / (2 + max(kurtosis - 3, 0) / 2))
    value = by_hand(judged, 40, 2)
    half = float(t.ppf(0.975, df)) * error
    found = calibration_error(rows)
    assert float(found.error) == pytest.approx(error)
    assert calibration_interval(found) == pytest.approx((max(value - half, 0), value + half))


def _without(judged: Judged, document: int) -> Judged:
    """Leave out a document, and number the others anew."""
    kept = judged.document != document
    order = judged.document[kept]
    return Judged(order - (order > document), judged.confidence[kept], judged.kpp[kept], judged.correct[kept])


def test_a_single_document_has_no_debiased_error() -> None:
    judged = predictions(1, seed=0)
    found = calibration_error(rows_of(judged, 1))
    assert np.isnan(found.value)
    assert np.isnan(calibration_interval(found)).all()


@pytest.mark.parametrize("shift", [0.0, 0.05, 0.2])
def test_the_debiased_error_is_nearer_to_the_truth_than_the_plain_one(shift: float) -> None:
    population = rows_of(predictions(4000, seed=9, shift=shift), 4000)
    true = _plain(population.sum(axis=0))
    drawn = np.random.default_rng(0).integers(4000, size=(400, 25))
    sums = population[drawn].sum(axis=1)
    plain, debiased = (float(each.mean()) - float(true) for each in (_plain(sums), finish_debiased(sums)))
    assert abs(debiased) < 0.6 * plain


def _plain(sums: Floats) -> Floats:
    return np.asarray(np.abs(sums[..., 10:20]).sum(axis=-1) / sums[..., -2])
