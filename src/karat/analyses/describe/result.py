"""Description: the portrait of a corpus, of its references and of the predictions of systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from karat.analyses.describe.counts import CORPUS_CLASSES, PLACES, POSITIONS, Portrait
from karat.analyses.describe.systems import Looks
from karat.matching.columns import PRMU
from karat.metrics.profile import PARTS
from karat.options import IntervalOptions
from karat.results import signed
from karat.results.displayed import Displayed
from karat.results.intervals import ENDS, csv_names, ends_of, with_low_and_high
from karat.tabular import Table

MISS_RATES = tuple(f"miss_rate_{n + 1}" for n in range(PARTS))


@dataclass(frozen=True, slots=True)
class Side:
    """One column of the portrait: a reference set (system None), or the predictions of a system."""

    system: str | None
    references: str | None  # the name of the set: its own, or the one that the system is compared with
    portrait: Portrait
    looks: Looks | None = None  # of a system that there are references for
    absent_present: float | None = None  # of absent references, the share that another document has as present
    absent_in_texts: float | None = None  # and the share that the text of another document holds
    seen: float | None = None  # share of references that are also references of the training corpus

    @property
    def name(self) -> str:
        """What heads its column."""
        return self.system or ("references" if self.references in (None, "keyphrases") else str(self.references))


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Documents that are there twice: groups of equal texts and pairs of near ones, by id."""

    equal: tuple[tuple[str, ...], ...]
    near: tuple[tuple[str, str], ...]

    def as_dict(self) -> dict[str, Any]:
        """The entry of the JSON output."""
        return {
            "equal": [list(group) for group in self.equal],
            "near": [list(pair) for pair in self.near],
        }


@dataclass(frozen=True, slots=True)
class Leaks:
    """What of the corpus is also in a training corpus: ids of documents by how they are found, references by share."""

    corpus: str
    documents: int  # of the training corpus
    texts: tuple[tuple[str, str], ...]  # (document, training document) with the same title and text
    titles: tuple[tuple[str, str], ...]  # with the same title and another text
    near: tuple[tuple[str, str], ...]  # with nearly the same text
    leaked: int  # documents that any of these holds of
    references: float | None  # share of the references that are references there
    types: float | None  # the same over distinct references

    def as_dict(self) -> dict[str, Any]:
        """The entry of the JSON output."""
        pairs = {name: [list(pair) for pair in getattr(self, name)] for name in ("texts", "titles", "near")}
        names = ("corpus", "documents", "leaked", "references", "types")
        return {name: getattr(self, name) for name in names} | pairs


@dataclass(frozen=True, slots=True)
class Texts:
    """What the documents are like, references apart."""

    documents: int
    with_text: int  # with a title or a text
    with_title: int
    with_references: int
    words: float | None  # of a document, mean
    least: int | None
    most: int | None
    language: str
    languages: Mapping[str, float]  # shares of the sampled documents

    def as_dict(self) -> dict[str, Any]:
        """The entry of the JSON output."""
        names = self.__dataclass_fields__
        return {name: getattr(self, name) for name in names if name != "languages"} | {
            "languages": dict(self.languages)
        }


@dataclass(frozen=True, slots=True, repr=False)
class Description(Displayed):
    """The portrait of a corpus, and of systems on it."""

    csv_fields: ClassVar[tuple[str, ...]] = csv_names(
        (
            "corpus",
            "system",
            "references",
            "protocol",
            "documents",
            "phrases",
            "present",
            "absent",
            "words",
            *PRMU,
            *CORPUS_CLASSES,
            *(f"position_{n}" for n in range(1, PARTS + 1)),
            *POSITIONS,
            *MISS_RATES,
            *PLACES,
            "unseen_words",
            "repeats",
            "empty",
            "total",
            "total_present",
            "types",
            "df",
            "df_occurrences",
            "words_types",
            "absent_present_elsewhere",
            "absent_in_other_texts",
            "seen_in_training",
        ),
        (*PRMU, *CORPUS_CLASSES, *POSITIONS, *MISS_RATES, *PLACES, "unseen_words", "repeats"),
    )

    corpus: str
    protocol: str
    texts: Texts
    sides: tuple[Side, ...]  # reference sets first, then systems
    duplicates: Duplicates | None
    leaks: Leaks | None
    signatures: dict[str, str]
    warnings: tuple[str, ...]  # what is probably wrong with the corpus
    remarks: tuple[str, ...]  # what else a reader should know
    confidence: IntervalOptions

    @property
    def notes(self) -> tuple[str, ...]:
        """All that a reader should know, warnings first."""
        return (*(f"warning: {warning}" for warning in self.warnings), *self.remarks)

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each reference set and each system."""
        return [self._row(side) for side in self.sides]

    def _row(self, side: Side) -> dict[str, Any]:
        looks = side.looks
        head = {"corpus": self.corpus, "system": side.system}
        found = side.portrait.as_dict()
        start = list(found)[: list(found).index("positions") + 1]
        return {
            **head,
            **{name: found.pop(name) for name in start},
            **_miss_rates(looks),
            "references": side.references,
            "protocol": self.protocol,
            **found,
            "absent_present_elsewhere": side.absent_present,
            "absent_in_other_texts": side.absent_in_texts,
            "seen_in_training": side.seen,
            "groups": None if looks is None else [group.as_dict() for group in looks.groups],
        }

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values: the envelope of `score`, then documents, duplicates and leaks."""
        return {
            **signed(self.signatures),
            "rows": self.rows(),
            "notes": list(self.notes),
            "documents": self.texts.as_dict(),
            "duplicates": None if self.duplicates is None else self.duplicates.as_dict(),
            "leaks": None if self.leaks is None else self.leaks.as_dict(),
            "warnings": list(self.warnings),
            "options": {"level": self.confidence.level},
        }

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output: parts and the ends of intervals in columns of their own."""
        return [with_low_and_high(dict(_in_columns(row))) for row in self.rows()]

    def tables(self) -> Iterator[Table]:
        """A dataset card: the documents, the phrases, where systems look, how it was counted."""
        from karat.analyses.describe.tables import tables_of

        return tables_of(self)


def _miss_rates(looks: Looks | None) -> dict[str, Any]:
    if looks is None or looks.miss_rate is None:
        return {"miss_rate": None, "miss_rate_ci": None}
    return {"miss_rate": list(looks.miss_rate), "miss_rate_ci": list(map(ends_of, looks.miss_rate_intervals))}


def _in_columns(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the fields of a row with those of parts spelled out, as position_1 to position_5."""
    columns = {"positions": "position_{}", "position_shares": "position_share_{}", "miss_rate": "miss_rate_{}"}
    columns |= {name + ENDS: column + ENDS for name, column in columns.items() if name != "positions"}
    for name, value in row.items():
        if name in columns:
            empty = ends_of(None) if name.endswith(ENDS) else None
            for n in range(PARTS):
                yield columns[name].format(n + 1), empty if value is None else value[n]
        else:
            yield name, value
