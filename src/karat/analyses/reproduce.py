"""Figures of a paper computed again: how far off they are, and under which conventions they come out as printed.

A figure that does not come out under one protocol may come out under another. So all published protocols are tried,
then each with one option of counting or the average changed, then each with one option of matching changed to what
another protocol has. A change that changes nothing is left out: the protocol itself is there already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from itertools import groupby
from math import exp, fsum, isnan, lgamma, nan, sqrt
from pathlib import Path
from typing import Any, Literal

from karat.analyses.compare.families import sample_of
from karat.analyses.score import ScoreOptions, Value, reading_of, values_in_pass
from karat.analyses.score import in_pass as scores_in_pass
from karat.corpus import Corpus, Run
from karat.errors import InputError, MissingExtraError, counted, unknown
from karat.formats.reported import Figure, read_reported
from karat.matching.columns import SUBSETS
from karat.matching.inputs import (
    CorporaLike,
    CorpusLike,
    Development,
    MetricsLike,
    ProtocolLike,
    ProtocolsLike,
    RunLike,
    as_corpora,
    as_protocols,
)
from karat.matching.passes import Pass
from karat.metrics.base import Request, parse_request
from karat.options import (
    By,
    Extra,
    JoinOptions,
    Missing,
    Progress,
    ScoreInterval,
    WorkOptions,
    development_option,
    group,
    level_option,
    option,
    options_from,
    protocol_option,
    public,
    renamed,
    required,
    resamples_option,
    score_interval_option,
    seed_option,
)
from karat.protocol import KARAT, Counting, Matching, Protocol, change, published
from karat.results import Results, Score
from karat.results.displayed import Displayed
from karat.stats.scores import interval_of_score
from karat.tabular import FIGURE, FIXED2, INTERVAL, NONE, Column, Group, Kind, Row, Table, number, rows_of
from karat.text.normalise import normaliser_of

How = Literal["rounded", "truncated", "nearest"]
Ring = Literal[0, 1, 2]  # how far a protocol is from a published one: itself, counting otherwise, matching otherwise
HOWS: tuple[How, ...] = ("rounded", "truncated", "nearest")

NEAREST = 3  # protocols that are listed where none gives the printed digits
AT_ONCE = 32  # protocols of one pass at least: rows of all documents are held for each
HELD = 1 << 23  # rows that are held, by which more protocols are tried in one pass
ALIKE = 1e-12  # what only the order of additions sets apart


# ---------------------------------------------------------------------------------------------- what is found


@dataclass(frozen=True, slots=True)
class ReproduceOptions:
    """How figures are computed again."""

    reported: str | Path | Iterable[Mapping[str, Any]] = required(
        "The figures of the paper.", metavar="FILE", complete="paths"
    )
    protocol: ProtocolLike = protocol_option("Convention to recompute under. See `karat list protocols`.", once=True)
    percent: bool = option(False, "The figures are in percent: 37.4 is .374.")
    budget: int | None = option(
        None,
        "Try N protocols, published ones first.",
        least=0,
        metavar="N",
        otherwise="all with one option changed",
    )
    resamples: int = resamples_option()
    seed: int = seed_option()
    level: float = level_option()
    interval: ScoreInterval = score_interval_option()
    join: JoinOptions = group(JoinOptions)
    development: Development | None = development_option()
    work: WorkOptions = group(WorkOptions)

    def scoring(self, protocol: ProtocolsLike, metrics: MetricsLike) -> ScoreOptions:
        """How metrics are computed under protocols."""
        return ScoreOptions(protocol, metrics, join=self.join, development=self.development, work=self.work)


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


@dataclass(frozen=True, slots=True, repr=False)
class Reproduction(Displayed):
    """What came of computing the figures of a paper again."""

    figures: tuple[Reproduced, ...]
    protocol: str
    documents: Mapping[str, int]  # by corpus
    signatures: Mapping[str, str]
    tried: tuple[int, int, int]  # protocols: published, counting otherwise, matching otherwise
    options: ReproduceOptions
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

    def flat_rows(self) -> list[dict[str, Any]]:
        """One dict of plain values for each figure, with the first of its candidates and how many there are."""
        return [_flat_row(figure) for figure in self.figures]

    def tables(self) -> Iterator[Table]:
        """Each figure beside what it was computed to be; all differences; then who gives it."""
        legend = list(_legend(self))
        *others, last = self.documents
        for corpus, about in [*((each, []) for each in others), (last, legend)]:
            title = f"{corpus}, {counted(self.documents[corpus], 'document')}, protocol {self.protocol}"
            caption = " ".join([f"{title}.", *legend])
            own = [figure for figure in self.figures if figure.corpus == corpus]
            systems = dict.fromkeys(figure.system for figure in own)
            groups = [Group([_row(self, each) for each in own if each.system == name], name) for name in systems]
            yield Table(title, "figure", COLUMNS, groups, notes=about, caption=caption)
        yield from _differences(self)
        yield Table(f"{_tried(self)}:", items=list(_givers(self)))


def _or_none(value: float) -> float | None:
    return None if isnan(value) else value


# ---------------------------------------------------------------------------------------------- tables

SHOWN = 6  # candidates of a figure that are named
ARROWS = "↓ the recomputed value is lower than the report, ↑ higher."


def as_reported(value: float, digits: int) -> str:
    """A figure as it was printed, as a share of 1."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


