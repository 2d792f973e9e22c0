"""Word vectors from files."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.embed import embedder
from karat.embed.vectors import read_vectors
from karat.errors import InputError

LINES = "graph 1 0 2\nmining 3 2 -2\n. . 9 9 9\nGrid 0 0 1\n"


@pytest.mark.parametrize("start", ["", "4 3\n", "\ufeff", "\ufeff4 3\n"])
@pytest.mark.parametrize("suffix", [".txt", ".vec.gz"])
def test_a_phrase_is_the_mean_of_its_words(tmp_path: Path, start: str, suffix: str) -> None:
    path = tmp_path / f"vectors{suffix}"
    content = (start + LINES).encode()
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    vectors = embedder(f"vectors:{path}").embed(["graph mining", "graph unheard", "unheard", "", "graph mining"])
    assert vectors.tolist() == [[2, 1, 0], [1, 0, 2], [0, 0, 0], [0, 0, 0], [2, 1, 0]]
    assert vectors.dtype == np.float32


def test_a_word_is_looked_up_as_written_and_then_in_lower_case(tmp_path: Path) -> None:
    (tmp_path / "v").write_text(LINES)
    vectors = embedder(f"vectors:{tmp_path / 'v'}").embed(["Grid", "grid", "GRAPH"])
    assert vectors.tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 2]]


def test_only_the_words_that_are_needed_are_kept(tmp_path: Path) -> None:
    (tmp_path / "v").write_text(LINES)
    found, dimension = read_vectors(str(tmp_path / "v"), {b"graph", b"nothing"})
    assert (list(found), dimension) == ([b"graph"], 3)


def test_later_texts_find_words_that_earlier_ones_did_not_need(tmp_path: Path) -> None:
    (tmp_path / "v").write_text(LINES)
    model = embedder(f"vectors:{tmp_path / 'v'}")
    assert model.embed(["graph"]).tolist() == [[1, 0, 2]]
    assert model.embed(["mining", "graph"]).tolist() == [[3, 2, -2], [1, 0, 2]]
    assert model.embed([]).shape == (0, 3)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no word vectors in it"),
        ("3 4\n", "no word vectors in it"),
        ("graph 1 0\nmining 1\n", ":2: not a word and 2 numbers"),
        ("graph 1 0\n\nmining 1 2\n", ":2: not a word and 2 numbers"),
        ("other 1 0\ngraph 1 x\n", ":2: not a word and 2 numbers"),
        ("other 1 0\ngraph 1 nan\n", ":2: a number of the vector is not finite"),
        ("first x y\ngraph 1 2\n", ":1: not a word and 2 numbers"),
        ("graph\n", ":1: not a word and its numbers"),
        ("3 2\ngraph 1 0\n", ":1: the header says 3 words, but there are 1"),
    ],
)
def test_bad_files_are_errors_with_their_line(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "v.txt"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        embedder(f"vectors:{path}").embed(["graph"])
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        embedder(f"vectors:{tmp_path / 'v'}").embed(["graph"])


def test_word_vectors_have_no_tokens_in_context(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no tokens in context"):
        embedder(f"vectors:{tmp_path / 'v'}").tokens(["graph"])


@given(st.binary(max_size=60))
def test_any_bytes_are_vectors_or_an_input_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "v"
    path.write_bytes(content)
    try:
        assert np.isfinite(embedder(f"vectors:{path}").embed(["0", "a b"])).all()
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017  either outcome is right
