"""What is compared: the documents of pairs, and every phrase that a reference or a system gives them, as columns.

References and predictions of all documents are read, since how many documents a phrase is in is asked of the whole
corpus; texts only of documents that are in a pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from karat.corpus import NO_PREDICTIONS, Batch, Corpus, Document, Prediction, Reference, Run
from karat.errors import InputError
from karat.formats.base import quoted
from karat.formats.pairs import Paired
from karat.formats.reviews import near
from karat.matching.align import align, prepare, references_of
from karat.matching.columns import Aligned, Bools, Cutoff, Numbers, Prepared
from karat.matching.join import has_id, matched_by
from karat.options import By, Missing, Progress
from karat.pairs.mine import text_of
from karat.pairs.sets import Ints
from karat.protocol import Protocol

# ---------------------------------------------------------------------------------------------- documents


@dataclass(frozen=True, slots=True)
class Documents:
    """All documents by number, those of the corpus before its reformulations, and the two of each pair."""

    corpus: Corpus
    reformulations: Corpus | None
    ids: tuple[str, ...]
    own: int  # how many are of the corpus
    a: Ints  # [pairs]
    b: Ints
    paired: Paired

    @property
    def in_pairs(self) -> Ints:
        """The documents that are in a pair."""
        return np.unique(np.concatenate([self.a, self.b]))

    def batches(self) -> Iterator[tuple[int, Batch[Document]]]:
        """(the number of its first document, batch)."""
        start = 0
        for corpus in filter(None, (self.corpus, self.reformulations)):
            for batch in corpus.batches():
                yield start, batch
                start += len(batch)


def find_documents(corpus: Corpus, reformulations: Corpus | None, paired: Paired) -> Documents:
    """The documents that pairs name: both in the corpus, or b among its reformulations."""
    own = _numbers(corpus)
    other = _numbers(reformulations) if reformulations is not None else own
    ids = [*own]
    if reformulations is not None:
        both = next((identifier for identifier in other if identifier in own), None)
        if both is not None:
            raise InputError(
                f"document {quoted(both)} is in {corpus.origin} and in {reformulations.origin}; a run tells them by "
                "their ids, so give each its own"
            )
        ids += other
    a = [_number(own, identifier, corpus, paired, n) for n, identifier in enumerate(paired.a)]
    b = [_number(other, identifier, reformulations or corpus, paired, n) for n, identifier in enumerate(paired.b)]
    start = 0 if reformulations is None else len(own)
    return Documents(
        corpus,
        reformulations,
        tuple(ids),
        len(own),
        np.array(a, dtype=np.int64),
        np.array(b, dtype=np.int64) + start,
        paired,
    )


def _numbers(corpus: Corpus) -> dict[str, int]:
    """The number of each document by its id, or by its line where there are no ids."""
    has_ids, found, places = has_id(corpus), dict[str, int](), list[int]()
    for batch in corpus.batches():
        for identifier, place in zip(batch.ids, batch.places, strict=True):
            name = identifier if has_ids else str(place)
            if name is None:
                raise InputError(f"{corpus.origin}:{place}: no id, though earlier lines have one")
            if name in found:
                raise InputError(f"{corpus.origin}: id {name!r} is on line {places[found[name]]} and on line {place}")
            found[name] = len(places)
            places.append(place)
    return found


def _number(known: Mapping[str, int], identifier: str, corpus: Corpus, paired: Paired, pair: int) -> int:
    if identifier in known:
        return known[identifier]
    hint = near(identifier, known) or "; --reformulations names the corpus of b, where it is another one"
    raise InputError(f"{paired.at(pair)}: there is no document {quoted(identifier)} in {corpus.origin}{hint}")


# ---------------------------------------------------------------------------------------------- predictions


@dataclass(frozen=True, slots=True)
class System:
    """One run's predictions, by the number of the document."""

    name: str
    predictions: Mapping[int, Prediction]
    strangers: int  # documents of the run that are in no corpus

    def has(self, documents: Documents) -> Bools:
        """Whether there are predictions for both documents of each pair."""
        there = np.zeros(len(documents.ids), dtype=bool)
        there[list(self.predictions)] = True
        return there[documents.a] & there[documents.b]


def read_system(run: Run, documents: Documents, by: By | None, missing: Missing) -> System:
    """A run's predictions for the documents; one of a pair that is missing is an error unless `missing` says else."""
    if matched_by(documents.corpus, run, by) == "line":
        found, strangers = _by_line(run, documents), 0
    else:
        found, strangers = _by_id(run, documents)
    for pair, both in enumerate(zip(documents.a.tolist(), documents.b.tolist(), strict=True)):
        lacking = [number for number in both if number not in found]
        if lacking and missing == "error":
            raise InputError(
                f"{run.origin}: no predictions for document {quoted(documents.ids[lacking[0]])} of the pair on line "
                f"{documents.paired.places[pair]} of {documents.paired.origin}; take it as empty with --missing empty, "
                "or leave the pair out with --missing skip"
            )
        if missing == "empty":
            found |= dict.fromkeys(lacking, NO_PREDICTIONS)
    return System(run.name, found, strangers)


def _by_line(run: Run, documents: Documents) -> dict[int, Prediction]:
    found = dict(enumerate(run))
    if len(found) != len(documents.ids):
        raise InputError(
            f"{run.origin}: {len(found):,} lines without ids, but there are {len(documents.ids):,} documents; "
            "give both ids"
        )
    return found


