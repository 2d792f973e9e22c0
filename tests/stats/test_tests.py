"""Tests of two systems against scipy, against trying everything, and against worked examples."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.errors import InputError
from karat.metrics.base import f_of_means, mean
from karat.stats.base import Floats
from karat.stats.resampling import Sample, coins
from karat.stats.tests import randomisation, randomisations, wilcoxon


def largest(values: Floats, weights: Floats) -> Floats:
    """The largest item that counts."""
    return np.asarray(np.where(weights > 0, values[:, 0], -1.0).max(axis=-1))


def means(values: Floats) -> Sample:
    return Sample(np.column_stack([values, np.ones(len(values))]), mean if values.ndim == 1 else f_of_means)


def two(seed: int, documents: int, gain: float = 0.0, columns: int = 2) -> tuple[Sample, Sample]:
    generator = np.random.default_rng(seed)
    hard = generator.random((documents, 1)) * 0.4 + 0.1
    a, b = (hard + 0.4 * generator.random((documents, columns)) + more for more in (gain, 0.0))
    return means(a), means(b)


# ---------------------------------------------------------------------------------------------- randomisation


@pytest.mark.parametrize("documents", [2, 5, 11])
def test_exact_randomisation_of_means_is_that_of_scipy(documents: int) -> None:
    generator = np.random.default_rng(documents)
    x, y = generator.integers(0, 5, documents) / 4, generator.integers(0, 5, documents) / 4
    x[0], y[0] = 1.0, 0.25
    expected = stats.permutation_test(
        (x, y),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    found = randomisation(means(x), means(y))
    assert found.exact
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)


def test_exact_randomisation_of_f1_of_means_is_what_trying_all_swaps_gives() -> None:
    a, b = two(1, documents=8, gain=0.1)
    outcomes = []
    for swapped in product([False, True], repeat=8):
        x, y = a.values.copy(), b.values.copy()
        x[list(swapped)], y[list(swapped)] = b.values[list(swapped)], a.values[list(swapped)]
        outcomes.append(float(f_of_means(x.sum(axis=0)) - f_of_means(y.sum(axis=0))))
    expected = np.mean(np.abs(outcomes) >= abs(outcomes[0]) - 1e-12)
    found = randomisation(a, b)
    assert found.p == pytest.approx(expected)
    assert found.resamples == 256


def test_documents_that_do_not_differ_are_not_swapped() -> None:
    x = np.array([0.1, 0.2, 0.3, *[0.5] * 100])
    y = np.array([0.3, 0.5, 0.4, *[0.5] * 100])
    found = randomisation(means(x), means(y))
    assert (found.p, found.n, found.exact) == (2 / 8, 3, True)  # all three point the same way
    assert found.notes == ("only 3 documents differ, so p cannot be below 0.25",)


def test_random_swaps_come_near_to_all_swaps() -> None:
    a, b = two(3, documents=15, gain=0.06)
    every = np.array(list(product([0, 1], repeat=15)))
    moved = every @ (a.values - b.values)
    outcomes = f_of_means(a.values.sum(axis=0) - moved) - f_of_means(b.values.sum(axis=0) + moved)
    exact = np.mean(np.abs(outcomes) >= abs(outcomes[0]) - 1e-12)
    found = randomisation(a, b, resamples=9999, seed=1)
    assert not found.exact
    assert 0.01 < exact < 0.5
    assert found.p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9999))
    assert found.p * 10_000 == pytest.approx(round(found.p * 10_000))  # (c + 1) / (R + 1)


def test_a_system_that_is_better_is_found_to_be_in_either_order() -> None:
    a, b = two(0, documents=200, gain=0.1)
    for one, other in ((a, b), (b, a)):
        found = randomisation(one, other)
        assert found.p < 0.001
        assert np.sign(found.statistic) == (1 if one is a else -1)
    assert randomisation(a, b).p == randomisation(b, a).p


def test_a_system_against_itself_has_a_p_of_one_and_says_so() -> None:
    a, _ = two(0, documents=30)
    for found in (randomisation(a, a), wilcoxon(a.each(), a.each())):
        assert found.p == 1.0
        assert found.notes == ("the two are equal on every document, so p is 1",)


def test_equal_numbers_from_different_documents_are_no_difference() -> None:
    x = np.array([0.0, 1.0] * 10)
    assert randomisation(means(x), means(1 - x)).p == 1.0


def test_several_pairs_at_once_are_the_pairs_one_by_one() -> None:
    pairs = [two(0, 40), two(1, 40, gain=0.03), two(2, 60), two(3, 9), two(4, 40, columns=2)]
    together = randomisations(pairs, 500, seed=3)
    assert [each.p for each in together] == [randomisation(a, b, 500, seed=3).p for a, b in pairs]


def test_undefined_documents_are_swapped_with_the_others() -> None:
    # Without the last document of a and the first of b: (1 + 0)/2 against (0 + 1)/2. Of four swaps of the ends two
    # leave a system with three documents.
    a = Sample(np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]), mean)
    b = Sample(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), mean)
    found = randomisation(a, b)
    assert (found.statistic, found.p, found.n) == (0.0, 1.0, 2)


def test_resamples_that_are_undefined_are_left_out_and_told() -> None:
    a = Sample(np.array([[1.0, 1.0], [0.0, 0.0]]), mean)
    b = Sample(np.array([[0.0, 0.0], [0.5, 1.0]]), mean)
    found = randomisation(a, b)  # where one system gets both documents, the other has none
    assert (found.p, found.resamples) == (1.0, 2)
    assert found.notes[0] == "2 of 4 resamples are undefined and left out"


def test_items_change_places_by_document() -> None:
    values_a, values_b = np.array([[1.0], [5.0], [2.0]]), np.array([[3.0], [4.0], [0.5], [2.5]])
    a = Sample(values_a, largest, np.array([0, 1, 2]), items=True, documents=3)
    b = Sample(values_b, largest, np.array([0, 1, 1, 2]), items=True, documents=3)
    # The 5 of document 1 is a's or b's; the other's largest is 4, as document 1 gives it that: always 1 apart.
    assert randomisation(a, b).p == 1.0
    b = Sample(np.array([[3.0], [1.0], [0.5], [2.5]]), largest, np.array([0, 1, 1, 2]), items=True, documents=3)
    # Now the other has 3 if document 0 of b and document 1 of a are not in one hand, else the largest of 1, 1 and 2 or
    # 2.5: 5 - 3 as found, or 5 - 2 or 5 - 2.5. Every outcome is 2 or more.
    found = randomisation(a, b)
    assert (found.statistic, found.p, found.resamples) == (2.0, 1.0, 8)
    found = randomisation(Sample(values_a * [[1], [1], [4]], largest, items=True), b)
    # a has 8 in document 2, b at most 3, as found. The one without that 8 has 5 if it has document 1 of a: half of all.
    assert (found.statistic, found.p) == (5.0, 0.5)


def test_items_of_many_documents_are_swapped_at_random() -> None:
    generator = np.random.default_rng(0)

    def average(values: Floats, weights: Floats) -> Floats:
        return np.asarray((weights @ values)[..., 0] / weights.sum(axis=-1))

    x, y = generator.random(40) + 0.2, generator.random(40)
    as_items = [Sample(each[:, None], average, items=True) for each in (x, y)]
    assert randomisation(as_items[0], as_items[1], 800).p == randomisation(means(x), means(y), 800).p
    assert randomisation(as_items[0], as_items[0]).p == 1.0


def test_pairs_of_documents_do_not_change_places() -> None:
    pairs = np.array([[0, 1], [1, 2], [3, 4], [5, 6]])
    one = Sample(np.column_stack([np.arange(4) / 4, np.ones(4)]), mean, pairs)
    with pytest.raises(InputError, match="pairs of documents cannot be swapped"):
        randomisation(one, one)


def test_coins_are_even_and_independent() -> None:
    found = np.concatenate([coins(13, block, seed=0) for block in range(40)]).astype(np.float64)
    assert set(np.unique(found)) == {0.0, 1.0}
    bound = 5 / np.sqrt(len(found))
    assert np.abs(found.mean(axis=0) - 0.5).max() < bound
    assert np.abs(np.corrcoef(found.T) - np.eye(13)).max() < bound


def test_different_statistics_are_not_compared() -> None:
    a, b = two(0, 10)
    with pytest.raises(InputError, match="give the same metric of both systems"):
        randomisation(a, means(b.values[:, 0]))
    with pytest.raises(InputError, match="samples of 10 and 12 documents"):
        randomisation(a, two(0, 12)[0])


# ---------------------------------------------------------------------------------------------- bootstrap


# ---------------------------------------------------------------------------------------------- t and Wilcoxon


def test_documents_undefined_for_one_system_are_left_out() -> None:
    x, y = np.array([0.1, np.nan, 0.5, 0.9, 0.3]), np.array([0.2, 0.1, np.nan, 0.5, 0.1])
    assert wilcoxon(x, y) == wilcoxon(x[[0, 3, 4]], y[[0, 3, 4]])
    with pytest.raises(InputError, match="2 and 3 values are no pairs"):
        wilcoxon(np.zeros(2), np.zeros(3))


@pytest.mark.parametrize("documents", [1, 6, 20, 50, 51, 200])
def test_wilcoxon_without_ties_is_that_of_scipy(documents: int) -> None:
    x, y = np.random.default_rng(documents).random((2, documents))
    expected = stats.wilcoxon(x, y)
    found = wilcoxon(x, y)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert found.exact == (documents <= 50)


def test_wilcoxon_with_ties_and_zeros_on_many_documents_is_that_of_scipy() -> None:
    x, y = np.random.default_rng(0).integers(0, 5, (2, 150)) / 4
    expected = stats.wilcoxon(x, y)
    found = wilcoxon(x, y)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-4, 4).filter(bool), min_size=1, max_size=9))
def test_exact_wilcoxon_with_ties_is_what_trying_all_signs_gives(d: list[int]) -> None:
    ranks = stats.rankdata(np.abs(d))
    sums = np.array(list(product([0, 1], repeat=len(d)))) @ ranks
    above = ranks[np.array(d) > 0].sum()
    w = min(above, ranks.sum() - above)
    found = wilcoxon(np.array(d, dtype=float), np.zeros(len(d)))
    assert found.statistic == w
    assert found.p == pytest.approx(min(1.0, 2 * np.mean(sums <= w)))


def test_differences_that_rounding_sets_apart_are_ties() -> None:
    x, y = np.array([0.3, 0.2, 0.8, 0.1]), np.array([0.2, 0.3, 0.5, 0.1])  # .3 - .2 is not .1 to the last bit
    found = wilcoxon(x, y)
    assert (found.n, found.statistic) == (3, 1.5)


# ---------------------------------------------------------------------------------------------- McNemar


def hits(only_a: int, only_b: int, both: int = 3, neither: int = 2) -> tuple[Floats, Floats]:
    a = np.repeat([True, False, True, False], [only_a, only_b, both, neither])
    b = np.repeat([False, True, True, False], [only_a, only_b, both, neither])
    return a, b
