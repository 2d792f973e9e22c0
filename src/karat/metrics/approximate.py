"""R-precision and precision, recall, F1 of approximate matches and of partial ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat.matching.columns import Aligned, Bools, Cutoff, Floats, Ints, Subset
from karat.metrics.base import Rows, divide, harmonic, metric, rows
from karat.metrics.exact import (
    F1_AVERAGES,
    MEANS,
    P_AVERAGES,
    Counts,
    count,
    f1_rows,
    judged,
    own_average,
    precision_rows,
    recall_rows,
)
from karat.metrics.pairs import contained_either, contains, gram_overlap, matrices, substring_either


def _matched(aligned: Aligned, subset: Subset) -> tuple[Floats, Floats]:
    """(share of predictions that match a reference, share of references that match a prediction), by document."""
    return aligned.once(("matched", subset), lambda: _match(aligned, subset))


def _match(aligned: Aligned, subset: Subset) -> tuple[Floats, Floats]:
    relation = substring_either if aligned.counting.approximate == "kpeval" else contained_either
    ranked, r = aligned.ranked(subset), aligned.references
    left, variant = aligned.pairs(subset)
    holds = relation(aligned.forms, ranked.phrase[left], r.variant_phrase[variant])
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
    holds = substring_either(aligned.forms, ranked.phrase[left], aligned.references.variant_phrase[variant])
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
    holds = contains(aligned.forms, prediction, phrase)
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


# ---------------------------------------------------------------------------------------------- partial matches


@metric("partial_p", better="higher", cutoff=True, averages=P_AVERAGES, also=MEANS)
def partial_p(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, average: str = "mean") -> Rows:
    """Precision in which the first k predictions and the references are paired so as to share most (Meng 2021).

    A pair is worth the Jaccard index of the stems and pairs of neighbouring stems of the two phrases; each phrase is in
    one pair at most, and of all pairings the one that is worth most counts. Precision is its worth / predictions.

    >>> from karat import Corpus, Run, score
    >>> documents = Corpus.of([{"id": "1", "text": "x", "keyphrases": ["neural nets", "deep nets", "bees"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["deep neural nets", "neural nets"]}])
    >>> found = score(documents, run, metrics=["partial_p@M", "partial_r@M", "partial_f1@M", "f1@M"]).rows()
    >>> [round(row["value"], 4) for row in found]  # 2/6 with deep nets, and 1: 4/3 over 2 and over 3
    [0.6667, 0.4444, 0.5333, 0.4]
    """
    return precision_rows(_partial(aligned, cutoff, subset, average), average)


@metric("partial_r", better="higher", cutoff=True, averages=P_AVERAGES, also=MEANS)
def partial_r(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, average: str = "mean") -> Rows:
    """Recall of the pairing of `partial_p`: its worth / references (Meng 2021)."""
    return recall_rows(_partial(aligned, cutoff, subset, average), average)


@metric("partial_f1", better="higher", cutoff=True, averages=F1_AVERAGES, default_average=own_average)
def partial_f1(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, average: str = "mean-of-f") -> Rows:
    """Harmonic mean of `partial_p` and `partial_r` at k: of each document, of their means, or of all worth together."""
    return f1_rows(_partial(aligned, cutoff, subset, average), average)


def _partial(aligned: Aligned, cutoff: Cutoff, subset: Subset, average: str) -> Counts:
    """The counts of exact matching with the worth of the best pairing for hits."""
    worth = aligned.once(("partial", cutoff, subset), lambda: _best_pairings(aligned, cutoff, subset))
    return replace(count(aligned, cutoff, subset, micro=average == "micro"), hits=worth)


def _best_pairings(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Floats:
    """The most that pairs of one prediction within the cutoff and one reference are worth together, by document."""
    from scipy.optimize import linear_sum_assignment

    depth = aligned.depth(cutoff, subset)
    worth = np.zeros(aligned.documents)
    for document, _, overlaps in matrices(aligned, subset, gram_overlap):
        pairs = overlaps[:, : depth[document]]
        if pairs.any():
            worth[document] = pairs[linear_sum_assignment(pairs, maximize=True)].sum()
    return worth
