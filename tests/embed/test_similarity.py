"""Cosine and BERTScore of pairs, without a model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from karat.embed import Tokens
from karat.errors import InputError
from karat.similarity.embedded import bertscore, cosine, greedy_f


def pairs(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    left, right = np.divmod(np.arange(count * count), count)
    return left, right


phrases_of_words = st.lists(st.lists(st.text("abc", max_size=4), max_size=3).map(tuple), min_size=1, max_size=5)


@given(phrases_of_words)
def test_cosine_is_symmetric_and_between_zero_and_one(phrases: list[tuple[str, ...]]) -> None:
    scores = cosine(phrases, *pairs(len(phrases))).reshape(len(phrases), -1)
    assert scores.dtype == np.float64
    assert np.allclose(scores, scores.T)
    assert (scores >= 0).all()
    assert (scores <= 1).all()
    assert (scores.diagonal() == 1).all()


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