COLUMNS = (
    Column("reported", Kind(lambda figure: as_reported(*figure))),
    Column("recomputed"),
    Column("apart", FIGURE),
    Column("interval", INTERVAL),
    Column("inside", FIGURE),
    Column("CV*", FIXED2),
)


def _row(found: Reproduction, figure: Reproduced) -> Row:
    inside = {True: "yes", False: "no", None: NONE}[figure.inside]
    reported = figure.reported, figure.digits
    cells = [reported, figure.recomputed, _apart(figure), figure.interval, inside, figure.variation]
    return Row(_figure_name(found, figure), cells)


def _flat_row(figure: Reproduced) -> dict[str, Any]:
    row = figure.as_dict()
    first = row["candidates"][0] if row["candidates"] else dict.fromkeys(("protocol", "average", "value", "how"))
    low, high = row.pop("ci")
    row["options"] = ",".join(f"{name}={value}" for name, value in row["options"].items())
    inside, cv, count = row.pop("inside"), row.pop("cv"), len(row.pop("candidates"))
    return row | {
        "low": low,
        "high": high,
        "inside": inside,
        "cv": cv,
        "candidate": first["protocol"],
        "candidate_average": first["average"],
        "candidate_value": first["value"],
        "how": first["how"],
        "candidates": count,
    }


def _apart(figure: Reproduced, percent: bool = False) -> str:
    """How far apart report and recomputed value are: an arrow for where the latter went."""
    apart = figure.difference
    if isnan(apart):
        return NONE
    arrow = "" if abs(apart) <= ALIKE else "↓" if apart > 0 else "↑"
    return arrow + (f"{100 * abs(apart):.1f}" if percent else number(abs(apart)))


def _differences(found: Reproduction) -> Iterator[Table]:
    """A table for each metric: corpora down, systems and their subsets across; of one corpus none."""
    if len(found.documents) < 2:
        return
    for metric in dict.fromkeys(map(_metric, found.figures)):
        own = [figure for figure in found.figures if _metric(figure) == metric]
        columns = sorted(
            dict.fromkeys((figure.system, figure.request.subset) for figure in own),
            key=lambda column: [figure.system for figure in own].index(column[0]),
        )
        cells = {(f.corpus, f.system, f.request.subset): _apart(f, found.options.percent) for f in own}
        corpora = dict.fromkeys(figure.corpus for figure in own)
        unit = ", in percent" if found.options.percent else ""
        title = f"Reported and recomputed apart: {metric}, protocol {found.protocol}{unit}"
        yield Table(
            title,
            "corpus",
            [Column(" ".join(column), FIGURE) for column in columns],
            rows_of((name, [cells.get((name, *column), NONE) for column in columns]) for name in corpora),
            caption=f"{title}. {ARROWS}",
        )


def _metric(figure: Reproduced) -> str:
    request = figure.request
    options = "".join(f",{name}={value}" for name, value in request.options)
    return f"{request.label}{options} ({request.average})"


def _legend(found: Reproduction) -> Iterator[str]:
    """What the columns are."""
    options = found.options
    averages = ", ".join(dict.fromkeys(figure.request.average or "" for figure in found.figures))
    yield f"average: {averages}."
    yield f"apart: {ARROWS}"
    drawn = f"{options.interval}, {counted(options.resamples, 'resample')} of the documents, seed {options.seed}"
    how = "t on the logit scale" if options.interval == "t" else drawn
    level = f"{100 * options.level:.4g} %"
    yield f"interval: {level}, of the recomputed value ({how}); inside: whether the report lies in it."
    yield "CV*: coefficient of variation of the two for small samples, in percent (Belz and others 2022)."


def _tried(found: Reproduction) -> str:
    """How many protocols were tried."""
    plain, counting, matching = found.tried
    return (
        f"What gives the printed digits, of {counted(sum(found.tried), 'protocol')} tried ({plain:,} as published, "
        f"{counting:,} with one option of counting changed, {matching:,} with one of matching)"
    )


def _givers(found: Reproduction) -> Iterator[str]:
    """For each figure the protocols that give it, or the nearest ones."""
    for figure in found.figures:
        where = f"{figure.corpus}, " if len(found.documents) > 1 else ""
        name = f"{where}{figure.system}, {_figure_name(found, figure)}"
        yield f"{name}, {as_reported(figure.reported, figure.digits)}: {_givers_named(figure.candidates)}."
    if any(each.protocol.experimental for figure in found.figures for each in figure.candidates[:SHOWN]):
        yield "* experimental: not yet compared with figures of its script."


def _givers_named(candidates: Sequence[Candidate]) -> str:
    """The first candidates, those that give the figure in one way or are nearest together."""
    if not candidates:
        return "nothing was tried"
    parts = []
    for how, alike in groupby(candidates[:SHOWN], key=lambda each: each.how):
        names = ", ".join(f"{_candidate(each)} ({number(each.value)})" for each in alike)
        parts.append(names if how == "rounded" else f"{_HOW[how]} {names}")
    more = len(candidates) - SHOWN
    return "; ".join(parts) + (f"; and {more:,} more" if more > 0 else "")


