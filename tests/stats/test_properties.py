"""Every procedure against scipy, statsmodels or trying everything, on one, two and three documents too."""

from __future__ import annotations

from itertools import product
from math import comb, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from karat.stats.corrections import CORRECTIONS, adjusted, bounded
from scipy import stats

from karat.errors import InputError
from karat.metrics.base import f_of_means, mean
from karat.stats.base import Floats
from karat.stats.effects import detectable, documents_needed, effect, power_of, spread
from karat.stats.ranks import friedman
from karat.stats.resampling import Sample, difference, estimate, interval_of, standard_error
from karat.stats.tests import (
    ALTERNATIVES,
    Alternative,
    enough_resamples,
    mcnemar,
    paired_t,
    randomisation,
    shift,
    too_few,
    wilcoxon,
)
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
    for found in (
        randomisation(means(x + 1), means(x), 499),
        shift(difference(*estimate([means(x + 1), means(x)], 499))),
    ):
        assert (found.p, found.at_floor) == (1 / 500, True)
    assert not randomisation(means(x[:14] + 1), means(x[:14]), 99).at_floor
    assert not randomisation(means(x), means(x[::-1] + 0.5), 499).at_floor


# ---------------------------------------------------------------------------------------------- bootstrap


@pytest.mark.parametrize("side", ALTERNATIVES)
@pytest.mark.parametrize("documents", [1, 2, 3, 4, 5])
def test_the_bootstrap_test_comes_near_to_drawing_every_resample(documents: int, side: Alternative) -> None:
    generator = np.random.default_rng(documents)
    d = generator.integers(-2, 4, documents) / 4 + 0.1
    own = d.mean()
    every = np.array([d[list(drawn)].mean() for drawn in product(range(documents), repeat=documents)]) - own
    as_far = {"two-sided": np.abs(every) >= abs(own) - 1e-12, "greater": every >= own - 1e-12}
    expected = float(np.mean(as_far.get(side, every <= own + 1e-12)))
    found = shift(difference(*estimate([means(d), means(np.zeros(documents))], 20_000)), side)
    assert found.p == pytest.approx(expected, abs=5 * sqrt(expected * (1 - expected) / 20_000) + 1e-4)


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
    assert standard_error(found) == pytest.approx(stats.sem(values))


# ---------------------------------------------------------------------------------------------- t and Wilcoxon


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6), sides)
def test_the_t_test_is_that_of_scipy_on_every_side(documents: int, seed: int, side: Alternative) -> None:
    x, y = np.random.default_rng(seed).normal(size=(2, documents))
    expected = stats.ttest_rel(x, y, alternative=side)
    found = paired_t(x, y, side)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))


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


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 40), st.integers(0, 40))
def test_exact_mcnemar_is_that_of_statsmodels(only_a: int, only_b: int) -> None:
    expected = tables.mcnemar([[3, only_a], [only_b, 2]], exact=True).pvalue if only_a + only_b else 1.0
    assert mcnemar(*hits(only_a, only_b)).exact == pytest.approx(expected)


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 12), st.integers(1, 12))
def test_one_sided_mcnemar_is_the_binomial_test_and_its_mid_p_counts_the_outcome_by_half(
    only_a: int, only_b: int
) -> None:
    n = only_a + only_b
    just = comb(n, only_a) / 2**n
    for side in ("greater", "less"):
        expected = stats.binomtest(only_a, n, alternative=side).pvalue
        found = mcnemar(*hits(only_a, only_b), side)
        assert found.exact == pytest.approx(expected)
        assert found.mid_p == pytest.approx(expected - just / 2)


def test_an_alternative_has_a_name() -> None:
    x = np.arange(4.0)
    for test in (
        lambda side: randomisation(means(x), means(x), alternative=side),
        lambda side: shift(difference(*estimate([means(x), means(x)], 9)), side),
        lambda side: paired_t(x, x, side),
        lambda side: wilcoxon(x, x, side),
        lambda side: mcnemar(x, x, side),
        lambda side: detectable(1.0, 9, alternative=side),
    ):
        with pytest.raises(InputError, match="unknown alternative 'great'; did you mean 'greater'"):
            test("great")


