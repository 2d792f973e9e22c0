"""What all parts of homogeneity work on: the pairs, the runs, how alike the texts are, and a system on every pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from karat.analyses.homogeneity.lists import NO_CHANCE, Chance, Lists
from karat.analyses.homogeneity.phrases import Documents, Phrases, System
from karat.analyses.homogeneity.result import Components, Figure, HomogeneityOptions
from karat.analyses.homogeneity.samples import Units
from karat.matching.columns import Bools
from karat.pairs.sets import Floats
from karat.stats.influence import contrast, correlation_contrast, correlation_p, jackknife, score_interval
from karat.stats.resampling import Sample

TOO_FEW = 10  # pairs, below which correlations have no interval and no p, and there is no regression


@dataclass(frozen=True, slots=True)
class Data:
    """The data that all protocols share: the pairs, their documents, the runs, and the similarity of the texts."""

    documents: Documents
    systems: Sequence[System]
    has_text: bool
    rouge: Floats  # [pairs], NaN where a text is missing
    wer: Floats
    units: Units
    options: HomogeneityOptions

    def lists(self, phrases: Phrases, match_length: bool) -> Lists:
        """The lists of the documents that are in a pair."""
        known, count = self.documents, len(self.documents.ids)
        return Lists.of(known.a, known.b, phrases.take(self.used()[phrases.document]), count, match_length)

    def used(self, there: Bools | None = None) -> Bools:
        """Which documents are in a pair, or in one of some pairs."""
        used = np.zeros(len(self.documents.ids), dtype=bool)
        for side in (self.documents.a, self.documents.b):
            used[side if there is None else side[there]] = True
        return used

    def figure(self, sample: Sample, bounds: tuple[float, float] = (0.0, 1.0)) -> Figure:
        """Compute a statistic that lies between two bounds, with its interval."""
        return figure_of(sample, self.options.level, bounds)

    def correlation(self, sample: Sample, pairs: int) -> Figure:
        """Compute a correlation with its interval and p, without both on fewer than ten pairs."""
        if pairs < TOO_FEW:
            return Figure(sample.value(), (np.nan, np.nan))
        found = correlation_contrast(sample)
        ends = score_interval(found, self.options.level, (-1.0, 1.0))
        return Figure(float(found.value), ends, correlation_p(found), found.dyadic)

    def components(self, there: Bools | None = None) -> Components:
        """Count the connected components of the pairs, or of some of them, by the documents they share."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        shape = (len(self.documents.ids),) * 2
        a, b = (side if there is None else side[there] for side in (self.documents.a, self.documents.b))
        graph = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=shape)
        pairs = np.unique(connected_components(graph, directed=False)[1][a], return_counts=True)[1]
        return Components(len(pairs), int(pairs.max(initial=0)))


def figure_of(sample: Sample, level: float, bounds: tuple[float, float] = (0.0, 1.0)) -> Figure:
    """Compute a statistic that lies between two bounds, with its interval."""
    found = contrast(jackknife(sample))
    return Figure(float(found.value), score_interval(found, level, bounds), dyadic=found.dyadic)


@dataclass(frozen=True, slots=True)
class Measured:
    """A system, or the references, on every pair: each measure, NaN where it is undefined, and its figures."""

    system: str
    protocol: str
    there: Bools  # the pairs that are looked at
    values: Mapping[str, Floats]
    figures: Mapping[str, Figure]
    generated: tuple[float, float] = (np.nan, np.nan)  # of all predictions, and the mean over documents
    absent: Floats | None = None  # [pairs], the share of the predictions for both documents that is generated
    phrases: float = np.nan  # of a document, on average
    chance: Chance = NO_CHANCE
    constant: bool = False  # whether all documents have the same list
