"""What near misses are: one of them, their options, and the counts of all of them by class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from karat.errors import unknown
from karat.matching.columns import SUBSETS, Bools, Floats, Ints, Subset
from karat.matching.inputs import ProtocolsLike
from karat.options import IntervalOptions, MatchOptions, WorkOptions, cutoff_option, group, option, protocol_option
from karat.results.displayed import Displayed
from karat.results.intervals import csv_names, with_intervals, with_low_and_high
from karat.similarity.classes import CLASSES, Classes
from karat.stats.shares import SHARE, UNDEFINED, Interval, ShareCounts, share_interval
from karat.tabular import Table

CROSSED = "location"  # the kind that is split by direction

Key = tuple[str, str, str | None]  # kind, class, and for a location the direction


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A prediction of a document, the reference it is near to, how near, and of which kind."""

    id: str
    system: str
    protocol: str
    prediction: str
    reference: str
    score: float
    classes: Classes


@dataclass(frozen=True, slots=True)
class NearMissOptions:
    """What is near, and how `nearmiss` works."""

    protocol: ProtocolsLike = protocol_option(repeatable=True)
    similarity: str = option(
        "overlap",
        "How near two phrases are, as kmr or file:PATH. See `karat list similarities`.",
        flags=("--score",),
        metavar="NAME[,option=value...]",
        complete="similarities",
    )
    threshold: float | None = option(
        None, "Near is a score of at least T, from 0 to 1.", metavar="T", otherwise="the phrases share a word"
    )
    relation: str | None = option(
        None,
        "Only near misses of these relations, as include,part-of.",
        metavar="NAME,...",
        otherwise="every relation",
        complete="relations",
    )
    subset: Subset = option("all", "Which phrases are looked at.", values=SUBSETS)
    cutoff: str = cutoff_option("The first K predictions, or O, G, or M, all of them.")
    every: bool = option(False, "Every near reference of a prediction, not the nearest alone.")
    both: bool = option(False, "Tell phrases that hold first word and head from those that hold the head.")
    examples: int = option(3, "Examples of each class.", least=0, metavar="N")
    pairs: Callable[[list[NearMiss]], None] | None = option(
        None, "Called with the near misses of each chunk of documents.", command=False
    )
    confidence: IntervalOptions = group(IntervalOptions)
    join: MatchOptions = group(MatchOptions)
    work: WorkOptions = group(WorkOptions)

    def relations(self) -> frozenset[str] | None:
        """The relations that count; None where every one does. Raises InputError if there is none of a name."""
        if self.relation is None:
            return None
        names = [name.strip() for name in self.relation.split(",")]
        for name in names:
            if name not in CLASSES["relation"]:
                raise unknown("relation", name, CLASSES["relation"])
        return frozenset(names)


@dataclass(frozen=True, slots=True)
class Group:
    """The near misses of one class: how many, the sum of their scores, and the first of them."""

    pairs: int
    total: Fraction
    examples: tuple[NearMiss, ...]


NOTHING = Group(0, Fraction(0), ())


@dataclass(frozen=True, slots=True)
class Side:
    """Of the predictions, or of the references: how many there are, are unmatched, and of these have a near miss."""

    given: int
    unmatched: int
    near: int

    @property
    def share(self) -> float | None:
        """The share of the unmatched that have a near miss; None where none is unmatched."""
        return self.near / self.unmatched if self.unmatched else None

    def plus(self, other: Side) -> Side:
        """Both together."""
        return Side(self.given + other.given, self.unmatched + other.unmatched, self.near + other.near)


@dataclass(frozen=True, slots=True)
class MissColumns:
    """The document, the classes and the score of near misses, as columns."""

    document: NDArray[np.int32]
    classes: NDArray[np.uint8]  # [near misses, kinds]: places in CLASSES
    score: Floats

    @classmethod
    def of(cls, document: Ints, misses: Sequence[NearMiss]) -> MissColumns:
        """Return the columns of near misses, given the document of each."""
        places = [[_PLACES[kind][getattr(each.classes, kind)] for kind in CLASSES] for each in misses]
        return cls(
            document.astype(np.int32),
            np.array(places, dtype=np.uint8).reshape(len(misses), len(CLASSES)),
            np.array([each.score for each in misses], dtype=np.float64),
        )

    @classmethod
    def joined(cls, parts: Sequence[MissColumns]) -> MissColumns:
        """Return the columns of several chunks, documents numbered without gaps."""
        document = np.unique(np.concatenate([part.document for part in parts]), return_inverse=True)[1]
        classes, score = (np.concatenate([getattr(part, name) for part in parts]) for name in ("classes", "score"))
        return cls(document.ravel().astype(np.int32), classes, score)

    def moved(self, documents: int) -> MissColumns:
        """Return the columns of a chunk that follows so many documents."""
        return replace(self, document=self.document + np.int32(documents))

    def is_in(self, key: Key) -> Bools:
        """Return whether each near miss is of a class; of a location without a direction, whatever the direction."""
        kind, name, direction = key
        kinds = list(CLASSES)
        found = self.classes[:, kinds.index(kind)] == _PLACES[kind][name]
        if direction is not None:
            found = found & (self.classes[:, kinds.index("direction")] == _PLACES["direction"][direction])
        return np.asarray(found)

    def intervals(self, some: Bools, level: float) -> dict[str, Interval]:
        """Return the intervals of the share and of the mean score of some of the near misses."""
        if not len(self.document):
            return {"share": UNDEFINED, "mean_score": UNDEFINED}
        documents = int(self.document.max()) + 1
        every = np.bincount(self.document, minlength=documents)
        pairs = np.bincount(self.document[some], minlength=documents)
        total = np.bincount(self.document[some], self.score[some], documents)
        within = self.score.min() >= 0 and self.score.max() <= 1
        bounds = SHARE if within else (-np.inf, np.inf)
        return {
            "share": share_interval(pairs, every, level),
            "mean_score": share_interval(total, pairs, level, bounds),
        }


