"""The confidence interval of a single score, by the method that a user names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.stats.influence import contrast, jackknife, score_interval
from karat.stats.resampling import RESAMPLES, Sample, estimate, interval_of

if TYPE_CHECKING:
    from karat.options import ScoreInterval


def interval_of_score(
    samples: Sequence[Sample],
    bounds: tuple[float, float] = (0.0, 1.0),
    by: ScoreInterval = "t",
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the interval of a score: t on the logit scale, BCa or percentile.

    Args:
        samples: one for each seed of the system; several always have the t interval.
        bounds: the lowest and highest value of the score.
        by: the method.
        level: the confidence level.
        resamples: of the bootstrap.
        seed: of the bootstrap.
    """
    if by == "t" or len(samples) > 1:
        return score_interval(contrast(jackknife(*samples)), level, bounds)
    [drawn] = estimate(samples, resamples, seed)
    return interval_of(drawn, level, by)
