"""A Transformer that writes all keyphrases in one sequence and copies, One2Seq.

Vaswani and others, "Attention Is All You Need", NeurIPS 2017, with the norm before each part; the pointer of See and
others, "Get To The Point", ACL 2017, above the last layer.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from karat.models.generators.base import Batch, Generator, State
from karat.models.generators.copying import distribution, log_probabilities_of
from karat.models.generators.dropout import Dropout
from karat.models.generators.settings import TransformerShape
from karat.models.generators.words import PAD

Past = dict[str, Tensor]  # what a state holds, by name


class Attention(nn.Module):
    """Attention of many heads; below, a = heads, e = size / heads."""

    def __init__(self, shape: TransformerShape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query, self.out = nn.Linear(shape.size, shape.size), nn.Linear(shape.size, shape.size)
        self.key_value = nn.Linear(shape.size, 2 * shape.size)

    def split(self, states: Tensor) -> Tensor:
        """[b, n, d] as [b, a, n, e]."""
        return states.unflatten(2, (self.heads, -1)).transpose(1, 2)

    def keys_values(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """The keys and values of states [b, n, d], each [b, a, n, e]."""
        keys, values = self.key_value(states).chunk(2, dim=2)
        return self.split(keys), self.split(values)

    def forward(
        self, states: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, causal: bool = False
    ) -> Tensor:
        """What states [b, m, d] find in keys and values [b, a, n, e], [b, m, d]."""
        query = self.split(self.query(states))  # [b, a, m, e]
        found = functional.scaled_dot_product_attention(query, keys, values, mask, 0.0, causal)  # [b, a, m, e]
        return self.out(found.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Attention to its own states, in a decoder also to the source, and a network for each state."""

    def __init__(self, shape: TransformerShape, writes: bool) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(shape.size) for _ in range(3 if writes else 2)])
        self.own = Attention(shape)
        self.other = Attention(shape) if writes else None
        self.inner, self.outer = nn.Linear(shape.size, shape.inner), nn.Linear(shape.inner, shape.size)
        self.dropout = Dropout(shape.dropout)

    def network(self, states: Tensor) -> Tensor:
        """The last part of the layer."""
        return states + self.dropout(self.outer(self.inner(self.norms[-1](states)).relu_()))

    def read(self, states: Tensor, mask: Tensor) -> Tensor:
        """The layer of an encoder, [b, n, d]."""
        normed = self.norms[0](states)
        return self.network(states + self.dropout(self.own(normed, *self.own.keys_values(normed), mask)))

    def write(
        self, states: Tensor, source: tuple[Tensor, Tensor], mask: Tensor, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """(the layer of a decoder [r, m, d], its keys and values so far); without a past, all places at once.

        With a past m is 1, and a document can have several rows, which look at the same source.
        """
        normed = self.norms[0](states)
        keys, values = self.own.keys_values(normed)  # [r, a, m, e]
        if past is not None:
            keys, values = torch.cat([past[0], keys], 2), torch.cat([past[1], values], 2)
        states = states + self.dropout(self.own(normed, keys, values, None, causal=past is None))
        assert self.other is not None
        rows = self.norms[1](states).reshape(len(mask), -1, states.shape[2])  # [b, w · m, d]
        states = states + self.dropout(self.other(rows, *source, mask)).view(states.shape)
        return self.network(states), (keys, values)


class Transformer(Generator):
    """Layers that read and layers that write; one more attention points at what is copied."""

    def __init__(self, shape: TransformerShape, words: int, written: int) -> None:
        super().__init__()
        d = shape.size
        self.written, self.shape = written, shape
        self.embed = nn.Embedding(words, d, padding_idx=PAD)
        self.encoder = nn.ModuleList([Layer(shape, writes=False) for _ in range(shape.layers)])
        self.decoder = nn.ModuleList([Layer(shape, writes=True) for _ in range(shape.layers)])
        self.read_norm, self.write_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.pointer, self.pointed = nn.Linear(d, d), nn.Linear(d, d, bias=False)
        self.gate = nn.Linear(2 * d, 1)
        self.bias = nn.Parameter(torch.zeros(written))
        self.dropout = Dropout(shape.dropout)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1 and not name.startswith("embed"):
                nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.embed.weight, std=d**-0.5)
        nn.init.zeros_(self.embed.weight[PAD].detach())

    def embedded(self, words: Tensor, first: int = 0) -> Tensor:
        """Words [b, n] as vectors with their places, [b, n, d]."""
        d = self.shape.size
        place = torch.arange(first, first + words.shape[1], device=words.device)[:, None]  # [n, 1]
        rate = torch.exp(torch.arange(0, d, 2, device=words.device) * (-math.log(10_000) / d))  # [d / 2]
        places = torch.stack([(place * rate).sin(), (place * rate).cos()], 2).flatten(1)  # [n, d]
        return self.dropout(self.embed(words) * math.sqrt(d) + places)

    def read(self, batch: Batch) -> Tensor:
        """A state for each token, [b, n, d]."""
        states, mask = self.embedded(batch.source), batch.mask[:, None, None]  # mask: [b, 1, 1, n]
        for layer in self.encoder:
            states = layer.read(states, mask)
        return self.read_norm(states)

    def point(self, written: Tensor, pointed: Tensor, mask: Tensor) -> Tensor:
        """The attention of decoder states [b, m, d] on what can be copied [b, n, d], as shares [b, m, n]."""
        scores = self.pointer(written) @ pointed.transpose(1, 2) / math.sqrt(self.shape.size)  # [b, m, n]
        return scores.masked_fill(~mask[:, None], -torch.inf).softmax(2)

    def mixture(self, written: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """(logits of the head [k, w], gate [k]) of decoder states and contexts [k, d]."""
        logits = torch.addmm(self.bias, written, self.embed.weight[: self.written].t())
        return logits, self.gate(torch.cat([written, context], 1)).squeeze(1)

    def layers(self, states: Tensor, memory: Past, past: Past | None = None) -> tuple[Tensor, Past]:
        """(decoder states of inputs [r, m, d], keys and values so far); without a past, all places at once."""
        after: Past = {}
        for at, layer in enumerate(self.decoder):
            keys, values = f"keys{at}", f"values{at}"
            states, (after[keys], after[values]) = layer.write(
                states,
                (memory[keys], memory[values]),
                memory["mask"][:, None, None],
                None if past is None else (past[keys], past[values]),
            )
        return self.write_norm(states), after

    def log_probabilities(self, batch: Batch) -> Tensor:
        """The log-probability of each target given those before it, [b, m]: all places at once."""
        memory = self.encode(batch).memory
        states, _ = self.layers(self.embedded(batch.inputs), memory)  # [b, m, d]
        return self.log_probabilities_at(states, batch.targets, memory)

    def log_probabilities_at(self, states: Tensor, targets: Tensor, memory: Past) -> Tensor:
        """The log-probability of each target [b, m] at its decoder state [b, m, d]; 0 where there is none."""
        attention = self.point(states, memory["pointed"], memory["mask"])  # [b, m, n]
        context = attention @ memory["source"]  # [b, m, d]
        return log_probabilities_of(targets, memory["copied"], attention, self.mixture, states, context)

    def encode(self, batch: Batch) -> State:
        """The documents of a batch; keys and values of the source are projected here, once."""
        source = self.read(batch)
        memory = {"source": source, "pointed": self.pointed(source), "mask": batch.mask, "copied": batch.copied}
        for at, layer in enumerate(self.decoder):
            keys, values = layer.other.keys_values(source)
            memory[f"keys{at}"], memory[f"values{at}"] = keys.contiguous(), values.contiguous()
        none = source.new_zeros(len(source), self.shape.heads, 0, self.shape.size // self.shape.heads)
        past = {f"{name}{at}": none for at in range(len(self.decoder)) for name in ("keys", "values")}
        return State(memory | {"own": batch.own}, past)

    def step(self, state: State, last: Tensor) -> tuple[Tensor, State]:
        """(the probabilities of the next word [r, written + l], the state after); w rows of each document."""
        inputs = self.embedded(last[:, None], state.past["keys0"].shape[2])  # [r, 1, d]
        states, past = self.layers(inputs, state.memory, state.past)
        return self.probabilities(states[:, 0], state.memory), State(state.memory, past)

    def probabilities(self, states: Tensor, memory: Past) -> Tensor:
        """The probabilities of the next word [r, written + l] after decoder states [r, d]."""
        rows = states.unflatten(0, (len(memory["source"]), -1))  # [b, w, d]
        attention = self.point(rows, memory["pointed"], memory["mask"])  # [b, w, n]
        logits, gate = self.mixture(states, (attention @ memory["source"]).flatten(0, 1))
        return distribution(logits, gate, attention, memory["copied"], memory["own"].shape[1])
