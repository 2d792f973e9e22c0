"""How large a difference is, and how large it must be to be seen."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isnan, nan, sqrt

import numpy as np

from karat.errors import InputError
from karat.stats.correlation import ALIKE, Floats
from karat.stats.resampling import Estimate
from karat.stats.tests import ALPHA, differences

POWER = 0.8


@dataclass(frozen=True, slots=True)
class Effect:
    """How two systems' values of the same documents differ."""

    documents: int  # on which both are defined
    mean: float
    sd: float
    d_z: float
    superiority: float
    wins: int
    ties: int
    losses: int


def effect(x: Floats, y: Floats) -> Effect:
    """The effect sizes of x over y, values of the same documents.

    Cohen's d_z is the mean difference in standard deviations of the differences (Cohen 1988). The probability of
    superiority is the share of documents on which x is higher, those on which both are equal counting half.

    >>> found = effect(np.array([0.5, 0.75, 0.5, 1.0]), np.array([0.25, 0.75, 0.75, 0.5]))
    >>> round(found.d_z, 4), found.superiority
    (0.3873, 0.625)
    """
    d = differences(x, y)
    n, wins, losses = len(d), int((d > 0).sum()), int((d < 0).sum())
    ties = n - wins - losses
    mean = float(d.mean()) if n else nan
    sd = float(d.std(ddof=1)) if n > 1 else nan
    d_z = 0.0 if n and ties == n else mean / sd if sd > ALIKE * abs(mean) else nan
    return Effect(n, mean, sd, d_z, (wins + ties / 2) / n if n else nan, wins, ties, losses)


def spread(found: Estimate) -> float:
    """The standard deviation of what one document brings to a statistic, √n times its standard error by the jackknife.

    Of a mean it is the standard deviation of the documents' values. Of a difference of F1 of means, say, it is what
    takes its place in the formulas below.
    """
    some = found.left_out[~np.isnan(found.left_out)]
    return sqrt(found.documents * (len(some) - 1) * float(some.var())) if len(some) > 1 else nan


def detectable(sd: float, documents: int, alpha: float = ALPHA, power: float = POWER) -> float:
    """The smallest difference that a test at alpha finds with this power: (z₁₋α/₂ + z_power) sd / √n.

    By the normal approximation: a few percent too small with 20 documents, good from 50 on.

    >>> round(detectable(0.2, 100), 4)
    0.056
    """
    if documents < 1:
        raise InputError(f"{documents} documents are too few: give 1 or more")
    return _reach(alpha, power) * sd / sqrt(documents)


def documents_needed(sd: float, difference: float, alpha: float = ALPHA, power: float = POWER) -> float:
    """How many documents a test at alpha needs to find the difference with this power: ((z₁₋α/₂ + z_power) sd / d)².

    It is a whole number, infinite for a difference of 0, and NaN where something is undefined.

    >>> documents_needed(0.2, 0.056)
    101
    """
    if isnan(sd) or isnan(difference):
        return nan
    if difference == 0:
        return inf
    return max(ceil((_reach(alpha, power) * sd / difference) ** 2), 1)


def power_of(sd: float, difference: float, documents: int, alpha: float = ALPHA) -> float:
    """How likely a test at alpha finds the difference with so many documents, by the normal approximation.

    >>> round(power_of(0.2, 0.056, 101), 2)
    0.8
    """
    from scipy.special import ndtr, ndtri

    far, end = abs(difference) * sqrt(documents) / sd, ndtri(1 - alpha / 2)
    return float(ndtr(far - end) + ndtr(-far - end))


def _reach(alpha: float, power: float) -> float:
    """How many standard errors a difference must be long."""
    from scipy.special import ndtri

    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise InputError(f"{name} {value} is not between 0 and 1: write {'.05' if name == 'alpha' else '.8'}, say")
    return float(ndtri(1 - alpha / 2) + ndtri(power))
