"""Agreement in parts: of present and absent phrases and of each PRMU class; and by the way of reformulating."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.analyses.homogeneity.data import Data, Measured
from karat.analyses.homogeneity.lists import Lists
from karat.analyses.homogeneity.result import Figure, figure_values, or_none
from karat.analyses.homogeneity.samples import ERROR_RATE, SHARE, mean_of, ratio_of
from karat.matching.columns import PRMU, Bools
from karat.pairs.sets import Floats, Ints, shared, shares

SUBSETS = ("present", "absent", "R", "M", "U")


def in_subset(prmu: Ints, subset: str) -> Bools:
    """Which phrases are of a subset, by their class in their document."""
    if subset in ("present", "absent"):
        return np.asarray((prmu == 0) == (subset == "present"))
    return np.asarray(prmu == PRMU.index(subset))


# ---------------------------------------------------------------------------------------------- classes of phrases


@dataclass(frozen=True, slots=True)
class Class:
    """The predictions of one system that are of a subset in their document, and whether the other document has them."""

    system: str
    protocol: str
    subset: str
    predictions: int  # for the two documents of each pair
    share: float  # of all predictions for these
    again: Figure  # the share of them that the system predicts for the other document too
    hooper: Figure  # of the phrases of this subset alone, each judged in its own document

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        return {
            "system": self.system,
            "protocol": self.protocol,
            "subset": self.subset,
            "predictions": self.predictions,
            "share": or_none(self.share),
            **figure_values("again", self.again),
            **figure_values("hooper", self.hooper),
        }


@dataclass(frozen=True, slots=True)
class Counted:
    """Of one system, on every pair: its predictions of each subset, those that both documents have, and Hooper."""

    of_subset: dict[str, Ints]  # [pairs]
    again: dict[str, Ints]
    hooper: dict[str, Floats]


def counted_by_subset(data: Data, lists: Lists, there: Bools) -> Counted:
    """The predictions of each subset on every pair that is looked at."""
    a, b, phrases, measure = lists.a, lists.b, lists.phrases, data.options.measure
    sets = lists.sets()
    pair, item = shared(a, b, sets, sets)
    width = int(phrases.phrase.max(initial=0)) + 1
    keys = phrases.document * width + phrases.phrase
    order = np.argsort(keys, kind="stable")
    keys, classes = keys[order], phrases.prmu[order]
    sides = [classes[np.searchsorted(keys, side[pair] * width + item)] for side in (a, b)] if len(keys) else []
    found = Counted({}, {}, {})
    for subset in SUBSETS:
        own = lists.sets(in_subset(phrases.prmu, subset))
        found.of_subset[subset] = np.where(there, own.sizes[a] + own.sizes[b], 0)
        again = [np.bincount(pair[in_subset(side, subset)], minlength=len(a)) for side in sides]
        found.again[subset] = np.where(there, sum(again, np.zeros(len(a), dtype=np.int64)), 0)
        found.hooper[subset] = np.where(there, shares(a, b, own, own, measure), np.nan)
    return found


def classes_of(data: Data, system: Measured, counted: Counted) -> Iterator[Class]:
    """The subsets of the predictions of a system."""
    total = sum(int(counted.of_subset[subset].sum()) for subset in ("present", "absent"))
    for subset in SUBSETS:
        count = int(counted.of_subset[subset].sum())
        share = count / total if total else np.nan
        again = data.figure(ratio_of(counted.again[subset], counted.of_subset[subset], data.units))
        hooper = data.figure(mean_of(counted.hooper[subset], data.units))
        yield Class(system.system, system.protocol, subset, count, share, again, hooper)


# ---------------------------------------------------------------------------------------------- methods


@dataclass(frozen=True, slots=True)
class OfMethod:
    """One system, or the references, on the pairs of one way of reformulating, and how alike their texts are."""

    method: str
    system: str
    protocol: str
    pairs: int
    hooper: Figure
    rodgers: Figure
    rouge: Figure
    wer: Figure

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        found: dict[str, Any] = {"method": self.method, "system": self.system, "protocol": self.protocol}
        found["pairs"] = self.pairs
        for name in ("hooper", "rodgers", "rouge", "wer"):
            found |= figure_values(name, getattr(self, name))
        return found


def methods_of(data: Data, systems: Sequence[Measured]) -> list[OfMethod]:
    """Each system on the pairs of each method, where pairs tell theirs."""
    given = np.array([method or "" for method in data.documents.paired.methods], dtype=object)
    found: list[OfMethod] = []
    for method in dict.fromkeys(filter(None, given.tolist())):
        own = given == method
        for each in systems:
            columns = (each.values["hooper"], each.values["rodgers"], data.rouge, data.wer)
            samples = [mean_of(np.where(own & each.there, column, np.nan), data.units) for column in columns]
            figures = map(data.figure, samples, (SHARE, SHARE, SHARE, ERROR_RATE))
            pairs = int((own & each.there).sum())
            found.append(OfMethod(method, each.system, each.protocol, pairs, *figures))
    return found
