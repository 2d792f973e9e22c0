"""Dyadic variances and covariances against explicit double loops over pairs that share a document."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from karat.stats import dyadic
from karat.stats.dyadic import dyadic_covariance, dyadic_variance, pair_graph
from karat.stats.influence import contrast, jackknife
from karat.stats.resampling import Sample
from tests.dyadic import correction, sharing

DISJOINT = np.arange(40).reshape(-1, 2)
TRIPLES = np.concatenate([np.array([[0, 1], [0, 2], [2, 1]]) + 3 * i for i in range(12)])
CHAIN = np.array([[i, i + 1] for i in range(25)])
HUB = np.array([[0, i] for i in range(1, 16)])


def uneven(documents: int = 30, count: int = 45, seed: int = 0) -> np.ndarray:
    every = np.array(list(combinations(range(documents), 2)))
    weight = 1 / (1 + every[:, 0]) ** 1.2
    chosen = np.random.default_rng(seed).choice(len(every), count, replace=False, p=weight / weight.sum())
    return every[chosen]


GRAPHS = {"disjoint": DISJOINT, "triples": TRIPLES, "chain": CHAIN, "uneven": uneven()}


def by_hand(influence: np.ndarray, pairs: np.ndarray) -> tuple[float, float]:
    """(variance, degrees of freedom) of distinct pairs."""
    n = len(pairs)
    total, squares = float(influence @ sharing(pairs) @ influence), float(influence @ influence)
    factor, df = correction(total / squares, sharing(pairs))
    return max(total * factor, squares * n / (n - 1)), df


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("seed", range(4))
def test_variance_and_degrees_of_freedom_are_those_of_dense_matrices(name: str, seed: int) -> None:
    pairs = GRAPHS[name]
    generator = np.random.default_rng(seed)
    effects = generator.normal(size=pairs.max() + 1) * (seed % 2)
    values = effects[pairs].sum(axis=1) + generator.normal(size=len(pairs))
    influence = (values - values.mean()) / len(values)
    found = dyadic_variance(influence, pairs)
    variance, df = by_hand(influence, pairs)
    assert float(found.variance) == pytest.approx(variance, rel=1e-6)
    assert float(found.df) == pytest.approx(df, rel=1e-5)
    assert float(found.independent) == pytest.approx(values.var(ddof=1) / len(values))
    assert bool(found.raised) == (variance == pytest.approx(float(found.independent)) and name != "disjoint")
    assert found.effective == pytest.approx(len(pairs) ** 2 / sharing(pairs).sum())


def test_disjoint_pairs_are_a_t_test() -> None:
    values = np.random.default_rng(1).exponential(size=20)
    values = values - 0.3
    mean = contrast(
        jackknife(Sample(np.stack([values, np.ones(20)], axis=1), lambda s: s[..., 0] / s[..., 1], DISJOINT))
    )
    assert mean.dyadic is not None
    assert float(mean.error) == pytest.approx(stats.sem(values))
    assert float(mean.dyadic.df) == pytest.approx(19)
    assert not mean.dyadic.shares
    assert not mean.dyadic.raised


def test_the_order_of_pairs_and_of_the_two_documents_does_not_matter() -> None:
    pairs, generator = uneven(), np.random.default_rng(2)
    influence = generator.normal(size=len(pairs))
    order = generator.permutation(len(pairs))
    other = np.where(generator.random((len(pairs), 1)) < 0.5, pairs, pairs[:, ::-1])[order] + 100
    one, two = dyadic_variance(influence, pairs), dyadic_variance(influence[order], other)
    assert float(one.variance) == pytest.approx(float(two.variance))
    assert float(one.df) == pytest.approx(float(two.df))


def test_rows_of_the_same_pair_are_added_up() -> None:
    pairs, generator = uneven(), np.random.default_rng(3)
    influence = generator.normal(size=(2, len(pairs)))
    both = dyadic_variance(influence.reshape(-1), np.concatenate([pairs, pairs[:, ::-1]]))
    assert float(both.variance) == pytest.approx(float(dyadic_variance(influence.sum(axis=0), pairs).variance))


def test_a_negative_dyadic_sum_gives_the_variance_of_independent_pairs() -> None:
    """In a chain with alternating influences, every product of neighbours is negative."""
    influence = np.where(np.arange(25) % 2, -1.0, 1.0) / 25
    assert influence @ sharing(CHAIN) @ influence < 0
    found = dyadic_variance(influence, CHAIN)
    assert bool(found.raised)
    assert float(found.variance) == pytest.approx(25 / 24 / 25)


def test_a_hub_gives_the_variance_of_independent_pairs_and_one_degree_of_freedom() -> None:
    influence = np.random.default_rng(4).normal(size=15)
    influence -= influence.mean()
    found = dyadic_variance(influence, HUB)
    assert bool(found.raised)
    assert float(found.variance) == pytest.approx(float(influence @ influence) * 15 / 14)
    assert float(found.df) == 1.0
    assert found.effective == pytest.approx(1.0)


@pytest.mark.parametrize("pairs", [np.zeros((0, 2), dtype=np.int64), np.array([[3, 5]])])
def test_fewer_than_two_pairs_have_no_variance(pairs: np.ndarray) -> None:
    found = dyadic_variance(np.ones(len(pairs)), pairs)
    assert np.isnan(found.variance)
    assert not found.raised


def test_several_statistics_at_once_are_each_by_itself() -> None:
    pairs = uneven()
    influence = np.random.default_rng(5).normal(size=(2, 3, len(pairs)))
    found = dyadic_variance(influence, pairs)
    assert found.variance.shape == found.df.shape == found.raised.shape == (2, 3)
    one = dyadic_variance(influence[1, 2], pairs)
    assert float(found.variance[1, 2]) == pytest.approx(float(one.variance))
    assert float(found.df[1, 2]) == pytest.approx(float(one.df))


@pytest.mark.parametrize("name", GRAPHS)
def test_traces_are_those_of_the_dense_matrix(name: str) -> None:
    pairs = GRAPHS[name]
    n, a = len(pairs), sharing(pairs)
    centre = np.eye(n) - 1 / n
    product = centre @ a @ centre
    powers = [np.trace(np.linalg.matrix_power(product, k)) for k in (1, 2, 3, 4)]
    assert pair_graph(pairs).traces == pytest.approx(powers)


def test_traces_of_large_graphs_are_estimated_within_a_few_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = uneven(200, 900, seed=6)
    exact = pair_graph(pairs).traces
    dyadic._graph.cache_clear()
    monkeypatch.setattr(dyadic, "LARGEST_SQUARE", 0)
    estimated = pair_graph(pairs).traces
    dyadic._graph.cache_clear()
    assert estimated == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_covariance_is_that_of_a_double_loop_where_it_exceeds_independent_pairs(name: str) -> None:
    pairs, generator = GRAPHS[name], np.random.default_rng(7)
    effects = generator.normal(size=(3, pairs.max() + 1))
    influence = 3 * effects[:, pairs].sum(axis=-1) + generator.normal(size=(3, len(pairs)))
    influence -= influence.mean(axis=1, keepdims=True)
    a = sharing(pairs)
    dyadic_sums = np.array([[one @ a @ other for other in influence] for one in influence])
    independent = influence @ influence.T
    found = dyadic_covariance(influence, pairs)
    if np.linalg.eigvalsh(dyadic_sums - independent).min() > -1e-9:
        assert found == pytest.approx(dyadic_sums)
    assert np.linalg.eigvalsh(found - independent).min() > -1e-8 * np.abs(found).max()
    assert np.linalg.eigvalsh(found - dyadic_sums).min() > -1e-8 * np.abs(found).max()


def test_the_covariance_of_a_chain_that_alternates_is_that_of_independent_pairs() -> None:
    influence = np.stack([np.where(np.arange(25) % 2, -1.0, 1.0)] * 2) * [[1.0], [2.0]]
    assert dyadic_covariance(influence, CHAIN) == pytest.approx(influence @ influence.T)
