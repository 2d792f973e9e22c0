"""R-precision and precision, recall, F1 of approximate matches."""

from __future__ import annotations

import numpy as np

from karat.columns import Aligned, Bools, Cutoff, Ints, Subset
from karat.metrics.base import Floats, Rows, divide, harmonic, metric, rows
from karat.metrics.exact import judged
from karat.metrics.pairs import contained_either, contains, related, substring_either


def _matched(aligned: Aligned, subset: Subset) -> tuple[Floats, Floats]:
    """(share of predictions that match a reference, share of references that match a prediction), by document."""
    relation = substring_either if aligned.counting.approximate == "kpeval" else contained_either
    ranked, r = aligned.ranked(subset), aligned.references
    left, variant = aligned.pairs(subset)
    holds = related(aligned, ranked.phrase[left], r.variant_phrase[variant], relation)
    predictions = np.unique(left[holds])
    references = np.unique(r.variant_reference[variant[holds]])
    hits = np.bincount(ranked.document[predictions], minlength=aligned.documents)
    found = np.bincount(r.document[references], minlength=aligned.documents)
    return (
        divide(hits, aligned.count_predictions(subset), empty=0.0),
        divide(found, aligned.count_references(subset), empty=0.0),
    )


@metric("substring_precision", better="higher")
def substring_precision(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Share of the predictions that contain a reference or are contained in one."""
    return rows(_matched(aligned, subset)[0], defined=judged(aligned, subset))


@metric("substring_recall", better="higher")
def substring_recall(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Share of the references that contain a prediction or are contained in one."""
    return rows(_matched(aligned, subset)[1], defined=judged(aligned, subset))


@metric("substring_f1", better="higher")
def substring_f1(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Harmonic mean of a document's substring precision and recall."""
    return rows(harmonic(*_matched(aligned, subset)), defined=judged(aligned, subset))


@metric("r_precision", better="higher")
def r_precision(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Approximate matches among the first n predictions over n, n being the number of references (Zesch 2009)."""
    references = aligned.count_references(subset)
    hits = (_kpeval_hits if aligned.counting.approximate == "kpeval" else _zesch_hits)(aligned, subset)
    return rows(divide(hits, references, empty=0.0), defined=judged(aligned, subset))


def _kpeval_hits(aligned: Aligned, subset: Subset) -> Ints:
    """Of KPEval: any prediction that matches, and of `all` the present ones come first."""
    ranked = aligned.ranked(subset)
    present = aligned.predictions.present[ranked.row]
    order = np.lexsort((ranked.rank, ~present, ranked.document))
    start = np.cumsum(aligned.count_predictions(subset)) - aligned.count_predictions(subset)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - start[ranked.document[order]]
    matched = _any_match(aligned, subset) & (rank < aligned.count_references(subset)[ranked.document])
    return np.bincount(ranked.document[matched], minlength=aligned.documents)


def _any_match(aligned: Aligned, subset: Subset) -> Bools:
    ranked = aligned.ranked(subset)
    left, variant = aligned.pairs(subset)
    holds = related(aligned, ranked.phrase[left], aligned.references.variant_phrase[variant], substring_either)
    matched = np.zeros(len(ranked.row), dtype=bool)
    matched[left[holds]] = True
    return matched


def _zesch_hits(aligned: Aligned, subset: Subset) -> Ints:
    """Of Zesch and Gurevych: equal stems or the reference within the prediction, each reference used once."""
    ranked, r = aligned.ranked(subset), aligned.references
    left, variant = aligned.pairs(subset)
    within = ranked.rank[left] < aligned.count_references(subset)[ranked.document[left]]
    left, variant = left[within], variant[within]
    prediction, phrase = ranked.phrase[left], r.variant_phrase[variant]
    holds = related(aligned, prediction, phrase, contains)
    # Exact matches claim their references first, so that a longer prediction cannot take them away.
    claims = np.flatnonzero(holds)
    order = claims[np.lexsort((left[claims], prediction[claims] != phrase[claims]))]
    taken: set[int] = set()
    used: set[int] = set()
    hits = np.zeros(aligned.documents, dtype=np.int64)
    pairs = zip(left[order].tolist(), r.variant_reference[variant[order]].tolist(), strict=True)
    for row, reference in pairs:
        if row not in used and reference not in taken:
            used.add(row)
            taken.add(reference)
            hits[ranked.document[row]] += 1
    return hits
