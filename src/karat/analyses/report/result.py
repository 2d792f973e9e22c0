"""What stands on a page: what the verbs found on each corpus, and the documents that can be looked through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from karat.analyses.compare.result import Comparison
from karat.formats.output import write_beside
from karat.metrics.base import Request
from karat.results import Results
from karat.results.displayed import Result, rendered

State = Literal["found", "near", "missed"]  # of a reference, by one system
Fate = Literal["found", "near", "other", "dropped"]  # of a prediction
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a phrase stands in the title and in the text of its document."""

    title: tuple[Span, ...]
    text: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class ReferenceEntry:
    """A reference: its variants, its class (PRMU), the fifth of the text it is first met in (-1: none), its places."""

    phrases: tuple[str, ...]
    prmu: str
    part: int
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Predicted:
    """A prediction: what became of it, its class (PRMU), its place (-1: none)."""

    phrase: str
    fate: Fate
    prmu: str
    place: int
    also: tuple[int, ...] = ()  # the other systems that give it, where the document has no references


@dataclass(frozen=True, slots=True)
class Answer:
    """What one system predicts for a document, and what that makes of each reference."""

    states: tuple[State, ...]
    predictions: tuple[Predicted, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as the browser shows it."""

    id: str
    title: str
    text: str
    places: tuple[Place, ...]
    references: tuple[ReferenceEntry, ...]
    answers: tuple[Answer, ...]  # by system


@dataclass(frozen=True, slots=True)
class Browser:
    """All documents of a corpus, with the score of each by which they are sorted."""

    systems: tuple[str, ...]
    entries: tuple[Entry, ...] = field(repr=False)
    request: Request | None  # what the scores are; None without references
    scores: tuple[tuple[float, ...], ...] = field(repr=False)  # by system, one a document; NaN where undefined
    texts: bool  # whether the texts are on the page
    protocol: str
    instructive: tuple[int, ...] = field(repr=False, default=())  # the documents by number, the most instructive first
    agreement: tuple[float, ...] = field(
        repr=False, default=()
    )  # of systems, one a document; where some lack references


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a system's predictions, those that count, and of the references, over all documents."""

    documents: int
    predictions: int
    right: int
    near: int  # wrong, but sharing a word with a reference that is missed
    references: int
    found: int
    nearly: int  # missed, but sharing a word with a wrong prediction

    @property
    def wrong(self) -> int:
        """How many predictions are neither right nor near."""
        return self.predictions - self.right - self.near

    def mean(self, count: int) -> float:
        """A count by document."""
        return count / self.documents if self.documents else 0.0


@dataclass(frozen=True, slots=True)
class Mistake:
    """A phrase that is often wrong or missed: how often, of how many times it is there, in which documents."""

    phrase: str
    count: int
    of: int
    documents: tuple[int, ...] = field(repr=False)  # by number, in corpus order


@dataclass(frozen=True, slots=True)
class NearKind:
    """The near misses of one kind: how many, frequent (prediction, reference) pairs, in which documents."""

    kind: str  # the relation of the two phrases, as `karat nearmiss` has it
    count: int
    examples: tuple[tuple[str, str], ...]
    documents: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Mistakes:
    """What a system gets wrong, the most frequent first."""

    wrong: tuple[Mistake, ...]  # given without being a reference; `of` all documents for which it is given
    missed: tuple[Mistake, ...]  # references that are not found; `of` all documents that have it
    generic: tuple[Mistake, ...]  # given for many documents; `of` those of which it is a reference
    near: tuple[NearKind, ...]

    def __bool__(self) -> bool:
        return bool(self.wrong or self.missed or self.generic or self.near)


@dataclass(frozen=True, slots=True)
class Part:
    """One corpus: what each verb found on it, or why it found nothing."""

    corpus: str
    documents: int
    systems: tuple[str, ...]
    results: Results | None
    curves: Results | None  # precision and recall at k
    found: Mapping[str, Result]  # by verb
    missing: Mapping[str, str]  # by verb, a sentence
    browser: Browser | None
    outcomes: tuple[Outcome, ...] = ()  # by system; none without references
    mistakes: tuple[Mistakes, ...] = ()  # by system
    judged: int = 0  # documents that have references
    unread: tuple[str, ...] = ()  # the files that cannot be read
    notes: tuple[str, ...] = ()  # of how it was read and predicted
    provenance: tuple[str, ...] = ()  # notes on what earlier commands predicted, which do not stand on the page

    @property
    def scored(self) -> int:
        """How many documents scores are of: those with references that all runs have."""
        return self.documents if self.results is None else self.results.common


@dataclass(frozen=True, slots=True)
class Page:
    """A report on systems, as one page that needs nothing but itself."""

    title: str
    parts: tuple[Part, ...]
    comparison: Comparison | None  # of all corpora; a single system has its intervals there
    signatures: Mapping[str, str]
    notes: tuple[str, ...]
    primary: tuple[Request, ...] = ()  # the metric of the headline, where one was named; as each protocol averages it

    def _repr_html_(self) -> str:
        return rendered(self, "html")  # a notebook says what is there; the page itself is too large for it

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def __str__(self) -> str:
        return rendered(self, "md").removesuffix("\n")

    @property
    def provenance(self) -> tuple[str, ...]:
        """Notes on what earlier commands predicted: the page is the same without them."""
        return tuple(dict.fromkeys(note for part in self.parts for note in part.provenance))

    def html(self) -> str:
        """The page: the same text for the same inputs."""
        return rendered(self, "page")

    def save(self, path: str | Path) -> None:
        """Writes the page to a file."""
        write_beside(path, self.html().encode(errors="replace"))

    def figures(self, folder: str | Path) -> list[Path]:
        """The files that hold the charts of the page, each as SVG, PDF and PNG, named by kind and number."""
        import karat

        return karat.figures(self, folder=folder)
