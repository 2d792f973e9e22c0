"""Every procedure against scipy, statsmodels or trying everything, on one, two and three documents too."""

from __future__ import annotations

from itertools import product
from math import sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.errors import InputError
from karat.metrics.base import f_of_means, mean
from karat.stats.base import Floats
from karat.stats.effects import effect
from karat.stats.families import adjust
from karat.stats.influence import ALTERNATIVES, Alternative, contrast, jackknife
from karat.stats.ranks import friedman
from karat.stats.resampling import Sample, estimate, interval_of
from karat.stats.tests import randomisation, wilcoxon
from tests.examples import examples

multitest = pytest.importorskip("statsmodels.stats.multitest", reason="statsmodels is missing: pip install statsmodels")
tables = pytest.importorskip("statsmodels.stats.contingency_tables")
power = pytest.importorskip("statsmodels.stats.power")

sides = st.sampled_from(ALTERNATIVES)
fifths = st.integers(0, 5).map(lambda i: i / 5)


def columns(least: int, most: int) -> st.SearchStrategy[tuple[Floats, Floats]]:
    """Values of two systems on the same documents, many of them equal."""
    pairs = st.lists(st.tuples(fifths, fifths), min_size=least, max_size=most)
    return pairs.map(lambda found: (np.array([a for a, _ in found]), np.array([b for _, b in found])))


def means(values: Floats) -> Sample:
    return Sample(np.column_stack([values, np.ones(len(values))]), mean)


# ---------------------------------------------------------------------------------------------- randomisation


@settings(max_examples=examples(60), deadline=None)
@given(columns(2, 8), sides)
def test_randomisation_of_means_is_that_of_scipy(values: tuple[Floats, Floats], side: Alternative) -> None:
    x, y = values
    expected = stats.permutation_test(
        (x, y),
        lambda a, b, axis: np.round(np.mean(a - b, axis=axis), 12),
        permutation_type="samples",
        alternative=side,
        vectorized=True,
        n_resamples=np.inf,
    )
    found = randomisation(means(x), means(y), alternative=side)
    assert (found.exact, found.at_floor) == (True, False)
    assert found.p == pytest.approx(expected.pvalue)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 7), st.integers(0, 10**6), sides)
def test_randomisation_of_f1_of_means_is_trying_every_swap(documents: int, seed: int, side: Alternative) -> None:
    a, b = np.random.default_rng(seed).integers(0, 4, (2, documents, 3)) / 3
    a[:, 2] = b[:, 2] = 1
    outcomes = []
    for swapped in product([False, True], repeat=documents):
        chosen = np.array(swapped)[:, None]
        first, second = np.where(chosen, b, a), np.where(chosen, a, b)
        outcomes.append(float(f_of_means(first.sum(axis=0)) - f_of_means(second.sum(axis=0))))
    every, own = np.array(outcomes), outcomes[0]
    as_far = {"two-sided": np.abs(every) >= abs(own) - 1e-12, "greater": every >= own - 1e-12}
    expected = np.mean(as_far.get(side, every <= own + 1e-12))
    found = randomisation(Sample(a, f_of_means), Sample(b, f_of_means), alternative=side)
    assert found.p == pytest.approx(expected)


def test_of_few_documents_the_smallest_p_is_told_for_each_side() -> None:
    x, y = np.ones(4), np.zeros(4)
    found = [randomisation(means(x), means(y), alternative=side).p for side in ALTERNATIVES]
    assert found == [1 / 8, 1 / 16, 1.0]
    assert randomisation(means(x), means(y)).notes == ("only 4 documents differ, so p cannot be below 0.125",)
    assert randomisation(means(x), means(y), alternative="greater").notes == (
        "only 4 documents differ, so p cannot be below 0.0625",
    )


def test_a_p_by_resamples_says_when_it_is_on_its_floor_and_an_exact_one_has_none() -> None:
    x = np.arange(20.0)
    found = randomisation(means(x + 1), means(x), 499)
    assert (found.p, found.at_floor) == (1 / 500, True)
    assert not randomisation(means(x[:14] + 1), means(x[:14]), 99).at_floor
    assert not randomisation(means(x), means(x[::-1] + 0.5), 499).at_floor


# ---------------------------------------------------------------------------------------------- bootstrap


