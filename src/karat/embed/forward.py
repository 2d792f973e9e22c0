"""The forward pass of BERT and its kin, written for many short texts.

Nothing is padded: the tokens of a batch stand in one matrix, text after text, and only attention asks where a text
ends. All other products are made ROWS rows at a time, the last of them filled up: a matrix product may choose its order
of adding by its shape, so with one shape a text has the same vectors, to the last bit, in any company.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

ROWS = 128  # measured: fewer cost speed, and with more a single text waits for rows that are not needed
KIN = ("BertLayer", "RobertaLayer", "XLMRobertaLayer", "CamembertLayer")  # layers of one and the same form


@dataclass(frozen=True, slots=True)
class Affine:
    """A product and what is added to it."""

    weight: Any  # [from, to]
    bias: Any  # [to]


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer's weights, as they are used here.

    Keys need no bias, since it would add the same to all that a query is compared with; and that of values, of which
    each token takes shares that add up to 1, is in the bias of the answer.
    """

    asking: Any  # makes queries, keys and values, side by side, [d, 3 d]
    asking_bias: Any  # of queries, [heads, 1, width]
    answer: Affine
    answer_norm: Any
    inner: Affine
    activation: Any
    outer: Affine
    outer_norm: Any


@dataclass(frozen=True, slots=True)
class Kin:
    """What is kept of a network of BERT's kind: what makes vectors of token ids, and its layers."""

    embeddings: Any
    layers: tuple[Layer, ...]


def kin_of(network: Any, layers: int) -> Kin | None:
    """The first layers of a network of BERT's kind, None for any other network."""
    import torch

    found = getattr(getattr(network, "encoder", None), "layer", None)
    if not isinstance(found, torch.nn.ModuleList) or any(type(layer).__name__ not in KIN for layer in found):
        return None
    if getattr(network.config, "position_embedding_type", "absolute") not in (None, "absolute"):
        return None
    with torch.inference_mode():
        return Kin(network.embeddings, tuple(_layer(layer, torch) for layer in found[:layers]))


def _layer(layer: Any, torch: Any) -> Layer:
    own, out = layer.attention.self, layer.attention.output
    scale = own.attention_head_size**-0.5  # of the scores of tokens for each other, taken from the queries here
    asking = torch.cat([own.query.weight * scale, own.key.weight, own.value.weight])
    answer = _affine(out.dense)
    return Layer(
        asking.t().contiguous(),
        (own.query.bias * scale).view(own.num_attention_heads, 1, -1),
        Affine(answer.weight, answer.bias + own.value.bias @ answer.weight),
        out.LayerNorm,
        _affine(layer.intermediate.dense),
        layer.intermediate.intermediate_act_fn,
        _affine(layer.output.dense),
        layer.output.LayerNorm,
    )


def _affine(linear: Any) -> Affine:
    return Affine(linear.weight.t().contiguous(), linear.bias.clone())


def forward(kin: Kin, ids: Sequence[Sequence[int]]) -> Any:
    """The vectors of all tokens, text after text, [tokens, d]; texts of equal length stand together."""
    import torch

    groups = [torch.tensor(list(group)) for _, group in groupby(ids, key=len)]  # [texts, tokens] each
    sizes = [group.numel() for group in groups]
    count = sum(sizes)
    with torch.inference_mode():
        embedded = torch.cat([kin.embeddings(input_ids=group).flatten(0, 1) for group in groups])  # [tokens, d]
        tokens = embedded.new_zeros(-(-count // ROWS) * ROWS, embedded.shape[1])  # [rows, d]
        tokens[:count] = embedded
        projected, answers = tokens.new_empty(len(tokens), 3 * tokens.shape[1]), torch.zeros_like(tokens)
        parts = torch.split(tokens, ROWS)
        for layer in kin.layers:
            for part, own in zip(parts, torch.split(projected, ROWS), strict=True):
                torch.mm(part, layer.asking, out=own)
            split = torch.split(projected[:count], sizes), torch.split(answers[:count], sizes)
            for group, own, taken in zip(groups, *split, strict=True):
                _attend(layer, own.view(*group.shape, -1), taken.view(*group.shape, -1))
            both = zip(parts, torch.split(answers, ROWS), strict=True)
            parts = tuple(_through(layer, part, taken) for part, taken in both)
        return torch.cat(parts)[:count]


def _attend(layer: Layer, projected: Any, answers: Any) -> None:
    """Fills in what the tokens of a text take from each other, [texts, tokens, 3 d] → [texts, tokens, d]."""
    heads, _, width = layer.asking_bias.shape
    parted = projected.unflatten(2, (3, heads, width)).permute(2, 0, 3, 1, 4)  # [3, texts, heads, tokens, width]
    queries = (parted[0] + layer.asking_bias).flatten(0, 1)  # [texts · heads, tokens, width]
    keys, values = parted[1:].flatten(1, 2)  # as the queries
    # In single steps, since softmax is slow on rows as short as these.
    shares = queries.bmm(keys.transpose(1, 2))  # [texts · heads, tokens, tokens]
    shares.sub_(shares.amax(dim=2, keepdim=True)).exp_()
    shares.div_(shares.sum(dim=2, keepdim=True))
    taken = shares.bmm(values).unflatten(0, (-1, heads))  # [texts, heads, tokens, width]
    answers.unflatten(2, (heads, width)).copy_(taken.transpose(1, 2))


def _through(layer: Layer, tokens: Any, answers: Any) -> Any:
    """The tokens behind a layer, from those before it and what they took from each other, [ROWS, d]."""
    answer = (tokens + layer.answer.bias).addmm_(answers, layer.answer.weight)
    answer = layer.answer_norm(answer)
    inner = layer.activation(layer.inner.bias.addmm(answer, layer.inner.weight))
    return layer.outer_norm((answer + layer.outer.bias).addmm_(inner, layer.outer.weight))
