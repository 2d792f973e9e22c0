"""Corpus × Run × Matching → Aligned: columns of integers that every metric reads.

`prepare` does what depends on the documents alone (texts and references), `align` adds one run; so several runs of
one corpus share the first. Each distinct phrase is normalised, judged valid and numbered once; after that a phrase is
an integer, and removing repeats, matching and counting are numpy on keys `document × phrases + phrase`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Document, Phrase, Prediction, Reference
from karat.errors import InputError
from karat.protocol import Counting, Matching
from karat.text.normalise import REMEMBERED, Memory, Normaliser, normaliser
from karat.text.split import split_phrases
from karat.text.valid import Valid, valid_rule

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


class PhraseTable:
    """Numbers for the distinct phrases of a chunk; a phrase is its joined stems."""

    def __init__(self) -> None:
        self.forms: list[str] = []
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.forms)

    def number(self, form: str) -> int:
        """The number of a phrase, a new one if it is new."""
        found = self._numbers.setdefault(form, len(self.forms))
        if found == len(self.forms):
            self.forms.append(form)
        return found


class _Surfaces(dict[str, int]):
    """Numbers for distinct surface strings, with the phrase and the validity of each."""

    def __init__(self, table: PhraseTable, form: Memory, valid: Valid | None) -> None:
        super().__init__()
        self.phrases: list[int] = []
        self.valid: list[bool] = []
        self._table, self._form, self._valid = table, form, valid

    def __missing__(self, surface: str) -> int:
        form = self._form[surface]
        self.phrases.append(self._table.number(form))
        self.valid.append(self._valid is None or self._valid(surface, form))
        number = self[surface] = len(self)
        return number


@dataclass(frozen=True, slots=True)
class _Matcher:
    """What a Matching makes of strings, with memories that last as long as the process."""

    text: Normaliser
    prediction: Memory
    reference: Memory
    verbatim: Memory  # references that are stemmed already
    valid: Valid


@cache
def _matcher(matching: Matching) -> _Matcher:
    stemmed = normaliser(matching.tokenizer, matching.stemmer, matching.case)
    plain = normaliser(matching.tokenizer, "none", matching.case)
    form = _phrase_form(stemmed, matching)
    return _Matcher(
        stemmed, Memory(form), Memory(form), Memory(_phrase_form(plain, matching)), valid_rule(matching)
    )


def _phrase_form(normalise: Normaliser, matching: Matching) -> Callable[[str], str]:
    if matching.repair == "wordpieces":
        return lambda s: normalise(s.strip().replace(" ##", "").replace("[ digit ]", "[digit]")).strip()
    if matching.repair == "digits":
        return lambda s: _close_digits(normalise(s)).strip()
    return lambda s: normalise(s).strip()


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
        return self.prepared.table.forms

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

    def _matches(self) -> Ints:
        """For each prediction row the first reference it is a variant of, or -1."""

        def match() -> Ints:
            p, r = self.predictions, self.references
            width = len(self.prepared.table)
            found, where = _lookup(
                p.document * width + p.phrase,
                r.document[r.variant_reference] * width + r.variant_phrase,
            )
            if not len(r.variant_reference):
                return np.full(len(p.phrase), -1)
            return np.where(found, r.variant_reference[where], -1)

        return self._once("matches", match)

    def _rank(self, subset: Subset) -> Ranked:
        p = self.predictions
        row = np.flatnonzero(p.kept & self.predictions_in(subset))
        document = p.document[row]
        gain, relevant = self._gains(row, subset)
        return Ranked(row, document, p.phrase[row], _position(document), gain, relevant)

    def _gains(self, row: Ints, subset: Subset) -> tuple[Ints, Bools]:
        reference = self._matches()[row]
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
    return prmu() == PRMU.index(subset)


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
    matcher = _matcher(matching)
    _forget(matcher)
    titles, bodies, texts = _texts(documents, matching, matcher.text)
    table = PhraseTable()
    verbatim = matching.references == "stemmed" or (
        matching.references == "by-name" and corpus_name.split(".")[0].lower() == "semeval"
    )
    surfaces = _Surfaces(table, matcher.verbatim if verbatim else matcher.reference, None)
    given = [references_of(document, reference_set) for document in documents]
    references = _references(given, matching, surfaces, texts, table)
    return Prepared(matching, table, titles, bodies, texts, references)


def references_of(document: Document, reference_set: str | None) -> list[Reference]:
    """The references of a document, or of one of its named sets."""
    if reference_set is None:
        return document.keyphrases or []
    return (document.reference_sets or {}).get(reference_set) or []


def _forget(matcher: _Matcher) -> None:
    matcher.text.forget()
    for memory in (matcher.prediction, matcher.reference, matcher.verbatim):
        if len(memory) > REMEMBERED:
            memory.clear()


def _texts(
    documents: Sequence[Document], matching: Matching, normalise: Normaliser
) -> tuple[list[str], list[str], list[str]]:
    titles = [normalise(document.title) if document.title else "" for document in documents]
    bodies = [normalise(document.text) if document.text else "" for document in documents]
    if matching.repair == "digits":
        titles, bodies = list(map(_close_digits, titles)), list(map(_close_digits, bodies))
    boundary = {"wall": _WALL, "cross": "", "eos": "<eos>", "dot": normalise(".")}[matching.boundary]
    between = f" {boundary} " if boundary else " "
    return titles, bodies, [f" {t}{between}{b} " for t, b in zip(titles, bodies, strict=True)]


def _references(
    given: list[list[Reference]], matching: Matching, surfaces: _Surfaces, texts: list[str], table: PhraseTable
) -> References:
    first, document, further = _first_variants(given, matching)
    phrase = _numbers(surfaces, first)
    kept = np.ones(len(phrase), dtype=bool)
    blanks = _blank_phrases(table)
    if matching.blank_references == "drop" and blanks is not None:
        kept &= phrase != blanks
    if matching.reference_duplicates != "keep":
        kept &= ~_repeats(document, phrase, table, matching.reference_duplicates)
    renumber = np.cumsum(kept) - 1
    variants = [
        (renumber[reference], surfaces.phrases[surfaces[text]])
        for reference, text in further
        if kept[reference]
    ]
    document, phrase = document[kept], phrase[kept]
    owner = np.r_[np.arange(len(phrase)), np.array([v[0] for v in variants], dtype=np.int64)]
    variant_phrase = np.r_[phrase, np.array([v[1] for v in variants], dtype=np.int64)]
    variant_present = _present(document[owner], variant_phrase, matching, texts, table)
    if matching.blank_references == "present" and blanks is not None:
        variant_present |= variant_phrase == blanks
    present = np.zeros(len(phrase), dtype=bool)
    np.logical_or.at(present, owner, variant_present)
    return References(document, phrase, present, owner, variant_phrase, variant_present)


def _first_variants(
    given: list[list[Reference]], matching: Matching
) -> tuple[list[str], Ints, list[tuple[int, str]]]:
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
    matcher = _matcher(matching)
    surfaces = _Surfaces(table, matcher.prediction, matcher.valid)
    flat, document, source = split_phrases(
        [prediction.keyphrases or [] for prediction in predictions], matching.separators, matching.blank
    )
    surface = np.fromiter(map(surfaces.__getitem__, flat), dtype=np.int64, count=len(flat))
    phrase = np.array(surfaces.phrases, dtype=np.int64)[surface]
    valid = np.array(surfaces.valid, dtype=bool)[surface]
    if matching.blank == "drop" and (blanks := _blank_phrases(table)) is not None:
        valid &= phrase != blanks
    read = _read(document, phrase, matching, table)
    document, phrase, source, valid = document[read], phrase[read], source[read], valid[read]
    repeat = _repeats(document, phrase, table, matching.duplicates)
    present = _present(document, phrase, matching, prepared.texts, table)
    if matching.kinds == "run":
        present = _by_slot(present, predictions, document, source)
    kept = valid & ~repeat if matching.duplicates != "keep" else valid
    return Aligned(prepared, Predictions(document, phrase, source, valid, repeat, kept, present), counting)


def _read(document: Ints, phrase: Ints, matching: Matching, table: PhraseTable) -> Bools:
    """Which predictions are looked at at all."""
    read = np.ones(len(phrase), dtype=bool)
    if matching.limit != "all":
        read &= _position(document) < int(matching.limit)
    if matching.one_word == "first":
        single = np.array([" " not in form for form in table.forms], dtype=bool)[phrase]
        singles = np.flatnonzero(single)
        read[singles[_position(document[singles]) > 0]] = False
    return read


def _numbers(surfaces: _Surfaces, flat: list[str]) -> Ints:
    phrases = surfaces.phrases
    return np.fromiter((phrases[surfaces[text]] for text in flat), dtype=np.int64, count=len(flat))


def _blank_phrases(table: PhraseTable) -> int | None:
    """The number of the phrase without stems, if there is one."""
    return table.number("") if "" in table._numbers else None


def _repeats(document: Ints, phrase: Ints, table: PhraseTable, rule: str) -> Bools:
    """Rows with the phrase of an earlier row of their document."""
    if rule == "underscore" and any("_" in form for form in table.forms):
        joined: dict[str, int] = {}
        number = [joined.setdefault(form.replace(" ", "_"), len(joined)) for form in table.forms]
        phrase = np.array(number, dtype=np.int64)[phrase]
    repeat = np.ones(len(phrase), dtype=bool)
    repeat[np.unique(document * max(len(table), 1) + phrase, return_index=True)[1]] = False
    return repeat


def _present(
    document: Ints, phrase: Ints, matching: Matching, texts: list[str], table: PhraseTable
) -> Bools:
    """Whether each phrase stands in its document; a phrase without stems does not."""
    if matching.present == "tokens":
        needles = [f" {form} " if form else _NOWHERE for form in table.forms]
    else:
        needles = [form or _NOWHERE for form in table.forms]
    found = (needles[p] in texts[d] for p, d in zip(phrase.tolist(), document.tolist(), strict=True))
    return np.fromiter(found, dtype=bool, count=len(phrase))


_NOWHERE = "\n\n"  # in no text


def _by_slot(
    present: Bools, predictions: Sequence[Prediction], document: Ints, source: Ints
) -> Bools:
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
