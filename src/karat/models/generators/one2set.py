"""A Transformer that writes keyphrases in parallel slots, One2Set.

Ye, Gui, Luo, Xu and Zhang, "One2Set: Generating Diverse Keyphrases as a Set", ACL 2021. Each slot has a code, which is
added to all that its decoder reads; the first half of the slots writes present phrases, the other half absent ones, and
a slot without a phrase writes `<null>`. Which phrase a slot learns is found anew in each step: that which it is the
most likely to write.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn

from karat.models.generators.base import Batch, State, in_table
from karat.models.generators.examples import Examples
from karat.models.generators.settings import One2SetShape
from karat.models.generators.transformer import Transformer
from karat.models.generators.words import BOS, EOS, NULL, PAD, parted_target

NULL_PRESENT, NULL_ABSENT = 0.2, 0.1  # weights of `<null>` in the loss


class One2Set(Transformer):
    """A Transformer with s slots; below, k = the most phrases of a document, m = their most words."""

    shape: One2SetShape

    def __init__(self, shape: One2SetShape, words: int, written: int) -> None:
        super().__init__(shape, words, written)
        self.slots, self.length = shape.slots, shape.length
        self.codes = nn.Parameter(torch.randn(shape.slots, shape.size))  # as long as embedded words
        weights = torch.tensor([NULL_PRESENT, NULL_ABSENT]).repeat_interleave(shape.slots // 2)  # [s]
        self.register_buffer("weights", weights, persistent=False)
        self.weights: Tensor

    # ------------------------------------------------------------------------------------------ writing

    def encode(self, batch: Batch) -> State:
        """The documents of a batch: a row for each slot."""
        state = super().encode(batch)
        past = {name: each.repeat_interleave(self.slots, 0) for name, each in state.past.items()}
        return State(state.memory, past | {"code": self.codes.repeat(len(batch.source), 1)})  # code: [b · s, d]

    def step(self, state: State, last: Tensor) -> tuple[Tensor, State]:
        """(the probabilities of the next word [r, written + l], the state after)."""
        states, state = self.after(state, last)
        return self.probabilities(states, state.memory), state

    def after(self, state: State, last: Tensor) -> tuple[Tensor, State]:
        """(decoder states [r, d] after a word of each row, the state after)."""
        code = state.past["code"]  # [r, d]
        inputs = self.embedded(last[:, None], state.past["keys0"].shape[2]) + code[:, None]  # [r, 1, d]
        states, past = self.layers(inputs, state.memory, state.past)
        return states[:, 0], State(state.memory, past | {"code": code})

    # ------------------------------------------------------------------------------------------ learning

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(the summed negative log-probability of the slots' targets, that of `<null>` weighted; their number)."""
        phrases = Phrases.of(batch.targets, self.slots, self.length)
        rows = torch.full((len(batch.source) * self.slots,), BOS, device=batch.source.device)  # [b · s]
        begun, state = self.after(self.encode(batch), rows)  # [b · s, d]: states of which the first words are written
        return self.loss_at(self.assigned(begun, state, phrases), begun, state.memory, phrases)

    @torch.no_grad()
    def assigned(self, begun: Tensor, state: State, phrases: Phrases) -> Tensor:
        """The slot of each phrase [b, k]: each slot writes the two words that it is most likely to write."""
        own = state.memory["own"]
        first = self.probabilities(begun, state.memory).unflatten(0, (len(own), -1))  # [b, s, v]
        words = in_table(first.argmax(2), own, self.written).flatten()  # [b · s]
        second = self.step(state, words)[0].view_as(first)  # [b, s, v]
        scores = torch.zeros(first.shape[:2] + phrases.words.shape[1:2], device=first.device)  # [b, s, k]
        for shares, wanted in zip((first, second), phrases.words.unbind(2), strict=False):
            scores += shares.gather(2, wanted[:, None].expand_as(scores))
        return torch.from_numpy(assign(scores.cpu().numpy(), phrases)).to(words.device)

    def loss_at(
        self, slot: Tensor, begun: Tensor, memory: dict[str, Tensor], phrases: Phrases
    ) -> tuple[Tensor, Tensor]:
        """The loss where each phrase has its slot: the first words of all slots, then the others of those with one."""
        words = phrases.words  # [b, k, m]
        document, number = (words[:, :, 0] != PAD).nonzero(as_tuple=True)
        firsts = torch.full((len(words), self.slots), NULL, device=words.device)  # [b, s]
        firsts[document, slot[document, number]] = words[document, number, 0]
        found = self.log_probabilities_at(begun.unflatten(0, firsts.shape), firsts, memory)  # [b, s]
        total = (found * torch.where(firsts == NULL, self.weights, 1.0)).sum()
        before = torch.cat([torch.full_like(words[:, :, :1], BOS), words[:, :, :-1]], 2).flatten(1)  # [b, k · m]
        inputs = self.embedded(in_table(before, memory["own"], self.written).view(-1, words.shape[2]))  # [b · k, m, d]
        states, _ = self.layers(inputs + self.codes[slot].flatten(0, 1)[:, None], memory)
        others = torch.cat([torch.full_like(words[:, :, :1], PAD), words[:, :, 1:]], 2).flatten(1)  # [b, k · m]
        found = self.log_probabilities_at(states.reshape(*others.shape, -1), others, memory)
        return -total - found.sum(), (others != PAD).sum() + firsts.numel()

    def notes(self, examples: Examples) -> Iterator[str]:
        """How many documents have more phrases than slots, or longer ones."""
        many = long = 0
        for row in range(len(examples)):
            halves = parted_target(examples.example(row).target.tolist())
            many += max(map(len, halves)) > self.slots // 2
            long += any(len(phrase) > self.length for half in halves for phrase in half)
        if many:
            half = self.slots // 2
            yield f"{many:,} documents have more present or absent phrases than slots: {half} of each are learned"
        if long:
            yield f"{long:,} documents have phrases of more than {self.length} words, of which the rest is cut off"


