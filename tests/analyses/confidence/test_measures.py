"""Measures of calibration, by hand, by their definitions, and on simulated systems."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.analyses.confidence.maps import Logistic, Temperature, Unfit, fit_isotonic, fit_platt, fit_temperature, logit
from karat.analyses.confidence.measures import brier_parts, ece_by_chance, risk_coverage, risks, threshold_for
from karat.metrics.confidence import (
    Judged,
    bin_rows,
    finish_ece,
    finish_mce,
    mass_bins,
    mass_edges,
    weighted_median,
    width_bins,
)

RIGHT, WRONG = True, False


def binned(confidence: list[float], correct: list[bool], bins: int = 10) -> tuple[float, float]:
    """(ECE, MCE) with bins of one width, the predictions being of two documents in turn."""
    sure = np.array(confidence)
    judged = Judged(np.arange(len(sure)) % 2, sure, 1 / sure, np.array(correct))
    sums = bin_rows(judged, width_bins(sure, bins), bins, 2).sums()
    return float(finish_ece(sums)), float(finish_mce(sums))


def by_definition(confidence: list[float], correct: list[bool], bins: int) -> tuple[float, float]:
    """The same as it is written: the bins one by one, their means, and the distances weighted by their sizes."""
    distances = []
    for b in range(bins):
        last = b == bins - 1
        inside = [i for i, c in enumerate(confidence) if b / bins <= c < (b + 1) / bins or (last and c == 1)]
        if inside:
            accuracy = sum(correct[i] for i in inside) / len(inside)
            sure = sum(confidence[i] for i in inside) / len(inside)
            distances.append((len(inside) / len(confidence), abs(accuracy - sure)))
    return sum(share * distance for share, distance in distances), max(distance for _, distance in distances)


# Sixty-fourths, whose tenths are exact enough to be on the same side of every end as in the definition.
sureness = st.integers(1, 64).map(lambda n: n / 64)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(sureness, st.booleans()), min_size=1, max_size=40), st.sampled_from([1, 4, 10, 16]))
def test_ece_and_mce_are_those_of_their_definition(predictions: list[tuple[float, bool]], bins: int) -> None:
    confidence, correct = [c for c, _ in predictions], [y for _, y in predictions]
    assert binned(confidence, correct, bins) == pytest.approx(by_definition(confidence, correct, bins), abs=1e-12)


def test_ece_and_mce_of_random_predictions_are_those_of_torchmetrics() -> None:
    """Figures of torchmetrics (binary_calibration_error, norms l1 and max) and of scikit-learn's isotonic fit."""
    generator = np.random.default_rng(7)
    sure = generator.random(1000) ** 0.5
    correct = generator.random(1000) < sure**2
    assert binned(sure.tolist(), correct.tolist(), 10) == pytest.approx((0.15612298125714258, 0.29635380583371285))
    assert binned(sure.tolist(), correct.tolist(), 15) == pytest.approx((0.1561229812571428, 0.2964843722178309))
    pooled = fit_isotonic(sure, correct)
    expected = [0.05681818, 0.25, 0.83783784, 0.92727273]
    assert pooled(np.array([0.2, 0.5, 0.9, 0.95])).tolist() == pytest.approx(expected, abs=1e-8)


def test_ece_of_four_predictions_by_hand() -> None:
    # .9 and .95 are in one bin: sure .925, right .5, apart .425. .3 is right (.7 apart), .5 wrong (.5 apart).
    ece, mce = binned([0.9, 0.95, 0.3, 0.5], [RIGHT, WRONG, RIGHT, WRONG])
    assert ece == pytest.approx(0.5 * 0.425 + 0.25 * 0.7 + 0.25 * 0.5)
    assert mce == pytest.approx(0.7)


