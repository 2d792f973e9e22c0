"""Resamples against their distribution, statistics against computing anew, intervals against scipy's."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from karat.errors import InputError
from karat.metrics.base import f_of_means, mean
from karat.stats import resampling
from karat.stats.base import Floats
from karat.stats.resampling import (
    Estimate,
    Sample,
    acceleration,
    block_size,
    bootstrap,
    draws,
    estimate,
    interval_of,
    left_out,
)
from karat.stats.tests import randomisation

ROOT = Path(__file__).parents[2]


def weighted_median(values: Floats, weights: Floats) -> Floats:
    """The lower median of the first column, each item counting by its weight."""
    order = np.argsort(values[:, 0], kind="stable")
    until = np.cumsum(weights[..., order], axis=-1)
    return np.asarray(values[order, 0][np.argmax(until >= until[..., -1:] / 2, axis=-1)])


def rows(seed: int, documents: int, columns: int = 2) -> Floats:
    generator = np.random.default_rng(seed)
    return np.column_stack([generator.random((documents, columns)), np.ones(documents)])


def counted(documents: int, blocks: int, seed: int = 0) -> Floats:
    return np.concatenate([draws(documents, block, seed) for block in range(blocks)]).astype(np.float64)


# ---------------------------------------------------------------------------------------------- draws


@pytest.mark.parametrize("documents", [1, 2, 16, 17, 100, 3000])
def test_a_resample_has_as_many_draws_as_documents(documents: int) -> None:
    weights = draws(documents, 3, seed=5)
    assert weights.shape == (block_size(documents), documents)
    assert set(weights.sum(axis=1, dtype=np.int64).tolist()) == {documents}


def test_the_counts_of_three_documents_are_as_often_as_sequences_of_draws_have_them() -> None:
    expected = Counter(tuple(drawn.count(i) for i in range(3)) for drawn in product(range(3), repeat=3))
    weights = counted(3, blocks=40)
    seen = Counter(map(tuple, weights.astype(int).tolist()))
    assert set(seen) == set(expected)
    f_obs = [seen[key] for key in expected]
    f_exp = [len(weights) * count / 27 for count in expected.values()]
    assert stats.chisquare(f_obs, f_exp).pvalue > 1e-3


@pytest.mark.parametrize("documents", [20, 400])  # where Poisson counts come first
def test_how_often_a_document_is_drawn_is_binomial_and_documents_exclude_each_other(documents: int) -> None:
    weights = counted(documents, blocks=20)
    expected = stats.binom.pmf(np.arange(4), documents, 1 / documents)
    seen = [(weights == count).mean() for count in range(4)]
    assert seen == pytest.approx(expected, abs=4 / np.sqrt(weights.size))
    # Of two documents the covariance is -1/n, of one the variance (n - 1)/n.
    covariance = np.cov(weights.T)
    assert np.diag(covariance).mean() == pytest.approx(1 - 1 / documents, abs=0.01)
    assert covariance[~np.eye(documents, dtype=bool)].mean() == pytest.approx(-1 / documents, rel=0.02)


def test_two_documents_together_are_multinomial_where_poisson_counts_come_first() -> None:
    weights = counted(50, blocks=200)
    for i, j in [(0, 0), (0, 1), (1, 1), (2, 1), (3, 0)]:
        expected = stats.multinomial.pmf([i, j, 50 - i - j], 50, [0.02, 0.02, 0.96])
        seen = ((weights[:, 0] == i) & (weights[:, 1] == j)).mean()
        assert seen == pytest.approx(expected, abs=4 * np.sqrt(expected / len(weights)))


def test_poisson_counts_are_poisson() -> None:
    counts = resampling._poisson(np.random.default_rng(0), 400, 1_000_000)  # the mean is 1 - 4/20
    seen = np.bincount(counts, minlength=8)
    expected = stats.poisson.pmf(np.arange(len(seen)), 0.8) * counts.size
    some = expected > 5
    assert (seen[~some] <= 20).all()
    difference_of = (seen[some] - expected[some]) ** 2 / expected[some]
    assert stats.chi2.sf(difference_of.sum(), some.sum()) > 1e-3


def test_counts_that_are_too_many_are_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_many(_generator: np.random.Generator, _documents: int, count: int) -> resampling.Bytes:
        return np.full(count, 2, dtype=np.uint8)

    monkeypatch.setattr(resampling, "_poisson", too_many)
    weights = draws(30, 0, seed=0)
    assert set(weights.sum(axis=1).tolist()) == {30}
    assert len(np.unique(weights, axis=0)) == len(weights)


def test_seeds_and_blocks_have_random_numbers_of_their_own() -> None:
    first = draws(40, 0, seed=0)
    assert (first == draws(40, 0, seed=0)).all()
    assert (first != draws(40, 1, seed=0)).any()
    assert (first != draws(40, 0, seed=1)).any()


# ---------------------------------------------------------------------------------------------- the bootstrap


@pytest.mark.parametrize("documents", [5, 30, 700])
def test_a_resample_is_the_statistic_computed_anew_on_the_documents_drawn(documents: int) -> None:
    values = rows(documents, documents)
    found = bootstrap([Sample(values, f_of_means)], resamples=40, seed=2)[0]
    weights = counted(documents, blocks=2, seed=2)[:40].astype(np.int64)
    for resample, each in enumerate(weights):
        p, r, _ = np.repeat(values, each, axis=0).mean(axis=0)
        assert found[resample] == pytest.approx(2 * p * r / (p + r), rel=1e-12)


def test_rows_go_with_their_document_and_pairs_of_documents_are_not_resampled() -> None:
    generator = np.random.default_rng(0)
    values = np.column_stack([generator.random(12), np.ones(12)])
    one, two = generator.integers(8, size=12), np.stack([np.arange(12) % 8, (np.arange(12) + 3) % 8], axis=1)
    weights = counted(8, blocks=1)[:30]
    found = bootstrap([Sample(values, mean, one, documents=8)], 30)[0]
    for resample, each in enumerate(weights):
        expected = np.average(values[:, 0], weights=each[one]) if each[one].any() else np.nan
        assert found[resample] == pytest.approx(expected, nan_ok=True)
    with pytest.raises(InputError, match="pairs of documents cannot be resampled"):
        bootstrap([Sample(values, mean, two, documents=8)], 30)


def test_items_are_finished_with_the_weights_of_their_documents() -> None:
    generator = np.random.default_rng(1)
    values, units = generator.random((60, 1)), generator.integers(9, size=60)
    found = bootstrap([Sample(values, weighted_median, units, items=True, documents=9)], 50)[0]
    for resample, each in enumerate(counted(9, blocks=1)[:50].astype(np.int64)):
        drawn = np.sort(np.repeat(values[:, 0], each[units]))
        assert found[resample] == drawn[(len(drawn) - 1) // 2]


def test_parts_computed_apart_are_the_whole_to_the_last_digit() -> None:
    samples = [Sample(rows(0, 3000), f_of_means), Sample(rows(1, 3000), f_of_means)]
    whole = bootstrap(samples, 500, seed=1)
    parts = [bootstrap(samples, count, seed=1, start=start) for start, count in [(0, 1), (1, 300), (301, 199)]]
    assert (np.concatenate(parts, axis=1) == whole).all()


def test_what_is_bootstrapped_beside_a_sample_does_not_matter() -> None:
    samples = [Sample(rows(seed, 500), f_of_means) for seed in range(4)]
    together = bootstrap(samples, 200)
    alone = np.concatenate([bootstrap([sample], 200) for sample in samples])
    np.testing.assert_allclose(together, alone, rtol=1e-13)


DIGITS = """
import hashlib
import numpy as np
from karat.stats.resampling import Sample, bootstrap
from karat.stats.tests import randomisation
values = np.random.default_rng(0).random((2, 2000, 3))
samples = [Sample(each, lambda sums: sums[..., 0] * sums[..., 1] / sums[..., 2]) for each in values]
print(hashlib.sha256(bootstrap(samples, 300).tobytes()).hexdigest(), randomisation(*samples, 300).p)
"""


def test_the_digits_are_the_same_in_another_process_with_any_number_of_threads() -> None:
    values = np.random.default_rng(0).random((2, 2000, 3))
    samples = [Sample(each, lambda sums: sums[..., 0] * sums[..., 1] / sums[..., 2]) for each in values]
    own = hashlib.sha256(bootstrap(samples, 300).tobytes()).hexdigest()
    for threads in ("1", "2"):
        changed = {"OPENBLAS_NUM_THREADS": threads, "PYTHONPATH": str(ROOT / "src")}
        printed = subprocess.check_output([sys.executable, "-c", DIGITS], env=os.environ | changed, text=True)
        assert printed.split() == [own, str(randomisation(samples[0], samples[1], 300).p)]


def test_memory_does_not_grow_with_the_resamples() -> None:
    samples = [Sample(rows(0, 20_000), f_of_means), Sample(rows(1, 20_000), f_of_means)]
    tracemalloc.start()
    bootstrap(samples, 640)  # 102 MB as one matrix of float64
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30e6


def test_the_spread_of_resampled_means_is_the_standard_error() -> None:
    values = rows(3, 200, columns=1)
    found = bootstrap([Sample(values, mean)], 4000)[0]
    assert found.mean() == pytest.approx(values[:, 0].mean(), abs=0.002)
    assert found.std() == pytest.approx(values[:, 0].std() / np.sqrt(200), rel=0.05)


# ---------------------------------------------------------------------------------------------- the jackknife


def test_leaving_out_is_computing_anew_without_the_document() -> None:
    values, documents = rows(0, 9), np.arange(9)
    units = np.array([0, 0, 1, 2, 5, 5, 5, 8, 8])
    pairs = np.array([[0, 1], [0, 2], [3, 4], [4, 5], [5, 6], [6, 7], [7, 8], [1, 8], [2, 3]])
    plain, of_units, of_pairs = (left_out(Sample(values, f_of_means, given)) for given in (None, units, pairs))
    for document in documents:
        for found, kept in (
            (plain, documents != document),
            (of_units, units != document),
            (of_pairs, documents != document),  # each pair in turn
        ):
            p, r, _ = values[kept].mean(axis=0)
            assert found[document] == pytest.approx(2 * p * r / (p + r))


def test_leaving_out_items_goes_by_document_and_of_many_by_every_200th() -> None:
    generator = np.random.default_rng(0)
    values, units = generator.random((50, 1)), generator.integers(8, size=50)
    found = left_out(Sample(values, weighted_median, units, items=True, documents=8))
    for document in range(8):
        kept = np.sort(values[units != document, 0])
        assert found[document] == kept[(len(kept) - 1) // 2]
    values = generator.random((900, 1))
    found = left_out(Sample(values, weighted_median, items=True))
    kept = np.sort(values[np.arange(900) % 200 != 7, 0])
    assert len(found) == 200
    assert found[7] == kept[(len(kept) - 1) // 2]


# ---------------------------------------------------------------------------------------------- intervals


def scipy_interval(found: Estimate, values: tuple[Floats, ...], method: str, level: float, **options: bool) -> Floats:
    """scipy's interval of a mean, or of a difference of means, from the very same resamples."""

    def statistic(*columns: Floats, axis: int = -1) -> Floats:
        means = [column.mean(axis=axis) for column in columns]
        return np.asarray(means[0] - means[1] if len(means) > 1 else means[0])

    given = SimpleNamespace(bootstrap_distribution=found.resampled)
    done = stats.bootstrap(
        values,
        statistic,
        n_resamples=0,
        bootstrap_result=given,
        method=method,
        confidence_level=level,
        vectorized=True,
        **options,
    )
    return np.array(done.confidence_interval)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_are_those_of_scipy_on_the_same_resamples(level: float) -> None:
    values = np.column_stack([np.random.default_rng(0).exponential(size=40), np.ones(40)])
    [found] = estimate([Sample(values, mean)], 2000)
    expected = {name: scipy_interval(found, (values[:, 0],), name, level) for name in ("BCa", "percentile")}
    assert interval_of(found, level, "bca") == pytest.approx(expected["BCa"], rel=1e-10)
    assert interval_of(found, level, "percentile") == pytest.approx(expected["percentile"], rel=1e-10)
    assert interval_of(found, level, "bca")[1] > interval_of(found, level, "percentile")[1]  # the tail is to the right


