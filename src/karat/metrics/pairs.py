"""Relations between predicted phrases and references, each distinct pair judged once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from karat.columns import Aligned, Bools, Ints, Subset

Relation = Callable[[str, str], bool]  # (prediction's stems, reference's stems)


def substring(prediction: str, reference: str) -> bool:
    """Whether the prediction is a substring of the reference, character by character."""
    return prediction in reference


def substring_either(prediction: str, reference: str) -> bool:
    """Whether one is a substring of the other, character by character."""
    return prediction in reference or reference in prediction


def contained(prediction: str, reference: str) -> bool:
    """Whether the prediction's stems follow each other in the reference."""
    return f" {prediction} " in f" {reference} "


def contains(prediction: str, reference: str) -> bool:
    """Whether the reference's stems follow each other in the prediction."""
    return f" {reference} " in f" {prediction} "


def contained_either(prediction: str, reference: str) -> bool:
    """Whether the stems of one follow each other in the other."""
    return contained(prediction, reference) or contains(prediction, reference)


def stem_sets(prediction: str, reference: str) -> bool:
    """Whether the stems of one are a subset of the other's."""
    left, right = set(prediction.split()), set(reference.split())
    return left <= right or right <= left


def related(aligned: Aligned, left: Ints, right: Ints, relation: Relation) -> Bools:
    """Whether the relation holds for each pair of phrase numbers."""
    forms = aligned.forms
    keys, back = np.unique(left * len(forms) + right, return_inverse=True)
    first, second = np.divmod(keys, max(len(forms), 1))
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    holds = np.fromiter((relation(forms[a], forms[b]) for a, b in pairs), dtype=bool, count=len(keys))
    return np.asarray(holds[back], dtype=bool)


def relations(aligned: Aligned, subset: Subset, relation: Relation, ideal: bool = False) -> Iterator[tuple[int, Bools]]:
    """For each document with a prediction, holds[reference, prediction], any variant counting for its reference.

    With `ideal`, the references that are not predicted (their first variants) stand behind the predictions.
    """
    ranked, r = aligned.ranked(subset), aligned.references
    left, variant = aligned.pairs(subset)
    holds = related(aligned, ranked.phrase[left], r.variant_phrase[variant], relation)
    own = _references_of(aligned, subset)
    predictions = np.split(np.arange(len(ranked.row)), np.cumsum(aligned.count_predictions(subset))[:-1])
    cuts = np.searchsorted(ranked.document[left], np.arange(aligned.documents + 1))
    for document in range(aligned.documents):
        rows, references = predictions[document], own[document]
        if not len(rows):
            continue
        matrix = np.zeros((len(references), len(rows)), dtype=bool)
        part = slice(cuts[document], cuts[document + 1])
        if len(references):
            place = {reference: i for i, reference in enumerate(references.tolist())}
            of = [place[reference] for reference in r.variant_reference[variant[part]].tolist()]
            np.logical_or.at(matrix, (of, left[part] - rows[0]), holds[part])
        if ideal and len(references):
            predicted = ranked.phrase[rows]
            matrix = np.hstack([matrix, _unpredicted(aligned, references, predicted, relation)])
        yield document, matrix


def _references_of(aligned: Aligned, subset: Subset) -> list[Ints]:
    chosen = np.flatnonzero(aligned.references_in(subset))
    document = aligned.references.document[chosen]
    chosen = chosen[np.argsort(document, kind="stable")]
    return np.split(chosen, np.cumsum(aligned.count_references(subset))[:-1])


def _unpredicted(aligned: Aligned, references: Ints, predicted: Ints, relation: Relation) -> Bools:
    """holds[reference, reference that is not predicted, as a prediction]."""
    phrases = aligned.references.phrase[references]
    others = np.setdiff1d(phrases, predicted)
    forms = aligned.forms
    holds = [[relation(forms[p], forms[r]) for p in others.tolist()] for r in phrases.tolist()]
    return np.array(holds, dtype=bool).reshape(len(phrases), len(others))
