"""CopyRNN as it is trained on whole sequences, catSeq: recurrent, with attention and copying.

Meng and others, "Deep Keyphrase Generation", ACL 2017; Yuan and others, "One Size Does Not Fit All", ACL 2020.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from karat.models.generators.additive import additive_scores
from karat.models.generators.base import Batch, Generator, State
from karat.models.generators.copying import distribution, log_probabilities_of
from karat.models.generators.dropout import Dropout
from karat.models.generators.gru import GRU
from karat.models.generators.settings import CopyRNNShape
from karat.models.generators.words import PAD


class CopyRNN(Generator):
    """A bidirectional GRU reads, a GRU writes; below, d = embedding, h = 2 · hidden.

    A model that differs from it replaces `read`, or `look` and `look_on`: what is seen before a word is written.
    """

    seen = 2  # vectors that are seen, of which `gate` reads the first two: the decoder's state, the context

    def __init__(self, shape: CopyRNNShape, words: int, written: int) -> None:
        super().__init__()
        d, h = shape.embedding, 2 * shape.hidden
        self.written, self.shape = written, shape
        self.embed = nn.Embedding(words, d, padding_idx=PAD)
        self.encoder = GRU(d, shape.hidden, directions=2)
        self.decoder = GRU(d, h)
        self.key = nn.Linear(h, h, bias=False)
        if shape.attention == "additive":
            self.query, self.energy = nn.Linear(h, h), nn.Parameter(torch.empty(h))
        self.merge = nn.Linear(self.seen * h, d if shape.tied else h)
        self.bias = nn.Parameter(torch.zeros(written))
        if not shape.tied:
            self.output = nn.Linear(h, written, bias=False)
        self.gate = nn.Linear(2 * h + d, 1)
        self.dropout = Dropout(shape.dropout)
        self.draw()

    def draw(self) -> None:
        """Draws all weights anew."""
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)
        nn.init.zeros_(self.embed.weight[PAD].detach())

    def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(a state for each token, [b, n, h]; what the decoder begins with, [b, h])."""
        words = self.dropout(self.embed(batch.source))  # [b, n, d]
        return self.encoder(words, mask=batch.mask)

    def attend(self, written: Tensor, keys: Tensor, mask: Tensor, counts: list[int] | None = None) -> Tensor:
        """The attention of decoder states [b, m, h] on the tokens [b, n, h], as shares [b, m, n].

        Of a document's states, those beyond `counts` are padding.
        """
        if self.shape.attention == "general":
            scores = written @ keys.transpose(1, 2)  # [b, m, n]
            return scores.masked_fill(~mask[:, None], -torch.inf).softmax(2)
        many = counts or [written.shape[1]] * len(written)
        lengths = mask.sum(1).tolist()
        return additive_scores(self.query(written), keys, self.energy, lengths, many).softmax(2)

    def look(
        self, written: Tensor, first: Tensor, states: Tensor, mask: Tensor, counts: list[int]
    ) -> tuple[Tensor, Tensor]:
        """(the attention [b, m, n], what is seen [b, m, seen · h]) of decoder states [b, m, h], all places at once."""
        attention = self.attend(written, self.key(states), mask, counts)  # [b, m, n]
        return attention, torch.cat([written, attention @ states], 2)

    def look_on(self, state: State, written: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """(the attention [b, w, n], what is seen [r, seen · h], the past after) of decoder states [r, h], one place."""
        memory = state.memory
        rows = written.unflatten(0, (len(memory["keys"]), -1))  # [b, w, h]
        attention = self.attend(rows, memory["keys"], memory["mask"])  # [b, w, n]
        context = (attention @ memory["states"]).flatten(0, 1)  # [r, h]
        return attention, torch.cat([written, context], 1), {"written": written}

    def mixture(self, words: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        """(logits of the head [k, w], gate [k]) of embedded last words [k, d] and what is seen [k, seen · h]."""
        merged = self.dropout(self.merge(seen))  # [k, d] or [k, h]
        table = self.embed.weight[: self.written] if self.shape.tied else self.output.weight
        both = seen[:, : 4 * self.shape.hidden]  # [k, 2h]
        gate = self.gate(torch.cat([both, words], 1)).squeeze(1)  # [k]
        return torch.addmm(self.bias, merged, table.t()), gate

    def log_probabilities(self, batch: Batch) -> Tensor:
        """The log-probability of each target given those before it, [b, m]: all places at once."""
        states, first = self.read(batch)
        words = self.dropout(self.embed(batch.inputs))  # [b, m, d]
        written, _ = self.decoder(words, first)  # [b, m, h]
        counts = (batch.targets != PAD).sum(1).tolist()
        attention, seen = self.look(written, first, states, batch.mask, counts)
        return log_probabilities_of(batch.targets, batch.copied, attention, self.mixture, words, seen)

    def encode(self, batch: Batch) -> State:
        """The documents of a batch, before anything is written."""
        states, first = self.read(batch)
        memory = {"states": states, "keys": self.key(states), "mask": batch.mask, "copied": batch.copied}
        return State(memory | {"own": batch.own}, {"written": first})

    def step(self, state: State, last: Tensor) -> tuple[Tensor, State]:
        """(the probabilities of the next word [r, written + l], the state after); w rows of each document."""
        memory = state.memory
        words = self.dropout(self.embed(last))  # [r, d]
        written = self.decoder.step(words, state.past["written"])  # [r, h]
        attention, seen, past = self.look_on(state, written)
        logits, gate = self.mixture(words, seen)
        found = distribution(logits, gate, attention, memory["copied"], memory["own"].shape[1])
        return found, State(memory, past)
