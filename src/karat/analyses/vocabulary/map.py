"""What the phrases of a run are in a vocabulary: each with its concept, and how that was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from karat.corpus import Run
from karat.errors import counted
from karat.formats.vocabulary import as_vocabulary
from karat.matching.concepts import HOW, NOTHING, Concepts, Found, concepts_for, vocabulary_notes, with_concepts
from karat.matching.inputs import OneRun, as_protocols, as_runs
from karat.options import language_option, option, options_from, public, required
from karat.protocol import Matching
from karat.results.displayed import Displayed
from karat.tabular import COUNT, NUMBER, TEXT, Cell, Column, Table, rows_of
from karat.text.normalise import normaliser_of
from karat.text.unicode import key_of
from karat.vocabulary import Vocabulary, VocabularyLike

Written = Literal["given", "preferred"]
UNMAPPED = "none"


@dataclass(frozen=True, slots=True)
class MapOptions:
    """To which vocabulary phrases are mapped, and how they are written then."""

    vocabulary: VocabularyLike = required(
        "The vocabulary: a list of terms, or SKOS.", metavar="FILE[,option=value...]", complete="paths"
    )
    phrases: Written = option(
        "given",
        "How the phrases that are concepts are written.",
        values={"given": "as they are", "preferred": "as the preferred label"},
    )
    language: str | None = language_option()
    worst: int = option(10, "Show N phrases that are no concepts; 0 for all.", least=0, metavar="N")


@dataclass(frozen=True, slots=True)
class MappedPhrase:
    """A phrase of a run, how often it is predicted, and what it is."""

    phrase: str
    count: int
    found: Found


@dataclass(frozen=True, slots=True, repr=False)
class Mapped(Displayed):
    """The phrases of a run with their concepts; `run` has these for each phrase."""

    run: Run = field(repr=False)
    system: str
    vocabulary: Vocabulary
    options: MapOptions
    phrases: tuple[MappedPhrase, ...] = field(repr=False)  # most frequent first
    nearest: dict[str, tuple[str, float]]  # for the first phrases that are none, the label that is most like
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each distinct phrase, most frequent first."""
        concepts = self.vocabulary.concepts
        return [
            {
                "system": self.system,
                "phrase": each.phrase,
                "count": each.count,
                "concept": concepts[each.found.concept].uri if each.found.how else None,
                "label": self.vocabulary.shown(each.found.concept) if each.found.how else None,
                "by": each.found.how,
                "score": each.found.score if each.found.how else None,
            }
            for each in self.phrases
        ]

    def counts(self) -> dict[str, dict[str, int]]:
        """How many distinct phrases, and how many with their repeats, are found in which way; `none` is in no way."""
        ways = {how: [each for each in self.phrases if each.found.how == how] for how in (*HOW, None)}
        return {
            how or UNMAPPED: {"phrases": len(own), "count": sum(each.count for each in own)}
            for how, own in ways.items()
        }

    def unmapped(self) -> list[dict[str, Any]]:
        """One dict for each phrase that is no concept, most frequent first."""
        return [{"phrase": each.phrase, "count": each.count} for each in self.phrases if each.found.how is None]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values."""
        return {
            "signatures": {"vocabulary": self.vocabulary.signature()},
            "rows": self.rows(),
            "notes": list(self.notes),
            "counts": self.counts(),
            "unmapped": self.unmapped(),
        }

    def tables(self) -> Iterator[Table]:
        """How many phrases are concepts, which were found by similarity, and the most frequent that are none."""
        counts, total = self.counts(), sum(each.count for each in self.phrases)
        share = {how: each["count"] / total if total else None for how, each in counts.items()}
        meanings = {str(how): what for how, what in HOW.items()} | {UNMAPPED: "no concept"}
        rows = rows_of(
            (meanings[how], [each["phrases"], each["count"], Cell(share[how])]) for how, each in counts.items()
        )
        columns = [Column("phrases", COUNT), Column("with repeats", COUNT), Column("share")]
        title = f"{self.system}: concepts of {self.vocabulary.name}, {counted(len(self.vocabulary), 'concept')}"
        yield Table(title, "phrases that are", columns, rows)
        similar = [row for row in self.rows() if row["by"] == "similar"]
        if similar:
            columns = [Column("count", COUNT), Column("concept", TEXT), Column("score", NUMBER)]
            rows = rows_of((r["phrase"], [r["count"], r["label"], r["score"]]) for r in self._some(similar))
            yield Table(f"{self.system}: by the label that is most like", "phrase", columns, rows)
        none = self.unmapped()
        if none:
            columns = [Column("count", COUNT), Column("nearest label", TEXT), Column("score", NUMBER)]
            near = [(row, self.nearest.get(row["phrase"], (None, None))) for row in self._some(none)]
            rows = rows_of((row["phrase"], [row["count"], label, score]) for row, (label, score) in near)
            yield Table(f"{self.system}: no concepts, and the label that is most like", "phrase", columns, rows)

    def _some(self, listed: list[Any]) -> list[Any]:
        return listed[: self.options.worst] if self.options.worst else listed


@public(MapOptions)
def map_concepts(
    run: OneRun,
    *,
    vocabulary: VocabularyLike,
    phrases: Written = "given",
    language: str | None = None,
    worst: int = 10,
) -> Mapped:
    """The phrases of a run with the concepts of a vocabulary that they are; `.run` is the run with these.

    A phrase is a concept if it is a label of it, as it is written or by its stems, or, with `similar=T` among the
    options of the vocabulary, if a label is like it. Raises InputError if the run or the vocabulary cannot be read.

    >>> from karat.vocabulary import Concept, Label
    >>> svm = Concept("x:svm", (Label("support vector machines"), Label("SVM", kind="alternative")))
    >>> run = Run.of([{"id": "1", "keyphrases": ["svm", "Support Vector Machine", "trees"]}])
    >>> found = map_concepts(run, vocabulary=Vocabulary.of([svm]))
    >>> [(each.concepts, each.concepts_by) for each in found.run]
    [(['x:svm', 'x:svm', None], ['exact', 'stem', None])]
    """
    options = options_from(MapOptions, locals())
    [given] = as_runs([run])
    found = as_vocabulary(vocabulary)
    matching = as_protocols(["karat"], language)[0].matching
    concepts = concepts_for(found, matching)
    listed, predictions = _listed(given, concepts, matching), list(given)
    made = with_concepts(predictions, concepts, matching, phrases == "preferred")
    none = [each.phrase for each in listed if each.found is NOTHING]
    shown = none[:worst] if worst else none
    notes = [*vocabulary_notes(found), *_notes(given.name, listed, concepts)]
    return Mapped(
        replace(Run.of(made, given.name), origin=given.origin),
        given.name,
        found,
        options,
        tuple(listed),
        dict(_nearest(shown, concepts)),
        tuple(notes),
    )


def _listed(run: Run, concepts: Concepts, matching: Matching) -> list[MappedPhrase]:
    """The distinct phrases of a run, most frequent first; blank ones are none."""
    counts = Counter(" ".join(phrase.split()) for each in run for phrase in each.keyphrases or () if phrase)
    counts.pop("", None)
    ordered = sorted(counts, key=lambda phrase: (-counts[phrase], phrase))
    found = concepts.find(ordered, normaliser_of(matching).many(ordered))
    return [MappedPhrase(phrase, counts[phrase], each) for phrase, each in zip(ordered, found, strict=True)]


def _nearest(phrases: list[str], concepts: Concepts) -> Iterator[tuple[str, tuple[str, float]]]:
    near = concepts.nearest([key_of(phrase) for phrase in phrases])
    for phrase, (place, score) in zip(phrases, near, strict=True):
        if place >= 0:
            yield phrase, (concepts.vocabulary.shown(concepts.owner(place)), score)


def _notes(system: str, listed: list[MappedPhrase], concepts: Concepts) -> Iterator[str]:
    if not listed:
        yield f"{system}: the run has no phrase"
        return
    none = sum(each.count for each in listed if each.found is NOTHING)
    if none:
        total = sum(each.count for each in listed)
        became = "left out" if concepts.drops else "kept without a concept"
        yield f"{system}: {none:,} of {counted(total, 'phrase')} are no concepts, {became}"
