"""KPDrop: present keyphrases are masked in the source and become absent ones.

Ray Chowdhury, Park, Kundu and Caragea, "KPDROP: Improving Absent Keyphrase Generation", Findings of EMNLP 2022. What is
dropped is drawn anew for each seed, epoch and document, and follows from these alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.models.generators.examples import Example
from karat.models.generators.words import DIGIT, NULL, PEOS, UNK, one_target, parted_target

Mode = Literal["replace", "add"]
CHANCE = 0.7  # as published


@dataclass(frozen=True, slots=True)
class Drop:
    """How phrases are dropped: a changed example replaces the one it was made of, or stands beside it."""

    mode: Mode
    chance: float  # for each present phrase

    @classmethod
    def of(cls, text: str) -> Drop:
        """What `replace`, `add` or `add:.5` means; raises InputError where it means nothing."""
        mode, colon, chance = text.partition(":")
        try:
            found = cls(mode, float(chance) if colon else CHANCE)  # type: ignore[arg-type]
        except ValueError:
            found = None
        if found is None or mode not in ("replace", "add") or not 0 <= found.chance <= 1:
            raise InputError(f"--drop {text}: write replace or add, with a probability from 0 to 1, as add:.7")
        return found

    def apply(self, written: int, seed: int, epoch: int, example: Example) -> Iterator[Example]:
        """What is learned of an example in an epoch; `written` is the size of the head."""
        drawn = np.random.default_rng([seed, epoch, example.document]).random(len(example.places)) < self.chance
        changed = drawn.any()
        if not changed or self.mode == "add":
            yield example
        if changed:
            yield dropped(example, drawn, written)


def dropped(example: Example, which: NDArray[np.bool_], written: int) -> Example:
    """An example with some of its present phrases dropped.

    Where such a phrase stood is one `<null>`, which cannot be copied. A phrase is absent from then on if it stands
    nowhere any more, and is left out if it has a word that could only be copied from where it stood.
    """
    present, absent = parted_target(example.target.tolist())
    masked = np.zeros(len(example.source), dtype=bool)
    for number in np.flatnonzero(which).tolist():
        for place in example.places[number]:
            masked[place : place + len(present[number])] = True
    begin = int(np.argmax(example.source == PEOS)) + 1 if PEOS in example.source else 0  # behind a guide
    pairs = list(zip(present, example.places, strict=True))
    left = [
        [at for at in places if at >= begin and not masked[at : at + len(phrase)].any()] for phrase, places in pairs
    ]
    for (phrase, places), some in zip(pairs, left, strict=True):  # what is absent is in no guide
        for place in (at for at in places if at < begin and not some):
            masked[place : place + len(phrase)] = True
    before = np.concatenate([[False], masked[:-1]])
    source, copied = np.where(masked, NULL, example.source), np.where(masked, UNK, example.copied)
    kept = ~(masked & before)  # a run of words is one mask
    order = sorted((places[0], number) for number, places in enumerate(left) if places)
    there = [present[number] for _, number in order]
    others = [*absent, *(phrase for phrase, places in zip(present, left, strict=True) if not places)]
    words = set(copied[kept].tolist())

    def writable(phrase: Sequence[int]) -> bool:
        return all(number < written or number in words for number in phrase)

    target = one_target(filter(writable, there), (each for each in others if writable(each) and DIGIT not in each))
    shift = np.cumsum(kept) - 1  # where a place is now
    still = [[int(shift[at]) for at in left[number]] for _, number in order if writable(present[number])]
    return Example(
        source[kept].astype(np.int32),
        copied[kept].astype(np.int32),
        np.array(target, np.int32),
        example.document,
        still,
    )
