"""Dyadic-cluster-robust variance of statistics of pairs of documents.

Two pairs that share a document are dependent. With the influence u of each pair on a statistic, and A the matrix that
is 1 where two pairs share a document (a pair with itself included), the variance is (Fafchamps and Gubert 2007; Aronow,
Samii and Assenova 2015)

    V = u'Au = Σ_d s_d² − Σ u²,        s_d the sum over the pairs of document d

Rows of the same pair (several systems) are added up first. V is too small where few documents carry many pairs, since
influences are deviations from an estimate. Both the factor that corrects it and its degrees of freedom follow from a
working model of the pairs, as in Bell and McCaffrey (2002): errors with variance 1 and correlation ρ between pairs that
share a document, Σ = (1 − ρ)I + ρA. With P = MAM, where M subtracts the mean,

    E u'Au ∝ e = (1 − ρ) tr P + ρ tr P²,        factor = 1'Σ1 / e
    ν = e² / ((1 − ρ)² tr P² + 2ρ(1 − ρ) tr P³ + ρ² tr P⁴)        (Satterthwaite)

and ρ, between 0 and ½, is the one with which u'Au / u'u is as expected. Of disjoint pairs this is n / (n − 1) and
n − 1. The variance is at least that of independent pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.stats.base import Floats, Ints

LARGEST_SQUARE = 20_000_000  # entries of a sparse product; above, traces are estimated
PROBES = 12  # random vectors that estimate traces
LARGEST_CORRELATION = 0.5  # of two pairs that share one document


@dataclass(frozen=True, slots=True)
class DyadicVariance:
    """A dyadic-cluster-robust variance of a sum of influences of pairs."""

    variance: Floats
    df: Floats
    documents: int
    independent: Floats  # the variance if pairs were independent
    raised: NDArray[np.bool_]  # whether the variance of independent pairs is used, being the larger one
    effective: float  # the number of independent pairs that are worth as much
    shares: bool = False  # whether any two pairs share a document

    @property
    def complete(self) -> bool:
        """Whether all pairs share documents with each other, as those of one hub."""
        return self.shares and self.effective <= 1 + 1e-9


@dataclass(frozen=True, slots=True)
class PairGraph:
    """The pairs of documents, each once, and the traces of tr P, tr P², tr P³ and tr P⁴."""

    pair: Ints  # [rows], the number of the pair of each row
    incidence: Any  # sparse [documents, pairs]
    neighbours: float  # Σ A
    traces: tuple[float, float, float, float]

    @property
    def pairs(self) -> int:
        """The number of distinct pairs."""
        return int(self.incidence.shape[1])

    @property
    def documents(self) -> int:
        """The number of documents."""
        return int(self.incidence.shape[0])

    @property
    def effective(self) -> float:
        """The number of independent pairs that are worth as much, n² / Σ A."""
        return self.pairs**2 / self.neighbours

    @property
    def shares(self) -> bool:
        """Whether any two pairs share a document."""
        return self.documents < 2 * self.pairs

    def by_pair(self, rows: Floats) -> Floats:
        """Add up the rows of each pair, [..., pairs] of [..., rows]."""
        if len(self.pair) == self.pairs:
            return rows[..., np.argsort(self.pair)]
        flat = rows.reshape(-1, rows.shape[-1])
        sums = np.stack([np.bincount(self.pair, row, minlength=self.pairs) for row in flat])
        return np.asarray(sums.reshape(*rows.shape[:-1], self.pairs), dtype=np.float64)

    def by_document(self, values: Floats) -> Floats:
        """Add up the pairs of each document, [trials, documents] of [trials, pairs]."""
        return np.asarray((self.incidence @ values.T).T)

    def moments(self, correlation: Floats) -> tuple[Floats, Floats]:
        """Return (the factor that corrects V, its degrees of freedom) under the working model."""
        first, second, third, fourth = self.traces
        rest = 1 - correlation
        expected = rest * first + correlation * second
        factor = (rest * self.pairs + correlation * self.neighbours) / expected
        spread = rest**2 * second + 2 * correlation * rest * third + correlation**2 * fourth
        return factor, np.maximum(expected**2 / spread, 1.0)

    def correlation(self, ratio: Floats) -> Floats:
        """Return the ρ with which u'Au / u'u is expected to be `ratio`."""
        first, second, _, _ = self.traces
        count = self.pairs - 1
        below = second - first - ratio * (first - count)
        with np.errstate(divide="ignore", invalid="ignore"):
            correlation = np.where(below > 0, (ratio * count - first) / below, 0.0)
        return np.clip(correlation, 0.0, LARGEST_CORRELATION)


def pair_graph(pairs: Ints) -> PairGraph:
    """Return the graph of pairs[rows, 2]."""
    return _graph(np.ascontiguousarray(pairs, dtype=np.int64).tobytes())


@lru_cache(maxsize=16)
def _graph(pairs: bytes) -> PairGraph:
    from scipy.sparse import csr_array

    ends = np.sort(np.frombuffer(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
    documents, numbers = np.unique(ends, return_inverse=True)
    numbers = numbers.reshape(-1, 2)
    distinct, pair = np.unique(numbers[:, 0] * len(documents) + numbers[:, 1], return_inverse=True)
    n = len(distinct)
    places = np.stack(np.divmod(distinct, max(len(documents), 1)))
    data = (np.ones(2 * n), (places.reshape(-1), np.tile(np.arange(n), 2)))
    incidence = csr_array(data, shape=(len(documents), n))
    return PairGraph(np.asarray(pair), incidence, *_neighbours_and_traces(incidence))


def _neighbours_and_traces(incidence: Any) -> tuple[float, tuple[float, float, float, float]]:
    """Return (Σ A, the traces of P, P², P³ and P⁴), with A = B'B − I for the incidence B of documents and pairs."""
    n = incidence.shape[1]
    degrees = np.asarray(incidence.sum(axis=1)).reshape(-1)
    entries = float(degrees @ degrees)
    sums = [np.ones(n)]
    for _ in range(4):
        sums.append(incidence.T @ (incidence @ sums[-1]) - sums[-1])
    a, b, c, d = (float(values.sum()) / max(n, 1) for values in sums[1:])  # x'A^k x with x = 1 / √n
    first, second = n - a, entries - n - 2 * b + a**2
    if entries > LARGEST_SQUARE:
        return n * a, (first, second, *_estimate_traces(incidence))
    gram = (incidence @ incidence.T).tocsr()  # the powers of BB' have the traces of those of B'B
    square = (gram @ gram).tocsr()
    one, two = 2.0 * n, entries + 2 * n
    three, four = float((square * gram).sum()), float((square * square).sum())
    third = three - 3 * two + 3 * one - n - 3 * c + 3 * a * b - a**3
    fourth = four - 4 * three + 6 * two - 4 * one + n - 4 * d + 4 * a * c + 2 * b**2 - 4 * a**2 * b + a**4
    return n * a, (first, second, third, fourth)