def test_the_lower_end_of_a_bin_belongs_to_it_even_if_a_bit_is_lost() -> None:
    root = np.exp(np.log([0.3, 0.3]).mean())
    assert width_bins(np.array([0.3, root, 0.6 - 1e-16, 0.7 * 1.0, 0.0, 1.0])).tolist() == [3, 3, 6, 7, 0, 9]


def test_the_ece_of_a_calibrated_system_goes_to_nothing_with_more_predictions() -> None:
    random = np.random.default_rng(7)
    found = []
    for n in (200, 5_000, 125_000):
        sure = random.random(n)
        correct = random.random(n) < sure
        found.append(binned(sure.tolist(), correct.tolist())[0])
        # What chance gives is said to be √(2/π) times the deviations, and shrinks by 5 as n grows by 25.
        assert found[-1] == pytest.approx(ece_by_chance(sure, width_bins(sure)), rel=0.6)
    assert found[0] > 2 * found[1] > 4 * found[2]
    assert found[2] < 0.004


def test_bins_of_equal_mass_hold_as_many_and_equal_confidences_stay_together() -> None:
    sure = np.arange(100) / 100
    assert np.bincount(mass_bins(sure, mass_edges(sure, 4))).tolist() == [25, 25, 25, 25]
    tied = np.array([0.2] * 6 + [0.5, 0.9])
    edges = mass_edges(tied, 4)
    assert edges == (0.5,)
    assert np.bincount(mass_bins(tied, edges)).tolist() == [6, 2]
    assert mass_edges(np.array([]), 4) == ()


def test_the_parts_of_a_brier_score_by_hand() -> None:
    # .2 and .2 with one hit, .8 and .8 with two: bins (.2, .5) and (.8, 1), all together .75.
    sure, correct = np.array([0.2, 0.2, 0.8, 0.8]), np.array([WRONG, RIGHT, RIGHT, RIGHT])
    parts = brier_parts(sure, correct, width_bins(sure))
    assert parts.reliability == pytest.approx(0.5 * 0.3**2 + 0.5 * 0.2**2)
    assert parts.resolution == pytest.approx(0.5 * 0.25**2 + 0.5 * 0.25**2)
    assert parts.uncertainty == pytest.approx(0.75 * 0.25)
    assert parts.within_bins == pytest.approx(0, abs=1e-15)
    assert parts.reliability - parts.resolution + parts.uncertainty == pytest.approx((0.04 + 0.64 + 0.04 + 0.04) / 4)
    # In one bin .22 (wrong) and .28 (right): variance .03², covariance .03 · .5.
    [sure, correct] = [np.array([0.22, 0.28]), np.array([WRONG, RIGHT])]
    assert brier_parts(sure, correct, width_bins(sure)).within_bins == pytest.approx(0.03**2 - 2 * 0.03 * 0.5)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(sureness, st.booleans()), min_size=1, max_size=30), st.sampled_from([1, 3, 10]))
def test_the_parts_with_what_lies_within_bins_are_the_whole(predictions: list[tuple[float, bool]], bins: int) -> None:
    sure, correct = np.array([c for c, _ in predictions]), np.array([y for _, y in predictions])
    parts = brier_parts(sure, correct, width_bins(sure, bins))
    whole = parts.reliability - parts.resolution + parts.uncertainty + parts.within_bins
    assert whole == pytest.approx(((sure - correct) ** 2).mean(), abs=1e-12)


def test_risk_and_coverage_by_hand() -> None:
    sure, correct = np.array([0.9, 0.5, 0.7, 0.6]), np.array([RIGHT, RIGHT, WRONG, WRONG])
    # In the order of confidence: right, wrong, wrong, right.
    assert risks(sure, correct).tolist() == pytest.approx([0, 1 / 2, 2 / 3, 1 / 2])
    curve = risk_coverage(sure, correct)
    assert [(point.coverage, point.threshold) for point in curve] == [(0.25, 0.9), (0.5, 0.7), (0.75, 0.6), (1, 0.5)]
    # Of three equal ones with one hit each has a third of it, in whatever order they are given.
    for hits in ([RIGHT, WRONG, WRONG], [WRONG, WRONG, RIGHT]):
        assert risks(np.full(3, 0.4), np.array(hits)).tolist() == pytest.approx([2 / 3] * 3)


