"""The documents of a page: where phrases stand in their texts, and what became of each prediction and reference."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from karat.analyses.report.result import Answer, Entry, Fate, Outcome, Place, Predicted, ReferenceEntry, Span, State
from karat.matching.columns import PRMU, Aligned, Ints, Prepared, parts_of
from karat.similarity.classes import all_words, is_word
from karat.text.particles import PARTICLES
from karat.text.places import occurrences, stems_at, token_spans

FEW = 2  # references: of documents with no more, a share says little
PARTS = 5  # of a text: in which of them a reference is first met


def entries(ids: Sequence[str], aligned: Sequence[Aligned], has_text: bool = True) -> list[Entry]:
    """The documents of a chunk, with what each system predicts for them."""
    work = _Chunk(aligned, has_text)
    return [work.entry(document, identifier) for document, identifier in enumerate(ids)]


class _Chunk:
    """The columns of a chunk as lists by document, to be read one document at a time."""

    def __init__(self, aligned: Sequence[Aligned], has_text: bool) -> None:
        self.prepared = prepared = aligned[0].prepared
        self.forms = list(prepared.table)
        self.surfaces = [surface.strip() for surface in prepared.surfaces]
        self.words = _words(self.surfaces)
        r = prepared.references
        self.variants = _grouped(r.variant_reference, len(r.document))
        self.references = _grouped(r.document, len(prepared))
        self.reference_class = [PRMU[n] if has_text else "" for n in aligned[0].reference_prmu().tolist()]
        lengths = aligned[0].lengths()[r.document]
        self.part = parts_of(aligned[0].reference_offsets(), lengths, PARTS).tolist()
        self.variant_phrase = r.variant_phrase.tolist()
        self.variant_surface = r.variant_surface.tolist()
        self.systems = [_System(each, has_text) for each in aligned]

    def entry(self, document: int, identifier: str) -> Entry:
        """One document."""
        given, references = self.prepared.given[document], self.references[document]
        rows = [system.rows[document] for system in self.systems]
        phrases = {self.variant_phrase[v] for reference in references for v in self.variants[reference]}
        for system, own in zip(self.systems, rows, strict=True):
            phrases.update(system.phrase[row] for row in own)
        title, text = given.title or "", given.text or ""
        numbers, places = self._places(document, title, text, sorted(phrases))
        givers = {} if references else self._givers(rows)
        return Entry(
            identifier,
            title,
            text,
            places,
            tuple(self._reference(reference, numbers) for reference in references),
            tuple(
                self._answer(system, own, references, numbers, _others(givers, s))
                for s, (system, own) in enumerate(zip(self.systems, rows, strict=True))
            ),
        )

    def _givers(self, rows: Sequence[Sequence[int]]) -> dict[int, tuple[int, ...]]:
        """The systems that give each phrase of a document."""
        found: dict[int, tuple[int, ...]] = {}
        for s, (system, own) in enumerate(zip(self.systems, rows, strict=True)):
            for phrase in dict.fromkeys(system.phrase[row] for row in own if system.kept[row]):
                found[phrase] = (*found.get(phrase, ()), s)
        return found

    def _places(
        self, document: int, title: str, text: str, phrases: Sequence[int]
    ) -> tuple[dict[int, int], tuple[Place, ...]]:
        """(the number of each phrase's place, the places); phrases that stand nowhere have none."""
        prepared = self.prepared
        in_title = _Located(title, prepared.titles[document], prepared)
        in_text = _Located(text, prepared.bodies[document], prepared)
        numbers: dict[int, int] = {}
        places: list[Place] = []
        for phrase in phrases:
            place = Place(in_title.spans(self.forms[phrase]), in_text.spans(self.forms[phrase]))
            if place.title or place.text:
                numbers[phrase] = len(places)
                places.append(place)
        return numbers, tuple(places)

    def _reference(self, reference: int, numbers: dict[int, int]) -> ReferenceEntry:
        variants = self.variants[reference]
        found = (numbers.get(self.variant_phrase[v], -1) for v in variants)
        return ReferenceEntry(
            tuple(self.surfaces[self.variant_surface[v]] for v in variants),
            self.reference_class[reference],
            self.part[reference],
            tuple(dict.fromkeys(place for place in found if place >= 0)),
        )

    def _answer(
        self,
        system: _System,
        rows: Sequence[int],
        references: Sequence[int],
        numbers: dict[int, int],
        others: dict[int, tuple[int, ...]],
    ) -> Answer:
        found = {system.phrase[row] for row in rows if system.kept[row]}
        hit = {r for r in references if any(self.variant_phrase[v] in found for v in self.variants[r])}
        wrong = [row for row in rows if system.kept[row] and system.hit[row] < 0]
        tried = set().union(*(self.words[system.surface[row]] for row in wrong))
        open_ = [r for r in references if r not in hit]
        of_reference = {r: set().union(*(self.words[self.variant_surface[v]] for v in self.variants[r])) for r in open_}
        missed = set().union(*of_reference.values())

        def state(reference: int) -> State:
            if reference in hit:
                return "found"
            return "missed" if tried.isdisjoint(of_reference[reference]) else "near"

        def fate(row: int) -> Fate:
            if not system.kept[row]:
                return "dropped"
            if system.hit[row] >= 0:
                return "found"
            return "other" if missed.isdisjoint(self.words[system.surface[row]]) else "near"

        predictions = (
            Predicted(
                self.surfaces[system.surface[r]],
                fate(r),
                system.prmu[r],
                numbers.get(system.phrase[r], -1),
                others.get(system.phrase[r], ()) if system.kept[r] else (),
            )
            for r in rows
        )
        return Answer(tuple(map(state, references)), tuple(predictions))


def _others(givers: dict[int, tuple[int, ...]], system: int) -> dict[int, tuple[int, ...]]:
    """The systems but one that give each phrase."""
    return {phrase: tuple(s for s in own if s != system) for phrase, own in givers.items()}


class _System:
    """One run's columns as lists, and the rows of each document."""

    def __init__(self, aligned: Aligned, has_text: bool) -> None:
        p = aligned.predictions
        self.rows = _grouped(p.document, aligned.documents)
        self.phrase, self.surface = p.phrase.tolist(), p.surface.tolist()
        self.kept, self.hit = p.kept.tolist(), p.hit.tolist()
        self.prmu = [PRMU[n] if has_text else "" for n in aligned.prediction_prmu().tolist()]


def _grouped(group: Ints, count: int) -> list[list[int]]:
    """The indices of each group, in their order."""
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=count)).tolist()
    listed = order.tolist()
    return [listed[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _words(surfaces: Sequence[str]) -> list[frozenset[str]]:
    """The stems of each phrase by which it is near to another: words, but no prepositions and conjunctions."""
    tokens, stems = all_words(surfaces, "surface"), all_words(surfaces, "stems")
    return [
        frozenset(stem for token, stem in zip(*each, strict=True) if is_word(token) and token not in PARTICLES)
        for each in zip(tokens, stems, strict=True)
    ]


# ---------------------------------------------------------------------------------------------- all documents


def outcomes(entries: Sequence[Entry], systems: int) -> tuple[Outcome, ...]:
    """What became of the predictions of each system for some documents, and of the references."""
    counts = [Counter[str]() for _ in range(systems)]
    for entry in entries:
        for count, answer in zip(counts, entry.answers, strict=True):
            count.update(each.fate for each in answer.predictions)
            count.update(f"reference {state}" for state in answer.states)
    return tuple(
        Outcome(
            len(entries),
            count["found"] + count["near"] + count["other"],
            count["found"],
            count["near"],
            count["reference found"] + count["reference near"] + count["reference missed"],
            count["reference found"],
            count["reference near"],
        )
        for count in counts
    )


def instructive(entries: Sequence[Entry]) -> tuple[int, ...]:
    """The documents by number, those first that tell most about the systems.

    These have many references that one system finds and another does not, or that are nearly found; by their share,
    so that long lists are not first because they are long, and not by one or two references alone.
    """
    shares = [_telling(entry) / (len(entry.references) + FEW) for entry in entries]
    return tuple(sorted(range(len(entries)), key=lambda n: -shares[n]))


def _telling(entry: Entry) -> int:
    by_reference = [set(states) for states in zip(*(answer.states for answer in entry.answers), strict=True)]
    return sum("near" in states or len(states) > 1 for states in by_reference)


# ---------------------------------------------------------------------------------------------- places


class _Located:
    """A text in which phrases are found by their stems; where its tokens stand is computed when first needed."""

    def __init__(self, text: str, form: str, prepared: Prepared) -> None:
        self.text, self.matching = text, prepared.matching
        self.whole = prepared.matching.present == "tokens"
        self.joined = f" {form} "
        self._tokens: tuple[list[int], list[Span]] | None = None

    def spans(self, form: str) -> tuple[Span, ...]:
        """Where a phrase stands: from its first letter to behind its last, in the text as it is given."""
        needle = f" {form} " if self.whole else form
        if not form or needle not in self.joined:
            return ()
        starts, tokens = self._located()
        found = []
        for at in occurrences(needle, self.joined):
            first = bisect_right(starts, at + self.whole) - 1
            last = bisect_right(starts, at + self.whole + len(form) - 1) - 1
            if last < len(tokens):
                found.append((tokens[first][0], tokens[last][1]))
        return tuple(found)

    def _located(self) -> tuple[list[int], list[Span]]:
        """(where each stem begins in the joined form, where its token stands in the text)."""
        if self._tokens is None:
            stems = self.joined[1:-1].split(" ")
            spans = [span for _, span in token_spans(self.text, self.matching)]
            if len(spans) != len(stems):  # a token without a stem, or one that the text does not hold as such
                stems, spans = stems_at(self.text, self.matching)
                self.joined = f" {' '.join(stems)} "
            self._tokens = list(accumulate((len(stem) + 1 for stem in stems), initial=1)), spans
        return self._tokens
