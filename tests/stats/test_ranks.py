"""Ranks over corpora against scipy and the worked example of Demšar (2006)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from karat.errors import InputError
from karat.stats.ranks import cliques, critical_difference, friedman, nemenyi

# Mean ranks of four learners on 14 corpora in Demšar (2006).
DEMSAR = np.array([3.143, 2.000, 2.893, 1.964])


@pytest.mark.parametrize("levels", [1000, 3])  # without ties and with many
def test_friedman_is_that_of_scipy(levels: int) -> None:
    scores = np.random.default_rng(levels).integers(0, levels, (9, 4)) / levels
    expected = stats.friedmanchisquare(*scores.T)
    found = friedman(scores)
    assert (found.chi2, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert found.ranks == pytest.approx(stats.rankdata(-scores, axis=1).mean(axis=0))


def test_friedman_by_hand() -> None:
    # Ranks 1 2 3, 1 2 3, 2 1 3, 1 3 2: sums 5 8 11, which are 3, 0 and 3 from 8.
    found = friedman(np.array([[0.9, 0.8, 0.1], [0.5, 0.4, 0.3], [0.6, 0.7, 0.2], [0.8, 0.2, 0.5]]))
    assert found.ranks.tolist() == [1.25, 2.0, 2.75]
    assert found.chi2 == pytest.approx(2 * 18 / 8)
    assert found.f == pytest.approx(3 * 4.5 / (4 * 2 - 4.5))
    assert found.f_p == pytest.approx(stats.f.sf(found.f, 2, 6))


def test_without_ties_friedman_is_the_formula_of_the_textbook() -> None:
    order = [[4, 2, 3, 1]] * 4 + [[3, 1, 4, 2]] * 4 + [[4, 1, 3, 2]] * 1 + [[2, 4, 1, 3]] * 2 + [[2, 3, 4, 1]] * 3
    found = friedman(np.array(order, dtype=float), better="lower")
    ranks = np.array(order).mean(axis=0)
    # χ² = 12 N / (k (k + 1)) · (Σ R² − k (k + 1)² / 4).
    chi2 = 12 * 14 / 20 * ((ranks**2).sum() - 4 * 25 / 4)
    assert found.chi2 == pytest.approx(chi2)
    assert found.f == pytest.approx(13 * chi2 / (14 * 3 - chi2))


def test_less_may_be_better_and_rounding_is_no_better_rank() -> None:
    scores = np.array([[0.1 + 0.2, 0.3, 0.5], [0.2, 0.1, 0.9]])
    assert friedman(scores).ranks.tolist() == [2.25, 2.75, 1.0]
    assert friedman(scores, better="lower").ranks.tolist() == [1.75, 1.25, 3.0]


def test_systems_that_are_always_equal_or_always_in_the_same_order() -> None:
    same = friedman(np.ones((5, 3)))
    assert (same.chi2, same.p, same.f_p) == (0.0, 1.0, 1.0)
    clear = friedman(np.tile([0.3, 0.2, 0.1], (5, 1)))
    assert (clear.f, clear.f_p) == (np.inf, 0.0)
    assert clear.chi2 == pytest.approx(10.0)


def test_corpora_without_a_score_of_every_system_are_left_out_and_counted() -> None:
    scores = np.random.default_rng(0).random((6, 3))
    with_gaps = np.vstack([scores, [[0.1, np.nan, 0.3]]])
    found = friedman(with_gaps)
    assert (found.corpora, found.left_out) == (6, 1)
    assert found.chi2 == friedman(scores).chi2
    with pytest.raises(InputError, match="only 0 of 1 corpora have a score of every system"):
        friedman(with_gaps[6:])
    with pytest.raises(InputError, match="two systems or more"):
        friedman(np.ones((3, 1)))
    with pytest.raises(InputError, match="did you mean 'higher'"):
        friedman(scores, better="high")  # type: ignore[arg-type]


def test_critical_values_are_those_of_demsars_table() -> None:
    q05 = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    q10 = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]
    for alpha, table in ((0.05, q05), (0.10, q10)):
        found = [critical_difference(k, 1, alpha) / np.sqrt(k * (k + 1) / 6) for k in range(2, 11)]
        assert found == pytest.approx(table, abs=0.0015)


def test_the_critical_differences_of_demsars_example() -> None:
    assert critical_difference(4, 14, 0.05) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=0.005)
    with pytest.raises(InputError, match="alpha 5 is not between 0 and 1"):
        critical_difference(4, 14, 5)


def test_in_demsars_example_systems_differ_at_a_tenth_only() -> None:
    assert cliques(DEMSAR, critical_difference(4, 14, 0.05)) == ((3, 1, 2, 0),)
    assert cliques(DEMSAR, critical_difference(4, 14, 0.10)) == ((3, 1, 2), (2, 0))
    p = nemenyi(DEMSAR, 14)
    assert (p == p.T).all()
    assert (np.diag(p) == 1).all()
    assert {(i, j) for i in range(4) for j in range(i) if p[i, j] < 0.10} == {(1, 0), (3, 0)}
    assert p.min() > 0.05


def test_two_systems_the_critical_difference_apart_have_a_p_of_alpha() -> None:
    critical = critical_difference(3, 10, 0.05)
    assert nemenyi(np.array([1.0, 1.0 + critical, 2.5]), 10)[0, 1] == pytest.approx(0.05, abs=1e-6)


def test_cliques_are_the_longest_bars_none_within_another() -> None:
    ranks = np.array([1.0, 1.4, 2.0, 3.0, 5.0])
    assert cliques(ranks, 1.0) == ((0, 1, 2), (2, 3))
    assert cliques(ranks, 0.3) == ()
    assert cliques(ranks, 9.0) == ((0, 1, 2, 3, 4),)
    assert cliques(ranks[::-1], 1.0) == ((4, 3, 2), (2, 1))
