"""Precision and recall of each concept of a vocabulary, their averages, and the concepts that are never assigned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

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
from karat.results.displayed import Displayed
from karat.tabular import COUNT, Column, Table, rows_of
from karat.vocabulary import Vocabulary, VocabularyLike

MEASURES = ("p", "r", "f1")


@dataclass(frozen=True, slots=True)
class ConceptsOptions:
    """How concepts are counted, and how many are shown."""

    protocol: ProtocolLike = protocol_option("Convention by which phrases are equal.")
    cutoff: str = cutoff_option()
    worst: int = option(20, "Show the N most frequent concepts, and N that are never assigned; 0 for all.", least=0)
    join: MatchOptions = group(MatchOptions)
    work: WorkOptions = group(WorkOptions)


@dataclass(frozen=True, slots=True)
class ConceptCounts:
    """Of each concept of the vocabulary: documents that have it as a reference, as a prediction, and as both."""

    system: str
    references: Ints
    predictions: Ints
    hits: Ints

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

    def _rows(self, each: ConceptCounts, numbers: Sequence[int]) -> list[dict[str, Any]]:
        columns = [values.tolist() for values in (each.references, each.predictions, each.hits, *each.measures())]
        names = ("references", "predictions", "hits", *MEASURES)
        found = []
        for n in numbers:
            row = {name: values[n] for name, values in zip(names, columns, strict=True)}
            row["p"] = row["p"] if row["predictions"] else None
            row["r"] = row["r"] if row["references"] else None
            about = {"system": each.system, "concept": self.vocabulary.concepts[n].uri}
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
                "micro": each.micro(),
                "macro": each.macro(),
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
        names = ("referred", "assigned", "referred_never_assigned")
        columns = [Column(name, COUNT, above="concepts") for name in ("references", "assigned", "missed")]
        columns += [Column(name, above=kind, better="higher") for kind in ("micro", "macro") for name in MEASURES]
        rows = rows_of(
            (each["system"], [*(each[n] for n in names), *(each[k][m] for k in ("micro", "macro") for m in MEASURES)])
            for each in self.systems()
        )
        about = (
            f"references, assigned: concepts that are so in some document, of {len(self.vocabulary):,}; missed: "
            "references that the system assigns to no document. macro: mean over the concepts that are a reference or "
            "assigned, 0 where there is nothing to divide by."
        )
        yield Table(head, "system", columns, rows, notes=[about])
        for each in self.counts:
            shown = self._rows(each, self._some(_by_frequency(each)))
            columns = [Column(name, COUNT) for name in ("references", "assigned", "both")]
            columns += [Column(name, better="higher") for name in MEASURES]
            cells = ("references", "predictions", "hits", *MEASURES)
            rows = rows_of((row["label"], [_cell(row[name]) for name in cells]) for row in shown)
            yield Table(f"{each.system}: documents of the most frequent concepts", "concept", columns, rows)
            missed = [row for row in self.never_assigned(each.system) if row["references"]]
            if missed:
                rows = rows_of((row["label"], [row["references"]]) for row in self._some(missed))
                title = f"{each.system}: references that are never assigned, {counted(len(missed), 'concept')}"
                yield Table(title, "concept", [Column("references", COUNT)], rows)

    def _some(self, listed: list[Any]) -> list[Any]:
        return listed[: self.options.worst] if self.options.worst else listed


def _cell(value: float | None) -> float:
    return float("nan") if value is None else value


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
        counts = [
            ConceptCounts(system, *(np.sum([part.counts[s][k] for part in answers.parts], axis=0) for k in range(3)))
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

    counts: list[tuple[Ints, Ints, Ints]]  # by system: documents of each concept as reference, prediction and both
    references: int
    unmapped_references: int
    predictions: list[int]  # by system
    unmapped: list[int]  # by system


def _look(protocol: Protocol, cutoff: Cutoff, view: View) -> _Part:
    found = _Part([], 0, 0, [], [])
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
        found.counts.append(_counts(referred, predicted, len(mapping.vocabulary), counted_in))
    return _Part(found.counts, total, strings, found.predictions, found.unmapped)


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


def _counts(referred: Pairs, predicted: Pairs, concepts: int, counted_in: Bools) -> tuple[Ints, Ints, Ints]:
    """In how many documents each concept is a reference, a prediction, and both."""
    keys = []
    for document, number in (referred, predicted):
        kept = (number >= 0) & counted_in[document]
        keys.append(np.unique(document[kept] * concepts + number[kept]))
    both = keys[1][lookup(keys[1], keys[0])[0]]
    one, other, common = (np.bincount(each % concepts, minlength=concepts) for each in (*keys, both))
    return one, other, common


def _notes(systems: Sequence[str], parts: Sequence[_Part]) -> Iterator[str]:
    total, strings = sum(part.references for part in parts), sum(part.unmapped_references for part in parts)
    if strings:
        yield f"{strings:,} of {counted(total, 'reference')} are no concepts and are left out here"
    for s, system in enumerate(systems):
        predicted, none = sum(part.predictions[s] for part in parts), sum(part.unmapped[s] for part in parts)
        if none:
            yield f"{system}: {none:,} of {counted(predicted, 'prediction')} are no concepts and are left out here"
