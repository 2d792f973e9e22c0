"""Corpus × Run × Matching → Aligned: columns of integers that every metric reads.

`prepare` does what depends on the documents alone (texts and references), `align` adds one run; so several runs of
one corpus share the first. Each distinct phrase is normalised, judged valid and numbered once; after that a phrase is
an integer, and removing repeats, matching and counting are numpy on keys `document × phrases + phrase`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import contains
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Document, Phrase, Prediction, Reference
from karat.errors import InputError
from karat.protocol import Counting, Matching
from karat.text.normalise import Normaliser, normaliser
from karat.text.split import split_phrases
from karat.text.valid import valid_rule

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Subset = Literal["all", "present", "absent", "P", "R", "M", "U"]
SUBSETS: tuple[Subset, ...] = ("all", "present", "absent", "P", "R", "M", "U")
PRMU = "PRMU"
_WALL = "\n"  # white space that no token holds


@dataclass(frozen=True, slots=True)
class Cutoff:
    """How many predictions count: k, all of them (M), as many as references (O), the larger (G), a fitted k (V)."""

    kind: Literal["k", "M", "O", "G", "V"] = "M"
    k: int | None = None

    def __str__(self) -> str:
        return str(self.k) if self.kind == "k" else self.kind


# ---------------------------------------------------------------------------------------------- phrases


class PhraseTable(dict[str, int]):
    """Numbers for the distinct phrases of a chunk; a phrase is its joined stems."""

    def numbers(self, forms: Sequence[str]) -> Ints:
        """The numbers of phrases, new ones for new phrases."""
        for form in dict.fromkeys(forms):
            if form not in self:
                self[form] = len(self)
        return np.fromiter(map(self.__getitem__, forms), dtype=np.int64, count=len(forms))

    @property
    def forms(self) -> list[str]:
        """The phrases by their numbers."""
        return list(self)


@dataclass(frozen=True, slots=True)
class _Forms:
    """From phrases as they are given to their joined stems."""

    normalise: Normaliser
    repair: str

    def of(self, surfaces: Sequence[str]) -> list[str]:
        """The joined stems of each surface string."""
        if self.repair == "wordpieces":
            surfaces = [s.strip().replace(" ##", "").replace("[ digit ]", "[digit]") for s in surfaces]
        forms = self.normalise.many(surfaces)
        return [_close_digits(form) for form in forms] if self.repair == "digits" else forms


def _forms(matching: Matching, stemmed: bool = True) -> _Forms:
    stem = matching.stemmer if stemmed else "none"
    return _Forms(normaliser(matching.tokenizer, stem, matching.case), matching.repair)


def _close_digits(form: str) -> str:
    return form.replace("< digit >", "<digit>")


# ---------------------------------------------------------------------------------------------- columns


@dataclass(frozen=True, slots=True)
class References:
    """One row a reference; its variants are rows of their own, the first of them its phrase."""

    document: Ints
    phrase: Ints
    present: Bools
    variant_reference: Ints
    variant_phrase: Ints
    variant_present: Bools


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

    matching: Matching
    table: PhraseTable
    titles: list[str]
    bodies: list[str]
    texts: list[str]
    references: References

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, slots=True)
class Aligned:
    """One run against the documents of a chunk, as columns; what metrics ask of it is computed once."""

    prepared: Prepared
    predictions: Predictions
    counting: Counting
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
        return self._once("forms", lambda: self.prepared.table.forms)

    def count_references(self, subset: Subset) -> Ints:
        """References of the subset, by document."""
        return self._once(("references", subset), lambda: self._tally(self.references_in(subset)))

    def count_predictions(self, subset: Subset) -> Ints:
        """Kept predictions of the subset, by document."""
        return self._once(
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
        ranked = self.ranked(subset)
        within = ranked.rank < self.depth(cutoff, subset)[ranked.document]
        found = np.bincount(ranked.document, weights=ranked.gain * within, minlength=self.documents)
        return found.astype(np.int64)

    def ranked(self, subset: Subset) -> Ranked:
        """The kept predictions of the subset in their order."""
        return self._once(("ranked", subset), lambda: self._rank(subset))

    def pairs(self, subset: Subset) -> tuple[Ints, Ints]:
        """Every (row of `ranked(subset)`, variant row) of the same document, the reference being in the subset."""
        return self._once(("pairs", subset), lambda: self._pair(subset))

    def prediction_prmu(self) -> Ints:
        """The class of each prediction row: 0 P, 1 R, 2 M, 3 U."""
        p = self.predictions
        return self._once("prmu", lambda: _prmu(self.prepared, p.document, p.phrase))

    def reference_prmu(self) -> Ints:
        """The class of each reference, its best variant's."""

        def best() -> Ints:
            r = self.references
            classes = _prmu(self.prepared, r.document[r.variant_reference], r.variant_phrase)
            result = np.full(len(r.document), 3)
            np.minimum.at(result, r.variant_reference, classes)
            return result

        return self._once("reference prmu", best)

    def _once(self, key: Any, compute: Callable[[], T]) -> T:
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
        return _in_subset(subset, self.references.present, self.reference_prmu)

    def _rank(self, subset: Subset) -> Ranked:
        p = self.predictions
        row = np.flatnonzero(p.kept & self.predictions_in(subset))
        document = p.document[row]
        gain, relevant = self._gains(row, subset)
        return Ranked(row, document, p.phrase[row], _position(document), gain, relevant)

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
        found, where = _lookup(
            r.document[r.variant_reference] * width + r.variant_phrase,
            p.document[row] * width + p.phrase[row],
        )
        found &= self.references_in(subset)[r.variant_reference]
        reference, finder = r.variant_reference[found], where[found]
        order = np.lexsort((finder, reference))
        first = np.unique(reference[order], return_index=True)[1]
        return finder[order][first]

    def _pair(self, subset: Subset) -> tuple[Ints, Ints]:
        r = self.references
        variant = np.flatnonzero(self.references_in(subset)[r.variant_reference])
        document = r.document[r.variant_reference[variant]]
        variant = variant[np.argsort(document, kind="stable")]
        per_document = np.bincount(document, minlength=self.documents)
        first = np.cumsum(per_document) - per_document
        ranked = self.ranked(subset)
        times = per_document[ranked.document]
        left = np.repeat(np.arange(len(ranked.row)), times)
        return left, variant[np.repeat(first[ranked.document], times) + _position(left)]


