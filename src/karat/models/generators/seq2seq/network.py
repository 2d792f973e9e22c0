"""A pretrained network with an encoder and a decoder as a generator: its loss, and what changes its weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from karat.models.generators.base import Generator
from karat.models.generators.examples import Ints
from karat.models.generators.seq2seq.settings import Seq2SeqLearning
from karat.models.generators.sm3 import SM3

NO_LABEL = -100  # where there is no target: nothing is learned there


class Pairs(NamedTuple):
    """Documents and what is to be written of them."""

    source: Tensor  # [b, n] tokens
    mask: Tensor  # [b, n] which of them are there
    inputs: Tensor  # [b, m] what is written before each target
    targets: Tensor  # [b, m] tokens, `NO_LABEL` behind the last one

    @classmethod
    def of(cls, sources: Sequence[Ints], targets: Sequence[Ints], start: int, pad: int, device: torch.device) -> Pairs:
        """Documents and targets beside each other; padding is masked, and is none of the labels."""
        source, mask = padded(sources, pad)
        labels, there = padded(targets, pad)
        before = np.concatenate([np.full((len(labels), 1), start), labels[:, :-1]], axis=1)
        labels[~there] = NO_LABEL
        return cls(*(torch.from_numpy(each).to(device) for each in (source, mask.astype(np.int64), before, labels)))


def padded(rows: Sequence[Ints], pad: int) -> tuple[Any, Any]:
    """(rows beside each other, filled up [b, n]; what is not filled up)."""
    longest = max(map(len, rows))
    found = np.full((len(rows), longest), pad, dtype=np.int64)
    for at, row in enumerate(rows):
        found[at, : len(row)] = row
    return found, np.arange(longest) < np.array([len(row) for row in rows])[:, None]


class Seq2Seq(Generator):
    """A network of transformers that learns."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network: Any = network

    def tensors(self) -> dict[str, Tensor]:
        """All weights and buffers, those that have two names once."""
        shared = {name for name, _ in self.named_parameters(remove_duplicate=False)}
        own = {name for name, _ in self.named_parameters()}
        return {name: each for name, each in self.state_dict().items() if name in own or name not in shared}

    def optimiser(self, learning: Seq2SeqLearning) -> torch.optim.Optimizer:
        """Adam with decay of all weights but those of norms and biases, or SM3."""
        if learning.optimiser == "sm3":
            return SM3(self.parameters(), learning.rate)
        plain = set(self._undecayed())
        parts: dict[bool, list[Tensor]] = {True: [], False: []}
        for name, parameter in self.named_parameters():
            parts[name not in plain].append(parameter)
        groups = [
            {"params": some, "weight_decay": learning.decay if decays else 0.0}
            for decays, some in parts.items()
            if some
        ]
        return torch.optim.AdamW(groups, learning.rate, fused=True)

    def _undecayed(self) -> Iterator[str]:
        """The names of biases and of all weights of norms."""
        for name, module in self.named_modules():
            norm = "norm" in type(module).__name__.lower()
            for own, _ in module.named_parameters(recurse=False):
                if norm or own == "bias":
                    yield f"{name}.{own}"

    def loss(self, batch: Pairs) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """(the summed negative log-probability of all labels, how many there are)."""
        logits = self.network(
            input_ids=batch.source,
            attention_mask=batch.mask,
            decoder_input_ids=batch.inputs,
            use_cache=False,
            return_dict=True,
        ).logits
        found = functional.cross_entropy(
            logits.float().flatten(0, 1), batch.targets.flatten(), ignore_index=NO_LABEL, reduction="sum"
        )
        return found, (batch.targets != NO_LABEL).sum()
