"""Relations between predicted phrases and references, for all pairs of a chunk at once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from karat.matching.columns import Aligned, Bools, Floats, Ints, Subset, lookup, same_document

Relation = Callable[[Sequence[str], Ints, Ints], Bools]
"""Whether it holds for each pair: (the joined stems of all phrases, number of the prediction, of the reference)."""

_SLICE = 1 << 16  # pairs that are judged together, which bounds the memory of their Python objects


def substring(forms: Sequence[str], prediction: Ints, reference: Ints) -> Bools:
    """Whether the prediction is a substring of the reference, character by character."""
    return _inside(forms, prediction, reference)


def substring_either(forms: Sequence[str], prediction: Ints, reference: Ints) -> Bools:
    """Whether one is a substring of the other, character by character."""
    return _inside(forms, prediction, reference) | _inside(forms, reference, prediction)


def contained(forms: Sequence[str], prediction: Ints, reference: Ints) -> Bools:
    """Whether the prediction's stems follow each other in the reference.

    >>> contained(["net", "neural net", "network"], np.array([0, 0, 1]), np.array([1, 2, 0])).tolist()
    [True, False, False]
    """
    return _inside(_spaced(forms), prediction, reference)


def contains(forms: Sequence[str], prediction: Ints, reference: Ints) -> Bools:
    """Whether the reference's stems follow each other in the prediction."""
    return _inside(_spaced(forms), reference, prediction)


def contained_either(forms: Sequence[str], prediction: Ints, reference: Ints) -> Bools:
    """Whether the stems of one follow each other in the other."""
    spaced = _spaced(forms)
    return _inside(spaced, prediction, reference) | _inside(spaced, reference, prediction)


def stem_sets(forms: Sequence[str], prediction: Ints, reference: Ints) -> Bools:
    """Whether the stems of one are a subset of the other's."""
    stems = [frozenset(form.split()) for form in forms]
    return _holds(operator.le, stems, prediction, reference) | _holds(operator.le, stems, reference, prediction)


def _spaced(forms: Sequence[str]) -> list[str]:
    return [f" {form} " for form in forms]


def _inside(strings: Sequence[str], part: Ints, whole: Ints) -> Bools:
    """Whether the string of the first number is within that of the second; strings of different numbers differ."""
    length = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
    holds: Bools = np.equal(part, whole)
    shorter = np.flatnonzero(length[part] < length[whole])
    holds[shorter] = _holds(operator.contains, strings, whole[shorter], part[shorter])
    return holds


def _holds(test: Callable[[Any, Any], bool], things: Sequence[Any], left: Ints, right: Ints) -> Bools:
    """Whether the test holds of each pair of things, which are given by their numbers."""
    holds = np.zeros(len(left), dtype=bool)
    of = things.__getitem__
    for start in range(0, len(left), _SLICE):
        part = slice(start, start + _SLICE)
        answers = map(test, map(of, left[part].tolist()), map(of, right[part].tolist()))
        holds[part] = np.fromiter(answers, dtype=bool, count=len(holds[part]))
    return holds


# ---------------------------------------------------------------------------------------------- coverage


def covering(aligned: Aligned, subset: Subset, relation: Relation) -> tuple[Ints, Ints]:
    """Every (row of `ranked(subset)`, reference of the subset) that the relation holds for, by row and reference.

    Any variant counts for its reference. All pairs of the chunk are judged when the first subset asks for them.
    """
    return aligned.once(("covering", relation, subset), lambda: _cover(aligned, subset, relation))


def _cover(aligned: Aligned, subset: Subset, relation: Relation) -> tuple[Ints, Ints]:
    r = aligned.references
    row, variant = aligned.once(("related", relation), lambda: _related(aligned, relation))
    chosen = aligned.predictions_in(subset)[row] & aligned.variants_in(subset)[variant]
    left, reference = np.searchsorted(aligned.ranked(subset).row, row[chosen]), r.variant_reference[variant[chosen]]
    width = max(len(r.document), 1)
    row, reference = np.divmod(np.unique(left * width + reference), width)
    return row, reference


def _related(aligned: Aligned, relation: Relation) -> tuple[Ints, Ints]:
    """Every (row of the predictions, variant) of one document that the relation holds for."""
    ranked = aligned.ranked("all")
    left, variant = aligned.pairs("all")
    holds = relation(aligned.forms, ranked.phrase[left], aligned.references.variant_phrase[variant])
    return ranked.row[left[holds]], variant[holds]


def unpredicted(aligned: Aligned, subset: Subset, relation: Relation) -> tuple[Ints, Ints, Ints]:
    """The references that are not predicted, as if they were: (document of each, pairs (one of them, reference)).

    They are taken once each, by document and number of their first variant. The pairs are those that the relation
    holds for, the first variant of the reference alone counting.
    """
    ranked, r, width = aligned.ranked(subset), aligned.references, max(len(aligned.forms), 1)
    chosen = np.flatnonzero(aligned.references_in(subset))
    keys = np.unique(r.document[chosen] * width + r.phrase[chosen])
    keys = keys[~lookup(keys, ranked.document * width + ranked.phrase)[0]]
    document, phrase = np.divmod(keys, width)
    left, right = same_document(document, r.document[chosen], aligned.documents)
    holds = relation(aligned.forms, phrase[left], r.phrase[chosen][right])
    return document, left[holds], chosen[right[holds]]


# ---------------------------------------------------------------------------------------------- overlaps


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


def scored(aligned: Aligned, left: Ints, right: Ints, score: Callable[[str, str], float]) -> Floats:
    """The score of each pair of phrase numbers, each distinct pair being judged once."""
    forms = aligned.forms
    keys, back = np.unique(left * len(forms) + right, return_inverse=True)
    first, second = np.divmod(keys, max(len(forms), 1))
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    each = np.fromiter((score(forms[a], forms[b]) for a, b in pairs), dtype=np.float64, count=len(keys))
    return np.asarray(each[back])


def matrices(
    aligned: Aligned, subset: Subset, score: Callable[[str, str], float]
) -> Iterator[tuple[int, Ints, Floats]]:
    """For each document with a prediction, its rows of `ranked(subset)` and score[reference, prediction].

    The score of a reference is that of its best variant.
    """
    ranked, r = aligned.ranked(subset), aligned.references
    left, variant = aligned.pairs(subset)
    scores = aligned.once(
        ("scores of pairs", subset, score),
        lambda: scored(aligned, ranked.phrase[left], r.variant_phrase[variant], score),
    )
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
