"""The same runs under many protocols: how far their scores are apart, and which option explains each difference.

Two protocols differ in some of their options. Each of these is changed alone, to see which matter, then one after the
other from the first protocol to the second, the weightiest first: so the changes add up to the whole difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate, pairwise
from math import inf, isnan
from pathlib import Path
from typing import Any

from karat.analyses.score import ScoreOptions, reading_of, score_with
from karat.analyses.score import in_pass as scores_in_pass
from karat.corpus import Corpus, Run
from karat.errors import MissingExtraError, counted
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
from karat.matching.passes import Pass
from karat.metrics.base import parse_request, with_own_name
from karat.options import (
    By,
    Extra,
    MatchOptions,
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
from karat.protocol import Counting, Matching, Protocol, change, option_fields, published
from karat.results import Results
from karat.results.displayed import Displayed
from karat.tabular import NUMBER, SIGNED, Column, Group, Row, Table, number, signed
from karat.text.normalise import normaliser_of
from karat.vocabulary import VocabularyLike

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


@dataclass(frozen=True, slots=True, repr=False)
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

    def tables(self) -> Iterator[Table]:
        """The scores, protocols down and systems across; in words why they differ; how much each option changes."""
        title = f"{self.results.scores[0].corpus}, {counted(len(self.results.ids), 'document')}, {self.metric}"
        names = {p: f"{p}*" if p.experimental else str(p) for p in self.protocols}
        scores = Group([Row(name, self.values[str(protocol)]) for protocol, name in names.items()])
        spread = Group([Row("spread", [each.high - each.low for each in self.spreads()])])
        mark = [EXPERIMENTAL] if any(protocol.experimental for protocol in self.protocols) else []
        yield Table(
            title,
            "protocol",
            [Column(system, NUMBER) for system in self.systems],
            [scores, spread],
            notes=[_averages(self), *mark],
            items=list(_findings(self)),
            caption=" ".join([f"{title} under each protocol. {_averages(self)}", *(f"{each}." for each in mark)]),
        )
        if self.causes:
            yield Table("Why, found by changing one option at a time:", items=list(_reasons(self)))
        if effects := list(_effects(self)):
            yield Table(
                HOW_MUCH,
                f"against {self.protocols[0]}",
                [Column(system, SIGNED) for system in self.systems],
                effects,
                caption=f"{HOW_MUCH} {title} under each protocol. {_averages(self)}",
            )


# ---------------------------------------------------------------------------------------------- words

EXPERIMENTAL = "* experimental: not yet compared with figures of its script"
HOW_MUCH = "How much, one option after the other (rounded):"
VISIBLE = 0.00005  # a change that four printed digits can show


def _averages(audit: Audit) -> str:
    """Which average the scores are: mostly one, else that of each protocol."""
    found: dict[str, dict[str, None]] = {}
    for each in audit.results.scores:
        found.setdefault(each.request.average or "", {})[each.protocol] = None
    parts = [f"{average} under {', '.join(protocols)}" for average, protocols in found.items()]
    return f"Average: {'; '.join(parts if len(parts) > 1 else found)}."


def _findings(audit: Audit) -> Iterator[str]:
    """How far each system's scores are apart, and whether the ranking depends on the protocol."""
    if len(audit.protocols) < 2:
        return
    for spread in audit.spreads():
        low, high = number(spread.low), number(spread.high)
        if low == high:
            yield f"{spread.system}: {low} under every protocol{'' if spread.low == spread.low else ' (undefined)'}."
        else:
            yield f"{spread.system}: from {low} ({spread.lowest}) to {high} ({spread.highest})."
    if len(audit.systems) > 1:
        yield from _rankings(audit)