def _estimate_traces(incidence: Any) -> tuple[float, float]:
    """Estimate the traces of P³ and P⁴: exactly in the directions of the largest eigenvalues, which hubs cause, and by
    random signs elsewhere (Meyer, Musco, Musco and Woodruff 2021).
    """

    def multiply(values: Floats) -> Floats:
        values = values - values.mean(axis=0)
        moved = incidence.T @ (incidence @ values) - values
        return np.asarray(moved - moved.mean(axis=0))

    signs = np.where(np.random.default_rng(0).random((2, incidence.shape[1], PROBES)) < 0.5, -1.0, 1.0)
    largest = np.linalg.qr(multiply(multiply(signs[0])))[0]
    rest = (signs[1] - largest @ (largest.T @ signs[1])) / np.sqrt(PROBES)
    third, fourth = 0.0, 0.0
    for vectors in (largest, rest):
        once = multiply(vectors)
        twice = multiply(once)
        third, fourth = third + float((once * twice).sum()), fourth + float((twice * twice).sum())
    return third, fourth


def dyadic_variance(influence: Floats, pairs: Ints, scale: Floats | None = None) -> DyadicVariance:
    """Return the variance of the sum of influences[..., rows], where rows of pairs[rows, 2] that share a document are
    dependent.

    Args:
        influence: of each row; rows of the same pair are added up.
        pairs: the two documents of each row.
        scale: the factor of the error of a row in its influence, [rows], where it differs between rows, as in a
            regression; the correction is larger where few documents have the largest factors.
    """
    shape = influence.shape[:-1]
    graph = pair_graph(pairs)
    n = graph.pairs
    if n < 2:
        undefined, raised = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
        return DyadicVariance(undefined, np.ones(shape), graph.documents, undefined, raised, float(n))
    values = graph.by_pair(influence.reshape(-1, influence.shape[-1]))
    squares = (values**2).sum(axis=-1)
    dyadic = (graph.by_document(values) ** 2).sum(axis=-1) - squares
    independent = squares * n / (n - 1)
    if graph.traces[0] <= 1e-9 * n:  # all pairs share documents with each other: influences tell nothing of dependence
        alone = independent.reshape(shape)
        return DyadicVariance(alone, np.ones(shape), graph.documents, alone, alone > 0, graph.effective, graph.shares)
    ratio = dyadic / np.where(squares > 0, squares, 1.0)
    factor, df = graph.moments(graph.correlation(np.where(squares > 0, ratio, 0.0)))
    if scale is not None:
        factor = factor * (1 - 1 / graph.effective) / (1 - 1 / max(_effective(graph, scale), 1.5))
    variance = np.maximum(dyadic * factor, independent)
    raised = variance > dyadic * factor * (1 + 1e-9)
    return DyadicVariance(
        variance.reshape(shape),
        df.reshape(shape),
        graph.documents,
        independent.reshape(shape),
        (raised & (squares > 0)).reshape(shape),
        graph.effective,
        graph.shares,
    )


