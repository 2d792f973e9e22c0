"""Semantic precision, recall and F of KPEval: the frame of soft scores with the cosine of phrase embeddings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.columns import Aligned, Cutoff, Ints, Subset
from karat.metrics.base import Floats, Rows, harmonic, metric, rows
from karat.metrics.exact import judged
from karat.metrics.soft import Nearest, checked_threshold, hash_remark, nearest, pair_scores
from karat.similarity import find


@dataclass(frozen=True, slots=True)
class _Asked:
    """The embedder, and the least cosine that counts."""

    model: str
    layer: int
    threshold: float


def _semantic(aligned: Aligned, cutoff: Cutoff, subset: Subset, asked: _Asked) -> Nearest:
    """The frame with cosines, in which equal stems are 1; computed once for precision, recall and F."""

    def compute() -> Nearest:
        found = find("cosine", model=asked.model, layer=asked.layer)
        cosines = pair_scores(aligned, subset, found)
        known: dict[str, Floats] = {}

        def raw(left: Ints, variant: Ints) -> Floats:
            if "raw" not in known:
                known["raw"] = cosines(left, variant)
            return known["raw"]

        def exact_is_one(left: Ints, variant: Ints) -> Floats:
            equal = aligned.ranked(subset).phrase[left] == aligned.references.variant_phrase[variant]
            return np.where(equal, 1.0, raw(left, variant))

        threshold = checked_threshold(asked.threshold)
        both = nearest(aligned, cutoff, subset, exact_is_one, threshold)
        if aligned.counting.semantic_match == "both":
            return both
        return Nearest(both.precision, nearest(aligned, cutoff, subset, raw, threshold).recall)

    return aligned.once(("semantic", cutoff, subset, asked), compute)


@metric("sem_p", better="higher", cutoff="optional", remark=hash_remark)
def sem_p(
    aligned: Aligned,
    cutoff: Cutoff,
    subset: Subset,
    *,
    model: str = "hash",
    layer: int = -1,
    threshold: float = 0.0,
) -> Rows:
    """Mean over the predictions of the cosine with the nearest reference, 1 for equal stems (KPEval, Wu 2024)."""
    found = _semantic(aligned, cutoff, subset, _Asked(model, layer, threshold))
    return rows(found.precision, defined=judged(aligned, subset))


@metric("sem_r", better="higher", cutoff="optional", remark=hash_remark)
def sem_r(
    aligned: Aligned,
    cutoff: Cutoff,
    subset: Subset,
    *,
    model: str = "hash",
    layer: int = -1,
    threshold: float = 0.0,
) -> Rows:
    """Mean over the references of the cosine with the nearest prediction, 1 for equal stems (KPEval, Wu 2024)."""
    found = _semantic(aligned, cutoff, subset, _Asked(model, layer, threshold))
    return rows(found.recall, defined=judged(aligned, subset))


@metric("sem_f", better="higher", cutoff="optional", remark=hash_remark)
def sem_f(
    aligned: Aligned,
    cutoff: Cutoff,
    subset: Subset,
    *,
    model: str = "hash",
    layer: int = -1,
    threshold: float = 0.0,
) -> Rows:
    """Harmonic mean of a document's semantic precision and recall (KPEval, Wu 2024)."""
    found = _semantic(aligned, cutoff, subset, _Asked(model, layer, threshold))
    return rows(harmonic(found.precision, found.recall), defined=judged(aligned, subset))
