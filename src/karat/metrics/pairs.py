"""Relations between predicted phrases and references, each distinct pair judged once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise

import numpy as np

from karat.matching.columns import Aligned, Bools, Floats, Ints, Subset

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


def gram_overlap(prediction: str, reference: str) -> float:
    """Jaccard index of the sets of stems and of pairs of neighbouring stems; 0 where neither has a stem.

    >>> gram_overlap("deep neural net", "neural net")  # neural, net and both together, of five
    0.6
    """
    left, right = _grams(prediction), _grams(reference)
    return len(left & right) / max(len(left | right), 1)


@lru_cache(maxsize=1 << 16)
def _grams(form: str) -> frozenset[str | tuple[str, str]]:
    stems = form.split()
    return frozenset(stems) | frozenset(pairwise(stems))


def related(aligned: Aligned, left: Ints, right: Ints, relation: Relation) -> Bools:
    """Whether the relation holds for each pair of phrase numbers."""
    return scored(aligned, left, right, relation).astype(bool)


def scored(aligned: Aligned, left: Ints, right: Ints, score: Callable[[str, str], float]) -> Floats:
    """The score of each pair of phrase numbers."""
    forms = aligned.forms
    keys, back = np.unique(left * len(forms) + right, return_inverse=True)
    first, second = np.divmod(keys, max(len(forms), 1))
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    each = np.fromiter((score(forms[a], forms[b]) for a, b in pairs), dtype=np.float64, count=len(keys))
    return np.asarray(each[back])


def relations(aligned: Aligned, subset: Subset, relation: Relation, ideal: bool = False) -> Iterator[tuple[int, Bools]]:
    """For each document with a prediction, holds[reference, prediction], any variant counting for its reference.

    With `ideal`, the references that are not predicted (their first variants) stand behind the predictions.
    """
    ranked, own = aligned.ranked(subset), _references_of(aligned, subset)
    for document, rows, scores in matrices(aligned, subset, relation):
        matrix, references = scores.astype(bool), own[document]
        if ideal and len(references):
            predicted = ranked.phrase[rows]
            matrix = np.hstack([matrix, _unpredicted(aligned, references, predicted, relation)])
        yield document, matrix


def matrices(
    aligned: Aligned, subset: Subset, score: Callable[[str, str], float]
) -> Iterator[tuple[int, Ints, Floats]]:
    """For each document with a prediction, its rows of `ranked(subset)` and score[reference, prediction].

    The score of a reference is that of its best variant.
    """
    ranked, r = aligned.ranked(subset), aligned.references
    left, variant = aligned.pairs(subset)
    scores = scored(aligned, ranked.phrase[left], r.variant_phrase[variant], score)
    own = _references_of(aligned, subset)
    predictions = np.split(np.arange(len(ranked.row)), np.cumsum(aligned.count_predictions(subset))[:-1])
    cuts = np.searchsorted(ranked.document[left], np.arange(aligned.documents + 1))
    for document in range(aligned.documents):
        rows, references = predictions[document], own[document]
        if not len(rows):
            continue
        matrix = np.zeros((len(references), len(rows)))
        part = slice(cuts[document], cuts[document + 1])
        if len(references):
            place = {reference: i for i, reference in enumerate(references.tolist())}
            of = [place[reference] for reference in r.variant_reference[variant[part]].tolist()]
            np.maximum.at(matrix, (of, left[part] - rows[0]), scores[part])
        yield document, rows, matrix


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
