"""Measures of rank: average precision, reciprocal rank, binary preference, areas and discounts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.matching.columns import Aligned, Bools, Cutoff, Floats, Ints, Ranked, Subset, position
from karat.metrics.base import Rows, divide, metric, rows
from karat.metrics.exact import judged
from karat.metrics.pairs import Relation, contained, covering, stem_sets, substring, unpredicted


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


@metric("alpha_ndcg", better="higher", cutoff="optional")
def alpha_ndcg(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, alpha: float = 0.5) -> Rows:
    """NDCG in which a reference that was covered before gains (1 - alpha) times less each time (Clarke 2008)."""
    if not 0.0 <= alpha <= 1.0:
        raise InputError(f"option alpha of alpha_ndcg is from 0 to 1, not {alpha}")
    score = {"clarke": _clarke, "chan": _chan, "meng": _meng}[aligned.counting.alpha]
    return rows(score(aligned, cutoff, subset, 1.0 - alpha), defined=judged(aligned, subset))


def _clarke(aligned: Aligned, cutoff: Cutoff, subset: Subset, keep: float) -> Floats:
    """The ideal list holds the predictions and, behind them, the references that are not predicted."""
    own, ideal = _own_and_ideal(aligned, subset, contained, keep, more=True)
    depth = aligned.depth(cutoff, subset)
    # M is no cut for an ideal list.
    longest = depth if cutoff.k is not None else np.maximum(depth, aligned.count_references(subset))
    return np.minimum(divide(own.sums(depth), ideal.sums(longest), empty=0.0), 1.0)


def _chan(aligned: Aligned, cutoff: Cutoff, subset: Subset, keep: float) -> Floats:
    """The script's ideal list holds the system's own predictions, in a better order."""
    own, ideal = _own_and_ideal(aligned, subset, substring, keep, more=False)
    depth = aligned.depth(cutoff, subset)
    return divide(own.sums(depth), ideal.sums(depth), empty=0.0)


def _meng(aligned: Aligned, cutoff: Cutoff, subset: Subset, keep: float) -> Floats:
    """The script takes the most often covered of the references, and never cuts the ideal list at k."""
    own = aligned.once(("alpha-ndcg of meng", subset, keep), lambda: _most_often_covered(aligned, subset, keep))
    references = aligned.count_references(subset)
    ideal = _discounts(int(references.max(initial=0)))[references]
    return divide(own.sums(np.minimum(aligned.depth(cutoff, subset), references)), ideal, empty=0.0)


@dataclass(frozen=True, slots=True)
class _Lists:
    """One list of discounted gains for each document, all in one array; it serves every cutoff."""

    gain: Floats
    length: Ints

    @classmethod
    def discount(cls, gain: Floats, length: Ints) -> _Lists:
        """The lists of these gains, each divided by log2(rank + 1)."""
        rank = np.arange(len(gain)) - np.repeat(np.cumsum(length) - length, length)
        return cls(gain / np.log2(rank + 2.0), length)

    def sums(self, depth: Ints) -> Floats:
        """The sum of each list up to the depth of its document."""
        return row_sums(self.gain, np.cumsum(self.length) - self.length, np.minimum(self.length, depth))


def row_sums(values: Floats, start: Ints, length: Ints) -> Floats:
    """The sum of each row values[start : start + length].

    The values of a row are added in the order in which numpy adds an array of that length; `np.add.reduceat` and
    running totals add in other orders, and so give other last digits.

    >>> row_sums(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 1, 0]), np.array([2, 3, 0])).tolist()
    [3.0, 9.0, 0.0]
    """
    total = np.zeros(len(start))
    for n in np.unique(length[length > 0]).tolist():
        which = np.flatnonzero(length == n)
        total[which] = values[start[which, np.newaxis] + np.arange(n)].sum(axis=1)
    return total


def _own_and_ideal(
    aligned: Aligned, subset: Subset, relation: Relation, keep: float, more: bool
) -> tuple[_Lists, _Lists]:
    """The gains of the predictions in their own order and in the ideal one."""
    return aligned.once(
        ("alpha-ndcg", relation, subset, keep, more),
        lambda: (_own(aligned, subset, relation, keep), _ideal(aligned, subset, relation, keep, more)),
    )


def _own(aligned: Aligned, subset: Subset, relation: Relation, keep: float) -> _Lists:
    """What each prediction gains: over the references it covers, keep^(earlier predictions that cover it)."""
    row, reference = covering(aligned, subset, relation)
    each = _power(keep, _earlier(row, reference))
    gain = np.bincount(row, weights=each, minlength=len(aligned.ranked(subset).row)).astype(np.float64)
    return _Lists.discount(gain, aligned.count_predictions(subset))


def _most_often_covered(aligned: Aligned, subset: Subset, keep: float) -> _Lists:
    """What each prediction gains: keep^(most earlier predictions that cover a reference which it covers)."""
    row, reference = covering(aligned, subset, stem_sets)
    most = np.full(len(aligned.ranked(subset).row), -1)
    np.maximum.at(most, row, _earlier(row, reference))
    gain = np.where(most < 0, 0.0, _power(keep, np.maximum(most, 0)))
    return _Lists.discount(gain, aligned.count_predictions(subset))


def _earlier(place: Ints, reference: Ints) -> Ints:
    """For each pair of a place in a list and a reference that is covered there, how many earlier places cover it."""
    order = np.lexsort((place, reference))
    earlier = np.empty(len(order), dtype=np.int64)
    earlier[order] = position(reference[order])
    return earlier


def _power(keep: float, times: Ints) -> Floats:
    return np.asarray(keep**times, dtype=np.float64)


def _ideal(aligned: Aligned, subset: Subset, relation: Relation, keep: float, more: bool) -> _Lists:
    """What candidates gain in the order that gains most at every step, ties to the earliest candidate.

    Candidates are the predictions and, with `more`, behind them the references that are not predicted.
    """
    document = aligned.ranked(subset).document
    candidate, reference = covering(aligned, subset, relation)
    if more:
        others, other, covered = unpredicted(aligned, subset, relation)
        candidate, reference = np.r_[candidate, len(document) + other], np.r_[reference, covered]
        document = np.r_[document, others]
    length = np.bincount(document, minlength=aligned.documents)
    order = np.lexsort((reference, candidate, document[candidate]))
    candidate, reference = candidate[order], reference[order]
    # From here on only candidates that cover something are numbered: the others gain nothing, behind them.
    new = np.diff(candidate, prepend=-1) != 0
    document, candidate = document[candidate[new]], np.cumsum(new) - 1
    step = _greedy(document, candidate, reference, keep)
    gain = np.zeros(int(length.sum()))
    gain[(np.cumsum(length) - length)[document] + step] = _gain_at(aligned, subset, step, candidate, reference, keep)
    return _Lists.discount(gain, length)


def _greedy(document: Ints, candidate: Ints, reference: Ints, keep: float) -> Ints:
    """The step at which each candidate is taken, given its document and the pairs (candidate, reference it covers).

    A step takes one candidate of every document that has candidates left.
    """
    weight = np.ones(int(reference.max(initial=-1)) + 1)
    taken_at, left, step = np.zeros(len(document), dtype=np.int64), np.arange(len(document)), 0
    while len(left):
        gain = np.bincount(candidate, weights=weight[reference], minlength=len(left))
        start = np.flatnonzero(np.diff(document, prepend=-1))
        most = np.repeat(np.maximum.reduceat(gain, start), np.diff(start, append=len(left)))
        equal = np.flatnonzero(gain == most)
        best = equal[np.diff(document[equal], prepend=-1) != 0]
        taken_at[left[best]] = step
        stays = np.ones(len(left), dtype=bool)
        stays[best] = False
        unused = stays[candidate]
        weight[reference[~unused]] *= keep
        candidate, reference = (np.cumsum(stays) - 1)[candidate[unused]], reference[unused]
        document, left, step = document[stays], left[stays], step + 1
    return taken_at


def _gain_at(aligned: Aligned, subset: Subset, step: Ints, candidate: Ints, reference: Ints, keep: float) -> Floats:
    """What each candidate gains at its step: over the references it covers, keep^(earlier steps that cover it).

    A candidate has a row with a value for each reference of its document, 0 where it does not cover it.
    """
    chosen = np.flatnonzero(aligned.references_in(subset))
    document = aligned.references.document
    column = np.zeros(len(document), dtype=np.int64)
    column[chosen] = position(document[chosen])
    first = np.diff(candidate, prepend=-1) != 0
    width = aligned.count_references(subset)[document[reference[first]]]
    start = np.cumsum(width) - width
    each = np.zeros(int(width.sum()))
    each[start[candidate] + column[reference]] = _power(keep, _earlier(step[candidate], reference))
    return row_sums(each, start, width)