def test_the_threshold_is_the_lowest_at_which_the_precision_is_reached() -> None:
    sure = np.array([0.9, 0.8, 0.7, 0.6, 0.6])
    correct = np.array([RIGHT, WRONG, WRONG, RIGHT, RIGHT])
    half = threshold_for(sure, correct, 0.5)
    assert (half.threshold, half.predictions, half.share, half.precision, half.correct_share) == (0.6, 5, 1.0, 0.6, 1.0)
    most = threshold_for(sure, correct, 0.61)
    assert (most.threshold, most.predictions) == (0.9, 1)
    assert most.correct_share == pytest.approx(1 / 3)
    none = threshold_for(sure, ~correct, 0.7)
    assert (none.threshold, none.precision, none.predictions) == (None, None, 0)


def test_a_temperature_by_hand() -> None:
    # All are .9 sure and 3 of 4 right: ln 9 / T = ln 3, so T = 2.
    sure, correct = np.full(4, 0.9), np.array([RIGHT, RIGHT, RIGHT, WRONG])
    fitted = fit_temperature(sure, correct)
    assert isinstance(fitted, Temperature)
    assert fitted.temperature == pytest.approx(log(9) / log(3), rel=1e-9)
    assert Temperature(2.0)(np.array([0.0, 0.1, 0.5, 1.0])).tolist() == pytest.approx([0, 0.25, 0.5, 1], abs=1e-5)


@pytest.mark.parametrize(
    ("sure", "correct", "why"),
    [
        ([0.9, 0.8, 0.7], [1, 1, 1], "the lower the better, without end: of 3 surer than .5 3 are right"),
        (
            [0.9, 0.8, 0.3],
            [1, 1, 0],
            "the lower the better, without end: of 2 surer than .5 2 are right, of 1 less sure",
        ),
        ([0.9, 0.8, 0.7], [0, 0, 0], "the higher the better, without end: of 3 surer than .5 0 are right"),
        ([0.9, 0.8, 0.8, 0.4], [1, 0, 0, 0], "the higher the better, without end: of 3 surer than .5 1 is right, of 1"),
        ([0.5, 0.5], [1, 0], "all confidences are .5"),
    ],
)
def test_where_no_temperature_fits_best_it_is_said_why(sure: list[float], correct: list[int], why: str) -> None:
    """The fourth is neither all right nor all wrong: 2 ln 4 of wrong ones outweigh ln 9 and ln 1.5."""
    found = fit_temperature(np.array(sure), np.array(correct, dtype=bool))
    assert isinstance(found, Unfit)
    assert found.why.startswith(why)


UNSURE = st.lists(st.tuples(sureness, st.booleans()), min_size=1, max_size=40)


@settings(max_examples=150, deadline=None)
@given(UNSURE)
def test_a_temperature_is_better_than_any_other_and_without_one_the_ends_are(
    predictions: list[tuple[float, bool]],
) -> None:
    sure, correct = np.array([c for c, _ in predictions]), np.array([y for _, y in predictions])

    def loss(temperature: float) -> float:
        return float(np.logaddexp(0.0, np.where(correct, -1, 1) * logit(sure) / temperature).mean())

    found = fit_temperature(sure, correct)
    grid = np.exp(np.linspace(-7, 7, 57)).tolist()
    if isinstance(found, Temperature):
        assert all(loss(found.temperature) <= loss(each) + 1e-12 for each in grid)
    else:
        assert min(map(loss, grid)) >= loss(1e6 if "higher" in found.why else 1e-6) - 1e-6


