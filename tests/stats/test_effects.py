"""Effect sizes and sample sizes by hand, from textbooks and from scipy."""

from __future__ import annotations

from math import isnan, nan, sqrt

import numpy as np
import pytest
from scipy import stats

from karat.stats.effects import effect


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
