"""BM25: how well documents match queries (Robertson and Zaragoza 2009), with Lucene's idf.

    score(q, d) = Σ over the terms t of q   qtf(t) · idf(t) · tf(t, d) / (tf(t, d) + k1 · (1 − b + b · |d| / mean |d|))
    idf(t) = ln(1 + (N − df(t) + 0.5) / (df(t) + 0.5))

Terms are added in the order of their numbers, and scores are rounded to single precision, as trec_eval holds them.
Documents of equal scores stand in the order of their ids from the last to the first, as trec_eval puts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.matching.columns import Floats, Ints

Singles = NDArray[np.float32]
AT_ONCE = 1 << 22  # scores that are held at a time


@dataclass(frozen=True, slots=True)
class Ranked:
    """The ranking of one query: numbers of documents, best first, and their scores."""

    documents: Ints
    scores: Singles


def term_weights(counts: Any, lengths: Floats, k1: float, b: float) -> Any:
    """What each term of each document adds to a score, [terms, documents], of counts[documents, terms].

    A document without terms has length 0, and counts among the N documents and for their mean length.
    """
    weights = counts.T.tocsr()  # [terms, documents]
    weights.sort_indices()
    documents = weights.shape[1]
    df = np.diff(weights.indptr)
    idf = np.log(1 + (documents - df + 0.5) / (df + 0.5))
    mean = float(lengths.mean()) if documents else 0.0
    norm = k1 * (1 - b + b * lengths / mean) if mean > 0 else np.full(documents, k1)
    tf = weights.data.astype(np.float64)
    weights.data = tf / (tf + norm[weights.indices]) * np.repeat(idf, df)
    return weights


def search(queries: Any, weights: Any, order: Ints, depth: int) -> Iterator[Ranked]:
    """The best documents of each query, of queries[queries, terms] and weights[terms, documents].

    `order` is the place of each document among all ids in their order.
    """
    step = max(AT_ONCE // max(weights.shape[1], 1), 1)
    for start in range(0, queries.shape[0], step):
        scores = (queries[start : start + step] @ weights).tocsr()
        for first, last in zip(scores.indptr[:-1], scores.indptr[1:], strict=True):
            documents = scores.indices[first:last].astype(np.int64)
            yield best(documents, scores.data[first:last].astype(np.float32), order, depth)


def best(documents: Ints, scores: Singles, order: Ints, depth: int) -> Ranked:
    """The first so many of some documents: by score, equal scores by id, both from the highest on.

    >>> found = best(np.array([0, 1, 2]), np.array([1, 2, 2], dtype=np.float32), np.array([0, 1, 2]), 2)
    >>> found.documents.tolist(), found.scores.tolist()
    ([2, 1], [2.0, 2.0])
    """
    if len(documents) > depth:
        least = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        keep = scores >= least  # more than so many, where scores are equal to the last one
        documents, scores = documents[keep], scores[keep]
    ranks = np.lexsort((order[documents], scores))[::-1][:depth]
    return Ranked(documents[ranks], scores[ranks])