def test_fits_are_those_of_scikit_learn() -> None:
    """Figures of version 1.9.1: LogisticRegression(C=inf) on logits, also without intercept; IsotonicRegression."""
    generator = np.random.default_rng(7)
    sure = generator.random(200) ** 0.3
    correct = generator.random(200) < sure**3
    platt, heat = fit_platt(sure, correct), fit_temperature(sure, correct)
    assert isinstance(platt, Logistic)
    assert isinstance(heat, Temperature)
    assert (platt.slope, platt.intercept) == pytest.approx((1.32194237, -1.83125788), abs=1e-7)
    assert heat.temperature == pytest.approx(2.10230063, abs=1e-7)
    steps = fit_isotonic(sure, correct)(np.array([0.3, 0.5, 0.7, 0.8, 0.9, 0.97, 0.999]))
    assert steps.tolist() == pytest.approx([0.0, 0.0, 0.4130434783, 0.4285714286, 0.7692307692, 0.9545454545, 1.0])
    assert platt(np.array([0.5])).tolist() == pytest.approx([1 / (1 + np.exp(1.83125788))])


@settings(max_examples=150, deadline=None)
@given(UNSURE)
def test_platt_scaling_is_where_the_log_loss_is_flat(predictions: list[tuple[float, bool]]) -> None:
    """The loss is convex: at its least the residuals add up to 0, and so do their products with the logits."""
    sure, correct = np.array([c for c, _ in predictions]), np.array([y for _, y in predictions])
    found, logits = fit_platt(sure, correct), logit(sure)
    if isinstance(found, Logistic):
        apart = found(sure) - correct
        assert abs(apart.mean()) < 1e-5
        assert abs((apart * logits).mean()) < 1e-5
        return
    right, wrong = sure[correct], sure[~correct]
    apart_or_alike = not len(right) or not len(wrong) or right.min() >= wrong.max() or right.max() <= wrong.min()
    assert apart_or_alike


@pytest.mark.parametrize(
    ("sure", "correct", "why"),
    [
        ([0.9, 0.8], [1, 1], "all predictions are right"),
        ([0.9, 0.8], [0, 0], "all predictions are wrong"),
        ([0.7, 0.7, 0.7], [0, 1, 0], "all confidences are equal"),
        ([0.9, 0.8, 0.8], [1, 1, 0], "no right prediction is less sure than a wrong one"),
        ([0.9, 0.8, 0.7], [0, 1, 1], "no right prediction is surer than a wrong one"),
    ],
)
def test_where_no_platt_scaling_fits_best_it_is_said_why(sure: list[float], correct: list[int], why: str) -> None:
    assert fit_platt(np.array(sure), np.array(correct, dtype=bool)) == Unfit(why)


def test_isotonic_regression_pools_what_falls() -> None:
    # Accuracies 0, 1, 0, 1 at .1, .2, .3, .4: the fall from 1 to 0 is pooled to a half.
    fitted = fit_isotonic(np.array([0.3, 0.1, 0.4, 0.2]), np.array([WRONG, WRONG, RIGHT, RIGHT]))
    assert fitted.confidence.tolist() == [0.1, 0.2, 0.3, 0.4]
    assert fitted.accuracy.tolist() == [0.0, 0.5, 0.5, 1.0]
    assert fitted(np.array([0.0, 0.15, 0.25, 0.9])).tolist() == pytest.approx([0.0, 0.25, 0.5, 1.0])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([1.0, 1.5, 2.0, 7.0, np.inf]), st.integers(0, 3)), max_size=8))
def test_a_weighted_median_is_that_of_the_values_repeated(weighted: list[tuple[float, int]]) -> None:
    values, weights = np.array([v for v, _ in weighted]), np.array([float(w) for _, w in weighted])
    repeated = [value for value, weight in weighted for _ in range(weight)]
    expected = float(np.median(repeated)) if repeated else np.nan
    assert float(weighted_median(values, weights)) == pytest.approx(expected, nan_ok=True)
