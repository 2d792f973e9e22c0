"""SoftKeyScore: precision, recall and F in which a near miss counts as much as it is near (Kundu 2023).

One frame for every score of two phrases: each prediction is worth its nearest reference, each reference its nearest
prediction. A score below the threshold is 0; the threshold itself is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from typing import Any

import numpy as np

from karat.errors import InputError
from karat.matching.align import surface_forms
from karat.matching.columns import Aligned, Bools, Cutoff, Floats, Ints, Subset
from karat.metrics.base import Fit, Rows, divide, harmonic, metric, rows, typed_options
from karat.metrics.exact import judged
from karat.similarity import Similarity, Words, find, find_once
from karat.similarity.base import PATHS
from karat.similarity.context import Contexts, sentences_in
from karat.text.normalise import normaliser_of
from karat.text.stems import stemmer

OWN = {"score": "kmr", "threshold": 0.4}
ROUNDING = 1e-9  # a score of exactly the threshold stays, whichever digits were lost on its way


@dataclass(frozen=True, slots=True)
class Nearest:
    """Of each document, the mean score of its predictions and of its references, each with the nearest other."""

    precision: Floats
    recall: Floats


# ---------------------------------------------------------------------------------------------- options


def read_options(written: Mapping[str, str]) -> dict[str, Any]:
    """The values of written options: the score's name, the threshold, and whatever options that score has."""
    options = typed_options("soft scores", OWN, {name: text for name, text in written.items() if name in OWN})
    checked_threshold(options.get("threshold", OWN["threshold"]))
    name = options.get("score", OWN["score"])
    further = {option: text for option, text in written.items() if option not in OWN}
    if name.startswith(PATHS) and further:
        raise InputError(f"score={name} takes no further options, not {', '.join(further)}")
    found = find(",".join([name, *(f"{option}={text}" for option, text in further.items())]))
    return options | {option: found.options[option] for option in further}


def checked_threshold(threshold: float) -> float:
    """The threshold, if it is one."""
    if not (isfinite(threshold) and 0 <= threshold <= 1):
        raise InputError(f"a threshold is a number from 0 to 1, not {threshold:g}")
    return threshold


def hash_remark(options: Mapping[str, Any]) -> str | None:
    """That letters are compared and not meanings, where the embedder is the one that needs no model."""
    if options.get("score", "cosine") != "cosine" or options.get("model", "hash") != "hash":
        return None
    return "cosines are of hashed character n-grams, which compare letters, not meanings; model=DIR takes an encoder"


def _fit(options: Mapping[str, Any]) -> Fit | None:
    """What has to be known of the whole corpus: for `context`, its sentences."""
    if options.get("score") != "context":
        return None
    return Fit(_sentences, lambda parts: Contexts.of(list(chain.from_iterable(parts))), development=False)


def _sentences(aligned: Aligned, subset: Subset) -> list[Words]:
    matching = aligned.prepared.matching
    return sentences_in(aligned.prepared.given, normaliser_of(matching))


# ---------------------------------------------------------------------------------------------- the frame


def nearest(
    aligned: Aligned,
    cutoff: Cutoff,
    subset: Subset,
    scores: Callable[[Ints, Ints], Floats],
    threshold: float,
    recalled: Bools | None = None,
) -> Nearest:
    """How near predictions and references are to each other, by document.

    `scores` gets rows of `ranked(subset)` and rows of variants, and gives the score of each pair. `recalled` tells
    which references recall is of, where these are not all of the subset.
    """
    ranked, r = aligned.ranked(subset), aligned.references
    within = ranked.rank < aligned.depth(cutoff, subset)[ranked.document]
    left, variant = aligned.pairs(subset)
    left, variant = left[within[left]], variant[within[left]]
    worth = scores(left, variant)
    worth = np.where(worth < threshold - ROUNDING, 0.0, np.maximum(worth, 0.0))
    predicted, referred = np.zeros(len(ranked.row)), np.zeros(len(r.document))
    np.maximum.at(predicted, left, worth)
    np.maximum.at(referred, r.variant_reference[variant], worth)
    count = np.bincount(ranked.document[within], minlength=aligned.documents)
    chosen = aligned.references_in(subset) if recalled is None else recalled
    references = np.bincount(r.document[chosen], minlength=aligned.documents)
    return Nearest(
        divide(_sum(ranked.document, predicted, aligned.documents), count, empty=0.0),
        divide(_sum(r.document[chosen], referred[chosen], aligned.documents), references, empty=0.0),
    )


def _sum(document: Ints, worth: Floats, documents: int) -> Floats:
    return np.asarray(np.bincount(document, weights=worth, minlength=documents), dtype=np.float64)


