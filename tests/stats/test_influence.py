"""Influences and contrasts: variances and p against scipy and statsmodels, over seeds too, and simulated level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import optimize, stats
from statsmodels.stats.power import TTestPower

from karat.errors import InputError
from karat.metrics.base import f_of_means, mean
from karat.metrics.confidence import weighted_median
from karat.stats.base import Floats
from karat.stats.difference import Contestants, Inference, compare_pairs
from karat.stats.influence import (
    ALTERNATIVES,
    ITEM_GROUPS,
    Contrast,
    Influences,
    contrast,
    correlation_contrast,
    correlation_p,
    jackknife,
    student,
)
from karat.stats.resampling import Sample
from tests.examples import examples


def means(values: ArrayLike) -> Sample:
    """Return the mean of documents' values, NaN being undefined."""
    values = np.asarray(values, dtype=np.float64)
    defined = ~np.isnan(values)
    return Sample(np.column_stack([np.where(defined, values, 0.0), defined.astype(np.float64)]), mean)


def seeds(values: Sequence[ArrayLike] | Floats) -> Influences:
    return jackknife(*(means(one) for one in values))


def ends(found: Contrast, level: float = 0.95) -> tuple[float, float]:
    low, high = found.interval(level)
    return float(low), float(high)


def made(seed: int, counts: Sequence[int], documents: int, shift: float = 0.1) -> list[Floats]:
    """Return values of systems, [seeds, documents] each, that share the effects of documents."""
    draw = np.random.default_rng(seed)
    effect = draw.normal(0, 0.3, documents)
    return [
        effect + draw.normal(0, shift, (count, 1)) + draw.normal(0, 0.2, (count, documents)) + 0.1 * system
        for system, count in enumerate(counts)
    ]


