"""Additive attention that knows what it has looked at (Tu and others, ACL 2016; Bahdanau and others, ICLR 2015):

    scores[t, n] = v · tanh(query[t] + key[n] + coverage[t, n] · w)
    coverage[t]  = attention[0] + ... + attention[t - 1]

A place needs the attention of those before it, so that they go one after the other; the gradient is written out, and
of it only numbers [n] go back from place to place: what is as large as [m, n, h] is computed for all places at once.
As in `additive`, tanh(x) = 2 · sigmoid(2x) - 1, and each document is computed alone, without its padding.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function


def covered_attention(
    queries: Tensor, keys: Tensor, energy: Tensor, weight: Tensor, lengths: list[int], counts: list[int]
) -> Tensor:
    """Shares [b, m, n] of queries [b, m, h] and keys [b, n, h]; `energy` is v [h], `weight` w [h].

    A document has `counts` queries and `lengths` keys; the shares of others are 0.
    """
    queries, keys = (each.to(energy.dtype) for each in (queries, keys))
    with torch.autocast(energy.device.type, enabled=False):
        found: Tensor = _Covered.apply(queries, keys, energy, weight, lengths, counts)
    return found


class _Covered(Function):
    @staticmethod
    def forward(
        context: Any,
        queries: Tensor,
        keys: Tensor,
        energy: Tensor,
        weight: Tensor,
        lengths: list[int],
        counts: list[int],
    ) -> Tensor:
        found = queries.new_zeros(len(queries), queries.shape[1], keys.shape[1])
        right, doubled = 2 * keys, 2 * energy
        left = torch.stack([2 * queries, (2 * weight).expand_as(queries)], 2)  # [b, m, 2, h]
        inner = []
        for at, (n, m) in enumerate(zip(lengths, counts, strict=True)):
            both = queries.new_empty(m, n, len(energy))
            before = torch.tensor([1.0, 0.0], dtype=keys.dtype, device=keys.device).repeat(n, 1)  # [n, 2]: 1, coverage
            own, coverage, shares = right[at, :n], before[:, 1], found[at, :, :n]
            for t in range(m):
                torch.addmm(own, before, left[at, t], out=both[t]).sigmoid_()  # [n, h]
                torch.softmax(both[t] @ doubled, 0, out=shares[t])
                coverage += shares[t]
            inner.append(both)
        context.save_for_backward(found, energy, weight, *inner)
        context.shapes = queries.shape, keys.shape
        return found

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        found, energy, weight, *inner = context.saved_tensors
        of_queries, of_keys = (energy.new_zeros(shape) for shape in context.shapes)
        of_energy, of_weight = torch.zeros_like(energy), torch.zeros_like(weight)
        for at, both in enumerate(inner):
            m, n, _ = both.shape
            shares = found[at, :m, :n]  # [m, n]
            slope = torch.addcmul(both, both, both, value=-1).mul_(4)  # [m, n, h]: 1 - tanh²
            scores = _back(gradient[at, :m, :n], shares, slope @ (energy * weight))  # [m, n]
            of_energy += 2 * (scores.reshape(-1) @ both.flatten(0, 1)) - scores.sum()
            slope *= scores[:, :, None]
            coverage = shares.cumsum(0) - shares  # [m, n]
            of_weight += coverage.reshape(-1) @ slope.flatten(0, 1)
            of_queries[at, :m] = slope.sum(1)
            of_keys[at, :n] = slope.sum(0)
        return of_queries * energy, of_keys * energy, of_energy, of_weight * energy, None, None


def _back(gradient: Tensor, shares: Tensor, covering: Tensor) -> Tensor:
    """The gradient of the scores [m, n], of that of the shares and of how much coverage changes each score."""
    scores = torch.empty_like(shares)
    later = torch.zeros_like(shares[0])  # of the coverage, by the places after this one
    for t in range(len(shares) - 1, -1, -1):
        change = shares[t] * (gradient[t] + later)
        torch.addcmul(change, shares[t], change.sum(), value=-1, out=scores[t])
        later = torch.addcmul(later, scores[t], covering[t])
    return scores
