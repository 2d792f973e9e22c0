"""Aligned: one run against some documents, as columns of integers that every metric reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Document, Prediction
from karat.matching.concepts import Concepts
from karat.protocol import Counting, Matching

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Subset = Literal["all", "present", "absent", "P", "R", "M", "U"]
SUBSETS: tuple[Subset, ...] = ("all", "present", "absent", "P", "R", "M", "U")
PRMU = "PRMU"
WALL = "\n"  # white space that no token holds: what stands between title and text that nothing may cross
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cutoff:
    """How many predictions count: k, all of them (M), as many as references (O), the larger (G), a fitted k (V)."""

    kind: Literal["k", "M", "O", "G", "V"] = "M"
    k: int | None = None

    def __str__(self) -> str:
        return str(self.k) if self.kind == "k" else self.kind


class Numbers(defaultdict[str, int]):
    """Numbers for distinct strings, from 0 in the order in which they are first met."""

    def __init__(self) -> None:
        super().__init__(count().__next__)

    def of(self, strings: Sequence[str]) -> Ints:
        """The numbers of strings, new ones for new strings."""
        return np.fromiter(map(self.__getitem__, strings), dtype=np.int64, count=len(strings))


@dataclass(frozen=True, slots=True)
class References:
    """One row a reference; its variants are rows of their own, the first of them its phrase."""

    document: Ints
    phrase: Ints
    present: Bools
    variant_reference: Ints
    variant_phrase: Ints
    variant_present: Bools
    variant_surface: Ints  # as it was given, among the prepared surfaces
    listed: Ints  # the surface at the reference's place in the document's list, where repeats stand in it still


@dataclass(frozen=True, slots=True)
class Predictions:
    """One row a predicted phrase, in rank order within its document, the dropped ones included."""

    document: Ints
    phrase: Ints
    source: Ints  # index in the run's list: a split phrase has two rows of one source
    valid: Bools
    repeat: Bools  # the stems of an earlier prediction of the document
    kept: Bools
    present: Bools
    hit: Ints  # the first reference that it is a variant of, or -1
    surface: Ints  # as it was given, among the prepared surfaces


@dataclass(frozen=True, slots=True)
class Ranked:
    """The kept predictions of a subset: rank from 0 within the document, and the references each one finds."""

    row: Ints
    document: Ints
    phrase: Ints
    rank: Ints
    gain: Ints  # how many references of the subset it is the first to find
    relevant: Bools  # whether it is a reference of the subset at all


@dataclass(frozen=True, slots=True)
class Prepared:
    """The documents' side of a chunk: normalised texts and references."""

    given: Sequence[Document]
    matching: Matching
    table: Numbers  # the distinct phrases of the chunk, a phrase being its joined stems
    surfaces: Numbers  # the distinct phrases as they were given
    titles: list[str]
    bodies: list[str]
    texts: list[str]
    references: References
    concepts: Concepts | None = None  # what phrases are in a vocabulary, where concepts are compared

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, slots=True)
class Aligned:
    """One run against the documents of a chunk, as columns; what metrics ask of it is computed once."""

    prepared: Prepared
    predictions: Predictions
    counting: Counting
    given: Sequence[Prediction] = ()  # as the run tells them; `source` leads from a row to what it tells of a phrase
    _known: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.prepared)

    @property
    def references(self) -> References:
        """The references' columns."""
        return self.prepared.references

    @property
    def forms(self) -> list[str]:
        """A phrase's joined stems, by its number."""
        return self.once("forms", lambda: list(self.prepared.table))

    def count_references(self, subset: Subset) -> Ints:
        """References of the subset, by document."""
        return self.once(("references", subset), lambda: self._tally(self.references_in(subset)))

    def count_predictions(self, subset: Subset) -> Ints:
        """Kept predictions of the subset, by document."""
        return self.once(
            ("predictions", subset),
            lambda: np.bincount(self.ranked(subset).document, minlength=self.documents),
        )

    def depth(self, cutoff: Cutoff, subset: Subset) -> Ints:
        """The k of the cutoff, by document."""
        if cutoff.k is not None:
            return np.full(self.documents, cutoff.k)
        if cutoff.kind == "O":
            return self.count_references(subset)
        if cutoff.kind == "G":
            return np.maximum(self.count_predictions(subset), self.count_references(subset))
        return self.count_predictions(subset)

    def count_hits(self, cutoff: Cutoff, subset: Subset) -> Ints:
        """References found within the cutoff, by document."""
        return self.once(("hits", cutoff, subset), lambda: self._hits(cutoff, subset))

    def _hits(self, cutoff: Cutoff, subset: Subset) -> Ints:
        ranked = self.ranked(subset)
        within = ranked.rank < self.depth(cutoff, subset)[ranked.document]
        found = np.bincount(ranked.document, weights=ranked.gain * within, minlength=self.documents)
        return found.astype(np.int64)

    def ranked(self, subset: Subset) -> Ranked:
        """The kept predictions of the subset in their order."""
        return self.once(("ranked", subset), lambda: self._rank(subset))

    def pairs(self, subset: Subset) -> tuple[Ints, Ints]:
        """Every (row of `ranked(subset)`, variant row) of the same document, the reference being in the subset."""
        return self.once(("pairs", subset), lambda: self._pair(subset))

    def prediction_prmu(self) -> Ints:
        """The class of each prediction row: 0 P, 1 R, 2 M, 3 U."""
        p = self.predictions
        return self.once("prmu", lambda: _prmu(self.prepared, p.document, p.phrase, p.present))

    def reference_prmu(self) -> Ints:
        """The class of each reference, its best variant's."""

        def best() -> Ints:
            r = self.references
            classes = _prmu(self.prepared, r.document[r.variant_reference], r.variant_phrase, r.variant_present)
            result = np.full(len(r.document), 3)
            np.minimum.at(result, r.variant_reference, classes)
            return result

        return self.once("reference prmu", best)

    def prediction_offsets(self) -> Ints:
        """Where each prediction row is first met in its document, in characters; -1 where it is not."""
        p = self.predictions
        return self.once("offsets", lambda: first_offsets(self.prepared, p.document, p.phrase, p.present))

    def reference_offsets(self) -> Ints:
        """Where each reference is first met in its document, by any of its variants; -1 where it is not."""
        return self.once("reference offsets", lambda: reference_offsets(self.prepared))

    def lengths(self) -> Ints:
        """The characters of each document, as the protocol counts them where it tells positions."""
        return self.once("lengths", lambda: text_lengths(self.prepared, self.counting.position))

    def once(self, key: Any, compute: Callable[[], T]) -> T:
        """What the function computes, kept under a key."""
        if key not in self._known:
            self._known[key] = compute()
        found: T = self._known[key]
        return found

    def _tally(self, mask: Bools) -> Ints:
        return np.bincount(self.references.document[mask], minlength=self.documents)

    def predictions_in(self, subset: Subset) -> Bools:
        """Which prediction rows are of the subset."""
        return _in_subset(subset, self.predictions.present, self.prediction_prmu)

    def references_in(self, subset: Subset) -> Bools:
        """Which references are of the subset."""
        r = self.references
        if not self._by_variant(subset):
            return _in_subset(subset, r.present, self.reference_prmu)
        found = np.zeros(len(r.document), dtype=bool)
        np.logical_or.at(found, r.variant_reference, self.variants_in(subset))
        return found

    def variants_in(self, subset: Subset) -> Bools:
        """Which variants count for the subset: those of its references, or those that are of it themselves."""
        r = self.references
        if self._by_variant(subset):
            return r.variant_present if subset == "present" else ~r.variant_present
        return self.references_in(subset)[r.variant_reference]

    def _by_variant(self, subset: Subset) -> bool:
        return self.prepared.matching.variants == "each" and subset in ("present", "absent")

    def _rank(self, subset: Subset) -> Ranked:
        p = self.predictions
        row = np.flatnonzero(p.kept & self.predictions_in(subset))
        document = p.document[row]
        gain, relevant = self._gains(row, subset)
        return Ranked(row, document, p.phrase[row], position(document), gain, relevant)

    def _gains(self, row: Ints, subset: Subset) -> tuple[Ints, Bools]:
        reference = self.predictions.hit[row]
        relevant = reference >= 0
        relevant[relevant] = self.references_in(subset)[reference[relevant]]
        hits = self.prepared.matching.hits
        if hits == "each":
            return relevant.astype(np.int64), relevant
        gain = np.zeros(len(row), dtype=np.int64)
        if hits == "references":
            np.add.at(gain, self._finders(row, subset), 1)
            return gain, relevant
        claims = np.flatnonzero(relevant)
        gain[claims[np.unique(reference[claims], return_index=True)[1]]] = 1
        return gain, gain > 0

    def _finders(self, row: Ints, subset: Subset) -> Ints:
        """For each reference of the subset that is found, the first of the rows that finds it."""
        p, r = self.predictions, self.references
        width = len(self.prepared.table)
        found, where = lookup(
            r.document[r.variant_reference] * width + r.variant_phrase,
            p.document[row] * width + p.phrase[row],
        )
        found &= self.variants_in(subset)
        reference, finder = r.variant_reference[found], where[found]
        order = np.lexsort((finder, reference))
        first = np.unique(reference[order], return_index=True)[1]
        return finder[order][first]

    def _pair(self, subset: Subset) -> tuple[Ints, Ints]:
        r = self.references
        variant = np.flatnonzero(self.variants_in(subset))
        document = r.document[r.variant_reference[variant]]
        order = np.argsort(document, kind="stable")
        left, right = same_document(self.ranked(subset).document, document[order], self.documents)
        return left, variant[order][right]


