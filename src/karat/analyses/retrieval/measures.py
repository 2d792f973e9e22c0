"""Measures of rankings, named as ir_measures names them and computed as trec_eval computes them.

A query has judged documents, each with a relevance; `found` is the relevance of the documents of its ranking, best
first, 0 for those that were not judged. A document is relevant if its relevance is at least `rel`, 1 by default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from karat.errors import InputError, unknown
from karat.matching.columns import Floats, Ints

DEFAULT = ("nDCG@10", "R@100", "AP", "RR")
_FORM = re.compile(r"(\w+?)(?:\(rel=(\d{1,6})\))?(?:@(\d{1,6}))?")
_ALSO = {"map": "AP", "mrr": "RR", "recall": "R", "precision": "P"}  # what else the measures are called
NEED_CUTOFF = ("R", "P", "Success")


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its cutoff and the relevance from which a document is relevant."""

    kind: str
    cutoff: int | None = None
    rel: int = 1

    def __str__(self) -> str:
        rel = "" if self.rel == 1 else f"(rel={self.rel})"
        return f"{self.kind}{rel}{'' if self.cutoff is None else f'@{self.cutoff}'}"

    def of(self, found: Ints, judged: Ints) -> float:
        """The measure of one query, given the relevance of its ranked documents and of all its judged documents.

        >>> parse_measure("nDCG@10").of(np.array([0, 1, 1]), np.array([1, 1]))
        0.6934264036172708
        """
        return _KINDS[self.kind](self, found if self.cutoff is None else found[: self.cutoff], judged)


def parse_measure(text: str) -> Measure:
    """A measure by its name, as nDCG@10, AP, R(rel=2)@100. Raises InputError if there is none of that name.

    >>> [str(parse_measure(name)) for name in ("ndcg@10", "MAP", "recall(rel=2)@100", "RR")]
    ['nDCG@10', 'AP', 'R(rel=2)@100', 'RR']
    """
    parsed = _FORM.fullmatch(text.strip())
    if parsed is None:
        raise InputError(f"{text[:60]!r} is no measure; write one as nDCG@10, R@100, AP or R(rel=2)@100")
    name, rel, cutoff = parsed.groups()
    kind = {each.lower(): each for each in _KINDS}.get(name.lower()) or _ALSO.get(name.lower())
    if kind is None:
        raise unknown("measure", name, [*_KINDS, *_ALSO])
    if cutoff is None and kind in NEED_CUTOFF:
        raise InputError(f"{kind} needs a cutoff: write it as {kind}@100")
    if rel is not None and kind == "nDCG":
        raise InputError("nDCG goes by the relevance itself: write nDCG@10, without rel=")
    if int(cutoff or 1) < 1 or int(rel or 1) < 1:
        raise InputError(f"{text[:60]!r}: cutoff and rel are whole numbers from 1 on")
    return Measure(kind, None if cutoff is None else int(cutoff), int(rel or 1))


def parse_measures(given: Sequence[str] | None) -> tuple[Measure, ...]:
    """Measures by their names, each once; nDCG@10, R@100, AP and RR where none is given."""
    return tuple(dict.fromkeys(map(parse_measure, given or DEFAULT)))


# ---------------------------------------------------------------------------------------------- kinds


def _ndcg(measure: Measure, found: Ints, judged: Ints) -> float:
    """Σ rel / log2(rank + 1) over that of the best possible ranking of the judged documents."""
    ideal = _gain(np.sort(judged)[::-1][: measure.cutoff])
    return _gain(found) / ideal if ideal > 0 else 0.0


def _gain(relevance: Ints) -> float:
    places = np.flatnonzero(relevance > 0)
    return float((relevance[places] / np.log2(places + 2)).sum())


def _hits(measure: Measure, found: Ints) -> Ints:
    """The places, from 0, at which relevant documents are."""
    return np.flatnonzero(found >= measure.rel)


def _relevant(measure: Measure, judged: Ints) -> int:
    return int((judged >= measure.rel).sum())


def _recall(measure: Measure, found: Ints, judged: Ints) -> float:
    return len(_hits(measure, found)) / max(_relevant(measure, judged), 1)


def _precision(measure: Measure, found: Ints, judged: Ints) -> float:
    assert measure.cutoff is not None
    return len(_hits(measure, found)) / measure.cutoff


def _average_precision(measure: Measure, found: Ints, judged: Ints) -> float:
    """The precision at the rank of each relevant document, 0 for those that are not found, on average."""
    hits = _hits(measure, found)
    precisions: Floats = np.arange(1, len(hits) + 1) / (hits + 1)
    return float(precisions.sum()) / max(_relevant(measure, judged), 1)


def _reciprocal_rank(measure: Measure, found: Ints, judged: Ints) -> float:
    hits = _hits(measure, found)
    return 1 / (int(hits[0]) + 1) if len(hits) else 0.0


def _success(measure: Measure, found: Ints, judged: Ints) -> float:
    return float(len(_hits(measure, found)) > 0)


_KINDS: Mapping[str, Callable[[Measure, Ints, Ints], float]] = {
    "nDCG": _ndcg,
    "R": _recall,
    "AP": _average_precision,
    "RR": _reciprocal_rank,
    "P": _precision,
    "Success": _success,
}
