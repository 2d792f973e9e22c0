"""What all parts of homogeneity work on: the pairs, the runs, how alike the texts are, and a system on every pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from karat.analyses.homogeneity.phrases import Documents, Phrases, System
from karat.analyses.homogeneity.result import Figure, HomogeneityOptions
from karat.analyses.homogeneity.samples import Units
from karat.matching.columns import Bools
from karat.pairs.sets import Floats, Ints, Sets
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

    def sets(self, phrases: Phrases, some: Bools | None = None) -> Sets:
        """The phrases, or some of them, of the documents that are in a pair."""
        in_pairs = np.zeros(len(self.documents.ids), dtype=bool)
        in_pairs[self.documents.in_pairs] = True
        used = in_pairs[phrases.document] if some is None else in_pairs[phrases.document] & some
        return Sets.of(phrases.document[used], phrases.phrase[used], len(in_pairs))

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

    def clusters(self) -> Ints:
        """The number of what each pair hangs together with by shared documents, [pairs]."""
        if self.units.of_pair.ndim == 1:
            return self.units.of_pair
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        first, second = self.units.of_pair.T
        shape = (self.units.count, self.units.count)
        graph = coo_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=shape)
        return np.asarray(connected_components(graph, directed=False)[1][first], dtype=np.int64)


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