# ---------------------------------------------------------------------------------------------- one seed


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(2, 40), st.integers(0, 10_000), st.sampled_from(["two-sided", "greater", "less"]))
def test_with_one_seed_each_it_is_the_paired_t_test(documents: int, seed: int, alternative: str) -> None:
    [[x], [y]] = made(seed, (1, 1), documents)
    expected = stats.ttest_rel(x, y, alternative=alternative)
    found = student(contrast(seeds([x]), seeds([y])))
    assert found.p(alternative) == pytest.approx(expected.pvalue, rel=1e-9)  # type: ignore[arg-type]
    both = stats.ttest_rel(x, y).confidence_interval(0.9)
    assert ends(found, 0.9) == pytest.approx((both.low, both.high), rel=1e-9)


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(3, 60), st.integers(0, 10_000), st.floats(0.05, 1.0))
def test_where_few_documents_differ_the_degrees_of_freedom_follow_from_the_kurtosis(
    documents: int, seed: int, share: float
) -> None:
    draw = np.random.default_rng(seed)
    apart = np.where(draw.random(documents) < share, draw.normal(size=documents), 0.0)
    found = contrast(seeds([apart]), seeds([np.zeros(documents)]))
    if not apart.any():
        assert ends(found) == (0.0, 0.0)
        return
    excess = max(stats.kurtosis(apart), 0.0)
    df = max(min(documents - 1, 2 * documents / (2 + excess / 2)), 1.0)
    assert found.df_documents == pytest.approx(df)
    expected = stats.t.interval(0.95, df, apart.mean(), stats.sem(apart))
    assert ends(found) == pytest.approx(expected, rel=1e-9)
    assert found.p() == pytest.approx(2 * stats.t.sf(abs(apart.mean()) / stats.sem(apart), df), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_skewness_of_a_difference_is_that_of_scipy(seed: int) -> None:
    x, y = np.random.default_rng(seed).exponential(size=(2, 30))
    pairs = [Contestants([means(x)], [means(y)]), Contestants([means(x)], [means(x)])]
    found, equal = compare_pairs(pairs, Inference(resamples=9))
    assert found.skewness == pytest.approx(stats.skew(x - y))
    assert found.reversed().skewness == pytest.approx(-stats.skew(x - y))
    assert equal.skewness == 0


def test_a_difference_that_is_the_same_on_every_document_has_the_p_of_all_signs() -> None:
    ones, zeros = np.ones(40), np.zeros(40)
    [found] = compare_pairs([Contestants([means(ones)], [means(zeros)])], Inference(resamples=99))
    assert found.p == stats.binomtest(40, 40).pvalue == 2.0**-39
    assert found.approximate
    assert np.isnan(found.tests["t"])
    assert found.tests["randomisation"] == 1 / 100


def test_a_correlation_has_at_least_the_error_of_independent_columns() -> None:
    generator = np.random.default_rng(0)
    x, tail = np.zeros(60), np.exp(generator.normal(size=60))
    x[np.argsort(tail)[:20]] = generator.random(20)  # 0 where the other column has its tail
    units = np.stack([np.ones(60), x, tail, x * x, tail * tail, x * tail], axis=1)
    found = correlation_contrast(Sample(units, _pearson))
    r = stats.pearsonr(x, tail).statistic
    assert found.value == pytest.approx(r)
    assert found.error == pytest.approx((1 - r * r) / np.sqrt(59))
    assert contrast(jackknife(Sample(units, _pearson))).error < 0.8 * found.error
    assert correlation_p(found) > correlation_p(contrast(jackknife(Sample(units, _pearson))))


def _pearson(sums: Floats) -> Floats:
    _, x, y, xx, yy, xy = np.moveaxis(sums / sums[..., :1], -1, 0)
    return np.asarray((xy - x * y) / np.sqrt((xx - x * x) * (yy - y * y)))


def test_the_interval_of_a_single_run_is_students() -> None:
    x = made(3, (1,), 25)[0]
    expected = stats.ttest_1samp(x[0], 0).confidence_interval(0.95)
    assert ends(student(contrast(seeds(x)))) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_seeds_that_are_all_the_same_are_as_one() -> None:
    [[x], [y]] = made(1, (1, 1), 30)
    found = student(contrast(seeds([x] * 3), seeds([y] * 2)))
    assert found.p() == pytest.approx(stats.ttest_rel(x, y).pvalue, rel=1e-9)


# ---------------------------------------------------------------------------------------------- several seeds


@pytest.mark.parametrize(("count", "documents"), [(2, 2), (2, 9), (3, 12), (5, 6)])
def test_the_levels_are_the_mean_squares_of_the_analysis_of_variance(count: int, documents: int) -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    systems = made(count, (count, count), documents)
    frame = pd.DataFrame(
        {"value": float(value), "system": s, "seed": f"{s}.{i}", "document": d}
        for s, values in enumerate(systems)
        for i, row in enumerate(values)
        for d, value in enumerate(row)
    )
    # Seeds within systems, crossed with documents: a system's seeds have their own column of dummies.
    within = pd.get_dummies(frame["seed"], dtype=float)
    kept = [f"s{s}x{i}" for s in range(2) for i in range(1, count)]
    frame[kept] = within[[f"{s}.{i}" for s in range(2) for i in range(1, count)]].to_numpy()
    model = "value ~ C(system) * C(document)"
    crossed = anova_lm(ols(model, frame).fit())
    full = ols(f"{model} + {' + '.join(kept)}", frame).fit()
    noise = float(full.mse_resid)
    seed_square = (float(ols(model, frame).fit().ssr) - float(full.ssr)) / (2 * (count - 1))
    by_document = float(crossed.loc["C(system):C(document)", "mean_sq"])
    found = contrast(*map(seeds, systems))
    unit = 2 / (count * documents)
    assert found.documents == pytest.approx(unit * by_document)
    assert found.seeds == pytest.approx(unit * seed_square)
    assert found.noise == pytest.approx(unit * noise)
    # Expected mean squares: documents × system and seeds both hold the noise, which counts once.
    expected = max(by_document, max(by_document - noise, 0) + seed_square)
    assert found.error**2 == pytest.approx(unit * expected)


def test_the_variance_is_that_of_the_difference_over_many_trials() -> None:
    draw, trials, n = np.random.default_rng(0), 4000, 12
    own = draw.normal(0, 0.3, (2, trials, 1, n))
    values = [one + draw.normal(0, 0.2, (trials, 3, 1)) + draw.normal(0, 0.4, (trials, 3, n)) for one in own]
    both = [
        Influences(v.mean(axis=-1), (v - v.mean(axis=-1, keepdims=True)) / n, np.ones(n, dtype=np.bool_))
        for v in values
    ]
    found = contrast(both[0], both[1])
    true = 2 * (0.3**2 / n + 0.2**2 / 3 + 0.4**2 / (3 * n))
    assert found.value.var() == pytest.approx(true, rel=0.08)
    assert (found.documents - found.noise + found.seeds).mean() == pytest.approx(true, rel=0.04)


def test_where_documents_are_all_alike_it_is_the_test_of_welch_on_the_seeds() -> None:
    x, y = [0.61, 0.64, 0.60, 0.66], [0.55, 0.59, 0.52]
    found = contrast(*(seeds([np.full(8, value) for value in values]) for values in (x, y)))
    expected = stats.ttest_ind(x, y, equal_var=False)
    assert found.df_seeds == pytest.approx(expected.df)
    assert found.p() == pytest.approx(expected.pvalue, rel=1e-9)
    both = expected.confidence_interval(0.95)
    assert ends(found) == pytest.approx((both.low, both.high))


def test_a_single_run_borrows_the_variance_and_the_degrees_of_freedom_of_the_other_systems_seeds() -> None:
    x, y = made(5, (4, 1), 30)
    for found in (contrast(seeds(x), seeds(y)), contrast(seeds(y), seeds(x))):
        assert found.borrowed
        assert found.df_seeds == pytest.approx(3)
        assert found.seeds == pytest.approx(x.mean(axis=1).var(ddof=1) * (1 / 4 + 1))


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(2, 30),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.02, 0.1, 1.0]),
)
def test_p_is_where_the_interval_just_holds_zero(
    documents: int, first: int, second: int, seed: int, shift: float
) -> None:
    found = contrast(*map(seeds, made(seed, (first, second), documents, shift)))
    p = float(found.p())
    assert 0 < p <= 1
    if p < 1 - 1e-6:
        assert found.deviation(p) == pytest.approx(abs(found.value), rel=1e-6)
        assert p == pytest.approx(by_root(found), rel=1e-6)
    for level in (0.5, 0.9, 0.95):
        low, high = ends(found, level)
        assert (low <= 0 <= high) == (p >= 1 - level)


