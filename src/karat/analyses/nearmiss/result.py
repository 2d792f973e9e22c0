"""What near misses are: one of them, their options, and the counts of all of them by class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from karat.errors import unknown
from karat.matching.columns import SUBSETS, Subset
from karat.matching.inputs import ProtocolsLike
from karat.options import MatchOptions, WorkOptions, cutoff_option, group, option, protocol_option
from karat.results.displayed import Displayed
from karat.similarity.classes import CLASSES, Classes
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
class NearMissCounts:
    """The near misses of one system under one protocol, counted by class."""

    system: str
    protocol: str
    predictions: Side
    references: Side
    groups: Mapping[Key, Group]

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
        "share",
        "mean_score",
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
        return [self._row(found, key) for found in self.found for key in self.classes()]

    def _row(self, found: NearMissCounts, key: Key) -> dict[str, Any]:
        group = found.groups.get(key, NOTHING)
        return {
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

    def summary(self) -> list[dict[str, Any]]:
        """One dict for each system and protocol: how much was missed, and how much of it almost found."""
        return [
            {
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
            for found in self.found
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, the options, and a summary."""
        names = ("similarity", "threshold", "subset", "cutoff", "every", "both")
        chosen = {"relation": self.options.relation} if self.options.relation is not None else {}
        return {
            "signatures": self.signatures,
            "rows": self.rows(),
            "notes": list(self.notes),
            "options": {name: getattr(self.options, name) for name in names} | chosen,
            "summary": self.summary(),
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output: examples in one cell."""
        return [
            row | {"examples": "; ".join(arrow(each["prediction"], each["reference"]) for each in row["examples"])}
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