T = TypeVar("T")


def _in_subset(subset: Subset, present: Bools, prmu: Callable[[], Ints]) -> Bools:
    if subset == "all":
        return np.ones(len(present), dtype=bool)
    if subset == "present":
        return present
    if subset == "absent":
        return ~present
    return np.asarray(prmu() == PRMU.index(subset))


def _position(groups: Ints) -> Ints:
    """The position of each element within its run of equal values."""
    if not len(groups):
        return np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    return np.arange(len(groups)) - np.repeat(starts, np.diff(np.r_[starts, len(groups)]))


def _lookup(needles: Ints, keys: Ints) -> tuple[Bools, Ints]:
    """Whether each needle is among the keys, and the index of the first key equal to it."""
    if not len(keys):
        return np.zeros(len(needles), dtype=bool), np.zeros(len(needles), dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    where = np.minimum(np.searchsorted(ordered, needles), len(keys) - 1)
    return ordered[where] == needles, order[where]


# ---------------------------------------------------------------------------------------------- prepare


def prepare(
    documents: Sequence[Document], matching: Matching, corpus_name: str = "", reference_set: str | None = None
) -> Prepared:
    """The normalised texts and the references of some documents."""
    normalise = _forms(matching).normalise
    normalise.forget()
    titles, bodies, texts = _texts(documents, matching, normalise)
    verbatim = matching.references == "stemmed" or (
        matching.references == "by-name" and corpus_name.split(".")[0].lower() == "semeval"
    )
    table = PhraseTable()
    given = [references_of(document, reference_set) for document in documents]
    references = _references(given, matching, _forms(matching, stemmed=not verbatim), texts, table)
    return Prepared(matching, table, titles, bodies, texts, references)


def references_of(document: Document, reference_set: str | None) -> list[Reference]:
    """The references of a document, or of one of its named sets."""
    if reference_set is None:
        return document.keyphrases or []
    return (document.reference_sets or {}).get(reference_set) or []


def _texts(
    documents: Sequence[Document], matching: Matching, normalise: Normaliser
) -> tuple[list[str], list[str], list[str]]:
    titles = normalise.many([document.title or "" for document in documents])
    bodies = [normalise(document.text) if document.text else "" for document in documents]
    if matching.repair == "digits":
        titles, bodies = list(map(_close_digits, titles)), list(map(_close_digits, bodies))
    boundary = {"wall": _WALL, "cross": "", "eos": "<eos>", "dot": normalise(".")}[matching.boundary]
    between = f" {boundary} " if boundary else " "
    return titles, bodies, [f" {t}{between}{b} " for t, b in zip(titles, bodies, strict=True)]


def _references(
    given: list[list[Reference]], matching: Matching, forms: _Forms, texts: list[str], table: PhraseTable
) -> References:
    first, document, further = _first_variants(given, matching)
    phrase = _numbers(first, forms, table)
    kept = np.ones(len(phrase), dtype=bool)
    if matching.blank_references == "drop":
        kept &= phrase != table.get("", -1)
    if matching.reference_duplicates != "keep":
        kept &= ~_repeats(document, phrase, table, matching.reference_duplicates)
    renumber = np.cumsum(kept) - 1
    further = [(reference, text) for reference, text in further if kept[reference]]
    more = _numbers([text for _, text in further], forms, table)
    document, phrase = document[kept], phrase[kept]
    owner = np.r_[np.arange(len(phrase)), renumber[[reference for reference, _ in further]]]
    variant_phrase = np.r_[phrase, more]
    variant_present = _present(document[owner], variant_phrase, matching, texts, table)
    if matching.blank_references == "present":
        variant_present |= variant_phrase == table.get("", -1)
    present = np.zeros(len(phrase), dtype=bool)
    np.logical_or.at(present, owner, variant_present)
    return References(document, phrase, present, owner, variant_phrase, variant_present)


def _first_variants(given: list[list[Reference]], matching: Matching) -> tuple[list[str], Ints, list[tuple[int, str]]]:
    """The first variant of every reference, its document, and the further variants as (reference, text)."""
    kinds = set(map(type, chain.from_iterable(given)))
    further: list[list[list[str]]] | None = None
    plain: list[list[Phrase]]
    if list in kinds:
        plain, further = [], []
        for references in given:
            lists = [r if isinstance(r, list) else [r] for r in references]
            lists = [variants for variants in lists if variants]
            plain.append([variants[0] for variants in lists])
            further.append([[v or "" for v in variants[1:]] for variants in lists])
    else:
        plain = given  # type: ignore[assignment]
    blank = "keep" if matching.blank_references == "absent" else "drop"
    first, document, source = split_phrases(plain, matching.separators, blank)
    if further is None:
        return first, document, []
    rest: list[tuple[int, str]] = []
    for reference, (d, s) in enumerate(zip(document.tolist(), source.tolist(), strict=True)):
        if s < len(further[d]):  # the one empty reference of a document without references has no source
            rest.extend((reference, variant) for variant in further[d][s])
    return first, document, rest


# ---------------------------------------------------------------------------------------------- align


def align(prepared: Prepared, predictions: Sequence[Prediction], counting: Counting) -> Aligned:
    """One run's predictions for the prepared documents, in columns."""
    matching, table = prepared.matching, prepared.table
    flat, document, source = split_phrases(
        [prediction.keyphrases or [] for prediction in predictions], matching.separators, matching.blank
    )
    surface = {text: number for number, text in enumerate(dict.fromkeys(flat))}
    forms = _forms(matching).of(list(surface))
    valid_surface = np.fromiter(map(valid_rule(matching), surface, forms), dtype=bool, count=len(surface))
    which = np.fromiter(map(surface.__getitem__, flat), dtype=np.int64, count=len(flat))
    phrase, valid = table.numbers(forms)[which], valid_surface[which]
    if matching.blank == "drop":
        valid &= phrase != table.get("", -1)
    read = _read(document, phrase, matching, table)
    document, phrase, source, valid = document[read], phrase[read], source[read], valid[read]
    repeat = _repeats(document, phrase, table, matching.duplicates)
    hit, present = _find(prepared, document, phrase)
    if matching.kinds == "run":
        present = _by_slot(present, predictions, document, source)
    kept = valid & ~repeat if matching.duplicates != "keep" else valid
    columns = Predictions(document, phrase, source, valid, repeat, kept, present, hit)
    return Aligned(prepared, columns, counting)


def _find(prepared: Prepared, document: Ints, phrase: Ints) -> tuple[Ints, Bools]:
    """(the reference that each prediction is, or -1; whether it is present); a known reference is not sought again."""
    r, width = prepared.references, len(prepared.table)
    found, variant = _lookup(document * width + phrase, r.document[r.variant_reference] * width + r.variant_phrase)
    hit = np.full(len(phrase), -1)
    hit[found] = r.variant_reference[variant[found]]
    present = np.empty(len(phrase), dtype=bool)
    present[found] = r.variant_present[variant[found]]
    other = ~found
    present[other] = _present(document[other], phrase[other], prepared.matching, prepared.texts, prepared.table)
    return hit, present


def _read(document: Ints, phrase: Ints, matching: Matching, table: PhraseTable) -> Bools:
    """Which predictions are looked at at all."""
    read = np.ones(len(phrase), dtype=bool)
    if matching.limit != "all":
        read &= _position(document) < int(matching.limit)
    if matching.one_word == "first":
        single = np.array([" " not in form for form in table], dtype=bool)[phrase]
        singles = np.flatnonzero(single)
        read[singles[_position(document[singles]) > 0]] = False
    return read


def _numbers(flat: list[str], forms: _Forms, table: PhraseTable) -> Ints:
    distinct = list(dict.fromkeys(flat))
    number = dict(zip(distinct, table.numbers(forms.of(distinct)).tolist(), strict=True))
    return np.fromiter(map(number.__getitem__, flat), dtype=np.int64, count=len(flat))


def _repeats(document: Ints, phrase: Ints, table: PhraseTable, rule: str) -> Bools:
    """Rows with the phrase of an earlier row of their document."""
    if rule == "underscore" and any("_" in form for form in table):
        joined: dict[str, int] = {}
        number = [joined.setdefault(form.replace(" ", "_"), len(joined)) for form in table]
        phrase = np.array(number, dtype=np.int64)[phrase]
    repeat = np.ones(len(phrase), dtype=bool)
    repeat[np.unique(document * max(len(table), 1) + phrase, return_index=True)[1]] = False
    return repeat


def _present(document: Ints, phrase: Ints, matching: Matching, texts: list[str], table: PhraseTable) -> Bools:
    """Whether each phrase stands in its document; a phrase without stems does not."""
    needles = [f" {form} " for form in table] if matching.present == "tokens" else list(table)
    if "" in table:
        needles[table[""]] = _NOWHERE
    found = map(contains, map(texts.__getitem__, document.tolist()), map(needles.__getitem__, phrase.tolist()))
    return np.fromiter(found, dtype=bool, count=len(phrase))


_NOWHERE = "\n\n"  # in no text


def _by_slot(present: Bools, predictions: Sequence[Prediction], document: Ints, source: Ints) -> Bools:
    """Present as the run says it, where it does."""
    present = present.copy()
    for row, (d, s) in enumerate(zip(document.tolist(), source.tolist(), strict=True)):
        kinds = predictions[d].kinds
        if kinds is None:
            continue
        if s >= len(kinds):
            if predictions[d].keyphrases:
                raise InputError(f"document {predictions[d].id!r}: {len(kinds)} kinds for more keyphrases")
            continue
        present[row] = kinds[s] == "present"
    return present


# ---------------------------------------------------------------------------------------------- PRMU


def _prmu(prepared: Prepared, document: Ints, phrase: Ints) -> Ints:
    """The class of each phrase in its document: P contiguous in title or text, R every stem, M some, U none."""
    classes = np.empty(len(phrase), dtype=np.int64)
    forms = prepared.table.forms
    current, title, body, stems = -1, "", "", set[str]()
    for row, (d, p) in enumerate(_by_document(document, phrase)):
        if d != current:
            current, title, body = d, f" {prepared.titles[d]} ", f" {prepared.bodies[d]} "
            stems = {*prepared.titles[d].split(" "), *prepared.bodies[d].split(" ")}
        form = forms[p]
        needle = f" {form} "
        if form and (needle in title or needle in body):
            classes[row] = 0
            continue
        own = form.split(" ") if form else []
        found = sum(stem in stems for stem in own)
        classes[row] = 3 if not found else 1 if found == len(own) else 2
    return classes


def _by_document(document: Ints, phrase: Ints) -> Iterator[tuple[int, int]]:
    return zip(document.tolist(), phrase.tolist(), strict=True)
