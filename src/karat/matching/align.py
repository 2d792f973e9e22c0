"""Corpus × Run × Matching → Aligned: what the protocol makes of texts, references and predictions.

`prepare` does what depends on the documents alone (texts and references), `align` adds one run; so several runs of
one corpus share the first. Each distinct phrase is normalised, judged valid and numbered once; after that a phrase is
an integer, and removing repeats, matching and counting are numpy on keys `document × phrases + phrase`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import contains

import numpy as np

from karat.corpus import Document, Phrase, Prediction, Reference
from karat.matching.columns import (
    WALL,
    Aligned,
    Bools,
    Ints,
    Numbers,
    Predictions,
    Prepared,
    References,
    lookup,
    position,
)
from karat.matching.concepts import Concepts
from karat.protocol import Counting, Matching
from karat.text.normalise import Normaliser, normaliser_of
from karat.text.split import split_phrases
from karat.text.valid import valid_rule

_NOWHERE = "\n\n"  # in no text
_JOINED_BY = {"underscore": "_", "hyphen": "-"}  # what a script joins stems by to find repeats
_NO_REFERENCES = References(*(np.zeros(0, dtype=kind) for kind in (int, int, bool, int, int, bool, int, int)))


@dataclass(frozen=True, slots=True)
class _Forms:
    """From phrases as they are given to their joined stems, or to the forms of their concepts."""

    normalise: Normaliser
    repair: str
    one_space: bool = False  # whether several spaces in a row are one
    concepts: Concepts | None = None

    def of(self, surfaces: Sequence[str]) -> list[str]:
        """The form by which each surface string is compared."""
        forms = self._stems(surfaces)
        if self.concepts is None:
            return forms
        found = self.concepts.find(surfaces, forms)
        return [
            form if each.how is None else self.concepts.forms[each.concept]
            for each, form in zip(found, forms, strict=True)
        ]

    def _stems(self, surfaces: Sequence[str]) -> list[str]:
        """The joined stems of each surface string."""
        if self.one_space and any("  " in surface for surface in surfaces):
            surfaces = [" ".join(filter(None, surface.split(" "))) for surface in surfaces]
        if self.repair == "wordpieces":
            surfaces = [s.strip().replace(" ##", "").replace("[ digit ]", "[digit]") for s in surfaces]
        forms = self.normalise.many(surfaces)
        return [_close_digits(form) for form in forms] if self.repair == "digits" else forms


def _forms(matching: Matching, stemmed: bool = True, concepts: Concepts | None = None) -> _Forms:
    return _Forms(normaliser_of(matching, None if stemmed else "none"), matching.repair, concepts=concepts)


@dataclass(frozen=True, slots=True)
class _Phrases:
    """Where phrases get their numbers, by their stems and as they are given."""

    forms: _Forms
    table: Numbers
    surfaces: Numbers

    def numbers(self, flat: list[str]) -> tuple[Ints, Ints]:
        """(the number of each phrase by its stems, its number as it is given)."""
        distinct = Numbers()
        which = distinct.of(flat)
        return self.table.of(self.forms.of(list(distinct)))[which], self.surfaces.of(list(distinct))[which]


def _close_digits(form: str) -> str:
    return form.replace("< digit >", "<digit>")


# ---------------------------------------------------------------------------------------------- prepare


Parts = tuple[list[str], list[str]]  # titles and bodies in their compared form
Texts = tuple[list[str], list[str], list[str]]  # the same, and both with what stands between them


def part_options(matching: Matching) -> tuple[str, ...]:
    """The options of a way of matching that normalised titles and bodies depend on."""
    digits = "digits" if matching.repair == "digits" else ""
    return (matching.tokenizer, matching.stemmer, matching.case, matching.unicode, matching.segmentation, digits)


def text_options(matching: Matching) -> tuple[str, ...]:
    """The options of a way of matching that normalised texts depend on."""
    return (*part_options(matching), matching.boundary)


def prepare(
    documents: Sequence[Document],
    matching: Matching,
    semeval: bool = False,
    reference_set: str | None = None,
    texts: Texts | None = None,
    concepts: Concepts | None = None,
) -> Prepared:
    """The normalised texts and the references of some documents; `semeval` is what references=by-name goes by.

    `texts` are those of the documents, where they were made for another matching with the same `text_options`. With
    `concepts`, these are compared in the place of phrases.
    """
    titles, bodies, whole = normalised_texts(documents, matching) if texts is None else texts
    bare = Prepared(documents, matching, Numbers(), Numbers(), titles, bodies, whole, _NO_REFERENCES, concepts)
    return with_set(bare, semeval, reference_set)


def with_set(prepared: Prepared, semeval: bool = False, reference_set: str | None = None) -> Prepared:
    """The same documents with the references of a set."""
    matching = prepared.matching
    given = [references_of(document, reference_set) for document in prepared.given]
    forms = _reference_forms(matching, semeval, prepared.concepts)
    phrases = _Phrases(forms, prepared.table, prepared.surfaces)
    return replace(prepared, references=_references(given, matching, phrases, prepared.texts))


def _reference_forms(matching: Matching, semeval: bool, concepts: Concepts | None = None) -> _Forms:
    verbatim = matching.references == "stemmed" or (matching.references == "by-name" and semeval)
    return replace(_forms(matching, not verbatim, concepts), one_space=matching.reference_spaces == "one")


def surface_forms(surfaces: Sequence[str], matching: Matching) -> list[str]:
    """The joined words of phrases as they are given: tokens, pieces put together again, but no stems."""
    return _forms(matching, stemmed=False).of(surfaces)


def reference_stems(
    references: Sequence[str], matching: Matching, semeval: bool = False, concepts: Concepts | None = None
) -> list[str]:
    """The joined stems of references of a corpus, or the forms of their concepts."""
    return _reference_forms(matching, semeval, concepts).of(references)


def repeated(prepared: Prepared, rule: str = "drop") -> Bools:
    """Which references have the stems of an earlier one of their document, by a value of reference_duplicates."""
    return _repeats(prepared.references.document, prepared.references.phrase, prepared.table, rule)


def without_repeats(prepared: Prepared, matching: Matching) -> Prepared:
    """The documents whose repeated references were kept, with those references that the matching keeps."""
    r = prepared.references
    if matching.reference_duplicates == "keep":
        return replace(prepared, matching=matching)
    kept = ~repeated(prepared, matching.reference_duplicates)
    variant = kept[r.variant_reference]
    references = References(
        r.document[kept],
        r.phrase[kept],
        r.present[kept],
        (np.cumsum(kept) - 1)[r.variant_reference[variant]],
        r.variant_phrase[variant],
        r.variant_present[variant],
        r.variant_surface[variant],
        _at_place(r.document[kept], r.document, r.variant_surface),
    )
    return replace(prepared, matching=matching, references=references)


def _at_place(kept: Ints, document: Ints, surface: Ints) -> Ints:
    """The surface at the place of each kept reference in the list of its document, of which it is the n-th kept."""
    return np.asarray(surface[np.searchsorted(document, kept) + position(kept)])


def references_of(document: Document, reference_set: str | None) -> list[Reference]:
    """The references of a document, or of one of its named sets."""
    if reference_set is None:
        return document.keyphrases or []
    return (document.reference_sets or {}).get(reference_set) or []


def normalised_texts(documents: Sequence[Document], matching: Matching, parts: Parts | None = None) -> Texts:
    """The titles and texts of documents in their compared form; `parts` are those of the same `part_options`."""
    titles, bodies = normalised_parts(documents, matching) if parts is None else parts
    return titles, bodies, _joined(documents, matching, titles, bodies)


def normalised_parts(documents: Sequence[Document], matching: Matching) -> Parts:
    """The titles and the texts of documents in their compared form."""
    normalise = _forms(matching).normalise
    normalise.forget()
    titles = normalise.many([document.title or "" for document in documents])
    bodies = [normalise(document.text) if document.text else "" for document in documents]
    if matching.repair == "digits":
        titles, bodies = list(map(_close_digits, titles)), list(map(_close_digits, bodies))
    return titles, bodies


def _joined(documents: Sequence[Document], matching: Matching, titles: list[str], bodies: list[str]) -> list[str]:
    """Titles and texts with what stands between them."""
    normalise = _forms(matching).normalise
    if matching.boundary == "dot" and not normalise.local:  # the full stop has a say in the tokens before it
        joined = (" . ".join((document.title or "", document.text or "")) for document in documents)
        return [f" {normalise(text)} " for text in joined]
    boundary = {"wall": WALL, "cross": "", "eos": "<eos>", "dot": normalise(".")}[matching.boundary]
    between = f" {boundary} " if boundary else " "
    return [f" {t}{between}{b} " for t, b in zip(titles, bodies, strict=True)]


def _references(given: list[list[Reference]], matching: Matching, phrases: _Phrases, texts: list[str]) -> References:
    table = phrases.table
    first, document, further = _first_variants(given, matching)
    concepts = phrases.forms.concepts
    if concepts is not None and further:
        first, further = _concepts_first(first, further, phrases.forms)
    phrase, surface = phrases.numbers(first)
    kept = _kept_phrases(phrase, table, concepts)
    if matching.blank_references == "drop":
        kept &= phrase != table.get("", -1)
    listed, listed_surface = document[kept], surface[kept]
    if matching.reference_duplicates != "keep":
        kept &= ~_repeats(document, phrase, table, matching.reference_duplicates)
    renumber = np.cumsum(kept) - 1
    further = [(reference, text) for reference, text in further if kept[reference]]
    more, more_surfaces = phrases.numbers([text for _, text in further])
    document, phrase = document[kept], phrase[kept]
    owner = np.r_[np.arange(len(phrase)), renumber[[reference for reference, _ in further]]]
    variant_phrase = np.r_[phrase, more]
    variant_present = _present(document[owner], variant_phrase, matching, texts, table, concepts)
    if matching.blank_references == "present":
        variant_present |= variant_phrase == table.get("", -1)
    present = np.zeros(len(phrase), dtype=bool)
    np.logical_or.at(present, owner, variant_present)
    variant_surface = np.r_[surface[kept], more_surfaces]
    places = _at_place(document, listed, listed_surface)
    return References(document, phrase, present, owner, variant_phrase, variant_present, variant_surface, places)


def _first_variants(given: list[list[Reference]], matching: Matching) -> tuple[list[str], Ints, list[tuple[int, str]]]:
    """The first variant of every reference, its document, and the further variants as (reference, text)."""
    kinds = set(map(type, chain.from_iterable(given)))
    further: list[list[list[str]]] | None = None
    plain: list[list[Phrase]]
    if list in kinds:
        plain, further = [], []
        for references in given:
            lists = [_variants(reference) for reference in references]
            plain.append([variants[0] for variants in lists])
            further.append([variants[1:] for variants in lists])
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


def _concepts_first(
    first: list[str], further: list[tuple[int, str]], forms: _Forms
) -> tuple[list[str], list[tuple[int, str]]]:
    """The same variants, with one that is a concept in the first place of each reference that has such."""
    assert forms.concepts is not None
    texts = list(dict.fromkeys([*(first[reference] for reference, _ in further), *(text for _, text in further)]))
    known = {text: form in forms.concepts.numbers for text, form in zip(texts, forms.of(texts), strict=True)}
    first, rest = list(first), []
    for reference, text in further:
        if known[text] and not known[first[reference]]:
            first[reference], text = text, first[reference]
        rest.append((reference, text))
    return first, rest


def _kept_phrases(phrase: Ints, table: Numbers, concepts: Concepts | None) -> Bools:
    """Which phrases are not dropped for being no concept; an empty one is no phrase, and is left to the protocol."""
    if concepts is None or not concepts.drops:
        return np.ones(len(phrase), dtype=bool)
    return np.array([not form or form in concepts.numbers for form in table], dtype=bool)[phrase]


def _variants(reference: Reference) -> list[str]:
    """The variants of a reference, blank ones only if there are no others."""
    variants = reference if isinstance(reference, list) else [reference]
    return [variant for variant in variants if variant and variant.strip()] or [""]


# ---------------------------------------------------------------------------------------------- align


def align(prepared: Prepared, predictions: Sequence[Prediction], counting: Counting) -> Aligned:
    """One run's predictions for the prepared documents, in columns."""
    matching, table = prepared.matching, prepared.table
    flat, document, source = split_phrases(
        [prediction.keyphrases or [] for prediction in predictions], matching.separators, matching.blank
    )
    distinct = Numbers()
    which = distinct.of(flat)
    forms = _forms(matching, concepts=prepared.concepts).of(list(distinct))
    phrase, valid = table.of(forms)[which], valid_rule(matching)(list(distinct), forms)[which]
    surface = prepared.surfaces.of(list(distinct))[which]
    if matching.blank == "drop":
        valid &= phrase != table.get("", -1)
    read = _read(document, phrase, matching, table) & _kept_phrases(phrase, table, prepared.concepts)
    document, phrase, source, surface = (column[read] for column in (document, phrase, source, surface))
    valid = valid[read]
    if matching.duplicates == "surface":
        repeat = _repeats(document, surface, prepared.surfaces, matching.duplicates)
    else:
        repeat = _repeats(document, phrase, table, matching.duplicates)
    hit, present = _find(prepared, document, phrase)
    if matching.blank == "present":
        present |= phrase == table.get("", -1)
    if matching.kinds == "run":
        present = _by_slot(present, predictions, document, source)
    kept = valid & ~repeat if matching.duplicates != "keep" else valid
    columns = Predictions(document, phrase, source, valid, repeat, kept, present, hit, surface)
    return Aligned(prepared, columns, counting, predictions)


