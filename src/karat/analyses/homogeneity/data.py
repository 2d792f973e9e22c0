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
from karat.stats.correlation import bootstrap_p
from karat.stats.resampling import Estimate, Sample, estimate, interval_of

TOO_FEW = 10  # pairs, below which there is no p by the bootstrap


@dataclass(frozen=True, slots=True)
class Data:
    """What all protocols share: the pairs, the runs, what is drawn again, and how alike the texts are."""

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

    def estimates(self, samples: Mapping[str, Sample]) -> dict[str, Estimate]:
        """An estimate of each sample, all on the same resamples."""
        found = estimate(list(samples.values()), self.options.resamples, self.options.seed)
        return dict(zip(samples, found, strict=True))

    def figure(self, found: Estimate, pairs: int = 0) -> Figure:
        """An estimate with its interval, and the p of its being 0 if it is tested, on enough pairs."""
        p = bootstrap_p(found.resampled) if pairs >= TOO_FEW and not np.isnan(found.value) else np.nan
        return Figure(found.value, interval_of(found, self.options.level, self.options.interval), p)

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


@dataclass(frozen=True, slots=True)
class Measured:
    """A system, or the references, on every pair: each measure, NaN where it is undefined, and its estimate."""

    system: str
    protocol: str
    there: Bools  # the pairs that are looked at
    values: Mapping[str, Floats]
    samples: Mapping[str, Sample]
    estimates: Mapping[str, Estimate]
    generated: tuple[float, float] = (np.nan, np.nan)  # of all predictions, and the mean over documents
    absent: Floats | None = None  # [pairs], the share of the predictions for both documents that is generated

    def correlated(self, other: Floats) -> int:
        """The pairs on which Hooper and another column are both defined."""
        return int((~np.isnan(self.values["hooper"]) & ~np.isnan(other)).sum())
