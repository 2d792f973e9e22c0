"""What systems get wrong: phrases most often given wrongly, missed, given for too many documents; near misses by kind.

Phrases are counted by their stems, as the first protocol matches them, and shown as they are first written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from karat.analyses import nearmiss
from karat.analyses.nearmiss import NearMiss, NearMissOptions
from karat.analyses.report.result import Mistake, Mistakes, NearKind
from karat.matching.columns import Bools, Ints, Numbers
from karat.matching.passes import Pass, View
from karat.protocol import Protocol

T = TypeVar("T", bound=np.generic)

MOST = 12  # phrases of a list
EXAMPLES = 2  # of a kind of near misses
OFTEN = 0.01  # the share of the documents from which on a phrase is given for many
LEAST = 5  # documents that are many, however small the corpus
TIMES = 2  # how many times as often as it is a reference


@dataclass(frozen=True, slots=True)
class _Given:
    """The phrases of one system in a chunk, each once a document, and which references it misses."""

    document: Ints
    phrase: Ints
    right: Bools
    missed: Bools  # by reference


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The phrases of a chunk by their numbers there: stems, how each is written, who gives which."""

    documents: int
    forms: list[str]
    surfaces: list[str]
    reference_document: Ints
    reference_phrase: Ints
    systems: list[_Given]


def _chunk(protocol: Protocol, view: View) -> _Chunk:
    """A look: what is given and what is missed in a chunk."""
    aligned = [view.aligned(s, protocol) for s in range(len(view.setup.systems))]
    prepared = aligned[0].prepared
    r, forms = prepared.references, list(prepared.table)
    width, written = len(forms), list(prepared.surfaces)
    surface = np.full(width, -1)
    systems = []
    for each in aligned:
        p = each.predictions
        keys, first = np.unique((p.document * width + p.phrase)[p.kept], return_index=True)
        rows = np.flatnonzero(p.kept)[first]
        found = np.isin(r.document[r.variant_reference] * width + r.variant_phrase, keys)
        missed = np.ones(len(r.document), dtype=bool)
        missed[r.variant_reference[found]] = False
        systems.append(_Given(p.document[rows], p.phrase[rows], p.hit[rows] >= 0, missed))
        surface[p.phrase[::-1]] = p.surface[::-1]
    surface[r.variant_phrase[::-1]] = r.variant_surface[::-1]
    names = [written[s].strip() if s >= 0 else form for s, form in zip(surface.tolist(), forms, strict=True)]
    return _Chunk(len(prepared), forms, names, r.document, r.phrase, systems)


def in_pass(
    reading: Pass, protocol: Protocol, options: NearMissOptions | None
) -> Callable[[Sequence[int]], tuple[Mistakes, ...]]:
    """Registers what the mistakes of each system need of a pass; options of near misses where there are references.

    What comes back is called with the number that each document of the pass has on the page.
    """
    chunks = reading.look(partial(_chunk, protocol))
    pairs: list[NearMiss] = []
    near = None if options is None else nearmiss.in_pass(reading, replace(options, examples=0, pairs=pairs.extend))

    def finish(places: Sequence[int]) -> tuple[Mistakes, ...]:
        if near is not None:
            near()
        numbers = dict(zip(reading.ids, places, strict=True))
        whole = _Whole(chunks.parts, places) if chunks.parts else None
        return (
            ()
            if whole is None
            else tuple(
                whole.mistakes(s, _kinds([each for each in pairs if each.system == system], numbers))
                for s, system in enumerate(reading.setup.systems)
            )
        )

    return finish


class _Whole:
    """All chunks as one: phrases and documents have numbers of the whole corpus."""

    def __init__(self, parts: Sequence[_Chunk], places: Sequence[int]) -> None:
        self.places = np.asarray(places)
        table = Numbers()
        renamed = [table.of(part.forms) for part in parts]
        starts = np.cumsum([0, *(part.documents for part in parts)])
        self.documents = int(starts[-1])
        self.names: list[str] = [""] * len(table)
        for part, numbers in zip(reversed(parts), reversed(renamed), strict=True):
            for number, name in zip(numbers.tolist(), part.surfaces, strict=True):
                self.names[number] = name
        self.blank = table.get("", -1)
        both = list(zip(parts, renamed, starts.tolist(), strict=False))
        self.reference = _joined([part.reference_document + start for part, _, start in both])
        self.wanted = _joined([numbers[part.reference_phrase] for part, numbers, _ in both])
        self.systems = [
            _Given(
                _joined([part.systems[s].document + start for part, _, start in both]),
                _joined([numbers[part.systems[s].phrase] for part, numbers, _ in both]),
                _joined([part.systems[s].right for part, _, _ in both]),
                _joined([part.systems[s].missed for part, _, _ in both]),
            )
            for s in range(len(parts[0].systems))
        ]

    def mistakes(self, system: int, near: tuple[NearKind, ...]) -> Mistakes:
        """What one system gets wrong."""
        own, count = self.systems[system], len(self.names)
        given = np.bincount(own.phrase, minlength=count)
        wrong = np.bincount(own.phrase[~own.right], minlength=count)
        wanted = np.bincount(self.wanted, minlength=count)
        missed = np.bincount(self.wanted[own.missed], minlength=count)
        many = max(LEAST, OFTEN * self.documents)
        generic = np.where((given >= many) & (given >= TIMES * wanted), given, 0)
        referred = len(self.wanted) > 0
        return Mistakes(
            self._most(wrong, given, own.document[~own.right], own.phrase[~own.right]) if referred else (),
            self._most(missed, wanted, self.reference[own.missed], self.wanted[own.missed]),
            self._most(generic, wanted, own.document, own.phrase),
            near,
        )

    def _most(self, counts: Ints, of: Ints, documents: Ints, phrases: Ints) -> tuple[Mistake, ...]:
        """The phrases with the highest counts, the first met of equals; once or never is no pattern."""
        if not len(counts):
            return ()
        order = np.argsort(-counts, kind="stable")[: MOST + 1].tolist()
        return tuple(
            Mistake(
                self.names[n],
                int(counts[n]),
                int(of[n]),
                tuple(self.places[np.unique(documents[phrases == n])].tolist()),
            )
            for n in order
            if counts[n] > 1 and n != self.blank
        )[:MOST]


def _joined(parts: Sequence[NDArray[T]]) -> NDArray[T]:
    return np.concatenate(parts)


def _kinds(pairs: Sequence[NearMiss], numbers: dict[str, int]) -> tuple[NearKind, ...]:
    """The near misses of a system by the relation of the two phrases, the most frequent kind first."""
    by_kind: dict[str, list[NearMiss]] = {}
    for each in pairs:
        by_kind.setdefault(each.classes.relation, []).append(each)
    return tuple(
        NearKind(
            kind,
            len(own),
            tuple(pair for pair, _ in Counter((e.prediction, e.reference) for e in own).most_common(EXAMPLES)),
            tuple(sorted({numbers[each.id] for each in own})),
        )
        for kind, own in sorted(by_kind.items(), key=lambda item: -len(item[1]))
    )
