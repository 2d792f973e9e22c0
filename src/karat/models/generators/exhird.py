"""ExHiRD: one level writes phrases, one writes the words of each, and first words are not used twice.

Chen and others, "Exclusive Hierarchical Decoding for Deep Keyphrase Generation", ACL 2020. For the tokens' states m[n],
the phrase i and its word j:

    p[i]    = GRU(a[i - 1, last], p[i - 1])                 the phrase; p[0] is the encoder's last state
    s[i, j] = GRU([word[i, j - 1]; a[i, j - 1]], s[i, j - 1])   the word; s[i, 0] = p[i], a[i, 0] = 0
    α       = softmax over n (s · A m[n]) · softmax over n (p · B m[n]), made to add up to 1
    a       = tanh(W [s; Σ α m])                            the words are written, or copied by α, from this

The product of two softmaxes that is made to add up to 1 is the softmax of the sum of their scores, and so it is
computed: α = softmax over n ((Aᵀ s + Bᵀ p) · m[n]), one attention for both levels.

Published targets are `<p_start> w w ; <a_start> w w ;`: a mark of its kind before each phrase and one of its end after.
Ours, `w w <peos> w w <eos>`, say the same with one mark between two phrases: `<sep>` says that the next is of the same
kind, `<peos>` that absent ones follow, `<eos>` that none does. So a phrase begins where the last word was `<bos>`,
`<sep>` or `<peos>`, which is also the first input of its words; a[i - 1, last] is what that mark was written from.

Hard exclusion (-h) is a matter of decoding: the first word of a phrase is not that of the phrase before. Soft (-s) is
one of training: each first word of the last `window` phrases costs -log(1 - P) where another one is to be written.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from karat.models.generators.base import Batch, Generator, State
from karat.models.generators.copying import distribution, log_probabilities_of, log_probability_of
from karat.models.generators.dropout import Dropout
from karat.models.generators.gru import GRU, gated
from karat.models.generators.products import Shared
from karat.models.generators.settings import ExHiRDShape
from karat.models.generators.words import BOS, EOS, PAD, PEOS, SEP

TINY = 1e-6  # so that a word that is certain has a logarithm of what is left


class ExHiRD(Generator):
    """Two bidirectional GRUs read, two GRUs write; below, d = embedding, h = 2 · hidden."""

    def __init__(self, shape: ExHiRDShape, words: int, written: int) -> None:
        super().__init__()
        d, h = shape.embedding, 2 * shape.hidden
        self.written, self.shape = written, shape
        self.exclusive = 1 if shape.exclusion == "hard" else 0
        self.embed = nn.Embedding(words, d, padding_idx=PAD)
        self.encoder = nn.ModuleList([GRU(d, shape.hidden, directions=2), GRU(h, shape.hidden, directions=2)])
        self.phrase, self.word = GRU(h, h), GRU(d + h, h)
        self.query = nn.Linear(2 * h, h, bias=False)  # [A, B]
        self.merge = nn.Linear(2 * h, h)
        self.output, self.gate = nn.Linear(h, written), nn.Linear(h, 1)
        self.dropout = Dropout(shape.dropout)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)
        nn.init.zeros_(self.embed.weight[PAD].detach())

    def encode(self, batch: Batch) -> State:
        """The documents of a batch, before anything is written."""
        states = self.dropout(self.embed(batch.source))  # [b, n, d]
        for layer in self.encoder:
            states, last = layer(states, mask=batch.mask)  # [b, n, h], [b, h]
        memory = {"states": states, "mask": batch.mask, "copied": batch.copied, "own": batch.own}
        return State(memory, {"phrase": last, "word": last, "merged": torch.zeros_like(last)})

    def products(self, states: Tensor) -> dict[str, Shared]:
        """What is multiplied with at each place."""
        fed = self.word.input.weight[
            :, self.shape.embedding :
        ]  # [3h, h]: of a; that of words is for all places at once
        every = {"phrase": self.phrase.weight, "word": self.word.weight, "fed": fed.t()[None]}
        every |= {"last": self.phrase.input.weight.t()[None], "query": self.query.weight.t()[None]}
        every |= {"merge": self.merge.weight.t()[None], "scores": states.transpose(1, 2), "states": states}
        return {name: Shared(matrix) for name, matrix in every.items()}

    def given(self, words: Tensor) -> Tensor:
        """What the word level gets from embedded last words [..., d], [..., 3h]."""
        return functional.linear(words, self.word.input.weight[:, : self.shape.embedding], self.word.input.bias)

    def move(
        self, by: dict[str, Shared], past: dict[str, Tensor], given: Tensor, begins: Tensor, absent: Tensor
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """(the attention [b, w, n], the past after) of what comes from the last words [r, 3h].

        `begins` [k] are the rows where a phrase begins, `absent` [b, 1, n] tokens that are padding.
        """
        phrase, word, merged = past["phrase"], past["word"], past["merged"]  # [r, h]
        if len(begins):
            before = phrase[begins]  # [k, h]
            last, kept = by["last"](merged[begins]), by["phrase"](before)  # [k, 3h]
            new = gated(last + self.phrase.input.bias, kept + self.phrase.bias[0], before)  # [k, h]
            phrase, word = phrase.index_copy(0, begins, new), word.index_copy(0, begins, new)
            merged = merged.index_fill(0, begins, 0.0)
        word = gated(given + by["fed"](merged), by["word"](word) + self.word.bias[0], word)  # [r, h]
        query = by["query"](torch.cat([word, phrase], 1)).unflatten(0, (len(absent), -1))  # [b, w, h]
        attention = by["scores"](query).masked_fill(absent, -torch.inf).softmax(2)  # [b, w, n]
        context = by["states"](attention).flatten(0, 1)  # [r, h]
        merged = torch.tanh(by["merge"](torch.cat([word, context], 1)) + self.merge.bias)  # [r, h]
        return attention, {"phrase": phrase, "word": word, "merged": merged}

    def mixture(self, merged: Tensor) -> tuple[Tensor, Tensor]:
        """(logits of the head [k, w], gate [k]) of what the words are written from [k, h]."""
        merged = self.dropout(merged)
        return self.output(merged), self.gate(merged).squeeze(1)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(the attention [b, m, n], what each word is written from [b, m, h]), one place after the other."""
        counts, order = (batch.targets != PAD).sum(1).sort(descending=True, stable=True)  # [b]: long ones go on alone
        batch = Batch(*(each[order] for each in batch))
        state = self.encode(batch)
        by, past, absent = self.products(state.memory["states"]), state.past, ~batch.mask[:, None]
        given = self.given(self.dropout(self.embed(batch.inputs)))  # [b, m, 3h]
        begins = _begins(batch.inputs)  # [b, m]
        places = torch.arange(int(counts[0]), device=counts.device)  # [m]
        many = (counts[:, None] > places).sum(0).tolist()
        looked, merged = [], []
        for at, k in enumerate(many):  # k documents have a word here
            past = {name: each[:k] for name, each in past.items()} if k < len(past["word"]) else past
            attention, past = self.move(by, past, given[:k, at], begins[:k, at].nonzero()[:, 0], absent[:k])
            looked.append(attention[:, 0])
            merged.append(past["merged"])
        row = torch.cat([order[:k] for k in many])
        place = torch.cat([torch.full((k,), at, device=row.device) for at, k in enumerate(many)])
        return _placed(looked, row, place, batch.targets), _placed(merged, row, place, batch.targets)

    def log_probabilities(self, batch: Batch) -> Tensor:
        """The log-probability of each target given those before it, [b, m]."""
        attention, merged = self(batch)
        return log_probabilities_of(batch.targets, batch.copied, attention, self.mixture, merged)

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(the summed loss of all targets, how many there are); in training, a soft exclusion adds its own."""
        if self.shape.exclusion == "hard" or not self.training:
            return super().loss(batch)
        attention, merged = self(batch)
        found = log_probabilities_of(batch.targets, batch.copied, attention, self.mixture, merged)
        row, place, earlier = earlier_firsts(batch, self.shape.window)  # [k], [k], [k, window]
        logits, gate = self.mixture(merged[row, place])
        shares, copied = attention[row, place].float(), batch.copied[row]
        total = -found.sum()
        for words in earlier.unbind(1):  # [k]
            there = (words != PAD) & (words != batch.targets[row, place])
            likely = log_probability_of(words, logits.float(), gate.float(), shares, copied).exp()  # [k]
            total = total - ((1 - likely + TINY).log() * there).sum()
        return total, (batch.targets != PAD).sum()

    def step(self, state: State, last: Tensor) -> tuple[Tensor, State]:
        """(the probabilities of the next word [r, written + l], the state after); w rows of each document."""
        memory = state.memory
        given = self.given(self.dropout(self.embed(last)))  # [r, 3h]
        by, absent = self.products(memory["states"]), ~memory["mask"][:, None]
        attention, past = self.move(by, state.past, given, _begins(last).nonzero()[:, 0], absent)
        logits, gate = self.mixture(past["merged"])
        found = distribution(logits, gate, attention, memory["copied"], memory["own"].shape[1])
        return found, State(memory, past)


def _placed(parts: list[Tensor], row: Tensor, place: Tensor, targets: Tensor) -> Tensor:
    """Parts [k, ...] of places as one tensor [b, m, ...], 0 where there is none."""
    found = torch.cat(parts)
    return found.new_zeros(*targets.shape, found.shape[1]).index_put((row, place), found)


def _begins(last: Tensor) -> Tensor:
    """Where a phrase begins, by the words before."""
    return (last == BOS) | (last == SEP) | (last == PEOS)


def earlier_firsts(batch: Batch, window: int) -> tuple[Tensor, Tensor, Tensor]:
    """(rows, places, the first words of the last phrases [k, window]) of all first words; `PAD` where there is none."""
    ended = (batch.targets == SEP) | (batch.targets == PEOS) | (batch.targets == EOS) | (batch.targets == PAD)
    first = _begins(batch.inputs) & ~ended  # [b, m]
    row, place = first.nonzero(as_tuple=True)  # [k], in order
    words = batch.targets[row, place]
    earlier = []
    for back in range(1, window + 1):
        same = (row[back:] == row[:-back]) if back < len(row) else row[:0].bool()
        shifted = torch.full_like(words, PAD)
        shifted[back:] = torch.where(same, words[:-back], PAD) if back < len(row) else shifted[back:]
        earlier.append(shifted)
    return row, place, torch.stack(earlier, 1)
