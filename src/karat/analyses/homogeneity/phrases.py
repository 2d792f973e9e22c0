"""What is compared: the documents of pairs, and every phrase that a reference or a system gives them, as columns.

A corpus and its reformulations are read twice, the first time alone, the second time as one corpus with all runs.
References and predictions of all documents are taken, since how many documents a phrase is in is counted over the whole
corpus; texts only of documents that are in a pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from karat.corpus import Batch, Batches, Corpus, Document, R, Reference, Run
from karat.errors import InputError
from karat.formats.base import quoted
from karat.formats.pairs import Paired
from karat.formats.reviews import near
from karat.matching.align import references_of
from karat.matching.columns import Aligned, Bools, Cutoff, Numbers, Prepared
from karat.matching.inputs import hash_text
from karat.matching.join import Restricted, matched_by
from karat.matching.passes import Answers, Pass, View, hash_look
from karat.options import By, Missing
from karat.pairs.mine import text_of
from karat.pairs.sets import Ints
from karat.protocol import Matching, Protocol
from karat.similarity.base import Words
from karat.similarity.context import sentences_look

# ---------------------------------------------------------------------------------------------- documents


@dataclass(frozen=True, slots=True)
class Documents:
    """All documents by number, those of the corpus before its reformulations, and the two of each pair."""

    corpus: Corpus
    joined: Corpus  # the documents of both, each with an id
    ids: tuple[str, ...]
    own: int  # how many are of the corpus
    a: Ints  # [pairs]
    b: Ints
    paired: Paired
    texts: Mapping[int, str]  # title and text of each document that is in a pair
    lent: Mapping[int, list[Reference]]  # the references of its source, by reformulation
    hash: str  # of the references of the corpus
    sentences: Mapping[Matching, list[Words]]  # of the corpus, where they are needed

    @property
    def in_pairs(self) -> Ints:
        """The documents that are in a pair."""
        return np.unique(np.concatenate([self.a, self.b]))


@dataclass(frozen=True, slots=True)
class Contents:
    """What is read of a corpus: the ids of all documents, the texts and references of those that are in a pair."""

    ids: list[str]
    texts: dict[str, str]
    references: dict[str, list[Reference]]
    hash: str
    sentences: dict[Matching, list[Words]] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, int]:
        """The place of each document, by its id."""
        return {identifier: n for n, identifier in enumerate(self.ids)}


def read_contents(
    corpus: Corpus,
    ids: frozenset[str],
    reference_set: str | None,
    *,
    sentences: Sequence[Matching] = (),
    jobs: int = 1,
) -> Contents:
    """What a corpus holds of the documents with the given ids; its sentences as some ways of matching stem them.

    Raises InputError if a document has no id, others having one, or if two have the same.
    """
    reading = Pass(corpus, [], reference_set=reference_set, jobs=jobs)
    answers, hashes = reading.look(partial(_look_at_contents, ids)), reading.look(hash_look)
    split = {matching: reading.look(partial(sentences_look, matching)) for matching in sentences}
    reading.run()
    found = [each for part in answers.parts for each in part]
    return Contents(
        reading.ids,
        {identifier: text for identifier, text, _ in found},
        {identifier: references for identifier, _, references in found},
        hash_text(sum(hashes.parts)),
        {matching: [each for part in parts.parts for each in part] for matching, parts in split.items()},
    )


def _look_at_contents(ids: frozenset[str], view: View) -> list[tuple[str, str, list[Reference]]]:
    """A look: (id, text, references) of the documents with the given ids."""
    return [
        (identifier, text_of(document), references_of(document, view.setup.reference_set))
        for identifier, document in zip(view.ids, view.given, strict=True)
        if identifier in ids
    ]


def read_documents(
    corpus: Corpus,
    reformulations: Corpus | None,
    paired: Paired,
    reference_set: str | None,
    *,
    sentences: Sequence[Matching] = (),
    jobs: int = 1,
) -> Documents:
    """The documents that pairs name: both in the corpus, or b among its reformulations.

    Raises InputError if a pair names a document that is not there, or if ids are not distinct.
    """
    ids_a, ids_b = frozenset(paired.a), frozenset(paired.b)
    own_ids = ids_a | ids_b if reformulations is None else ids_a
    own = read_contents(corpus, own_ids, reference_set, sentences=sentences, jobs=jobs)
    other = own if reformulations is None else read_contents(reformulations, ids_b, reference_set, jobs=jobs)
    ids, parts = tuple(own.ids), [(corpus, own.ids)]
    if reformulations is not None:
        _check_distinct(corpus, own.ids, reformulations, other.ids)
        ids, parts = (*own.ids, *other.ids), [*parts, (reformulations, other.ids)]
    a = _places(paired.a, own.numbers, corpus, paired)
    b = _places(paired.b, other.numbers, reformulations or corpus, paired)
    b += 0 if reformulations is None else len(own.ids)
    texts = own.texts | other.texts
    both = zip(a[::-1].tolist(), b[::-1].tolist(), strict=True)  # of several sources the first
    return Documents(
        corpus,
        Corpus(corpus.name, partial(_one_after_the_other, parts), corpus.origin),
        ids,
        len(own.ids),
        a,
        b,
        paired,
        {n: texts[ids[n]] for n in np.unique(np.concatenate([a, b])).tolist()},
        {} if reformulations is None else {n: own.references[ids[source]] for source, n in both},
        own.hash,
        own.sentences,
    )


def _check_distinct(corpus: Corpus, own: Sequence[str], reformulations: Corpus, other: Sequence[str]) -> None:
    known = frozenset(own)
    both = next((identifier for identifier in other if identifier in known), None)
    if both is not None:
        raise InputError(
            f"document {quoted(both)} is in {corpus.origin} and in {reformulations.origin}; a run tells them by "
            "their ids, so give each its own"
        )


def _places(ids: Sequence[str], known: Mapping[str, int], corpus: Corpus, paired: Paired) -> Ints:
    """The places of the documents with some ids, one of each pair."""
    for pair, identifier in enumerate(ids):
        if identifier not in known:
            hint = near(identifier, known) or "; --reformulations names the corpus of b, where it is another one"
            raise InputError(f"{paired.at(pair)}: there is no document {quoted(identifier)} in {corpus.origin}{hint}")
    return np.array([known[identifier] for identifier in ids], dtype=np.int64)


def _one_after_the_other(parts: Sequence[tuple[Corpus, Sequence[str]]]) -> Iterator[Batch[Document]]:
    for corpus, ids in parts:
        yield from _with_ids(corpus.batches, ids)


def _with_ids(batches: Batches[R], ids: Sequence[str]) -> Iterator[Batch[R]]:
    """The same batches, their records having these ids."""
    start = 0
    for batch in batches():
        yield replace(batch, ids=list(ids[start : start + len(batch)]))
        start += len(batch)


# ---------------------------------------------------------------------------------------------- runs


@dataclass(frozen=True, slots=True)
class System:
    """What there is of one run."""

    name: str
    there: Bools  # the pairs for both documents of which it has predictions
    strangers: int  # documents of the run that are in no corpus


def known_run(run: Run, documents: Documents, by: By | None) -> tuple[Run, Restricted | None]:
    """A run of the documents alone, each prediction with an id; and what counts the others, where it is by id.

    Raises InputError if a run without ids has more predictions, or fewer, than there are documents.
    """
    if matched_by(documents.corpus, run, by) == "id":
        restricted = Restricted(run, frozenset(documents.ids))
        return Run(run.name, restricted, run.origin), restricted
    if len(run) != len(documents.ids):
        raise InputError(
            f"{run.origin}: {len(run):,} lines without ids, but there are {len(documents.ids):,} documents; "
            "give both ids"
        )
    return Run(run.name, partial(_with_ids, run.batches, documents.ids), run.origin), None


def check_predicted(run: Run, documents: Documents, lacking: Bools, missing: Missing) -> Bools:
    """The pairs for both documents of which a run has predictions, or is taken to have none.

    Raises InputError if it lacks one of a pair, unless `missing` says what to do then.
    """
    if missing == "empty":
        return np.ones(len(documents.a), dtype=bool)
    there = ~lacking[documents.a] & ~lacking[documents.b]
    if missing == "error" and not there.all():
        pair = int(np.argmin(there))
        both = documents.a[pair], documents.b[pair]
        document = documents.ids[next(int(n) for n in both if lacking[n])]
        raise InputError(
            f"{run.origin}: no predictions for document {quoted(document)} of the pair on line "
            f"{documents.paired.places[pair]} of {documents.paired.origin}; take it as empty with --missing empty, "
            "or leave the pair out with --missing skip"
        )
    return there


# ---------------------------------------------------------------------------------------------- columns


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases of documents, in the order of their lists; present if the text of the document has it."""

    document: Ints
    phrase: Ints
    present: Bools
    prmu: Ints  # the class of each in its document: 0 P, 1 R, 2 M, 3 U

    def take(self, which: Bools | Ints) -> Phrases:
        """Some of the rows."""
        return Phrases(self.document[which], self.phrase[which], self.present[which], self.prmu[which])


