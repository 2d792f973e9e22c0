"""Intervals of how consistent names are, from the figures without each document.

Concepts stay as they are: without a document, the names of its phrases have one document less, and a name that only
this document has is gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.analyses.consistency.names import Floats, Ints, Names
from karat.stats.shares import Interval, inverse, left_out_intervals, named_intervals, ratio_intervals

ListedIntervals = Mapping[str, Mapping[str, Interval]]  # of names and of phrases, by how they are in a vocabulary

SHARES = ("concepts", "rival_names_share", "rival_phrases_share", "other_names_share")


def level_intervals(names: Names, group: Ints, level: float) -> dict[str, Interval]:
    """Return the intervals of the figures of a `Level`, given the concept of each name."""
    concepts = int(group.max(initial=-1)) + 1
    pairs, pair = np.unique(names.document * concepts + group[names.name], return_inverse=True)
    document, concept = np.divmod(pairs, max(concepts, 1))
    terms = _x_log_x(names.count)
    size, total, term = (np.bincount(group, each, concepts) for each in (None, names.count, terms))
    most = np.zeros(concepts, dtype=np.int64)
    np.maximum.at(most, group, names.count)
    is_most = names.count == most[group]
    # Of each document and concept: names that only this document has, phrases, most frequent names, terms that change.
    lost, phrases, tops, change = (
        np.bincount(pair.ravel(), each[names.name], len(pairs))
        for each in (names.count == 1, np.ones(len(terms)), is_most, _x_log_x(names.count - 1) - terms)
    )
    # Without the document, the most frequent names have one phrase less if the document has all of them.
    fewer = tops == np.bincount(group[is_most], minlength=concepts)[concept]
    before = _sums(size, total, most, term)
    after = _sums(size[concept] - lost, total[concept] - phrases, most[concept] - fewer, term[concept] + change)
    value = before.sum(axis=1, keepdims=True)
    without = value + [np.bincount(document, each, names.documents) for each in after - before[:, concept]]
    counts = (np.bincount(names.document, minlength=names.documents) > 0).astype(np.float64)
    whole, left = _ratios(value), _ratios(without)
    ends = named_intervals(SHARES, left_out_intervals(whole[:-1, 0], left[:-1], counts, level))
    most_bits = max(log2(max(len(names.name), 1)), 1.0)  # where all phrases are different names of one concept
    bits = left_out_intervals(whole[-1:, 0], left[-1:], counts, level, (0.0, most_bits))
    return {"names_per_concept": inverse(ends.pop("concepts"))} | ends | named_intervals(["entropy"], bits)


def _x_log_x(counts: Ints) -> Floats:
    return np.asarray(counts * np.log2(np.maximum(counts, 1)), dtype=np.float64)


def _sums(size: NDArray[Any], total: NDArray[Any], most: NDArray[Any], term: NDArray[Any]) -> Floats:
    """Return what concepts add to the sums of `_ratios`, [sums, concepts], from their names, phrases, phrases of the
    most frequent name, and Σ n log n of names."""
    rival = size > 1
    bits = np.where(rival, total * np.log2(np.maximum(total, 1)) - term, 0.0)
    return np.stack([size > 0, size, total, rival * size, rival * total, total - most, bits]).astype(np.float64)


def _ratios(sums: Floats) -> Floats:
    """Return concepts a name, the shares of rival names, rival phrases and other names, and the entropy."""
    concepts, names, phrases, rival_names, rival_phrases, others, bits = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.stack([concepts, rival_names, rival_phrases, others, bits])
        return np.asarray(parts / [names, names, phrases, phrases, phrases])


def listed_intervals(names: Names, ways: Ints, hows: Sequence[str], level: float) -> ListedIntervals:
    """Return the intervals of the shares of names and of phrases that are in a vocabulary in each way, given the way of
    each name as a place in `hows`."""
    shape = names.documents, len(hows)
    cells = names.document * len(hows) + ways[names.name]
    lost, phrases = (
        np.bincount(cells, each[names.name], names.documents * len(hows)).reshape(shape).T
        for each in (names.count == 1, np.ones(len(names.count)))
    )
    total = np.bincount(ways, minlength=len(hows))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        value, without = total[:, 0] / total.sum(), (total - lost) / (total - lost).sum(axis=0)
    of_names = left_out_intervals(value, without, (phrases.sum(axis=0) > 0).astype(np.float64), level)
    of_phrases = ratio_intervals(phrases, phrases.sum(axis=0), level)
    return {"names": named_intervals(hows, of_names), "phrases": named_intervals(hows, of_phrases)}
