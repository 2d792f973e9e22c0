"""What is counted of distinct phrases is the same however documents are cut into chunks."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.analyses.describe.counts import NO_FORMS, Counts, Forms, GrowingForms
from karat.analyses.describe.grams import numbers_of
from karat.stats.shares import ShareCounts

PHRASES = [f"{a} {b}" for a in "abcd" for b in "efgh"]


def part(phrases: list[str]) -> Counts:
    """The counts of a chunk whose phrases have so many words as they have letters before the space, times ten."""
    distinct = Counter(phrases)
    often = np.array([*distinct.values(), 0])[:-1]
    words = np.array([10 * ord(phrase[0]) for phrase in distinct] + [0])[:-1]
    forms = Forms(numbers_of(list(distinct)), often, often * 2, often * 3, often * 4, words)
    none = np.zeros(0, dtype=np.int64)
    return Counts(none.astype(np.int32), none > 0, none, 1, ShareCounts.of({}), forms)


@settings(max_examples=80, deadline=None)
@given(chunks=st.lists(st.lists(st.sampled_from(PHRASES), max_size=20), max_size=12))
def test_phrases_of_chunks_are_added_up(chunks: list[list[str]]) -> None:
    growing = GrowingForms()
    for chunk in chunks:
        rest = growing.add(part(chunk))
        assert rest.forms is NO_FORMS
        assert rest.words == 1
    expected = Counter(phrase for chunk in chunks for phrase in chunk)
    names = sorted(expected, key=lambda phrase: int(numbers_of([phrase])[0]))
    counts = [expected[phrase] for phrase in names]
    for found in (growing.whole(), growing.whole()):
        assert found.numbers.tolist() == [int(numbers_of([phrase])[0]) for phrase in names]
        for factor, column in enumerate((found.df, found.occurrences, found.present_df, found.absent), 1):
            assert column.tolist() == [factor * count for count in counts]
        assert found.words.tolist() == [10 * ord(phrase[0]) for phrase in names]
