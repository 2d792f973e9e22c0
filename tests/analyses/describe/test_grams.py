"""Runs of words and near texts, against plain sets of tuples."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.analyses.describe.duplicates import NEAR, Prints, candidates, equal_groups, near_pairs
from karat.analyses.describe.grams import Grams, Vocabulary, in_slices, numbers_of

words = st.sampled_from(["a", "b", "ab", "é", "<eos>", "\n", "漢字", "ba"])
texts = st.lists(st.lists(words, max_size=9).map(lambda each: f" {' '.join(each)} "), min_size=1, max_size=6)
phrases = st.lists(st.lists(words, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=12, unique=True)


@settings(max_examples=60, deadline=None)
@given(texts=texts, phrases=phrases, most=st.sampled_from([1, 20, 10_000]))
def test_a_phrase_is_in_the_texts_exactly_when_its_words_follow_each_other_in_one(
    texts: list[str], phrases: list[str], most: int
) -> None:
    vocabulary = Vocabulary.of(phrases)
    met = set(vocabulary.numbers[vocabulary.met_in(grams for _, grams in in_slices(texts, most))].tolist())
    found = [number in met for number in numbers_of(phrases).tolist()]
    assert found == [any(f" {phrase} " in text for text in texts) for phrase in phrases]


@settings(max_examples=40, deadline=None)
@given(texts=texts)
def test_shingles_are_the_runs_of_words_within_a_text(texts: list[str]) -> None:
    of, numbers = Grams.of(texts).shingles(3)
    expected = [
        (n, " ".join(run))
        for n, t in enumerate(texts)
        for run in zip(*(t.split(" ")[1:-1][i:] for i in range(3)), strict=False)
    ]
    expected = [(n, run) for n, run in expected if all(run.split(" "))]
    assert of.tolist() == [n for n, _ in expected]
    assert numbers.tolist() == numbers_of([run for _, run in expected]).tolist()


def made_texts(seed: int) -> list[str]:
    """Texts of 40 to 80 words, some of which are an earlier one with a few words changed."""
    draw = np.random.default_rng(seed)
    made: list[list[str]] = []
    for n in range(300):
        if n % 5 == 4:
            text = list(made[int(draw.integers(n))])
            for place in draw.integers(0, len(text), int(draw.integers(0, 4))):
                text[place] = "changed"
        else:
            text = [f"w{word}" for word in draw.integers(0, 400, int(draw.integers(40, 81)))]
        made.append(text)
    return [f" {' '.join(text)} " for text in made]


def test_near_texts_are_those_that_comparing_every_two_finds() -> None:
    texts = made_texts(1)
    prints = Prints.of(["" for _ in texts], texts, list(in_slices(texts)))
    shingles = [set(zip(*(text.split()[i:] for i in range(3)), strict=False)) for text in texts]
    expected = {
        (a, b)
        for a, b in combinations(range(len(texts)), 2)
        if texts[a] != texts[b] and len(shingles[a] & shingles[b]) >= NEAR * len(shingles[a] | shingles[b])
    }
    found = set(near_pairs(candidates(prints), dict(enumerate(texts))))
    firsts = {text: n for n, text in reversed(list(enumerate(texts)))}  # of equal texts one is compared
    assert found == {(a, b) for a, b in expected if firsts[texts[a]] == a and firsts[texts[b]] == b}
    assert len(found) > 10
    equal = [group.tolist() for group in equal_groups(prints.texts)]
    by_text: dict[str, list[int]] = {}
    for n, text in enumerate(texts):
        by_text.setdefault(text, []).append(n)
    assert equal == sorted(group for group in by_text.values() if len(group) > 1)
    assert equal
