"""Effect sizes and sample sizes by hand, from textbooks and from scipy."""

from __future__ import annotations

from math import inf, isnan, nan, sqrt

import numpy as np
import pytest
from scipy import stats

from karat.errors import InputError
from karat.metrics.base import f_of_means, mean
from karat.stats.effects import detectable, documents_needed, effect, power_of, spread
from karat.stats.resampling import Sample, difference, estimate, standard_error


def test_effect_sizes_by_hand() -> None:
    # Differences .2 0 -.1 .3: mean .1, squared deviations .01 .01 .04 .04, sd √(.1/3).
    found = effect(np.array([0.5, 0.4, 0.3, 0.9, nan]), np.array([0.3, 0.4, 0.4, 0.6, 0.5]))
    assert found.mean == pytest.approx(0.1)
    assert found.sd == pytest.approx(sqrt(0.1 / 3))
    assert found.d_z == pytest.approx(0.1 / sqrt(0.1 / 3))
    assert (found.wins, found.ties, found.losses, found.documents) == (2, 1, 1, 4)
    assert found.superiority == pytest.approx((2 + 0.5) / 4)


def test_d_z_is_t_by_the_root_of_n() -> None:
    x, y = np.random.default_rng(0).random((2, 25))
    assert effect(x, y).d_z == pytest.approx(stats.ttest_rel(x, y).statistic / 5)


def test_the_other_way_round_effects_change_their_sign() -> None:
    x, y = np.random.default_rng(1).integers(0, 4, (2, 30)).astype(float)
    there, back = effect(x, y), effect(y, x)
    assert back.d_z == -there.d_z
    assert back.superiority == 1 - there.superiority


def test_effects_of_equal_constant_and_no_differences() -> None:
    x = np.array([0.1, 0.2, 0.3])
    same = effect(x, x)
    assert (same.d_z, same.superiority, same.ties) == (0.0, 0.5, 3)
    assert isnan(effect(x + 0.1, x).d_z)  # in standard deviations of 0
    assert effect(x + 0.1, x).superiority == 1.0
    none = effect(np.array([nan]), np.array([1.0]))
    assert none.documents == 0
    assert isnan(none.d_z)
    assert isnan(none.superiority)


def test_sample_sizes_are_those_of_the_textbook() -> None:
    # z of .975 and of .8 are 1.95996 and .84162: (2.80158 / .5)² = 31.4, (2.80158 / .2)² = 196.2.
    assert documents_needed(sd=1.0, difference=0.5) == 32
    assert documents_needed(sd=1.0, difference=-0.2) == 197
    assert documents_needed(sd=1.0, difference=0.5, power=0.9) == 43  # (3.24152 / .5)² = 42.03
    assert detectable(sd=1.0, documents=100) == pytest.approx(0.280158, abs=1e-6)


def test_a_test_needs_endlessly_many_documents_to_find_nothing() -> None:
    assert documents_needed(0.2, 0.0) == inf
    assert documents_needed(0.0, 0.1) == 1
    assert isnan(documents_needed(nan, 0.1))
    for wrong in (0.0, 1.0, 80.0):
        with pytest.raises(InputError, match=f"power {wrong} is not between 0 and 1"):
            detectable(0.2, 100, power=wrong)
    with pytest.raises(InputError, match="0 documents are too few"):
        detectable(0.2, 0)


def test_what_is_detectable_is_found_with_that_power() -> None:
    for documents in (50, 500):
        for power in (0.5, 0.8, 0.95):
            least = detectable(0.3, documents, power=power)
            assert power_of(0.3, least, documents) == pytest.approx(power, abs=1e-3)
            assert documents_needed(0.3, least * 1.0001, power=power) == documents
    assert power_of(0.3, 0.0, 100) == pytest.approx(0.05)


def test_the_power_is_near_to_that_of_the_t_test() -> None:
    # By the noncentral t distribution.
    t, end = stats.nct(99, 0.25 * 10), stats.t.ppf(0.975, 99)
    assert power_of(1.0, 0.25, 100) == pytest.approx(t.sf(end) + t.cdf(-end), abs=0.01)


def test_the_spread_of_a_mean_is_the_standard_deviation_and_of_f1_of_means_that_of_resamples() -> None:
    generator = np.random.default_rng(0)
    x, y = generator.random((2, 80))
    a, b = (Sample(np.column_stack([each, np.ones(80)]), mean) for each in (x, y))
    apart = difference(*estimate([a, b], 10))
    assert spread(apart) == pytest.approx((x - y).std(ddof=1))
    a, b = (Sample(np.column_stack([generator.random((300, 2)), np.ones(300)]), f_of_means) for _ in range(2))
    apart = difference(*estimate([a, b], 4000))
    assert spread(apart) == pytest.approx(apart.resampled.std() * sqrt(300), rel=0.05)
    assert spread(apart) == pytest.approx(standard_error(apart) * sqrt(300))
