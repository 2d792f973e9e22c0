"""Coefficients against scipy, influences by brute force, intervals and tests against scipy and simulation."""

from __future__ import annotations

from math import isnan, nan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.stats import correlation
from karat.stats.base import Floats, interval
from karat.stats.correlation import (
    compare_correlations,
    correlate,
    correlation_intervals,
    correlations,
    mean_correlations,
    paired_correlations,
)
from karat.stats.difference import Inference
from karat.stats.influence import contrast, jackknife_of
from karat.stats.resampling import block_size, bootstrap_interval, bootstrap_of, draws
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


# ---------------------------------------------------------------------------------------------- inference


@pytest.mark.parametrize("levels", [None, 2])
def test_influences_are_those_of_coefficients_without_each_unit(levels: int | None) -> None:
    x, y = made(5, 24, levels)
    x[3], y[7] = nan, nan
    units = np.arange(24) // 2
    found = correlations(x, y, units)
    both = ~np.isnan(x) & ~np.isnan(y)
    without = np.array([by_scipy(x[both & (units != u)], y[both & (units != u)]) for u in range(12)])
    expected = (without.mean(axis=0) - without) * 11 / 12
    assert found.value.tolist() == pytest.approx(by_scipy(x[both], y[both]), abs=1e-12)
    assert pytest.approx(expected, abs=1e-12) == found.mean_influence.T
    assert found.defined.all()


def test_a_unit_on_which_a_column_is_undefined_has_no_influence() -> None:
    x, y = made(6, 12)
    x[4:6] = nan
    found = correlations(x, y, np.arange(12) // 2)
    assert found.defined.tolist() == [True, True, False, True, True, True]
    assert found.influence[:, 0, 2].tolist() == [0.0, 0.0, 0.0]
    assert contrast(found).n == 5


def test_more_units_than_most_are_left_out_in_groups() -> None:
    x, y = made(7, 300)
    every = contrast(correlations(x, y, np.arange(300)))
    both = np.ones(300, dtype=bool)
    groups = contrast(jackknife_of(lambda w: correlate(x, y, w), np.arange(300), both, most=60))
    assert groups.n == 60
    assert groups.error.tolist() == pytest.approx(every.error.tolist(), rel=0.25)


def test_the_jackknife_error_of_pearson_is_near_that_of_a_bootstrap() -> None:
    x, y = made(8, 120)
    resampled = bootstrap_of(lambda weights: correlate(x, y, weights), 120, 1500, seed=2)
    assert contrast(correlations(x, y, np.arange(120))).error.tolist() == pytest.approx(
        resampled.std(axis=1).tolist(), rel=0.12
    )


def test_the_interval_is_that_of_fishers_z_by_hand() -> None:
    x, y = made(9, 40)
    found = correlations(x, y, np.arange(40))
    one = contrast(found)
    for i, (low, high) in enumerate(correlation_intervals(found, 0.9)):
        r = float(one.value[i])
        half = float(stats.t.ppf(0.95, one.df_documents[i])) * float(one.error[i]) / (1 - r * r)
        assert (low, high) == pytest.approx((np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)))


def test_on_normal_scores_the_interval_is_near_the_textbook_one_of_scipy() -> None:
    x, y = made(10, 400)
    [pearson, *_] = correlation_intervals(correlations(x, y, np.arange(400)))
    textbook = stats.pearsonr(x, y).confidence_interval(0.95)
    assert pearson == pytest.approx((textbook.low, textbook.high), abs=0.02)


def test_intervals_are_undefined_with_two_units_or_where_all_items_but_one_are_equal() -> None:
    nothing = [(nan, nan)] * 3
    assert str(correlation_intervals(correlations(*made(1, 4), np.arange(4) // 2))) == str(nothing)
    x, y = np.array([0.0, 0.0, 0.0, 0.0, 1.0]), np.arange(5.0)
    assert str(correlation_intervals(correlations(x, y, np.arange(5)))) == str(nothing)
    assert str(correlation_intervals(correlations(np.ones(5), y, np.arange(5)))) == str(nothing)
    everywhere = correlations(np.full(5, nan), y, np.arange(5))
    assert str(correlation_intervals(everywhere)) == str(nothing)


def test_a_perfect_correlation_has_a_lower_bound() -> None:
    [low, high] = correlation_intervals(correlations(np.arange(20.0), np.arange(20.0), np.arange(20)))[0]
    assert high == 1.0
    assert low == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 20)))


def test_the_mean_of_correlations_leaves_out_undefined_ones() -> None:
    x, y = made(11, 30)
    units = np.arange(30)
    one, other = correlations(x, y, units), correlations(-x, y, units)
    constant = correlations(np.ones(30), y, units)
    mean = mean_correlations([one, constant, one, other])
    assert mean.value.tolist() == pytest.approx((one.value / 3).tolist())
    assert mean.mean_influence == pytest.approx(one.mean_influence / 3)
    assert np.isnan(mean_correlations([constant]).value).all()


def test_intervals_hold_the_true_correlation_about_as_often_as_they_say() -> None:
    generator = np.random.default_rng(11)
    held = 0
    for _ in range(300):
        x = generator.normal(size=40)
        y = x + generator.normal(size=40)  # the true Pearson is 1 / √2
        low, high = correlation_intervals(correlations(x, y, np.arange(40)), 0.9)[0]
        held += low <= 1 / sqrt(2) <= high
    assert 0.85 <= held / 300 <= 0.95


# ---------------------------------------------------------------------------------------------- comparisons