def by_root(found: Contrast) -> float:
    """Return p by scipy's root finder: t over documents, or both levels each with its t, whichever is the larger."""
    far, df_documents, df = abs(float(found.value)), float(found.df_documents), float(found.df_seeds)
    alone = float(2 * stats.t.sf(far / np.sqrt(found.documents), df_documents))
    rest, of_seeds = max(float(found.documents - found.noise), 0.0), float(found.seeds)
    if of_seeds == 0:
        return alone

    def beyond(log_p: float) -> float:
        half = np.exp(log_p) / 2
        return float(stats.t.isf(half, df_documents) ** 2 * rest + stats.t.isf(half, df) ** 2 * of_seeds - far**2)

    return max(alone, float(np.exp(optimize.brentq(beyond, -200, 0, xtol=1e-13))))


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(4)), st.permutations(range(3)))
def test_the_order_of_seeds_does_not_matter_and_swapping_systems_changes_the_sign(
    seed: int, first: list[int], second: list[int]
) -> None:
    x, y = made(seed, (4, 3), 15)
    there, mixed = contrast(seeds(x), seeds(y)), contrast(seeds(x[first]), seeds(y[second]))
    assert mixed.p() == pytest.approx(there.p(), rel=1e-9)
    assert ends(mixed) == pytest.approx(ends(there), rel=1e-9)
    back = contrast(seeds(y), seeds(x))
    assert (back.value, back.p()) == (-there.value, there.p())
    assert back.p("greater") == there.p("less")
    assert there.p("greater") + there.p("less") == pytest.approx(1)
    assert min(there.p("greater"), there.p("less")) == pytest.approx(there.p() / 2)


