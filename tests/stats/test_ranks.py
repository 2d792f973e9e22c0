"""Ranks over corpora against scipy, against trying every order, and the worked example of Demšar (2006)."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.errors import InputError
from karat.stats import rank_sums
from karat.stats.base import Floats
from karat.stats.rank_sums import orders
from karat.stats.ranks import cliques, critical_difference, friedman, nemenyi
from tests.examples import examples

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
    assert cliques(ranks, 1.01) == ((0, 1, 2), (2, 3))
    assert cliques(ranks, 1.0) == ((0, 1), (1, 2))  # what is a critical difference apart differs
    assert cliques(ranks, 0.3) == ()
    assert cliques(ranks, 9.0) == cliques(ranks, np.inf) == ((0, 1, 2, 3, 4),)
    assert cliques(ranks[::-1], 1.01) == ((4, 3, 2), (2, 1))


# ---------------------------------------------------------------------------------------------- every order of ranks


def tried(scores: Floats) -> tuple[float, Floats]:
    """(the p of Friedman's χ², that of each two systems' distance), by trying every order of every corpus's ranks."""
    ranks = stats.rankdata(-scores, axis=1)
    centre = len(ranks) * (ranks.shape[1] + 1) / 2
    sums = np.array([np.sum(rows, axis=0) for rows in product(*(list(permutations(row)) for row in ranks))])
    squares = ((sums - centre) ** 2).sum(axis=1)
    own = ranks.sum(axis=0)
    apart = np.abs(own[:, None] - own)
    pairs = [[(np.ptp(sums, axis=1) >= one - 1e-9).mean() for one in row] for row in apart]
    return float((squares >= ((own - centre) ** 2).sum() - 1e-9).mean()), np.array(pairs)


few_scores = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, k), min_size=k, max_size=k), min_size=2, max_size={2: 7, 3: 4, 4: 3}[k])
)


@settings(max_examples=examples(40), deadline=None)
@given(few_scores)
def test_p_over_few_corpora_is_that_of_trying_every_order_ties_or_not(given_scores: list[list[int]]) -> None:
    scores = np.array(given_scores, dtype=float)
    found = friedman(scores)
    p, pairs = tried(scores)
    assert found.how == "exact"
    assert found.used_p == found.permutation_p == pytest.approx(p, abs=1e-12)
    assert found.pairwise() == pytest.approx(pairs, abs=1e-12)


@pytest.mark.parametrize(("corpora", "systems"), [(2, 5), (3, 4), (4, 3), (5, 3), (9, 2)])
def test_the_critical_difference_is_the_smallest_that_every_order_finds_rare_enough(corpora: int, systems: int) -> None:
    scores = np.random.default_rng(corpora).random((corpora, systems))
    # Systems are alike: the first corpus may keep its order.
    rows = [[tuple(range(systems))], *([list(permutations(range(systems)))] * (corpora - 1))]
    widths = np.array([np.ptp(np.sum(each, axis=0)) for each in product(*rows)])
    for alpha in (0.2, 0.1, 0.05, 0.01):
        rare = [width for width in np.unique(widths) if (widths >= width).mean() <= alpha + 1e-9]
        assert friedman(scores).critical(alpha) == pytest.approx(min(rare) / corpora if rare else np.inf)
    assert friedman(scores).smallest_p == pytest.approx((widths == widths.max()).mean())


def test_three_corpora_that_agree_on_two_systems_have_a_p_of_a_quarter() -> None:
    found = friedman(np.tile([0.3, 0.2], (3, 1)))
    assert found.f_p == 0.0  # what F says
    assert (found.used_p, found.how, found.at_floor) == (0.25, "exact", False)