def test_a_column_against_itself_has_p_1_and_does_not_count() -> None:
    x, y = made(4, 50)
    other = x + np.random.default_rng(1).normal(size=50)
    columns = [x, 2 * x + 3, other]
    found = compare_correlations(
        paired_correlations(columns, y, np.arange(50), [(0, 1), (0, 2)]), "pearson", Inference()
    )
    assert (found[0].value, found[0].p, found[0].adjusted, found[0].error) == (0.0, 1.0, 1.0, 0.0)
    assert found[0].equal
    assert found[1].family == 1
    assert found[1].adjusted == found[1].p


def test_two_columns_are_compared_where_both_are_defined() -> None:
    x, y = made(12, 40)
    other = y + np.random.default_rng(2).normal(size=40)
    x[:10], other[35:] = nan, nan
    [found] = compare_correlations(paired_correlations([x, other], y, np.arange(40), [(0, 1)]), "kendall", Inference())
    some = slice(10, 35)
    assert found.n == 25
    assert found.value_a == pytest.approx(by_scipy(x[some], y[some])[2])
    assert found.value_b == pytest.approx(by_scipy(other[some], y[some])[2])
    without = [
        by_scipy(np.delete(x[some], i), np.delete(y[some], i))[2]
        - by_scipy(np.delete(other[some], i), np.delete(y[some], i))[2]
        for i in range(25)
    ]
    assert found.error == pytest.approx(sqrt(24 * np.var(without)))


def test_too_few_units_are_not_tested() -> None:
    x, y = made(13, 30)
    other = np.where(np.arange(30) < 2, x, nan)
    [found] = compare_correlations(paired_correlations([x, other], y, np.arange(30), [(0, 1)]), "pearson", Inference())
    assert found.n == 2
    assert np.isnan([found.p, found.adjusted, found.error, *found.interval]).all()
    assert found.as_dict()["p"] is None


def test_p_is_small_exactly_where_the_interval_excludes_zero() -> None:
    generator = np.random.default_rng(3)
    for _ in range(40):
        y = generator.normal(size=30)
        columns = [y + generator.normal(size=30), y + 2 * generator.normal(size=30)]
        [found] = compare_correlations(
            paired_correlations(columns, y, np.arange(30), [(0, 1)]), "spearman", Inference()
        )
        assert (found.p < 0.05) == (not found.interval[0] <= 0 <= found.interval[1])


def test_a_metric_that_is_truly_better_is_significant_over_all_pairs() -> None:
    generator = np.random.default_rng(8)
    y = generator.normal(size=200)
    columns = [y + noise * generator.normal(size=200) for noise in (0.3, 2.0, 2.0)]
    pairs = [(0, 1), (0, 2), (1, 2)]
    found = compare_correlations(
        paired_correlations(columns, y, np.arange(200), pairs), "pearson", Inference(draws="covariance")
    )
    assert max(found[0].adjusted, found[1].adjusted) < 0.001
    assert found[2].adjusted > 0.05
    assert [one.adjusted_by for one in found] == ["max-t"] * 3


def test_p_is_adjusted_by_the_multivariate_t_of_the_differences() -> None:
    """Step-down minima of p, by draws of scipy from the multivariate t distribution with the correlations of errors."""
    generator = np.random.default_rng(12)
    y = generator.normal(size=60)
    columns = [y + noise * generator.normal(size=60) for noise in (1.0, 1.2, 1.6)]
    both = paired_correlations(columns, y, np.arange(60), [(0, 1), (0, 2), (1, 2)])
    found = compare_correlations(both, "pearson", Inference(test="t", draws="covariance", resamples=40_000))
    without = [
        [
            correlate(np.delete(x, i), np.delete(y, i))[0, 0] - correlate(np.delete(z, i), np.delete(y, i))[0, 0]
            for i in range(60)
        ]
        for x, z in ((columns[0], columns[1]), (columns[0], columns[2]), (columns[1], columns[2]))
    ]
    df = float(np.median([one.contrast.df_documents for one in found if one.contrast is not None]))
    draws_of_t = stats.multivariate_t(shape=np.corrcoef(without), df=df, seed=1, allow_singular=True).rvs(40_000)
    p = 2 * stats.t.sf(np.abs(draws_of_t), df)
    order, largest = np.argsort([one.p for one in found]), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, float((p[:, order[rank:]].min(axis=1) <= found[i].p).mean()))
        assert found[i].adjusted == pytest.approx(largest, abs=0.01)
        assert found[i].adjusted >= found[i].p
    assert found[order[0]].adjusted > 1.2 * found[order[0]].p


def test_the_bootstrap_interval_is_that_of_whole_units() -> None:
    """Of means of documents it is near the t interval of scipy; repeating items within documents changes nothing."""
    values = np.random.default_rng(3).gamma(2.0, size=40)
    means = []
    for copies in (1, 3):
        items, units = np.repeat(values, copies), np.repeat(np.arange(40), copies)

        def mean(weights: Floats, items: Floats = items) -> Floats:
            return np.asarray(weights @ items / weights.sum(axis=1))

        means.append([float(end) for end in bootstrap_interval(mean, units, 0.9, 4000)])
    assert means[0] == pytest.approx(means[1])
    expected = stats.t.interval(0.9, 39, values.mean(), stats.sem(values))
    assert means[0] == pytest.approx(expected, rel=0.02)
    assert np.isnan(bootstrap_interval(lambda weights: weights.sum(axis=1), np.zeros(5, dtype=np.int64), 0.9, 10)).all()