@dataclass(frozen=True, slots=True)
class Columns:
    """Everything that is compared under one protocol."""

    forms: tuple[str, ...]  # of each phrase, its stems joined
    spelled: tuple[str, ...]  # and how it was first written
    references: Phrases
    systems: tuple[Phrases, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is done with every chunk."""

    protocols: tuple[Protocol, ...]
    cutoff: Cutoff  # how many predictions count
    in_pairs: frozenset[int]
    lent: Mapping[int, list[Reference]]


@dataclass(frozen=True, slots=True)
class _Part:
    """What a chunk gives back under one protocol, its phrases numbered by themselves."""

    forms: list[str]
    spelled: list[str]
    sides: list[Phrases]  # the references, then each system


def read_columns(
    reading: Pass, documents: Documents, protocols: Sequence[Protocol], cutoff: Cutoff
) -> tuple[list[Columns], list[Bools]]:
    """(the phrases of all documents under each protocol; by run, the documents that it lacks), from a pass."""
    in_pairs = frozenset(documents.in_pairs.tolist())
    plan = _Plan(tuple(protocols), cutoff, in_pairs, documents.lent)
    answers = reading.look(partial(_look_at_phrases, plan))
    missing = reading.look(_look_at_missing)
    reading.run()
    columns = [_joined([part[p] for part in answers.parts]) for p in range(len(protocols))]
    return columns, [_lacking(missing, s, len(documents.ids)) for s in range(len(reading.runs))]


def _look_at_missing(view: View) -> list[list[int]]:
    """A look: by run, the documents that it lacks."""
    return [[view.chunk.numbers[n] for n in lacking] for lacking in view.chunk.missing]


def _lacking(missing: Answers[list[list[int]]], system: int, documents: int) -> Bools:
    found = np.zeros(documents, dtype=bool)
    for part in missing.parts:
        found[part[system]] = True
    return found


def _look_at_phrases(plan: _Plan, view: View) -> list[_Part]:
    """A look: the phrases of a chunk under each protocol."""
    own = view.replaced(_with_references(plan, view))
    return [_phrases(own, protocol, plan.cutoff) for protocol in plan.protocols]


def _with_references(plan: _Plan, view: View) -> list[Document]:
    """The documents with their references, and with their texts where they are in a pair.

    What is reformulated is about the same, so a reformulation without references is given those of its source.
    """
    name = view.setup.reference_set
    found: list[Document] = []
    for n, document in zip(view.chunk.numbers, view.given, strict=True):
        given = references_of(document, name) or plan.lent.get(n, [])
        found.append(
            Document(
                title=document.title if n in plan.in_pairs else None,
                text=document.text if n in plan.in_pairs else None,
                keyphrases=given if name is None else None,
                reference_sets=None if name is None else {name: given},
            )
        )
    return found


def _phrases(view: View, protocol: Protocol, cutoff: Cutoff) -> _Part:
    prepared = view.prepared(protocol.matching)
    aligned = [view.aligned(s, protocol) for s in range(len(view.setup.systems))]
    r, numbers = prepared.references, np.asarray(view.chunk.numbers, dtype=np.int64)
    classes = view.unpredicted(protocol).reference_prmu()
    sides = [(r.document, r.phrase, r.present, classes), *(_kept(each, cutoff) for each in aligned)]
    return _Part(
        list(prepared.table),
        _spellings(prepared, aligned),
        [Phrases(numbers[document], phrase, present, prmu) for document, phrase, present, prmu in sides],
    )


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


def _kept(aligned: Aligned, cutoff: Cutoff) -> tuple[Ints, Ints, Bools, Ints]:
    """(document, phrase, whether it is present, its class) of the predictions within the cutoff."""
    ranked = aligned.ranked("all")
    within = ranked.rank < aligned.depth(cutoff, "all")[ranked.document]
    row = ranked.row[within]
    present, prmu = aligned.predictions.present[row], aligned.prediction_prmu()[row]
    return ranked.document[within], ranked.phrase[within], present, prmu


def _joined(parts: Sequence[_Part]) -> Columns:
    """The phrases of all chunks, numbered through."""
    table, spelled = Numbers(), list[str]()
    sides: list[list[Phrases]] = [[] for _ in parts[0].sides]
    for part in parts:
        known = len(table)
        number = table.of(part.forms)  # new ones rise
        spelled += [text for text, n in zip(part.spelled, number.tolist(), strict=True) if n >= known]
        for side, each in zip(sides, part.sides, strict=True):
            side.append(replace(each, phrase=number[each.phrase]))
    references, *others = (_whole(side, table.get("", -1)) for side in sides)
    return Columns(tuple(table), tuple(spelled), references, tuple(others))


def _whole(parts: Sequence[Phrases], blank: int) -> Phrases:
    """All rows; a phrase without stems is none."""
    names = ("document", "phrase", "present", "prmu")
    rows = Phrases(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
    return rows.take(rows.phrase != blank)
