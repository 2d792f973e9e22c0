"""The embedder that needs nothing."""

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from karat.embed import NAMES, embedder


def test_vectors_are_the_same_on_every_machine() -> None:
    vector = embedder("hash").embed(["Cat"])[0]
    # BLAKE2b of <ca, cat, at>, <cat, cat>, <cat> to 8 bytes, little-endian: the last bit is the sign.
    signs = {9: 1, 169: -1, 287: 1, 316: -1, 409: 1, 441: -1}
    assert {int(place): int(np.sign(vector[place])) for place in np.flatnonzero(vector)} == signs


def test_vectors_do_not_depend_on_the_seed_of_the_process() -> None:
    program = "from karat.embed import embedder; print(embedder('hash').embed(['Größe x', 'y']).tobytes().hex())"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {embedder("hash").embed(["Größe x", "y"]).tobytes().hex().encode() + b"\n"}


def test_inflections_are_near_and_other_words_are_far() -> None:
    a, b, c = embedder("hash").embed(["neural network", "neural networks", "query optimisation"])
    assert a @ b > 0.8
    assert abs(a @ c) < 0.2


def test_case_and_compatibility_forms_and_word_order_do_not_matter() -> None:
    a, b, c = embedder("hash").embed(["Neural ﬁelds", "neural fields", "fields  neural"])
    assert np.array_equal(a, b)
    assert np.array_equal(a, c)


@given(st.lists(st.text(max_size=12), max_size=6))
def test_any_text_has_a_vector_of_length_one_or_zero(texts: list[str]) -> None:
    vectors = embedder("hash").embed(texts)
    assert vectors.shape == (len(texts), 512)
    assert vectors.dtype == np.float32
    for text, vector in zip(texts, vectors, strict=True):
        length = float(np.linalg.norm(vector))
        assert abs(length - 1) < 1e-6 or length == 0
        assert np.array_equal(vector, embedder("hash").embed([text])[0])


def test_an_unpaired_surrogate_has_a_vector() -> None:
    assert np.isfinite(embedder("hash").embed(["\ud800"])).all()


def test_the_summary_says_that_it_is_no_semantic_similarity() -> None:
    assert "not a semantic one" in embedder("hash").summary
    assert embedder("hash").summary == NAMES["hash"]
