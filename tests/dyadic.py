"""The dyadic variance by hand, with dense matrices."""

from __future__ import annotations

import numpy as np


def sharing(pairs: list[list[int]] | np.ndarray) -> np.ndarray:
    """The matrix that is 1 where two pairs share a document, by a double loop."""
    sets = [set(pair) for pair in np.asarray(pairs).tolist()]
    return np.array([[float(bool(one & other)) for other in sets] for one in sets])


def correlation(ratio: float, shares: np.ndarray) -> float:
    """The correlation of pairs that share a document, 0 to ½, with which u'Au / u'u is expected, by bisection."""
    n = len(shares)
    centre = np.eye(n) - 1 / n
    low, high = 0.0, 0.5
    for _ in range(60):
        middle = (low + high) / 2
        inside = centre @ working_model(middle, shares) @ centre
        low, high = (middle, high) if np.trace(inside @ shares) / np.trace(inside) < ratio else (low, middle)
    return low


def working_model(rho: float, shares: np.ndarray) -> np.ndarray:
    """The covariance of errors with variance 1 and correlation ρ between pairs that share a document."""
    return np.asarray((1 - rho) * np.eye(len(shares)) + rho * shares)


def correction(ratio: float, shares: np.ndarray) -> tuple[float, float]:
    """(the factor by which u'Au is too small, its degrees of freedom), from the moments of a quadratic form."""
    n = len(shares)
    centre = np.eye(n) - 1 / n
    sigma = working_model(correlation(ratio, shares), shares)
    quadratic = centre @ shares @ centre @ sigma
    mean, variance = float(np.trace(quadratic)), float(2 * np.trace(quadratic @ quadratic))
    return float(sigma.sum()) / mean, max(2 * mean**2 / variance, 1.0)