def _effective(graph: PairGraph, scale: Floats) -> float:
    """Return the effective number of independent pairs, (Σ c²)² / Σ A c² c², of rows with factors c."""
    squares = graph.by_pair(scale**2)
    shared = float((graph.by_document(squares[None]) ** 2).sum() - (squares**2).sum())
    return float(squares.sum() ** 2 / shared) if shared > 0 else graph.effective


def dyadic_covariance(influence: Floats, pairs: Ints) -> Floats:
    """Return the covariance matrix of several sums of influences[tests, rows]; see `dyadic_variance`.

    The dyadic covariance C is compared with that of independent pairs, D: along directions in which C is smaller than
    D, D counts, so that the matrix is positive semidefinite and no variance is below that of independent pairs.
    """
    graph = pair_graph(pairs)
    values = graph.by_pair(influence)
    independent = values @ values.T
    sums = graph.by_document(values)
    dyadic = sums @ sums.T - independent
    sizes, vectors = np.linalg.eigh(independent)
    positive = sizes > 1e-12 * max(float(sizes.max(initial=0.0)), 1e-300)
    root = vectors[:, positive] * np.sqrt(sizes[positive])  # D = root root'
    inverse = vectors[:, positive] / np.sqrt(sizes[positive])
    ratios, rotation = np.linalg.eigh(inverse.T @ dyadic @ inverse)
    axes = root @ rotation
    return np.asarray((axes * np.maximum(ratios, 1.0)) @ axes.T)


def combinations(rows: int, columns: int, most: int, seed: int) -> tuple[Ints, Ints]:
    """Return all combinations of a row and a column, or a sample of at most `most` of them where they are more.

    >>> [indices.tolist() for indices in combinations(2, 2, 9, 0)], len(combinations(100, 100, 9, 0)[0])
    ([[0, 0, 1, 1], [0, 1, 0, 1]], 9)
    """
    total = rows * columns
    random = np.random.default_rng(seed)
    chosen = np.arange(total) if total <= most else np.unique(random.integers(total, size=most))
    row, column = np.divmod(chosen, max(columns, 1))
    return row, column
