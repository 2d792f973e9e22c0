"""Document frequencies: in how many documents of a corpus a stemmed phrase occurs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log2


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How many documents there are, and how many of them hold each phrase, stems joined by spaces."""

    documents: int
    counts: Mapping[str, int]

    def weight(self, phrase: str) -> float:
        """The inverse document frequency of a phrase: log2((1 + N) / (1 + df)).

        >>> Frequencies(7, {"graph": 1}).weight("graph")
        2.0
        """
        return log2((1 + self.documents) / (1 + self.counts.get(phrase, 0)))
