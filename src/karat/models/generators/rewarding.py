"""Learning by reward, catSeqTG-2RF1 (TGRF): phrases are drawn, and those that are right become more likely.

Chan, Chen, Wang and King, "Neural Keyphrase Generation via Reinforcement Learning with Adaptive Rewards", ACL 2019:
REINFORCE with the reward of greedy decoding as the baseline. For n predictions of which h are right and r references,

    reward = F1 at k = max(n, r): precision h / k, recall h / r

which is the recall where there are too few predictions. A phrase that was predicted before counts as wrong. The reward
of present phrases arrives at `<peos>`, that of absent ones at `<eos>`; a word is to be thanked for all rewards behind
it, so that words before `<peos>` have both and words behind it the second:

    loss = - Σ_t (return of the drawn phrases - that of the greedy ones)[t] · log p(word t)

Phrases are compared by karat's stems of their words. A word that is in neither vocabulary is its own stem.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from karat.models.generators.base import Batch, Generator, in_table
from karat.models.generators.decoding import Decoding, Written, decode
from karat.models.generators.words import BOS, PAD, PEOS, Stems, Words, parted_target

Form = tuple[int, ...]  # a phrase as stems


def rf1(predicted: Sequence[Form], references: Sequence[Form]) -> float:
    """The reward of predictions: F1 at the larger of both counts; 0 where there are no references.

    >>> rf1([(1,)], [(1,), (2,)]), rf1([(1,), (1,), (3,), (2,)], [(1,), (2,)])
    (0.5, 0.6666666666666666)
    """
    hits = len(set(predicted) & set(references))
    if not hits:
        return 0.0
    wanted = len(set(references))
    precision, recall = hits / max(len(predicted), wanted), hits / wanted
    return 2 * precision * recall / (precision + recall)


class Forms:
    """Words as numbers of their stems, so that phrases are compared without text."""

    def __init__(self, words: Words, language: str) -> None:
        stems = Stems(language)
        numbers: dict[str, int] = {}
        self._table = [numbers.setdefault(stems([word]), len(numbers)) for word in words.table]
        self._written, self._known = words.written, len(words)

    def rewards(self, written: Sequence[int], target: Sequence[int], own: Sequence[int]) -> tuple[float, float]:
        """(the reward of the present phrases, that of the absent ones) of what was written for a document.

        All numbers are those for copying; `own` are the numbers in the table of the document's words beyond the head.
        """
        halves = zip(parted_target(written), parted_target(target), strict=True)
        present, absent = (rf1(self._of(predicted, own), self._of(wanted, own)) for predicted, wanted in halves)
        return present, absent

    def _of(self, phrases: Sequence[Sequence[int]], own: Sequence[int]) -> list[Form]:
        return [tuple(self._stem(word, own) for word in phrase) for phrase in phrases]

    def _stem(self, word: int, own: Sequence[int]) -> int:
        known = word if word < self._written else own[word - self._written]
        return self._table[known] if known > PEOS else -word


def returns(words: Sequence[int], present: float, absent: float) -> list[float]:
    """What each word is to be thanked for: up to `<peos>` both rewards, behind it the second.

    >>> returns([9, PEOS, 8, 5], 0.5, 0.25)
    [0.75, 0.75, 0.25, 0.25]
    """
    first = words.index(PEOS) + 1 if PEOS in words else len(words)
    return [present + absent] * first + [absent] * (len(words) - first)


class Reward:
    """The loss of a batch by reward; the seed of a step says what is drawn."""

    def __init__(self, forms: Forms, longest: int = 60) -> None:
        self.forms, self.longest = forms, longest

    def greedy(self, model: Generator, batch: Batch) -> NDArray[np.float64]:
        """The rewards of greedy decoding, [b, 2]."""
        return self._rewards([found[0] for found in decode(model, batch, Decoding(longest=self.longest))], batch)

    def loss(self, model: Generator, batch: Batch, seed: int) -> tuple[Tensor, float]:
        """(the loss, summed over documents; the summed reward of what was drawn)."""
        model.eval()  # what is drawn and what is made more likely are of the same probabilities: nothing is dropped
        how = Decoding("topk", topk=1 << 30, seed=seed, longest=self.longest)
        drawn = [found[0] for found in decode(model, batch, how)]
        rewards, baseline = self._rewards(drawn, batch), self.greedy(model, batch)
        wide = max(len(each.words) for each in drawn)
        targets, advantage = torch.full((len(drawn), wide), PAD), torch.zeros(len(drawn), wide)
        for at, each in enumerate(drawn):
            targets[at, : len(each.words)] = torch.tensor(each.words)
            both = (torch.tensor(returns(each.words, *pair[at].tolist())) for pair in (rewards, baseline))
            advantage[at, : len(each.words)] = next(both) - next(both)
        logs = model.log_probabilities(_with_targets(batch, targets.to(batch.source.device), model.written))
        return -(advantage.to(logs.device) * logs).sum(), float(rewards.mean(1).sum())

    def _rewards(self, found: Sequence[Written], batch: Batch) -> NDArray[np.float64]:
        rows = zip(found, batch.targets.tolist(), batch.own.tolist(), strict=True)
        return np.array([self.forms.rewards(each.words, target, own) for each, target, own in rows])


def _with_targets(batch: Batch, targets: Tensor, written: int) -> Batch:
    """The documents of a batch with other targets [b, m], numbers for copying."""
    before = torch.cat([torch.full_like(targets[:, :1], BOS), targets[:, :-1]], 1)
    return batch._replace(inputs=in_table(before, batch.own, written), targets=targets)
