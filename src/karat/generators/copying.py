"""Writing or copying: P(word) = g · P(written) + (1 − g) · (the attention on its places in the source)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

TINY = 1e-20  # so that a word that is nowhere has a logarithm


def log_probability_of(targets: Tensor, logits: Tensor, gate: Tensor, attention: Tensor, copied: Tensor) -> Tensor:
    """The log-probability of each target alone, without the distribution over the extended vocabulary.

    `targets` [k], `logits` of the head [k, w], `gate` [k] (its sigmoid is g), `attention` and `copied` [k, n].
    """
    there = targets < logits.shape[1]  # [k]
    chosen = logits.gather(1, torch.where(there, targets, 0)[:, None])[:, 0]  # [k]
    written = functional.logsigmoid(gate) + (chosen - logits.logsumexp(1))  # [k]
    mass = (attention * (copied == targets[:, None])).sum(1)  # [k]
    found = functional.logsigmoid(-gate) + (mass + TINY).log()  # [k]
    return torch.where(there, torch.logaddexp(written, found), found)


def log_distribution(logits: Tensor, gate: Tensor, attention: Tensor, copied: Tensor, own: int) -> Tensor:
    """The log-probabilities of the extended vocabulary [k, w + own]; `own` is how many words are beyond the head."""
    write = torch.sigmoid(gate)[:, None]  # [k, 1]
    head = functional.softmax(logits, dim=1) * write  # [k, w]
    whole = torch.cat([head, head.new_zeros(len(head), own)], 1)  # [k, w + own]
    return whole.scatter_add_(1, copied, attention * (1 - write)).add_(TINY).log()
