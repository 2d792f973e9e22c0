"""Cosine and BERTScore of pairs, without a model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from karat.embed import Tokens, Vectors
from karat.embed.hashed import Hashed
from karat.errors import InputError
from karat.similarity.embedded import bertscore, cosine, greedy_f


def pairs(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    left, right = np.divmod(np.arange(count * count), count)
    return left, right


phrases_of_words = st.lists(st.lists(st.text("abc", max_size=4), max_size=3).map(tuple), min_size=1, max_size=5)


@settings(max_examples=40, deadline=None)
@given(phrases_of_words)
def test_cosine_is_symmetric_and_between_zero_and_one(phrases: list[tuple[str, ...]]) -> None:
    scores = cosine(phrases, *pairs(len(phrases))).reshape(len(phrases), -1)
    assert scores.dtype == np.float64
    assert np.allclose(scores, scores.T)
    assert (scores >= 0).all()
    assert (scores <= 1).all()
    assert (scores.diagonal() == 1).all()


@settings(max_examples=20, deadline=None)
@given(phrases_of_words)
def test_a_cosine_is_the_same_to_the_last_bit_whatever_stands_beside_it(phrases: list[tuple[str, ...]]) -> None:
    left, right = pairs(len(phrases))
    together = cosine(phrases * 60, *(np.tile(side, 60) for side in (left, right)))  # more pairs than go at once
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        assert cosine([phrases[a], phrases[b]], np.array([0]), np.array([1]))[0] == together[i]


def test_only_phrases_of_pairs_are_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    class Seeing(Hashed):
        def embed(self, texts: Sequence[str]) -> Vectors:
            seen.extend(texts)
            return super().embed(texts)

    monkeypatch.setattr("karat.similarity.embedded._embedder", lambda model, layer: Seeing())
    cosine([("a",), ("b",), ("c",), ("b",)], np.array([1, 1]), np.array([3, 2]))
    assert sorted(seen) == ["b", "c"]


def test_cosine_is_that_of_the_vectors_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "v").write_text("a 1 0\nb 1 1\nc -1 0\n")
    phrases = [("a",), ("b",), ("c",), ("x",), ("y",)]
    scores = cosine(phrases, np.array([0, 0, 0, 3, 3]), np.array([1, 2, 3, 3, 4]), model=f"vectors:{tmp_path / 'v'}")
    assert scores == pytest.approx([0.5**0.5, 0, 0, 1, 0])


def test_no_pairs_have_no_scores() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert cosine([("a",)], none, none).shape == (0,)
    assert greedy_f([], none, none).shape == (0,)


def tokens(*vectors: tuple[float, ...]) -> Tokens:
    """Tokens between two that do not count, which are like nothing else."""
    around = (0.0, 0.0, 1.0)
    counts = np.array([False, *[True] * len(vectors), False])
    return Tokens(np.array([around, *vectors, around], dtype=np.float32), counts)


def test_greedy_matching_by_hand() -> None:
    x, y, minus = (1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (-1.0, 0.0, 0.0)
    texts = [tokens(x), tokens(x, y), tokens(y), tokens(), tokens(minus)]
    left, right = np.array([0, 1, 0, 3, 0, 4]), np.array([1, 0, 2, 0, 0, 0])
    # x against x y: P 1, R 1/2; x against y: both 0; nothing: 0; −x against x: the token around the text wins with 0.
    assert greedy_f(texts, left, right).tolist() == pytest.approx([2 / 3, 2 / 3, 0, 0, 1, 0])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=6))
def test_a_pairs_value_does_not_depend_on_the_other_pairs(lengths: list[int]) -> None:
    draw = np.random.default_rng(sum(lengths))
    texts = [Tokens(draw.normal(size=(n + 2, 5)).astype(np.float32), np.arange(n + 2) % (n + 1) > 0) for n in lengths]
    left, right = pairs(len(texts))
    together = greedy_f(texts, left, right)
    alone = [greedy_f([texts[a], texts[b]], np.array([0]), np.array([1]))[0] for a, b in zip(left, right, strict=True)]
    assert together.tolist() == alone


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "bertscore needs a model"),
        ({"model": "hash"}, "has no tokens in context"),
        ({"model": "hash", "layer": 2}, "of an encoder"),
        ({"model": "dir,layer=1", "layer": 2}, "one layer"),
        ({"model": "dir/none"}, "there is no such directory"),
    ],
)
def test_bertscore_without_an_encoder_is_an_error(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        bertscore([("a",)], np.array([0]), np.array([0]), **options)
