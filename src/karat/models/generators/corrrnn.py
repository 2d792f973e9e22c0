"""CorrRNN as it is trained on whole sequences, catSeqCorr: a CopyRNN that knows what it has looked at and written.

Chen and others, "Keyphrase Generation with Correlation Constraints", EMNLP 2018. What differs from CopyRNN:

    coverage: the attention at place t adds up what it was at places before t, see `coverage`;
    review:   review[t] = shares of s[0] ... s[t - 1], by additive attention of s[t], where s[t] is the decoder's state
              and s[0] what it begins with;
    words are written by [s[t]; context[t]; review[t]], and the gate reads [s[t]; context[t]] as before.

No state depends on an attention, so that all but the coverage is computed for all places at once.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from karat.models.generators.additive import additive_scores
from karat.models.generators.base import Batch, State
from karat.models.generators.copyrnn import CopyRNN
from karat.models.generators.coverage import covered_attention
from karat.models.generators.settings import CorrRNNShape


class CorrRNN(CopyRNN):
    """A CopyRNN with coverage and review."""

    seen = 3  # the decoder's state, the context, the review

    def __init__(self, shape: CorrRNNShape, words: int, written: int) -> None:
        super().__init__(shape, words, written)
        h = 2 * shape.hidden
        self.covered = nn.Parameter(torch.empty(h))
        self.review_key, self.review_query = nn.Linear(h, h, bias=False), nn.Linear(h, h)
        self.review_energy = nn.Parameter(torch.empty(h))
        self.draw()

    def look(
        self, written: Tensor, first: Tensor, states: Tensor, mask: Tensor, counts: list[int]
    ) -> tuple[Tensor, Tensor]:
        """(the attention [b, m, n], what is seen [b, m, 3h]) of decoder states [b, m, h]."""
        queries, keys, lengths = self.query(written), self.key(states), mask.sum(1).tolist()
        attention = covered_attention(queries, keys, self.energy, self.covered, lengths, counts)  # [b, m, n]
        before = torch.cat([first[:, None], written[:, :-1]], 1)  # [b, m, h]: the state before each
        queries, keys = self.review_query(written), self.review_key(before)  # [b, m, h]
        scores = additive_scores(queries, keys, self.review_energy, counts, counts)  # [b, m, m]
        later = torch.ones_like(scores[0], dtype=torch.bool).triu(1)  # [m, m]
        review = scores.masked_fill(later, -torch.inf).softmax(2) @ before  # [b, m, h]
        return attention, torch.cat([written, attention @ states, review], 2)

    def encode(self, batch: Batch) -> State:
        """The documents of a batch, before anything is written: nothing is covered."""
        found = super().encode(batch)
        first = found.past["written"]  # [b, h]
        past = {"coverage": torch.zeros_like(batch.source, dtype=first.dtype)}  # [b, n]
        past |= {"before": first[:, None], "review": self.review_key(first)[:, None]}  # [b, 1, h]
        return State(found.memory, found.past | past)

    def look_on(self, state: State, written: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """(the attention [b, w, n], what is seen [r, 3h], the past after) of decoder states [r, h]."""
        memory, past = state.memory, state.past
        b, r = len(memory["keys"]), len(written)
        covered = past["coverage"].view(b, -1, memory["keys"].shape[1], 1) * self.covered  # [b, w, n, h]
        keys = (memory["keys"][:, None] + covered).flatten(0, 1)  # [r, n, h]
        lengths = memory["mask"].sum(1).repeat_interleave(r // b).tolist()
        scores = additive_scores(self.query(written)[:, None], keys, self.energy, lengths, [1] * r)  # [r, 1, n]
        attention = scores.softmax(2).view(b, r // b, -1)  # [b, w, n]
        context = (attention @ memory["states"]).flatten(0, 1)  # [r, h]
        many = past["before"].shape[1]
        queries = self.review_query(written)[:, None]  # [r, 1, h]
        scores = additive_scores(queries, past["review"], self.review_energy, [many] * r, [1] * r)  # [r, 1, t]
        review = (scores.softmax(2) @ past["before"])[:, 0]  # [r, h]
        after = {
            "written": written,
            "coverage": past["coverage"] + attention.flatten(0, 1),
            "before": torch.cat([past["before"], written[:, None]], 1),
            "review": torch.cat([past["review"], self.review_key(written)[:, None]], 1),
        }
        return attention, torch.cat([written, context, review], 1), after