def _find(prepared: Prepared, document: Ints, phrase: Ints) -> tuple[Ints, Bools]:
    """(the reference that each prediction is, or -1; whether it is present); a known reference is not sought again."""
    r, width = prepared.references, len(prepared.table)
    found, variant = lookup(document * width + phrase, r.document[r.variant_reference] * width + r.variant_phrase)
    hit = np.full(len(phrase), -1)
    hit[found] = r.variant_reference[variant[found]]
    present = np.empty(len(phrase), dtype=bool)
    present[found] = r.variant_present[variant[found]]
    other = ~found
    present[other] = _present(
        document[other], phrase[other], prepared.matching, prepared.texts, prepared.table, prepared.concepts
    )
    return hit, present


def _read(document: Ints, phrase: Ints, matching: Matching, table: Numbers) -> Bools:
    """Which predictions are looked at at all."""
    read = np.ones(len(phrase), dtype=bool)
    if matching.limit != "all":
        read &= position(document) < int(matching.limit)
    if matching.one_word == "first":
        single = np.array([" " not in form for form in table], dtype=bool)[phrase]
        singles = np.flatnonzero(single)
        read[singles[position(document[singles]) > 0]] = False
    return read


def _repeats(document: Ints, phrase: Ints, table: Numbers, rule: str) -> Bools:
    """Rows with the phrase of an earlier row of their document."""
    mark = _JOINED_BY.get(rule)
    if mark is not None and any(mark in form for form in table):
        joined: dict[str, int] = {}
        number = [joined.setdefault(form.replace(" ", mark), len(joined)) for form in table]
        phrase = np.array(number, dtype=np.int64)[phrase]
    repeat = np.ones(len(phrase), dtype=bool)
    repeat[np.unique(document * max(len(table), 1) + phrase, return_index=True)[1]] = False
    return repeat


