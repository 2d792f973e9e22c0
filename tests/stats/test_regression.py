"""Regressions against statsmodels: coefficients, errors by clusters, intervals, intercepts of groups, resamples."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.outliers_influence import variance_inflation_factor

from karat.stats.regression import independent, least_squares, resampled


def data(rows: int = 60, seed: int = 0) -> tuple[np.ndarray, ...]:
    """(y, x[rows, 3], group, cluster): two groups, and clusters of several rows that share an error."""
    generator = np.random.default_rng(seed)
    x = generator.random((rows, 3))
    group, cluster = np.arange(rows) % 2, np.arange(rows) // 4
    shared = generator.normal(0, 0.3, rows)[cluster]
    y = 0.2 + 0.5 * x[:, 0] - 0.3 * x[:, 1] + 0.4 * group + shared + generator.normal(0, 0.1, rows)
    return y, x, group, cluster


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("level", [0.95, 0.9])
def test_a_regression_is_that_of_statsmodels_with_errors_by_clusters(own: bool, level: float) -> None:
    y, x, group, cluster = data()
    group = group if own else np.zeros_like(group)
    intercepts = np.eye(group.max() + 1)[group]
    expected = sm.OLS(y, np.column_stack([x, intercepts])).fit(
        cov_type="cluster", cov_kwds={"groups": cluster, "df_correction": True}, use_t=True
    )
    found = least_squares(y, x, ["a", "b", "c"], group, cluster, level)
    assert found is not None
    assert [each.name for each in found.coefficients] == ["a", "b", "c"]
    for j, each in enumerate(found.coefficients):
        assert each.value == pytest.approx(expected.params[j], rel=1e-9)
        assert each.error == pytest.approx(expected.bse[j], rel=1e-9)
        assert each.t == pytest.approx(expected.tvalues[j], rel=1e-9)
        assert each.p == pytest.approx(expected.pvalues[j], rel=1e-7)
        assert each.interval == pytest.approx(expected.conf_int(1 - level)[j], rel=1e-9)
    assert (found.rows, found.clusters) == (60, 15)
    if not own:
        assert found.r2 == pytest.approx(expected.rsquared)


def test_how_much_columns_go_together_is_that_of_statsmodels() -> None:
    y, x, _, cluster = data()
    x[:, 2] = x[:, 0] + 0.05 * x[:, 2]
    found = least_squares(y, x, ["a", "b", "c"], np.zeros(60, dtype=np.int64), cluster)
    assert found is not None
    expected = [variance_inflation_factor(sm.add_constant(x), j) for j in (1, 2, 3)]
    assert [each.inflation for each in found.coefficients] == pytest.approx(expected)
    assert found.coefficients[0].inflation > 100


def test_where_every_row_is_its_own_cluster_the_errors_are_hc1() -> None:
    y, x, _, _ = data(40, seed=1)
    expected = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC1")
    found = least_squares(y, x, ["a", "b", "c"], np.zeros(40, dtype=np.int64), np.arange(40))
    assert found is not None
    assert [each.error for each in found.coefficients] == pytest.approx(expected.bse[1:], rel=1e-9)


@pytest.mark.parametrize("own", [False, True])
def test_a_resample_is_the_regression_of_the_rows_that_were_drawn(own: bool) -> None:
    y, x, group, _ = data(30, seed=2)
    group = group if own else np.zeros_like(group)
    units = np.stack([np.arange(30), (np.arange(30) * 7 + 1) % 30], axis=1)
    samples = resampled(y, x, group, units, 30)
    drawn = np.random.default_rng(3).integers(0, 4, (10, 30))
    for weights, *values in zip(drawn, *(sample.at(drawn.astype(np.uint8)) for sample in samples), strict=True):
        times = weights[units].prod(axis=1)
        again = np.repeat(np.arange(30), times)
        intercepts = np.eye(group.max() + 1)[group]
        expected = sm.OLS(y[again], np.column_stack([x, intercepts])[again]).fit()
        assert values == pytest.approx(expected.params[:3], rel=1e-7)


def test_a_resample_that_tells_nothing_is_undefined() -> None:
    y, x, group, _ = data(30, seed=2)
    [sample, *_] = resampled(y, x, np.zeros_like(group), np.arange(30), 30)
    assert np.isnan(sample.at(np.eye(30, dtype=np.uint8))).all()


def test_columns_that_cannot_be_told_apart_are_named() -> None:
    _, x, _, _ = data(20)
    columns = np.column_stack([x[:, 0], np.full(20, 0.3), 2 * x[:, 0] - 1, x[:, 1], x[:, 0] - 3 * x[:, 1]])
    kept, dropped = independent(columns, ["a", "same", "twice", "b", "mix"])
    assert kept == [0, 3]
    assert dropped == [
        ("same", "is the same everywhere"),
        ("twice", "goes exactly with a"),
        ("mix", "goes exactly with a and b"),
    ]


def test_too_few_rows_or_clusters_make_no_regression() -> None:
    y, x, group, cluster = data(4)
    zeros = np.zeros_like(group)
    assert least_squares(y, x, ["a", "b", "c"], zeros, cluster) is None
    y, x, group, cluster = data(40)
    assert least_squares(y, x, ["a", "b", "c"], np.zeros_like(group), np.zeros_like(group)) is None
    assert least_squares(y, x[:, :0], [], np.zeros_like(group), cluster) is None
