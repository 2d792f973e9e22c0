"""The same runs under many protocols: how far their scores are apart, and which option explains each difference.

Two protocols differ in some of their options. Each of these is changed alone, to see which matter, then one after the
other from the first protocol to the second, the weightiest first: so the changes add up to the whole difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate, pairwise
from math import inf, isnan
from pathlib import Path
from typing import Any

from karat.analyses.score import ScoreOptions, score_with
from karat.corpus import Corpus, Run
from karat.errors import MissingExtraError
from karat.matching.inputs import (
    CorpusLike,
    Development,
    ProtocolLike,
    ProtocolsLike,
    RunLike,
    as_corpus,
    as_list,
    as_protocols,
    as_runs,
)
from karat.metrics.base import parse_request
from karat.options import (
    By,
    JoinOptions,
    Missing,
    Progress,
    WorkOptions,
    development_option,
    group,
    option,
    options_from,
    protocol_option,
    public,
)
from karat.protocol import Counting, Matching, Protocol, change, published, signature_facts
from karat.results import Displayed, Results
from karat.text.tokens import tokenizer

DEFAULT_METRIC = "f1@M:present"

SAMPLE = 2000  # documents on which is seen which options matter

Values = tuple[float, ...]  # one a system
Choices = tuple[Matching, Counting]
Ranking = tuple[tuple[str, ...], ...]  # systems, best first; equal ones together
Pair = tuple[Protocol, Protocol]


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
class Audit(Displayed):
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

    def rankings(self) -> dict[Ranking, list[str]]:
        """Each ranking of the systems (best first, equals together, to four digits) with its protocols.

        Where a system's score is undefined there is no ranking, and the protocol is left out.
        """
        found: dict[Ranking, list[str]] = {}
        lower = parse_request(self.metric).spec.better == "lower"
        for protocol, values in self.values.items():
            if not any(map(isnan, values)):
                found.setdefault(_ranking(self.systems, values, lower), []).append(protocol)
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


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """How `audit` works."""

    metric: str = option(
        DEFAULT_METRIC, "The metric.", flags=("-m", "--metric"), metavar="METRIC", complete="metrics", once=True
    )
    protocol: ProtocolsLike = protocol_option(value=(), repeatable=True, otherwise="all published ones")
    against: ProtocolLike = option(
        "karat", "What the others are explained by comparison with.", metavar="PROTOCOL", complete="protocols"
    )
    causes: bool = option(True, "Whether to look for what explains the differences.")
    join: JoinOptions = group(JoinOptions)
    development: Development | None = development_option()
    work: WorkOptions = group(WorkOptions)


@public(AuditOptions)
def audit(
    corpus: CorpusLike,
    *runs: RunLike,
    metric: str = DEFAULT_METRIC,
    protocol: ProtocolsLike = (),
    against: ProtocolLike = "karat",
    causes: bool = True,
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    development: Development | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Audit:
    """One metric of runs under every published protocol (or those given), and what explains each difference.

    Every protocol is compared with `against`. Raises InputError if a protocol or the metric cannot be used, or if a run
    does not fit the corpus.
    """
    options = options_from(AuditOptions, locals())
    given, systems = as_corpus(corpus), as_runs(runs)
    listed, notes = _usable([against, *(as_list(protocol) or published())], skip=not protocol)
    scoring = ScoreOptions(metrics=metric, join=options.join, development=development, work=options.work)
    measure = _Measure(given, systems, scoring)
    results = measure.results(listed)  # as they were given: a signature also says which references it is of
    chosen = signature_facts(next(iter(results.signatures.values())))["set"]
    join = replace(options.join, references=None if chosen == "keyphrases" else chosen)
    measure = replace(measure, scoring=replace(scoring, join=join))
    protocols = as_protocols(listed, language)
    values = {str(p): measure.of(p) for p in protocols}
    found: list[Cause] = []
    far: list[Cause] = []
    if causes:
        sample = measure.sample(len(results.ids))
        found = _causes(measure, sample, [(protocols[0], p) for p in protocols[1:]])
        far = _causes(measure, sample, _extremes(values, protocols, len(systems)))
    return Audit(
        results,
        metric,
        tuple(run.name for run in systems),
        protocols,
        values,
        tuple(found),
        tuple(far),
        (*results.remarks, *notes, *_left_out(results)),
    )


def _left_out(results: Results) -> list[str]:
    """What a reader should know of documents that are left out, and of phrases that are merged, by some protocols."""
    missing = {tally.system: tally.missing for tally in results.tallies if tally.missing}
    undefined: dict[int, list[str]] = {}
    for each in results.scores:
        if each.undefined and each.protocol not in undefined.setdefault(each.undefined, []):
            undefined[each.undefined].append(each.protocol)
    return [
        *(f"{system}: {count:,} documents without predictions in the run" for system, count in missing.items()),
        *(f"{count:,} documents left out, undefined, under {', '.join(names)}" for count, names in undefined.items()),
        *(note for tally in results.tallies for note in tally.spelling_notes()),
    ]


def _usable(listed: Sequence[str | Protocol], skip: bool) -> tuple[list[str | Protocol], list[str]]:
    """The protocols that can be used here, and notes on those that cannot, unless these were asked for."""
    usable, notes = [], []
    for given in listed:
        [protocol] = as_protocols([given])
        try:
            tokenizer(protocol.matching.tokenizer)("a")
        except MissingExtraError as error:
            if not skip:
                raise
            notes.append(f"{protocol} is left out: {error}")
        else:
            usable.append(given)
    return usable, notes


@dataclass(frozen=True, slots=True)
class _Measure:
    """The metric of all systems under a protocol, computed once for each choice of options."""

    corpus: Corpus
    runs: Sequence[Run]
    scoring: ScoreOptions
    known: dict[Choices, Values] = field(default_factory=dict)

    def sample(self, documents: int) -> _Measure:
        """The same on a part of the documents, where there are many."""
        if documents <= SAMPLE:
            return self
        return replace(self, scoring=replace(self.scoring, shard=f"1/{documents // SAMPLE}"), known={})

    def results(self, protocols: Sequence[str | Protocol]) -> Results:
        """The scores under protocols, which are known from now on."""
        found = score_with(self.corpus, self.runs, replace(self.scoring, protocol=protocols))
        language = self.scoring.join.language
        by_name = {str(p): (p.matching, p.counting) for p in as_protocols(protocols, language)}
        values: dict[str, list[float]] = {}
        for each in found.scores:  # in the order of the systems
            values.setdefault(each.protocol, []).append(each.value)
        self.known.update({by_name[name]: tuple(each) for name, each in values.items()})
        return found

    def of(self, protocol: Protocol) -> Values:
        """The values under a protocol that is known."""
        return self.known[protocol.matching, protocol.counting]

    def prepare(self, protocols: Iterable[Protocol]) -> None:
        """Sees to it that the values under these are known."""
        new = {(p.matching, p.counting): p for p in protocols if (p.matching, p.counting) not in self.known}
        if new:
            self.results(list(new.values()))


def _causes(measure: _Measure, sample: _Measure, pairs: Sequence[Pair]) -> list[Cause]:
    """Why the second protocol of each pair scores otherwise than the first.

    Which options matter, and in which order, is seen on the sample; what they change is of all documents.
    """
    sample.prepare(p for a, b in pairs for p in (a, *(change(a, **{o: v}) for o, v in _changed(a, b).items())))
    orders = [_by_weight(sample, a, b) for a, b in pairs]
    measure.prepare(p for (a, _), (weighty, _) in zip(pairs, orders, strict=True) for p in _path(a, weighty))
    complete = [
        weighty if _equal(measure.of(_path(a, weighty)[-1]), measure.of(b)) else weighty | idle
        for (a, b), (weighty, idle) in zip(pairs, orders, strict=True)
    ]
    measure.prepare(p for (a, _), options in zip(pairs, complete, strict=True) for p in _path(a, options))
    return [_cause(measure, a, b, options) for (a, b), options in zip(pairs, complete, strict=True)]


def _changed(a: Protocol, b: Protocol) -> dict[str, str]:
    """The options of the second protocol that are not those of the first."""
    before = a.options()
    return {option: value for option, value in b.options().items() if value != before[option]}


def _by_weight(measure: _Measure, a: Protocol, b: Protocol) -> tuple[dict[str, str], dict[str, str]]:
    """The options to change, those that matter alone, the weightiest first; and those that alone change nothing."""
    base = measure.of(a)
    changed = _changed(a, b)
    weights = {o: max(map(_weight, _minus(measure.of(change(a, **{o: v})), base))) for o, v in changed.items()}
    order = sorted(changed, key=lambda option: -weights[option])
    return (
        {option: changed[option] for option in order if weights[option]},
        {option: changed[option] for option in order if not weights[option]},
    )


def _weight(change: float) -> float:
    """How much a change weighs; one to or from what is undefined weighs most."""
    return inf if isnan(change) else abs(change)


def _equal(left: Values, right: Values) -> bool:
    return not any(_minus(left, right))


def _path(start: Protocol, options: dict[str, str]) -> list[Protocol]:
    """The protocols on the way from one to another, one more option being changed in each."""
    return list(accumulate(options.items(), lambda p, item: change(p, **{item[0]: item[1]}), initial=start))


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
    """For each system its lowest and highest protocol, of all and without experimental ones, if not compared yet."""
    found: dict[tuple[str, str], Pair] = {}
    for among in (protocols, [protocol for protocol in protocols if not protocol.experimental]):
        by_name = {str(protocol): protocol for protocol in among}
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


def _ranking(systems: Sequence[str], values: Values, lower_is_better: bool) -> Ranking:
    by_value: dict[float, list[str]] = {}
    for system, value in zip(systems, values, strict=True):
        by_value.setdefault(round(value, 4), []).append(system)
    return tuple(tuple(by_value[value]) for value in sorted(by_value, reverse=not lower_is_better))
