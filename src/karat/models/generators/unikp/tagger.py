"""A tagger: an encoder of BERT's kind, and above it a layer that tells the tag of each piece.

It is the extracting part of UniKeyphrase (Wu and others, Findings of ACL 2021) by itself: O, B, I, X, of which the
last three weigh more in the loss, as most pieces are O.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from karat.models.generators.base import Generator
from karat.models.generators.examples import Arrays
from karat.models.generators.unikp.encoder import Encoder, begin
from karat.models.generators.unikp.pretrained import EncoderShape
from karat.models.generators.unikp.settings import TaggerLearning, TaggerShape
from karat.models.generators.unikp.tags import TAGS
from karat.models.generators.words import PAD

NO_TAG = 0  # of a piece that is none of the text; tags are counted from 1 on in a batch


class Tagged(NamedTuple):
    """Examples as tensors: numbers are those of pieces behind the special words, 0 where there is none."""

    source: Tensor  # [b, n] numbers
    tags: Tensor  # [b, n] 1 + the tag, 0 where there is none
    inputs: Tensor  # [b, m] what is written before each target
    targets: Tensor  # [b, m]

    @property
    def mask(self) -> Tensor:
        """Which pieces of the source are there, [b, n]."""
        return self.source != PAD

    @classmethod
    def of(cls, arrays: Arrays, device: str | torch.device = "cpu") -> Tagged:
        """The examples on a device; what a batch has beside numbers for copying are tags."""
        some = (arrays.source, arrays.copied, arrays.inputs, arrays.targets)
        return cls(*(torch.from_numpy(each).to(device, torch.int64) for each in some))


def tag_loss(logits: Tensor, tags: Tensor, weight: float) -> Tensor:
    """The loss of the tags of each document [b]: the mean over its pieces, of which those in keyphrases weigh more.

    Σ w(y)·(−log p(y)) / Σ w(y) over the pieces that have a tag y; w(O) = 1, w(B) = w(I) = w(X) = `weight`.
    """
    there = tags != NO_TAG  # [b, n]
    shares = torch.where(tags > 1, weight, 1.0) * there  # [b, n]
    found = functional.cross_entropy(logits.flatten(0, 1), (tags - 1).clamp(min=0).flatten(), reduction="none")
    return (found.view_as(shares) * shares).sum(1) / shares.sum(1).clamp(min=1)


class Tagger(Generator):
    """An encoder and a layer for tags."""

    def __init__(self, shape: TaggerShape, learning: TaggerLearning, encoder: EncoderShape, ahead: int) -> None:
        super().__init__()
        self.learning, self.ahead = learning, ahead
        self.written = ahead + encoder.pieces
        self.encoder = Encoder(encoder, shape.dropout, shape.frozen)
        self.tag = nn.Linear(encoder.size, len(TAGS))
        begin(self.tag)

    def optimiser(self, learning: Any) -> torch.optim.Optimizer:
        """Adam, of what learns."""
        some = [each for each in self.parameters() if each.requires_grad]
        return torch.optim.Adam(some, learning.rate, fused=True)

    def pieces(self, numbers: Tensor) -> Tensor:
        """The pieces of numbers; any piece where there is none."""
        return (numbers - self.ahead).clamp(min=0)

    def logits(self, source: Tensor) -> Tensor:
        """The logits of tags of sources [b, n], [b, n, 4]."""
        found: Tensor = self.tag(self.encoder.read(self.pieces(source), source != PAD))
        return found

    @torch.no_grad()
    def tag_shares(self, source: Tensor) -> Tensor:
        """The probabilities of the tags of each piece, [b, n, 4]."""
        return self.logits(source).float().softmax(2)

    def loss(self, batch: Tagged) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """(the sum of the documents' losses, how many documents there are)."""
        logits = self.logits(batch.source)
        return tag_loss(logits, batch.tags, self.learning.weight).sum(), torch.tensor(len(batch.source))
