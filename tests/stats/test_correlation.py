"""Coefficients against scipy, resamples against computing anew, tests against simulated nulls, alpha as published."""

from __future__ import annotations

from math import isnan, nan, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.stats import correlation
from karat.stats.base import Floats, interval
from karat.stats.correlation import Scale, bootstrap_p, correlate, holm, krippendorff, williams
from karat.stats.resampling import block_size, bootstrap_of, draws
from tests.examples import examples


def by_scipy(x: Floats, y: Floats) -> list[float]:
    return [
        float(stats.pearsonr(x, y).statistic),
        float(stats.spearmanr(x, y).statistic),
        float(stats.kendalltau(x, y).statistic),
    ]


def made(seed: int, items: int, levels: int | None = None) -> tuple[Floats, Floats]:
    """Two columns that have to do with each other, with ties if there are levels."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=items)
    y = x + generator.normal(size=items)
    return (x, y) if levels is None else (np.round(x * levels) / levels, np.round(y))


# ---------------------------------------------------------------------------------------------- coefficients


@pytest.mark.parametrize("levels", [None, 1, 4])
@pytest.mark.parametrize("items", [2, 3, 10, 200])
def test_coefficients_are_those_of_scipy_with_ties_and_without(items: int, levels: int | None) -> None:
    x, y = made(items, items, levels)
    x[0], x[1], y[0], y[1] = 5.0, -5.0, 4.0, 3.0  # neither column is constant
    assert correlate(x, y)[:, 0].tolist() == pytest.approx(by_scipy(x, y), abs=1e-12)


def test_coefficients_by_hand() -> None:
    x, y = np.array([1.0, 2.0, 2.0, 5.0]), np.array([0.0, 0.0, 2.0, 2.0])
    # Deviations of x: -1.5 -.5 -.5 2.5, of y: -1 -1 1 1; products add up to 4, squares to 9 and 4.
    pearson = 4 / sqrt(9 * 4)
    # Ranks 1 2.5 2.5 4 and 1.5 1.5 3.5 3.5: deviations -1.5 0 0 1.5 and -1 -1 1 1.
    spearman = 3 / sqrt(4.5 * 4)
    # Six pairs: three concordant (1,3 1,4 2,4), none discordant; one tied in x, two in y.
    kendall = 3 / sqrt((6 - 1) * (6 - 2))
    assert correlate(x, y)[:, 0].tolist() == pytest.approx([pearson, spearman, kendall])


def test_a_constant_column_and_a_single_item_are_undefined() -> None:
    assert np.isnan(correlate(np.ones(5), np.arange(5.0))).all()
    assert np.isnan(correlate(np.arange(5.0), np.full(5, 0.1))).all()
    assert np.isnan(correlate(np.array([1.0]), np.array([2.0]))).all()
    assert correlate(np.array([]), np.array([]), np.ones((7, 0))).shape == (3, 7)


def test_large_and_small_numbers_neither_overflow_nor_vanish() -> None:
    x, y = np.array([1e300, 3e300, 2e300]), np.array([1e-300, 3e-300, 2e-300])
    assert correlate(x, y)[:, 0].tolist() == pytest.approx([1.0, 1.0, 1.0])


def test_a_far_outlier_does_not_blur_the_resamples_without_it() -> None:
    x, y = np.array([1e9, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 3.0, 2.0])
    without = correlate(x, y, np.array([[0.0, 1.0, 1.0, 1.0]]))[:, 0]
    assert without.tolist() == pytest.approx(by_scipy(x[1:], y[1:]), abs=1e-6)


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 6))
def test_many_points_are_counted_without_a_matrix_and_alike(seed: int, items: int, levels: int) -> None:
    generator = np.random.default_rng(seed)
    at_x, at_y = generator.integers(levels, size=items), generator.integers(2 * levels, size=items)
    weights = generator.integers(4, size=(5, items)).astype(np.float64)
    matrix = correlation._concordance(at_x, at_y, weights)
    assert correlation._concordance_by_bits(at_x, at_y, weights).tolist() == matrix.tolist()


def test_more_points_than_fit_into_a_matrix_have_the_tau_of_scipy() -> None:
    x, y = made(1, correlation.LARGEST_MATRIX + 500)
    assert correlate(x, y)[2, 0] == pytest.approx(by_scipy(x, y)[2], abs=1e-12)


# ---------------------------------------------------------------------------------------------- resamples


@pytest.mark.parametrize("levels", [None, 1, 3])
def test_a_resample_is_as_if_its_items_were_correlated_anew(levels: int | None) -> None:
    x, y = made(3, 30, levels)
    weights = draws(30, 0, seed=1)[:50].astype(np.float64)
    found = correlate(x, y, weights)
    for resample, counts in enumerate(weights.astype(int)):
        again = by_scipy(np.repeat(x, counts), np.repeat(y, counts))
        assert found[:, resample].tolist() == pytest.approx(again, abs=1e-12)


def test_a_resample_that_is_constant_or_empty_is_undefined() -> None:
    x, y = np.array([0.1, 0.1, 0.7]), np.array([1.0, 2.0, 3.0])
    found = correlate(x, y, np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]))
    assert np.isnan(found).tolist() == [[True, True, True, False]] * 3


def test_resamples_of_items_are_those_of_documents_and_go_over_blocks() -> None:
    resamples = block_size(30) + 5
    seen: list[Floats] = []

    def counts(weights: Floats) -> Floats:
        seen.append(weights)
        return np.asarray(weights.sum(axis=1))

    assert bootstrap_of(counts, 30, resamples, seed=5).tolist() == [30.0] * resamples
    blocks = np.concatenate([draws(30, 0, seed=5), draws(30, 1, seed=5)[:5]])
    assert np.array_equal(np.concatenate(seen), blocks)
    x, y = made(2, 30)
    assert bootstrap_of(lambda weights: correlate(x, y, weights), 30, 10, seed=0).shape == (3, 10)


def test_the_interval_is_that_of_percentiles_without_undefined_resamples() -> None:
    resampled = np.array([0.0, 1.0, 2.0, 3.0, 4.0, nan])
    assert interval(resampled, 0.5) == (1.0, 3.0)
    assert all(map(isnan, interval(np.full(3, nan))))


def test_intervals_hold_the_true_correlation_about_as_often_as_they_say() -> None:
    generator = np.random.default_rng(11)
    held = 0
    for seed in range(200):
        x = generator.normal(size=80)
        y = x + generator.normal(size=80)  # the true Pearson is 1 / √2
        low, high = interval(bootstrap_of(lambda w, x=x, y=y: correlate(x, y, w)[0], 80, 300, seed), 0.9)  # type: ignore[misc]
        held += low <= 1 / sqrt(2) <= high
    assert 0.84 <= held / 200 <= 0.95


# ---------------------------------------------------------------------------------------------- comparisons


def test_a_column_against_itself_has_p_1() -> None:
    x, y = made(4, 50)
    both = bootstrap_of(lambda w: correlate(x, y, w) - correlate(2 * x + 3, y, w), 50, 200, seed=0)
    assert [bootstrap_p(row) for row in both] == [1.0, 1.0, 1.0]
    r = float(correlate(x, y)[0, 0])
    assert williams(r, r, 1.0, 50) == (0.0, 1.0)


def test_p_is_never_0_and_counts_only_defined_resamples() -> None:
    assert bootstrap_p(np.full(99, 0.3)) == pytest.approx(2 / 100)
    assert bootstrap_p(np.array([0.3, 0.2, 0.1, nan, nan])) == pytest.approx(2 / 4)
    assert isnan(bootstrap_p(np.full(5, nan)))


def test_p_is_small_exactly_where_the_interval_leaves_out_zero() -> None:
    resampled = np.linspace(-1, 1, 999)
    for shift in (0.0, 0.5, 0.9, 0.94, 0.96, 1.1):
        low, high = interval(resampled + shift)
        assert (bootstrap_p(resampled + shift) < 0.05) == (not low <= 0 <= high)


def test_williams_by_hand() -> None:
    # Steiger's (1980) example of two correlations that share a variable: n = 103, .50 and .40, and .10 between the two.
    # K = 1 − .25 − .16 − .01 + 2 · .5 · .4 · .1 = .62; 2K · 102/100 = 1.2648; .81/4 · .9³ = .1476225
    # t = .1 · √(102 · 1.1) / √1.4124225 = .8913 with 100 degrees of freedom.
    t, p = williams(0.5, 0.4, 0.1, 103)
    assert t == pytest.approx(0.1 * sqrt(112.2) / sqrt(1.4124225), abs=1e-12)
    assert t == pytest.approx(0.8913, abs=5e-5)
    assert p == pytest.approx(2 * float(stats.t.sf(t, 100)), abs=1e-12)
    assert williams(0.4, 0.5, 0.1, 103) == (-t, p)


def test_williams_is_undefined_where_nothing_is_left_to_judge_by() -> None:
    assert all(map(isnan, williams(0.5, 0.4, 0.1, 3)))
    assert all(map(isnan, williams(nan, 0.4, 0.1, 30)))
    assert all(map(isnan, williams(0.5, -0.5, -1.0, 30)))


def test_both_tests_reject_a_true_null_in_about_5_percent() -> None:
    generator = np.random.default_rng(7)
    rejected = np.zeros(2)
    for seed in range(400):
        people = generator.normal(size=60)
        a, b = people + generator.normal(size=60), people + generator.normal(size=60)

        def difference(weights: Floats, a: Floats = a, b: Floats = b, people: Floats = people) -> Floats:
            return np.asarray(correlate(a, people, weights)[0] - correlate(b, people, weights)[0])

        r12, r13, r23 = (float(correlate(*pair)[0, 0]) for pair in ((people, a), (people, b), (a, b)))
        p = [bootstrap_p(bootstrap_of(difference, 60, 300, seed)), williams(r12, r13, r23, 60)[1]]
        rejected += np.array(p) < 0.05
    assert all(0.025 <= share <= 0.085 for share in rejected / 400), rejected / 400


def test_both_tests_see_a_metric_that_is_truly_better() -> None:
    generator = np.random.default_rng(8)
    people = generator.normal(size=200)
    near, far = people + 0.3 * generator.normal(size=200), people + 2 * generator.normal(size=200)
    resampled = bootstrap_of(lambda w: correlate(near, people, w) - correlate(far, people, w), 200, 300, seed=0)
    assert max(bootstrap_p(row) for row in resampled) < 0.01
    r12, r13, r23 = (float(correlate(*pair)[0, 0]) for pair in ((people, near), (people, far), (near, far)))
    assert williams(r12, r13, r23, 200)[1] < 0.001


def test_holm_by_hand() -> None:
    # Sorted .005, .01, .03, .04, times 4, 3, 2, 1: .02, .03, .06, .04; and never less than one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


# ---------------------------------------------------------------------------------------------- agreement

# Four observers, twelve units, as Krippendorff publishes them ("Computing Krippendorff's Alpha-Reliability").
PUBLISHED: Any = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
).T


@pytest.mark.parametrize(("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_example(scale: Scale, alpha: float) -> None:
    assert krippendorff(PUBLISHED, scale) == pytest.approx(alpha, abs=5e-4)


def test_alpha_by_hand() -> None:
    # Two units with the values 1 1 and 1 3. Disagreeing ordered pairs: 2 of the 4 within units, so D_o = 2/4; values
    # 1 1 1 3 make 12 ordered pairs, 6 of them different: D_e = 6/12. The squared distances are 4 for each of these.
    values = np.array([[1.0, 1.0], [1.0, 3.0]])
    assert krippendorff(values, "nominal") == pytest.approx(0.0)
    assert krippendorff(values, "interval") == pytest.approx(0.0)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_alpha_is_1_for_equal_values_and_undefined_without_any_variation(scale: Scale) -> None:
    assert krippendorff(np.array([[1.0, 1.0], [2.0, 2.0], [4.0, nan]]), scale) == 1.0
    assert isnan(krippendorff(np.array([[1.0, 1.0], [1.0, 1.0]]), scale))
    assert isnan(krippendorff(np.array([[1.0, nan], [nan, 2.0]]), scale))
    assert isnan(krippendorff(np.empty((0, 3)), scale))


def test_alpha_does_not_depend_on_the_unit_of_the_scale() -> None:
    assert krippendorff(PUBLISHED * 10 - 7) == pytest.approx(krippendorff(PUBLISHED))
    assert krippendorff(PUBLISHED**3, "ordinal") == pytest.approx(krippendorff(PUBLISHED, "ordinal"))
