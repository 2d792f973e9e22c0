"""The verb: correlations with their intervals, the ceiling, comparisons, and notes on what is undefined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat.analyses.human.items import Coefficient, Column, Given, HumanOptions, of_pairs, of_sets
from karat.analyses.human.result import TESTS, Agreement, Ceiling, Comparison, Correlation, Human, Mean, Share
from karat.errors import InputError, unknown
from karat.formats.human import HumanLike, Judged, read_judged
from karat.matching.inputs import CorpusLike, MetricsLike, ProtocolLike, RunLike, as_metrics, as_runs
from karat.options import By, Extra, Missing, Progress, options_from, public
from karat.similarity.classes import CLASSES, Classes
from karat.stats.base import ALIKE, Floats, Ints, interval
from karat.stats.corrections import bounded
from karat.stats.correlation import (
    COEFFICIENTS,
    Combination,
    Resampled,
    Scale,
    bootstrap_p,
    combined,
    correlate,
    equal_shares,
    holm,
    krippendorff,
    mean_of_defined,
    on_floor,
    resample,
    williams,
)
from karat.vocabulary import VocabularyLike

Pair = tuple[Floats, Floats]  # two columns over the same items


@public(HumanOptions)
def human(
    scores: HumanLike,
    *,
    corpus: CorpusLike | None = None,
    runs: RunLike = (),
    metrics: MetricsLike | None = None,
    protocol: ProtocolLike = "karat",
    combine: Combination = "mean",
    coefficient: Coefficient | None = None,
    against: str | None = None,
    level_of_scale: Scale = "interval",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Human:
    """How well metrics go with the scores that people gave to sets or to pairs.

    `scores` is a path, or dicts of the same fields. Scores of sets need the corpus and the runs that were scored, and
    `metrics` are as for `karat.score`; for scores of pairs they are names of similarities, and a corpus is needed for
    `context` alone. Raises InputError if scores are of documents, systems or metrics that are not there.
    """
    chosen = options_from(HumanOptions, locals())
    requested = None if metrics is None else list(dict.fromkeys(as_metrics(metrics) or ()))
    if requested is not None and not requested:
        raise InputError("there is no metric to measure against people")
    systems = as_runs([] if isinstance(runs, list | tuple) and not runs else [runs])
    judged = read_judged(scores)
    given = (of_sets if judged.kind == "sets" else of_pairs)(judged, corpus, systems, requested, chosen)
    names = [column.name for column in given.columns]
    if against is not None and against not in names:
        raise unknown("metric to compare with", against, names)
    return _measure(_Task.of(judged, given, chosen))


@dataclass(frozen=True, slots=True)
class _Task:
    """What is measured: metrics, people and each annotator beside the others, all over the same items."""

    judged: Judged
    given: Given
    options: HumanOptions
    people: Floats
    others: list[Pair]  # by annotator; none where there is but one

    @classmethod
    def of(cls, judged: Judged, given: Given, options: HumanOptions) -> _Task:
        """The scores combined, and all columns freed of what only rounding tells apart."""
        columns = [replace(column, values=_to_twelve_digits(column.values)) for column in given.columns]
        several = len(judged.annotators) > 1
        others = [np.delete(judged.values, a, axis=1) for a in range(len(judged.annotators)) if several]
        combinations = [_to_twelve_digits(combined(values, options.combine)) for values in others]
        return cls(
            judged,
            replace(given, columns=columns),
            options,
            _to_twelve_digits(combined(judged.values, options.combine)),
            list(zip(judged.values.T, combinations, strict=several)),
        )

    def resampled(self, subset: str) -> Resampled:
        """The coefficients on a subset: first those of the metrics, then those of the annotators."""
        pairs = [*((column.values, self.people) for column in self.given.columns), *self.others]
        some = self.given.subsets[subset]
        return self.resample([(x[some], y[some]) for x, y in pairs], self.given.units[some])

    def resample(self, pairs: list[Pair], units: Ints) -> Resampled:
        """The coefficients of pairs of columns, on as many resamples as the options say."""
        return resample(pairs, units, self.options.resamples, self.options.seed)


def _to_twelve_digits(values: Floats) -> Floats:
    return np.array([float(f"{value:.12g}") for value in values.tolist()], dtype=np.float64)


def _measure(work: _Task) -> Human:
    """The whole result on the items, subset by subset."""
    judged, given, options = work.judged, work.given, work.options
    coefficient = options.coefficient or ("spearman" if judged.kind == "pairs" else "pearson")
    whole = work.resampled("all")
    by_subset = [_on_subset(work, whole if s == "all" else work.resampled(s), s) for s in given.subsets]
    rows = [row for own, _ in by_subset for row in own]
    best = _best(given.columns, rows[: len(given.columns)], coefficient)
    people = _people(work, whole)
    return Human(
        kind=judged.kind,
        origin=judged.origin,
        items=len(judged.items),
        names=judged.annotators,
        options=options,
        coefficient=coefficient,
        best=tuple(column.name for column in best),
        correlations=tuple(rows),
        people=tuple(people),
        agreement=_agreement(work, [ceiling for _, ceilings in by_subset for ceiling in ceilings]),
        means=tuple(_means(given.classes, combined(judged.values, options.combine))),
        compared=tuple(_compare(work, whole, _opponent(given.columns, best, options.against))),
        signatures={**given.signatures, "human": options.signature()},
        notes=(*_file_notes(judged), *given.notes, *_people_notes(people), *_undefined(work, rows)),
    )


def _on_subset(work: _Task, found: Resampled, subset: str) -> tuple[list[Correlation], list[Ceiling]]:
    """The correlations of the metrics on a subset, and the ceiling if there is one."""
    columns = enumerate(work.given.columns)
    rows = [_correlation(found, i, column, subset, work.options.level) for i, column in columns]
    return rows, [_ceiling(work, found, subset)] if work.others else []


def _correlation(found: Resampled, pair: int, column: Column, subset: str, level: float) -> Correlation:
    """The correlations of a metric."""
    n = int(found.counts[pair])
    own = Correlation(column.name, column.metric, column.options, column.subset or subset, n)
    return _with_figures(own, found.values[pair], found.resampled[pair], level)


def _with_figures(own: Correlation, values: Floats, resampled: Floats, level: float) -> Correlation:
    defined = not np.isnan(values).all()
    return replace(
        own,
        values=tuple(values.tolist()),
        intervals=tuple(interval(each if defined else each[:0], level) for each in resampled),
        undefined=int(np.isnan(resampled).any(axis=0).sum()) if defined else 0,
    )


# ---------------------------------------------------------------------------------------------- people


def _people(work: _Task, found: Resampled) -> list[Correlation]:
    """The correlations of each annotator with the others."""
    first, level = len(work.given.columns), work.options.level
    return [
        _with_figures(
            Correlation(work.judged.annotators[a], "", {}, "all", int(found.counts[first + a])),
            found.values[first + a],
            found.resampled[first + a],
            level,
        )
        for a in range(len(work.others))
    ]


def _agreement(work: _Task, ceilings: Sequence[Ceiling]) -> Agreement:
    values, scale = work.judged.values, work.options.level_of_scale
    return Agreement(
        krippendorff(values, scale),
        scale,
        tuple(Share(*share) for share in equal_shares(values)),
        tuple(ceilings),
    )


def _ceiling(work: _Task, found: Resampled, subset: str) -> Ceiling:
    """The mean over annotators of the correlation of one with the others, on the sample and on every resample."""
    first = len(work.given.columns)
    values = work.judged.values[work.given.subsets[subset]]
    shared = int(((~np.isnan(values)).sum(axis=1) > 1).sum())
    left_out = int(np.isnan(found.values[first:]).all(axis=1).sum())
    mean = _with_figures(
        Correlation("", "", {}, subset, shared),
        mean_of_defined(found.values[first:]),
        mean_of_defined(found.resampled[first:]),
        work.options.level,
    )
    return Ceiling(mean, len(work.others) - left_out, left_out)


def _means(classes: Sequence[Classes], people: Floats) -> list[Mean]:
    """The mean of people's scores by direction and location, in the order of CLASSES."""
    found = []
    for direction in CLASSES["direction"]:
        for location in CLASSES["location"]:
            own = np.array([(c.location, c.direction) == (location, direction) for c in classes], dtype=bool)
            if own.any():
                found.append(Mean(location, direction, int(own.sum()), float(people[own].mean())))
    return found