def _rankings(audit: Audit) -> Iterator[str]:
    found = audit.rankings()
    orders = {order: " > ".join(" = ".join(equals) for equals in order) for order in found}
    ranked = sum(map(len, found.values()))
    if len(found) == 1:
        some = f"all {ranked}" if ranked == len(audit.protocols) else f"the {ranked}"
        where = "" if ranked == len(audit.protocols) else " under which they are defined"
        yield f"The ranking is the same under {some} protocols{where}: {next(iter(orders.values()))}."
    elif found:
        yield "The ranking changes with the protocol:"
        for order, protocols in found.items():
            yield f"  {orders[order]} under {', '.join(protocols)}."


def _reasons(audit: Audit) -> Iterator[str]:
    """In words, for each option or two that explain most of a difference, whose difference and what they say."""
    groups: dict[tuple[str, str, tuple[OptionChange, ...]], list[str]] = {}
    same: dict[str, list[str]] = {}
    for cause in (*audit.causes, *audit.extremes):
        changes = {
            system: _option_changes(cause, i)
            for i, system in enumerate(audit.systems)
            if _visible(cause.differences[i : i + 1])
        }
        alike = len(set(changes.values())) == 1
        for system, options in changes.items():
            whose = groups.setdefault((cause.against, "" if alike else f" for {system}", options), [])
            if cause.protocol not in whose:
                whose.append(cause.protocol)
        if not changes:
            cancel = any(_visible(step.changes) for step in cause.steps)
            same.setdefault(", its options cancelling out" if cancel else "", []).append(cause.protocol)
    for (against, system, options), protocols in groups.items():
        yield f"{', '.join(protocols)} against {against}{system}: {_sentence(against, options)}"
    for how, alike_ones in same.items():
        yield f"{', '.join(alike_ones)}: as {audit.protocols[0]} to four digits{how}."


OptionChange = tuple[str, str, str, bool]  # an option, its value before and after, whether it is most of the difference


def _option_changes(cause: Cause, system: int) -> tuple[OptionChange, ...]:
    """The option that is at least half of a system's difference, or the two that are the most of it."""
    difference = cause.differences[system]
    with_it = [s for s in cause.steps if s.changes[system] != s.changes[system] or s.changes[system] * difference > 0]
    heaviest = sorted(with_it, key=lambda step: -abs(step.changes[system]))[:2]
    most = bool(heaviest) and not abs(heaviest[0].changes[system]) < abs(difference) / 2
    return tuple((s.option, s.before, s.after, most) for s in heaviest[: 1 if most else 2])


def _sentence(against: str, options: Sequence[OptionChange]) -> str:
    """Which options it is, and what each says."""
    if not options:
        return "many small changes."
    names = " and ".join(option for option, _, _, _ in options)
    first = f"mostly the option {names}." if options[0][3] else f"above all the options {names}."
    return " ".join([first, *(_meaning(against, *change[:3]) for change in options)])


def _meaning(against: str, option: str, before: str, after: str) -> str:
    metadata = option_fields()[option][1].metadata
    values, summary = metadata["values"], metadata["summary"]
    return f"{summary[:1].upper()}{summary[1:]}: {values.get(after, after)}; {against}: {values.get(before, before)}."


def _effects(audit: Audit) -> Iterator[Group]:
    """Protocols with their differences, and below them what each option changes that shows; equal ones together."""
    groups: dict[tuple[object, ...], list[Cause]] = {}
    for cause in (*audit.causes, *audit.extremes):
        groups.setdefault((cause.against, *_shown(cause)), []).append(cause)
    for causes in groups.values():
        steps = [step for step in causes[0].steps if _visible(step.changes)]
        if steps:
            against = "" if causes[0] in audit.causes else f" against {causes[0].against}"
            rows = [Row(f"{step.option}={step.after}", step.changes) for step in steps]
            yield Group(rows, ", ".join(cause.protocol for cause in causes) + against, causes[0].differences)


def _shown(cause: Cause) -> tuple[object, ...]:
    steps = ((step.option, step.after, *map(signed, step.changes)) for step in cause.steps if _visible(step.changes))
    return (*map(signed, cause.differences), *steps)


