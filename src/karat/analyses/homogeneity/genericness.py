"""How generic keyphrases are that the two documents of a pair share: how many documents they are in, how long they are.

Over types each distinct phrase counts once; over occurrences a shared phrase counts once for each pair that shares it,
and one of all phrases once for each document that has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.analyses.homogeneity.lists import Lists
from karat.analyses.homogeneity.phrases import Columns, Documents, Phrases
from karat.pairs.sets import Ints, Sets, shared


@dataclass(frozen=True, slots=True)
class Level:
    """Of some phrases: how many there are, the mean of the documents they are in, and of their words."""

    count: int
    df: float | None
    words: float | None

    @classmethod
    def of(cls, phrases: Ints, df: Ints, words: Ints) -> Level:
        """The means over some phrases, of which one may come several times; None where there are none."""
        count = len(phrases)
        return cls(count, *(float(each[phrases].mean()) if count else None for each in (df, words)))


@dataclass(frozen=True, slots=True)
class Genericness:
    """Shared phrases beside all phrases, of a system or of the references."""

    system: str | None  # None: the references
    protocol: str
    documents: int  # of the corpus, that have a phrase
    shared_types: Level
    shared_occurrences: Level
    all_types: Level
    all_occurrences: Level

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        found: dict[str, Any] = {"system": self.system, "protocol": self.protocol, "documents": self.documents}
        for over in ("types", "occurrences"):
            some, every = (getattr(self, f"{which}_{over}") for which in ("shared", "all"))
            found[over] = {
                "shared": some.count,
                "all": every.count,
                "shared_df": some.df,
                "all_df": every.df,
                "shared_words": some.words,
                "all_words": every.words,
            }
        return found


def genericness(
    phrases: Phrases, lists: Lists, documents: Documents, columns: Columns, whose: tuple[str | None, str]
) -> Genericness:
    """How generic the phrases are that both lists of a pair have, against all phrases of the corpus.

    Reformulations are left out of the documents that a phrase is in: they are the same documents again.
    """
    sets = Sets.of(phrases.document, phrases.phrase, len(documents.ids))
    mine = sets.items[sets.owner < documents.own]
    df = np.bincount(mine, minlength=len(columns.forms))
    words = np.array([len(text.split()) for text in columns.spelled], dtype=np.int64)
    compared = lists.sets()
    _, both = shared(lists.a, lists.b, compared, compared)
    return Genericness(
        *whose,
        int((sets.sizes[: documents.own] > 0).sum()),
        Level.of(np.unique(both), df, words),
        Level.of(both, df, words),
        Level.of(np.unique(mine), df, words),
        Level.of(mine, df, words),
    )
