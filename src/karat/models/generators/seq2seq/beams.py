"""Greedy and beam search of a network with an encoder and a decoder, as `generate` of transformers does them.

What is found is the same, token for token: a document ends when its best open sequence cannot be better than the worst
of as many ended ones as the beam is wide. Documents that have ended are left at once, and all rows of a document
look at one memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

Early = bool | Literal["never"]
NEVER = -1.0e9  # the score of what may not be chosen
AT_ONCE = 4  # sources that are read at a time


@dataclass(frozen=True, slots=True)
class Search:
    """How sequences are looked for; all but the first two have the names that `generate` gives them in brackets."""

    beam: int = 1  # sequences that are followed
    longest: int = 128  # tokens of a sequence
    penalty: float = 1.0  # the power of the length that scores are divided by [length_penalty]
    early: Early = False  # whether a document ends with its first full beam [early_stopping]
    ngram: int = 0  # tokens of the shortest sequence that is not written twice, 0 for any [no_repeat_ngram_size]


@dataclass(frozen=True, slots=True)
class Marks:
    """Tokens that a network begins, ends and has to write."""

    start: int
    ends: tuple[int, ...]
    first: int | None = None  # that is always written first
    last: int | None = None  # that is always written where a sequence is cut off


@dataclass(frozen=True, slots=True)
class Sequence:
    """Tokens that were written, with their log-probabilities, and the score of the whole."""

    tokens: list[int]
    logs: list[float]
    score: float


class Steps(Protocol):
    """Where decoding is: the memory of each document, and the past of each row; each document has as many rows."""

    def step(self, last: Tensor) -> Tensor:
        """The scores of the next token [r, v] after these [r]."""

    def choose(self, rows: Tensor, documents: Tensor | None = None) -> None:
        """Goes on with these rows, and these documents where some are left."""


@torch.inference_mode()
def search(steps: Steps, documents: int, marks: Marks, how: Search, device: torch.device) -> list[list[Sequence]]:
    """The sequences of each document, the best first."""
    if how.beam == 1:
        return _greedy(steps, documents, marks, how, device)
    return _Beams(steps, documents, marks, how, device).run()


def _greedy(steps: Steps, documents: int, marks: Marks, how: Search, device: torch.device) -> list[list[Sequence]]:
    left = torch.arange(documents, device=device)
    last = torch.full_like(left, marks.start)
    words = torch.full((documents, how.longest + 1), marks.start, device=device)  # [b, t], the start before all
    logs = torch.zeros(documents, how.longest, device=device)
    ends = torch.tensor(marks.ends, device=device)
    lengths = [how.longest] * documents
    for step in range(how.longest):
        found = _allowed(steps.step(last).float(), words[left, : step + 1], marks, how, step)  # [r, v]
        last = found.argmax(1)
        words[left, step + 1] = last
        logs[left, step] = found.gather(1, last[:, None])[:, 0] - found.logsumexp(1)
        ended = torch.isin(last, ends)
        if ended.any():
            for document in left[ended].tolist():
                lengths[document] = step + 1
            kept = (~ended).nonzero()[:, 0]
            left, last = left[kept], last[kept]
            if not len(left):
                break
            steps.choose(kept, kept)
    rows = zip(words[:, 1:].tolist(), logs.tolist(), lengths, strict=True)
    return [[Sequence(row[:many], own[:many], sum(own[:many]))] for row, own, many in rows]


def _allowed(found: Tensor, before: Tensor, marks: Marks, how: Search, step: int) -> Tensor:
    """Scores of tokens [r, v] without those that may not come behind what was written, [r, t]."""
    forced = marks.first if step == 0 else marks.last if step == how.longest - 1 else None
    if forced is not None:
        found = torch.full_like(found, -torch.inf)
        found[:, forced] = 0
        return found
    many = how.ngram
    if many and before.shape[1] >= many:
        grams = before.unfold(1, many, 1)  # [r, places, n]
        same = (grams[:, :, :-1] == before[:, None, before.shape[1] - many + 1 :]).all(2)  # [r, places]
        row, place = same.nonzero(as_tuple=True)
        found = found.clone()
        found[row, grams[row, place, -1]] = -torch.inf
    return found


class _Beams:
    """`beam` sequences of each document that is still open."""

    def __init__(self, steps: Steps, documents: int, marks: Marks, how: Search, device: torch.device) -> None:
        self.steps, self.marks, self.how = steps, marks, how
        self.open = torch.arange(documents, device=device)  # [b]
        self.scores = torch.zeros(documents, 1, device=device)  # [b, w]; at first one row for each document
        self.words = torch.full((documents, 1, 1), marks.start, device=device)  # [b, w, t], the start before all
        self.logs = torch.zeros(documents, 1, 0, device=device)  # [b, w, t]
        self.ends = torch.tensor(marks.ends, device=device)
        self.done: list[list[Sequence]] = [[] for _ in range(documents)]

    def run(self) -> list[list[Sequence]]:
        for step in range(self.how.longest):
            self._step(step)
            if not len(self.open):
                break
        return self.done

    def _step(self, step: int) -> None:
        documents, width = self.scores.shape
        logits = self.steps.step(self.words[:, :, -1].reshape(-1)).float()  # [r, v]
        found = _allowed(logits.log_softmax(1), self.words.flatten(0, 1), self.marks, self.how, step)
        many = max(2, 1 + len(self.marks.ends)) * self.how.beam  # so many that enough of them have not ended
        most, best = found.topk(min(many, found.shape[1]), dim=1)  # [r, k]
        totals = most.view(documents, width, -1) + self.scores[:, :, None]  # [b, w, k]
        totals, place = totals.flatten(1).topk(min(many, totals[0].numel()), dim=1)  # [b, k]
        words = best.view(documents, -1).gather(1, place)  # [b, k]
        logs = most.view(documents, -1).gather(1, place)
        parents = place // most.shape[1]  # [b, k] rows of the document
        hits = torch.isin(words, self.ends)
        last = step == self.how.longest - 1
        self._take(totals, parents, words, logs, hits | last, step)
        if last:
            self.open = self.open[:0]
            return
        self.scores, chosen = (totals + hits * NEVER).topk(min(self.how.beam, totals.shape[1]), dim=1)  # [b, w]
        parents, words, logs = (each.gather(1, chosen) for each in (parents, words, logs))
        rows = (parents + torch.arange(documents, device=parents.device)[:, None] * width).view(-1)
        self.words = torch.cat([self.words.flatten(0, 1)[rows].view(*words.shape, -1), words[:, :, None]], 2)
        self.logs = torch.cat([self.logs.flatten(0, 1)[rows].view(*logs.shape, -1), logs[:, :, None]], 2)
        self._close(rows, step)

    def _take(self, totals: Tensor, parents: Tensor, words: Tensor, logs: Tensor, hits: Tensor, step: int) -> None:
        """Keeps what has ended among the best of each document, as many as the beam is wide."""
        beam = self.how.beam
        hits = hits[:, :beam] & (totals[:, :beam] > NEVER / 2)
        scores = (totals[:, :beam] / (step + 1) ** self.how.penalty).tolist() if hits.any() else []
        changed = set()
        for at, place in hits.nonzero().tolist():
            parent = int(parents[at, place])
            tokens = [*self.words[at, parent, 1:].tolist(), int(words[at, place])]
            own = [*self.logs[at, parent].tolist(), float(logs[at, place])]
            self.done[int(self.open[at])].append(Sequence(tokens, own, scores[at][place]))
            changed.add(int(self.open[at]))
        for document in changed:
            self.done[document] = sorted(self.done[document], key=lambda each: -each.score)[:beam]

    def _close(self, rows: Tensor, step: int) -> None:
        """Goes on with these rows of the documents that are not done; one is where nothing better can come."""
        how = self.how
        length = how.longest if how.early == "never" and how.penalty > 0 else step + 1
        possible = (self.scores[:, 0] / length**how.penalty).tolist()
        left = [
            at
            for at, (document, best) in enumerate(zip(self.open.tolist(), possible, strict=True))
            if len(self.done[document]) < how.beam or (how.early is not True and best > self.done[document][-1].score)
        ]
        if len(left) == len(self.open):
            self.steps.choose(rows)
            return
        kept = torch.tensor(left, dtype=torch.int64, device=rows.device)
        self.open, self.scores, self.words, self.logs = (
            each[kept] for each in (self.open, self.scores, self.words, self.logs)
        )
        if left:
            self.steps.choose(rows.view(-1, self.scores.shape[1])[kept].view(-1), kept)


@torch.inference_mode()
def encoded(network: Any, source: Tensor, mask: Tensor) -> Tensor:
    """The states of sources [b, n, d]; on a processor a few at a time, which fit into its cache."""
    encoder, size = network.get_encoder(), AT_ONCE if source.device.type == "cpu" else len(source)
    found = []
    for at in range(0, len(source), size):
        there = mask[at : at + size]
        longest = int(there.sum(1).max())  # what is masked stands behind the rest
        states = encoder(input_ids=source[at : at + size, :longest], attention_mask=there[:, :longest])[0]
        found.append(torch.nn.functional.pad(states, (0, 0, 0, source.shape[1] - longest)))
    return torch.cat(found)


class Cached:
    """The steps of any network of transformers with an encoder and a decoder, by its own caches."""

    def __init__(self, network: Any, source: Tensor, mask: Tensor) -> None:
        from transformers.modeling_outputs import BaseModelOutput

        self.network, self.mask, self.cache = network, mask, None
        self.memory = BaseModelOutput(last_hidden_state=encoded(network, source, mask))
        self.width = 1  # rows of each document

    def step(self, last: Tensor) -> Tensor:
        """The scores of the next token [r, v] after these [r]."""
        found = self.network(
            encoder_outputs=self.memory,
            attention_mask=self.mask,
            decoder_input_ids=last[:, None],
            past_key_values=self.cache,
            use_cache=True,
            return_dict=True,
        )
        self.cache = found.past_key_values
        logits: Tensor = found.logits[:, -1]
        return logits

    def choose(self, rows: Tensor, documents: Tensor | None = None) -> None:
        """Goes on with these rows; what is known of the source changes only with the documents or their width."""
        assert self.cache is not None
        many = len(self.mask) // self.width if documents is None else len(documents)
        width = len(rows) // many
        self.cache.self_attention_cache.reorder_cache(rows)
        if documents is not None or width != self.width:
            kept = torch.arange(many, device=rows.device) if documents is None else documents
            every = (kept * self.width).repeat_interleave(width)  # the first row of each document
            self.cache.cross_attention_cache.reorder_cache(every)
            self.mask, self.width = self.mask[every], width
            self.memory.last_hidden_state = self.memory.last_hidden_state[every]