@pytest.mark.parametrize("documents", [2, 3, 4, 7])
def test_intervals_of_few_documents_are_those_of_scipy(documents: int) -> None:
    values = np.random.default_rng(documents).exponential(size=documents)
    [found] = estimate([means(values)], 3000)
    for own, name in (("bca", "BCa"), ("percentile", "percentile")):
        done = stats.bootstrap(
            (values,),
            np.mean,
            n_resamples=0,
            bootstrap_result=SimpleNamespace(bootstrap_distribution=found.resampled),
            method=name,
            vectorized=True,
        )
        assert interval_of(found, 0.95, own) == pytest.approx(tuple(done.confidence_interval), rel=1e-9)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------- t and Wilcoxon


@settings(max_examples=examples(80), deadline=None)
@given(columns(1, 9), sides)
def test_wilcoxon_with_ties_and_zeros_is_trying_every_sign(values: tuple[Floats, Floats], side: Alternative) -> None:
    x, y = values
    d = np.round(x - y, 9)[np.abs(x - y) > 1e-9]
    found = wilcoxon(x, y, side)
    if not len(d):
        assert found.p == 1.0
        return
    ranks = stats.rankdata(np.abs(d))
    sums, above = np.array(list(product([0, 1], repeat=len(d)))) @ ranks, ranks[d > 0].sum()
    low, high = np.mean(sums <= above + 1e-9), np.mean(sums >= above - 1e-9)
    expected = {"two-sided": min(1.0, 2 * min(low, high)), "greater": high, "less": low}[side]
    assert found.exact
    assert found.p == pytest.approx(expected)


@pytest.mark.parametrize("side", ["greater", "less"])
@pytest.mark.parametrize(("documents", "levels"), [(1, 10**9), (3, 10**9), (40, 10**9), (150, 5), (300, 10**9)])
def test_one_sided_wilcoxon_is_that_of_scipy(documents: int, levels: int, side: Alternative) -> None:
    x, y = np.random.default_rng(documents).integers(0, levels, (2, documents)) / 4  # without rounding
    expected = stats.wilcoxon(x, y, alternative=side)
    found = wilcoxon(x, y, side)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))


# ---------------------------------------------------------------------------------------------- McNemar


def hits(only_a: int, only_b: int) -> tuple[Floats, Floats]:
    a = np.repeat([True, False, True, False], [only_a, only_b, 3, 2])
    b = np.repeat([False, True, True, False], [only_a, only_b, 3, 2])
    return a, b


def test_an_alternative_has_a_name() -> None:
    x = np.arange(4.0)
    for test in (
        lambda side: randomisation(means(x), means(x), alternative=side),
        lambda side: wilcoxon(x, x, side),
        lambda side: contrast(jackknife(means(x))).p(side),
        lambda side: contrast(jackknife(means(x))).detectable(alternative=side),
    ):
        with pytest.raises(InputError, match="unknown alternative 'great'; did you mean 'greater'"):
            test("great")


# ---------------------------------------------------------------------------------------------- corrections


@pytest.mark.parametrize(("name", "theirs"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_corrections_are_those_of_statsmodels(name: str, theirs: str) -> None:
    generator = np.random.default_rng(0)
    for count in (1, 2, 3, 10, 200):
        for p in (generator.random(count) ** 3, generator.integers(1, 5, count) / 20):
            assert adjust(p.tolist(), name) == pytest.approx(multitest.multipletests(p, method=theirs)[1])


# ---------------------------------------------------------------------------------------------- ranks


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(2, 8), st.integers(3, 6), st.integers(2, 9), st.integers(0, 10**6))
def test_friedmans_chi_square_is_that_of_scipy_with_ties_and_without(
    corpora: int, systems: int, levels: int, seed: int
) -> None:
    scores = np.random.default_rng(seed).integers(0, levels, (corpora, systems)) / levels
    if all(len(set(row)) == 1 for row in scores.tolist()):
        return
    expected = stats.friedmanchisquare(*scores.T)
    found = friedman(scores)
    assert (found.chi2, found.p) == pytest.approx((expected.statistic, expected.pvalue))


# ---------------------------------------------------------------------------------------------- effects and power


@settings(max_examples=examples(40), deadline=None)
@given(columns(1, 6))
def test_effects_are_counted_and_measured(values: tuple[Floats, Floats]) -> None:
    x, y = values
    found = effect(x, y)
    d = np.round(x - y, 9)
    signs = [int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum())]
    assert [found.wins, found.ties, found.losses] == signs
    # Each document by itself: won, lost or half of each.
    assert found.superiority == pytest.approx(np.mean([1.0 if one > 0 else 0.5 if one == 0 else 0.0 for one in d]))
    if len(d) > 1 and d.std() > 1e-6:
        assert found.d_z == pytest.approx(stats.ttest_1samp(d, 0).statistic / sqrt(len(d)))
