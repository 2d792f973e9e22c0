"""The predictions of several systems as one list a document: who has a phrase, and where it stands among all.

Phrases are one when their stems are, under the protocol by which the systems were aligned. The order is that of
reciprocal rank fusion (Cormack et al. 2009): a phrase scores the sum of 1 / (k + rank) over the systems that have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from karat.corpus import NO_PREDICTIONS
from karat.errors import InputError
from karat.matching.align import align
from karat.matching.columns import Aligned, Bools, Floats, Ints, Numbers, Predictions, Prepared, lookup, position

By = Literal["rrf", "vote", "run"]
K = 60.0  # as Cormack et al. chose it


@dataclass(frozen=True, slots=True)
class Fused:
    """The distinct phrases of some documents, best first in each; a row of `has` says which systems have it."""

    document: Ints
    phrase: Ints
    system: Ints  # the first that has it
    row: Ints  # in that system's predictions
    has: Bools  # [phrases, systems]
    rows: Ints  # [phrases, systems]: in each system's predictions, where it has it
    score: Floats  # of reciprocal rank fusion

    @property
    def votes(self) -> Ints:
        """How many systems have each phrase."""
        return np.asarray(self.has.sum(axis=1))

    def take(self, chosen: Bools | Ints) -> Fused:
        """Some of the phrases."""
        return Fused(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def of_each(self, columns: Sequence[Any], dtype: Any = np.int64) -> Any:
        """For each phrase what a column of its first system's predictions says."""
        return _of_first(self.system, self.row, columns, dtype)


def _of_first(system: Ints, row: Ints, columns: Sequence[Any], dtype: Any = np.int64) -> Any:
    found = np.zeros(len(row), dtype=dtype)
    for s, column in enumerate(columns):
        mine = system == s
        found[mine] = column[row[mine]]
    return found


def checked_k(k: float) -> float:
    """The k of reciprocal rank fusion, if it is one."""
    if not (0 <= k < float("inf")):
        raise InputError(f"k is a number from 0 on, as 60, not {k:g}")
    return k


def checked_votes(at_least: int, systems: int) -> int:
    """How many systems must have a phrase, if there are as many."""
    if not 1 <= at_least <= systems:
        raise InputError(
            f"at least {at_least} of {systems} runs cannot have a phrase; write a number from 1 to {systems}"
        )
    return at_least


def fuse(aligned: Sequence[Aligned], k: float = K, by: By = "rrf", chosen: Sequence[Bools] | None = None) -> Fused:
    """All phrases of the systems, whose documents are the same and were prepared once.

    Best first; of equals, the one of the first system, and of these the one with the better rank. With `by="vote"` the
    phrases that more systems have stand first; with `by="run"` those of the first system, then those that the next
    ones add, in the order of their systems. `chosen` leaves rows of each system out; ranks stay what they are. An empty
    phrase is none.
    """
    same = _same_phrases(aligned[0].prepared)
    parts = []
    for s, each in enumerate(aligned):
        key = each.predictions.document * max(len(same), 1) + same[each.predictions.phrase]
        rows, rank = _ranked(each, key)
        kept = slice(None) if chosen is None else chosen[s][rows]
        parts.append(_Entries(key[rows], np.full(len(rows), s), rows, rank).take(kept))
    entries = _Entries(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(_Entries)))
    return _grouped(entries, aligned, k, by)


@dataclass(frozen=True, slots=True)
class _Entries:
    """A phrase in a list: key (equal for equal phrases of a document), system, row of its predictions, rank from 1."""

    key: Ints
    system: Ints
    row: Ints
    rank: Ints

    def take(self, chosen: Any) -> _Entries:
        return _Entries(*(getattr(self, field.name)[chosen] for field in fields(self)))


def _same_phrases(prepared: Prepared) -> Ints:
    """A number for each phrase, the same for those that repeat each other under the protocol."""
    if prepared.matching.duplicates != "underscore" or not any("_" in form for form in prepared.table):
        return np.arange(len(prepared.table))
    return Numbers().of([form.replace(" ", "_") for form in prepared.table])


def _ranked(aligned: Aligned, key: Ints) -> tuple[Ints, Ints]:
    """(the rows of a system that count, each phrase once; their ranks from 1)."""
    p = aligned.predictions
    rows = np.flatnonzero(p.kept & (p.phrase != aligned.prepared.table.get("", -1)))
    rows = rows[np.sort(np.unique(key[rows], return_index=True)[1])]
    return rows, position(p.document[rows]) + 1


def _grouped(entries: _Entries, aligned: Sequence[Aligned], k: float, by: By) -> Fused:
    in_order = entries.take(np.argsort(entries.key, kind="stable"))  # the systems of a phrase in their order
    # The ranks of a phrase in their order, so that a sum is the same in whichever order the systems are given.
    by_rank = entries.rank[np.lexsort((entries.rank, entries.key))]
    key = in_order.key
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else key
    score = np.add.reduceat(1.0 / (k + by_rank), starts) if len(key) else np.zeros(0)
    group = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(key)]))
    has = np.zeros((len(starts), len(aligned)), dtype=bool)
    has[group, in_order.system] = True
    rows = np.zeros(has.shape, dtype=np.int64)
    rows[group, in_order.system] = in_order.row
    first = in_order.take(starts)
    said = [each.predictions for each in aligned]
    document, phrase = (
        _of_first(first.system, first.row, [getattr(p, n) for p in said]) for n in ("document", "phrase")
    )
    found = Fused(document, phrase, first.system, first.row, has, rows, score)
    further = {"rrf": (-score,), "vote": (-score, -found.votes), "run": ()}[by]  # what counts more comes last
    return found.take(np.lexsort((first.rank, first.system, *further, document)))


def as_aligned(fused: Fused, aligned: Sequence[Aligned]) -> Aligned:
    """The fused list in columns, as if it were a run; of no phrase at all the protocol may make an empty one."""
    prepared, matching = aligned[0].prepared, aligned[0].prepared.matching
    fused = fused.take(_read(fused, aligned[0]))
    said = [each.predictions for each in aligned]
    count = len(fused.row)
    hit, surface = (fused.of_each([getattr(p, name) for p in said]) for name in ("hit", "surface"))
    own = Predictions(
        document=fused.document,
        phrase=fused.phrase,
        source=position(fused.document),
        valid=np.ones(count, dtype=bool),
        repeat=np.zeros(count, dtype=bool),
        kept=np.ones(count, dtype=bool),
        present=fused.of_each([p.present for p in said], dtype=bool),
        hit=hit,
        surface=surface,
    )
    if matching.blank != "keep":
        return Aligned(prepared, own, aligned[0].counting)
    nothing = align(prepared, [NO_PREDICTIONS] * len(prepared), aligned[0].counting).predictions
    lacking = ~lookup(nothing.document, own.document)[0]
    names = [field.name for field in fields(Predictions)]
    both = [np.concatenate([getattr(own, name), getattr(nothing, name)[lacking]]) for name in names]
    order = np.argsort(both[0], kind="stable")
    return Aligned(prepared, Predictions(*(column[order] for column in both)), aligned[0].counting)


def _read(fused: Fused, aligned: Aligned) -> Bools:
    """Which phrases of the fused list the protocol looks at."""
    matching = aligned.prepared.matching
    read = np.ones(len(fused.phrase), dtype=bool)
    if matching.limit != "all":
        read &= position(fused.document) < int(matching.limit)
    if matching.one_word == "first":
        single = np.array([" " not in form for form in aligned.forms], dtype=bool)[fused.phrase]
        singles = np.flatnonzero(single)
        read[singles[position(fused.document[singles]) > 0]] = False
    return read
