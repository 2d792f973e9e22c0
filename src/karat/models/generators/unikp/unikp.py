"""UniKP: one encoder that tags present keyphrases and writes absent ones (UniKeyphrase).

Wu and others, "UniKeyphrase: A Unified Extraction and Generation Framework for Keyphrase Prediction", Findings of ACL
2021. The encoder has a prefix mask, so that it reads the source and writes the target; above it are relation layers, in
which what is tagged and what is written look at each other, under the same mask. Three losses are learned: of tags,
of the pieces of absent keyphrases, and of how often each piece is in either; so are their weights.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from karat.models.generators.base import State
from karat.models.generators.dropout import Dropout
from karat.models.generators.unikp.encoder import begin, prefix_mask
from karat.models.generators.unikp.pieces import Pieces
from karat.models.generators.unikp.pretrained import EncoderShape
from karat.models.generators.unikp.settings import UniKPLearning, UniKPShape
from karat.models.generators.unikp.tagger import NO_TAG, Tagged, Tagger, tag_loss
from karat.models.generators.unikp.tags import O
from karat.models.generators.words import BOS, EOS, PAD, SEP

LOSSES = ("tags", "pieces", "counts")
SOURCE, TARGET = 0, 1  # types of pieces


class Relation(nn.Module):
    """A layer in which states of present and of absent keyphrases look at each other, under a mask."""

    def __init__(self, shape: EncoderShape, dropout: float) -> None:
        super().__init__()
        d = shape.size
        self.present, self.absent = nn.Linear(d, d), nn.Linear(d, d)
        self.norms = nn.ModuleList([nn.LayerNorm(d, shape.eps) for _ in range(4)])
        self.dropout = Dropout(dropout)
        self.apply(begin)

    def own(self, present: Tensor, absent: Tensor) -> tuple[Tensor, Tensor]:
        """Both kinds of states [b, n, d], each through a network of its own."""
        p = self.norms[0](present + self.present(present).relu())
        a = self.norms[1](absent + self.absent(absent).relu())
        return p, a

    def look(self, p: Tensor, a: Tensor, all_p: Tensor, all_a: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """(present states that have looked at all absent ones, and the other way round), where `mask` lets them."""
        shares = (p @ all_a.transpose(1, 2)).masked_fill(~mask, -torch.inf).softmax(2)  # [b, n, k]
        found = self.norms[2](p + shares @ all_a)
        shares = (a @ all_p.transpose(1, 2)).masked_fill(~mask, -torch.inf).softmax(2)
        return self.dropout(found), self.dropout(self.norms[3](a + shares @ all_p))


class UniKP(Tagger):
    """A tagger whose encoder also writes."""

    def __init__(self, shape: UniKPShape, learning: UniKPLearning, encoder: EncoderShape, ahead: int) -> None:
        super().__init__(shape, learning, encoder, ahead)
        d = encoder.size
        self.smoothing = learning.smoothing
        self.relations = nn.ModuleList([Relation(encoder, shape.relation_dropout) for _ in range(shape.relations)])
        self.transform, self.norm = nn.Linear(d, d), nn.LayerNorm(d, encoder.eps)
        self.bias = nn.Parameter(torch.zeros(encoder.pieces))
        self.variances = nn.Parameter(torch.zeros(len(LOSSES)))  # the logarithm of each loss's variance
        begin(self.transform)
        self.register_buffer("marks", torch.zeros(ahead, dtype=torch.int64), persistent=False)

    def know(self, words: Pieces) -> None:  # type: ignore[override]
        """The pieces that special numbers are: the begin of a text, its end, and what separates keyphrases."""
        self.marks[BOS], self.marks[EOS] = words.shape.begin, words.shape.end
        self.marks[SEP] = words.mark - self.ahead

    def pieces(self, numbers: Tensor) -> Tensor:
        """The pieces of numbers, marks among them."""
        marks = self.marks[numbers.clamp(max=self.ahead - 1)]
        return torch.where(numbers < self.ahead, marks, numbers - self.ahead)

    # ------------------------------------------------------------------------------------------ states

    def related(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """(states for tags, states for writing) of encoder states [b, n, d], under a mask [b, 1, n, n]."""
        present = absent = states
        for layer in self.relations:
            p, a = layer.own(present, absent)
            present, absent = layer.look(p, a, p, a, mask[:, 0])
        return present, absent

    def states(self, batch: Tagged) -> tuple[Tensor, Tensor]:
        """(states for tags [b, n, d], states for writing [b, m, d]) of sources and targets, all places at once."""
        n, m = batch.source.shape[1], batch.inputs.shape[1]
        place = torch.arange(n, device=batch.source.device)
        behind = batch.mask.sum(1, keepdim=True) + torch.arange(m, device=place.device)  # [b, m]
        source = self.encoder.embedded(self.pieces(batch.source), place, SOURCE)
        target = self.encoder.embedded(self.pieces(batch.inputs), behind, TARGET)
        mask = prefix_mask(batch.mask, m)  # [b, 1, n + m, n + m]
        found, _ = self.encoder(torch.cat([source, target], 1), mask)
        present, absent = self.related(found, mask)
        return present[:, :n], absent[:, n:]

    def written_logits(self, states: Tensor) -> Tensor:
        """The logits of the next piece after states [..., d]."""
        inner = self.norm(functional.gelu(self.transform(states)))
        return functional.linear(inner, self.encoder.embed.weight, self.bias)

    def logits(self, source: Tensor) -> Tensor:
        """The logits of tags of sources [b, n], [b, n, 4]."""
        place, there = torch.arange(source.shape[1], device=source.device), source != PAD
        mask = there[:, None, None].expand(-1, -1, source.shape[1], -1)
        states, _ = self.encoder(self.encoder.embedded(self.pieces(source), place, SOURCE), mask)
        found: Tensor = self.tag(self.related(states, mask)[0])
        return found

    # ------------------------------------------------------------------------------------------ learning

    def loss(self, batch: Tagged) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """(the sum of the documents' losses, how many documents there are)."""
        present, absent = self.states(batch)
        tags, logits = self.tag(present).float(), self.written_logits(absent).float()  # [b, n, 4], [b, m, v]
        wanted, there = self.pieces(batch.targets), batch.targets != PAD  # [b, m]
        losses = torch.stack(
            [
                tag_loss(tags, batch.tags, self.learning.weight),
                piece_loss(logits, wanted, there, self.smoothing),
                count_loss(tags, batch.tags, self.pieces(batch.source), logits, wanted, there),
            ],
            1,
        )  # [b, 3]
        return weighed(losses, self.variances).sum(), torch.tensor(len(batch.source))

    def log_probabilities(self, batch: Tagged) -> Tensor:  # type: ignore[override]
        """The log-probability of each target given those before it, [b, m]; 0 where there is none."""
        logs = self.written_logits(self.states(batch)[1]).float().log_softmax(2)
        found = logs.gather(2, self.pieces(batch.targets)[:, :, None])[:, :, 0]
        return found.masked_fill(batch.targets == PAD, 0)

    # ------------------------------------------------------------------------------------------ writing

    def encode(self, batch: Tagged) -> State:  # type: ignore[override]
        """The documents of a batch: keys and values of each layer, and what the relation layers look at."""
        place = torch.arange(batch.source.shape[1], device=batch.source.device)
        states = self.encoder.embedded(self.pieces(batch.source), place, SOURCE)
        mask = batch.mask[:, None, None].expand(-1, -1, len(place), -1)
        states, pairs = self.encoder(states, mask)
        past: dict[str, Tensor] = {"there": batch.mask, "place": batch.mask.sum(1)}
        for at, (keys, values) in enumerate(pairs):
            past[f"keys{at}"], past[f"values{at}"] = keys, values
        present = absent = states
        for at, layer in enumerate(self.relations):
            past[f"present{at}"], past[f"absent{at}"] = p, a = layer.own(present, absent)
            present, absent = layer.look(p, a, p, a, mask[:, 0])
        return State({"own": batch.source[:, :0]}, past)

    def step(self, state: State, last: Tensor) -> tuple[Tensor, State]:
        """(the probabilities of the next number [r, written], the state after); `last` [r] are numbers."""
        past = state.past
        there = torch.cat([past["there"], torch.ones_like(past["there"][:, :1])], 1)  # [r, n + t]
        after: dict[str, Tensor] = {"there": there, "place": past["place"] + 1}
        pairs = [(past[f"keys{at}"], past[f"values{at}"]) for at in range(len(self.encoder.layers))]
        states = self.encoder.embedded(self.pieces(last[:, None]), past["place"][:, None], TARGET)  # [r, 1, d]
        states, pairs = self.encoder(states, there[:, None, None], pairs)
        for at, (keys, values) in enumerate(pairs):
            after[f"keys{at}"], after[f"values{at}"] = keys, values
        present = absent = states
        for at, layer in enumerate(self.relations):
            p, a = layer.own(present, absent)
            all_p, all_a = (torch.cat([past[f"{name}{at}"], own], 1) for name, own in (("present", p), ("absent", a)))
            after[f"present{at}"], after[f"absent{at}"] = all_p, all_a
            present, absent = layer.look(p, a, all_p, all_a, there[:, None])
        return self._numbers(self.written_logits(absent[:, 0]).float().softmax(1)), State(state.memory, after)

    def _numbers(self, shares: Tensor) -> Tensor:
        """The probabilities of pieces [r, v] as those of numbers; marks have those of their pieces."""
        found = functional.pad(shares, (self.ahead, 0))  # [r, written]
        for mark in (EOS, SEP, BOS):
            piece = self.ahead + int(self.marks[mark])
            found[:, mark] = found[:, piece]
            found[:, piece] = 0
        return found


# ---------------------------------------------------------------------------------------------- losses


def piece_loss(logits: Tensor, wanted: Tensor, there: Tensor, smoothing: float) -> Tensor:
    """The loss of what is written for each document [b]: the mean over its pieces, with smoothed labels.

    (1 − ε)·(−log p(y)) + ε/v·Σ −log p over all v pieces.
    """
    logs = logits.log_softmax(2)  # [b, m, v]
    exact = -logs.gather(2, wanted[:, :, None])[:, :, 0]  # [b, m]
    found = ((1 - smoothing) * exact - smoothing * logs.mean(2)) * there
    return found.sum(1) / there.sum(1).clamp(min=1)


def count_loss(
    tags: Tensor, wanted_tags: Tensor, source: Tensor, logits: Tensor, wanted: Tensor, there: Tensor
) -> Tensor:
    """The loss of how often pieces are in keyphrases, of each document [b]: half that of present, half of absent ones.

    Both are the squared error of counts, Σ (c − g)², over how many pieces are in either bag. Of present ones, c is the
    sum of 1 − p(O) over the places of a piece, and only pieces in either bag count; of absent ones, c is the sum of the
    probabilities of a piece at all places.
    """
    size = logits.shape[2]
    inside = (1 - tags.softmax(2)[:, :, O]) * (wanted_tags != NO_TAG)  # [b, n]
    found = _counts(source, inside, size)
    gold = _counts(source, (wanted_tags > 1).to(tags.dtype), size)
    taken = _counts(source, ((tags.argmax(2) != O) & (wanted_tags != NO_TAG)).to(tags.dtype), size)
    either = (gold > 0) | (taken > 0)
    present = ((found - gold).square() * either).sum(1) / either.sum(1).clamp(min=1)
    shares = logits.softmax(2) * there[:, :, None]  # [b, m, v]
    gold = _counts(wanted, there.to(tags.dtype), size)
    either = (gold > 0) | (_counts(logits.argmax(2), there.to(tags.dtype), size) > 0)
    absent = (shares.sum(1) - gold).square().sum(1) / either.sum(1).clamp(min=1)
    return (present + absent) / 2


def _counts(pieces: Tensor, weights: Tensor, size: int) -> Tensor:
    """How much each piece has of the weights of its places, [b, v]."""
    return weights.new_zeros(len(pieces), size).scatter_add(1, pieces, weights)


def weighed(losses: Tensor, variances: Tensor) -> Tensor:
    """The losses of each document [b, 3] as one [b], with the weights that the logarithms s of their variances give.

    Σ e^(−s)·L + s/2 of tags and pieces, and e^(−s)/2·L + s/2 of counts, which are a squared error (Kendall and others,
    "Multi-Task Learning Using Uncertainty", CVPR 2018).
    """
    shares = torch.exp(-variances) * variances.new_tensor([1.0, 1.0, 0.5])
    return (losses * shares).sum(1) + variances.sum() / 2
