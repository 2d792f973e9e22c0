"""What predictions are like, and where in the documents a system finds its references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat.errors import InputError
from karat.matching.columns import Aligned, Bools, Cutoff, Ints, Prepared, Subset, lookup, parts_of
from karat.metrics.base import Rows, divide, mean, metric, ratio_of_sums, ratio_rows, rows, typed_options

PARTS = 5  # of a document, a fifth of its characters each


def found_references(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Bools:
    """Whether each reference, by any of its variants, is among the first k predictions of the subset."""
    ranked, r = aligned.ranked(subset), aligned.references
    within = ranked.rank < aligned.depth(cutoff, subset)[ranked.document]
    width = len(aligned.prepared.table)
    hit, _ = lookup(
        r.document[r.variant_reference] * width + r.variant_phrase,
        ranked.document[within] * width + ranked.phrase[within],
    )
    found = np.zeros(len(r.document), dtype=bool)
    np.logical_or.at(found, r.variant_reference, hit)
    return found


def _part(written: Mapping[str, str]) -> Mapping[str, Any]:
    options = typed_options("miss_rate", {"part": 0}, written)
    if not 0 <= options.get("part", 0) <= PARTS:
        raise InputError(f"option part of miss_rate is 0 (everywhere) or 1 to {PARTS}, not {options['part']}")
    return options


@metric(
    "miss_rate",
    better="lower",
    cutoff="optional",
    averages={"mean": mean, "micro": ratio_of_sums},
    read_options=_part,
)
def miss_rate(aligned: Aligned, cutoff: Cutoff, subset: Subset, *, part: int = 0, average: str = "mean") -> Rows:
    """Share of the references that no prediction is; with part=1 to 5, of those first met in that fifth of a text.

    A fifth is 20 % of the characters of the stemmed document, and a reference belongs to the one in which it is first
    met (Kundu 2023). A document without such references is left out under every protocol.

    >>> from karat import Corpus, Run, score
    >>> documents = Corpus.of([{"id": "1", "text": "bees fly . bees fly . ants", "keyphrases": ["bees", "ants"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["bee"]}])
    >>> found = score(documents, run, metrics=["miss_rate", "miss_rate,part=1", "miss_rate,part=5"])
    >>> [row["value"] for row in found.rows()]
    [0.5, 0.0, 1.0]
    """
    r, chosen = aligned.references, aligned.references_in(subset)
    if part:
        chosen = chosen & (parts_of(aligned.reference_offsets(), aligned.lengths()[r.document], PARTS) == part - 1)
    missed = chosen & ~found_references(aligned, cutoff, subset)
    of, all_ = (np.bincount(r.document[mask], minlength=aligned.documents) for mask in (missed, chosen))
    return rows(of, all_, defined=all_ > 0) if average == "micro" else ratio_rows(of, all_)


@metric("position", better=None, cutoff="optional")
def position(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Mean place of the first occurrence of the present predictions: 0 where the document begins, 1 where it ends.

    The place is characters before the phrase / characters of the document, both of the stemmed document.

    >>> from karat import Corpus, Run, score
    >>> documents = Corpus.of([{"id": "1", "text": "ants and bees fly", "keyphrases": ["ants"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["ant", "fly", "wasps"]}])
    >>> score(documents, run, metrics=["position"]).rows()[0]["value"]  # (0 + 12 of 15 letters) / 2
    0.4
    """
    row, document = _within(aligned, cutoff, subset)
    offset = aligned.prediction_offsets()[row]
    there = offset >= 0
    place = np.minimum(offset[there] / aligned.lengths()[document[there]], 1.0)
    return _mean_rows(aligned, document[there], place)


@metric("words", better=None, cutoff="optional", bounds=(0.0, np.inf))
def words(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Mean number of words of a prediction, as it is given and split at white space.

    >>> from karat import Corpus, Run, score
    >>> documents = Corpus.of([{"id": "1", "text": "ants and bees fly", "keyphrases": ["ants"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["ant", "honey bees"]}])
    >>> score(documents, run, metrics=["words"]).rows()[0]["value"]
    1.5
    """
    row, document = _within(aligned, cutoff, subset)
    return _mean_rows(aligned, document, word_counts(aligned.prepared, aligned.predictions.surface[row]))


@metric("share", better=None, cutoff="optional")
def share(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> Rows:
    """Share of the first k predictions that are of the subset, as share:present or share:U.

    >>> from karat import Corpus, Run, score
    >>> documents = Corpus.of([{"id": "1", "text": "ants and bees fly", "keyphrases": ["ants"]}])
    >>> run = Run.of([{"id": "1", "keyphrases": ["ant", "bees", "wasps", "flying bees"]}])
    >>> [row["value"] for row in score(documents, run, metrics=["share:present", "share:R", "share:U"]).rows()]
    [0.5, 0.25, 0.25]
    """
    row, document = _within(aligned, cutoff, "all")
    return _mean_rows(aligned, document, aligned.predictions_in(subset)[row])


def word_counts(prepared: Prepared, surface: Ints) -> Ints:
    """How many words each phrase has, given as its number among the prepared surfaces; split at white space."""
    distinct, which = np.unique(surface, return_inverse=True)
    surfaces = list(prepared.surfaces)
    counts = (len(surfaces[i].split()) for i in distinct.tolist())
    return np.fromiter(counts, dtype=np.int64, count=len(distinct))[which]


def _within(aligned: Aligned, cutoff: Cutoff, subset: Subset) -> tuple[Ints, Ints]:
    """(row, document) of the first k predictions of the subset."""
    ranked = aligned.ranked(subset)
    within = ranked.rank < aligned.depth(cutoff, subset)[ranked.document]
    return ranked.row[within], ranked.document[within]


def _mean_rows(aligned: Aligned, document: Ints, values: Any) -> Rows:
    """Rows of each document's mean; without any value it is left out."""
    total = np.bincount(document, weights=values, minlength=aligned.documents)
    return rows(divide(total, np.bincount(document, minlength=aligned.documents)))