def _visible(changes: Values) -> bool:
    return any(abs(change) >= VISIBLE or change != change for change in changes)


# ---------------------------------------------------------------------------------------------- computing


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
    join: MatchOptions = group(MatchOptions)
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
    extra: Extra = "error",
    vocabulary: VocabularyLike | None = None,
    development: Development | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Audit:
    """One metric of runs under every published protocol (or those given), and what explains each difference.

    Every protocol is compared with `against`. Raises InputError if a protocol or the metric cannot be used, or if a run
    does not fit the corpus.
    """
    options = options_from(AuditOptions, locals())
    listed, notes = _usable([against, *(as_list(protocol) or published())], skip=not protocol)
    scoring = ScoreOptions(listed, metric, join=options.join, development=development, work=options.work)
    reading = reading_of(as_corpus(corpus), as_runs(runs), listed, options.join, options.work)
    finish = in_pass(reading, scoring, notes)
    reading.run()
    found = finish()
    if not causes:
        return found
    scoring = replace(scoring, join=replace(options.join, references=reading.setup.reference_set))
    known = {(p.matching, p.counting): found.values[str(p)] for p in found.protocols}
    measure = _Measure(reading.corpus, reading.runs, scoring, known)
    sample = measure.sample(len(found.results.ids))
    first, *others = found.protocols
    return replace(
        found,
        causes=tuple(_causes(measure, sample, [(first, each) for each in others])),
        extremes=tuple(_causes(measure, sample, _extremes(found.values, found.protocols, len(reading.runs)))),
    )


def in_pass(reading: Pass, scoring: ScoreOptions, notes: Sequence[str] = ()) -> Callable[[], Audit]:
    """Registers what an audit needs of a pass; what comes back gives it, without causes, once the pass has run."""
    protocols = as_protocols(as_list(scoring.protocol), scoring.join.language)
    scores = scores_in_pass(reading, scoring)

    def finish() -> Audit:
        results = scores()
        values: dict[str, list[float]] = {}
        for each in results.scores:  # in the order of the systems
            values.setdefault(each.protocol, []).append(each.value)
        return Audit(
            results,
            with_own_name(str(scoring.metrics)),
            reading.setup.systems,
            protocols,
            {str(p): tuple(values[str(p)]) for p in protocols},
            (),
            (),
            (*results.remarks, *notes, *_left_out(results)),
        )

    return finish


def usable_protocols(against: ProtocolLike = "karat") -> tuple[list[str | Protocol], list[str]]:
    """(every published protocol that can be used here, notes on those that cannot)."""
    return _usable([against, *published()], skip=True)


def _left_out(results: Results) -> list[str]:
    """What a reader should know of documents that are left out, and of phrases that are merged, by some protocols."""
    missing = {tally.system: tally.missing for tally in results.tallies if tally.missing}
    undefined: dict[int, list[str]] = {}
    for each in results.scores:
        count = max(each.undefined - len(results.lacking.get(each.system, ())), 0)
        if count and each.protocol not in undefined.setdefault(count, []):
            undefined[count].append(each.protocol)
    return [
        *(
            f"{system}: {counted(count, 'document')} without predictions in the run"
            for system, count in missing.items()
        ),
        *(
            f"{counted(count, 'document')} left out, undefined, under {', '.join(names)}"
            for count, names in undefined.items()
        ),
        *(note for tally in results.tallies for note in tally.spelling_notes()),
    ]


def _usable(listed: Sequence[str | Protocol], skip: bool) -> tuple[list[str | Protocol], list[str]]:
    """The protocols that can be used here, and notes on those that cannot, unless these were named."""
    usable, notes = [], []
    for given in listed:
        [protocol] = as_protocols([given])
        try:
            normaliser_of(protocol.matching)("a")
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
    named = {step.option for step in steps}
    idle = tuple(option for option in _changed(a, b) if option not in named)
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
