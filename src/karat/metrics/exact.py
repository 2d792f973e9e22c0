"""Precision, recall and F1 of exact matches, in every average the scripts print."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from karat.matching.columns import Aligned, Bools, Cutoff, Floats, Ints, Subset, lookup
from karat.metrics.base import Rows, divide, f_of_means, f_of_sums, harmonic, mean, metric, ratio_of_sums, rows
from karat.protocol import Counting


@dataclass(frozen=True, slots=True)
class Counts:
    """What P, R and F1 are made of, by document."""

    hits: Ints | Floats  # not whole where matches are partial
    predictions: Ints  # what precision divides by
    references: Ints
    defined: Bools


def judged(aligned: Aligned, subset: Subset) -> Bools:
    """Which documents count for the subset: all, or those with a reference of it."""
    if aligned.counting.empty == "zero":
        return np.ones(aligned.documents, dtype=bool)
    return aligned.count_references(subset) > 0


def count(aligned: Aligned, cutoff: Cutoff, subset: Subset, micro: bool = False) -> Counts:
    """The counts at the cutoff, as the protocol pads them."""
    return Counts(
        aligned.count_hits(cutoff, subset),
        (_micro_predictions if micro else _predictions)(aligned, cutoff, subset),
        aligned.count_references(subset),
        judged(aligned, subset),
    )


def _predictions(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Ints:
    """What a document's precision is divided by."""
    depth, there = aligned.depth(cutoff, subset), aligned.count_predictions(subset)
    pad = aligned.counting.pad
    if pad == "k":
        return depth
    if pad == "absent-10" and subset != "present" and cutoff.k is not None:
        # The script fills every list to ten with a phrase that is in no text, before the split by kind.
        return np.minimum(depth, np.maximum(aligned.count_predictions("all"), 10) - _elsewhere(aligned, subset))
    return np.minimum(depth, there)


def _elsewhere(aligned: Aligned, subset: Subset) -> Ints:
    return aligned.count_predictions("all") - aligned.count_predictions(subset)


def _micro_predictions(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Ints:
    """What a document adds to the denominator of micro precision."""
    depth, there = aligned.depth(cutoff, subset), aligned.count_predictions(subset)
    rule = aligned.counting.micro
    if rule == "k":
        return depth
    if rule == "predicted":
        return np.where(there > 0, depth, 0)
    if rule == "pad":
        return _predictions(aligned, cutoff, subset)
    return np.minimum(depth, there)


@metric("found", better="higher", cutoff=True)
def found(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Share of all references that are among the first k predictions; each is a row, as McNemar's test wants it."""
    ranked, r = aligned.ranked(subset), aligned.references
    within = ranked.rank < aligned.depth(cutoff, subset)[ranked.document]
    width = len(aligned.prepared.table)
    hit, _ = lookup(
        r.document[r.variant_reference] * width + r.variant_phrase,
        ranked.document[within] * width + ranked.phrase[within],
    )
    there = np.zeros(len(r.document), dtype=bool)
    np.logical_or.at(there, r.variant_reference, hit)
    chosen = aligned.references_in(subset)
    return replace(rows(there[chosen]), units=r.document[chosen])


P_AVERAGES = {"mean": mean, "micro": ratio_of_sums}
F1_AVERAGES = {"mean-of-f": mean, "f-of-means": f_of_means, "micro": f_of_sums}
MEANS = {"mean-of-f": "mean", "f-of-means": "mean"}  # the two differ for F1 alone


@metric("p", better="higher", cutoff=True, averages=P_AVERAGES, also=MEANS)
def precision(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, average: str = "mean") -> Rows:
    """Share of the first k predictions that are references."""
    return precision_rows(count(aligned, cutoff, subset, micro=average == "micro"), average)


@metric("r", better="higher", cutoff=True, averages=P_AVERAGES, also=MEANS)
def recall(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, average: str = "mean") -> Rows:
    """Share of the references that are among the first k predictions."""
    return recall_rows(count(aligned, cutoff, subset), average)


def own_average(counting: Counting) -> str:
    """The average of F1 that the protocol prints."""
    return counting.average


@metric("f1", better="higher", cutoff=True, averages=F1_AVERAGES, default_average=own_average)
def f1(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, average: str = "mean-of-f") -> Rows:
    """Harmonic mean of precision and recall at k: of each document, of their means, or of all counts together."""
    return f1_rows(count(aligned, cutoff, subset, micro=average == "micro"), average)


# ---------------------------------------------------------------------------------------------- from counts to rows


def precision_rows(c: Counts, average: str) -> Rows:
    """Rows of precision: hits and predictions for the micro average, else their ratio."""
    if average == "micro":
        return rows(c.hits, c.predictions, defined=c.defined)
    return rows(divide(c.hits, c.predictions, empty=0.0), defined=c.defined)


def recall_rows(c: Counts, average: str) -> Rows:
    """Rows of recall: hits and references for the micro average, else their ratio."""
    if average == "micro":
        return rows(c.hits, c.references, defined=c.defined)
    return rows(divide(c.hits, c.references, empty=0.0), defined=c.defined)


def f1_rows(c: Counts, average: str) -> Rows:
    """Rows of F1: the three counts for the micro average, precision and recall for F1 of means, else F1."""
    if average == "micro":
        return rows(c.hits, c.predictions, c.references, defined=c.defined)
    p, r = divide(c.hits, c.predictions, empty=0.0), divide(c.hits, c.references, empty=0.0)
    if average == "f-of-means":
        return rows(p, r, defined=c.defined)
    return rows(harmonic(p, r), defined=c.defined)
