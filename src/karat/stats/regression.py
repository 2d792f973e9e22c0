"""Ordinary least squares with standard errors that allow for rows that share documents.

The influence of a row on a coefficient is c e / √(1 − h), with the residual e, the leverage h and c the row of
(X'X)⁻¹X' (HC2; MacKinnon and White 1985). Rows that share a document are dependent, so variance and degrees of freedom
are those of `karat.stats.dyadic`; rows of the same two documents, as those of several systems, count as one pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.stats.base import Floats, Ints
from karat.stats.dyadic import dyadic_variance, pair_graph
from karat.stats.influence import degrees_of_freedom
from karat.stats.resampling import grouped_sums

FLAT = 1e-9  # what rounding alone can leave of a column, in parts of its length


@dataclass(frozen=True, slots=True)
class Coefficient:
    """By how much the outcome rises with one of a column, other columns being equal."""

    name: str
    value: float
    error: float  # dyadic-robust standard error
    t: float
    p: float  # two-sided
    interval: tuple[float, float]
    df: float  # degrees of freedom of t
    inflation: float  # how many times its variance is that of a column that goes with no other


@dataclass(frozen=True, slots=True)
class Fit:
    """A regression: its coefficients, without the intercepts, and what it explains."""

    coefficients: tuple[Coefficient, ...]
    rows: int
    documents: int
    effective: float  # the number of independent pairs that are worth as much as these
    r2: float  # the share of the variance that is explained; within groups where these have their own intercepts


def independent(columns: Floats, names: Sequence[str]) -> tuple[list[int], list[tuple[str, str]]]:
    """Return (the columns that are linearly independent, from the left; the names of the others with the reason).

    >>> independent(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 3.0], [5.0, 10.0, 3.0]]), ["x", "y", "z"])
    ([0], [('y', 'goes exactly with x'), ('z', 'is the same everywhere')])
    """
    used: list[int] = []
    dropped: list[tuple[str, str]] = []
    basis: list[Floats] = []
    for j, name in enumerate(names):
        centred = columns[:, j] - (columns[:, j].mean() if len(columns) else 0.0)
        length = float(np.sqrt(centred @ centred))
        if length <= FLAT * max(1.0, float(np.abs(columns[:, j]).max(initial=0.0))) * max(len(columns), 1):
            dropped.append((name, "is the same everywhere"))
            continue
        residual = centred / length
        for _ in range(2):  # twice, so that rounding leaves nothing
            for vector in basis:
                residual = residual - (residual @ vector) * vector
        rest = float(np.sqrt(residual @ residual))
        if rest <= 1e-7:
            others = " and ".join(names[i] for i in used)
            dropped.append((name, f"goes exactly with {others}"))
        else:
            used.append(j)
            basis.append(residual / rest)
    return used, dropped


def within(values: Floats, group: Ints) -> Floats:
    """Subtract the mean of each group, so that each group has its intercept.

    >>> within(np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1])).tolist()
    [[-1.0], [1.0], [0.0]]
    """
    groups = int(group.max(initial=-1)) + 1
    count = np.bincount(group, minlength=groups)
    means = grouped_sums(values, group, groups) / np.maximum(count, 1)[:, None]
    return np.asarray(values - means[group])


def least_squares(
    y: Floats, x: Floats, names: Sequence[str], group: Ints, units: Ints, level: float = 0.95
) -> Fit | None:
    """Regress y[rows] on x[rows, columns], with an intercept for each group and dyadic-robust standard errors.

    Args:
        y: the outcome.
        x: the columns, which must be independent (see `independent`).
        names: of the columns.
        group: the group of each row, numbered from 0.
        units: the document of each row, [rows], or its two documents, [rows, 2].
        level: of the intervals.

    Returns:
        The fit; None where there are too few rows or pairs for any error.
    """
    from scipy.special import stdtr, stdtrit

    pairs = units if units.ndim == 2 else np.stack([2 * units, 2 * units + 1], axis=1)  # rows of a document: one pair
    groups, graph = len(np.unique(group)), pair_graph(pairs)
    n, k = len(y), x.shape[1] + groups
    if n <= k or graph.pairs < 2 or not x.shape[1]:
        return None
    centred_x, centred_y = within(x, group), within(y[:, None], group)[:, 0]
    inverse = np.linalg.inv(centred_x.T @ centred_x)
    values = inverse @ (centred_x.T @ centred_y)
    residuals = centred_y - centred_x @ values
    if np.abs(residuals).max() <= FLAT * np.abs(y).max(initial=0.0):
        residuals = np.zeros(n)
    scales = (centred_x @ inverse).T  # [columns, rows]
    leverage = (centred_x.T * scales).sum(axis=0) + 1 / np.bincount(group)[group]
    influence = scales * residuals / np.sqrt(np.maximum(1 - leverage, FLAT))
    inflations = np.diag(inverse) * (centred_x * centred_x).sum(axis=0)
    coefficients = []
    for name, value, row, scale, inflation in zip(names, values, influence, scales, inflations, strict=True):
        dyadic = dyadic_variance(row, pairs, scale)
        error = float(np.sqrt(dyadic.variance))
        df = float(np.minimum(dyadic.df, degrees_of_freedom(graph.by_pair(row))))
        t = float(value) / error if error > 0 else np.nan
        p = float(2 * stdtr(df, -abs(t))) if error > 0 else np.nan
        half = float(stdtrit(df, (1 + level) / 2)) * error
        ends = (float(value) - half, float(value) + half)
        coefficients.append(Coefficient(name, float(value), error, t, p, ends, df, float(inflation)))
    total = float(centred_y @ centred_y)
    r2 = 1 - float(residuals @ residuals) / total if total > 0 else np.nan
    documents = graph.documents if units.ndim == 2 else graph.pairs
    return Fit(tuple(coefficients), n, documents, graph.effective, r2)