def _in_subset(subset: Subset, present: Bools, prmu: Callable[[], Ints]) -> Bools:
    if subset == "all":
        return np.ones(len(present), dtype=bool)
    if subset == "present":
        return present
    if subset == "absent":
        return ~present
    return np.asarray(prmu() == PRMU.index(subset))


def position(groups: Ints) -> Ints:
    """The position of each element within its run of equal values."""
    if not len(groups):
        return np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    return np.arange(len(groups)) - np.repeat(starts, np.diff(np.r_[starts, len(groups)]))


def same_document(left: Ints, right: Ints, documents: int) -> tuple[Ints, Ints]:
    """The indices of every two elements that are of the same document, given the documents of both sides in order.

    >>> [side.tolist() for side in same_document(np.array([0, 2, 2]), np.array([0, 0, 1, 2]), 3)]
    [[0, 0, 1, 2], [0, 1, 3, 3]]
    """
    each = np.bincount(right, minlength=documents)
    times = each[left]
    index = np.repeat(np.arange(len(left)), times)
    first, before = np.cumsum(each) - each, np.cumsum(times) - times
    return index, np.arange(len(index)) + np.repeat(first[left] - before, times)


def lookup(needles: Ints, keys: Ints) -> tuple[Bools, Ints]:
    """Whether each needle is among the keys, and the index of the first key equal to it."""
    if not len(keys):
        return np.zeros(len(needles), dtype=bool), np.zeros(len(needles), dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    where = np.minimum(np.searchsorted(ordered, needles), len(keys) - 1)
    return ordered[where] == needles, order[where]


def _prmu(prepared: Prepared, document: Ints, phrase: Ints, present: Bools) -> Ints:
    """The class of each phrase in its document: P contiguous in title or text, R every stem, M some, U none."""
    whole, seen, stems = stems_seen(prepared, document, phrase, present)
    return np.where(whole, 0, np.where(seen == 0, 3, np.where(seen == stems, 1, 2)))


def stems_seen(prepared: Prepared, document: Ints, phrase: Ints, present: Bools) -> tuple[Bools, Ints, Ints]:
    """(whether each phrase stands in title or text as a whole, how many of its stems are there, how many it has).

    `present` tells which phrases are, by the protocol's rule; where that rule is the same nothing is sought again.
    """
    forms = list(prepared.table)
    matching = prepared.matching
    known = (matching.present, matching.boundary, matching.kinds) == ("tokens", "wall", "text")
    texts = prepared.texts
    if matching.boundary != "wall":
        texts = [f" {title} {WALL} {body} " for title, body in zip(prepared.titles, prepared.bodies, strict=True)]
    whole = present & (phrase != prepared.table.get("", -1))
    if not known:
        rows = zip(document.tolist(), phrase.tolist(), strict=True)
        whole = np.array([bool(forms[p]) and f" {forms[p]} " in texts[d] for d, p in rows], dtype=bool)
    lengths = np.fromiter((form.count(" ") + 1 if form else 0 for form in forms), dtype=np.int64, count=len(forms))
    stems = lengths[phrase]
    seen, rest = stems.copy(), np.flatnonzero(~whole)
    single = {p: [f" {stem} " for stem in forms[p].split(" ")] if forms[p] else [] for p in set(phrase[rest].tolist())}
    rows = zip(document[rest].tolist(), phrase[rest].tolist(), strict=True)
    seen[rest] = [sum(map(texts[d].__contains__, single[p])) for d, p in rows]
    return whole, seen, stems


# ---------------------------------------------------------------------------------------------- positions


def first_offsets(prepared: Prepared, document: Ints, phrase: Ints, present: Bools) -> Ints:
    """Characters of the normalised document before the first occurrence of each present phrase; else -1."""
    tokens = prepared.matching.present == "tokens"
    needles = [f" {form} " for form in prepared.table] if tokens else list(prepared.table)
    found = np.full(len(phrase), -1)
    rows = np.flatnonzero(present)
    texts = map(prepared.texts.__getitem__, document[rows].tolist())
    at = map(str.find, texts, map(needles.__getitem__, phrase[rows].tolist()))
    found[rows] = np.fromiter(at, dtype=np.int64, count=len(rows)) + tokens
    begins = _ends(prepared)[0][document]
    return np.where(present & (found >= tokens), np.maximum(found - begins, 0), -1)


def reference_offsets(prepared: Prepared) -> Ints:
    """Where each reference is first met in its document, by any of its variants; -1 where it is not."""
    r = prepared.references
    each = first_offsets(prepared, r.document[r.variant_reference], r.variant_phrase, r.variant_present)
    nowhere = np.iinfo(np.int64).max
    first = np.full(len(r.document), nowhere)
    np.minimum.at(first, r.variant_reference, np.where(each < 0, nowhere, each))
    return np.where(first == nowhere, -1, first)


def text_lengths(prepared: Prepared, rule: str) -> Ints:
    """Characters of each document in which positions are counted: normalised, or as it is given (`raw`)."""
    begins, ends = _ends(prepared)
    if rule == "stems":
        return ends - begins
    normal = _sizes(prepared.titles) + _sizes(prepared.bodies)
    given = _sizes([document.title or "" for document in prepared.given])
    given += _sizes([document.text or "" for document in prepared.given])
    return ends - begins - normal + given


def _ends(prepared: Prepared) -> tuple[Ints, Ints]:
    """Where each document begins in its text and where it ends; what parts title and text counts between them only."""
    titles, bodies, texts = _sizes(prepared.titles), _sizes(prepared.bodies), _sizes(prepared.texts)
    return np.where(titles > 0, 1, texts - 1 - bodies), np.where(bodies > 0, texts - 1, 1 + titles)


def _sizes(texts: Sequence[str]) -> Ints:
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


def parts_of(offsets: Ints, lengths: Ints, parts: int) -> Ints:
    """The part that each offset is in, of so many equal ones, from 0; -1 where there is no offset.

    >>> parts_of(np.array([0, 19, 20, 99, 120, -1]), np.full(6, 100), 5).tolist()
    [0, 0, 1, 4, 4, -1]
    """
    found = np.minimum(parts * offsets // np.maximum(lengths, 1), parts - 1)
    return np.where(offsets < 0, -1, found)