class Phrases(NamedTuple):
    """The phrases of some documents, present ones first, `<eos>` behind those that are shorter than a slot."""

    words: Tensor  # [b, k, m] numbers for copying
    present: list[int]  # [b] how many
    absent: list[int]

    @classmethod
    def of(cls, targets: Tensor, slots: int, length: int) -> Phrases:
        """The phrases of targets [b, t]: as many as there are slots, and so long that they fit."""
        halves = [parted_target(target) for target in targets.tolist()]
        cut = [[[*each, EOS][:length] for half in both for each in half[: slots // 2]] for both in halves]
        size = (len(cut), max(1, *map(len, cut)), max([1, *(len(each) for found in cut for each in found)]))
        words = np.full(size, PAD, dtype=np.int64)
        for at, found in enumerate(cut):
            for number, each in enumerate(found):
                words[at, number, : len(each)] = each
        counts = ([min(len(both[half]), slots // 2) for both in halves] for half in (0, 1))
        return cls(torch.from_numpy(words).to(targets.device), *counts)


def assign(scores: NDArray[np.float32], phrases: Phrases) -> NDArray[np.int64]:
    """The slot of each phrase [b, k] such that the scores [b, s, k] add up to the most, 0 where there is no phrase.

    Present phrases are in the first half of the slots, absent ones in the other.
    """
    half = scores.shape[1] // 2
    found = np.zeros((len(scores), scores.shape[2]), dtype=np.int64)
    for at, (present, absent) in enumerate(zip(phrases.present, phrases.absent, strict=True)):
        for first, begin, end in ((0, 0, present), (half, present, present + absent)):
            some = np.nan_to_num(scores[at, first : first + half, begin:end])  # the loss tells of what is no number
            slots, columns = linear_sum_assignment(some, maximize=True)
            found[at, begin + columns] = first + slots
    return found