def test_p_is_never_below_that_of_the_documents_alone() -> None:
    for seed in range(40):
        x, y = made(seed, (3, 3), 10, shift=0.05)
        found = student(contrast(seeds(x), seeds(y)))
        assert found.p() >= stats.ttest_rel(x.mean(axis=0), y.mean(axis=0)).pvalue * (1 - 1e-9)
        assert found.on_documents().p() == pytest.approx(stats.ttest_rel(x.mean(axis=0), y.mean(axis=0)).pvalue)


# ---------------------------------------------------------------------------------------------- other statistics


def test_documents_of_a_statistic_that_is_no_mean_are_left_out_in_turn() -> None:
    draw = np.random.default_rng(2)
    rows = [np.column_stack([draw.random((14, 2)), np.ones(14)]) for _ in range(2)]
    found = jackknife(*(Sample(one, f_of_means) for one in rows))
    for i, one in enumerate(rows):
        without = np.array([f_of_means(np.delete(one, d, axis=0).sum(axis=0)) for d in range(14)])
        assert found.influence[i] == pytest.approx((without.mean() - without) * 13 / 14)
    without = np.array([f_of_means(np.delete(rows[0], d, axis=0).sum(axis=0)) for d in range(14)])
    alone = contrast(jackknife(Sample(rows[0], f_of_means)))
    assert alone.error == pytest.approx(np.sqrt(13 * without.var()))  # Efron's jackknife standard error


def test_documents_that_are_undefined_are_as_if_they_were_not_there() -> None:
    x, y = made(7, (3, 2), 20)
    gone = np.arange(20) % 4 == 1
    with_gaps = [np.where(gone, np.nan, values) for values in (x, y)]
    found, expected = contrast(*map(seeds, with_gaps)), contrast(seeds(x[:, ~gone]), seeds(y[:, ~gone]))
    assert found.n == expected.n == 15
    assert found.p() == pytest.approx(expected.p(), rel=1e-9)
    assert ends(contrast(seeds(with_gaps[0]))) == pytest.approx(ends(contrast(seeds(x[:, ~gone]))))


def test_a_document_that_one_system_alone_has_counts_for_that_one() -> None:
    x, y = np.array([0.2, 0.4, 0.9, 0.3]), np.array([0.1, 0.5, np.nan, 0.6])
    found = contrast(seeds([x]), seeds([y]))
    pulls = (x - x.mean()) / 4 - np.array([0.1 - 0.4, 0.5 - 0.4, 0.0, 0.6 - 0.4]) / 3
    assert found.value == pytest.approx(0.45 - 0.4)
    assert found.documents == pytest.approx(4 / 3 * (pulls**2).sum())


def test_items_are_left_out_by_groups_of_documents() -> None:
    draw = np.random.default_rng(4)
    documents = np.repeat(np.arange(50), 3)
    runs = [draw.lognormal(size=(150, 1)) for _ in range(2)]
    found = jackknife(*(Sample(run, lambda v, w: weighted_median(v[:, 0], w), documents, True, 50) for run in runs))
    assert found.influence.shape == (2, ITEM_GROUPS)
    without = np.array([np.median(runs[1][documents % ITEM_GROUPS != g]) for g in range(ITEM_GROUPS)])
    expected = (without.mean() - without) * (ITEM_GROUPS - 1) / ITEM_GROUPS
    assert found.influence[1] == pytest.approx(expected)


