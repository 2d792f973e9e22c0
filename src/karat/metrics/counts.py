"""How many phrases a system predicts, and how often it repeats itself."""

from __future__ import annotations

import numpy as np

from karat.columns import Aligned, Bools, Cutoff, Subset
from karat.metrics.base import Rows, divide, mean, metric, ratio_of_sums, rows
from karat.protocol import Counting


@metric("count_mae", better="lower", bounds=(0.0, np.inf))
def count_mae(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Mean difference, without sign, of the numbers of predictions and of references."""
    return rows(np.abs(aligned.count_references(subset) - aligned.count_predictions(subset)))


def looked_at(aligned: Aligned, subset: Subset) -> Bools:
    """Which predictions measures of repetition look at: repeats too, and invalid ones where the protocol says so."""
    chosen = aligned.predictions_in(subset)
    return chosen & aligned.predictions.valid if aligned.counting.repeats == "valid" else chosen


def _own_average(counting: Counting) -> str:
    return counting.repeats_average


@metric(
    "duplicate_ratio",
    better="lower",
    averages={"mean": mean, "micro": ratio_of_sums},
    default_average=_own_average,
)
def duplicate_ratio(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, average: str = "mean") -> Rows:
    """Share of the predictions that repeat the stems of an earlier one of the document."""
    p, chosen = aligned.predictions, looked_at(aligned, subset)
    total = np.bincount(p.document[chosen], minlength=aligned.documents)
    repeats = np.bincount(p.document[chosen & p.repeat], minlength=aligned.documents)
    if average == "micro":
        return rows(repeats, total)
    return rows(divide(repeats, total))