_HOW = {"truncated": "cut off, not rounded:", "nearest": "nothing; nearest:"}


def _candidate(each: Candidate) -> str:
    average = f"/{each.average}" if each.other_average else ""
    return f"{each.protocol}{average}{'*' if each.protocol.experimental else ''}"


def _figure_name(found: Reproduction, figure: Reproduced) -> str:
    """A metric with its options and subset, and its average where there are several."""
    request = figure.request
    options = "".join(f",{name}={value}" for name, value in request.options)
    several = len({each.request.average for each in found.figures}) > 1
    return f"{request.label} {request.subset}{f' {request.average}' if several else ''}{options}"


# ---------------------------------------------------------------------------------------------- computing


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


@public(ReproduceOptions)
def reproduce(
    corpus: CorpusLike | CorporaLike,
    *runs: RunLike,
    reported: str | Path | Iterable[Mapping[str, Any]],
    protocol: ProtocolLike = "karat",
    percent: bool = False,
    budget: int | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    interval: ScoreInterval = "t",
    references: str | None = None,
    language: str | None = None,
    by: By | None = None,
    missing: Missing = "error",
    extra: Extra = "error",
    development: Development | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Reproduction:
    """The figures that a paper reports for runs on a corpus, computed again under a protocol, and which one gives them.

    `reported` is a file or dicts with metric, subset, value and digits; a figure names its system where there are
    several runs. Several corpora are a dict or a list of pairs, each with its runs; a figure then names its corpus.
    Raises InputError if a figure cannot be one of its metric, or is of nothing that is given.
    """
    chosen = options_from(ReproduceOptions, locals())
    targets = [_target(figure, percent) for figure in read_reported(reported)]
    given = as_corpora(corpus, runs)
    if development is not None and len(given) > 1:
        raise InputError("a development corpus is of one corpus: leave it out with several")
    shares, notes = _shared_out(targets, given)
    [first] = as_protocols([protocol], language)
    usable, lacking = _usable([first, *as_protocols(published(), language)])
    tries = list(_tries(usable, {parse_request(each.text).spec.name for each in targets}, budget))
    found = [_Search(documents, systems, figures, chosen) for documents, systems, figures in shares]
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


reproduce_corpora = renamed(reproduce, "reproduce_corpora")


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
        lacking = _lacking(protocol.matching)
        if lacking is None:
            usable.append(protocol)
        else:
            notes.append(f"{protocol} is not tried: {lacking}")
    return usable, notes


def _lacking(matching: Matching) -> str | None:
    """What a way of matching needs and is not there."""
    try:
        normaliser_of(matching)("a")
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
        for name, value in changes:
            yield from (_Try(change(base, **{name: value}), base, ring) for base in published)


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
    options: ReproduceOptions

    @property
    def metrics(self) -> list[str]:
        """What is computed under every protocol."""
        return list(dict.fromkeys(each.text for each in self.figures))

    def reproduced(self, protocol: str | Protocol, tries: Sequence[_Try]) -> tuple[list[Reproduced], Results]:
        """(each figure, the results under the protocol that was chosen)."""
        results, values = self._scored(protocol, tries)
        own = _by_key(results, self.metrics)
        [name] = results.signatures
        scores = [own[name, each.figure.system or "", each.text] for each in self.figures]
        how = self.options
        ends = [
            interval_of_score(
                [sample_of(s, len(results.ids))],
                s.request.spec.bounds,
                how.interval,
                how.level,
                how.resamples,
                how.seed,
            )
            for s in scores
        ]
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
        options = self.options.scoring(protocol, self.metrics)
        more = [other for text in self.metrics for _, other in _other_averages(text)]
        # Protocols that match alike stand together: what is aligned for one does for all.
        order = sorted(tries, key=lambda each: str(each.protocol.matching))
        tried = [(each.protocol, self.metrics if each.ring else [*self.metrics, *more]) for each in order]
        first = self._reading(protocol)
        finish = scores_in_pass(first, options)
        step = max(AT_ONCE, HELD // max(len(self.corpus) * len(self.runs) * len(self.metrics), 1))
        values = values_in_pass(first, tried[:step], options.development)
        first.run()
        results, found = finish(), values()
        for start in range(step, len(tried), step):
            reading = self._reading(protocol)
            values = values_in_pass(reading, tried[start : start + step], options.development)
            reading.run()
            found |= values()
        return results, found

    def _reading(self, protocol: str | Protocol) -> Pass:
        """A pass over the corpus and the runs, whose references are those of the protocol that was chosen."""
        return reading_of(self.corpus, self.runs, protocol, self.options.join, self.options.work)

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
    exact = [replace(each, how=how) for each in defined if (how := gives(each.value, reported, digits))]
    if exact:
        return sorted(
            exact, key=lambda c: (c.ring, HOWS.index(c.how), c.protocol.experimental, abs(c.value - reported))
        )
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
