"""How large a difference is, and how large it must be to be seen."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.stats.base import ALIKE, Floats
from karat.stats.influence import Alternative, check_alternative
from karat.stats.resampling import Estimate
from karat.stats.tests import ALPHA, differences

POWER = 0.8
_MOST_ROOT = 1e150  # its square is a float


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

    def reversed(self) -> Effect:
        """Return the effect of y over x."""
        return Effect(
            self.documents, -self.mean, self.sd, -self.d_z, 1 - self.superiority, self.losses, self.ties, self.wins
        )

    def as_dict(self) -> dict[str, float | int | None]:
        """Return the fields of the JSON output."""
        return {
            "d_z": None if isnan(self.d_z) else self.d_z,
            "superiority": None if isnan(self.superiority) else self.superiority,
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
        }


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


def spread(found: Estimate, defined: NDArray[np.bool_] | None = None) -> float:
    """The standard deviation of what one document brings to a statistic, √n times its standard error by the jackknife.

    Of a mean it is the standard deviation of the documents' values. Of a difference of F1 of means, say, it is what
    takes its place in the formulas below. `defined` tells which documents bring anything, [documents], and n is how
    many these are; without it all do.
    """
    left_out, n = found.left_out, found.documents
    if defined is not None:
        left_out, n = left_out[defined], int(defined.sum())
    some = left_out[~np.isnan(left_out)]
    return sqrt(n * (len(some) - 1) * float(some.var())) if len(some) > 1 else nan


def detectable(
    sd: float, documents: int, alpha: float = ALPHA, power: float = POWER, alternative: Alternative = "two-sided"
) -> float:
    """The smallest difference that a test at alpha finds with this power: (z₁₋α/₂ + z_power) sd / √n.

    By the normal approximation: a few percent too small with 20 documents, good from 50 on. The documents are those
    that the sd is of, on which the metric is defined. A one-sided test has z₁₋α in place of z₁₋α/₂.

    >>> round(detectable(0.2, 100), 4)
    0.056
    """
    if documents < 1:
        raise InputError(f"{documents} documents are too few: give 1 or more")
    return _reach(alpha, power, alternative) * sd / sqrt(documents)


def documents_needed(
    sd: float,
    difference: float,
    alpha: float = ALPHA,
    power: float = POWER,
    alternative: Alternative = "two-sided",
) -> float:
    """How many documents a test at alpha needs to find the difference with this power: ((z₁₋α/₂ + z_power) sd / d)².

    It is a whole number of documents on which the metric is defined, infinite for a difference of 0, and NaN where
    something is undefined. A one-sided test has z₁₋α in place of z₁₋α/₂.

    >>> documents_needed(0.2, 0.056)
    101
    """
    if isnan(sd) or isnan(difference):
        return nan
    root = abs(_reach(alpha, power, alternative) * sd / difference) if difference else inf
    return max(ceil(root**2), 1) if root < _MOST_ROOT else inf


def power_of(
    sd: float, difference: float, documents: int, alpha: float = ALPHA, alternative: Alternative = "two-sided"
) -> float:
    """How likely a test at alpha finds the difference with so many documents, by the normal approximation.

    >>> round(power_of(0.2, 0.056, 101), 2)
    0.8
    """
    from scipy.special import ndtr

    far, end = difference * sqrt(documents) / sd, _end(alpha, alternative)
    above, below = float(ndtr(far - end)), float(ndtr(-far - end))
    return {"two-sided": above + below, "greater": above, "less": below}[alternative]


def _end(alpha: float, alternative: Alternative) -> float:
    """Beyond how many standard errors a test rejects."""
    from scipy.special import ndtri

    check_alternative(alternative)
    return float(ndtri(1 - alpha / 2 if alternative == "two-sided" else 1 - alpha))


def _reach(alpha: float, power: float, alternative: Alternative) -> float:
    """How many standard errors a difference must be long."""
    from scipy.special import ndtri

    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise InputError(f"{name} {value} is not between 0 and 1: write {'.05' if name == 'alpha' else '.8'}, say")
    return _end(alpha, alternative) + float(ndtri(power))
