"""TG-Net as it is trained on whole sequences, catSeqTG: a CopyRNN that reads the title apart and into every token.

Chen and others, "Title-Guided Encoding for Keyphrase Generation", AAAI 2019. What differs from CopyRNN, for the states
u[n] of the source and v[k] of the title, each read by a bidirectional GRU of its own:

    context[n] = Σ softmax over k (u[n] · W v[k]) · v[k]
    merged     = a bidirectional GRU over [u[n]; context[n]], whose last states are what the decoder begins with
    state[n]   = ½ u[n] + ½ merged[n]
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from karat.models.generators.base import Batch
from karat.models.generators.copyrnn import CopyRNN
from karat.models.generators.gru import GRU
from karat.models.generators.settings import CopyRNNShape
from karat.models.generators.words import PEOS, TEXT, Words

SENTENCE = 30  # tokens of a first sentence at most
ENDS = (".", "!", "?")


class TGNet(CopyRNN):
    """A CopyRNN with an encoder that the title guides."""

    ends: Tensor  # numbers of the tokens that end a sentence

    def __init__(self, shape: CopyRNNShape, words: int, written: int) -> None:
        super().__init__(shape, words, written)
        h = 2 * shape.hidden
        self.title = GRU(shape.embedding, shape.hidden, directions=2)
        self.match = nn.Linear(h, h, bias=False)
        self.merging = GRU(2 * h, shape.hidden, directions=2)
        self.register_buffer("ends", torch.zeros(0, dtype=torch.int64), persistent=False)
        self.draw()

    def know(self, words: Words) -> None:
        """Looks up what ends a sentence."""
        self.ends = torch.tensor([words.ids[end] for end in ENDS if end in words.ids], dtype=torch.int64)

    def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(a state for each token, [b, n, h]; what the decoder begins with, [b, h])."""
        words = self.dropout(self.embed(batch.source))  # [b, n, d]
        states, _ = self.encoder(words, mask=batch.mask)  # [b, n, h]
        lengths = title_lengths(batch.source, batch.mask, self.ends)  # [b]
        there = torch.arange(int(lengths.max()), device=words.device) < lengths[:, None]  # [b, k]
        titles, _ = self.title(words[:, : there.shape[1]], mask=there)  # [b, k, h]: titles come first
        scores = states @ self.match(titles).transpose(1, 2)  # [b, n, k]
        context = scores.masked_fill(~there[:, None], -torch.inf).softmax(2) @ titles  # [b, n, h]
        merged, last = self.merging(self.dropout(torch.cat([states, context], 2)), mask=batch.mask)  # [b, n, h], [b, h]
        return torch.lerp(states, merged, 0.5), last


def title_lengths(source: Tensor, mask: Tensor, ends: Tensor) -> Tensor:
    """How many of the first tokens of documents [b, n] are the title, [b].

    These are the tokens before `<text>`; where there are none, those of the first sentence, at most 30. A guide, which
    ends with `<peos>`, is read with the title.
    """
    n = source.shape[1]
    place = torch.arange(n, device=source.device)  # [n]
    text = torch.where(source == TEXT, place, n).amin(1)  # [b]
    begin = torch.where(source == PEOS, place + 1, 0).amax(1)  # [b]: behind a guide
    ended = torch.isin(source, ends) & (place >= begin[:, None])  # [b, n]
    end = torch.where(ended, place + 1, n).amin(1).minimum(begin + SENTENCE)  # [b]
    sentence = torch.minimum(end, mask.sum(1))  # [b]
    return torch.where((text > begin) & (text < n), text, sentence)
