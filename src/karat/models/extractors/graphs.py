"""Graphs of words, and PageRank as networkx computes it.

Ranks that are equal on paper often differ in the last bit of a float, and which of two such phrases comes first then
hangs on the order in which numbers were added up. That order is kept here: rows are summed as scipy's sparse
matrices sum them, and a step of the walk adds up what each node gives, from the first node to the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DAMPING = 0.85
STEPS = 100
DENSE = 300  # nodes up to which a square matrix is quicker than a sparse one


@dataclass(frozen=True, slots=True)
class Graph:
    """Edges from rows to columns, each pair once, sorted by row and then by column."""

    nodes: int
    rows: Ints
    columns: Ints
    weights: Floats


def walk(graph: Graph, jump: Floats | None = None, tolerance: float = 1e-6) -> Floats:
    """The PageRank of each node; `jump` has where a walker goes who jumps, evenly if it is not given.

    >>> star = Graph(3, np.array([0, 1, 2]), np.array([1, 0, 0]), np.ones(3))
    >>> walk(star).round(3).tolist()
    [0.486, 0.464, 0.05]
    """
    if not graph.nodes:
        return np.zeros(0)
    out = np.zeros(graph.nodes)
    starts = np.searchsorted(graph.rows, np.arange(graph.nodes + 1))
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        out[filled] = 1.0 / np.add.reduceat(graph.weights, starts[filled])
    share = out[graph.rows] * graph.weights
    return iterate(graph.nodes, _step(graph, share), np.flatnonzero(out == 0), jump, tolerance)


def iterate(
    nodes: int,
    step: Callable[[Floats], Floats],
    dangling: Ints,
    jump: Floats | None = None,
    tolerance: float = 1e-6,
) -> Floats:
    """Where walkers are after as many steps as it takes; those on dangling nodes jump."""
    ranks = np.full(nodes, 1.0 / nodes)
    landing = ranks if jump is None else jump / jump.sum()
    rest = (1 - DAMPING) * landing
    for _ in range(STEPS):
        last = ranks
        lost = sum(last[dangling])
        ranks = DAMPING * (step(last) + lost * landing) + rest
        if np.absolute(ranks - last).sum() < nodes * tolerance:
            break
    return ranks


def _step(graph: Graph, share: Floats) -> Callable[[Floats], Floats]:
    """What makes the next ranks of the ranks, without jumps."""
    if graph.nodes <= DENSE:
        dense = np.zeros((graph.nodes, graph.nodes))
        dense[graph.rows, graph.columns] = share
        # A sum over the first axis adds row by row, whereas a product of matrices would add as it sees fit.
        return lambda ranks: np.add.reduce(dense * ranks[:, None], axis=0)
    from scipy.sparse import csr_array

    shape = (graph.nodes, graph.nodes)
    order = np.lexsort((graph.rows, graph.columns))
    into: Any = csr_array((share[order], (graph.columns[order], graph.rows[order])), shape=shape)
    into.sort_indices()
    return lambda ranks: np.asarray(into @ ranks)


def of_matrix(weights: Floats) -> Graph:
    """The graph of a square matrix; a zero is no edge."""
    rows, columns = np.nonzero(weights)
    return Graph(len(weights), rows, columns, weights[rows, columns])


# ------------------------------------------------------------------------------------------------- words of a text


def word_graph(
    stems: Sequence[str], valid: Sequence[bool], window: int, weights: Floats | None = None
) -> tuple[Graph, dict[str, int]]:
    """The graph of the valid words that stand less than `window` words apart, and the number of each node.

    An edge weighs as much as its words stand together that often; `weights` says how many times each word counts.
    """
    number: dict[str, int] = {}
    nodes = [number.setdefault(stem, len(number)) if ok else -1 for stem, ok in zip(stems, valid, strict=True)]
    row = np.array(nodes, dtype=np.int64)
    keys, counts = [], []
    for apart in range(1, min(window, len(row))):
        left, right = row[:-apart], row[apart:]
        both = np.flatnonzero((left >= 0) & (right >= 0) & (left != right))
        keys += [left[both] * len(number) + right[both], right[both] * len(number) + left[both]]
        if weights is not None:
            counts += [weights[both] * weights[both + apart]] * 2
    return _summed(len(number), keys, counts), number


def _summed(nodes: int, keys: Sequence[Ints], counts: Sequence[Floats]) -> Graph:
    """The graph of edges that are given as row · nodes + column, each as often as it is found."""
    every = np.concatenate([np.zeros(0, dtype=np.int64), *keys])
    amounts = np.concatenate(counts) if counts else None
    if nodes * nodes <= 4 * len(every) + DENSE:
        sums = np.bincount(every, amounts, minlength=nodes * nodes)
        edges = np.flatnonzero(sums)
        return Graph(nodes, edges // nodes, edges % nodes, sums[edges].astype(np.float64))
    edges, places = np.unique(every, return_inverse=True)
    sums = np.bincount(places, amounts, minlength=len(edges))
    return Graph(nodes, edges // max(nodes, 1), edges % max(nodes, 1), sums.astype(np.float64))
