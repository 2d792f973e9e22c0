"""The columns of a table: which value is best, which differ significantly, and the mean ranks over columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan

import numpy as np

from karat.analyses.compare.families import Family
from karat.analyses.compare.measure import Measured
from karat.analyses.compare.options import CompareOptions
from karat.analyses.compare.ranks import best_systems, ranked_systems
from karat.analyses.compare.result import Pair
from karat.analyses.table.options import TableOptions
from karat.analyses.table.result import MeanRanks, Names, Value
from karat.metrics.base import Request
from karat.stats.ranks import row_ranks

APART, WORSE = "†", "‡"  # of a value that differs significantly; that is worse than the baseline


def values_of(family: Family, table: str, tests: Tests | None, options: TableOptions) -> Iterator[Value]:
    """The values of a metric on a corpus: which is best, and which differ from that or from the baseline."""
    values = {name: float(np.mean([score.value for score in seeds])) for name, seeds in family.systems.items()}
    best, second = best_systems(family, values)
    baseline = (options.baseline,) if options.baseline in values else ()
    against = [name for name in (best if options.baseline is None else baseline) if name is not None]
    ranks, where = _ranks(values, family.request), (family.corpus, family.protocol, family.request)
    for name, seeds in family.systems.items():
        found = Value(
            table,
            family.protocol,
            family.corpus,
            family.request,
            name,
            values[name],
            family.common,
            max(max(score.undefined for score in seeds) - (family.documents - family.common), 0),
            len(seeds),
            tests.intervals[(*where, name)] if tests and options.intervals else None,
            ranks.get(name),
            name in best,
            name in second,
        )
        tested = tests is not None and options.significance and against and name not in against
        yield _marked(found, against, tests) if tests is not None and tested else found


def _ranks(values: Mapping[str, float], request: Request) -> dict[str, float]:
    """The rank of each system, 1 being best; none where no way is better or a value is undefined."""
    column = np.array([list(values.values())])
    if request.spec.better is None or np.isnan(column).any():
        return {}
    ranks = row_ranks(column if request.spec.better == "lower" else -column)
    return dict(zip(values, ranks[0].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Tests:
    """What was measured, to be looked up."""

    options: CompareOptions
    intervals: Mapping[tuple[str, str, Request, str], tuple[float, float]]
    pairs: Mapping[tuple[str, str, Request, frozenset[str]], Pair]

    @classmethod
    def of(cls, measured: Measured) -> Tests:
        """The same by corpus, protocol, metric and system, or both systems."""
        return cls(
            measured.options,
            {(e.corpus, e.protocol, e.request, e.system): e.interval for e in measured.standings},
            {(e.corpus, e.protocol, e.request, frozenset((e.a, e.b))): e for e in measured.pairs},
        )


def _marked(found: Value, against: Sequence[str], tests: Tests) -> Value:
    """A value with its tests against other systems, and a mark if it differs from all of these."""
    where = found.corpus, found.protocol, found.request
    pairs = [tests.pairs[(*where, frozenset((found.system, other)))] for other in against]
    adjusted = [pair.apart.adjusted for pair in pairs]
    if any(map(isnan, adjusted)):  # too few documents in common
        return found
    largest = int(np.argmax(adjusted))
    apart_of = pairs[largest].apart
    better = found.request.spec.better
    first = pairs[0].apart if pairs[0].a == found.system else pairs[0].apart.reversed()
    worse = (first.value > 0 if better == "lower" else first.value < 0) and better is not None
    return replace(
        found,
        against=tuple(against),
        test=apart_of.test,
        p=apart_of.p,
        p_adjusted=adjusted[largest],
        p_approximate=apart_of.adjusted_approximate,
        mark=(WORSE if worse and tests.options.baseline else APART) if max(adjusted) <= tests.options.alpha else "",
    )


# ---------------------------------------------------------------------------------------------- mean ranks


def mean_ranks(values: Sequence[Value], names: Names) -> Iterator[MeanRanks]:
    """For each table the mean ranks of its systems, as `ranked_systems` chooses them; each column counts once."""
    for protocol in dict.fromkeys(value.table for value in values):
        own = [value for value in values if value.table == protocol]
        if len({value.system for value in own}) < 2:
            continue
        present = dict.fromkeys((value.corpus, value.system) for value in own)
        corpora = [name for name in names.corpora if any(corpus == name for corpus, _ in present)]
        systems, common = ranked_systems(present, corpora) or ((), ())
        columns: dict[tuple[str, Request], dict[str, float]] = {}
        for value in own:
            if value.corpus in common and value.system in systems:
                columns.setdefault((value.corpus, value.request), {})[value.system] = value.value
        ranks = [_ranks(column, request) for (_, request), column in columns.items() if len(column) == len(systems)]
        complete = [column for column in ranks if column]
        means = {name: float(np.mean([each[name] for each in complete])) for name in systems} if complete else {}
        yield MeanRanks(protocol, means, common, len(complete))
