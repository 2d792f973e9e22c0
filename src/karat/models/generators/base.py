"""What a generator is for training and decoding: `encode`, `step`, `reorder`, and a loss.

A state has the memory of each document, and the past of each row. Greedy decoding has a row for each document, a beam
as many as it is wide, sampling one for each sample; a model with parallel slots has one for each slot and reads the
slot's code in `step` at first; one with a level of phrases above that of words keeps the phrase's state in `past` and
moves it on where the last word was a separator. `step` is differentiable, so that what was sampled can be rewarded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from karat.models.generators.examples import Arrays, Examples
from karat.models.generators.words import PAD, Words


class Batch(NamedTuple):
    """Examples as tensors; without targets where there is nothing to learn."""

    source: Tensor  # [b, n] numbers in the table
    copied: Tensor  # [b, n] numbers for copying
    own: Tensor  # [b, l] numbers in the table of the words beyond the head
    inputs: Tensor  # [b, m] what is written before each target, as numbers in the table
    targets: Tensor  # [b, m] numbers for copying

    @property
    def mask(self) -> Tensor:
        """Which tokens of the source are there, [b, n]."""
        return self.source != PAD

    @classmethod
    def of(cls, arrays: Arrays, device: str | torch.device = "cpu") -> Batch:
        """The examples on a device."""
        return cls(*(torch.from_numpy(each).to(device, torch.int64) for each in arrays))


def in_table(numbers: Tensor, own: Tensor, written: int) -> Tensor:
    """Numbers for copying [b, m] as numbers in the table."""
    if not own.shape[1]:
        return numbers
    return torch.where(numbers < written, numbers, own.gather(1, (numbers - written).clamp(min=0)))


@dataclass(frozen=True, slots=True)
class State:
    """Where decoding is. The rows of a document are beside each other, and each document has as many."""

    memory: dict[str, Tensor]  # what is known of each document, [b, ...]
    past: dict[str, Tensor]  # what was written in each row, [r, ...]


class Generator(nn.Module):
    """A model that writes. Words are numbers for copying: below `written` the head, above it a document's."""

    written: int
    exclusive: int = 0  # phrases whose first words are not written again as a first word, unless decoding says else
    slots: int = 0  # rows that each document has, of a model that writes its phrases beside each other
    length: int = 0  # words of a slot

    def notes(self, examples: Examples) -> Iterator[str]:
        """What is to be said of learning from these examples."""
        yield from ()

    def know(self, words: Words) -> None:
        """Is called once with the table of words, for a model that looks for certain ones."""

    def tensors(self) -> dict[str, Tensor]:
        """What is saved of it, by name; a weight that has two names is there once."""
        return self.state_dict()

    def optimiser(self, learning: Any) -> torch.optim.Optimizer:
        """What changes its weights, of which Adam and those with a method `shapes` can be saved."""
        return torch.optim.Adam(self.parameters(), learning.rate, fused=True)

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(the summed negative log-probability of all targets, how many there are)."""
        found = self.log_probabilities(batch)
        return -found.sum(), (batch.targets != PAD).sum()

    def log_probabilities(self, batch: Batch) -> Tensor:
        """The log-probability of each target given those before it, [b, m]; 0 where there is none."""
        raise NotImplementedError

    def encode(self, batch: Batch) -> State:
        """The documents of a batch, before anything is written: one row for each."""
        raise NotImplementedError

    def step(self, state: State, last: Tensor) -> tuple[Tensor, State]:
        """(the probabilities of the next word [r, written + l], the state after); `last` [r] is in the table."""
        raise NotImplementedError

    def reorder(self, state: State, rows: Tensor, documents: Tensor | None = None) -> State:
        """The state of these rows, and of these documents; without `documents`, of the same ones."""
        memory = state.memory
        if documents is not None:
            memory = {name: each.index_select(0, documents) for name, each in memory.items()}
        return State(memory, {name: each.index_select(0, rows) for name, each in state.past.items()})
