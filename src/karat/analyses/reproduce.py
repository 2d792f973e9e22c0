"""Figures of a paper computed again: how far off they are, and under which conventions they come out as printed.

A figure that does not come out under one protocol may come out under another. So all published protocols are tried,
then each with one option of counting or the average changed, then each with one option of matching changed to what
another protocol has. A change that changes nothing is not told: the protocol itself is there already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from math import exp, fsum, isnan, lgamma, nan, sqrt
from pathlib import Path
from typing import Any, Literal

from karat.analyses.compare import sample_of
from karat.analyses.score import Options as ScoreOptions
from karat.analyses.score import Value, reading_of, values_in_pass
from karat.analyses.score import in_pass as scores_in_pass
from karat.corpus import Corpus, Run
from karat.errors import InputError, MissingExtraError, unknown
from karat.formats.reported import Figure, read_reported
from karat.matching.columns import SUBSETS
from karat.matching.inputs import as_corpus, as_protocols, as_runs, uncollected
from karat.metrics.base import Request, parse_request
from karat.protocol import KARAT, Counting, Matching, Protocol, change, published
from karat.results import Displayed, Results, Score
from karat.stats.resampling import METHODS, RESAMPLES, Method, estimate, interval_of
from karat.text.tokens import tokenizer

How = Literal["rounded", "truncated", "nearest"]
Ring = Literal[0, 1, 2]  # how far a protocol is from a published one: itself, counting otherwise, matching otherwise
HOWS: tuple[How, ...] = ("rounded", "truncated", "nearest")

NEAREST = 3  # protocols that are told where none gives the printed digits
AT_ONCE = 32  # protocols of one pass at least: rows of all documents are held for each
HELD = 1 << 23  # rows that are held, by which more protocols are tried in one pass
ALIKE = 1e-12  # what only the order of additions sets apart


# ---------------------------------------------------------------------------------------------- what is found


@dataclass(frozen=True, slots=True)
class Options:
    """How figures are computed again; the flags of the command say what each means."""

    percent: bool = False
    budget: int | None = None  # protocols tried; all of them without it
    resamples: int = RESAMPLES
    seed: int = 0
    level: float = 0.95
    interval: Method = "bca"

    def __post_init__(self) -> None:
        """What cannot be chosen is said at once."""
        if self.interval not in METHODS:
            raise unknown("interval", str(self.interval), METHODS)
        if not 0 < self.level < 1:
            raise InputError(f"level is between 0 and 1, not {self.level:g}")
        for name, least in (("budget", 0), ("resamples", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} is a whole number from {least} on, not {value}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A protocol and an average, what they give, and whether that is the printed figure, rounded or cut off."""

    protocol: Protocol
    average: str
    value: float
    how: How
    ring: Ring
    other_average: bool = False  # whether the average is another than the protocol's own

    def as_dict(self) -> dict[str, Any]:
        """The candidate as in the JSON output."""
        return {"protocol": str(self.protocol), "average": self.average, "value": self.value, "how": self.how}


@dataclass(frozen=True, slots=True)
class Reproduced:
    """One figure of a paper, and what came of computing it again."""

    corpus: str
    system: str
    request: Request
    reported: float
    digits: int
    recomputed: float
    interval: tuple[float, float]
    candidates: tuple[Candidate, ...]

    @property
    def difference(self) -> float:
        """By how much the report is higher."""
        return self.reported - self.recomputed

    @property
    def inside(self) -> bool | None:
        """Whether the report lies in the interval of the recomputed value; None where there is no interval."""
        low, high = self.interval
        return None if isnan(low) else low <= self.reported <= high

    @property
    def variation(self) -> float:
        """The coefficient of variation of the two."""
        return coefficient_of_variation([self.reported, self.recomputed])

    def as_dict(self) -> dict[str, Any]:
        """The row of the JSON output."""
        return {
            "corpus": self.corpus,
            "system": self.system,
            "metric": self.request.label,
            "options": dict(self.request.options),
            "subset": self.request.subset,
            "average": self.request.average,
            "reported": self.reported,
            "digits": self.digits,
            "recomputed": _or_none(self.recomputed),
            "difference": _or_none(self.difference),
            "ci": [_or_none(end) for end in self.interval],
            "inside": self.inside,
            "cv": _or_none(self.variation),
            "candidates": [candidate.as_dict() for candidate in self.candidates],
        }


