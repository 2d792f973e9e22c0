"""The options and the result of `karat.consistency`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from karat.analyses.consistency.intervals import ListedIntervals
from karat.matching.inputs import CorpusLike
from karat.options import IntervalOptions, group, language_option, option, path_option
from karat.results.displayed import Displayed, flat_values
from karat.results.intervals import with_intervals, with_low_and_high
from karat.stats.shares import Interval
from karat.tabular import Table
from karat.vocabulary import VocabularyLike

Nearest = Literal["levenshtein", "cosine"]
By = Literal["stem", "order", "abbreviation", "near"]
BY: dict[By, str] = {
    "stem": "the same stems",
    "order": "the same stems in another order, or with other particles",
    "abbreviation": "one is the initials of the other",
    "near": "their vectors are near",
}


@dataclass(frozen=True, slots=True)
class ConsistencyOptions:
    """When names are one concept, and what they are compared with."""

    corpus: CorpusLike | None = path_option("The documents, whose texts explain abbreviations.", "CORPUS")
    model: str = option(
        "hash", "Embedder: hash, vectors:PATH or an encoder's directory.", metavar="NAME", complete="embedders"
    )
    near: float | None = option(0.9, "Names are near with a cosine of T or more.", above=0, most=1, metavar="T")
    vocabulary: VocabularyLike | None = path_option(
        "Controlled terms, a list or SKOS: how much of a run is among them, and what is nearest to the rest.",
        "FILE[,option=value...]",
    )
    nearest: Nearest = option(
        "levenshtein", "By what an entry is nearest: by letters or by vectors.", values=("levenshtein", "cosine")
    )
    worst: int = option(
        10, "Show the N worst concepts, and phrases that are no terms; 0 for all.", least=0, metavar="N"
    )
    language: str | None = language_option()
    confidence: IntervalOptions = group(IntervalOptions)


@dataclass(frozen=True, slots=True)
class Level:
    """How consistent the names are when concepts are distinguished in one way."""

    by: By
    names: int
    phrases: int  # names, each as often as it has documents
    concepts: int
    rival_names: int  # names of concepts that have another one
    rival_phrases: int
    other_names: int  # phrases that are not the most frequent name of their concept
    entropy: float
    intervals: Mapping[str, Interval]  # of names_per_concept, the shares and the entropy

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values."""
        row = {
            "by": self.by,
            "names": self.names,
            "phrases": self.phrases,
            "concepts": self.concepts,
            "names_per_concept": share_of(self.names, self.concepts),
            "rival_names": self.rival_names,
            "rival_names_share": share_of(self.rival_names, self.names),
            "rival_phrases": self.rival_phrases,
            "rival_phrases_share": share_of(self.rival_phrases, self.phrases),
            "other_names": self.other_names,
            "other_names_share": share_of(self.other_names, self.phrases),
            "entropy": self.entropy if self.phrases else None,
        }
        return with_intervals(row, self.intervals)


def share_of(part: int, whole: int) -> float | None:
    """A share, None of nothing."""
    return part / whole if whole else None


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a concept, how many documents have it, and what ties it to the most frequent one (None for that)."""

    name: str
    count: int
    by: By | None


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept with several names, the most frequent one first."""

    names: tuple[Name, ...]

    @property
    def count(self) -> int:
        """Documents that have it, by any name; one that has two of them counts twice."""
        return sum(each.count for each in self.names)

    @property
    def others(self) -> int:
        """Documents that have it by another name than the first."""
        return self.count - self.names[0].count


@dataclass(frozen=True, slots=True)
class Fix:
    """A name that is not in the vocabulary, and the entry that is most like it."""

    name: str
    count: int
    entry: str | None  # None of an empty vocabulary
    score: float | None


@dataclass(frozen=True, slots=True)
class Listed:
    """How much of a system's names is in a controlled vocabulary."""

    names: Mapping[str, int]  # by LISTED
    phrases: Mapping[str, int]
    fixes: tuple[Fix, ...]
    intervals: ListedIntervals

    def as_dict(self) -> dict[str, Any]:
        """The counts and shares as plain values."""
        inside = [how for how in LISTED if how != OUTSIDE]
        row = {
            "names": dict(self.names),
            "phrases": dict(self.phrases),
            "names_share": share_of(sum(self.names[how] for how in inside), sum(self.names.values())),
            "phrases_share": share_of(sum(self.phrases[how] for how in inside), sum(self.phrases.values())),
        }
        outside = {f"{name}_share": ends[OUTSIDE] for name, ends in self.intervals.items()}
        return with_intervals(row, {name: (1 - high, 1 - low) for name, (low, high) in outside.items()})


OUTSIDE = "outside"
LISTED = {
    "term": "as a term of the list",
    "variant": "as a variant of a term",
    "stem": "by the stems of a term or variant",
    "order": "by these in another order",
    OUTSIDE: "not in the list",
}


@dataclass(frozen=True, slots=True)
class Named:
    """One system's names: how consistent, the concepts with most of other names first, and the vocabulary."""

    system: str
    documents: int
    levels: tuple[Level, ...]
    concepts: tuple[Concept, ...] = field(repr=False)
    listed: Listed | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Consistency(Displayed):
    """How consistently systems name what they predict."""

    systems: tuple[Named, ...]
    options: ConsistencyOptions
    corpus: str | None
    vocabulary: int | None  # terms
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each system and way to tell concepts apart."""
        return [
            {"system": each.system, "documents": each.documents, **level.as_dict()}
            for each in self.systems
            for level in each.levels
        ]

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output."""
        return [dict(flat_values(with_low_and_high(row))) for row in self.rows()]

    def shown(self, some: Sequence[Any]) -> Sequence[Any]:
        """The first of them, as many as the options say."""
        return some[: self.options.worst] if self.options.worst else some

    def worst(self) -> list[dict[str, Any]]:
        """One dict for each of the concepts that are called most often by another than their most frequent name."""
        return [
            {
                "system": each.system,
                "concept": concept.names[0].name,
                "phrases": concept.count,
                "other_names": concept.others,
                "names": [{"name": name.name, "phrases": name.count, "by": name.by} for name in concept.names],
            }
            for each in self.systems
            for concept in self.shown(each.concepts)
        ]

    def listed(self) -> list[dict[str, Any]]:
        """One dict for each system: how much is in the vocabulary, and what to fix first."""
        return [
            {
                "system": each.system,
                **each.listed.as_dict(),
                "fixes": [
                    {"name": fix.name, "phrases": fix.count, "nearest": fix.entry, "score": fix.score}
                    for fix in each.listed.fixes
                ],
            }
            for each in self.systems
            if each.listed is not None
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, the worst concepts, the vocabulary."""
        names = ("model", "near", "language", "nearest", "worst")
        return {
            "signatures": {},
            "rows": self.rows(),
            "notes": list(self.notes),
            "options": {name: getattr(self.options, name) for name in names}
            | {"corpus": self.corpus, "level": self.options.confidence.level},
            "worst": self.worst(),
            "vocabulary": self.listed(),
        }

    def tables(self) -> Iterator[Table]:
        """For each system how consistent its names are, the worst concepts, and the vocabulary."""
        from karat.analyses.consistency.tables import tables_of

        return tables_of(self)
