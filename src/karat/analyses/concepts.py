"""Precision and recall of each concept of a vocabulary, their averages, and the concepts that are never assigned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat import __version__
from karat.analyses.score import pass_for
from karat.errors import InputError, counted
from karat.matching.columns import Aligned, Bools, Cutoff, Floats, Ints, lookup
from karat.matching.concepts import Concepts as Mapping
from karat.matching.concepts import vocabulary_notes
from karat.matching.inputs import CorpusLike, ProtocolLike, RunLike, as_protocols, by_line_notes, hash_text
from karat.matching.passes import Pass, View, hash_look
from karat.metrics.base import divide, harmonic, parse_request
from karat.options import (
    By,
    Extra,
    IntervalOptions,
    MatchOptions,
    Missing,
    Progress,
    WorkOptions,
    cutoff_option,
    group,
    option,
    options_from,
    protocol_option,
    public,
)
from karat.protocol import Protocol
from karat.results.displayed import Displayed, flat_values
from karat.results.intervals import about_brackets, with_intervals, with_low_and_high
from karat.stats.shares import UNDEFINED, Interval, left_out_intervals, named_intervals, ratio_intervals
from karat.tabular import COUNT, Cell, Column, Group, Row, Table, rows_of, with_ends
from karat.vocabulary import Vocabulary, VocabularyLike

MEASURES = ("p", "r", "f1")


@dataclass(frozen=True, slots=True)
class ConceptsOptions:
    """How concepts are counted, and how many are shown."""

    protocol: ProtocolLike = protocol_option("Convention by which phrases are equal.")
    cutoff: str = cutoff_option()
    worst: int = option(20, "Show the N most frequent concepts, and N that are never assigned; 0 for all.", least=0)
    confidence: IntervalOptions = group(IntervalOptions)
    join: MatchOptions = group(MatchOptions)
    work: WorkOptions = group(WorkOptions)


@dataclass(frozen=True, slots=True)
class Assignments:
    """The concepts of documents: a row for each document and concept that is a reference or a prediction of it."""

    document: NDArray[np.int32]
    concept: NDArray[np.int32]
    referred: Bools
    predicted: Bools

    @classmethod
    def joined(cls, parts: Sequence[Assignments], sizes: Sequence[int]) -> Assignments:
        """Return the rows of several chunks, given the number of documents of each."""
        starts = np.cumsum([0, *sizes])[:-1].tolist()
        documents = [part.document + np.int32(start) for part, start in zip(parts, starts, strict=True)]
        names = ("concept", "referred", "predicted")
        return cls(
            np.concatenate(documents), *(np.concatenate([getattr(part, name) for part in parts]) for name in names)
        )


@dataclass(frozen=True, slots=True)
class ConceptCounts:
    """Of each concept of the vocabulary: documents that have it as a reference, as a prediction, and as both."""

    system: str
    references: Ints
    predictions: Ints
    hits: Ints
    assignments: Assignments = field(repr=False)

    @classmethod
    def of(cls, system: str, rows: Assignments, concepts: int) -> ConceptCounts:
        """Count the documents of each concept of a vocabulary of so many."""
        masks = (rows.referred, rows.predicted, rows.referred & rows.predicted)
        references, predictions, hits = (np.bincount(rows.concept[mask], minlength=concepts) for mask in masks)
        return cls(system, references, predictions, hits, rows)

    def measures(self) -> tuple[Floats, Floats, Floats]:
        """Precision, recall and F1 of each concept, 0 where nothing is divided."""
        p = divide(self.hits, self.predictions, empty=0.0)
        r = divide(self.hits, self.references, empty=0.0)
        return p, r, harmonic(p, r)

    def macro(self) -> dict[str, float | None]:
        """The means over the concepts that are a reference or a prediction anywhere."""
        there = (self.references > 0) | (self.predictions > 0)
        return {
            name: float(values[there].mean()) if there.any() else None
            for name, values in zip(MEASURES, self.measures(), strict=True)
        }

    def micro(self) -> dict[str, float | None]:
        """The same of all concepts together."""
        sums = [np.array([each.sum()]) for each in (self.hits, self.predictions, self.references)]
        if not (sums[1][0] or sums[2][0]):
            return dict.fromkeys(MEASURES)
        p, r = divide(sums[0], sums[1], empty=0.0), divide(sums[0], sums[2], empty=0.0)
        return {name: float(value[0]) for name, value in zip(MEASURES, (p, r, harmonic(p, r)), strict=True)}

    def intervals(self, numbers: Sequence[int], level: float) -> dict[str, Floats]:
        """The intervals of precision, recall and F1 of some concepts, [concepts, 2] each.

        A concept is counted once a document, so that a document is a hit, a wrong prediction or a missed reference.
        """
        hits, predictions, references = (
            counts[list(numbers)] for counts in (self.hits, self.predictions, self.references)
        )
        documents = np.stack([hits, predictions - hits, references - hits], axis=1)
        rows = {"p": ([1, 0, 0], [1, 1, 0]), "r": ([1, 0, 0], [1, 0, 1]), "f1": ([2, 0, 0], [2, 1, 1])}
        return {
            name: ratio_intervals(np.array(parts), np.array(wholes), level, counts=documents)
            for name, (parts, wholes) in rows.items()
        }

    def micro_intervals(self, level: float) -> dict[str, Interval]:
        """The intervals of the averages over all concepts together."""
        rows = self.assignments
        if not len(rows.document):
            return dict.fromkeys(MEASURES, UNDEFINED)
        documents = int(rows.document.max()) + 1
        hits, predictions, references = (
            np.bincount(rows.document[some], minlength=documents)
            for some in (rows.referred & rows.predicted, rows.predicted, rows.referred)
        )
        parts, wholes = np.stack([hits, hits, 2 * hits]), np.stack([predictions, references, predictions + references])
        return named_intervals(MEASURES, ratio_intervals(parts, wholes, level))

    def macro_intervals(self, level: float) -> dict[str, Interval]:
        """The intervals of the means over concepts, by the means without each document.

        Without a document, each of its concepts has other counts, or is none of the concepts that are averaged.
        """
        rows, there = self.assignments, (self.references > 0) | (self.predictions > 0)
        if not len(rows.document):
            return dict.fromkeys(MEASURES, UNDEFINED)
        fewer = ConceptCounts(
            self.system,
            self.references[rows.concept] - rows.referred,
            self.predictions[rows.concept] - rows.predicted,
            self.hits[rows.concept] - (rows.referred & rows.predicted),
            rows,
        )
        documents = int(rows.document.max()) + 1
        gone = (fewer.references == 0) & (fewer.predictions == 0)
        left = there.sum() - np.bincount(rows.document[gone], minlength=documents)
        without = []
        for before, after in zip(self.measures(), fewer.measures(), strict=True):
            change = np.bincount(rows.document, before[rows.concept] - after, documents)
            without.append(divide(before[there].sum() - change, left, empty=np.nan))
        value = np.array([values[there].mean() for values in self.measures()])
        counts = np.bincount(rows.document, minlength=documents) > 0
        return named_intervals(MEASURES, left_out_intervals(value, np.stack(without), counts.astype(np.float64), level))

    def never(self) -> Bools:
        """The concepts that are a reference somewhere and nowhere a prediction."""
        return np.asarray((self.references > 0) & (self.predictions == 0))


@dataclass(frozen=True, slots=True, repr=False)
class ConceptScores(Displayed):
    """Precision and recall of each concept, by system."""

    corpus: str
    documents: int
    vocabulary: Vocabulary = field(repr=False)
    options: ConceptsOptions
    counts: tuple[ConceptCounts, ...] = field(repr=False)
    signatures: dict[str, str]
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each system and concept that is a reference or a prediction, most frequent reference first."""
        return [row for each in self.counts for row in self._rows(each, _by_frequency(each))]

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output."""
        return [dict(flat_values(with_low_and_high(row))) for row in self.rows()]

    def _rows(self, each: ConceptCounts, numbers: Sequence[int]) -> list[dict[str, Any]]:
        columns = [values.tolist() for values in (each.references, each.predictions, each.hits, *each.measures())]
        names = ("references", "predictions", "hits", *MEASURES)
        intervals = {
            name: ends.tolist() for name, ends in each.intervals(numbers, self.options.confidence.level).items()
        }
        found = []
        for place, n in enumerate(numbers):
            row = {name: values[n] for name, values in zip(names, columns, strict=True)}
            row["p"] = row["p"] if row["predictions"] else None
            row["r"] = row["r"] if row["references"] else None
            about = {"system": each.system, "concept": self.vocabulary.concepts[n].uri}
            row = with_intervals(row, {name: tuple(ends[place]) for name, ends in intervals.items()})
            found.append(about | {"label": self.vocabulary.shown(n)} | row)
        return found

    def systems(self) -> list[dict[str, Any]]:
        """One dict for each system: how many concepts are used, never assigned, and the averages."""
        return [
            {
                "system": each.system,
                "concepts": len(self.vocabulary),
                "referred": int((each.references > 0).sum()),
                "assigned": int((each.predictions > 0).sum()),
                "referred_never_assigned": int(each.never().sum()),
                "never_assigned": int((each.predictions == 0).sum()),
                "micro": with_intervals(each.micro(), each.micro_intervals(self.options.confidence.level)),
                "macro": with_intervals(each.macro(), each.macro_intervals(self.options.confidence.level)),
            }
            for each in self.counts
        ]

    def never_assigned(self, system: str) -> list[dict[str, Any]]:
        """One dict for each concept that a system assigns to no document, those of most references first."""
        [each] = [each for each in self.counts if each.system == system]
        numbers = np.flatnonzero(each.predictions == 0)
        order = numbers[np.argsort(-each.references[numbers], kind="stable")].tolist()
        uris = [self.vocabulary.concepts[n].uri for n in order]
        return [
            {"concept": uri, "label": self.vocabulary.shown(n), "references": int(each.references[n])}
            for n, uri in zip(order, uris, strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole as plain values."""
        return {
            "signatures": self.signatures,
            "rows": self.rows(),
            "notes": list(self.notes),
            "systems": self.systems(),
            "never_assigned": {each.system: self.never_assigned(each.system) for each in self.counts},
        }

    def tables(self) -> Iterator[Table]:
        """The averages of systems; for each the most frequent concepts, and those that it never assigns."""
        head = f"{self.corpus}, {counted(self.documents, 'document')}, concepts of {self.vocabulary.name}"
        systems, measures = self.systems(), [Column(name, better="higher") for name in MEASURES]
        groups = [
            Group([Row(each["system"], [_cell(each[kind], name) for name in MEASURES]) for each in systems], kind)
            for kind in ("micro", "macro")
        ]
        about = (
            "macro: mean over the concepts that are a reference or assigned, 0 where there is nothing to divide by. "
            f"{about_brackets(self.options.confidence.level)}"
        )
        yield Table(head, "system", measures, groups, notes=[about])
        names = ("referred", "assigned", "referred_never_assigned")
        columns = [Column(name, COUNT) for name in ("references", "assigned", "missed")]
        rows = rows_of((each["system"], [each[name] for name in names]) for each in systems)
        about = (
            f"references, assigned: concepts that are so in some document, of {len(self.vocabulary):,}; missed: "
            "references that the system assigns to no document."
        )
        yield Table("Concepts", "system", columns, rows, notes=[about])
        for each in self.counts:
            shown = self._rows(each, self._some(_by_frequency(each)))
            columns = [*(Column(name, COUNT) for name in ("references", "assigned", "both")), *measures]
            counts, brackets = (
                ("references", "predictions", "hits"),
                MEASURES if self.options.confidence.intervals else ("f1",),
            )
            rows = rows_of(
                (
                    row["label"],
                    [*(row[name] for name in counts), *(_cell(row, name, name in brackets) for name in MEASURES)],
                )
                for row in shown
            )
            yield Table(f"{each.system}: documents of the most frequent concepts", "concept", columns, rows)
            missed = [row for row in self.never_assigned(each.system) if row["references"]]
            if missed:
                rows = rows_of((row["label"], [row["references"]]) for row in self._some(missed))
                title = f"{each.system}: references that are never assigned, {counted(len(missed), 'concept')}"
                yield Table(title, "concept", [Column("references", COUNT)], rows)

    def _some(self, listed: list[Any]) -> list[Any]:
        return listed[: self.options.worst] if self.options.worst else listed


