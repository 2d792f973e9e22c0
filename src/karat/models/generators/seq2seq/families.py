"""The decoders of BART and T5 by their weights, for one token at a time: the steps of `beams.py`, quicker.

Queries, keys and values of a layer are one product, the pasts of all layers are one tensor, and the sequences of a
document share what is known of its source, where the networks of transformers keep it once for each sequence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from karat.models.generators.seq2seq.beams import Cached, Steps, encoded

ROOM = 16  # tokens of the past that there is room for at first; it doubles
CLOSE = 1e-3  # by which logits may differ from those of the network's own code

Map = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear map: some that read the same are one."""

    weight: Tensor
    bias: Tensor | None

    @classmethod
    def of(cls, *parts: Any) -> Linear:
        """The map of some modules, one behind the other; those without a bias have one of 0 where others have any."""
        some = any(part.bias is not None for part in parts)
        none = [part.weight.new_zeros(len(part.weight)) if part.bias is None else part.bias for part in parts]
        if len(parts) == 1:
            return cls(parts[0].weight, parts[0].bias)
        return cls(torch.cat([part.weight for part in parts]), torch.cat(none) if some else None)

    def __call__(self, states: Tensor) -> Tensor:
        """What comes out of states."""
        return functional.linear(states, self.weight, self.bias)


@dataclass(frozen=True, slots=True)
class Layer:
    """The parts of a layer; a norm is before its part in T5, and behind it in BART."""

    own: Linear  # queries, keys and values
    own_out: Linear
    query: Linear  # of what is looked for in the source
    source: Linear  # keys and values of the source
    source_out: Linear
    inner: Map
    norms: tuple[Map, Map, Map]


class Decoder(ABC):
    """A decoder of d states in a heads; `before` says whether norms are before their parts."""

    before: bool
    scale: float | None  # of products of queries and keys; None for 1 / √e

    def __init__(self, network: Any, heads: int, layers: Sequence[Layer]) -> None:
        self.network, self.heads, self.layers = network, heads, layers

    @abstractmethod
    def embedded(self, tokens: Tensor, place: int) -> Tensor:
        """The states of tokens [r] at a place, [r, d]."""

    @abstractmethod
    def bias(self, place: int) -> Tensor | None:
        """What is added to the products of a query at a place with all keys up to it, [1, a, 1, place + 1]."""

    @abstractmethod
    def logits(self, states: Tensor) -> Tensor:
        """The scores of all tokens, [r, v]."""


class Bart(Decoder):
    """BART: places are learned, norms are behind their parts."""

    before, scale = False, None

    def __init__(self, network: Any) -> None:
        self.decoder = network.model.decoder
        super().__init__(network, network.config.decoder_attention_heads, [_bart(each) for each in self.decoder.layers])

    def embedded(self, tokens: Tensor, place: int) -> Tensor:
        """Tokens and the place, through a norm."""
        places = self.decoder.embed_positions
        states: Tensor = self.decoder.layernorm_embedding(
            self.decoder.embed_tokens(tokens) + places.weight[place + places.offset]
        )
        return states

    def bias(self, place: int) -> None:
        """Nothing: places are in the states."""

    def logits(self, states: Tensor) -> Tensor:
        """The scores of all tokens."""
        found: Tensor = self.network.lm_head(states) + self.network.final_logits_bias
        return found


def _bart(layer: Any) -> Layer:
    own, other = layer.self_attn, layer.encoder_attn
    return Layer(
        Linear.of(own.q_proj, own.k_proj, own.v_proj),
        Linear.of(own.out_proj),
        Linear.of(other.q_proj),
        Linear.of(other.k_proj, other.v_proj),
        Linear.of(other.out_proj),
        lambda states: layer.fc2(layer.activation_fn(layer.fc1(states))),
        (layer.self_attn_layer_norm, layer.encoder_attn_layer_norm, layer.final_layer_norm),
    )


