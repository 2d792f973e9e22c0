"""Hierarchical precision, recall and F1: concepts count together with all that are broader (Kiritchenko et al. 2005).

The references of a document, and its predictions, are sets of concepts, each of them augmented by the ancestors of its
concepts. Precision is the share of the augmented predictions that are among the augmented references, recall the share
of the augmented references that are among the augmented predictions. So a prediction that is broader or narrower than
a reference, or a sibling of it, counts as far as the two have ancestors in common. The concept scheme is the root that
the paper leaves out, and so is a concept that is above all others. A phrase that is no concept is augmented by nothing.
"""

from __future__ import annotations

import numpy as np

from karat.errors import InputError
from karat.matching.columns import Aligned, Cutoff, Ints, Subset, lookup
from karat.matching.concepts import Concepts
from karat.metrics.base import Rows, metric
from karat.metrics.exact import (
    F1_AVERAGES,
    MEANS,
    P_AVERAGES,
    Counts,
    f1_rows,
    judged,
    own_average,
    precision_rows,
    recall_rows,
)


def _counts(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Counts:
    """How many concepts of the augmented sets are common, predicted and referred to, by document."""
    return aligned.once(("hierarchy", cutoff, subset), lambda: _count(aligned, cutoff, subset))


def _count(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Counts:
    concepts = aligned.prepared.concepts
    if concepts is None:
        raise InputError(
            "hierarchical scores are of concepts: name a vocabulary that has broader ones, --vocabulary FILE"
        )
    ranked, r = aligned.ranked(subset), aligned.references
    within = ranked.rank < aligned.depth(cutoff, subset)[ranked.document]
    chosen = aligned.references_in(subset)
    predicted = _augmented(aligned, concepts, ranked.document[within], ranked.phrase[within])
    referred = _augmented(aligned, concepts, r.document[chosen], r.phrase[chosen])
    common = predicted[lookup(predicted, referred)[0]]
    width = _width(aligned, concepts)
    hits, predictions, references = (
        np.bincount(keys // width, minlength=aligned.documents) for keys in (common, predicted, referred)
    )
    return Counts(hits, predictions, references, judged(aligned, subset))


def _width(aligned: Aligned, concepts: Concepts) -> int:
    return len(concepts.vocabulary) + len(aligned.prepared.table)


def _augmented(aligned: Aligned, concepts: Concepts, document: Ints, phrase: Ints) -> Ints:
    """The distinct (document, concept) of phrases and their ancestors, each as one number.

    A phrase that is no concept has a number of its own behind those of the concepts.
    """
    count = len(concepts.vocabulary)
    own = np.array([concepts.numbers.get(form, count + n) for n, form in enumerate(aligned.forms)], dtype=np.int64)
    number = own[phrase]
    starts, above = concepts.vocabulary.above_all
    first = np.minimum(number, count)
    sizes = starts[np.minimum(first + 1, count)] - starts[first]
    ends = np.cumsum(sizes)
    inner = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    ancestors = above[np.repeat(starts[first], sizes) + inner]
    width = _width(aligned, concepts)
    return np.unique(np.concatenate([document * width + number, np.repeat(document, sizes) * width + ancestors]))


@metric("hier_p", better="higher", cutoff=True, averages=P_AVERAGES, also=MEANS)
def hier_p(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, average: str = "mean") -> Rows:
    """Share of the predicted concepts and all broader ones that are so of the references (hP, Kiritchenko 2005)."""
    return precision_rows(_counts(aligned, cutoff, subset), average)


@metric("hier_r", better="higher", cutoff=True, averages=P_AVERAGES, also=MEANS)
def hier_r(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, average: str = "mean") -> Rows:
    """Share of the references' concepts and all broader ones that are so of the predictions (hR, Kiritchenko 2005)."""
    return recall_rows(_counts(aligned, cutoff, subset), average)


@metric("hier_f", better="higher", cutoff=True, averages=F1_AVERAGES, default_average=own_average)
def hier_f(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, average: str = "mean-of-f") -> Rows:
    """Harmonic mean of hierarchical precision and recall (hF, Kiritchenko 2005, whose own average is micro)."""
    return f1_rows(_counts(aligned, cutoff, subset), average)
