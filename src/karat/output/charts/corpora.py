"""Charts over corpora: bars by system, training set or way of decoding, and by cutoff, on the same scale everywhere.

A run named `MODEL@VARIANT`, as `kpdrop@kp20k` or `kpdrop@beam50`, is a variant of a model: what it was trained on, or
how it decodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from karat.analyses.compare.families import sample_of
from karat.analyses.compare.result import Comparison
from karat.metrics.base import Request
from karat.output.charts.base import (
    AT_ONCE,
    COLOURS,
    MOST,
    Chart,
    Spec,
    coloured,
    known,
    layered,
    listed,
    missing,
    names,
    number,
    panels,
    shaped,
    share_axis,
    short,
)
from karat.output.charts.scores import label_of
from karat.results import Collection, Results
from karat.stats.scores import interval_of_score

METRICS: tuple[str, ...] = ("f1@M:present", "f1@M:absent")
CUTOFF_METRICS: tuple[str, ...] = tuple(f"f1@{k}:{subset}" for subset in ("present", "absent") for k in ("5", "M", "O"))
LEVEL = 0.95
SPLIT = "@"  # between a model and its variant
BAR = 13  # pixels across
GAP = 22  # between the bars of two corpora
LEAST = 44  # for the bars of a corpus
ACROSS = 4  # panels in a row


@dataclass(frozen=True, slots=True)
class _Bar:
    """One score: where it stands, and how high it is."""

    corpus: str
    protocol: str
    system: str
    request: Request
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class _Panel:
    """The bars of one panel, each of a corpus and a name that has a colour."""

    title: str
    bars: Mapping[tuple[str, str], _Bar]  # by corpus and name


@dataclass(frozen=True, slots=True)
class _Scope:
    """What all panels of a chart share: the bars of all of them, by which they are scaled, and the names of colours."""

    protocol: str
    bars: Sequence[_Bar]
    labels: Sequence[str]
    level: float

    def ends(self, part: _Panel) -> tuple[float, float]:
        """The ends of the scale of all panels whose metrics have the same bounds: from 0 to the highest interval."""
        bounds = {bar.request.spec.bounds for bar in part.bars.values()}
        alike = [bar for bar in self.bars if bar.request.spec.bounds in bounds]
        there = [end for bar in alike for end in (bar.value, bar.low, bar.high) if known(end)]
        return min([0.0, *there]), max(there, default=1.0) or 1.0


def systems(found: Collection | Comparison) -> list[Chart]:
    """Bars over corpora: a colour for each system, or of names as MODEL@VARIANT for each variant, a panel a metric."""
    title = "Scores over corpora"
    charts = []
    for protocol, bars in _by_protocol(found).items():
        groups = _groups(list(dict.fromkeys(bar.system for bar in bars)))
        rows = [
            [_Panel(_joined(model, label_of(request)), _placed(bars, request, own)) for model, own in groups.items()]
            for request in dict.fromkeys(bar.request for bar in bars)
        ]
        shown = list(dict.fromkeys(name for members in groups.values() for name in members))
        charts += _charts("corpora", title, _Scope(protocol, bars, shown, _level(found)), rows)
    return charts or [missing("corpora", title, "there are no scores in these results")]


def cutoffs(found: Collection | Comparison) -> list[Chart]:
    """Bars over corpora: a colour for each cutoff of a metric, a panel a system and subset."""
    title = "Cutoffs over corpora"
    charts = []
    for protocol, every in _by_protocol(found).items():
        bars = [bar for bar in every if bar.request.cutoff is not None]
        kinds = list(dict.fromkeys((bar.request.metric, bar.request.subset) for bar in bars))
        everyone = list(dict.fromkeys(bar.system for bar in bars))[:MOST]
        called = everyone if len(everyone) > 1 else [""]
        rows = [
            [
                _Panel(_joined(name, f"{metric} {subset}"), _at(bars, system, metric, subset))
                for name, system in zip(called, everyone, strict=True)
            ]
            for metric, subset in kinds
        ]
        labels = list(dict.fromkeys(bar.request.label for bar in bars))
        if len(labels) > 1:
            charts += _charts("cutoffs", title, _Scope(protocol, bars, labels, _level(found)), rows)
    return charts or [missing("cutoffs", title, "the results have no metric at two cutoffs or more: -m f1@5 -m f1@M")]


def _level(found: Collection | Comparison) -> float:
    return found.options.level if isinstance(found, Comparison) else LEVEL


# ---------------------------------------------------------------------------------------------- what is drawn


def _by_protocol(found: Collection | Comparison) -> dict[str, list[_Bar]]:
    bars = _compared(found) if isinstance(found, Comparison) else chain.from_iterable(map(_scored, found.parts))
    families: dict[str, list[_Bar]] = {}
    for bar in bars:
        families.setdefault(bar.protocol, []).append(bar)
    return families


def _compared(found: Comparison) -> list[_Bar]:
    return [
        _Bar(each.corpus, each.protocol, each.system, each.request, each.value, *each.interval)
        for each in found.standings
    ]


def _scored(found: Results) -> list[_Bar]:
    """The scores of one corpus, with their intervals."""
    bars = []
    for score in found.scores:
        request = score.request.without_fitted()
        ends = interval_of_score([sample_of(score, len(found.ids))], request.spec.bounds, level=LEVEL)
        bars.append(_Bar(score.corpus, score.protocol, score.system, request, score.value, *ends))
    return bars


def _groups(systems: Sequence[str]) -> dict[str, dict[str, str]]:
    """By model the names of bars, with the system of each: variants of models, systems, or of many systems one each.

    >>> _groups(["a@x", "a@y", "b@x"])
    {'a': {'x': 'a@x', 'y': 'a@y'}, 'b': {'x': 'b@x'}}
    >>> _groups(["a", "b@x"])
    {'': {'a': 'a', 'b@x': 'b@x'}}
    """
    parted = [system.rpartition(SPLIT) for system in systems]
    variants = {variant for _, _, variant in parted}
    if len(systems) > 1 and all(model and variant for model, _, variant in parted) and len(variants) <= AT_ONCE:
        groups: dict[str, dict[str, str]] = {}
        for system, (model, _, variant) in zip(systems, parted, strict=True):
            groups.setdefault(model, {})[variant] = system
        return groups
    if len(systems) <= AT_ONCE:
        return {"": {system: system for system in systems}}
    return {system: {"": system} for system in systems[:MOST]}


def _placed(bars: Sequence[_Bar], request: Request, members: Mapping[str, str]) -> dict[tuple[str, str], _Bar]:
    """The bars of one metric by corpus and name."""
    called = {system: name for name, system in members.items()}
    return {(b.corpus, called[b.system]): b for b in bars if b.request == request and b.system in called}


def _at(bars: Sequence[_Bar], system: str, metric: str, subset: str) -> dict[tuple[str, str], _Bar]:
    """The bars of a metric of one system by corpus and cutoff."""
    of = system, metric, subset
    own = (bar for bar in bars if (bar.system, bar.request.metric, bar.request.subset) == of)
    return {(bar.corpus, bar.request.label): bar for bar in own}


def _joined(model: str, what: str) -> str:
    return f"{short(model, 24)}: {what}" if model else what


# ---------------------------------------------------------------------------------------------- how it is drawn


def _charts(kind: str, title: str, scope: _Scope, rows: Sequence[Sequence[_Panel]]) -> list[Chart]:
    """A row of panels for each metric, all on one scale; where a row has many panels, a chart for each metric."""
    if len(rows[0]) == 1:
        rows = [[panel for row in rows for panel in row]]
    charts = [rows] if len(rows) == 1 or len(rows[0]) <= ACROSS else [[row] for row in rows]
    return [_chart(kind, title, scope, [panel for row in own for panel in row], len(own[0])) for own in charts]


def _chart(kind: str, title: str, scope: _Scope, parts: Sequence[_Panel], columns: int) -> Chart:
    averages = ", ".join(dict.fromkeys(bar.request.average or "" for bar in scope.bars))
    subtitle = f"Protocol {scope.protocol}, average {averages}. Lines: {100 * scope.level:.4g} % intervals. One scale."
    spec = panels(kind, title, subtitle, [_panel(part, scope) for part in parts], min(columns, ACROSS))
    return Chart(kind, title, spec, None, f"{title}, protocol {scope.protocol}: {_said(parts)}.")


def _said(parts: Sequence[_Panel]) -> str:
    """In words, the highest bar of each panel."""
    sentences = []
    for part in parts:
        there = {key: bar for key, bar in part.bars.items() if known(bar.value)}
        if there:
            corpus, name = max(there, key=lambda key: there[key].value)
            whose = f"{short(name)} on " if name else ""
            sentences.append(f"{part.title}: highest {number(there[corpus, name].value)}, {whose}{short(corpus)}")
    return listed(sentences, 4) or "all is undefined"


def _panel(part: _Panel, scope: _Scope) -> Spec:
    corpora, shown, ends = names((bar.corpus for bar in scope.bars), 20), names(scope.labels), scope.ends(part)
    values = [
        {"corpus": corpora[corpus], "name": shown[name], "y": bar.value}
        | ({"low": bar.low, "high": bar.high} if known(bar.low) and known(bar.high) else {})
        for (corpus, name), bar in part.bars.items()
        if known(bar.value)
    ]
    several, places = len(shown) > 1, list(corpora.values())
    across = max(BAR * len(shown) + GAP, LEAST)
    turned = max(map(len, places)) * 6 > across
    axis = {"title": None, "labelAngle": -35 if turned else 0, "labelLimit": 150, "grid": False, "ticks": False}
    x: Spec = {"field": "corpus", "type": "nominal", "scale": {"domain": places, "paddingInner": 0.25}, "axis": axis}
    y: Spec = {
        "field": "y",
        "type": "quantitative",
        "scale": {"domain": list(ends), "nice": True},
        "axis": share_axis(None),
    }
    offset: Spec = {"xOffset": {"field": "name", "scale": {"domain": list(shown.values())}}} if several else {}
    whose: Spec = {"color": coloured(list(shown.values()))} if several else {"color": {"value": COLOURS[0]}}
    shape: Spec = {"shape": shaped(list(shown.values()))} if several else {}
    place = {"x": x} | offset
    layers: list[Spec] = [
        {"mark": {"type": "bar", "opacity": 0.75}, "encoding": place | {"y": y} | whose},
        {
            "transform": [{"filter": {"field": "low", "valid": True}}],
            "mark": {"type": "rule", "strokeWidth": 1.2},
            "encoding": place | {"y": y | {"field": "low"}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 30, "opacity": 1},
            "encoding": place | {"y": y} | whose | shape,
        },
    ]
    return layered(values, layers, (len(places) * across, 160), part.title)