_PLACES = {kind: {name: n for n, name in enumerate(names)} for kind, names in CLASSES.items()}


@dataclass(frozen=True, slots=True)
class NearMissCounts:
    """The near misses of one system under one protocol, counted by class."""

    system: str
    protocol: str
    predictions: Side
    references: Side
    groups: Mapping[Key, Group]
    sides: ShareCounts = field(repr=False)  # near and unmatched phrases of documents: predictions, references
    columns: tuple[MissColumns, ...] = field(repr=False)  # of each chunk

    @property
    def pairs(self) -> int:
        """How many near misses there are."""
        return sum(group.pairs for (kind, _, _), group in self.groups.items() if kind == CROSSED)

    def share(self, key: Key) -> float | None:
        """The share of a class among all near misses; None where there are none."""
        return self.groups[key].pairs / self.pairs if key in self.groups else 0.0 if self.pairs else None


@dataclass(frozen=True, slots=True, repr=False)
class NearMisses(Displayed):
    """The near misses of some runs, counted by class, with examples."""

    csv_fields: ClassVar[tuple[str, ...]] = (
        "corpus",
        "system",
        "protocol",
        "kind",
        "class",
        "direction",
        "pairs",
        *csv_names(("share", "mean_score"), ("share", "mean_score")),
        "examples",
    )

    corpus: str
    documents: int
    options: NearMissOptions
    found: tuple[NearMissCounts, ...]
    signatures: dict[str, str]
    notes: tuple[str, ...]

    def classes(self) -> list[Key]:
        """The classes that any of the systems has, in the order of CLASSES."""
        there = {key for found in self.found for key in found.groups}
        return [key for key in _all_keys() if key in there]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each system, protocol and class."""
        return [
            self._row(found, key, columns)
            for found in self.found
            for columns in [MissColumns.joined(found.columns)]
            for key in self.classes()
        ]

    def _row(self, found: NearMissCounts, key: Key, columns: MissColumns) -> dict[str, Any]:
        group = found.groups.get(key, NOTHING)
        row = {
            "corpus": self.corpus,
            "system": found.system,
            "protocol": found.protocol,
            "kind": key[0],
            "class": key[1],
            "direction": key[2],
            "pairs": group.pairs,
            "share": found.share(key),
            "mean_score": float(group.total) / group.pairs if group.pairs else None,
            "examples": [
                {"id": each.id, "prediction": each.prediction, "reference": each.reference, "score": each.score}
                for each in group.examples
            ],
        }
        return with_intervals(row, columns.intervals(columns.is_in(key), self.options.confidence.level))

    def summary(self) -> list[dict[str, Any]]:
        """One dict for each system and protocol: how much was missed, and how much of it almost found."""
        return [self._summary(found) for found in self.found]

    def _summary(self, found: NearMissCounts) -> dict[str, Any]:
        row = {
            "corpus": self.corpus,
            "system": found.system,
            "protocol": found.protocol,
            "predictions": found.predictions.given,
            "unmatched_predictions": found.predictions.unmatched,
            "near_predictions": found.predictions.near,
            "near_predictions_share": found.predictions.share,
            "references": found.references.given,
            "unmatched_references": found.references.unmatched,
            "near_references": found.references.near,
            "near_references_share": found.references.share,
            "pairs": found.pairs,
            "documents": self.documents,
        }
        ends = self.side_intervals(found)
        return with_intervals(row, {f"near_{side}_share": interval for side, interval in ends.items()})

    def side_intervals(self, found: NearMissCounts) -> dict[str, Interval]:
        """The intervals of the shares of predictions and of references that have a near miss."""
        return found.sides.intervals(level=self.options.confidence.level)

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, the options, and a summary."""
        names = ("similarity", "threshold", "subset", "cutoff", "every", "both")
        chosen = {"relation": self.options.relation} if self.options.relation is not None else {}
        return {
            "signatures": self.signatures,
            "rows": self.rows(),
            "notes": list(self.notes),
            "options": {name: getattr(self.options, name) for name in names}
            | chosen
            | {"level": self.options.confidence.level},
            "summary": self.summary(),
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output: examples in one cell."""
        return [
            with_low_and_high(row)
            | {"examples": "; ".join(arrow(each["prediction"], each["reference"]) for each in row["examples"])}
            for row in self.rows()
        ]

    def tables(self) -> Iterator[Table]:
        """For each system and protocol: how much was almost got, the classes, and examples."""
        from karat.analyses.nearmiss.tables import tables_of

        return tables_of(self)


def _all_keys() -> Iterator[Key]:
    for kind, values in CLASSES.items():
        for value in values:
            if kind == CROSSED:
                yield from ((kind, value, direction) for direction in CLASSES["direction"])
            else:
                yield kind, value, None


def arrow(prediction: str, reference: str) -> str:
    """Two phrases on one line, without what could move a terminal's cursor."""
    text = " ".join(f"{prediction} → {reference}".split())
    return "".join(letter if letter.isprintable() else "�" for letter in text)
