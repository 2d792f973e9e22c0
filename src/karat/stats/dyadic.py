"""The variance of statistics of pairs of documents that share documents (Fafchamps and Gubert 2007)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.stats.base import Floats, Ints


@dataclass(frozen=True, slots=True)
class DyadicVariance:
    """A dyadic-cluster-robust variance of a sum of influences of pairs."""

    variance: Floats
    df: Floats
    documents: int
    independent: Floats  # the variance if pairs were independent
    raised: bool = False  # whether the variance of independent pairs is used, being the larger one


def dyadic_variance(influence: Floats, pairs: Ints) -> DyadicVariance:
    """Return the variance of the sum of influences[..., pairs], where pairs[pairs, 2] that share a document are
    dependent.

    V = Σ u_k u_l over all k and l that share a document (Aronow, Samii and Assenova 2015), with a small-sample
    factor N / (N − 1) for N documents.
    """
    n = influence.shape[-1]
    documents = int(np.unique(pairs).size)
    if n < 2:
        nothing = np.full(influence.shape[:-1], np.nan)
        return DyadicVariance(nothing, np.ones(influence.shape[:-1]), documents, nothing)
    numbers = np.unique(pairs, return_inverse=True)[1].reshape(-1, 2)
    flat = influence.reshape(-1, n)
    sums = np.zeros((len(flat), documents))
    for side in range(2):
        for row, values in enumerate(flat):
            sums[row] += np.bincount(numbers[:, side], values, minlength=documents)
    ordered = np.sort(numbers, axis=1)
    same = np.unique(ordered[:, 0] * documents + ordered[:, 1], return_inverse=True)[1]
    twice = np.stack([np.bincount(same, values) for values in flat])
    dyadic = (sums**2).sum(axis=-1) - (twice**2).sum(axis=-1)
    independent = (flat**2).sum(axis=-1) * n / (n - 1)
    variance = np.maximum(dyadic * documents / (documents - 1), independent)
    shape = influence.shape[:-1]
    df = np.full(shape, max(documents - 1.0, 1.0))
    return DyadicVariance(
        variance.reshape(shape), df, documents, independent.reshape(shape), bool((dyadic < independent).any())
    )


def dyadic_covariance(influence: Floats, pairs: Ints) -> Floats:
    """Return the covariance matrix of several sums of influences[tests, pairs]; see `dyadic_variance`."""
    documents = int(pairs.max(initial=-1)) + 1
    sums = np.zeros((len(influence), documents))
    for side in range(2):
        for row, values in enumerate(influence):
            sums[row] += np.bincount(pairs[:, side], values, minlength=documents)
    ordered = np.sort(pairs, axis=1)
    same = np.unique(ordered[:, 0] * documents + ordered[:, 1], return_inverse=True)[1]
    twice = np.stack([np.bincount(same, values) for values in influence])
    return np.asarray(sums @ sums.T - twice @ twice.T)
