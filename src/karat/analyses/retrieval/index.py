"""A collection as counts of the terms that queries have, and what the phrases of each system add to them.

Terms that no query has need not be counted one by one: they make documents longer, and that is all. So the queries are
read first, and a pass over the collection keeps for each document its length and the counts of their terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from karat.corpus import Prediction
from karat.formats.base import first_variant
from karat.matching.align import align, references_of
from karat.matching.columns import PRMU, Aligned, Bools, Floats, Ints, Subset, position
from karat.matching.passes import View
from karat.protocol import Protocol
from karat.text import segments
from karat.text.stems import stemmer
from karat.text.stoplists import stop_words
from karat.text.tokens import tokenizer
from karat.text.unicode import composed

REMEMBERED = 1 << 19  # pieces of text whose terms are kept; beyond that the memory is emptied
OTHER = -1  # a term that no query has
CELLS = 2 * len(PRMU)  # phrases are told apart by whether they are present, and by their class of PRMU


@dataclass(frozen=True, slots=True)
class Analysis:
    """How text becomes terms: cut, lower-cased, without stop words, stemmed; what has no letter or digit is dropped."""

    tokenizer: str = "split_nopunc"
    stemmer: str = "porter"
    stop: str = "english"  # the language whose stop words are left out, or none
    segmentation: str = "characters"  # how Chinese and Japanese are cut

    def terms(self, text: str) -> list[str]:
        """The terms of a text in their order.

        >>> Analysis().terms("The networks of neurons, trained")
        ['network', 'neuron', 'train']
        """
        return self.terms_between(self.spaced(text))

    def spaced(self, text: str) -> str:
        """The text with spaces between words, where its script has none."""
        between = None if text.isascii() else segments.cut(self.segmentation)
        return text if between is None else between(text)

    def terms_between(self, text: str) -> list[str]:
        """The terms of a text that has spaces between its words."""
        cut, stem, stop = tokenizer(self.tokenizer), stemmer(self.stemmer), stop_words(self.stop)
        plain = text if text.isascii() else composed(text)
        tokens = cut(plain) if cut.cased else cut(plain.lower())
        words = (token.lower() for token in tokens)
        return [stem(word) for word in words if word not in stop and any(map(str.isalnum, word))]


class Vocabulary:
    """The terms of some queries, numbered; and for any text the numbers of its terms, OTHER for those of no query."""

    def __init__(self, analysis: Analysis, queries: Iterable[str]) -> None:
        self.analysis = analysis
        self.numbers: dict[str, int] = {}
        self.queries = [
            [self.numbers.setdefault(term, len(self.numbers)) for term in analysis.terms(text)] for text in queries
        ]
        self._pieces = _Pieces(analysis, self.numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        return _vocabulary, (self.analysis, self.numbers, self.queries)

    def __len__(self) -> int:
        return len(self.numbers)

    def of(self, text: str) -> list[int]:
        """The numbers of the terms of a text."""
        cut = tokenizer(self.analysis.tokenizer)
        if not cut.local or cut.cased or cut.pieces is not str.split:
            return [self.numbers.get(term, OTHER) for term in self.analysis.terms(text)]
        pieces = self.analysis.spaced(text).lower().split()
        return list(chain.from_iterable(map(self._pieces.__getitem__, pieces)))

    def forget(self) -> None:
        """Empties the memory if it has grown beyond its bound."""
        if len(self._pieces) > REMEMBERED:
            self._pieces.clear()


def _vocabulary(analysis: Analysis, numbers: dict[str, int], queries: list[list[int]]) -> Vocabulary:
    found = Vocabulary(analysis, ())
    found.numbers.update(numbers)
    found.queries = queries
    return found


class _Pieces(dict[str, tuple[int, ...]]):
    """Pieces of text with the numbers of their terms, found when first needed."""

    def __init__(self, analysis: Analysis, numbers: Mapping[str, int]) -> None:
        super().__init__()
        self._analysis, self._numbers = analysis, numbers

    def __missing__(self, piece: str) -> tuple[int, ...]:
        found = tuple(self._numbers.get(term, OTHER) for term in self._analysis.terms_between(piece))
        self[piece] = found
        return found


# ---------------------------------------------------------------------------------------------- counts


@dataclass(frozen=True, slots=True)
class Counts:
    """How often terms of queries are in documents, and how many terms these have; by cell where there are cells."""

    document: Ints  # of each entry
    cell: Ints
    term: Ints
    count: Ints
    lengths: Ints  # [documents, cells]
    phrases: Ints  # [documents, cells]: how many phrases were added

    @classmethod
    def of(cls, texts: Sequence[tuple[int, int, str]], documents: int, cells: int, terms: Vocabulary) -> Counts:
        """The counts of texts, each with its document and cell."""
        numbers = [terms.of(text) for _, _, text in texts]
        terms.forget()
        sizes = np.fromiter(map(len, numbers), dtype=np.int64, count=len(numbers))
        place = np.array([document * cells + cell for document, cell, _ in texts], dtype=np.int64)
        flat = np.fromiter(chain.from_iterable(numbers), dtype=np.int64, count=int(sizes.sum()))
        places = np.repeat(place, sizes)
        known = flat != OTHER
        width = max(len(terms), 1)
        keys, count = np.unique(places[known] * width + flat[known], return_counts=True)
        lengths = np.bincount(places, minlength=documents * cells).reshape(documents, cells)
        phrases = np.bincount(place, minlength=documents * cells).reshape(documents, cells)
        at = keys // width
        return cls(at // cells, at % cells, keys % width, count, lengths, phrases)

    @classmethod
    def joined(cls, parts: Sequence[Counts]) -> Counts:
        """The counts of all chunks, documents numbered through."""
        starts = np.cumsum([0, *(len(part.lengths) for part in parts)])
        document = np.concatenate([part.document + start for part, start in zip(parts, starts, strict=False)])
        rest = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("cell", "term", "count", "lengths", "phrases")
        )
        return cls(document, *rest)

    def matrix(self, terms: int, cells: Bools | None = None) -> Any:
        """The counts in some cells, or in all, as a sparse array [documents, terms]."""
        from scipy.sparse import csr_array

        used = slice(None) if cells is None else cells[self.cell]
        entries = (self.count[used].astype(np.float64), (self.document[used], self.term[used]))
        return csr_array(entries, shape=(len(self.lengths), max(terms, 1)))


# ---------------------------------------------------------------------------------------------- the look


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done with every chunk."""

    terms: Vocabulary
    protocol: Protocol
    most: int | None  # predictions of a document that are added


