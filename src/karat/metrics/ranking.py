"""Measures of rank: average precision, reciprocal rank, binary preference, areas and discounts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.matching.columns import Aligned, Bools, Cutoff, Floats, Ints, Ranked, Subset
from karat.metrics.base import Rows, divide, metric, rows
from karat.metrics.exact import judged
from karat.metrics.pairs import contained, relations, stem_sets, substring


def _within(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> tuple[Ranked, Bools]:
    ranked = aligned.ranked(subset)
    return ranked, ranked.rank < aligned.depth(cutoff, subset)[ranked.document]


def _total(aligned: Aligned, document: Ints, values: NDArray[np.float64]) -> Floats:
    return np.bincount(document, weights=values, minlength=aligned.documents).astype(np.float64)


def _running(document: Ints, values: Ints) -> Ints:
    """The running total of the values, starting again in each document."""
    total = np.cumsum(values)
    if not len(total):
        return total
    start = np.flatnonzero(np.r_[True, document[1:] != document[:-1]])
    before = np.r_[0, total][start]
    return np.asarray(total - np.repeat(before, np.diff(np.r_[start, len(total)])))


@metric("map", better="higher", cutoff="optional")
def average_precision(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Sum over the hits among the first k predictions of the precision there, over the number of references."""
    ranked, within = _within(aligned, cutoff, subset)
    precision = _running(ranked.document, ranked.gain) / (ranked.rank + 1)
    total = _total(aligned, ranked.document, precision * (ranked.relevant & within))
    return rows(divide(total, aligned.count_references(subset), empty=0.0), defined=judged(aligned, subset))