def _by_id(run: Run, documents: Documents) -> tuple[dict[int, Prediction], int]:
    number = {identifier: n for n, identifier in enumerate(documents.ids)}
    found: dict[int, Prediction] = {}
    places: dict[str, int] = {}
    for batch in run.batches():
        for identifier, place, prediction in zip(batch.ids, batch.places, batch.records(), strict=True):
            if identifier is None:
                raise InputError(f"{run.origin}:{place}: no id, though earlier lines have one")
            if identifier in places:
                raise InputError(f"{run.origin}: id {identifier!r} is on line {places[identifier]} and on line {place}")
            places[identifier] = place
            if identifier in number:
                found[number[identifier]] = prediction
    return found, len(places) - len(found)


# ---------------------------------------------------------------------------------------------- columns


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases of documents, each row one that a document is given; present if its text has it."""

    document: Ints
    phrase: Ints
    present: Bools


@dataclass(frozen=True, slots=True)
class Columns:
    """Everything that is compared under one protocol."""

    forms: tuple[str, ...]  # of each phrase, its stems joined
    spelled: tuple[str, ...]  # and how it was first written
    references: Phrases
    systems: tuple[Phrases, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """How phrases are taken: under which protocol, how many predictions, which references."""

    protocol: Protocol
    cutoff: Cutoff
    reference_set: str | None


def read_columns(
    documents: Documents, systems: Sequence[System], asked: Asked, progress: Progress | None = None
) -> Columns:
    """The phrases of all documents under a protocol."""
    table, spelled = Numbers(), list[str]()
    parts: list[list[Phrases]] = [[] for _ in range(len(systems) + 1)]
    for start, given in _with_references(documents, asked.reference_set):
        prepared = prepare(given, asked.protocol.matching, documents.corpus.semeval, asked.reference_set)
        aligned = [align(prepared, _of(system, start, len(given)), asked.protocol.counting) for system in systems]
        known = len(table)
        number = table.of(list(prepared.table))  # new ones rise
        spelled += [text for text, n in zip(_spellings(prepared, aligned), number.tolist(), strict=True) if n >= known]
        r = prepared.references
        own = [(r.document, r.phrase, r.present), *(_kept(each, asked.cutoff) for each in aligned)]
        for part, (document, phrase, present) in zip(parts, own, strict=True):
            part.append(Phrases(document + start, number[phrase], present))
        if progress is not None:
            progress(len(given))
    references, *others = (_whole(part, table.get("", -1)) for part in parts)
    return Columns(tuple(table), tuple(spelled), references, tuple(others))


def _with_references(documents: Documents, name: str | None) -> Iterator[tuple[int, list[Document]]]:
    """(number of the first, documents): texts only of those in pairs; a reformulation may have its source's references.

    What is reformulated is about the same, so a reformulation without references is given those of its source.
    """
    wanted = set(documents.in_pairs.tolist())
    source = dict(zip(documents.b[::-1].tolist(), documents.a[::-1].tolist(), strict=True))  # the first one's stays
    known: dict[int, list[Reference]] = {}
    for start, batch in documents.batches():
        found = batch.records()
        for n, document in enumerate(found, start):
            given = references_of(document, name)
            if documents.reformulations is not None and n < documents.own and n in wanted:
                known[n] = given
            elif n >= documents.own and not given and n in source:
                given = known[source[n]]
            found[n - start] = Document(
                title=document.title if n in wanted else None,
                text=document.text if n in wanted else None,
                keyphrases=given if name is None else None,
                reference_sets=None if name is None else {name: given},
            )
        yield start, found


def _of(system: System, start: int, count: int) -> list[Prediction]:
    return [system.predictions.get(n, NO_PREDICTIONS) for n in range(start, start + count)]


def _spellings(prepared: Prepared, aligned: Sequence[Aligned]) -> list[str]:
    """How each phrase of the table is first written."""
    r = prepared.references
    phrase = np.concatenate([r.variant_phrase, *(each.predictions.phrase for each in aligned)])
    surface = np.concatenate([r.variant_surface, *(each.predictions.surface for each in aligned)])
    names = [name.strip() for name in prepared.surfaces]
    found = list(prepared.table)  # of a phrase that was dropped at once, its stems
    distinct, at = np.unique(phrase, return_index=True)
    for n, where in zip(distinct.tolist(), surface[at].tolist(), strict=True):
        found[n] = names[where]
    return found


def _kept(aligned: Aligned, cutoff: Cutoff) -> tuple[Ints, Ints, Bools]:
    """(document, phrase, whether it is present) of the predictions within the cutoff."""
    ranked = aligned.ranked("all")
    within = ranked.rank < aligned.depth(cutoff, "all")[ranked.document]
    return ranked.document[within], ranked.phrase[within], aligned.predictions.present[ranked.row[within]]


def _whole(parts: Sequence[Phrases], blank: int) -> Phrases:
    """All rows; a phrase without stems is none."""
    document = np.concatenate([part.document for part in parts])
    phrase = np.concatenate([part.phrase for part in parts])
    present = np.concatenate([part.present for part in parts])
    real = phrase != blank
    return Phrases(document[real], phrase[real], present[real])


def read_texts(documents: Documents) -> dict[int, str]:
    """The title and text of each document that is in a pair."""
    wanted = set(documents.in_pairs.tolist())
    return {
        n: text_of(document)
        for start, batch in documents.batches()
        for n, document in enumerate(batch.records(), start)
        if n in wanted
    }
