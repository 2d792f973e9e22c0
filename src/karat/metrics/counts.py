"""How many phrases a system predicts, and how often it repeats itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.matching.columns import Aligned, Bools, Cutoff, Subset
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
    """Share of the predictions that repeat the stems of an earlier one of the document.

    With `repeats_by_kind=slots`, as ExHiRD prints it, the ratio of present and that of absent predictions are of the
    slots that the model put them in, and of the phrases as they are given.
    """
    p, chosen = aligned.predictions, looked_at(aligned, subset)
    total = np.bincount(p.document[chosen], minlength=aligned.documents)
    repeats = np.bincount(p.document[chosen & p.repeat], minlength=aligned.documents)
    if aligned.counting.repeats_by_kind == "slots" and subset in ("present", "absent"):
        for document, phrases in _slotted(aligned, subset):
            total[document], repeats[document] = len(phrases), len(phrases) - len(set(phrases))
    if average == "micro":
        return rows(repeats, total)
    return rows(divide(repeats, total))


# What ExHiRD's model writes before a phrase that it takes to be in the text, and before one that it does not.
_MARKERS = {"present": "<p_start>", "absent": "<a_start>"}


def _slotted(aligned: Aligned, kind: str) -> Iterator[tuple[int, list[str]]]:
    """(document, the phrases in the slots of a kind, as they are given) for the documents that have slots."""
    for document, prediction in enumerate(aligned.given):
        given = prediction.keyphrases or []
        kinds: Sequence[str | None] = prediction.kinds or [None] * len(given)
        slots = [
            (_marked(phrase) or own, phrase.strip())
            for text, own in zip(given, kinds, strict=True)
            for phrase in (text or "").split(";")
            if phrase.strip()
        ]
        if any(slot is not None for slot, _ in slots):
            yield document, [phrase for slot, phrase in slots if slot == kind]


def _marked(phrase: str) -> str | None:
    """The kind that a marker in a phrase tells, if there is one."""
    return next((kind for kind, marker in _MARKERS.items() if marker in phrase), None)
