"""Where a system looks: what it misses in each part of the documents, and how well it does on which of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.analyses.describe.counts import Phrases
from karat.matching.columns import PRMU, Aligned, Bools, Cutoff, Floats, Ints, parts_of
from karat.metrics.base import METRICS
from karat.metrics.profile import PARTS, found_references
from karat.protocol import Counting

LONG = 5  # words of a reference, from which on they are counted together
MANY = (5, 10, 15)  # up to so many references of a document, and more
_M = Cutoff("M")


@dataclass(frozen=True, slots=True)
class Looked:
    """Of one system in some documents: references and those found, by part, words and class; F1 of each document."""

    parts: Ints  # [PARTS, 2]: references first met there, and those of them that are found
    words: Ints  # [LONG, 2]
    classes: Ints  # [4, 2]
    f1: Floats  # [documents, width], rows of the metric
    references: Ints  # of each document


def look(aligned: Aligned, references: Phrases, counted: Bools) -> Looked:
    """What a system finds of the references of some documents, those that are not counted left out."""
    found = found_references(aligned, _M, "all")
    some = counted[references.document]
    part = parts_of(references.offset, aligned.lengths()[references.document], PARTS)
    rows = METRICS["f1"].function(aligned, _M, "all", average=aligned.counting.average)
    return Looked(
        _two(part, found, some & (part >= 0), PARTS),
        _two(np.clip(references.words, 1, LONG) - 1, found, some, LONG),
        _two(references.classes, found, some, len(PRMU)),
        rows.values * counted[:, None],
        aligned.count_references("all"),
    )


def _two(group: Ints, found: Bools, some: Bools, groups: int) -> Ints:
    """[groups, 2]: how many there are, and how many of them are found."""
    return np.stack([np.bincount(group[mask], minlength=groups) for mask in (some, some & found)], axis=1)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of references or of documents, how many they are, and a score of a system on them."""

    by: str
    group: str
    count: int
    metric: str
    value: float | None

    def as_dict(self) -> dict[str, Any]:
        """The entry of the JSON output."""
        return {name: getattr(self, name) for name in ("by", "group", "count", "metric", "value")}


@dataclass(frozen=True, slots=True)
class Looks:
    """Where a system looks: the share it misses in each part, and its scores on groups."""

    miss_rate: tuple[float | None, ...] | None
    groups: tuple[Group, ...]


def looks(parts: Sequence[Looked], lengths: Ints, counting: Counting, texts: bool) -> Looks:
    """Where a system looks in the whole corpus, given the words of each document."""
    by_part, words, classes = (
        np.sum([getattr(p, name) for p in parts], axis=0) for name in ("parts", "words", "classes")
    )
    f1 = np.concatenate([part.f1 for part in parts])
    references = np.concatenate([part.references for part in parts])
    names = [str(n + 1) if n + 1 < LONG else f"{LONG} or more" for n in range(LONG)]
    groups = [
        *_recalls("words of a reference", names, words),
        *(_recalls("class of a reference", list(PRMU), classes) if texts else ()),
        *_scores("references of a document", references, MANY, f1, counting),
        *(_scores("words of a document", lengths, _quarters(lengths), f1, counting) if texts else ()),
    ]
    missed = tuple((there - found) / there if there else None for there, found in by_part.tolist())
    return Looks(missed if texts else None, tuple(groups))


def _recalls(by: str, names: Sequence[str], counts: Ints) -> Iterator[Group]:
    for name, (there, found) in zip(names, counts.tolist(), strict=True):
        if there:
            yield Group(by, name, there, "recall", found / there)


def _quarters(lengths: Ints) -> tuple[int, ...]:
    """Where the documents fall into four parts of about as many, by their words."""
    return tuple(int(edge) for edge in np.unique(np.quantile(lengths, (0.25, 0.5, 0.75), method="lower")))


def _scores(by: str, values: Ints, edges: Sequence[int], f1: Floats, counting: Counting) -> Iterator[Group]:
    """F1@M of the documents with up to each edge, and with more."""
    finish = METRICS["f1"].averages[counting.average]
    group = np.searchsorted(np.array(edges), values)
    for n in range(len(edges) + 1):
        some = (group == n) & (f1[:, -1] > 0)
        low = edges[n - 1] + 1 if n else 0
        name = f"up to {edges[n]}" if not n else f"{low} or more" if n == len(edges) else f"{low} to {edges[n]}"
        if some.any():
            yield Group(by, name, int(some.sum()), "f1@M", float(finish(f1[some].sum(axis=0))))