# ---------------------------------------------------------------------------------------------- corrections


@pytest.mark.parametrize(("name", "theirs"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_corrections_are_those_of_statsmodels(name: str, theirs: str) -> None:
    generator = np.random.default_rng(0)
    for count in (1, 2, 3, 10, 200):
        for p in (generator.random(count) ** 3, generator.integers(1, 5, count) / 20):
            assert adjusted(p.tolist(), name) == pytest.approx(multitest.multipletests(p, method=theirs)[1])


@settings(max_examples=examples(60))
@given(
    st.lists(st.integers(1, 200), min_size=1, max_size=12),
    st.sampled_from(sorted(CORRECTIONS)),
    st.floats(0.0, 1.0),
)
def test_an_adjusted_p_is_a_bound_exactly_if_smaller_p_at_the_floor_would_make_it_smaller(
    counts: list[int], name: str, share: float
) -> None:
    p, at_floor = [count / 201 for count in counts], [count == 1 for count in counts]
    lower = [one * share if floored else one for one, floored in zip(p, at_floor, strict=True)]
    found = zip(adjusted(p, name), adjusted(lower, name), bounded(p, at_floor, name), strict=True)
    for printed, true, bound in found:
        assert true <= printed
        assert bound or true == printed


def test_resamples_are_enough_for_every_comparison() -> None:
    assert enough_resamples() == 10_000
    assert enough_resamples(125) == 10_000
    assert enough_resamples(126) == 10_080
    assert enough_resamples(189) == 15_120
    for comparisons in (1, 7, 189, 2000):
        for alpha in (0.1, 0.05, 0.001):
            assert enough_resamples(comparisons, alpha) >= 4 * comparisons / alpha - 1e-6
            assert too_few(enough_resamples(comparisons, alpha), alpha, comparisons) is None


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


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 2000), st.floats(0.01, 1.0), st.floats(0.001, 0.3), sides)
def test_power_is_the_normal_one_of_statsmodels(documents: int, sd: float, apart: float, side: Alternative) -> None:
    names = {"two-sided": "two-sided", "greater": "larger", "less": "smaller"}
    for alpha in (0.05, 0.001):
        expected = power.normal_power(apart, documents, alpha, alternative=names[side], sigma=sd)
        assert power_of(sd, apart, documents, alpha, side) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 2000), st.floats(0.01, 1.0), st.sampled_from([0.05, 0.01]), st.sampled_from([0.5, 0.8, 0.95]))
def test_what_is_detectable_by_one_side_has_just_that_power_in_statsmodels(
    documents: int, sd: float, alpha: float, wanted: float
) -> None:
    least = detectable(sd, documents, alpha, wanted, "greater")
    assert power.normal_power(least, documents, alpha, alternative="larger", sigma=sd) == pytest.approx(wanted)
    needed = power.normal_sample_size_one_tail(least, wanted, alpha, std_null=sd)
    assert needed == pytest.approx(documents)
    assert documents_needed(sd, least * 0.9999, alpha, wanted, "greater") == np.ceil(needed / 0.9999**2)
    # Two-sided tests find the other way as well, by less than alpha / 2.
    least = detectable(sd, documents, alpha, wanted)
    there = power.normal_power(least, documents, alpha, alternative="two-sided", sigma=sd)
    assert wanted <= there + 1e-9 <= wanted + alpha / 2


@pytest.mark.parametrize("undefined", [0, 1, 318])
def test_undefined_documents_make_no_difference_harder_to_find(undefined: int) -> None:
    generator = np.random.default_rng(0)
    x, y = generator.random((2, 182))
    rows = [np.column_stack([each, np.ones(182)]) for each in (x, y)]
    a, b = (Sample(np.vstack([each, np.zeros((undefined, 2))]), mean) for each in rows)
    defined = a.defined() | b.defined()
    assert defined.sum() == 182
    sd = spread(difference(*estimate([a, b], 10)), defined)
    assert sd == pytest.approx((x - y).std(ddof=1))
    assert detectable(sd, 182) == pytest.approx((1.959964 + 0.841621) * (x - y).std(ddof=1) / sqrt(182), rel=1e-6)
