"""The same runs under many protocols: how far their scores are apart, and which option explains each difference.

Two protocols differ in some of their options. Each of these is changed alone, to see which matter, then one after the
other from the first protocol to the second, the weightiest first: so the changes add up to the whole difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from karat.corpus import Corpus, Run
from karat.errors import MissingExtraError
from karat.evaluate import as_corpus, as_protocols, as_runs, score
from karat.protocol import KARAT, Protocol, change, published
from karat.results import Results
from karat.text.tokens import tokenizer

DEFAULT_METRIC = "f1@M:present"

Values = tuple[float, ...]  # one a system


@dataclass(frozen=True, slots=True)
class Step:
    """One option changed, and by how much each system's score changed with it."""

    option: str
    before: str
    after: str
    changes: Values


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a protocol scores otherwise than another: the options that matter, the weightiest first."""

    protocol: str
    against: str
    differences: Values
    steps: tuple[Step, ...]
    idle: tuple[str, ...]  # options that differ and change nothing here


@dataclass(frozen=True, slots=True)
class Spread:
    """How far a system's scores under all protocols are apart."""

    system: str
    lowest: str
    low: float
    highest: str
    high: float


@dataclass(frozen=True, slots=True)
class Audit:
    """One metric of some runs under many protocols, with what explains the differences."""

    results: Results
    metric: str
    systems: tuple[str, ...]
    protocols: tuple[Protocol, ...]
    values: dict[str, Values]  # by protocol
    causes: tuple[Cause, ...]
    extremes: tuple[Cause, ...]  # for each system, its highest protocol against its lowest
    notes: tuple[str, ...]

    def spreads(self) -> list[Spread]:
        """For each system its lowest and its highest score."""
        return [_spread(system, {p: v[i] for p, v in self.values.items()}) for i, system in enumerate(self.systems)]

    def rankings(self) -> dict[tuple[tuple[str, ...], ...], list[str]]:
        """Each ranking of the systems (best first, equals together, to four digits) with its protocols."""
        found: dict[tuple[tuple[str, ...], ...], list[str]] = {}
        for protocol, values in self.values.items():
            found.setdefault(_ranking(self.systems, values), []).append(protocol)
        return found

    def save(self, path: str | Path) -> None:
        """Writes the scores under all protocols as a `.karat` file."""
        self.results.save(path)

    def as_dict(self) -> dict[str, Any]:
        """The whole audit as plain values: the envelope of `score`, and what only an audit has."""
        return self.results.as_dict() | {
            "notes": list(self.notes),
            "spread": [asdict(spread) for spread in self.spreads()],
            "rankings": [
                {"order": [list(equals) for equals in order], "protocols": protocols}
                for order, protocols in self.rankings().items()
            ],
            "causes": [self._cause_dict(cause) for cause in (*self.causes, *self.extremes)],
        }

    def _cause_dict(self, cause: Cause) -> dict[str, Any]:
        def by_system(values: Values) -> dict[str, float | None]:
            return {s: None if v != v else v for s, v in zip(self.systems, values, strict=True)}

        return {
            "protocol": cause.protocol,
            "against": cause.against,
            "difference": by_system(cause.differences),
            "steps": [
                {"option": s.option, "before": s.before, "after": s.after, "change": by_system(s.changes)}
                for s in cause.steps
            ],
            "idle": list(cause.idle),
        }


def audit(
    corpus: str | Path | Corpus,
    *runs: str | Path | Run,
    metric: str = DEFAULT_METRIC,
    protocol: Sequence[str | Protocol] = (),
    against: str | Protocol = KARAT,
    causes: bool = True,
    **options: Any,
) -> Audit:
    """One metric of runs under every published protocol (or those given), and what explains each difference.

    Every protocol is compared with `against`; the keywords are those of `karat.evaluate.Options`.
    """
    language = options.pop("language", None)
    given, systems = as_corpus(corpus), as_runs(runs)
    protocols, notes = (
        _usable(as_protocols([against, *protocol], language))
        if protocol
        else _usable(as_protocols([against, *published()], language), skip=True)
    )
    measure = _Measure(given, systems, metric, options)
    results = measure.results(protocols)
    values = {str(p): measure.known[str(p)] for p in protocols}
    found = _causes(measure, [(protocols[0], p) for p in protocols[1:]]) if causes else []
    far = _causes(measure, _extremes(values, protocols, len(systems))) if causes else []
    return Audit(
        results,
        metric,
        tuple(run.name for run in systems),
        protocols,
        values,
        tuple(found),
        tuple(far),
        (*results.remarks, *notes),
    )


def _usable(protocols: Sequence[Protocol], skip: bool = False) -> tuple[tuple[Protocol, ...], list[str]]:
    """The protocols that can be used here, and notes on those that cannot."""
    usable, notes = [], []
    for protocol in protocols:
        try:
            tokenizer(protocol.matching.tokenizer)("a")
        except MissingExtraError as error:
            if not skip:
                raise
            notes.append(f"{protocol} is left out: {error}")
        else:
            usable.append(protocol)
    return tuple(usable), notes


