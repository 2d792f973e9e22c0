"""Ordinary least squares with errors that allow for rows that belong together, and by resamples of documents.

The standard errors are those of clusters (Liang and Zeger 1986): with the residuals e and the columns X of each cluster
g, V = c (X'X)⁻¹ (Σ X_g'e_g e_g'X_g) (X'X)⁻¹ and c = G/(G − 1) · (n − 1)/(n − k), of which t has G − 1 degrees of
freedom. Where every row is a cluster of its own these are the errors that allow for unequal variances (HC1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.stats.base import Floats, Ints
from karat.stats.resampling import Sample, grouped_sums

FLAT = 1e-9  # what rounding alone can leave of a column, in parts of its length


@dataclass(frozen=True, slots=True)
class Coefficient:
    """By how much the outcome rises with one of a column, other columns being equal."""

    name: str
    value: float
    error: float  # standard error by clusters
    t: float
    p: float  # two-sided
    interval: tuple[float, float]
    inflation: float  # how many times its variance is that of a column that goes with no other


@dataclass(frozen=True, slots=True)
class Fit:
    """A regression: its coefficients, without the intercepts, and what it explains."""

    coefficients: tuple[Coefficient, ...]
    rows: int
    clusters: int
    r2: float  # the share of the variance that is explained; within groups where these have their own intercepts


def independent(columns: Floats, names: Sequence[str]) -> tuple[list[int], list[tuple[str, str]]]:
    """(the columns that a regression can tell apart, each other one with why not), taken from the left.

    >>> independent(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 3.0], [5.0, 10.0, 3.0]]), ["x", "y", "z"])
    ([0], [('y', 'goes exactly with x'), ('z', 'is the same everywhere')])
    """
    kept: list[int] = []
    dropped: list[tuple[str, str]] = []
    basis: list[Floats] = []
    for j, name in enumerate(names):
        moved = columns[:, j] - (columns[:, j].mean() if len(columns) else 0.0)
        length = float(np.sqrt(moved @ moved))
        if length <= FLAT * max(1.0, float(np.abs(columns[:, j]).max(initial=0.0))) * max(len(columns), 1):
            dropped.append((name, "is the same everywhere"))
            continue
        left = moved / length
        for _ in range(2):  # twice, so that rounding leaves nothing
            for each in basis:
                left = left - (left @ each) * each
        rest = float(np.sqrt(left @ left))
        if rest <= 1e-7:
            others = " and ".join(names[i] for i in kept)
            dropped.append((name, f"goes exactly with {others}"))
        else:
            kept.append(j)
            basis.append(left / rest)
    return kept, dropped


def within(values: Floats, group: Ints) -> Floats:
    """The columns less their mean in each group, so that each group has an intercept of its own.

    >>> within(np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1])).tolist()
    [[-1.0], [1.0], [0.0]]
    """
    groups = int(group.max(initial=-1)) + 1
    count = np.bincount(group, minlength=groups)
    means = grouped_sums(values, group, groups) / np.maximum(count, 1)[:, None]
    return np.asarray(values - means[group])


def least_squares(
    y: Floats, x: Floats, names: Sequence[str], group: Ints, cluster: Ints, level: float = 0.95
) -> Fit | None:
    """The regression of y[rows] on x[rows, columns], with an intercept for each group, and errors by clusters.

    Columns must be independent (see `independent`). None where there are too few rows or clusters for any error.
    """
    from scipy.special import stdtr, stdtrit

    groups, clusters = len(np.unique(group)), len(np.unique(cluster))
    n, k = len(y), x.shape[1] + groups
    if n <= k or clusters < 2 or not x.shape[1]:
        return None
    moved_x, moved_y = within(x, group), within(y[:, None], group)[:, 0]
    inverse = np.linalg.inv(moved_x.T @ moved_x)
    values = inverse @ (moved_x.T @ moved_y)
    residuals = moved_y - moved_x @ values
    numbered = np.unique(cluster, return_inverse=True)[1]
    scores = grouped_sums(moved_x * residuals[:, None], numbered, clusters)
    factor = clusters / (clusters - 1) * (n - 1) / (n - k)
    errors = np.sqrt(np.maximum(np.diag(inverse @ (scores.T @ scores) @ inverse), 0.0) * factor)
    total = float(moved_y @ moved_y)
    r2 = 1 - float(residuals @ residuals) / total if total > 0 else np.nan
    reach = float(stdtrit(clusters - 1, (1 + level) / 2))
    found = []
    inflations = np.diag(inverse) * (moved_x * moved_x).sum(axis=0)
    columns = zip(names, values.tolist(), errors.tolist(), inflations.tolist(), strict=True)
    for name, value, error, inflation in columns:
        t = value / error if error > 0 else np.nan
        p = float(2 * stdtr(clusters - 1, -abs(t))) if error > 0 else np.nan
        ends = (value - reach * error, value + reach * error)
        found.append(Coefficient(name, value, error, t, p, ends, inflation))
    return Fit(tuple(found), n, clusters, r2)


def resampled(y: Floats, x: Floats, group: Ints, units: Ints, documents: int) -> list[Sample]:
    """The coefficients as samples whose documents can be drawn again, one for each column of x.

    The intercept of a group is that of the resample. `units` are the documents of each row, as in `Sample`.
    """
    groups, width = int(group.max(initial=-1)) + 1, x.shape[1] + 1
    both = within(np.column_stack([x, y]), group)  # close to 0, so that sums lose no digits
    parts = []
    for g in range(groups):
        own = (group == g).astype(np.float64)[:, None]
        products = (both[:, :, None] * both[:, None, :]).reshape(len(y), -1)
        parts.append(np.column_stack([own, own * both, own * products]))
    values = np.concatenate(parts, axis=1)
    return [Sample(values, _Solve(groups, width, j), units, documents=documents) for j in range(x.shape[1])]


@dataclass(frozen=True, slots=True)
class _Solve:
    """A coefficient from sums: of each group how many rows, their columns, and the products of every two columns."""

    groups: int
    width: int  # columns of x, then y
    column: int

    def __call__(self, sums: Floats) -> Floats:
        w = self.width
        parts = sums.reshape(*sums.shape[:-1], self.groups, 1 + w + w * w)
        count, total = parts[..., :1], parts[..., 1 : 1 + w]
        products = parts[..., 1 + w :].reshape(*parts.shape[:-1], w, w)
        with np.errstate(divide="ignore", invalid="ignore"):
            means = np.where(count > 0, total / np.where(count > 0, count, 1), 0.0)
        spread = (products - count[..., None] * means[..., :, None] * means[..., None, :]).sum(axis=-3)
        return _solved(spread[..., :-1, :-1], spread[..., :-1, -1])[..., self.column]


def _solved(square: Floats, right: Floats) -> Floats:
    """The solution of each system of equations, NaN where there is none."""
    flat, wanted = square.reshape(-1, *square.shape[-2:]), right.reshape(-1, right.shape[-1])
    scale = np.sqrt(np.maximum(np.einsum("rii->ri", flat), 0.0))
    safe = np.where(scale > 0, scale, 1.0)
    unit = flat / safe[:, :, None] / safe[:, None, :]
    usable = (scale > 0).all(axis=1) & (np.abs(np.linalg.det(unit)) > FLAT)
    unit[~usable] = np.eye(unit.shape[-1])
    found = np.linalg.solve(unit, (wanted / safe)[:, :, None])[:, :, 0] / safe
    found[~usable] = np.nan
    return np.asarray(found.reshape(right.shape))
