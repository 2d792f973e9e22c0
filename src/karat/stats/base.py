"""What all statistics share: columns of numbers, what counts as equal, and percentile intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALIKE = 1e-12  # differences that rounding alone can make


def interval(resampled: Floats, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of a statistic from its resamples; those that are undefined are left out.

    >>> interval(np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan]), level=0.5)
    (1.0, 3.0)
    """
    defined = resampled[~np.isnan(resampled)]
    if not len(defined):
        return np.nan, np.nan
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high