# ---------------------------------------------------------------------------------------------- edges


@pytest.mark.parametrize("counts", [(1, 1), (2, 1), (2, 2)])
def test_one_document_says_nothing(counts: tuple[int, int]) -> None:
    found = contrast(*map(seeds, made(0, counts, 1)))
    assert found.n == 1
    assert np.isnan([float(found.p()), float(found.p("less")), *ends(found), float(found.detectable())]).all()


def test_two_documents_and_two_seeds_are_enough_for_a_p() -> None:
    found = contrast(*map(seeds, made(0, (2, 2), 2)))
    assert 0 < found.p() <= 1
    assert np.isfinite(ends(found)).all()


def test_systems_that_are_equal_have_p_1() -> None:
    x = made(1, (3,), 12)[0]
    same = contrast(seeds(x), seeds(x[::-1]))
    assert (float(same.value), float(same.p())) == (0.0, 1.0)
    nothing = contrast(seeds([np.full(5, 0.5)] * 2), seeds([np.full(5, 0.5)] * 2))
    assert [float(nothing.p(way)) for way in ALTERNATIVES] == [1.0, 1.0, 1.0]
    assert ends(nothing) == (0.0, 0.0)


def test_a_difference_that_never_varies_has_p_0_as_the_t_test_has() -> None:
    found = contrast(seeds([np.full(5, 0.75)] * 2), seeds([np.full(5, 0.5)] * 2))
    assert [float(found.p(way)) for way in ALTERNATIVES] == [0.0, 0.0, 1.0]
    assert ends(found) == (0.25, 0.25)


def test_what_is_undefined_altogether_has_no_p() -> None:
    found = contrast(seeds([[np.nan, np.nan]] * 2), seeds([[0.5, 0.25]] * 2))
    assert np.isnan([float(found.value), float(found.p()), *ends(found), float(found.needed(0.1))]).all()


def test_what_cannot_be_compared_is_said() -> None:
    with pytest.raises(InputError, match="a system needs at least one run"):
        jackknife()
    with pytest.raises(InputError, match="samples of 3 and 4 documents"):
        seeds([np.zeros(3), np.zeros(4)])
    with pytest.raises(InputError, match="systems are compared on the same documents"):
        contrast(seeds([np.zeros(3)]), seeds([np.zeros(4)]))
    found = contrast(*map(seeds, made(0, (2, 2), 4)))
    with pytest.raises(InputError, match="unknown alternative 'more'"):
        found.p("more")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="level must be between 0 and 1, got 95"):
        found.interval(95)
    with pytest.raises(InputError, match="alpha must be between 0 and 1, got 0"):
        found.deviation(0)


# ---------------------------------------------------------------------------------------------- power


def test_with_one_seed_the_detectable_difference_and_the_documents_needed_are_those_of_the_t_test() -> None:
    [[x], [y]] = made(6, (1, 1), 300)
    found, sd = student(contrast(seeds([x]), seeds([y]))), float((x - y).std(ddof=1))
    expected = TTestPower().solve_power(nobs=300, alpha=0.05, power=0.8)
    assert found.detectable() == pytest.approx(sd * expected, rel=0.01)
    needed = TTestPower().solve_power(effect_size=0.1 / sd, alpha=0.05, power=0.8)
    assert found.needed(0.1) == pytest.approx(needed, rel=0.05, abs=3)
    low, high = found.needed_interval(0.1)
    assert low < found.needed(0.1) < high
    chi2 = stats.chi2.ppf([0.975, 0.025], 299)
    assert (low, high) == pytest.approx(tuple(found.needed(0.1) * 299 / chi2), rel=0.05)