# ---------------------------------------------------------------------------------------------- comparisons


def _best(columns: Sequence[Column], rows: Sequence[Correlation], coefficient: str) -> list[Column]:
    """The metrics that go best with people, by one coefficient; several where they are equal."""
    values = [c.sign * row.values[COEFFICIENTS.index(coefficient)] for c, row in zip(columns, rows, strict=True)]
    highest = max((value for value in values if value == value), default=np.nan)
    return [column for column, value in zip(columns, values, strict=True) if abs(value - highest) < ALIKE]


def _opponent(columns: Sequence[Column], best: Sequence[Column], against: str | None) -> int | None:
    """Which metric the others are compared with: the one that was chosen, or the best."""
    names = [column.name for column in columns]
    if against is not None:
        return names.index(against)
    return names.index(best[0].name) if best else None


def _compare(work: _Task, found: Resampled, opponent: int | None) -> list[Comparison]:
    """Every other metric against one; the p of each test are adjusted over all comparisons."""
    if opponent is None:
        return []
    made = [_comparison(work, found, i, opponent) for i in range(len(work.given.columns)) if i != opponent]
    p = [[each.p[test] for each in made] for test in range(len(TESTS))]
    at_floor = [[each.at_floor[test] for each in made] for test in range(len(TESTS))]
    after = [holm(own) for own in p]
    bounds = [bounded(own, floored) for own, floored in zip(p, at_floor, strict=True)]
    return [
        replace(each, adjusted=tuple(own[n] for own in after), adjusted_at_floor=tuple(own[n] for own in bounds))
        for n, each in enumerate(made)
    ]


