"""Regressions against statsmodels: coefficients, errors with a dyadic sandwich by hand, intervals, intercepts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.outliers_influence import variance_inflation_factor

from karat.stats.dyadic import dyadic_variance
from karat.stats.influence import degrees_of_freedom
from karat.stats.regression import independent, least_squares
from tests.dyadic import correction, sharing


def graph(count: int = 30, documents: int = 20, seed: int = 0) -> np.ndarray:
    every = np.array(list(combinations(range(documents), 2)))
    return every[np.random.default_rng(seed).choice(len(every), count, replace=False)]


def data(pairs: np.ndarray, systems: int = 2, seed: int = 0) -> tuple[np.ndarray, ...]:
    """(y, x[rows, 3], group, units): rows of all pairs for each system, with errors of documents and of pairs."""
    generator = np.random.default_rng(seed)
    units = np.tile(pairs, (systems, 1))
    rows = len(units)
    x, group = generator.random((rows, 3)), np.repeat(np.arange(systems), len(pairs))
    shared = np.tile(generator.normal(0, 0.3, pairs.max() + 1)[pairs].sum(axis=1), systems)
    y = 0.2 + 0.5 * x[:, 0] - 0.3 * x[:, 1] + 0.4 * group + shared + generator.normal(0, 0.1, rows)
    return y, x, group, units


def sandwich(model: sm.OLS, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(dyadic variance of each coefficient, that of independent pairs), by a double loop over rows."""
    fit = model.fit()
    x = model.exog
    bread = np.linalg.inv(x.T @ x)
    leverage = fit.get_influence().hat_matrix_diag
    scores = x * (fit.resid / np.sqrt(1 - leverage))[:, None]
    meats = np.zeros((2, x.shape[1], x.shape[1]))
    for i, j in np.ndindex(len(x), len(x)):
        one, other = {*units[i].tolist()}, {*units[j].tolist()}
        product = np.outer(scores[i], scores[j])
        meats[0] += product if one & other else 0
        meats[1] += product if one == other else 0
    dyadic, alone = (np.diag(bread @ meat @ bread) for meat in meats)
    return dyadic, alone


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("level", [0.95, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_errors_are_those_of_a_dyadic_sandwich_with_a_correction(own: bool, level: float, seed: int) -> None:
    pairs = graph(seed=seed)
    y, x, group, units = data(pairs, seed=seed)
    group = group if own else np.zeros_like(group)
    model = sm.OLS(y, np.column_stack([x, np.eye(group.max() + 1)[group]]))
    expected, (dyadic, alone) = model.fit(), sandwich(model, units)
    found = least_squares(y, x, ["a", "b", "c"], group, units, level)
    assert found is not None
    assert [each.name for each in found.coefficients] == ["a", "b", "c"]
    n = len(pairs)
    shares = sharing(pairs)
    effective = n**2 / shares.sum()
    bread = np.linalg.inv(model.exog.T @ model.exog)
    for j, each in enumerate(found.coefficients):
        assert each.value == pytest.approx(expected.params[j], rel=1e-9)
        squares = ((model.exog @ bread[:, j]) ** 2).reshape(-1, n).sum(axis=0)
        scaled = squares.sum() ** 2 / (squares @ shares @ squares)
        factor, _ = correction(dyadic[j] / alone[j], shares)
        factor *= (1 - 1 / effective) / (1 - 1 / max(scaled, 1.5))
        assert each.error**2 == pytest.approx(max(dyadic[j] * factor, alone[j] * n / (n - 1)), rel=1e-6)
        assert each.t == pytest.approx(each.value / each.error)
        assert each.p == pytest.approx(2 * stats.t.sf(abs(each.t), each.df))
        half = stats.t.isf((1 - level) / 2, each.df) * each.error
        assert each.interval == pytest.approx((each.value - half, each.value + half))
    assert (found.rows, found.documents) == (60, len(np.unique(pairs)))
    assert found.effective == pytest.approx(effective)
    if not own:
        assert found.r2 == pytest.approx(expected.rsquared)


def test_rows_of_documents_of_their_own_have_the_errors_hc2_of_statsmodels() -> None:
    """With a correction for the few rows that the column rests on: 1 − Σc⁴ / (Σc²)²."""
    y, x, _, _ = data(np.arange(80).reshape(-1, 2), systems=1, seed=1)
    expected = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC2")
    design = sm.add_constant(x)
    scales = (np.linalg.inv(design.T @ design) @ design.T)[1:] ** 2
    shares = (scales**2).sum(axis=1) / scales.sum(axis=1) ** 2
    zeros = np.zeros(40, dtype=np.int64)
    found = [
        least_squares(y, x, ["a", "b", "c"], zeros, units) for units in (np.arange(40), np.arange(80).reshape(-1, 2))
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert [each.error for each in found[0].coefficients] == pytest.approx(expected.bse[1:] / np.sqrt(1 - shares))
    assert found[0].coefficients == found[1].coefficients
    assert (found[0].documents, found[1].documents) == (40, 80)


def test_degrees_of_freedom_are_the_fewer_of_the_graph_and_of_the_tails() -> None:
    pairs = graph(seed=4)
    y, x, group, units = data(pairs, systems=1, seed=4)
    found = least_squares(y, x, ["a", "b", "c"], group, units)
    assert found is not None
    fit = sm.OLS(y, sm.add_constant(x)).fit()
    design = sm.add_constant(x)
    weights = np.linalg.inv(design.T @ design) @ design.T
    influence = weights * fit.resid / np.sqrt(1 - fit.get_influence().hat_matrix_diag)
    for own, each in zip(influence[1:], found.coefficients, strict=True):
        kurtosis = len(own) * (own**4).sum() / (own**2).sum() ** 2
        tails = 2 * len(own) / (2 + max(kurtosis - 3, 0) / 2)
        assert each.df == pytest.approx(min(tails, len(own) - 1, float(dyadic_variance(own, pairs).df)))
        assert float(degrees_of_freedom(own)) == pytest.approx(min(tails, len(own) - 1))


def test_variance_inflation_is_that_of_statsmodels() -> None:
    y, x, group, units = data(graph())
    x[:, 2] = x[:, 0] + 0.05 * x[:, 2]
    found = least_squares(y, x, ["a", "b", "c"], np.zeros_like(group), units)
    assert found is not None
    expected = [variance_inflation_factor(sm.add_constant(x), j) for j in (1, 2, 3)]
    assert [each.inflation for each in found.coefficients] == pytest.approx(expected)
    assert found.coefficients[0].inflation > 100


def test_columns_that_cannot_be_told_apart_are_named() -> None:
    x = np.random.default_rng(0).random((20, 3))
    columns = np.column_stack([x[:, 0], np.full(20, 0.3), 2 * x[:, 0] - 1, x[:, 1], x[:, 0] - 3 * x[:, 1]])
    kept, dropped = independent(columns, ["a", "same", "twice", "b", "mix"])
    assert kept == [0, 3]
    assert dropped == [
        ("same", "is the same everywhere"),
        ("twice", "goes exactly with a"),
        ("mix", "goes exactly with a and b"),
    ]


def test_too_few_rows_or_pairs_make_no_regression() -> None:
    y, x, group, units = data(graph())
    zeros = np.zeros_like(group)
    assert least_squares(y[:4], x[:4], ["a", "b", "c"], zeros[:4], units[:4]) is None
    assert least_squares(y, x, ["a", "b", "c"], zeros, zeros) is None
    assert least_squares(y, x[:, :0], [], zeros, units) is None


def test_an_outcome_that_the_columns_explain_fully_or_that_is_constant_has_no_nan_interval() -> None:
    _, x, group, units = data(graph())
    zeros = np.zeros_like(group)
    for y in (np.full(len(x), 0.3), x[:, 0] * 0.5):
        found = least_squares(y, x, ["a", "b", "c"], zeros, units)
        assert found is not None
        for each in found.coefficients:
            assert each.value == pytest.approx(0.5 if y[0] != 0.3 and each.name == "a" else 0.0, abs=1e-12)
            assert np.isfinite(each.interval).all()