def test_the_acceleration_by_hand() -> None:
    # Means without one of 0, 0, 3 are 1.5, 1.5, 0, around 1: pulls -.5, -.5, 1. Cubes add up to .75, squares to 1.5.
    found = left_out(Sample(np.array([[0.0, 1.0], [0.0, 1.0], [3.0, 1.0]]), mean))
    assert acceleration(Estimate(1.0, np.zeros(1), found, 3)) == pytest.approx(0.75 / (6 * 1.5**1.5))


def test_what_does_not_vary_has_an_interval_of_one_point_and_what_is_undefined_none() -> None:
    [same] = estimate([Sample(np.tile([0.25, 1.0], (10, 1)), mean)], 50)
    assert interval_of(same) == pytest.approx((0.25, 0.25))
    [none] = estimate([Sample(np.zeros((10, 2)), mean)], 50)
    assert none.undefined == 50
    assert np.isnan(interval_of(none)).all()


def test_a_value_beyond_all_resamples_has_the_interval_of_percentiles() -> None:
    found = Estimate(2.0, np.linspace(0, 1, 101), np.arange(5.0), 5)
    assert interval_of(found, 0.9, "bca") == interval_of(found, 0.9, "percentile") == pytest.approx((0.05, 0.95))


def test_undefined_resamples_are_left_out_and_counted() -> None:
    found = Estimate(0.5, np.array([0.0, np.nan, 0.5, 1.0]), np.arange(3.0), 3)
    assert found.undefined == 1
    assert interval_of(found, 0.5, "percentile") == pytest.approx((0.25, 0.75))


# ---------------------------------------------------------------------------------------------- errors


def test_what_cannot_be_resampled_is_said() -> None:
    a, b = Sample(rows(0, 5), f_of_means), Sample(rows(0, 6), f_of_means)
    with pytest.raises(InputError, match="samples of 5 and 6 documents cannot be compared"):
        bootstrap([a, b])
    with pytest.raises(InputError, match="0 resamples are too few"):
        bootstrap([a], 0)
    with pytest.raises(InputError, match="seed -1 is below 0"):
        bootstrap([a], 10, seed=-1)
    [found] = estimate([a], 10)
    with pytest.raises(InputError, match="level 95 is not between 0 and 1"):
        interval_of(found, 95)
    with pytest.raises(InputError, match="did you mean 'percentile'"):
        interval_of(found, method="percentiles")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="do not make one value a document"):
        Sample(rows(0, 2), f_of_means, np.array([[0, 1], [1, 2]])).each()


def test_no_documents_are_undefined() -> None:
    [found] = bootstrap([Sample(np.zeros((0, 2)), mean)], 20)
    assert np.isnan(found).all()
    assert found.shape == (20,)
