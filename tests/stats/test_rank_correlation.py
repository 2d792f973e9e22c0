"""Spearman's rho of weighted rows, and the influence of each row, against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from karat.stats.rank_correlation import spearman, spearman_influence


def levels(count: int, ties: int, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    x = generator.integers(0, ties, count)
    y = x + generator.integers(0, ties, count)
    return np.stack([np.unique(column, return_inverse=True)[1] for column in (x, y)], axis=1).astype(float)


@pytest.mark.parametrize("ties", [3, 1000])
def test_rho_is_that_of_scipy_and_a_weight_is_that_many_rows(ties: int) -> None:
    rows = levels(40, ties)
    weights = np.random.default_rng(1).integers(0, 4, (5, 40)).astype(float)
    assert float(spearman(rows, np.ones(40))) == pytest.approx(stats.spearmanr(*rows.T).statistic)
    for value, weight in zip(spearman(rows, weights), weights, strict=True):
        again = np.repeat(rows, weight.astype(int), axis=0)
        assert value == pytest.approx(stats.spearmanr(*again.T).statistic)


def test_rho_of_a_constant_and_of_a_single_row_is_undefined() -> None:
    rows = np.stack([np.zeros(8), np.arange(8.0)], axis=1)
    assert np.isnan(spearman(rows, np.ones(8)))
    assert not spearman_influence(rows).any()
    assert np.isnan(spearman(levels(8, 5), np.eye(8)[0]))
    assert spearman_influence(rows[:1]).tolist() == [0.0]


@pytest.mark.parametrize("ties", [3, 12, 1000])
def test_the_influence_of_a_row_is_about_that_of_leaving_it_out(ties: int) -> None:
    rows, n = levels(400, ties), 400
    without = np.array([stats.spearmanr(*np.delete(rows, i, axis=0).T).statistic for i in range(n)])
    expected = (without.mean() - without) * (n - 1) / n
    found = spearman_influence(rows)
    assert np.corrcoef(found, expected)[0, 1] > 0.9999
    assert (found**2).sum() == pytest.approx((expected**2).sum(), rel=0.01)
    assert found.sum() == pytest.approx(0, abs=1e-12)


def test_the_standard_error_is_that_of_simulated_values() -> None:
    """Of bivariate normal values with correlation ½."""
    generator = np.random.default_rng(2)
    x = generator.normal(size=(1500, 60))
    y = 0.5 * x + np.sqrt(0.75) * generator.normal(size=x.shape)
    ranks = np.stack([values.argsort(axis=1).argsort(axis=1) for values in (x, y)], axis=-1).astype(float)
    rho = [float(spearman(each, np.ones(60))) for each in ranks]
    variances = [(spearman_influence(each) ** 2).sum() * 60 / 59 for each in ranks]
    assert np.mean(variances) == pytest.approx(np.var(rho), rel=0.1)