def _present(
    document: Ints, phrase: Ints, matching: Matching, texts: list[str], table: Numbers, concepts: Concepts | None = None
) -> Bools:
    """Whether each phrase stands in its document, a concept by any of its labels; one without stems does not."""
    mark = " " if matching.present == "tokens" else ""
    needles = [f"{mark}{form}{mark}" for form in table]
    if "" in table:
        needles[table[""]] = _NOWHERE
    found = map(contains, map(texts.__getitem__, document.tolist()), map(needles.__getitem__, phrase.tolist()))
    present = np.fromiter(found, dtype=bool, count=len(phrase))
    if concepts is not None:
        others = [[f"{mark}{other}{mark}" for other in concepts.further.get(form, ())] for form in table]
        for row in np.flatnonzero(~present).tolist():
            present[row] = any(other in texts[document[row]] for other in others[phrase[row]])
    return present


def _by_slot(present: Bools, predictions: Sequence[Prediction], document: Ints, source: Ints) -> Bools:
    """Present as the run says it, where it does."""
    slots = [[kind == "present" for kind in prediction.kinds or ()] for prediction in predictions]
    rows = zip(document.tolist(), source.tolist(), present.tolist(), strict=True)
    return np.array([slots[d][s] if slots[d] else own for d, s, own in rows], dtype=bool)