def test_with_the_documents_needed_the_difference_could_just_be_found() -> None:
    a, b = made(11, (4, 4), 60, shift=0.0)
    found = contrast(seeds(a), seeds(b))
    more = found.needed(abs(float(found.value))) / found.n
    grown = replace(found, documents=found.documents / more, noise=found.noise / more, seeds=found.seeds / more)
    assert found.seeds <= found.noise  # so that all of it is noise, which documents make smaller
    assert grown.detectable() == pytest.approx(abs(found.value), rel=0.05)


def test_no_number_of_documents_helps_where_seeds_differ_more() -> None:
    draw = np.random.default_rng(1)
    a, b = (
        seeds(value + draw.normal(0, 0.01, (2, 50))) for value in (np.array([[0.4], [0.7]]), np.array([[0.5], [0.7]]))
    )
    found = contrast(a, b)
    assert found.needed(0.05) == np.inf
    assert found.detectable() > 10 * found.on_documents().detectable()


# ---------------------------------------------------------------------------------------------- simulated

TRIALS = 1000


def at_most(share: float) -> float:
    """Return a share of the trials that something of this probability hardly ever exceeds."""
    return float(stats.binom.isf(1e-5, TRIALS, share) / TRIALS)


def simulated(
    counts: tuple[int, int], shifts: tuple[float, float], documents: int = 400, effect: float = 0.0, better: float = 0.0
) -> Contrast:
    """Compare systems over and over: document effects (sd .25), a shift of each seed, and noise (sd .15).

    `effect` is the standard deviation of a document effect of each system, and `better` the true difference.
    """
    draw = np.random.default_rng([1, *counts, documents])
    shared = draw.normal(0, 0.25, (TRIALS, 1, documents))
    systems = []
    for count, sd, mu in zip(counts, shifts, (better, 0.0), strict=True):
        values = mu + shared + draw.normal(0, sd, (TRIALS, count, 1)) + draw.normal(0, effect, (TRIALS, 1, documents))
        values = values + draw.normal(0, 0.15, (TRIALS, count, documents))
        average = values.mean(axis=-1)
        influence = (values - average[..., None]) / documents
        systems.append(Influences(average, influence, np.ones(documents, dtype=np.bool_)))
    return contrast(systems[0], systems[1])


@pytest.mark.parametrize("shift", [0.0, 0.005, 0.015, 0.03])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_equal_systems_are_told_apart_in_5_percent_at_most_however_much_seeds_differ(count: int, shift: float) -> None:
    found = simulated((count, count), (shift, shift))
    assert (found.p() <= 0.05).mean() <= at_most(0.05)
    low, high = found.interval()
    assert ((low <= 0) & (high >= 0)).mean() == pytest.approx(1 - (found.p() < 0.05).mean())
    assert (found.on_documents().p() <= 0.05).mean() > 0.3 or shift < 0.015  # documents alone say that they differ


@pytest.mark.parametrize(
    ("counts", "shifts", "documents", "effect"),
    [
        ((3, 3), (0.03, 0.0), 400, 0.0),
        ((3, 1), (0.03, 0.03), 400, 0.0),
        ((1, 5), (0.03, 0.03), 400, 0.0),
        ((1, 5), (0.015, 0.015), 25, 0.0),
        ((5, 2), (0.03, 0.03), 400, 0.0),
        ((3, 3), (0.03, 0.03), 400, 0.15),
        ((3, 3), (0.03, 0.03), 20, 0.0),
        ((3, 3), (0.005, 0.005), 20, 0.0),
    ],
)
def test_that_holds_for_unequal_seeds_single_runs_and_few_documents(
    counts: tuple[int, int], shifts: tuple[float, float], documents: int, effect: float
) -> None:
    assert (simulated(counts, shifts, documents, effect).p() <= 0.05).mean() <= at_most(0.06)


def test_three_seeds_find_nearly_what_the_t_test_finds_where_seeds_do_not_differ() -> None:
    for count in (3, 5):
        found = simulated((count, count), (0.0, 0.0), better=0.03)
        assert (found.p() <= 0.05).mean() >= 0.8 * (found.on_documents().p() <= 0.05).mean()
