"""Decoding: greedy, beam, diverse beam and top-k sampling, for any generator.

All of them go step by step with `width` rows for each document. What is chosen is chosen among words that can be
text; scores and probabilities are those that the model gives, unchanged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from karat.errors import InputError
from karat.models.generators.base import Batch, Generator, in_table
from karat.models.generators.words import BOS, EOS, NULL, PAD, PEOS, SEP, TEXT, UNK

Search = Literal["beam", "diverse", "topk"]
WORDLESS = [PAD, UNK, BOS, TEXT]
FORBIDDEN = [*WORDLESS, NULL]
MOST_PENALTY = 1000


@dataclass(frozen=True, slots=True)
class Decoding:
    """How words are chosen: the best at each step (`beam=1`), the best sequences, diverse ones, or drawn ones."""

    search: Search = "beam"
    beam: int = 1  # sequences that are followed, or drawn
    groups: int = 1  # of a diverse beam
    penalty: float = 0.5  # of a word that an earlier group has chosen at the same place
    topk: int = 10  # words that are drawn from
    temperature: float = 1.0
    seed: int = 0
    longest: int = 60  # words of a sequence
    exclusive: int = -1  # phrases whose first words may not be the next phrase's; below 0, as the model has it
    repeats: bool = False  # whether a phrase that is written again is given again

    def __post_init__(self) -> None:
        if min(self.beam, self.groups, self.topk, self.longest) < 1:
            raise InputError("beam, groups, topk and longest are 1 or more")
        if self.beam % self.groups or (self.groups > 1 and self.search != "diverse"):
            raise InputError(f"a diverse beam of {self.beam} cannot be parted into {self.groups} equal groups")
        if not 0 < self.temperature < math.inf:
            raise InputError(f"temperature is more than 0 and finite, not {self.temperature:g}")
        if not 0 <= self.penalty <= MOST_PENALTY:
            raise InputError(f"penalty is from 0 to {MOST_PENALTY}, not {self.penalty:g}")


@dataclass(frozen=True, slots=True)
class Written:
    """A sequence of numbers for copying, `<eos>` last unless it was cut off, and their log-probabilities."""

    words: list[int]
    logs: list[float]
    present: bool | None = None  # of a phrase in a slot: whether the slot is one for present phrases

    @property
    def score(self) -> float:
        """The log-probability of the whole sequence."""
        return sum(self.logs)

    @property
    def mean(self) -> float:
        """The mean log-probability of its words, without that of `<eos>`."""
        logs = self.logs[:-1] if self.words[-1] == EOS else self.logs
        return sum(logs) / len(logs)


@torch.no_grad()
def decode(model: Generator, batch: Batch, how: Decoding) -> list[list[Written]]:
    """The sequences of each document, the best first: by log-probability a word, which does not favour short ones."""
    if model.training:
        raise ValueError("a model in training drops out; call eval() first")
    return _slots(model, batch, how) if model.slots else _Rows(model, batch, how).run()


def _slots(model: Generator, batch: Batch, how: Decoding) -> list[list[Written]]:
    """The phrases of each document's slots, the best first; a slot that begins with `<null>` has none."""
    check_slots(how)
    slot = torch.arange(model.slots, device=batch.source.device).repeat(len(batch.source), 1)  # [b, w]
    state, last, going = model.encode(batch), torch.full_like(slot, BOS), torch.ones_like(slot, dtype=torch.bool)
    words, logs = slot.new_zeros(*slot.shape, 0), torch.zeros(*slot.shape, 0, device=slot.device)  # [b, w, t]
    done: list[list[tuple[int, Written]]] = [[] for _ in slot]
    steps = min(how.longest, model.length)
    for step in range(steps):
        found, state = model.step(state, in_table(last, batch.own, model.written).flatten())  # [b · w, v]
        found[:, [*FORBIDDEN, SEP, PEOS] if step else [*WORDLESS, SEP, PEOS]] = 0
        best, last = (each.view(slot.shape) for each in found.max(1))  # [b, w]
        words, logs = torch.cat([words, last[:, :, None]], 2), torch.cat([logs, best.log()[:, :, None]], 2)
        ended = going & ((last == EOS) | (last == NULL) | (step == steps - 1))
        for at, row in (ended & (words[:, :, 0] != EOS) & (last != NULL)).nonzero().tolist():
            number = int(slot[at, row])
            phrase = Written(words[at, row].tolist(), logs[at, row].tolist(), number < model.slots // 2)
            done[at].append((number, phrase))
        going = going & ~ended
        width = int(going.sum(1).max())
        if not width:
            break
        if width < slot.shape[1]:  # slots that go on are put first, and as few others as there can be
            kept = (~going).to(torch.int8).argsort(dim=1, stable=True)[:, :width]  # [b, w]
            rows = (kept + torch.arange(len(kept), device=kept.device)[:, None] * slot.shape[1]).flatten()
            state = model.reorder(state, rows)
            slot, last, going = (each.gather(1, kept) for each in (slot, last, going))
            words, logs = (each.flatten(0, 1)[rows].unflatten(0, kept.shape) for each in (words, logs))
    return [[each for _, each in sorted(some, key=lambda pair: (-pair[1].mean, pair[0]))] for some in done]


def check_slots(how: Decoding) -> None:
    """Raises InputError unless words are chosen as slots do."""
    if (how.search, how.beam) != ("beam", 1):
        raise InputError("a model with slots writes the best word of each at every step: leave out search and beam")


class _Rows:
    """The rows that are decoded: `beam` sequences of each document that is still open."""

    def __init__(self, model: Generator, batch: Batch, how: Decoding) -> None:
        self.model, self.how = model, how
        self.device = batch.source.device
        self.open = torch.arange(len(batch.source), device=self.device)  # [b] documents
        every = self.open.repeat_interleave(how.beam)
        self.state = model.reorder(model.encode(batch), every)
        self.scores = torch.zeros(len(batch.source), how.beam, device=self.device)  # [b, w]
        if how.search != "topk":  # at first all rows of a group are the same: one of them goes on
            self.scores.view(len(self.open), how.groups, -1)[:, :, 1:] = -torch.inf
        self.words = torch.zeros(len(every), 0, dtype=torch.int64, device=self.device)  # [b · w, t]
        self.logs = torch.zeros(len(every), 0, device=self.device)
        self.last = torch.full((len(every),), BOS, device=self.device)
        self.done: list[list[Written]] = [[] for _ in self.open]
        self.draws = _draws(batch, how) if how.search == "topk" else None
        window = min(how.exclusive if how.exclusive >= 0 else model.exclusive, how.longest)
        self.firsts = torch.full((len(every), window), PAD, device=self.device)  # [b · w, k] of the last phrases

    def run(self) -> list[list[Written]]:
        """All sequences of all documents."""
        for step in range(self.how.longest):
            if not len(self.open):
                break
            self._step(step)
        self._take(torch.isfinite(self.scores).view(-1))
        ranked = [sorted(found, key=lambda each: -each.score / len(each.words)) for found in self.done]
        return [found[: self.how.beam] for found in ranked]

    def _step(self, step: int) -> None:
        found, state = self.model.step(self.state, self._last_in_table())  # [r, v]
        found[:, FORBIDDEN] = 0
        begins = (self.last == BOS) | (self.last == SEP) | (self.last == PEOS)  # [r]: a phrase
        found.scatter_(1, torch.where(begins[:, None], self.firsts, PAD), 0)
        parents, words = self._drawn(found, step) if self.draws is not None else self._best(found)  # [b, w]
        last, rows = words.reshape(-1), None
        if self.how.beam > 1:
            rows = (parents + torch.arange(len(self.open), device=self.device)[:, None] * self.how.beam).view(-1)
            self.scores, self.words, self.logs = self.scores.view(-1)[rows], self.words[rows], self.logs[rows]
            self.firsts, begins = self.firsts[rows], begins[rows]
            state = self.model.reorder(state, rows)
        logs = (found[rows, last] if rows is not None else found.gather(1, words)[:, 0]).log()
        self.state, self.last = state, last
        if self.firsts.shape[1]:
            first = begins & (last != SEP) & (last != PEOS) & (last != EOS)  # an empty phrase has no first word
            self.firsts = torch.where(first[:, None], torch.cat([self.firsts[:, 1:], last[:, None]], 1), self.firsts)
        self.scores = (self.scores.view(-1) + logs).view(len(self.open), -1)
        self.words = torch.cat([self.words, last[:, None]], 1)
        self.logs = torch.cat([self.logs, logs[:, None]], 1)
        self._take((last == EOS) & torch.isfinite(self.scores).view(-1))
        self._close()

    def _last_in_table(self) -> Tensor:
        """The last word of each row as a number in the table, [r]."""
        own = self.state.memory["own"]
        return in_table(self.last.view(len(own), -1), own, self.model.written).view(-1)

    def _best(self, found: Tensor) -> tuple[Tensor, Tensor]:
        """(the row that each goes on from, its next word), [b, w]: the best of each group, one after the other."""
        if self.how.beam == 1:
            return torch.zeros_like(self.open)[:, None], found.argmax(1)[:, None]
        documents, size = len(self.open), self.how.beam // self.how.groups
        found = found.view(documents, self.how.beam, -1)  # [b, w, v]
        # by how much the logarithm of a word falls, as earlier groups have chosen it, [b, v]
        fallen = torch.zeros_like(found[:, 0]) if self.how.groups > 1 else self.scores
        parents, words = [], []
        for first in range(0, self.how.beam, size):
            some = found[:, first : first + size]  # [b, s, v]
            if first:
                some = some * torch.exp(-fallen)[:, None]
            most, best = some.topk(min(size, some.shape[2]), dim=2)  # [b, s, s]: no row has more among the best
            scores = self.scores[:, first : first + size, None] + most.log()
            place = scores.flatten(1).topk(size, dim=1).indices  # [b, s]
            parents.append(place // best.shape[2] + first)
            words.append(best.flatten(1).gather(1, place))
            if first + size < self.how.beam:
                fallen.scatter_add_(1, words[-1], torch.full_like(words[-1], self.how.penalty, dtype=fallen.dtype))
        return torch.cat(parents, 1), torch.cat(words, 1)

    def _drawn(self, found: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """(each row itself, a word that is drawn from its best ones), [b, w]."""
        assert self.draws is not None
        if self.how.topk < found.shape[1]:
            best, words = found.topk(self.how.topk, dim=1)  # [r, k]
        else:
            best, words = found, torch.arange(found.shape[1], device=self.device).expand(found.shape)
        below = (best.log() / self.how.temperature).softmax(1).cumsum(1)  # [r, k]
        drawn = self.draws[self.open, :, step].reshape(-1, 1)  # [r, 1]
        place = (below < drawn).sum(1, keepdim=True).clamp(max=words.shape[1] - 1)
        parents = torch.arange(self.how.beam, device=self.device).expand(len(self.open), -1)
        return parents, words.gather(1, place).view(len(self.open), -1)

    def _take(self, ended: Tensor) -> None:
        """Keeps the sequences of rows that have ended, which go on no more."""
        for row in ended.nonzero()[:, 0].tolist():
            document = int(self.open[row // self.how.beam])
            self.done[document].append(Written(self.words[row].tolist(), self.logs[row].tolist()))
        self.scores.view(-1)[ended] = -torch.inf

    def _close(self) -> None:
        """Leaves documents that have as many sequences as are wanted, or none that goes on."""
        many = torch.tensor([len(self.done[at]) for at in self.open.tolist()], device=self.device)
        left = ((many < self.how.beam) & torch.isfinite(self.scores).any(1)).nonzero()[:, 0]
        if len(left) == len(self.open):
            return
        rows = (left[:, None] * self.how.beam + torch.arange(self.how.beam, device=self.device)).view(-1)
        self.open, self.scores = self.open[left], self.scores[left]
        self.words, self.logs, self.last = self.words[rows], self.logs[rows], self.last[rows]
        self.firsts = self.firsts[rows]
        self.state = self.model.reorder(self.state, rows, left)


def _draws(batch: Batch, how: Decoding) -> Tensor:
    """Numbers from 0 to 1 for each document, row and step; they follow from the seed and the document alone."""
    found = []
    for source in batch.source.cpu():
        tokens = source[source != PAD]
        mixed = int((tokens * torch.arange(1, len(tokens) + 1)).sum()) * 1_000_003 + len(tokens)
        random = torch.Generator().manual_seed((mixed * 31 + how.seed) % (1 << 62))
        found.append(torch.rand(how.beam, how.longest, generator=random))
    return torch.stack(found).to(batch.source.device)
