"""Writing or copying: P(word) = g · P(written) + (1 − g) · (the attention on its places in the source)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from karat.models.generators.words import PAD

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


def log_probabilities_of(
    targets: Tensor,
    copied: Tensor,
    attention: Tensor,
    mixture: Callable[..., tuple[Tensor, Tensor]],
    *parts: Tensor,
) -> Tensor:
    """The log-probabilities of targets [b, m], 0 where there is none: from here on, padding costs nothing.

    `copied` is [b, n], `attention` [b, m, n]; `mixture` gives (logits [k, w], gate [k]) of the `parts` [b, m, ...].
    """
    row, place = (targets != PAD).nonzero(as_tuple=True)  # [k]
    logits, gate = mixture(*(part[row, place] for part in parts))
    shares = attention[row, place].float()  # [k, n]
    found = log_probability_of(targets[row, place], logits.float(), gate.float(), shares, copied[row])  # [k]
    return found.new_zeros(targets.shape).index_put((row, place), found)


def distribution(logits: Tensor, gate: Tensor, attention: Tensor, copied: Tensor, own: int) -> Tensor:
    """The probabilities of the extended vocabulary [b · w, v + own]; `own` is how many words are beyond the head.

    `logits` [b · w, v], `gate` [b · w], `attention` [b, w, n]; `copied` [b, n] is the same for all rows of a document.
    """
    write = torch.sigmoid(gate)[:, None]  # [b · w, 1]
    whole = functional.pad(functional.softmax(logits, dim=1) * write, (0, own))  # [b · w, v + own]
    places = copied[:, None].expand(attention.shape).flatten(0, 1)  # [b · w, n]
    return whole.scatter_add_(1, places, attention.flatten(0, 1) * (1 - write))
