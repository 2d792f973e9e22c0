"""Measures of every condition by query, their intervals, and their differences to the baseline with tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from karat.analyses.retrieval.bm25 import Ranked
from karat.analyses.retrieval.measures import Measure
from karat.analyses.retrieval.result import TEXT, Condition, RetrievalOptions, Row
from karat.formats.trec import Judgements, Rankings
from karat.matching.columns import Floats, Ints
from karat.metrics.base import divide
from karat.stats.corrections import adjusted, bounded
from karat.stats.resampling import Estimate, Sample, difference, estimate, interval_of
from karat.stats.tests import differences, enough_resamples, randomisations, too_few

FEW = 30  # queries, below which resamples are too alike


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
        return self._measured(map(self._relevance, rankings, self.known))

    def values_of(self, rankings: Rankings) -> Floats:
        """The same of rankings by id; a query that has none scores 0."""
        listed = (
            np.array([documents.get(identifier, 0) for identifier, _ in rankings.get(query, ())], dtype=np.int64)
            for query, documents in self.judgements.items()
        )
        return self._measured(listed)

    def _relevance(self, ranked: Ranked, known: Mapping[int, int]) -> Ints:
        found = np.zeros(len(ranked.documents), dtype=np.int64)
        for at in np.flatnonzero(np.isin(ranked.documents, list(known))).tolist():
            found[at] = known[int(ranked.documents[at])]
        return found

    def _measured(self, found: Iterable[Ints]) -> Floats:
        both = zip(found, self.judged, strict=True)
        return np.array([[measure.of(own, judged) for measure in self.measures] for own, judged in both])


@dataclass(frozen=True, slots=True)
class Compared:
    """The rows of all conditions and measures, how many of them were tested, and with how many resamples."""

    rows: tuple[Row, ...]
    comparisons: int
    resamples: int
    notes: tuple[str, ...] = field(default=())


def compared(values: Mapping[Condition, Floats], measures: Sequence[Measure], options: RetrievalOptions) -> Compared:
    """Every condition by every measure, with its interval, and its difference to the baseline with interval and p."""
    conditions = list(values)
    against = {each: _baseline(each, conditions, options.baseline) for each in conditions}
    pairs = list(dict.fromkeys((a.documents, b.documents) for a, b in against.items() if b is not None))
    pairs = [(a, b) for a, b in pairs if a != b]
    count = len(pairs) * len(measures)
    resamples = options.resamples or enough_resamples(max(count, 1))
    columns = {(each.name, m): values[each][:, m] for each in conditions for m in range(len(measures)) if not each.same}
    samples = {key: _mean_of(column) for key, column in columns.items()}
    estimates = dict(zip(samples, estimate(list(samples.values()), resamples, options.seed), strict=True))
    gains = _gains(pairs, columns, samples, estimates, resamples, options)
    rows = []
    for each in conditions:
        other = against[each]
        for m, measure in enumerate(measures):
            found = estimates[each.documents, m]
            own = Row(each, str(measure), found.value, interval_of(found, options.level, options.interval))
            gain = None if other is None else gains.get((each.documents, other.documents, m))
            rows.append(own if gain is None else replace(own, **gain))
    queries = len(next(iter(values.values())))
    return Compared(tuple(rows), count, resamples, tuple(_notes(queries, resamples, count, options)))


def _gains(
    pairs: Sequence[tuple[str, str]],
    columns: Mapping[tuple[str, int], Floats],
    samples: Mapping[tuple[str, int], Sample],
    estimates: Mapping[tuple[str, int], Estimate],
    resamples: int,
    options: RetrievalOptions,
) -> dict[tuple[str, str, int], dict[str, Any]]:
    """The fields of rows that tell of a difference, by the names of the two conditions and the measure."""
    keys = [(a, b, m) for a, b in pairs for m in sorted({m for _, m in columns})]
    tests = randomisations([(samples[a, m], samples[b, m]) for a, b, m in keys], resamples, options.seed)
    p, floors = [each.p for each in tests], [each.at_floor for each in tests]
    corrected = zip(adjusted(p, options.correction), bounded(p, floors, options.correction), strict=True)
    found = {}
    for (a, b, m), test, (high, bound) in zip(keys, tests, corrected, strict=True):
        gain, each = difference(estimates[a, m], estimates[b, m]), differences(columns[a, m], columns[b, m])
        found[a, b, m] = {
            "difference": gain.value,
            "difference_interval": interval_of(gain, options.level, options.interval),
            "p": test.p,
            "adjusted": high,
            "at_floor": test.at_floor,
            "adjusted_at_floor": bound,
            "better": int((each > 0).sum()),
            "worse": int((each < 0).sum()),
        }
    return found


def _mean_of(values: Floats) -> Sample:
    return Sample(np.stack([values, np.ones(len(values))], axis=1), lambda sums: divide(sums[..., 0], sums[..., 1]))


def _baseline(condition: Condition, conditions: Sequence[Condition], name: str | None) -> Condition | None:
    """What a condition is compared with: the text alone, or the phrases of another system of the same subset."""
    if name is None or name == TEXT:
        return None if condition.kind == "text" else conditions[0]
    own = [each for each in conditions if each.system == name and each.kind in ("references", "system")]
    same = next((each for each in own if each.subset == condition.subset), own[0])
    return None if condition.system == name and condition.kind == same.kind else same


def _notes(queries: int, resamples: int, comparisons: int, options: RetrievalOptions) -> Iterator[str]:
    if queries < FEW:
        yield f"only {queries} {'query' if queries == 1 else 'queries'}: intervals are surer than they should be"
    few = too_few(resamples, comparisons=max(comparisons, 1)) if options.correction == "holm" else None
    if few is not None:
        yield few
