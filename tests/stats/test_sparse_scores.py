"""Differences of scores that are 0 on most documents: variance, signs of contributions, non-inferiority and plans."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from karat.metrics.base import f_of_sums, mean
from karat.stats.families import max_t, randomise_signs
from karat.stats.influence import Contrast, contrast, jackknife
from karat.stats.resampling import Sample
from karat.stats.tests import randomisation

Floats = NDArray[np.float64]


def means(values: Floats) -> Sample:
    return Sample(np.column_stack([values, np.ones(len(values))]), mean)


def apart(x: Floats, y: Floats) -> Contrast:
    return contrast(jackknife(means(x)), jackknife(means(y)), scores=True)


def dense(n: int, seed: int = 0) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(seed)
    return generator.beta(2, 4, n), generator.beta(2, 4, n)


# ---------------------------------------------------------------------------------------------- variance


def test_where_most_documents_score_the_variance_is_that_of_the_differences() -> None:
    for n in (10, 25, 80):
        x, y = dense(n)
        assert float(apart(x, y).error) == pytest.approx(stats.sem(x - y))


def test_where_few_documents_score_the_variance_is_at_least_that_of_one() -> None:
    x, y = np.zeros(25), np.zeros(25)
    x[0], y[0] = 0.5, 0.48  # both find the same phrase
    size = (0.5**4 + 0.48**4) / (0.5**2 + 0.48**2)
    kurtosis = 50 * (0.5**4 + 0.48**4) / (0.5**2 + 0.48**2) ** 2
    one = apart(x, y)
    assert float(one.documents) == pytest.approx((1 - 3 / kurtosis) * size / 25**2)
    assert float(one.df_documents) == pytest.approx(2 * 25 / (2 + 22 / 2))
    low, high = one.interval()
    assert low < -0.04
    assert high > 0.04


def test_a_document_that_only_one_system_scores_on_is_enough() -> None:
    x, y = np.zeros(80), np.zeros(80)
    x[:4], y[2:6] = 0.4, 0.5
    assert float(apart(x, y).error) == pytest.approx(stats.sem(x - y))


def test_equal_systems_do_not_vary() -> None:
    x = np.zeros(25)
    x[:2] = 0.5
    one = apart(x, x)
    assert float(one.error) == 0
    assert float(one.p()) == 1


def test_scores_far_from_zero_keep_their_variance() -> None:
    x, y = dense(30)
    assert float(apart(1000 + x, 1000 + y).error) == pytest.approx(stats.sem(x - y))


# ---------------------------------------------------------------------------------------------- signs


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_signs_of_differences_are_swaps_of_rows(side: str) -> None:
    pairs = [dense(n, seed) for seed, n in enumerate((8, 40, 40, 60))]
    result = randomise_signs([x - y for x, y in pairs], 800, 3, side)
    swaps = [randomisation(means(x), means(y), 800, 3, side) for x, y in pairs]  # type: ignore[arg-type]
    assert result.p == pytest.approx([one.p for one in swaps])
    assert result.at_floor == [one.at_floor for one in swaps]


def test_exact_signs_are_those_of_a_loop() -> None:
    values = np.array([0.3, -0.1, 0.4, 0.2, 0.0, 0.5, -0.05])
    sums = [
        sum(sign * value for sign, value in zip(signs, values, strict=True)) for signs in product((1, -1), repeat=7)
    ]
    expected = np.mean([abs(total) >= abs(values.sum()) - 1e-12 for total in sums])
    assert randomise_signs([values]).p == [pytest.approx(expected)]


def test_each_test_is_a_family_of_one() -> None:
    values = [x - y for x, y in (dense(30, seed) for seed in range(4))]
    assert randomise_signs(values, 500, 1).p == [max_t([one], resamples=500, seed=1).p[0] for one in values]


# ---------------------------------------------------------------------------------------------- non-inferiority


def test_non_inferiority_of_symmetric_differences_is_a_t_test() -> None:
    half = np.abs(dense(20)[0]) / 4
    x = 0.5 + np.concatenate([half, -half]) - 0.003
    y = np.full(40, 0.5)
    expected = stats.ttest_1samp(x - y + 0.02, 0, alternative="greater").pvalue
    one = apart(x, y)
    assert float(one.non_inferiority_p(0.02)) == pytest.approx(expected, rel=0.02)  # skewness 0 but for rounding
    assert float(apart(y, x).non_inferiority_p(0.02, sign=-1)) == pytest.approx(float(one.non_inferiority_p(0.02)))


def test_non_inferiority_allows_for_large_rare_drops() -> None:
    x, y = np.full(40, 0.5), np.full(40, 0.5) - np.linspace(-0.01, 0.01, 40)
    x[:2] = 0.3  # two documents drop
    t = float((x - y).mean() + 0.03) / stats.sem(x - y)
    skewness = stats.skew(x - y) / 40**0.5
    hall = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
    assert hall < t
    one = apart(x, y)
    assert float(one.non_inferiority_p(0.03)) == pytest.approx(stats.t.sf(hall, float(one.df_documents)))


def test_non_inferiority_without_any_hit_is_the_chance_to_miss_a_drop() -> None:
    one = apart(np.zeros(50), np.zeros(50))
    assert float(one.non_inferiority_p(0.01)) == pytest.approx(0.99**50)
    assert float(one.non_inferiority_p(0.01, reach=2.0)) == pytest.approx(0.995**50)
    assert float(apart(np.zeros(500), np.zeros(500)).non_inferiority_p(0.01)) < 0.01


# ---------------------------------------------------------------------------------------------- plans


def test_the_interval_of_documents_needed_is_that_of_the_variance() -> None:
    generator = np.random.default_rng(4)
    difference = generator.uniform(-0.2, 0.2, 60)  # lighter tails than a normal distribution: n - 1 degrees of freedom
    one = apart(0.5 + difference, np.full(60, 0.5))
    low, high = one.needed_interval(0.05)
    multiple = (stats.t.ppf(0.975, 59) + stats.t.ppf(0.8, 59)) ** 2
    ends = difference.var(ddof=1) * 59 / stats.chi2.ppf([0.975, 0.025], 59)
    assert [low, high] == np.ceil(ends * multiple / 0.05**2).tolist()


def test_the_interval_of_documents_needed_has_the_degrees_of_freedom_of_satterthwaite() -> None:
    x = np.zeros(100)
    x[:4] = 0.5
    difference = x - x.mean()
    excess = 100 * (difference**4).sum() / (difference**2).sum() ** 2 - 3
    df = 200 / (2 + excess)
    one = apart(x, np.zeros(100))
    low, high = one.needed_interval(0.02)
    ratio = stats.chi2.ppf(0.975, df) / stats.chi2.ppf(0.025, df)
    assert high / low == pytest.approx(ratio, rel=0.05)


def test_micro_f1_is_tested_by_contributions() -> None:
    generator = np.random.default_rng(1)
    rows = [
        np.column_stack([generator.binomial(2, 0.3, 40), np.full(40, k), np.full(40, 4), np.ones(40)]).astype(float)
        for k in (2, 5)
    ]
    a, b = (jackknife(Sample(values, f_of_sums)) for values in rows)
    one = contrast(a, b, scores=True)
    influence = (a.mean_influence - b.mean_influence).ravel()
    scores = float(one.value) + 40 * influence
    assert scores.mean() == pytest.approx(float(one.value))
    flips = np.random.default_rng(2).choice([-1, 1], (20_000, 40)) @ scores
    expected = np.mean(np.abs(flips) >= abs(scores.sum()) - 1e-9)  # many sums are equal
    assert randomise_signs([scores], 9999).p[0] == pytest.approx(expected, abs=0.02)