def _cell(row: dict[str, Any], name: str, brackets: bool = True) -> Cell:
    ends = [nan if end is None else end for end in row[f"{name}_ci"]]
    return Cell(nan if row[name] is None else row[name], with_ends((ends[0], ends[1])) if brackets else "")


def _by_frequency(each: ConceptCounts) -> list[int]:
    """The concepts that are a reference or a prediction, those of most references first, then of most predictions."""
    there = np.flatnonzero((each.references > 0) | (each.predictions > 0))
    order = np.lexsort((there, -each.predictions[there], -each.references[there]))
    return [int(n) for n in there[order]]


@public(ConceptsOptions)
def concepts(
    corpus: CorpusLike,
    *runs: RunLike,
    protocol: ProtocolLike = "karat",
    cutoff: str = "M",
    worst: int = 20,
    level: float = 0.95,
    intervals: bool = False,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> ConceptScores:
    """Precision and recall of each concept of a vocabulary, micro and macro averages, and what is never assigned.

    A concept is counted once a document. Raises InputError if no vocabulary is given, or if a run does not fit the
    corpus.

    >>> from karat import Concept, Label, Vocabulary
    >>> bees = Vocabulary.of([Concept("x:bee", (Label("bees"), Label("apis", kind="alternative")))], "bees")
    >>> corpus = [{"id": "1", "keyphrases": ["bees"]}, {"id": "2", "keyphrases": ["apis"]}]
    >>> run = [{"id": "1", "keyphrases": ["Apis", "wasps"]}, {"id": "2", "keyphrases": []}]
    >>> [(row["label"], row["p"], row["r"]) for row in concepts(corpus, run, vocabulary=bees).rows()]
    [('bees', 1.0, 0.5)]
    """
    return pass_for(in_pass, corpus, runs, options_from(ConceptsOptions, locals()))


def in_pass(reading: Pass, options: ConceptsOptions) -> Callable[[], ConceptScores]:
    """Registers what the scores of concepts need of a pass; what comes back gives them once the pass has run."""
    vocabulary = reading.setup.vocabulary
    if vocabulary is None:
        raise InputError("the concepts are those of a vocabulary: name it with --vocabulary FILE")
    if not reading.runs:
        raise InputError("nothing to score: give at least one run")
    depth = parse_request(f"p@{options.cutoff}").cutoff
    if depth is None or depth.kind == "V":
        raise InputError(f"the cutoff of concepts is a number from 1 on, M, O or G, not {options.cutoff!r}")
    [chosen] = as_protocols([options.protocol], options.join.language)
    answers, hashes = reading.look(partial(_look, chosen, depth)), reading.look(hash_look)

    def finish() -> ConceptScores:
        sizes = [part.documents for part in answers.parts]
        counts = [
            ConceptCounts.of(
                system, Assignments.joined([part.assignments[s] for part in answers.parts], sizes), len(vocabulary)
            )
            for s, system in enumerate(reading.setup.systems)
        ]
        facts = {
            "set": reading.setup.reference_set or "keyphrases",
            "hash": hash_text(sum(hashes.parts)),
            "vocabulary": vocabulary.signature(),
        }
        notes = [
            *by_line_notes(reading.corpus, reading.runs, options.join.by),
            *vocabulary_notes(vocabulary),
            *_notes(reading.setup.systems, answers.parts),
            *reading.notes(),
        ]
        signature = chosen.signature(**facts, karat=__version__)
        return ConceptScores(
            reading.corpus.name,
            len(reading.ids),
            vocabulary,
            options,
            tuple(counts),
            {str(chosen): signature},
            tuple(notes),
        )

    return finish


@dataclass(frozen=True, slots=True)
class _Part:
    """What a chunk gives back."""

    documents: int
    assignments: list[Assignments]  # by system
    references: int
    unmapped_references: int
    predictions: list[int]  # by system
    unmapped: list[int]  # by system


def _look(protocol: Protocol, cutoff: Cutoff, view: View) -> _Part:
    found = _Part(len(view), [], 0, 0, [], [])
    strings, total = 0, 0
    for s in range(len(view.setup.systems)):
        aligned = view.aligned(s, protocol)
        mapping = aligned.prepared.concepts
        assert mapping is not None
        counted_in = np.ones(len(view), dtype=bool)
        counted_in[view.left_out(s)] = False
        referred, predicted = _numbers(aligned, cutoff, mapping)
        strings, total = int((referred[1] < 0).sum()), len(referred[1])
        found.predictions.append(len(predicted[1]))
        found.unmapped.append(int((predicted[1] < 0).sum()))
        found.assignments.append(_assignments(referred, predicted, len(mapping.vocabulary), counted_in))
    return replace(found, references=total, unmapped_references=strings)


Pairs = tuple[Ints, Ints]  # documents and concepts, -1 being none


def _numbers(aligned: Aligned, cutoff: Cutoff, mapping: Mapping) -> tuple[Pairs, Pairs]:
    """The (document, concept) of references, and of predictions within the cutoff."""
    of_phrase = np.array([mapping.numbers.get(form, -1) for form in aligned.forms], dtype=np.int64)
    ranked, r = aligned.ranked("all"), aligned.references
    within = ranked.rank < aligned.depth(cutoff, "all")[ranked.document]
    referred = of_phrase[r.phrase]
    hit = aligned.predictions.hit[ranked.row]
    # A variant of a reference is the concept that the reference is.
    predicted = np.where(hit >= 0, referred[hit] if len(referred) else -1, of_phrase[ranked.phrase])
    return (r.document, referred), (ranked.document[within], predicted[within])


def _assignments(referred: Pairs, predicted: Pairs, concepts: int, counted_in: Bools) -> Assignments:
    """Each document's concepts, once: whether they are references and whether they are predictions."""
    keys = []
    for document, number in (referred, predicted):
        kept = (number >= 0) & counted_in[document]
        keys.append(np.unique(document[kept] * concepts + number[kept]))
    every = np.union1d(*keys)
    document, concept = np.divmod(every, max(concepts, 1))
    is_referred, is_predicted = (lookup(every, each)[0] for each in keys)
    return Assignments(document.astype(np.int32), concept.astype(np.int32), is_referred, is_predicted)


def _notes(systems: Sequence[str], parts: Sequence[_Part]) -> Iterator[str]:
    total, strings = sum(part.references for part in parts), sum(part.unmapped_references for part in parts)
    if strings:
        yield f"{strings:,} of {counted(total, 'reference')} are no concepts and are left out here"
    for s, system in enumerate(systems):
        predicted, none = sum(part.predictions[s] for part in parts), sum(part.unmapped[s] for part in parts)
        if none:
            yield f"{system}: {none:,} of {counted(predicted, 'prediction')} are no concepts and are left out here"
