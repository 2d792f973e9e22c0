"""What `unicode=composed` merges: phrases that are found, present or repeated only by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from karat.corpus import Document, Prediction
from karat.matching.align import align, prepare, references_of, repeated
from karat.matching.columns import Aligned
from karat.protocol import Matching
from karat.text.normalise import normaliser_of
from karat.text.unicode import composed


def merged_spellings(aligned: Aligned, semeval: bool = False, reference_set: str | None = None) -> tuple[int, int]:
    """(predictions, references) that are found, present or repeated only because spellings of a character are one.

    Documents in which all is spelled in that one way already are not looked at, which is nearly every one.
    """
    matching = aligned.prepared.matching
    if not (normaliser_of(matching).respelled or normaliser_of(matching, "none").respelled):
        return 0, 0
    pairs = zip(aligned.prepared.given, aligned.given, strict=True)
    concerned = [pair for pair in pairs if any(map(_respelled, _strings(*pair, reference_set)))]
    if not concerned:
        return 0, 0
    documents, predictions = [document for document, _ in concerned], [prediction for _, prediction in concerned]
    every = _keeping_all(matching)
    one, as_given = (
        align(prepare(documents, each, semeval, reference_set), predictions, aligned.counting)
        for each in (every, replace(every, unicode="as-is"))
    )
    return _merged_predictions(one, as_given, matching), _merged_references(one, as_given, matching)


def _respelled(text: str | None) -> bool:
    return text is not None and not text.isascii() and composed(text) != text


def _strings(document: Document, prediction: Prediction, reference_set: str | None) -> Iterator[str | None]:
    """All strings of a document that are compared."""
    yield from (document.title, document.text)
    for reference in references_of(document, reference_set):
        yield from reference if isinstance(reference, list) else (reference,)
    yield from prediction.keyphrases or ()


def _keeping_all(matching: Matching) -> Matching:
    """The matching without what drops rows, so that rows are the same however characters are compared."""
    blank = "absent" if matching.blank_references == "absent" else "present"
    return replace(matching, blank_references=blank, reference_duplicates="keep", limit="all", one_word="all")


def _merged_predictions(one: Aligned, as_given: Aligned, matching: Matching) -> int:
    p, q = one.predictions, as_given.predictions
    merged = (p.present & ~q.present) | ((p.hit >= 0) & (q.hit < 0))
    if matching.duplicates != "keep":
        merged |= p.repeat & ~q.repeat
    return int(np.count_nonzero(merged & p.valid))


def _merged_references(one: Aligned, as_given: Aligned, matching: Matching) -> int:
    merged = one.references.present & ~as_given.references.present
    if matching.reference_duplicates != "keep":
        rule = matching.reference_duplicates
        merged |= repeated(one.prepared, rule) & ~repeated(as_given.prepared, rule)
    return int(np.count_nonzero(merged & (one.references.phrase != one.prepared.table.get("", -1))))
