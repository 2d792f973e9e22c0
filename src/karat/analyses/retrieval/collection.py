"""The collection that is searched: corpora joined into one, its terms, and the rankings of every condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from karat.analyses.retrieval.bm25 import Ranked, search, term_weights
from karat.analyses.retrieval.index import Counts, Part, Plan, Vocabulary, cells_of, lengths_of, look_at_terms
from karat.analyses.retrieval.result import REFERENCES, TEXT, Condition, RetrievalOptions
from karat.corpus import Batch, Corpus, Document, Run
from karat.errors import InputError, counted
from karat.formats.base import quoted
from karat.matching.columns import Bools, Floats, Ints
from karat.matching.inputs import by_line_notes, chosen_set, hash_text
from karat.matching.join import Join
from karat.matching.passes import Pass, hash_look
from karat.protocol import Protocol, whole_number


def joined(corpora: Sequence[Corpus]) -> Corpus:
    """Several corpora as one, named after the first.

    Reading it raises InputError, naming both files, if two documents of different corpora have one id, or if a document
    has none.
    """
    if len(corpora) == 1:
        return corpora[0]
    return Corpus(corpora[0].name, partial(_batches, tuple(corpora)), "+".join(corpus.origin for corpus in corpora))


def _batches(corpora: Sequence[Corpus]) -> Iterator[Batch[Document]]:
    known: dict[str, tuple[int, int]] = {}
    for number, corpus in enumerate(corpora):
        for batch in corpus.batches():
            for identifier, place in zip(batch.ids, batch.places, strict=True):
                if identifier is None:
                    raise InputError(f"{corpus.origin}:{place}: no id; documents of several files need one")
                before = known.setdefault(identifier, (number, place))
                if before != (number, place):
                    first = f"{corpora[before[0]].origin}:{before[1]}"
                    raise InputError(
                        f"{corpus.origin}:{place}: id {quoted(identifier)} is that of {first} too; keep one"
                    )
            yield batch


# ---------------------------------------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True)
class Collection:
    """The documents as counts of terms, and what the references and each system would add to them."""

    ids: list[str]
    systems: tuple[str, ...]
    terms: Vocabulary
    text: Counts
    sides: list[Counts]  # the references, then the systems
    hash: str  # of the references
    notes: tuple[str, ...]


def read_collection(
    corpus: Corpus, runs: Sequence[Run], terms: Vocabulary, protocol: Protocol, options: RetrievalOptions
) -> Collection:
    """The collection, from one pass over its documents and all runs."""
    join = options.join
    reading = Pass(
        corpus,
        runs,
        Join(join.by, join.missing, extra=join.extra),
        reference_set=chosen_set(corpus, join.references),
        jobs=options.work.jobs,
        progress=options.work.progress,
    )
    answers = reading.look(partial(look_at_terms, Plan(terms, protocol, whole_number(options.cutoff))))
    hashes = reading.look(hash_look)
    reading.run()
    parts = answers.parts
    if not parts:
        raise InputError(f"{corpus.origin}: there are no documents in it")
    return Collection(
        reading.ids,
        reading.setup.systems,
        terms,
        Counts.joined([part.text for part in parts]),
        [Counts.joined([part.sides[n] for part in parts]) for n in range(len(runs) + 1)],
        hash_text(sum(hashes.parts)),
        (*by_line_notes(corpus, runs, join.by), *reading.notes(), *_notes(reading, parts)),
    )


def _notes(reading: Pass, parts: Sequence[Part]) -> Iterator[str]:
    blank = sum(part.blank for part in parts)
    if blank:
        yield f"{counted(blank, 'document')} without title and text: only phrases can find them"
    for number, run in enumerate(reading.runs):
        lacking = sum(part.missing[number] for part in parts)
        if lacking:
            yield f"{run.name}: {counted(lacking, 'document')} that the run lacks get no phrases"


# ---------------------------------------------------------------------------------------------- searching


def searched(collection: Collection, options: RetrievalOptions) -> Iterator[tuple[Condition, Iterator[Ranked]]]:
    """Every condition, with the ranking of each query in their order; none where documents hold the same as before."""
    terms, text = collection.terms, collection.text
    queries = _queries(terms, options.query_terms == "distinct")
    order = np.empty(len(collection.ids), dtype=np.int64)
    order[sorted(range(len(order)), key=collection.ids.__getitem__)] = np.arange(len(order))
    counts, lengths = text.matrix(len(terms)), lengths_of(text)

    def ranked(added: Counts | None = None, cells: Bools | None = None) -> Iterator[Ranked]:
        found: tuple[Any, Floats] = (counts, lengths)
        if added is not None:
            more = added.matrix(len(terms), cells) * options.weight
            found = counts + more, lengths + options.weight * lengths_of(added, cells)
        return search(queries, term_weights(*found, options.k1, options.b), order, options.depth)

    yield Condition("text", TEXT), ranked()
    for condition, added, cells in _conditions(collection, options):
        yield condition, iter(()) if condition.same else ranked(added, cells)


def _conditions(collection: Collection, options: RetrievalOptions) -> Iterator[tuple[Condition, Counts, Bools]]:
    """The phrases of the references and of every system, of each subset; and in which cells these are."""
    for number, added in enumerate(collection.sides):
        name = collection.systems[number - 1] if number else REFERENCES
        filled = added.phrases.sum(axis=0) > 0
        known = {bytes(len(filled)): TEXT}
        for subset in dict.fromkeys(options.subsets):
            cells = cells_of(subset) & filled
            phrases = float(added.phrases[:, cells].sum()) / len(collection.ids)
            same = known.get(cells.tobytes(), "")
            condition = Condition("system" if number else "references", name, subset, phrases, same)
            known.setdefault(cells.tobytes(), condition.name)
            yield condition, added, cells


def _queries(terms: Vocabulary, distinct: bool) -> Any:
    """How often each query has each term, [queries, terms]."""
    from scipy.sparse import csr_array

    listed = [sorted(set(numbers)) if distinct else sorted(numbers) for numbers in terms.queries]
    sizes = np.cumsum([0, *map(len, listed)])
    flat: Ints = np.array([number for numbers in listed for number in numbers], dtype=np.int64)
    found = csr_array((np.ones(len(flat)), flat, sizes), shape=(len(listed), max(len(terms), 1)))
    found.sum_duplicates()
    return found
