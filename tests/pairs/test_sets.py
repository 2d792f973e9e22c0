"""The join finds what comparing every two sets finds, whatever the sets are like."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.pairs import sets as module
from karat.pairs.sets import MEASURES, Measure, Sets, join, most_of, needed, shared, shares
from tests.examples import examples

Lists = list[list[int]]
Found = dict[tuple[int, int], float]


def sets_of(lists: Lists) -> Sets:
    document = np.repeat(np.arange(len(lists)), list(map(len, lists)))
    return Sets.of(document, np.array([item for each in lists for item in each], dtype=np.int64), len(lists))


def score(one: set[int], other: set[int], measure: Measure) -> float:
    return len(one & other) / (max(len(one), len(other)) if measure == "max" else len(one | other))


def by_force(lists: Lists, least: float, measure: Measure, equal: bool) -> Found:
    """Every two sets, one after the other."""
    sets = list(map(set, lists))
    return {
        (i, j): score(sets[i], sets[j], measure)
        for i, j in combinations(range(len(sets)), 2)
        if sets[i] and sets[j] and (equal or sets[i] != sets[j]) and score(sets[i], sets[j], measure) >= least - 1e-9
    }


def joined(lists: Lists, least: float, measure: Measure, equal: bool) -> Found:
    found = join(sets_of(lists), least, measure, equal)
    pairs = list(zip(found.a.tolist(), found.b.tolist(), strict=True))
    assert pairs == sorted(set(pairs))  # each once, in order
    return dict(zip(pairs, found.score.tolist(), strict=True))


LEAST = st.sampled_from([0.1, 0.2, 1 / 3, 0.4, 0.5, 0.6, 2 / 3, 0.75, 0.9, 1.0])
PLAIN = st.lists(st.lists(st.integers(0, 12), max_size=7), max_size=25)
# Low numbers come often and high ones rarely, as phrases do; some sets are long, and many are equal.
SKEWED = st.lists(
    st.lists(st.integers(1, 400).map(lambda n: 400 // n), max_size=30) | st.sampled_from([[1], [1, 2], [1, 2, 3]]),
    max_size=40,
)


@settings(deadline=None, max_examples=examples(50))
@given(PLAIN | SKEWED, LEAST, st.sampled_from(MEASURES), st.booleans())
def test_the_join_equals_brute_force(lists: Lists, least: float, measure: Measure, equal: bool) -> None:
    assert joined(lists, least, measure, equal) == pytest.approx(by_force(lists, least, measure, equal))


@settings(deadline=None, max_examples=examples(50))
@given(PLAIN | SKEWED, LEAST, st.sampled_from(MEASURES))
def test_a_join_finds_no_more_than_it_was_said_to_look_at(lists: Lists, least: float, measure: Measure) -> None:
    assert len(by_force(lists, least, measure, False)) <= most_of(sets_of(lists), least, measure)


@settings(deadline=None, max_examples=examples(20))
@given(SKEWED, LEAST, st.sampled_from(MEASURES))
def test_small_blocks_and_sorted_sets_change_nothing(lists: Lists, least: float, measure: Measure) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", 3)
        patch.setattr(module, "CELLS", 40)
        patch.setattr(module, "LARGEST_PRODUCT", 4)
        found = joined(lists, least, measure, True)
    assert found == pytest.approx(by_force(lists, least, measure, True))


def test_a_large_skewed_corpus_is_joined_as_by_force() -> None:
    generator = np.random.default_rng(0)
    sizes = generator.integers(1, 9, 900)
    lists = [np.floor(1 / (generator.random(size) + 0.002)).astype(int).tolist() for size in sizes]
    lists += [[1]] * 100 + [[1, 2]] * 50
    for measure in MEASURES:
        expected = by_force(lists, 0.5, measure, False)
        assert len(expected) > 1000
        assert joined(lists, 0.5, measure, False) == pytest.approx(expected)


def test_a_pair_that_shares_several_rare_items_is_found_once() -> None:
    """Item 1 is first in the one set and second in the other, item 3 last in both: who comes first differs by item."""
    lists = [[1, 2, 3], [0, 1, 3], [2, 5], [2, 6], [3, 7], [3, 8]]
    found = joined(lists, 0.2, "jaccard", False)
    assert found == pytest.approx(by_force(lists, 0.2, "jaccard", False))
    assert found[0, 1] == 0.5


def test_sets_without_items_are_in_no_pair() -> None:
    assert joined([[], [], [1], [1]], 0.5, "jaccard", True) == {(2, 3): 1.0}
    assert joined([], 0.5, "jaccard", True) == {}
    assert joined([[], []], 0.5, "jaccard", True) == {}


@pytest.mark.parametrize(
    ("a", "b", "least", "measure", "wanted"),
    [
        (3, 3, 0.5, "jaccard", 2),  # 2 of 4
        (3, 4, 0.5, "jaccard", 3),  # 2 of 5 are too few, 3 of 4 enough
        (4, 5, 0.5, "jaccard", 3),  # 3 of 6
        (5, 5, 0.6, "max", 3),  # 3 of 5, though .6 · 5 is more than 3 in floats
        (1, 10, 0.01, "jaccard", 1),  # nothing in common is never alike
        (2, 3, 1.0, "jaccard", 3),  # no set of 2 is one of 3
    ],
)
def test_how_many_items_must_be_shared(a: int, b: int, least: float, measure: Any, wanted: int) -> None:
    assert needed(a, b, least, measure) == wanted


def test_what_two_sets_share_is_told_item_by_item() -> None:
    sets = sets_of([[1, 2, 3], [3, 2, 9], [], [1]])
    pair, item = shared(np.array([0, 0, 2]), np.array([1, 3, 0]), sets, sets)
    assert list(zip(pair.tolist(), item.tolist(), strict=True)) == [(0, 2), (0, 3), (1, 1)]


def test_shares_of_empty_sets_are_undefined_and_of_one_empty_set_zero() -> None:
    sets = sets_of([[1, 2], [], [2, 3, 4], []])
    a, b = np.array([0, 1, 0]), np.array([1, 3, 2])
    assert shares(a, b, sets, sets).tolist() == pytest.approx([0.0, np.nan, 0.25], nan_ok=True)
    assert shares(a, b, sets, sets, "max").tolist() == pytest.approx([0.0, np.nan, 1 / 3], nan_ok=True)


def test_nothing_at_all_is_shared_by_no_documents() -> None:
    none, empty = np.zeros(0, dtype=np.int64), sets_of([[], []])
    assert shares(none, none, empty, empty).tolist() == []
    assert shares(np.array([0]), np.array([1]), empty, empty).tolist() == pytest.approx([np.nan], nan_ok=True)
