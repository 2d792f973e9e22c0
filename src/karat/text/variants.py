"""Other ways to write a phrase that mean the same: quality of service, service quality."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from karat.corpus import Batch, Corpus, Document, Reference

_DETERMINERS = {"the", "a", "an"}


def of_variant(phrase: str) -> str | None:
    """`Y X` for `X of Y`; None where the phrase is not of that form.

    What follows `of` loses its article; a phrase with two `of` has no variant. There is no way back from `Y X`: without
    `of` the words do not tell whether Y is a noun, and `dynamic environment` is no "environment of dynamic".

    >>> of_variant("quality of service"), of_variant("analysis of the grid data")
    ('service quality', 'grid data analysis')
    >>> of_variant("service quality"), of_variant("networks"), of_variant("theory of types of logic")
    (None, None, None)
    """
    words = phrase.split()
    at = [i for i, word in enumerate(words) if word.lower() == "of"]
    if not at:
        return None
    head, rest = words[: at[0]], words[at[0] + 1 :]
    if rest and rest[0].lower() in _DETERMINERS:
        rest = rest[1:]
    return " ".join([*rest, *head]) if len(at) == 1 and head and rest else None


def with_of_variants(corpus: Corpus) -> Corpus:
    """The corpus in which every reference `X of Y` also has `Y X` as a variant."""

    def batches() -> Iterator[Batch[Document]]:
        for batch in corpus.batches():
            yield replace(batch, raw=[_widened(document) for document in batch.records()], decode=None)

    return Corpus(corpus.name, batches, corpus.origin)


def _widened(document: Document) -> Document:
    sets = {name: list(map(_with_variant, found)) for name, found in (document.reference_sets or {}).items()}
    keyphrases = None if document.keyphrases is None else list(map(_with_variant, document.keyphrases))
    return msgspec.structs.replace(document, keyphrases=keyphrases, reference_sets=sets or None)


def _with_variant(reference: Reference) -> Reference:
    variants = reference if isinstance(reference, list) else [reference]
    further = [of_variant(variant) for variant in variants if variant]
    known = [variant for variant in further if variant is not None and variant not in variants]
    return [*variants, *dict.fromkeys(known)] if known else reference
