"""Similarities of vectors: the cosine of two phrases, and BERTScore."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from karat.embed import Embedder, Tokens, embedder
from karat.embed.base import distinct, without_tokens
from karat.embed.encoder import Encoder
from karat.errors import InputError
from karat.formats.files import lines
from karat.similarity.base import Floats, Ints, Words, similarity

LAST = -1  # the layer where none is chosen
PAIRS_AT_ONCE = 256  # whose vectors stay in the processor's cache
# F of unrelated English sentences, by model and layer, as published with bert-score.
BASELINES = {
    ("roberta-large", 17): 0.83122575,
    ("deberta-large-mnli", 18): 0.45173016,
    ("scibert_scivocab_uncased", 8): 0.5322364,
}


@similarity("cosine", form="surface")
def cosine(phrases: Sequence[Words], left: Ints, right: Ints, *, model: str = "hash", layer: int = LAST) -> Floats:
    """Cosine of the phrases' vectors, clipped to [0, 1]; model=hash compares letters, not meanings.

    A phrase and itself have 1, also where no word of it is known; otherwise what has no vector has 0.
    """
    texts, left, right = _numbered(phrases, left, right)
    vectors = _embedder(model, layer).embed(texts).astype(np.float64)
    # Summed row by row: with einsum the last digit would depend on how many rows there are.
    lengths = np.sqrt((vectors * vectors).sum(axis=1))
    vectors /= np.where(lengths > 0, lengths, 1)[:, None]
    scores = np.empty(len(left))
    for some in _parts(len(left), PAIRS_AT_ONCE):
        scores[some] = (vectors[left[some]] * vectors[right[some]]).sum(axis=1)
    scores[left == right] = 1.0
    return np.clip(scores, 0.0, 1.0)


@similarity("bertscore", form="surface")
def bertscore(
    phrases: Sequence[Words],
    left: Ints,
    right: Ints,
    *,
    model: str = "",
    layer: int = LAST,
    baseline: str = "off",
) -> Floats:
    """BERTScore F of the phrases' tokens in context (Zhang 2020), raw unless a baseline is given.

    Each token is matched to the most similar one of the other phrase, which may be one that the model puts around a
    text; those themselves do not count. P and R are the means over the tokens of prediction and reference. The figures
    are those of the bert-score package when it scores one pair at a time: there, in larger batches, padding can win.

    `baseline` is off, published (known for a few models), a number b, or a file of bert-score (LAYER,P,R,F); F becomes
    (F − b) / (1 − b).

    Alone among the similarities this one can be negative, mostly where it is rescaled: values are given as bert-score
    prints them, and soft scores take what is below 0 as 0.
    """
    if not model:
        raise InputError("bertscore needs a model: bertscore,model=DIR with the directory of an encoder")
    encoder = _embedder(model, layer)
    if not isinstance(encoder, Encoder):
        raise without_tokens(encoder.name)
    rescaled = _baseline(baseline, encoder)
    texts, left, right = _numbered(phrases, left, right)
    scores = greedy_f(encoder.tokens(texts), left, right)
    return scores if rescaled is None else (scores - rescaled) / (1.0 - rescaled)


def _numbered(phrases: Sequence[Words], left: Ints, right: Ints) -> tuple[list[str], Ints, Ints]:
    """(the phrases that pairs have, as texts, each once; both sides of the pairs by number among these)."""
    used, place = np.unique(np.concatenate([left, right]), return_inverse=True)
    texts, numbers = distinct([" ".join(phrases[i]) for i in used.tolist()])
    return texts, numbers[place[: len(left)]], numbers[place[len(left) :]]


# ---------------------------------------------------------------------------------------------- matching


@dataclass(frozen=True, slots=True)
class _Stacks:
    """Phrases by their number of tokens: vectors of length 1, and how much each token counts."""

    lengths: Ints  # [phrases]
    places: Ints  # [phrases], where it is in the stack of its length
    vectors: dict[int, NDArray[np.float32]]  # [phrases of that length, tokens, d]
    weights: dict[int, NDArray[np.float32]]  # [phrases of that length, tokens]


def greedy_f(tokens: Sequence[Tokens], left: Ints, right: Ints) -> Floats:
    """F of greedy matching for each pair of texts; 0 where one of them has no tokens of its own."""
    stacks = _stack(tokens)
    scores = np.zeros(len(left))
    widest = max(stacks.vectors, default=0) + 1
    shapes = stacks.lengths[left] * widest + stacks.lengths[right]
    order = np.argsort(shapes, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(shapes[order])) + 1) if len(order) else []:
        for some in _parts(len(group), PAIRS_AT_ONCE):
            pairs = group[some]
            scores[pairs] = _matched(stacks, left[pairs], right[pairs])
    return scores


def _stack(tokens: Sequence[Tokens]) -> _Stacks:
    lengths = np.array([len(each.counts) for each in tokens], dtype=np.int64)
    places = np.zeros_like(lengths)
    vectors: dict[int, NDArray[np.float32]] = {}
    weights: dict[int, NDArray[np.float32]] = {}
    for length in np.unique(lengths).tolist():
        members = np.flatnonzero(lengths == length).tolist()
        places[members] = np.arange(len(members))
        stacked = np.stack([tokens[member].vectors for member in members])  # [members, tokens, d]
        norms = np.sqrt(np.einsum("ntd,ntd->nt", stacked, stacked))[..., None]
        vectors[length] = np.divide(stacked, norms, out=np.zeros_like(stacked), where=norms > 0)
        counts = np.stack([tokens[member].counts for member in members]).astype(np.float32)
        weights[length] = counts / np.maximum(counts.sum(axis=1, keepdims=True), np.float32(1))
    return _Stacks(lengths, places, vectors, weights)


def _matched(stacks: _Stacks, left: Ints, right: Ints) -> Floats:
    """F of pairs whose left texts have one length, and whose right texts have one."""
    a, b = int(stacks.lengths[left[0]]), int(stacks.lengths[right[0]])
    left, right = stacks.places[left], stacks.places[right]
    similar = stacks.vectors[a][left] @ stacks.vectors[b][right].transpose(0, 2, 1)  # [pairs, a, b]
    p = (similar.max(axis=2) * stacks.weights[a][left]).sum(axis=1, dtype=np.float64)
    r = (similar.max(axis=1) * stacks.weights[b][right]).sum(axis=1, dtype=np.float64)
    empty = (stacks.weights[a][left].sum(axis=1) == 0) | (stacks.weights[b][right].sum(axis=1) == 0)
    defined = ~empty & (p + r != 0)
    scores = np.divide(2 * p * r, p + r, out=np.zeros(len(p)), where=defined)
    return np.asarray(np.minimum(scores, 1.0))


def _parts(count: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, count, size))


# ---------------------------------------------------------------------------------------------- options


def unit_vectors(texts: Sequence[str], model: str, layer: int = LAST) -> Floats:
    """The vectors of texts, each of length 1, or of zeros where it has none, float64[texts, d]."""
    vectors = _embedder(model, layer).embed(texts).astype(np.float64)
    lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
    vectors /= np.where(lengths > 0, lengths, 1)[:, None]
    return vectors


def _embedder(model: str, layer: int) -> Embedder:
    if layer != LAST and (layer < 0 or ",layer=" in model or model == "hash" or model.startswith("vectors:")):
        raise InputError(f"layer {layer} of {model!r}: one layer, from 0 on, of an encoder")
    return _kept(model if layer == LAST else f"{model},layer={layer}")


@lru_cache(maxsize=4)
def _kept(name: str) -> Embedder:
    """One embedder a name and process: a model is loaded once for all chunks."""
    return embedder(name)


def _baseline(given: str, encoder: Encoder) -> float | None:
    """The baseline to rescale with, or None for raw scores."""
    given = str(given)
    if given == "off":
        return None
    try:
        number = float(given)
    except ValueError:
        number = _published(encoder) if given == "published" else _baseline_of_file(given, _layer(encoder))
    if not (math.isfinite(number) and number < 1):
        raise InputError(f"baseline {given!r} is not below 1")
    return number


def _layer(encoder: Encoder) -> int:
    layer = encoder.layer if encoder.layer is not None else encoder.model.layers
    if layer is None:
        raise InputError(f"{encoder.name}: say which layer, as layer=9, for its baseline")
    return layer


def _published(encoder: Encoder) -> float:
    layer = _layer(encoder)
    for name in encoder.model.published:
        if (name, layer) in BASELINES:
            return BASELINES[name, layer]
    known = ", ".join(f"{name} layer {each}" for name, each in BASELINES)
    raise InputError(
        f"{encoder.name}: no baseline is known for layer {layer} of it (known: {known}); give a number or file"
    )


def _baseline_of_file(path: str, layer: int) -> float:
    """F of the layer's line in a baseline file of bert-score, which has commas whatever its name says."""
    rows = list(csv.reader(line for _, line in lines(path)))
    if not rows or rows[0] != ["LAYER", "P", "R", "F"]:
        raise InputError(f"{path}:1: not a baseline file of bert-score, which begins with LAYER,P,R,F")
    for number, row in enumerate(rows[1:], 2):
        if row and row[0] == str(layer):
            try:
                return float(row[3])
            except (IndexError, ValueError):
                raise InputError(f"{path}:{number}: not a layer and three numbers: {','.join(row)!r}") from None
    raise InputError(f"{path}: has no line for layer {layer}")