@dataclass(frozen=True, slots=True)
class _Measure:
    """The metric of all systems under a protocol, computed once for each."""

    corpus: Corpus
    runs: Sequence[Run]
    metric: str
    options: dict[str, Any]
    known: dict[str, Values] = field(default_factory=dict)

    def results(self, protocols: Iterable[Protocol]) -> Results:
        found = score(self.corpus, *self.runs, metrics=[self.metric], protocol=list(protocols), **self.options)
        by_protocol: dict[str, list[float]] = {}
        for each in found.scores:  # in the order of the systems
            by_protocol.setdefault(each.protocol, []).append(each.value)
        self.known.update({name: tuple(values) for name, values in by_protocol.items()})
        return found

    def of(self, protocol: Protocol) -> Values:
        return self.known[str(protocol)]

    def prepare(self, protocols: Iterable[Protocol]) -> None:
        """Sees to it that the values of these are known."""
        new = {str(p): p for p in protocols if str(p) not in self.known}
        if new:
            self.results(new.values())


Pair = tuple[Protocol, Protocol]


def _causes(measure: _Measure, pairs: Sequence[Pair]) -> list[Cause]:
    """Why the second protocol of each pair scores otherwise than the first."""
    measure.prepare(change(a, **{o: v}) for a, b in pairs for o, v in _changed(a, b).items())
    orders = [_by_weight(measure, a, b) for a, b in pairs]
    measure.prepare(p for (a, _), (weighty, _) in zip(pairs, orders, strict=True) for p in _path(a, weighty))
    complete = [
        (weighty, idle) if _ends(measure, a, weighty) == measure.of(b) else (weighty | idle, {})
        for (a, b), (weighty, idle) in zip(pairs, orders, strict=True)
    ]
    measure.prepare(p for (a, _), (options, _) in zip(pairs, complete, strict=True) for p in _path(a, options))
    return [_cause(measure, a, b, options) for (a, b), (options, _) in zip(pairs, complete, strict=True)]


def _changed(a: Protocol, b: Protocol) -> dict[str, str]:
    """The options of the second protocol that are not those of the first."""
    before = a.options()
    return {option: value for option, value in b.options().items() if value != before[option]}


def _by_weight(measure: _Measure, a: Protocol, b: Protocol) -> tuple[dict[str, str], dict[str, str]]:
    """The options to change, those that matter alone, the weightiest first; and those that alone change nothing."""
    base = measure.of(a)
    changed = _changed(a, b)
    weights = {o: max(map(abs, _minus(measure.of(change(a, **{o: v})), base))) for o, v in changed.items()}
    order = sorted(changed, key=lambda option: -weights[option])
    return (
        {option: changed[option] for option in order if weights[option]},
        {option: changed[option] for option in order if not weights[option]},
    )


def _path(start: Protocol, options: dict[str, str]) -> list[Protocol]:
    """The protocols on the way from one to another, one more option being changed in each."""
    return list(accumulate(options.items(), lambda p, item: change(p, **{item[0]: item[1]}), initial=start))


def _ends(measure: _Measure, start: Protocol, options: dict[str, str]) -> Values:
    return measure.of(_path(start, options)[-1])


def _cause(measure: _Measure, a: Protocol, b: Protocol, options: dict[str, str]) -> Cause:
    before = a.options()
    values = [measure.of(protocol) for protocol in _path(a, options)]
    changes = [_minus(after, first) for first, after in pairwise(values)]
    steps = [
        Step(option, before[option], value, change_)
        for (option, value), change_ in zip(options.items(), changes, strict=True)
        if any(change_)
    ]
    told = {step.option for step in steps}
    idle = tuple(option for option in _changed(a, b) if option not in told)
    return Cause(str(b), str(a), _minus(measure.of(b), measure.of(a)), tuple(steps), idle)


def _minus(left: Values, right: Values) -> Values:
    """The differences; two undefined values are equal."""
    return tuple(0.0 if x != x and y != y else x - y for x, y in zip(left, right, strict=True))


def _extremes(values: dict[str, Values], protocols: Sequence[Protocol], systems: int) -> list[Pair]:
    """For each system its lowest and highest protocol, experimental ones aside, if they were not compared already."""
    by_name = {str(protocol): protocol for protocol in protocols if not protocol.experimental}
    found: dict[tuple[str, str], Pair] = {}
    for i in range(systems if by_name else 0):
        spread = _spread("", {name: values[name][i] for name in by_name})
        pair = spread.lowest, spread.highest
        if spread.high > spread.low and str(protocols[0]) not in pair:
            found[pair] = by_name[spread.lowest], by_name[spread.highest]
    return list(found.values())


def _spread(system: str, values: dict[str, float]) -> Spread:
    defined = {protocol: value for protocol, value in values.items() if value == value} or values
    low, high = min(defined, key=defined.__getitem__), max(defined, key=defined.__getitem__)
    return Spread(system, low, defined[low], high, defined[high])


def _ranking(systems: Sequence[str], values: Values) -> tuple[tuple[str, ...], ...]:
    by_value: dict[float, list[str]] = {}
    for system, value in zip(systems, values, strict=True):
        by_value.setdefault(-1.0 if value != value else round(value, 4), []).append(system)
    return tuple(tuple(by_value[value]) for value in sorted(by_value, reverse=True))