@dataclass(frozen=True, slots=True)
class Reproduction(Displayed):
    """What came of computing the figures of a paper again."""

    figures: tuple[Reproduced, ...]
    protocol: str
    documents: Mapping[str, int]  # by corpus
    signatures: Mapping[str, str]
    tried: tuple[int, int, int]  # protocols: published, counting otherwise, matching otherwise
    options: Options
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each figure, as in the JSON output."""
        return [figure.as_dict() for figure in self.figures]

    def as_dict(self) -> dict[str, Any]:
        """The whole JSON output."""
        return {
            "signatures": dict(self.signatures),
            "rows": self.rows(),
            "tried": sum(self.tried),
            "notes": list(self.notes),
        }


def _or_none(value: float) -> float | None:
    return None if isnan(value) else value


def coefficient_of_variation(values: Sequence[float]) -> float:
    """Belz's CV* of some measurements of one thing, in percent.

    (1 + 1/(4n)) · 100 · s*/mean, where s* = s / c₄(n) is the unbiased standard deviation of n normal values:
    c₄(n) = √(2/(n − 1)) · Γ(n/2) / Γ((n − 1)/2) (Belz, Popović and Mille 2022). NaN of fewer than two measurements, or
    where their mean is not above 0.

    >>> round(coefficient_of_variation([84.51, 84.50, 87.46, 85.60, 84.20, 86.61, 86.20]), 3)  # their Table 4
    1.562
    """
    n = len(values)
    mean = fsum(values) / n if n else nan
    if n < 2 or not mean > 0:
        return nan
    s = sqrt(fsum((value - mean) ** 2 for value in values) / (n - 1))
    c4 = sqrt(2 / (n - 1)) * exp(lgamma(n / 2) - lgamma((n - 1) / 2))
    return (1 + 1 / (4 * n)) * 100 * (s / c4) / mean


# ---------------------------------------------------------------------------------------------- what is computed again


def reproduce(
    corpus: str | Path | Corpus,
    *runs: str | Path | Run,
    reported: str | Path | Iterable[Mapping[str, Any]],
    protocol: str | Protocol = KARAT,
    **options: Any,
) -> Reproduction:
    """The figures that a paper reports for runs on a corpus, computed again under a protocol, and which one gives them.

    `reported` is a file or dicts with metric, subset, value and digits; a figure names its system where there are
    several runs. The keywords are those of `Options`; others go to `karat.score`.
    """
    return reproduce_corpora([(corpus, runs)], reported=reported, protocol=protocol, **options)


def reproduce_corpora(
    corpora: Mapping[str | Path | Corpus, Sequence[str | Path | Run]] | Iterable[tuple[Any, Sequence[Any]]],
    *,
    reported: str | Path | Iterable[Mapping[str, Any]],
    protocol: str | Protocol = KARAT,
    **options: Any,
) -> Reproduction:
    """The same for several corpora, each given with its runs; a figure then names its corpus."""
    own = {name: value for name, value in options.items() if name in Options.__dataclass_fields__}
    scoring = {name: value for name, value in options.items() if name not in own}
    chosen = Options(**own)
    targets = [_target(figure, chosen.percent) for figure in read_reported(reported)]
    listed = corpora.items() if isinstance(corpora, Mapping) else corpora
    given = [(as_corpus(corpus), as_runs(runs)) for corpus, runs in listed]
    shares, notes = _shared_out(targets, given)
    [first] = as_protocols([protocol], scoring.get("language"))
    usable, lacking = _usable([first, *as_protocols(published(), scoring.get("language"))])
    tries = list(_tries(usable, {parse_request(each.text).spec.name for each in targets}, chosen.budget))
    found = [_Search(corpus, runs, figures, scoring, chosen) for corpus, runs, figures in shares]
    done = [search.reproduced(protocol, tries) for search in found]
    several = len(done) > 1
    rings = [each.ring for each in tries]
    return Reproduction(
        tuple(figure for figures, _ in done for figure in figures),
        str(first),
        {results.scores[0].corpus: len(results.ids) for _, results in done},
        {_key(name, results, several): text for _, results in done for name, text in results.signatures.items()},
        (rings.count(0), rings.count(1), rings.count(2)),
        chosen,
        (*dict.fromkeys(note for _, results in done for note in results.notes), *notes, *lacking),
    )


def _key(protocol: str, results: Results, several: bool) -> str:
    """What a signature is known by: the protocol, and where there are several corpora also its corpus."""
    return f"{protocol} on {results.scores[0].corpus}" if several else protocol


@dataclass(frozen=True, slots=True)
class _Target:
    """A figure, understood: what to compute, and what to find."""

    figure: Figure
    text: str  # the metric as `karat.score` takes it
    value: float
    digits: int


def _target(figure: Figure, percent: bool) -> _Target:
    try:
        text = _with_subset(figure.metric, figure.subset)
        spec = parse_request(text).spec
        low, high = spec.bounds
        value, digits = figure.value, figure.digits
        if percent and high == 1:
            digits += 2
            value = round(value / 100, digits)
        if not low <= value <= high:
            hint = "; if it is in percent, give --percent" if high == 1 and not percent else ""
            least = f"is not between {low:g} and {high:g}, where {spec.name} lies"
            raise InputError(f"the value {figure.value:g} of {figure.metric} {least}{hint}")
    except InputError as error:
        raise InputError(f"{figure.place}: {error}") from None
    return _Target(figure, text, value, digits)


def _with_subset(metric: str, subset: str | None) -> str:
    """The metric with its subset in it.

    >>> _with_subset("f1@M/micro", "present"), _with_subset("f1@M:absent", None)
    ('f1@M:present/micro', 'f1@M:absent')
    """
    if subset is None:
        return metric
    if subset not in SUBSETS:
        raise unknown("subset", subset, SUBSETS)
    head, rest = re.fullmatch(r"([^/,]*)(.*)", metric, re.DOTALL).groups()  # type: ignore[union-attr]
    name, colon, own = head.partition(":")
    if colon and own != subset:
        raise InputError(f"the metric {metric} is of the subset {own}, but the subset is {subset}; write one of them")
    return f"{name}:{subset}{rest}"


Share = tuple[Corpus, list[Run], list[_Target]]  # a corpus, the runs that have figures, and these


def _shared_out(targets: Sequence[_Target], given: Sequence[tuple[Corpus, list[Run]]]) -> tuple[list[Share], list[str]]:
    """(the figures of each corpus, notes on those that are of no run here)."""
    names = [corpus.name for corpus, _ in given]
    for name, (_, runs) in zip(names, given, strict=True):
        if names.count(name) > 1:
            raise InputError(f"two corpora are named {name!r}; name them: NAME=PATH")
        if not runs:
            raise InputError(f"nothing to compare figures of {name} with: give at least one run")
    shares: list[Share] = []
    placed: set[int] = set()
    notes: list[str] = []
    for corpus, runs in given:
        own = [(i, each) for i, each in enumerate(targets) if _named(each, "corpus", names) == corpus.name]
        systems = [run.name for run in runs]
        figures = [(i, replace(each, figure=_of(each, systems))) for i, each in own]
        figures = [(i, each) for i, each in figures if each.figure.system in systems]
        placed.update(i for i, _ in figures)
        there = {each.figure.system for _, each in figures}
        notes += [f"no figure is reported of {name} on {corpus.name}" for name in systems if name not in there]
        if figures:
            shares.append((corpus, [run for run in runs if run.name in there], [each for _, each in figures]))
    if not shares:
        raise _none_placed(targets, given)
    lost = [each.figure for i, each in enumerate(targets) if i not in placed]
    if lost:
        whose = dict.fromkeys(" on ".join(filter(None, (figure.system, figure.corpus))) for figure in lost)
        notes.append(f"figures of what has no run here are left out: {', '.join(whose)}")
    return shares, notes


def _named(target: _Target, field: Literal["corpus", "system"], names: Sequence[str]) -> str:
    """Which corpus or system a figure is of: the one that it names, or the only one."""
    name: str | None = getattr(target.figure, field)
    if name is None and len(names) > 1:
        there = ", ".join(names)
        raise InputError(f'{target.figure.place}: which {field} is it of? write "{field}", one of: {there}')
    return names[0] if name is None and names else name or ""


def _of(target: _Target, systems: Sequence[str]) -> Figure:
    return replace(target.figure, system=_named(target, "system", systems))


def _none_placed(targets: Sequence[_Target], given: Sequence[tuple[Corpus, list[Run]]]) -> InputError:
    """Why no figure is of any of the runs."""
    corpora = [corpus.name for corpus, _ in given]
    figure = targets[0].figure
    if figure.corpus is not None and figure.corpus not in corpora:
        return InputError(f"{figure.place}: {unknown('corpus', figure.corpus, corpora)}")
    systems = {run.name for _, runs in given for run in runs}
    return InputError(f"{figure.place}: {unknown('system', figure.system or '', systems)}")


# ---------------------------------------------------------------------------------------------- what is tried


@dataclass(frozen=True, slots=True)
class _Try:
    """A protocol, the published one that it is a change of, and how far it is from that."""

    protocol: Protocol
    base: Protocol
    ring: Ring


def _usable(protocols: Iterable[Protocol]) -> tuple[list[Protocol], list[str]]:
    """The protocols that can be used here, and notes on those that cannot."""
    usable, notes = [], []
    for protocol in protocols:
        lacking = _lacking(protocol.matching.tokenizer)
        if lacking is None:
            usable.append(protocol)
        else:
            notes.append(f"{protocol} is not tried: {lacking}")
    return usable, notes


def _lacking(name: str) -> str | None:
    """What a tokenizer needs and is not there."""
    try:
        tokenizer(name)("a")
    except MissingExtraError as error:
        return str(error)
    return None


def _tries(published: Sequence[Protocol], metrics: Set[str], budget: int | None) -> Iterator[_Try]:
    """The protocols to try, the nearest to published ones first, each choice of options once, within the budget.

    An option is changed in all protocols before the next one is: so a small budget looks at each of them. One that none
    of the metrics reads is not changed.
    """
    known: set[tuple[Matching, Counting]] = set()
    for each in _every_try(published, metrics):
        options = each.protocol.matching, each.protocol.counting
        if options in known:
            continue
        if budget is not None and len(known) >= budget:
            return
        known.add(options)
        yield each


def _every_try(published: Sequence[Protocol], metrics: Set[str]) -> Iterator[_Try]:
    yield from (_Try(protocol, protocol, 0) for protocol in published)
    everything = [
        (option.name, value)
        for option in fields(Counting)
        if not option.metadata["metrics"] or not metrics.isdisjoint(option.metadata["metrics"])
        for value in option.metadata["values"]
    ]
    there = [
        (option.name, value)
        for option in fields(Matching)
        for value in dict.fromkeys(protocol.options()[option.name] for protocol in published)
    ]
    rings: tuple[tuple[Ring, list[tuple[str, str]]], ...] = ((1, everything), (2, there))
    for ring, changes in rings:
        for option, value in changes:
            yield from (_Try(change(base, **{option: value}), base, ring) for base in published)


def _other_averages(text: str) -> list[tuple[str, str]]:
    """(average, the metric in it) of those averages that no option of counting leads to, where the figure names none.

    >>> _other_averages("f1@M:present"), _other_averages("f1@M/micro")
    ([('micro', 'f1@M:present/micro')], [])
    """
    request = parse_request(text)
    if request.average is not None:
        return []
    led_to = {
        request.spec.average_for(change(KARAT, **{option.name: value}).counting)
        for option in fields(Counting)
        for value in option.metadata["values"]
    }
    name, comma, options = text.partition(",")
    others = [average for average in request.spec.averages if average not in led_to]
    return [(average, f"{name}/{average}{comma}{options}") for average in others]


# ---------------------------------------------------------------------------------------------- one corpus

Key = tuple[str, str, str]  # a protocol, a system and a metric as it is given


@dataclass(frozen=True, slots=True)
class _Search:
    """The figures of one corpus, and how they are scored."""

    corpus: Corpus
    runs: list[Run]
    figures: list[_Target]
    scoring: Mapping[str, Any]
    options: Options

    @property
    def metrics(self) -> list[str]:
        """What is computed under every protocol."""
        return list(dict.fromkeys(each.text for each in self.figures))

    def reproduced(self, protocol: str | Protocol, tries: Sequence[_Try]) -> tuple[list[Reproduced], Results]:
        """(each figure, the results under the protocol that was chosen)."""
        with uncollected():
            results, values = self._scored(protocol, tries)
        own = _by_key(results, self.metrics)
        [name] = results.signatures
        scores = [own[name, each.figure.system or "", each.text] for each in self.figures]
        found = estimate([sample_of(s, len(results.ids)) for s in scores], self.options.resamples, self.options.seed)
        ends = [interval_of(each, self.options.level, self.options.interval) for each in found]
        figures = [
            Reproduced(
                self.corpus.name,
                each.figure.system or "",
                replace(s.request, fitted=None),
                each.value,
                each.digits,
                s.value,
                interval,
                tuple(candidates(each.value, each.digits, self._candidates(each, tries, values))),
            )
            for each, s, interval in zip(self.figures, scores, ends, strict=True)
        ]
        return figures, results

    def _scored(self, protocol: str | Protocol, tries: Sequence[_Try]) -> tuple[Results, dict[Key, Value]]:
        """(the results under the protocol that was chosen, what every protocol gives), from as few passes as can be.

        Published protocols are also tried in the averages that no option leads to.
        """
        options = ScoreOptions(**self.scoring)
        more = [other for text in self.metrics for _, other in _other_averages(text)]
        # Protocols that match alike stand together: what is aligned for one does for all.
        order = sorted(tries, key=lambda each: str(each.protocol.matching))
        tried = [(each.protocol, self.metrics if each.ring else [*self.metrics, *more]) for each in order]
        first = reading_of(self.corpus, self.runs, [protocol], options)
        finish = scores_in_pass(first, self.metrics, [protocol], options)
        step = max(AT_ONCE, HELD // max(len(self.corpus) * len(self.runs) * len(self.metrics), 1))
        values = values_in_pass(first, tried[:step], options)
        first.run()
        results, found = finish(), values()
        for start in range(step, len(tried), step):
            reading = reading_of(self.corpus, self.runs, [protocol], options)
            values = values_in_pass(reading, tried[start : start + step], options)
            reading.run()
            found |= values()
        return results, found

    def _candidates(self, target: _Target, tries: Sequence[_Try], values: Mapping[Key, Value]) -> Iterator[Candidate]:
        """What every protocol gives for a figure, without changes that change nothing."""
        system = target.figure.system or ""
        others = _other_averages(target.text)
        for each in tries:
            value, average = values[str(each.protocol), system, target.text]
            own, _ = values[str(each.base), system, target.text]
            if each.ring == 0 or not abs(value - own) <= ALIKE:
                yield Candidate(each.protocol, average, value, "nearest", each.ring)
            for other, text in others if each.ring == 0 else ():
                value, _ = values[str(each.protocol), system, text]
                yield Candidate(each.protocol, other, value, "nearest", 1, other_average=True)


def _by_key(results: Results, metrics: Sequence[str]) -> dict[Key, Score]:
    """The scores by protocol, system and the metric as it is given."""
    given = [metrics[i % len(metrics)] for i in range(len(results.scores))]
    return {(each.protocol, each.system, text): each for each, text in zip(results.scores, given, strict=True)}


def candidates(reported: float, digits: int, tried: Iterable[Candidate]) -> list[Candidate]:
    """What gives the printed digits, published protocols first; where nothing does, the nearest values."""
    defined = [each for each in tried if each.value == each.value]
    told = [replace(each, how=how) for each in defined if (how := gives(each.value, reported, digits))]
    if told:
        return sorted(told, key=lambda c: (c.ring, HOWS.index(c.how), c.protocol.experimental, abs(c.value - reported)))
    return sorted(defined, key=lambda c: (abs(c.value - reported), c.ring))[:NEAREST]


def gives(value: float, reported: float, digits: int) -> How | None:
    """How a value is printed as was reported, if it is; a half may be rounded either way.

    >>> gives(0.33992, 0.340, 3), gives(0.3409, 0.340, 3), gives(0.3411, 0.340, 3), gives(0.3405, 0.340, 3)
    ('rounded', 'truncated', None, 'rounded')
    """
    unit = 10.0**-digits
    if abs(value - reported) <= unit / 2 + ALIKE:
        return "rounded"
    beyond = value - reported if reported >= 0 else reported - value
    return "truncated" if 0 <= beyond < unit - ALIKE else None