class T5(Decoder):
    """T5: places are a bias of the attention, which all layers share; norms are before their parts."""

    before, scale = True, 1.0

    def __init__(self, network: Any) -> None:
        self.decoder = network.decoder
        super().__init__(network, network.config.num_heads, [_t5(each) for each in self.decoder.block])
        self.places = self.decoder.block[0].layer[0].SelfAttention
        self.known: dict[int, Tensor] = {}
        scaled = getattr(network.config, "scale_decoder_outputs", network.config.tie_word_embeddings)
        self.factor = network.config.d_model**-0.5 if scaled else 1.0

    def embedded(self, tokens: Tensor, place: int) -> Tensor:
        """Tokens alone."""
        states: Tensor = self.decoder.embed_tokens(tokens)
        return states

    def bias(self, place: int) -> Tensor:
        """The bias of each distance."""
        if place not in self.known:
            far = torch.arange(-place, 1, device=self.places.q.weight.device)  # [t]
            buckets = self.places._relative_position_bucket(
                far,
                bidirectional=False,
                num_buckets=self.places.relative_attention_num_buckets,
                max_distance=self.places.relative_attention_max_distance,
            )
            self.known[place] = self.places.relative_attention_bias(buckets).T[None, :, None]  # [1, a, 1, t]
        return self.known[place]

    def logits(self, states: Tensor) -> Tensor:
        """The scores of all tokens."""
        found: Tensor = self.network.lm_head(self.decoder.final_layer_norm(states) * self.factor)
        return found


def _t5(block: Any) -> Layer:
    first, second, third = block.layer
    own, other = first.SelfAttention, second.EncDecAttention
    return Layer(
        Linear.of(own.q, own.k, own.v),
        Linear.of(own.o),
        Linear.of(other.q),
        Linear.of(other.k, other.v),
        Linear.of(other.o),
        third.DenseReluDense,
        (first.layer_norm, second.layer_norm, third.layer_norm),
    )