@pytest.mark.parametrize("corpora", range(2, 30))
def test_of_two_systems_the_tests_are_the_sign_test(corpora: int) -> None:
    for better in range(corpora // 2, corpora + 1):
        scores = np.array([[0.3, 0.2]] * better + [[0.2, 0.3]] * (corpora - better))
        expected = stats.binomtest(better, corpora).pvalue
        found = friedman(scores)
        assert found.used_p == pytest.approx(expected)
        if 2 * better != corpora:
            assert found.pairwise()[0, 1] == pytest.approx(expected)
        assert bool(cliques(found.ranks, found.critical())) == (expected > 0.05)


def test_five_corpora_cannot_tell_two_systems_apart_and_six_can() -> None:
    five, six = (friedman(np.tile([0.3, 0.2], (corpora, 1))) for corpora in (5, 6))
    assert (five.used_p, five.critical(), five.smallest_p) == (0.0625, np.inf, 0.0625)
    assert (six.used_p, six.critical(), six.smallest_p) == (0.03125, 1.0, 0.03125)
    assert cliques(five.ranks, five.critical()) == ((0, 1),)
    assert cliques(six.ranks, six.critical()) == ()


def test_critical_values_of_few_corpora_are_those_of_tables() -> None:
    # Rank sums that are so far apart differ, with the chance beneath: of 3 systems on 3 to 6 corpora, and of 4 on 3, 4.
    table = {(3, 3): (6, 0.028), (4, 3): (7, 0.042), (5, 3): (8, 0.039), (6, 3): (9, 0.029), (4, 4): (10, 0.026)}
    for (corpora, systems), (apart, p) in table.items():
        found = friedman(np.tile(np.arange(systems, dtype=float), (corpora, 1)))
        assert found.critical() * corpora == pytest.approx(apart)
        assert found.sums.width_p(2 * apart) == pytest.approx(p, abs=0.0005)


def test_friedmans_exact_p_is_that_of_published_tables() -> None:
    # Of 3 systems on 4 corpora χ² = 6.5 has .042 and 8 has .0046; of 4 systems on 3 corpora 8.2 has .017, 9 has .0017.
    for order, chi2, p in (
        ([[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 3, 2]], 6.5, 0.042),
        ([[1, 2, 3]] * 4, 8.0, 0.0046),
        ([[1, 2, 3, 4], [1, 2, 3, 4], [1, 3, 4, 2]], 6.6, 0.075),
        ([[1, 2, 3, 4], [1, 2, 3, 4], [2, 1, 3, 4]], 8.2, 0.017),
        ([[1, 2, 3, 4]] * 3, 9.0, 0.0017),
    ):
        found = friedman(np.array(order, dtype=float), better="lower")
        assert found.chi2 == pytest.approx(chi2)
        assert found.used_p == pytest.approx(p, abs=0.0005)


def test_where_orders_are_too_many_a_sample_comes_near_to_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(3).integers(0, 6, (6, 4)) + np.array([0.0, 0.0, 0.5, 2.5])
    exact = friedman(scores)
    monkeypatch.setattr(rank_sums, "LARGEST_WORK", 100)
    rank_sums._distribution.cache_clear()
    sampled = friedman(scores, seed=1)
    rank_sums._distribution.cache_clear()
    assert (exact.how, sampled.how) == ("exact", "sampled")
    assert 0.001 < exact.used_p < 0.5
    near = 4 * np.sqrt(exact.used_p * (1 - exact.used_p) / rank_sums.SAMPLES)
    assert sampled.used_p == pytest.approx(exact.used_p, abs=near)
    assert sampled.pairwise() == pytest.approx(exact.pairwise(), abs=0.007)
    assert sampled.used_p * 100_000 == pytest.approx(round(sampled.used_p * 100_000))  # (c + 1) / (R + 1)


def test_a_sampled_p_is_never_below_its_floor_and_says_when_it_is_there() -> None:
    found = friedman(np.tile(np.arange(9.0), (8, 1)))
    assert (found.how, found.used_p, found.at_floor) == ("sampled", 1 / 100_000, True)
    assert friedman(np.tile(np.arange(9.0), (8, 1)), seed=0).pairwise()[0, 8] == 1 / 100_000
    assert not friedman(np.random.default_rng(0).random((8, 9))).at_floor


def test_where_ranks_are_too_many_even_for_a_sample_theory_has_to_do() -> None:
    scores = np.random.default_rng(0).random((300, 8))
    found = friedman(scores)
    assert (found.how, found.used_p) == ("asymptotic", found.f_p)
    assert found.critical() == critical_difference(8, 300)
    assert (found.pairwise() == nemenyi(found.ranks, 300)).all()
    assert np.isnan(found.permutation_p)


def test_corpora_that_rank_all_alike_say_nothing() -> None:
    some = np.array([[0.3, 0.2, 0.1], [0.3, 0.1, 0.2], [0.5, 0.4, 0.1]])
    more = np.vstack([some, np.full((40, 3), 0.5)])
    assert friedman(more).used_p == friedman(some).used_p
    assert friedman(more).critical() * 43 == pytest.approx(friedman(some).critical() * 3)
    none = friedman(np.full((4, 3), 0.5))
    assert (none.used_p, none.critical(), none.smallest_p) == (1.0, np.inf, 1.0)
    assert (none.pairwise() == 1).all()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_orders_are_all_that_differ(row: list[int]) -> None:
    assert sorted(map(tuple, orders(tuple(row)).tolist())) == sorted(set(permutations(row)))