def pair_scores(
    aligned: Aligned, subset: Subset, found: Similarity, surfaces: Ints | None = None
) -> Callable[[Ints, Ints], Floats]:
    """A function that scores pairs of (row of `ranked(subset)`, variant row), each distinct pair of phrases once.

    `surfaces` are the variants as they are given, where they are not those of the references.
    """
    ranked, p, r = aligned.ranked(subset), aligned.predictions, aligned.references
    surface = found.form == "surface"
    predictions = p.surface[ranked.row] if surface else ranked.phrase
    references = (r.variant_surface if surfaces is None else surfaces) if surface else r.variant_phrase
    phrases = surface_words(aligned) if surface else stem_words(aligned, once=found.name == "concept")

    def scores(left: Ints, variant: Ints) -> Floats:
        keys, back = np.unique(predictions[left] * len(phrases) + references[variant], return_inverse=True)
        return found.scores(phrases, *np.divmod(keys, max(len(phrases), 1)))[back]

    return scores


def stem_words(aligned: Aligned, once: bool = False) -> Sequence[Words]:
    """The stems of each phrase, by its number; stemmed once more where the protocol does so, unless `once`."""
    again = aligned.counting.soft_stems == "twice" and not once
    stem = stemmer(aligned.prepared.matching.stemmer) if again else str
    return [tuple(map(stem, form.split())) for form in aligned.forms]


def surface_words(aligned: Aligned) -> Sequence[Words]:
    """The words of each phrase as it was given, by the number of its surface."""
    words = surface_forms(list(aligned.prepared.surfaces), aligned.prepared.matching)
    return [tuple(form.split()) for form in words]


# ---------------------------------------------------------------------------------------------- the metrics


@dataclass(frozen=True, slots=True)
class _SoftOptions:
    """What a request says: the score of two phrases, its options, the threshold, and what is known of the corpus."""

    score: str
    threshold: float
    options: dict[str, Any]
    sentences: Contexts | None

    def similarity(self, aligned: Aligned) -> Similarity:
        if self.sentences is not None:
            return find(self.score, sentences=self.sentences, **self.options)
        if self.score == "concept" and "vocabulary" not in self.options and aligned.prepared.concepts is not None:
            return find(self.score, concepts=aligned.prepared.concepts, **self.options)
        return find_once(self.score, **self.options)


def _soft(aligned: Aligned, cutoff: Cutoff, subset: Subset, chosen: _SoftOptions) -> Nearest:
    """The frame with the chosen score, computed once for precision, recall and F."""

    def compute() -> Nearest:
        return nearest(
            aligned, cutoff, subset, pair_scores(aligned, subset, chosen.similarity(aligned)), chosen.threshold
        )

    key = ("soft", cutoff, subset, chosen.score, chosen.threshold, *sorted(chosen.options.items()))
    return aligned.once(key, compute)


@metric("soft_p", better="higher", cutoff="optional", fit=_fit, read_options=read_options, remark=hash_remark)
def soft_p(
    aligned: Aligned,
    cutoff: Cutoff,
    subset: Subset,
    *,
    score: str = "kmr",
    threshold: float = 0.4,
    fitted: Any = None,
    **options: Any,
) -> Rows:
    """Mean over the predictions of the score with the nearest reference (SoftKeyScore, Kundu 2023)."""
    found = _soft(aligned, cutoff, subset, _SoftOptions(score, threshold, options, fitted))
    return rows(found.precision, defined=judged(aligned, subset))


@metric("soft_r", better="higher", cutoff="optional", fit=_fit, read_options=read_options, remark=hash_remark)
def soft_r(
    aligned: Aligned,
    cutoff: Cutoff,
    subset: Subset,
    *,
    score: str = "kmr",
    threshold: float = 0.4,
    fitted: Any = None,
    **options: Any,
) -> Rows:
    """Mean over the references of the score with the nearest prediction (SoftKeyScore, Kundu 2023)."""
    found = _soft(aligned, cutoff, subset, _SoftOptions(score, threshold, options, fitted))
    return rows(found.recall, defined=judged(aligned, subset))


@metric("soft_f", better="higher", cutoff="optional", fit=_fit, read_options=read_options, remark=hash_remark)
def soft_f(
    aligned: Aligned,
    cutoff: Cutoff,
    subset: Subset,
    *,
    score: str = "kmr",
    threshold: float = 0.4,
    fitted: Any = None,
    **options: Any,
) -> Rows:
    """Harmonic mean of a document's soft precision and recall (SoftKeyScore, Kundu 2023)."""
    found = _soft(aligned, cutoff, subset, _SoftOptions(score, threshold, options, fitted))
    return rows(harmonic(found.precision, found.recall), defined=judged(aligned, subset))