def _comparison(work: _Task, found: Resampled, i: int, j: int) -> Comparison:
    """One metric against another, on the items that both are defined on."""
    a, b = work.given.columns[i], work.given.columns[j]
    both = ~np.isnan(a.values) & ~np.isnan(b.values)
    if not found.counts[i] == found.counts[j] == both.sum():
        pairs = [(np.where(both, column.values, np.nan), work.people) for column in (a, b)]
        found, i, j = work.resample(pairs, work.given.units), 0, 1
    # Where lower is better, a metric goes well with people when it goes against them.
    of_a, of_b = a.sign * found.values[i], b.sign * found.values[j]
    resampled = a.sign * found.resampled[i] - b.sign * found.resampled[j]  # [3, resamples]
    resampled = resampled if not np.isnan(of_a - of_b).all() else resampled[:, :0]
    between = a.sign * b.sign * float(correlate(a.values[both], b.values[both])[0, 0])
    _, p = williams(float(of_a[0]), float(of_b[0]), between, int(both.sum()))
    return Comparison(
        name=a.name,
        metric=a.metric,
        options=a.options,
        subset=a.subset or "all",
        against=b.name,
        n=int(both.sum()),
        differences=tuple((of_a - of_b).tolist()),
        intervals=tuple(interval(each, work.options.level) for each in resampled),
        p=(*map(bootstrap_p, resampled), p),
        at_floor=(*map(on_floor, resampled), False),
    )


# ---------------------------------------------------------------------------------------------- notes

_FEW = "fewer than two items"


def _file_notes(judged: Judged) -> list[str]:
    said = []
    if judged.repeats:
        said.append(f"{judged.repeats:,} scores were given again, the same as before, and count once")
    if len(judged.annotators) < 2:
        said.append("there is one annotator, so that there is neither a ceiling nor agreement")
    return said


def _people_notes(people: Sequence[Correlation]) -> list[str]:
    said = []
    for each in people:
        if np.isnan(each.values).all():
            few = f"{_FEW} that others scored"
            why = few if each.n < 2 else "the scores of this annotator or of the others are all equal"
            said.append(f"annotator {each.name or 'without a name'}: undefined, {why}; left out of the ceiling")
    return said


def _undefined(work: _Task, rows: Sequence[Correlation]) -> list[str]:
    """Which metrics are undefined in which subsets and why, and which resamples were left out."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if np.isnan(row.values).all():
            reasons.setdefault((row.subset, _why(work, row)), []).append(row.name)
    subsets: dict[tuple[str, str], list[str]] = {}
    for (subset, why), names in reasons.items():
        subsets.setdefault((_names(work, names), why), []).append(subset)
    said = [f"{names} in {', '.join(some)}: undefined, {why}" for (names, why), some in subsets.items()]
    lost = [_most_left_out(work, [row for row in rows if row.subset == s]) for s in {row.subset: 0 for row in rows}]
    if any(lost):
        total = f"resamples of {work.options.resamples:,} that are undefined and left out of the intervals, at most"
        said.append(f"{total}: {'; '.join(filter(None, lost))}")
    return said


def _most_left_out(work: _Task, rows: Sequence[Correlation]) -> str:
    """How many resamples were left out in a subset, of the metrics that lost the most; nothing where none was."""
    most = max(row.undefined for row in rows)
    return f"{rows[0].subset} {most:,} ({_names(work, [r.name for r in rows if r.undefined == most])})" if most else ""


def _why(work: _Task, row: Correlation) -> str:
    if row.n < 2:
        return _FEW
    [column] = [column for column in work.given.columns if column.name == row.name]
    some = work.given.subsets[row.subset if column.subset is None else "all"] & ~np.isnan(column.values)
    constant = len(np.unique(work.people[some])) == 1
    return "people's scores are all equal" if constant else "the metric has the same value everywhere"


def _names(work: _Task, names: Sequence[str]) -> str:
    every = len(names) == len(work.given.columns) > 1
    return "every metric" if every else ", ".join(names)
