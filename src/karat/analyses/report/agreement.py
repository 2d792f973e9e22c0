"""How far systems agree, where no reference says which of them is right.

Phrases are equal when their stems are, under the first protocol. Of two systems and a document, Hooper's measure is
|A ∩ B| / |A ∪ B|, A and B being what they give; undefined where neither gives a phrase. Means are over documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from karat.errors import InputError
from karat.matching.columns import Bools, Floats, Ints
from karat.matching.fusing import fuse
from karat.matching.passes import Pass, View
from karat.metrics.base import divide
from karat.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Shared:
    """How many of a system's phrases, in the mean of the documents, all systems give, some others, and it alone."""

    system: str
    given: float
    by_all: float
    by_some: float
    alone: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of each document: how many phrases each system gives, which of them others give too, and what each two share."""

    corpus: str
    systems: tuple[str, ...]
    protocol: str
    given: Ints = field(repr=False)  # [documents, systems]
    alone: Ints = field(repr=False)  # [documents, systems]: given by no other
    by_all: Ints = field(repr=False)  # [documents]
    both: Ints = field(repr=False)  # [documents, pairs], pairs as `combinations` gives them
    either: Ints = field(repr=False)  # [documents, pairs]
    notes: tuple[str, ...] = ()

    @property
    def defined(self) -> Bools:
        """The documents for which any system gives a phrase."""
        return np.asarray(self.given.sum(axis=1) > 0)

    @property
    def shared(self) -> float:
        """How many phrases of a document all systems give, in the mean."""
        return self._mean(self.by_all)

    @property
    def phrases(self) -> float:
        """How many phrases a system gives for a document, in the mean of all systems."""
        return self._mean(self.given.mean(axis=1))

    @property
    def hooper(self) -> float:
        """The mean over all pairs of systems; NaN where none is defined."""
        found = [each["hooper"] for each in self.rows() if each["hooper"] is not None]
        return float(np.mean(found)) if found else float("nan")

    def per_document(self) -> Floats:
        """The mean over the pairs of systems of each document; NaN where no system gives a phrase."""
        shares = divide(self.both, self.either, empty=np.nan)
        known = ~np.isnan(shares)
        return divide(np.where(known, shares, 0.0).sum(axis=1), known.sum(axis=1), empty=np.nan)

    def by_system(self) -> Iterator[Shared]:
        """What becomes of each system's phrases."""
        for s, system in enumerate(self.systems):
            given, all_, alone = map(self._mean, (self.given[:, s], self.by_all, self.alone[:, s]))
            yield Shared(system, given, all_, given - all_ - alone, alone)

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each two systems."""
        found = []
        for n, (a, b) in enumerate(combinations(self.systems, 2)):
            defined = self.either[:, n] > 0
            shares = divide(self.both[:, n], self.either[:, n], empty=0.0)[defined]
            row = {"corpus": self.corpus, "a": a, "b": b, "protocol": self.protocol}
            mean = float(shares.mean()) if len(shares) else None
            found.append(row | {"hooper": mean, "both": self._mean(self.both[:, n]), "documents": int(defined.sum())})
        return found

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values."""
        return {"rows": self.rows(), "notes": list(self.notes), "shared": self.shared, "phrases": self.phrases}

    def _mean(self, counts: Ints | Floats) -> float:
        there = counts[self.defined]
        return float(there.mean()) if len(there) else 0.0


@dataclass(frozen=True, slots=True)
class _Counts:
    """The columns of a chunk."""

    given: Ints
    alone: Ints
    by_all: Ints
    both: Ints
    either: Ints


def in_pass(reading: Pass, protocol: Protocol) -> Callable[[], Agreement]:
    """Registers what agreement needs of a pass. Raises InputError if there are fewer than two systems."""
    systems = reading.setup.systems
    if len(systems) < 2:
        raise InputError(f"agreement is of two systems or more, not of {len(systems)}")
    answers = reading.look(partial(_look, protocol))

    def finish() -> Agreement:
        parts = answers.parts
        given, alone, by_all, both, either = (
            np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(_Counts)
        )
        return Agreement(reading.corpus.name, systems, str(protocol), given, alone, by_all, both, either)

    return finish


def _look(protocol: Protocol, view: View) -> _Counts:
    """A look: who gives what in the documents of a chunk; those that a run lacks and that are left out have nothing."""
    systems = range(len(view.setup.systems))
    fused = fuse([view.aligned(s, protocol) for s in systems])
    there = np.ones(len(view), dtype=bool)
    for s in systems:
        there[view.left_out(s)] = False
    has, votes = fused.has & there[fused.document][:, None], fused.votes

    def count(rows: Bools) -> Ints:
        return np.bincount(fused.document[rows], minlength=len(view))

    return _Counts(
        np.stack([count(has[:, s]) for s in systems], axis=1),
        np.stack([count(has[:, s] & (votes == 1)) for s in systems], axis=1),
        count(np.asarray(has.all(axis=1))),
        np.stack([count(has[:, a] & has[:, b]) for a, b in combinations(systems, 2)], axis=1),
        np.stack([count(has[:, a] | has[:, b]) for a, b in combinations(systems, 2)], axis=1),
    )
