"""Semantic precision, recall and F of KPEval: the frame of soft scores with the cosine of phrase embeddings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.matching.columns import Aligned, Bools, Cutoff, Floats, Ints, Subset
from karat.metrics.base import Rows, harmonic, metric, rows
from karat.metrics.exact import judged
from karat.metrics.soft import Nearest, checked_threshold, hash_remark, nearest, pair_scores, surface_words
from karat.similarity import find


@dataclass(frozen=True, slots=True)
class _SemanticOptions:
    """The embedder, and the least cosine that counts."""

    model: str
    layer: int
    threshold: float


def _semantic(aligned: Aligned, cutoff: Cutoff, subset: Subset, chosen: _SemanticOptions) -> Nearest:
    """The frame with cosines, in which equal stems are 1; computed once for precision, recall and F."""

    def compute() -> Nearest:
        found = find("cosine", model=chosen.model, layer=chosen.layer)
        surfaces, recalled = _compared(aligned, subset)
        cosines = pair_scores(aligned, subset, found, surfaces)
        known: dict[str, Floats] = {}

        def raw(left: Ints, variant: Ints) -> Floats:
            if "raw" not in known:
                known["raw"] = cosines(left, variant)
            return known["raw"]

        def exact_is_one(left: Ints, variant: Ints) -> Floats:
            equal = aligned.ranked(subset).phrase[left] == aligned.references.variant_phrase[variant]
            return np.where(equal, 1.0, raw(left, variant))

        threshold = checked_threshold(chosen.threshold)
        both = nearest(aligned, cutoff, subset, exact_is_one, threshold, recalled)
        if aligned.counting.semantic_match == "both":
            return both
        return Nearest(both.precision, nearest(aligned, cutoff, subset, raw, threshold, recalled).recall)

    return aligned.once(("semantic", cutoff, subset, chosen), compute)


def _compared(aligned: Aligned, subset: Subset) -> tuple[Ints | None, Bools | None]:
    """(the surfaces of the variants that are embedded, which references recall is of); None: the references' own."""
    if aligned.counting.semantic_references == "matched":
        return None, None
    r = aligned.references
    texts = surface_words(aligned)
    rows = np.flatnonzero(aligned.references_in(subset))
    first: dict[tuple[int, tuple[str, ...]], int] = {}
    for row, document, surface in zip(rows.tolist(), r.document[rows].tolist(), r.listed[rows].tolist(), strict=True):
        first.setdefault((document, texts[surface]), row)
    recalled = np.zeros(len(r.document), dtype=bool)
    recalled[list(first.values())] = True
    return np.r_[r.listed, r.variant_surface[len(r.listed) :]], recalled


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
    found = _semantic(aligned, cutoff, subset, _SemanticOptions(model, layer, threshold))
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
    found = _semantic(aligned, cutoff, subset, _SemanticOptions(model, layer, threshold))
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
    found = _semantic(aligned, cutoff, subset, _SemanticOptions(model, layer, threshold))
    return rows(harmonic(found.precision, found.recall), defined=judged(aligned, subset))
