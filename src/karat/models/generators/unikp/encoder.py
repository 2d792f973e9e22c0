"""An encoder of BERT's kind as a network that learns: whole, with its lowest layers frozen, or with a prefix mask.

Devlin and others, "BERT", NAACL 2019; the norm is behind each part. With the mask of Dong and others, "Unified Language
Model Pre-training for Natural Language Understanding and Generation" (UniLM), NeurIPS 2019, the same layers write:
tokens of the source see all of the source, and those of the target the source and what is written before them.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from karat.models.generators.dropout import Dropout
from karat.models.generators.unikp.pretrained import EncoderShape

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_new": lambda states: functional.gelu(states, approximate="tanh"),
    "relu": functional.relu,
}
SPREAD = 0.02  # of new weights, as in BERT
Pair = tuple[Tensor, Tensor]  # keys and values [b, a, n, e]; below, a = heads, e = size / heads


def prefix_mask(source: Tensor, targets: int) -> Tensor:
    """Who sees whom [b, 1, n + m, n + m], of sources whose tokens are where `source` [b, n] says, and m targets.

    >>> prefix_mask(torch.tensor([[True, True, False]]), 2)[0, 0].int().tolist()
    [[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 0, 1, 0], [1, 1, 0, 1, 1]]
    """
    many, length = source.shape
    whole = source.new_zeros(many, length + targets, length + targets)
    whole[:, :, :length] = source[:, None]
    whole[:, length:, length:] = source.new_ones(targets, targets).tril()
    return whole[:, None]


class Layer(nn.Module):
    """Attention of many heads and a network for each state, each of them added and normed."""

    def __init__(self, shape: EncoderShape, dropout: float) -> None:
        super().__init__()
        d = shape.size
        self.heads = shape.heads
        self.asking = nn.Linear(d, 3 * d)  # makes queries, keys and values, side by side
        self.answer, self.answer_norm = nn.Linear(d, d), nn.LayerNorm(d, shape.eps)
        self.inner, self.outer = nn.Linear(d, shape.inner), nn.Linear(shape.inner, d)
        self.outer_norm = nn.LayerNorm(d, shape.eps)
        self.activation = ACTIVATIONS[shape.activation]
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor, mask: Tensor, past: Pair | None = None) -> tuple[Tensor, Pair]:
        """(states after the layer [b, n, d], keys and values so far); `mask` says who sees whom, [b, 1, n, k]."""
        parted = self.asking(states).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)  # [3, b, a, n, e]
        query, keys, values = parted.unbind()
        if past is not None:
            keys, values = torch.cat([past[0], keys], 2), torch.cat([past[1], values], 2)
        found = functional.scaled_dot_product_attention(query, keys, values, mask)  # [b, a, n, e]
        states = self.answer_norm(states + self.dropout(self.answer(found.transpose(1, 2).flatten(2))))
        inner = self.activation(self.inner(states))
        return self.outer_norm(states + self.dropout(self.outer(inner))), (keys, values)


class Encoder(nn.Module):
    """Embeddings of pieces, places and types, and layers; embeddings and the lowest layers can be `frozen`."""

    def __init__(self, shape: EncoderShape, dropout: float, frozen: int = 0) -> None:
        super().__init__()
        d = shape.size
        self.shape, self.frozen = shape, frozen
        self.embed = nn.Embedding(shape.pieces, d)
        self.places, self.types = nn.Embedding(shape.positions, d), nn.Embedding(shape.types, d)
        self.norm = nn.LayerNorm(d, shape.eps)
        self.layers = nn.ModuleList([Layer(shape, dropout) for _ in range(shape.layers)])
        self.dropout = Dropout(dropout)
        self.apply(begin)
        for part in (self.embed, self.places, self.types, self.norm, *self.layers[:frozen]) if frozen else ():
            part.requires_grad_(False)

    def train(self, mode: bool = True) -> Encoder:
        """In training nothing is dropped out of what does not learn."""
        super().train(mode)
        for layer in self.layers[: self.frozen]:
            layer.train(False)
        self.dropout.train(mode and not self.frozen)
        return self

    def embedded(self, pieces: Tensor, place: Tensor, kind: int = 0) -> Tensor:
        """Pieces [b, n] at their places [b, n] or [n], all of one type, as vectors [b, n, d]."""
        kind = min(kind, self.shape.types - 1)
        vectors = self.embed(pieces) + self.types.weight[kind] + self.places(place + self.shape.first)
        return self.dropout(self.norm(vectors))

    def forward(self, states: Tensor, mask: Tensor, past: list[Pair] | None = None) -> tuple[Tensor, list[Pair]]:
        """(states after the last layer, keys and values of each layer so far)."""
        after = []
        for at, layer in enumerate(self.layers):
            states, pair = layer(states, mask, None if past is None else past[at])
            after.append(pair)
        return states, after

    def read(self, pieces: Tensor, there: Tensor) -> Tensor:
        """A state for each piece of texts [b, n] that are where `there` [b, n] says, [b, n, d]."""
        place = torch.arange(pieces.shape[1], device=pieces.device)
        return self(self.embedded(pieces, place), there[:, None, None])[0]


def begin(module: nn.Module) -> None:
    """New weights, as BERT's begin."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=SPREAD)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
