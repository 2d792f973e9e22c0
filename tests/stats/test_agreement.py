"""Agreement of annotators: alpha as published and by the krippendorff package, intervals, equal scores."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import krippendorff as peer
import numpy as np
import pytest

from karat.stats.agreement import (
    SCALES,
    Scale,
    all_equal,
    alpha_with_interval,
    equal_pairs,
    equal_shares,
    krippendorff,
)

# Four observers, twelve units, as Krippendorff publishes them ("Computing Krippendorff's Alpha-Reliability").
PUBLISHED: Any = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
).T


@pytest.mark.parametrize(("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_example(scale: Scale, alpha: float) -> None:
    assert krippendorff(PUBLISHED, scale) == pytest.approx(alpha, abs=5e-4)


def test_alpha_by_hand() -> None:
    # Two units with the values 1 1 and 1 3. Disagreeing ordered pairs: 2 of the 4 within units, so D_o = 2/4; values
    # 1 1 1 3 make 12 ordered pairs, 6 of them different: D_e = 6/12. The squared distances are 4 for each of these.
    values = np.array([[1.0, 1.0], [1.0, 3.0]])
    assert krippendorff(values, "nominal") == pytest.approx(0.0)
    assert krippendorff(values, "interval") == pytest.approx(0.0)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_alpha_is_1_for_equal_values_and_undefined_without_any_variation(scale: Scale) -> None:
    assert krippendorff(np.array([[1.0, 1.0], [2.0, 2.0], [4.0, nan]]), scale) == 1.0
    assert isnan(krippendorff(np.array([[1.0, 1.0], [1.0, 1.0]]), scale))
    assert isnan(krippendorff(np.array([[1.0, nan], [nan, 2.0]]), scale))
    assert isnan(krippendorff(np.empty((0, 3)), scale))


def test_alpha_does_not_depend_on_the_unit_of_the_scale() -> None:
    assert krippendorff(PUBLISHED * 10 - 7) == pytest.approx(krippendorff(PUBLISHED))
    assert krippendorff(PUBLISHED**3, "ordinal") == pytest.approx(krippendorff(PUBLISHED, "ordinal"))


@pytest.mark.parametrize("scale", SCALES)
def test_alpha_is_that_of_the_krippendorff_package(scale: Scale) -> None:
    generator = np.random.default_rng(2)
    for _ in range(20):
        values = generator.integers(0, 5, size=(12, 3)).astype(float)
        values[generator.random(values.shape) < 0.2] = nan
        assert krippendorff(values, scale) == pytest.approx(peer.alpha(values.T, level_of_measurement=scale))


def test_large_scores_do_not_blur_alpha() -> None:
    assert krippendorff(PUBLISHED + 1e6) == pytest.approx(krippendorff(PUBLISHED), abs=1e-6)


@pytest.mark.parametrize("scale", SCALES)
def test_the_interval_of_alpha_is_by_the_jackknife_of_documents(scale: Scale) -> None:
    generator = np.random.default_rng(3)
    values = np.round(generator.normal(size=(30, 1)) + generator.normal(0, 0.7, size=(30, 3)))
    documents = np.arange(30) // 3
    found = alpha_with_interval(values, scale, documents, 0.9)
    without = np.array([krippendorff(values[documents != d], scale) for d in range(10)])
    error = np.sqrt(9 * without.var())
    assert found.value == pytest.approx(krippendorff(values, scale))
    z, low, high = np.arctanh([found.value, *found.interval])
    half = (z - low) * (1 - found.value**2)
    assert 1.833 * error - 1e-9 <= half <= 2.4 * error  # t of 9 degrees of freedom, or of somewhat fewer
    # At the upper end with one more document, three items on which all give the same rare score.
    scores, counts = np.unique(values, return_counts=True)
    rare = [scores[counts.argmin()]] if scale == "nominal" else [values.min(), values.max()]
    more = max(krippendorff(np.concatenate([values, np.full((3, 3), score)]), scale) for score in rare) - found.value
    weight = min(1.0, 4 * (counts.max() / 90) ** 4)
    assert (high - z) / (z - low) == pytest.approx(np.sqrt(error**2 + weight * more**2) / error)
    assert found.n == 30


@pytest.mark.parametrize("scale", SCALES)
def test_the_interval_of_alpha_is_the_same_for_a_scale_that_is_turned_round(scale: Scale) -> None:
    values = np.array([[0.0, 0.0, 1.0]] * 9 + [[4.0, 4.0, 3.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    found = alpha_with_interval(values, scale)
    turned = alpha_with_interval(4 - values, scale)
    assert turned.interval == pytest.approx(found.interval)


def test_intervals_of_alpha_hold_the_true_value_where_most_scores_are_equal() -> None:
    """Four of five items score 0 or nearly so; without the term for unseen agreement some 75 % of intervals hold."""
    generator = np.random.default_rng(8)
    items = np.where(generator.random(20_000) < 0.8, 0.0, generator.beta(2, 3, size=20_000))
    people = np.round(4 * np.clip(items[:, None] + generator.normal(0, 0.15, size=(20_000, 3)), 0, 1))
    true, held = krippendorff(people, "interval"), 0
    for _ in range(300):
        low, high = alpha_with_interval(people[generator.integers(20_000, size=25)], "interval").interval
        held += low <= true <= high
    assert held / 300 >= 0.9


def test_alpha_has_no_interval_with_two_items_one_annotator_or_equal_scores() -> None:
    for values in (np.array([[1.0, 2.0], [2.0, 2.0]]), np.array([[1.0], [2.0], [3.0]]), np.ones((5, 2))):
        assert all(map(isnan, alpha_with_interval(values).interval))


def test_perfect_agreement_has_a_lower_bound() -> None:
    values = np.repeat(np.arange(20.0)[:, None] % 4, 2, axis=1)
    found = alpha_with_interval(values, "nominal")
    assert found.value == 1.0
    assert found.interval == pytest.approx((1 - 2 * (1 - 0.025 ** (1 / 20)), 1.0))


def test_shares_of_equal_scores_have_intervals_and_bounds() -> None:
    values = np.array([[1.0, 1.0], [2.0, 3.0], [0.0, 0.0], [1.0, 2.0], [4.0, 4.0], [nan, 1.0]])
    [(k, share)] = equal_shares(values)
    assert (k, share.n, share.value) == (2, 5, 0.6)
    assert 0 < share.interval[0] < 0.6 < share.interval[1] < 1
    assert equal_pairs(values) == share
    assert all_equal(values) == share
    never = equal_pairs(np.array([[1.0, 2.0]] * 10))
    assert never.interval == pytest.approx((0.0, 1 - 0.025 ** (1 / 10)))
    assert isnan(equal_pairs(np.array([[1.0, nan]])).value)


def test_intervals_of_alpha_hold_the_true_value_about_as_often_as_they_say() -> None:
    generator = np.random.default_rng(4)
    items = np.where(generator.random(20_000) < 0.3, 0.0, generator.beta(2, 3, size=20_000))
    people = np.round(4 * np.clip(items[:, None] + generator.normal(0, 0.2, size=(20_000, 3)), 0, 1))
    true, held = krippendorff(people, "ordinal"), 0
    for _ in range(300):
        low, high = alpha_with_interval(people[generator.integers(20_000, size=40)], "ordinal").interval
        held += low <= true <= high
    assert 0.91 <= held / 300 <= 0.98