class Fast:
    """Where a decoder is; below, r = rows, w = rows of a document, a = heads, e = size of a head."""

    def __init__(self, decoder: Decoder, source: Tensor, mask: Tensor) -> None:
        self.decoder, self.place = decoder, 0
        states = encoded(decoder.network, source, mask)  # [b, n, d]
        self.mask = (1.0 - mask.to(states.dtype))[:, None, None] * torch.finfo(states.dtype).min  # [b, 1, 1, n]
        self.source = [self._split(layer.source(states)) for layer in decoder.layers]  # keys and values [b, a, n, e]
        self.past = states.new_empty(0)  # [r, layers, 2, a, room, e]
        self.spare = self.past  # as large: what is chosen of the past goes there, and the two change places

    def _split(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """[b, n, 2 · d] as two [b, a, n, e], each of them in one piece: else every step would copy them."""
        keys, values = states.unflatten(2, (2, self.decoder.heads, -1)).unbind(2)  # [b, n, a, e]
        return keys.transpose(1, 2).contiguous(), values.transpose(1, 2).contiguous()

    def step(self, last: Tensor) -> Tensor:
        """The scores of the next token [r, v] after these [r]."""
        decoder, rows = self.decoder, len(last)
        self._make_room(rows)
        states = decoder.embedded(last, self.place)  # [r, d]
        bias = decoder.bias(self.place)
        for at, layer in enumerate(decoder.layers):
            parts = (self._own, self._other, self._inner)
            for part, norm in zip(parts, layer.norms, strict=True):
                if decoder.before:
                    states = states + part(at, norm(states), bias)
                else:
                    states = norm(states + part(at, states, bias))
        self.place += 1
        return decoder.logits(states)

    def _own(self, at: int, states: Tensor, bias: Tensor | None) -> Tensor:
        """What rows find in their own past."""
        layer, heads, rows = self.decoder.layers[at], self.decoder.heads, len(states)
        new = layer.own(states).view(rows, 3, heads, -1)  # [r, 3, a, e]
        self.past[:, at, :, :, self.place] = new[:, 1:]
        keys, values = self.past[:, at, :, :, : self.place + 1].unbind(1)  # [r, a, t, e]
        found = functional.scaled_dot_product_attention(
            new[:, 0, :, None], keys, values, bias, scale=self.decoder.scale
        )  # [r, a, 1, e]
        return layer.own_out(found.reshape(rows, -1))

    def _other(self, at: int, states: Tensor, _bias: Tensor | None) -> Tensor:
        """What rows find in the source; those of a document look at one memory."""
        layer, heads = self.decoder.layers[at], self.decoder.heads
        keys, values = self.source[at]  # [b, a, n, e]
        query = layer.query(states).view(len(keys), -1, heads, keys.shape[3]).transpose(1, 2)  # [b, a, w, e]
        scale = keys.shape[3] ** -0.5 if self.decoder.scale is None else self.decoder.scale
        if query.shape[2] == 1:  # one row of each document: as measured, twice as quick as below
            shares = (torch.matmul(query * scale, keys.transpose(2, 3)) + self.mask).softmax(3)  # [b, a, 1, n]
            found = torch.matmul(shares, values)  # [b, a, 1, e]
        else:
            found = functional.scaled_dot_product_attention(query, keys, values, self.mask, scale=scale)
        return layer.source_out(found.transpose(1, 2).reshape(len(states), -1))

    def _inner(self, at: int, states: Tensor, _bias: Tensor | None) -> Tensor:
        return self.decoder.layers[at].inner(states)

    def _make_room(self, rows: int) -> None:
        """Doubles the room for the past where there is none left."""
        if not self.place:
            keys, _ = self.source[0]
            self.past = keys.new_empty(rows, len(self.source), 2, keys.shape[1], ROOM, keys.shape[3])
        elif self.place == self.past.shape[4]:
            self.past = torch.cat([self.past, torch.empty_like(self.past)], 4)

    def choose(self, rows: Tensor, documents: Tensor | None = None) -> None:
        """Goes on with these rows, and these documents where some are left."""
        if len(rows) != len(self.past) or not torch.equal(rows, torch.arange(len(rows), device=rows.device)):
            if self.spare.shape[1:] != self.past.shape[1:] or len(self.spare) < len(rows):
                self.spare = self.past.new_empty(len(rows), *self.past.shape[1:])
            chosen = self.spare[: len(rows)]
            torch.index_select(self.past, 0, rows, out=chosen)
            self.past, self.spare = chosen, self.past
        if documents is not None:
            self.mask = self.mask[documents]
            self.source = [(keys[documents], values[documents]) for keys, values in self.source]


FAMILIES: dict[str, Callable[[Any], Decoder]] = {"BartForConditionalGeneration": Bart, "T5ForConditionalGeneration": T5}


def steps_of(network: Any) -> Callable[[Tensor, Tensor], Steps]:
    """What makes the steps of a network for sources and their mask: those of its family, or its own code.

    The steps of a family are taken only where they give what the network's own code gives.
    """
    make = FAMILIES.get(type(network).__name__)
    if make is None:
        return lambda source, mask: Cached(network, source, mask)
    with torch.inference_mode():
        decoder = make(network)
        if not _agrees(network, decoder):
            return lambda source, mask: Cached(network, source, mask)

    def steps(source: Tensor, mask: Tensor) -> Steps:
        with torch.inference_mode():
            return Fast(decoder, source, mask)

    return steps


def _agrees(network: Any, decoder: Decoder) -> bool:
    """Whether two steps of a decoder give the logits of its network's own code."""
    device = next(network.parameters()).device
    source, mask = (
        torch.tensor([[3, 4, 5], [5, 3, 3]], device=device),
        torch.tensor([[1, 1, 1], [1, 1, 0]], device=device),
    )
    both = Fast(decoder, source, mask), Cached(network, source, mask)
    for last in (torch.tensor([1, 2], device=device), torch.tensor([4, 3], device=device)):
        one, two = (each.step(last).float() for each in both)
        if not torch.allclose(one, two, atol=CLOSE, rtol=CLOSE):
            return False
        for each in both:
            each.choose(torch.tensor([0, 1], device=device))
    return True
