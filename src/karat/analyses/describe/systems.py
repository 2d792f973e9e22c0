"""Where a system looks: what it misses in each part of the documents, and how well it does on which of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from karat.analyses.describe.counts import Phrases, count_groups
from karat.matching.columns import PRMU, Aligned, Bools, Cutoff, Floats, Ints, parts_of
from karat.metrics.base import METRICS, Finish
from karat.metrics.profile import PARTS, found_references
from karat.protocol import Counting
from karat.results.intervals import with_intervals
from karat.stats.resampling import Sample
from karat.stats.shares import Interval, ShareCounts, sample_interval

LONG = 5  # words of a reference, from which on they are counted together
MANY = (5, 10, 15)  # up to so many references of a document, and more
_M = Cutoff("M")


@dataclass(frozen=True, slots=True)
class Looked:
    """Of one system in some documents: references and those found, by part, words and class; F1 of each document."""

    shares: ShareCounts  # by document: missed references of each part, found ones by words and by class
    f1: Floats  # [documents, width], rows of the metric
    references: Ints  # of each document


def look(aligned: Aligned, references: Phrases, counted: Bools) -> Looked:
    """What a system finds of the references of some documents, those that are not counted left out."""
    found = found_references(aligned, _M, "all")
    some = counted[references.document]
    part = parts_of(references.offset, aligned.lengths()[references.document], PARTS)
    rows = METRICS["f1"].function(aligned, _M, "all", average=aligned.counting.average)
    words = np.clip(references.words, 1, LONG) - 1
    shares: dict[str, tuple[Ints, Ints]] = {}
    for by, group, hit, groups in (
        ("part", part, ~found, PARTS),
        ("words", words, found, LONG),
        ("class", references.classes, found, len(PRMU)),
    ):
        every, hits = (
            count_groups(references.document, np.where(mask, group, -1), groups, len(counted))
            for mask in (some, some & hit)
        )
        shares |= {f"{by} {n}": (hits[:, n], every[:, n]) for n in range(groups)}
    return Looked(ShareCounts.of(shares), rows.values * counted[:, None], aligned.count_references("all"))


@dataclass(frozen=True, slots=True)
class Group:
    """A group of references or of documents, how many they are, and a score of a system on them."""

    by: str
    group: str
    count: int
    metric: str
    value: float
    interval: Interval

    def as_dict(self) -> dict[str, Any]:
        """The entry of the JSON output."""
        row = {name: getattr(self, name) for name in ("by", "group", "count", "metric", "value")}
        return with_intervals(row, {"value": self.interval})


@dataclass(frozen=True, slots=True)
class Looks:
    """Where a system looks: the share it misses in each part, and its scores on groups."""

    miss_rate: tuple[float | None, ...] | None
    miss_rate_intervals: tuple[Interval, ...]
    groups: tuple[Group, ...]


def looks(parts: Sequence[Looked], lengths: Ints, counting: Counting, texts: bool, level: float) -> Looks:
    """Where a system looks in the whole corpus, given the words of each document, with intervals of a level."""
    shares = ShareCounts.joined([part.shares for part in parts])
    sums, intervals = shares.sums(), shares.intervals(level)

    def recalls(by: str, key: str, names: Sequence[str]) -> Iterator[Group]:
        for n, name in enumerate(names):
            hits, count = sums[f"{key} {n}"]
            if count:
                yield Group(by, name, count, "recall", hits / count, intervals[f"{key} {n}"])

    f1 = np.concatenate([part.f1 for part in parts])
    references = np.concatenate([part.references for part in parts])
    names = [str(n + 1) if n + 1 < LONG else f"{LONG} or more" for n in range(LONG)]
    scores = partial(_scores, f1, METRICS["f1"].averages[counting.average], level)
    groups = [
        *recalls("words of a reference", "words", names),
        *(recalls("class of a reference", "class", list(PRMU)) if texts else ()),
        *scores("references of a document", references, MANY),
        *(scores("words of a document", lengths, _quarters(lengths)) if texts else ()),
    ]
    missed = [sums[f"part {n}"] for n in range(PARTS)]
    return Looks(
        tuple(missing / count if count else None for missing, count in missed) if texts else None,
        tuple(intervals[f"part {n}"] for n in range(PARTS)),
        tuple(groups),
    )


def _quarters(lengths: Ints) -> tuple[int, ...]:
    """Where the documents fall into four parts of about as many, by their words."""
    return tuple(int(edge) for edge in np.unique(np.quantile(lengths, (0.25, 0.5, 0.75), method="lower")))


def _scores(f1: Floats, finish: Finish, level: float, by: str, values: Ints, edges: Sequence[int]) -> Iterator[Group]:
    """F1@M of the documents with up to each edge, and with more."""
    group = np.searchsorted(np.array(edges), values)
    for n in range(len(edges) + 1):
        rows = f1[(group == n) & (f1[:, -1] > 0)]
        low = edges[n - 1] + 1 if n else 0
        name = f"up to {edges[n]}" if not n else f"{low} or more" if n == len(edges) else f"{low} to {edges[n]}"
        if len(rows):
            interval = sample_interval(Sample(rows, finish), level)
            yield Group(by, name, len(rows), "f1@M", float(finish(rows.sum(axis=0))), interval)
