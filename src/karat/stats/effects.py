"""Effect sizes of differences."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan

from karat.stats.base import ALIKE, Floats
from karat.stats.tests import differences

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

    >>> from numpy import array
    >>> found = effect(array([0.5, 0.75, 0.5, 1.0]), array([0.25, 0.75, 0.75, 0.5]))
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