@metric("mrr", better="higher", cutoff="optional")
def reciprocal_rank(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """One over the rank of the first hit, or (reciprocal=all) the mean of that over all hits; 0 without a hit."""
    ranked, within = _within(aligned, cutoff, subset)
    hit = ranked.relevant & within
    if aligned.counting.reciprocal == "first":
        hit &= _running(ranked.document, hit.astype(np.int64)) == 1
    total = _total(aligned, ranked.document, hit / (ranked.rank + 1.0))
    hits = _total(aligned, ranked.document, hit.astype(np.float64))
    return rows(divide(total, hits, empty=0.0), defined=judged(aligned, subset))


@metric("pr_auc", better="higher", cutoff="optional")
def pr_auc(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Area under precision by recall, in straight lines from one of the first k predictions to the next (Meng 2021).

    The curve begins at recall 0 and precision 1. A hit adds (precision before it + precision at it) / 2 / references,
    where `map` adds precision at it / references.

    >>> from karat import Corpus, Run, score
    >>> documents = Corpus.of([{"id": "1", "text": "x", "keyphrases": ["ants", "bees"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["ants", "wasps", "bees"]}])
    >>> [round(row["value"], 4) for row in score(documents, run, metrics=["pr_auc", "map"]).rows()]
    [0.7917, 0.8333]
    """
    ranked, within = _within(aligned, cutoff, subset)
    hits = _running(ranked.document, ranked.gain)
    at, before = hits / (ranked.rank + 1), divide(hits - ranked.gain, ranked.rank, empty=1.0)
    total = _total(aligned, ranked.document, (at + before) / 2 * ranked.gain * within)
    return rows(divide(total, aligned.count_references(subset), empty=0.0), defined=judged(aligned, subset))


@metric("sadr", better="higher", cutoff="optional")
def sadr(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Size-adjusted discounted recall: recall in which a hit counts less the further it is beyond rank n (Meng 2021).

    n is the number of references. A hit at rank i counts 1 up to rank n and 1/log2(i − n + 2) beyond.

    >>> from karat import Corpus, Run, score
    >>> documents = Corpus.of([{"id": "1", "text": "x", "keyphrases": ["ants", "bees"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["wasps", "ants", "moths", "bees"]}])
    >>> score(documents, run, metrics=["sadr"]).rows()[0]["value"]  # (1 + 1/log2(4)) / 2
    0.75
    """
    ranked, within = _within(aligned, cutoff, subset)
    references = aligned.count_references(subset)
    beyond = np.maximum(ranked.rank - references[ranked.document] + 1, 0)
    counts: Floats = np.where(beyond > 0, 1.0 / np.log2(beyond + 2.0), 1.0)
    total = _total(aligned, ranked.document, counts * ranked.gain * within)
    return rows(divide(total, references, empty=0.0), defined=judged(aligned, subset))


@metric("bpref", better="higher", cutoff="optional")
def binary_preference(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Mean over the references of 1 - wrong predictions before it / references, at least 0; 0 where it is not found."""
    ranked, within = _within(aligned, cutoff, subset)
    wrong = _running(ranked.document, (~ranked.relevant).astype(np.int64))
    references = aligned.count_references(subset)
    if aligned.counting.preference == "hits":
        of, most = (
            _total(aligned, ranked.document, (ranked.gain * within).astype(np.float64)),
            aligned.depth(cutoff, subset),
        )
    else:
        of, most = references.astype(np.float64), references
    limit = most[ranked.document]
    preferred = 1.0 - divide(np.minimum(wrong, limit), limit, empty=0.0)
    total = _total(aligned, ranked.document, preferred * ranked.gain * within)
    return rows(divide(total, of, empty=0.0), defined=judged(aligned, subset))


def _discounts(length: int) -> Floats:
    """Sums of 1 / log2(rank + 1) over the first n ranks, for n from 0."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2, length + 2)))])


@metric("ndcg", better="higher", cutoff="optional")
def ndcg(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Sum of 1/log2(rank + 1) over the hits among the first k, over the same sum for an ideal list."""
    ranked, within = _within(aligned, cutoff, subset)
    found = _total(aligned, ranked.document, (ranked.gain * within) / np.log2(ranked.rank + 2.0))
    references, depth = aligned.count_references(subset), aligned.depth(cutoff, subset)
    if aligned.counting.ideal == "predictions":
        hits = _total(aligned, ranked.document, ranked.gain.astype(np.float64)).astype(np.int64)
        ones = np.minimum(hits, depth)
    elif aligned.counting.ideal == "uncut" or cutoff.k is None:
        ones = references
    else:
        ones = np.minimum(references, depth)
    ideal = _discounts(int(ones.max(initial=0)))[ones]
    return rows(divide(found, ideal, empty=0.0), defined=judged(aligned, subset))


# ---------------------------------------------------------------------------------------------- alpha-NDCG


@dataclass(frozen=True, slots=True)
class _Cuts:
    depth: int
    ideal: int
    predictions: int
    references: int


@metric("alpha_ndcg", better="higher", cutoff="optional")
def alpha_ndcg(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, alpha: float = 0.5) -> Rows:
    """NDCG in which a reference that was covered before gains (1 - alpha) times less each time (Clarke 2008)."""
    rule = {"clarke": _clarke, "chan": _chan, "meng": _meng}[aligned.counting.alpha]
    if not 0.0 <= alpha <= 1.0:
        raise InputError(f"option alpha of alpha_ndcg is from 0 to 1, not {alpha}")
    depth, references = aligned.depth(cutoff, subset), aligned.count_references(subset)
    predictions = aligned.count_predictions(subset)
    ideal = depth if cutoff.k is not None else np.maximum(depth, references)  # M is no cut for an ideal list
    scores = np.zeros(aligned.documents)
    for document, relevance in _relevance(aligned, subset):
        cuts = _Cuts(*(int(column[document]) for column in (depth, ideal, predictions, references)))
        scores[document] = rule(relevance, cuts, 1.0 - alpha)
    return rows(scores, defined=judged(aligned, subset))


def _relevance(aligned: Aligned, subset: Subset) -> Iterator[tuple[int, Bools]]:
    """(document, relevance[reference, prediction]); for Clarke the references that are not predicted follow."""
    relation = {"clarke": contained, "chan": substring, "meng": stem_sets}[aligned.counting.alpha]
    yield from relations(aligned, subset, relation, ideal=aligned.counting.alpha == "clarke")


def _earlier(relevance: Bools) -> Ints:
    """How many earlier predictions cover the reference, for each reference and prediction."""
    return np.asarray(np.cumsum(relevance, axis=1) - relevance, dtype=np.int64)


def _gain(relevance: Bools, keep: float) -> Floats:
    """What each prediction gains: over the references it covers, keep^(earlier predictions that cover it)."""
    earlier = _earlier(relevance)
    gain: Floats = (relevance * keep**earlier).sum(axis=0)
    return gain


def _greedy(relevance: Bools, keep: float, depth: int) -> Ints:
    """The order that gains most at every step, ties to the earliest."""
    weight = np.ones(len(relevance))
    left = np.ones(relevance.shape[1], dtype=bool)
    order: list[int] = []
    for _ in range(min(depth, relevance.shape[1])):
        best = int(np.argmax(np.where(left, weight @ relevance, -1.0)))
        order.append(best)
        left[best] = False
        weight[relevance[:, best]] *= keep
    return np.array(order, dtype=np.int64)


def _discounted(gain: Floats) -> float:
    return float((gain / np.log2(np.arange(2, len(gain) + 2))).sum())


def _chan(relevance: Bools, cuts: _Cuts, keep: float) -> float:
    """The script's ideal list holds the system's own predictions, in a better order."""
    ideal = _discounted(_gain(relevance[:, _greedy(relevance, keep, cuts.depth)], keep))
    return _discounted(_gain(relevance, keep)[: cuts.depth]) / ideal if ideal else 0.0


def _clarke(relevance: Bools, cuts: _Cuts, keep: float) -> float:
    own = _discounted(_gain(relevance[:, : cuts.predictions], keep)[: cuts.depth])
    ideal = _discounted(_gain(relevance[:, _greedy(relevance, keep, cuts.ideal)], keep))
    return min(own / ideal, 1.0) if ideal else 0.0


def _meng(relevance: Bools, cuts: _Cuts, keep: float) -> float:
    """The script takes the most often covered of the references, and never cuts the ideal list at k."""
    references = cuts.references
    if not references:
        return 0.0
    relevance = relevance[:, : min(cuts.depth, references)]
    earlier = _earlier(relevance)
    most = np.where(relevance, earlier, 0).max(axis=0, initial=0)
    gain = np.where(relevance.any(axis=0), keep**most, 0.0)
    return _discounted(gain) / float(_discounts(references)[references])
