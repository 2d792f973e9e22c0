"""Spearman's rho of weighted rows, and the influence of each row on it."""

from __future__ import annotations

import numpy as np

from karat.stats.base import Floats, Ints

FLAT = 1e-9  # a spread that rounding alone can make


def spearman(levels: Floats, weights: Floats) -> Floats:
    """Return Spearman's rho of levels[rows, 2] with weights[..., rows]: Pearson's r of mean ranks, NaN where undefined.

    Levels number the distinct values of each column from 0; a row with weight 2 is two equal rows.

    >>> float(spearman(np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [3.0, 3.0]]), np.ones(4)))
    0.8
    """
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        ranks = [_ranks(column.astype(np.int64), weights) for column in levels.T]
        u, v = (each - (weights * each).sum(axis=-1, keepdims=True) / total for each in ranks)
        spread = (weights * u * u).sum(axis=-1) * (weights * v * v).sum(axis=-1)
        r = np.where(
            spread > FLAT, (weights * u * v).sum(axis=-1) / np.sqrt(np.where(spread > FLAT, spread, 1)), np.nan
        )
    return np.asarray(np.clip(r, -1.0, 1.0))


def _ranks(level: Ints, weights: Floats) -> Floats:
    """Return the rank of each row within each resample, equal ones sharing their mean rank."""
    order = np.argsort(level, kind="stable")
    if not len(order):
        return np.zeros_like(weights)
    starts = np.searchsorted(level[order], np.arange(level.max() + 1))
    ties = np.add.reduceat(weights[..., order], starts, axis=-1)  # [..., levels]
    return np.asarray((np.cumsum(ties, axis=-1) - (ties - 1) / 2)[..., level])


def spearman_influence(levels: Floats) -> Floats:
    """Return the influence of each row of levels[rows, 2] on Spearman's rho, [rows], in n log n steps.

    A row counts by its own ranks and by how it moves the ranks of all others (Croux and Dehon 2010, with mean ranks for
    ties). Zeros where rho is undefined.

    >>> spearman_influence(np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])).round(3).tolist()
    [0.2, -0.2, -0.2, 0.2]
    """
    n = len(levels)
    if n < 2:
        return np.zeros(n)
    columns = [column.astype(np.int64) for column in levels.T]
    ranks = [(_ranks(column, np.ones(n)) - 0.5) / n - 0.5 for column in columns]  # of mean 0, within ±.5
    x, y = ranks
    about = [_moved(columns[0], x, x), _moved(columns[1], y, y)]
    across = _moved(columns[0], x, y) + _moved(columns[1], y, x)
    spread_x, spread_y, both = float((x * x).mean()), float((y * y).mean()), float((x * y).mean())
    if min(spread_x, spread_y) * n * n <= FLAT:
        return np.zeros(n)
    rho = both / np.sqrt(spread_x * spread_y)
    of_both = x * y - both + across
    of_x, of_y = x * x - spread_x + 2 * about[0], y * y - spread_y + 2 * about[1]
    influence = of_both / np.sqrt(spread_x * spread_y) - rho / 2 * (of_x / spread_x + of_y / spread_y)
    influence = (influence - influence.mean()) / (n - 1)  # as leave-one-out, which is n / (n − 1) times the limit
    return np.asarray(influence)


def _moved(level: Ints, ranks: Floats, other: Floats) -> Floats:
    """Return by how much each row moves Σ ranks · other / n through the ranks of the rows above it and beside it."""
    sums = np.bincount(level, other)
    above = np.concatenate([np.cumsum(sums[::-1])[::-1][1:], [0.0]])
    mean = float(other.mean())
    return np.asarray((above + sums / 2)[level] / len(level) - mean / 2 - float((ranks * other).mean()))