@dataclass(frozen=True, slots=True)
class Part:
    """What a chunk gives back: the counts of its texts, then those of the references and of each system."""

    text: Counts
    sides: list[Counts]
    missing: list[int]  # by system, how many documents it lacks
    blank: int  # documents without title and text


def look_at_terms(plan: Plan, view: View) -> Part:
    """A look: the terms of documents, and those of the phrases that would be added to them."""
    texts = [f"{document.title or ''} {document.text or ''}" for document in view.documents]
    own = Counts.of([(n, 0, text) for n, text in enumerate(texts)], len(view), 1, plan.terms)
    sides = [_references(view, plan.protocol)]
    sides += [view.aligned(system, plan.protocol) for system in range(len(view.setup.systems))]
    return Part(
        own,
        [_added(aligned, plan if number else None, plan.terms) for number, aligned in enumerate(sides)],
        list(map(len, view.chunk.missing)),
        sum(not text.strip() for text in texts),
    )


def _references(view: View, protocol: Protocol) -> Aligned:
    """The references of the documents, of variants the first, aligned as if a system had predicted them."""
    name = view.setup.reference_set
    listed = [[first_variant(each) for each in references_of(document, name)] for document in view.documents]
    predictions = [Prediction(keyphrases=list[str | None](phrases)) for phrases in listed]
    return align(view.prepared(protocol.matching), predictions, protocol.counting)


def _added(aligned: Aligned, limited: Plan | None, terms: Vocabulary) -> Counts:
    """The terms of the phrases that are kept under the protocol, by whether they are present and by class of PRMU."""
    p = aligned.predictions
    row = np.flatnonzero(p.kept)
    if limited is not None and limited.most is not None:
        row = row[position(p.document[row]) < limited.most]
    cell = p.present[row] * len(PRMU) + aligned.prediction_prmu()[row]
    surfaces = list(aligned.prepared.surfaces)
    listed = zip(p.document[row].tolist(), cell.tolist(), p.surface[row].tolist(), strict=True)
    texts = [(document, where, surfaces[surface]) for document, where, surface in listed]
    return Counts.of(texts, aligned.documents, CELLS, terms)


def cells_of(subset: Subset) -> Bools:
    """Which cells a subset has.

    >>> cells_of("present").nonzero()[0].tolist(), cells_of("M").nonzero()[0].tolist()
    ([4, 5, 6, 7], [2, 6])
    """
    present = np.arange(CELLS) >= len(PRMU)
    if subset in ("present", "absent"):
        return present if subset == "present" else ~present
    return np.arange(CELLS) % len(PRMU) == PRMU.index(subset) if subset in PRMU else np.ones(CELLS, dtype=bool)


def lengths_of(counts: Counts, cells: Bools | None = None) -> Floats:
    """How many terms each document has in some cells, or in all."""
    used = counts.lengths if cells is None else counts.lengths[:, cells]
    return np.asarray(used.sum(axis=1), dtype=np.float64)
