"""Measures of each condition by query, with intervals, and their differences to the baseline with tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from karat.analyses.retrieval.bm25 import Ranked
from karat.analyses.retrieval.measures import Measure
from karat.analyses.retrieval.result import TEXT, Condition, RetrievalOptions, Row
from karat.formats.trec import Judgements, Rankings
from karat.matching.columns import Floats, Ints
from karat.metrics.base import mean
from karat.stats.difference import FEW_DIFFER, FEWEST, Contestants, adjust_families, compare_pairs, notes_of_differences
from karat.stats.influence import contrast, jackknife, score_interval
from karat.stats.resampling import Sample

FEW = 25  # queries from which intervals of differences cover 95 % (`benchmarks.inference`)
SKEWED = 3.0  # skewness of differences, above which the family-wise error is up to 8 %


class Judge:
    """What the ranking of a query is worth: the relevance of its documents, by every measure."""

    def __init__(self, judgements: Judgements, measures: Sequence[Measure], ids: Sequence[str]) -> None:
        self.measures = measures
        self.judgements = judgements
        self.judged = [np.array(list(documents.values()), dtype=np.int64) for documents in judgements.values()]
        wanted = {identifier for documents in judgements.values() for identifier in documents}
        numbers = {identifier: n for n, identifier in enumerate(ids) if identifier in wanted}
        self.known = [
            {numbers[identifier]: value for identifier, value in documents.items() if identifier in numbers}
            for documents in judgements.values()
        ]

    def values(self, rankings: Iterable[Ranked]) -> Floats:
        """The measures of each query, [queries, measures], of the rankings of all queries in their order."""
        return self._measure(map(self._relevance, rankings, self.known))

    def values_of(self, rankings: Rankings) -> Floats:
        """The same of rankings by id; a query that has none scores 0."""
        listed = (
            np.array([documents.get(identifier, 0) for identifier, _ in rankings.get(query, ())], dtype=np.int64)
            for query, documents in self.judgements.items()
        )
        return self._measure(listed)

    def _relevance(self, ranked: Ranked, known: Mapping[int, int]) -> Ints:
        relevance = np.zeros(len(ranked.documents), dtype=np.int64)
        for at in np.flatnonzero(np.isin(ranked.documents, list(known))).tolist():
            relevance[at] = known[int(ranked.documents[at])]
        return relevance

    def _measure(self, rankings: Iterable[Ints]) -> Floats:
        both = zip(rankings, self.judged, strict=True)
        return np.array([[measure.of(relevance, judged) for measure in self.measures] for relevance, judged in both])


def compare_conditions(
    values: Mapping[Condition, Floats], measures: Sequence[Measure], options: RetrievalOptions
) -> list[Row]:
    """Compute each measure of each condition with its interval, and its difference to the baseline.

    p is adjusted over all conditions that are compared on one measure.
    """
    conditions, how = list(values), options.inference()
    keys = [(each, m) for each in conditions for m in range(len(measures))]
    samples = {(each, m): _mean_of(values[each][:, m]) for each, m in keys}
    baselines = {each: _baseline(each, conditions, options.baseline) for each in conditions}
    pairs = [(each, other, m) for each, m in keys if (other := baselines[each]) is not None]
    contestants = [Contestants([samples[each, m]], [samples[other, m]]) for each, other, m in pairs]
    differences = adjust_families(compare_pairs(contestants, how), [m for _, _, m in pairs], how)
    by_key = {(each, m): difference for (each, _, m), difference in zip(pairs, differences, strict=True)}
    return [
        Row(each, str(measures[m]), *_score(samples[each, m], options), baselines[each], by_key.get((each, m)))
        for each, m in keys
    ]


def _score(sample: Sample, options: RetrievalOptions) -> tuple[float, tuple[float, float]]:
    return sample.value(), score_interval(contrast(jackknife(sample)), options.level)


def _mean_of(values: Floats) -> Sample:
    return Sample(np.stack([values, np.ones(len(values))], axis=1), mean)


def _baseline(condition: Condition, conditions: Sequence[Condition], name: str | None) -> Condition | None:
    """Return the condition to compare with: text alone, or another system's phrases of the same subset.

    None for the baseline itself, and where documents hold the same in both.
    """
    if name is None or name == TEXT:
        other = conditions[0]
    else:
        phrases = [each for each in conditions if each.system == name and each.kind in ("references", "system")]
        other = next((each for each in phrases if each.subset == condition.subset), phrases[0])
        if (condition.kind, condition.system) == (other.kind, name):
            return None
    return None if condition.documents == other.documents else other


def notes_of_tests(rows: Sequence[Row], queries: int) -> Iterator[str]:
    """Yield notes on few queries, on differences that rest on few of them, and on Wilcoxon's test."""
    if queries < FEWEST:
        yield f"only {counted_queries(queries)}: nothing is tested"
    elif queries < FEW:
        yield f"only {counted_queries(queries)}: intervals of differences may be too narrow"
    else:
        yield from _skewed(rows)
    tested = [(str(row.measure), row.difference) for row in rows if row.difference is not None]
    yield from notes_of_differences(tested if queries >= FEWEST else [], "queries")


def _skewed(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the measures on which differences are so skewed that tests reject equal systems too often."""
    tested = [(row.measure, row.difference) for row in rows if row.difference is not None]
    skewed = dict.fromkeys(
        measure for measure, apart in tested if apart.differing >= FEW_DIFFER and abs(apart.skewness) > SKEWED
    )
    if skewed:
        yield f"differences of {', '.join(skewed)} are skewed: the chance of any wrong rejection at .05 may be 8 %"


def counted_queries(count: int) -> str:
    """Return a number of queries in words."""
    return f"{count:,} {'query' if count == 1 else 'queries'}"
