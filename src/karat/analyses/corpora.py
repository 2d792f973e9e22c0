"""Results of several corpora side by side, as charts over corpora take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat.analyses.compare.families import by_corpus
from karat.errors import InputError
from karat.results import Collection, Results


def side_by_side(results: Sequence[Results]) -> Collection:
    """The results of corpora, in their order; several of one corpus are of different systems or metrics.

    Raises InputError if those of one corpus are not of the same documents, or have a system twice on one metric.
    """
    by_corpus(results)
    met: set[tuple[Any, ...]] = set()
    for score in (score for each in results for score in each.scores):
        key = score.corpus, score.protocol, score.system, score.request.without_fitted()
        if key in met:
            twice = f"two results of {score.corpus} are of a system named {score.system!r}"
            raise InputError(f"{twice}; give each once")
        met.add(key)
    return Collection(tuple(results))
