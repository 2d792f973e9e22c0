"""Charts of scores: under every protocol, with intervals, precision against recall, differences, mean ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat.analyses.audit import Audit
from karat.analyses.compare.families import sample_of
from karat.analyses.compare.result import Comparison, Ranking, Standing
from karat.errors import counted
from karat.matching.columns import Floats
from karat.metrics.base import Request, parse_request
from karat.output.charts.base import (
    AT_ONCE,
    COLOURS,
    GREY,
    LINE,
    MOST,
    Chart,
    Curves,
    Spec,
    chunks,
    coloured,
    count_axis,
    known,
    layered,
    listed,
    missing,
    names,
    number,
    panel_title,
    panels,
    rows_of,
    shaped,
    share_axis,
    short,
)
from karat.results import Results, Score, documents_of
from karat.stats.scores import interval_of_score
from karat.tabular import p_value

CURVE = tuple(range(1, 11))
CURVE_METRICS: tuple[str, ...] = tuple(f"{metric}@{k}" for k in CURVE for metric in ("p", "r"))
LEVEL = 0.95
PANELS = 9  # of a chart that has many


def label_of(request: Request) -> str:
    """A metric with its subset and options, as tables name it."""
    options = "".join(f",{name}={value}" for name, value in request.options)
    return f"{request.label} {request.subset}{options}"


def ordered(values: dict[str, float], better: str | None) -> list[str]:
    """The systems, the best first; those without a value last."""
    sign = 1 if better == "lower" else -1
    return sorted(values, key=lambda name: (not known(values[name]), sign * values[name] if known(values[name]) else 0))


def cut(systems: Sequence[str]) -> tuple[list[str], str]:
    """As many systems as a chart can hold, and what is said of the others."""
    if len(systems) <= MOST:
        return list(systems), ""
    return list(systems[:MOST]), f" The best {MOST} of {len(systems):,} systems."


def _on_curve(request: Request) -> bool:
    return request.metric in ("p", "r") and request.cutoff is not None and request.cutoff.kind == "k"


def _apart_from_curves(found: Results) -> tuple[Score, ...]:
    """The scores without precision and recall at every k, which are drawn as curves; all where there are no others."""
    depths = {score.request.cutoff for score in found.scores if _on_curve(score.request)}
    others = tuple(score for score in found.scores if not _on_curve(score.request))
    return others if others and len(depths) >= len(CURVE) else found.scores


# ---------------------------------------------------------------------------------------------- protocols


def protocols(audit: Audit) -> list[Chart]:
    """One metric under every protocol: a line for each protocol, or of many systems a line for each of these."""
    metric = label_of(parse_request(audit.metric))
    drawn = [v for values in audit.values.values() for v in values if known(v)]
    if not drawn:
        return [missing("protocols", f"{metric} under each protocol", f"{metric} is undefined under every protocol")]
    return [(_by_protocol if len(audit.systems) <= AT_ONCE else _by_system)(audit, metric)]


def _marked(audit: Audit) -> dict[str, str]:
    """The names of the protocols; experimental ones have a star."""
    given = names((str(p) for p in audit.protocols), 44)
    return {str(p): given[str(p)] + (" *" if p.experimental else "") for p in audit.protocols}


def _on(audit: Audit) -> str:
    return f"{short(audit.results.scores[0].corpus)}, {audit.results.documents}"


def _star(audit: Audit) -> str:
    return " * experimental." if any(p.experimental for p in audit.protocols) else ""


def _ranges(audit: Audit) -> str:
    """In words, how far the scores of each system are apart."""
    spreads = [s for s in audit.spreads() if known(s.low)]
    said = [f"{short(s.system)} from {number(s.low)} ({s.lowest}) to {number(s.high)} ({s.highest})" for s in spreads]
    return listed(said, 3)


def _by_protocol(audit: Audit, metric: str) -> Chart:
    shown, marked = names(audit.systems), _marked(audit)
    values = [
        {
            "row": marked[protocol],
            "name": shown[system],
            "x": value,
            "tip": f"{shown[system]}, {protocol}: {number(value, 4)}",
        }
        for protocol, own in audit.values.items()
        for system, value in zip(audit.systems, own, strict=True)
        if known(value)
    ]
    y = rows_of(list(marked.values())) | {"field": "row"}
    x = {"field": "x", "type": "quantitative", "axis": share_axis(metric), "scale": {"zero": False, "nice": True}}
    order = list(shown.values())
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "style": "faint", "strokeWidth": 2},
            "encoding": {
                "y": y,
                "x": {"aggregate": "min", **x},
                "x2": {"aggregate": "max", "field": "x"},
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
            "encoding": {"y": y, "x": x, "color": coloured(order), "shape": shaped(order)},
        },
    ]
    title = f"{metric} of the same predictions under {counted(len(marked), 'protocol')}"
    subtitle = f"{_on(audit)}. A point for each system; the line joins the lowest and the highest.{_star(audit)}"
    spec = panels("protocols", title, subtitle, [layered(values, layers, (460, LINE * len(marked) + 8))], 1)
    return Chart("protocols", title, spec, None, f"{title}: {_ranges(audit)}.")


def _by_system(audit: Audit, metric: str) -> Chart:
    lower = parse_request(audit.metric).spec.better
    spreads = {spread.system: spread for spread in audit.spreads()}
    first = {system: audit.values[str(audit.protocols[0])][i] for i, system in enumerate(audit.systems)}
    systems, more = cut(ordered(first, lower))
    shown, marked = names(systems), _marked(audit)
    place = {system: i for i, system in enumerate(audit.systems)}
    own = str(audit.protocols[0])
    values = [
        {
            "name": shown[system],
            "x": audit.values[protocol][place[system]],
            "own": protocol == own,
            "tip": f"{shown[system]}, {protocol}: {number(audit.values[protocol][place[system]], 4)}",
        }
        for system in systems
        for protocol in audit.values
        if known(audit.values[protocol][place[system]])
    ]
    ends = [
        {"name": shown[s], "low": spreads[s].low, "high": spreads[s].high} for s in systems if known(spreads[s].low)
    ]
    y = rows_of(list(shown.values()))
    x = {"field": "x", "type": "quantitative", "axis": share_axis(metric), "scale": {"zero": False, "nice": True}}
    layers: list[Spec] = [
        {
            "data": {"values": ends},
            "mark": {"type": "rule", "style": "faint", "strokeWidth": 2},
            "encoding": {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}},
        },
        _points(list(shown.values()), x, False),
        _points(list(shown.values()), x, True),
    ]
    title = f"How far the protocol moves {metric}"
    ticks = f"A tick for each of {counted(len(marked), 'protocol')}; the larger mark is {marked[own]}."
    subtitle = f"{_on(audit)}. {ticks}{_star(audit)}{more}"
    spec = panels("protocols", title, subtitle, [layered(values, layers, (460, LINE * len(systems) + 8))], 1)
    return Chart("protocols", title, spec, None, f"{title}: {_ranges(audit)}.")


def _points(shown: Sequence[str], x: Spec, own: bool) -> Spec:
    """The marks of the first protocol, or ticks of the others."""
    encoding = {"y": rows_of(shown), "x": x}
    mark: Spec = {"type": "tick", "thickness": 2, "size": 11, "style": "faint", "opacity": 0.9}
    if own:
        mark = {"type": "point", "filled": True, "size": 80, "opacity": 1}
        encoding |= {"color": coloured(shown, legend=False), "shape": shaped(shown, legend=False)}
    return {"transform": [{"filter": {"field": "own", "equal": own}}], "mark": mark, "encoding": encoding}


# ---------------------------------------------------------------------------------------------- scores with intervals


@dataclass(frozen=True, slots=True)
class _Dot:
    """A system's value of a metric, with its interval."""

    system: str
    request: Request
    value: float
    low: float
    high: float


def scores(found: Results | Comparison) -> list[Chart]:
    """Each system's value of each metric with its interval, a panel a metric; a chart a corpus and protocol."""
    if isinstance(found, Comparison):
        families: dict[tuple[str, str], list[_Dot]] = {}
        for each in found.standings:
            dot = _Dot(each.system, each.request, each.value, *each.interval)
            families.setdefault((each.corpus, each.protocol), []).append(dot)
        documents = {name: documents_of(found.common[name], total) for name, total in found.documents.items()}
        level = found.options.level
    else:
        families = _with_intervals(replace(found, scores=_apart_from_curves(found)))
        documents = {corpus: found.documents for corpus, _ in families}
        level = LEVEL
    charts: list[Chart] = []
    for (corpus, protocol), dots in families.items():
        where = f"{short(corpus)}, {documents[corpus]}, protocol {protocol}"
        charts += _dot_charts(dots, where, level)
    return charts or [missing("scores", "Scores", "there are no scores in these results")]


def _with_intervals(found: Results) -> dict[tuple[str, str], list[_Dot]]:
    """The scores of results with their intervals, as `karat compare` prints them."""
    families: dict[tuple[str, str, Request], list[Score]] = {}
    for score in found.scores:
        families.setdefault((score.corpus, score.protocol, score.request.without_fitted()), []).append(score)
    dots: dict[tuple[str, str], list[_Dot]] = {}
    for (corpus, protocol, request), own in families.items():
        for score in own:
            ends = interval_of_score([sample_of(score, len(found.ids))], request.spec.bounds, level=LEVEL)
            dot = _Dot(score.system, request, score.value, *ends)
            dots.setdefault((corpus, protocol), []).append(dot)
    return dots


def dot_chart(
    corpora: Sequence[tuple[str, Sequence[Standing]]], order: Sequence[str], title: str, level: float
) -> Chart:
    """One metric of the systems on several corpora, a panel each, the systems in the same lines."""
    systems, more = cut(order)
    shown, columns = names(systems), 2 if len(corpora) in (2, 4) else 3
    parts, said = [], []
    for i, (corpus, own) in enumerate(corpora):
        dots = [_Dot(each.system, each.request, each.value, *each.interval) for each in own]
        panel = _dot_panel(dots, shown, i % columns == 0, columns, own[0].request)
        parts.append(panel | {"title": panel_title(short(corpus))})
        said.append(f"{short(corpus)}: {_best(dots, [own[0].request])}")
    spec = panels("overview", title, f"Lines: {100 * level:.4g} % intervals.{more}", parts, columns)
    spec["resolve"] = {"scale": {"x": "shared"}}
    return Chart("overview", title, spec, None, f"{title}. {listed(said, 4)}.")


def _dot_charts(dots: Sequence[_Dot], where: str, level: float) -> list[Chart]:
    requests = list(dict.fromkeys(dot.request for dot in dots))
    first = {dot.system: dot.value for dot in dots if dot.request == requests[0]}
    everyone = ordered(first | {d.system: np.nan for d in dots if d.system not in first}, requests[0].spec.better)
    systems, more = cut(everyone)
    shown = names(systems)
    columns = min(3, len(requests))
    charts = []
    for own in chunks(requests, PANELS if len(systems) <= 12 else 3):
        parts = [
            _dot_panel([d for d in dots if d.request == request], shown, i % columns == 0, columns, request)
            for i, request in enumerate(own)
        ]
        metrics = listed([label_of(request) for request in own], 9)
        title = "Scores with their intervals" if len(own) > 1 else f"{metrics} with intervals"
        subtitle = f"{where}. Lines: {100 * level:.4g} % intervals.{_averages(own)}{more}"
        spec = panels("scores", title, subtitle, parts, columns)
        charts.append(Chart("scores", title, spec, None, f"{title}, {where}: {_best(dots, own)}."))
    return charts


def _averages(requests: Iterable[Request]) -> str:
    found = ", ".join(dict.fromkeys(request.average or "" for request in requests))
    return f" Average: {found}." if found else ""


def _best(dots: Sequence[_Dot], requests: Sequence[Request]) -> str:
    """In words, who is best on each metric."""
    said = []
    for request in requests:
        values = {d.system: d.value for d in dots if d.request == request}
        top = ordered(values, request.spec.better)[0]
        high = f"{short(top)} {number(values[top])}" if known(values[top]) else "undefined"
        said.append(f"{label_of(request)}: {high}" + (" is best" if len(values) > 1 and known(values[top]) else ""))
    return listed(said, 4)


def _dot_panel(dots: Sequence[_Dot], shown: dict[str, str], labels: bool, columns: int, request: Request) -> Spec:
    """The systems down, one metric across."""
    there = [d for d in dots if d.system in shown and known(d.value)]
    values = [
        {"name": shown[d.system], "x": d.value, "tip": f"{shown[d.system]}: {_with_ends(d)}"}
        | ({"low": d.low, "high": d.high} if known(d.low) and known(d.high) else {})
        for d in there
    ]
    order = list(shown.values())
    y, colour = rows_of(order, labels), coloured(order, legend=False)
    axis = share_axis(None if columns > 1 else label_of(request), tickCount=4)
    x = {"field": "x", "type": "quantitative", "axis": axis, "scale": {"zero": False, "nice": True}}
    layers: list[Spec] = [
        {
            "transform": [{"filter": {"field": "low", "valid": True}}],
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}, "color": colour},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": {"y": y, "x": x, "color": colour, "shape": shaped(order, legend=False)},
        },
    ]
    empty = "" if there else " (undefined)"
    width = {1: 460, 2: 230}.get(columns, 160)
    title = label_of(request) + empty if columns > 1 or empty else ""
    return layered(values, layers, (width, LINE * len(shown) + 8), title)


def _with_ends(dot: _Dot) -> str:
    """A value with its interval, if it has one."""
    ends = f" ({number(dot.low, 4)} to {number(dot.high, 4)})" if known(dot.low) and known(dot.high) else ""
    return f"{number(dot.value, 4)}{ends}"


# ---------------------------------------------------------------------------------------------- precision and recall


def precision_recall(found: Results) -> list[Chart]:
    """Precision against recall at k = 1 to 10; a chart a corpus, protocol, subset and average."""
    points: dict[tuple[str, str, str, str], dict[str, dict[int, dict[str, float]]]] = {}
    for score in found.scores:
        request = score.request
        if _on_curve(request) and request.cutoff is not None:
            key = score.corpus, score.protocol, request.subset, request.average or ""
            at = points.setdefault(key, {}).setdefault(score.system, {}).setdefault(request.cutoff.k or 0, {})
            at[request.metric] = score.value
    charts = []
    for which, systems in points.items():
        curves = {s: {k: at for k, at in sorted(own.items()) if _both(at)} for s, own in systems.items()}
        whole = {system: curve for system, curve in curves.items() if len(curve) > 1}
        if whole:
            charts.append(_curves(which, whole, found.documents))
    why = "the results have no precision and recall at two k or more: score with -m p@1 -m r@1 ... -m p@10 -m r@10"
    return charts or [missing("pr", "Precision against recall", why)]


def _both(at: dict[str, float]) -> bool:
    return known(at.get("p")) and known(at.get("r"))


def _curves(key: tuple[str, str, str, str], curves: dict[str, dict[int, dict[str, float]]], documents: str) -> Chart:
    corpus, protocol, subset, average = key
    last = max(k for curve in curves.values() for k in curve)
    reach = {s: max(2 * a["p"] * a["r"] / ((a["p"] + a["r"]) or 1) for a in c.values()) for s, c in curves.items()}
    best, more = cut(ordered(reach, None))
    systems = [system for system in curves if system in best]  # as given: a system has one colour everywhere
    shown = names(systems)
    title = f"Precision against recall, {subset} phrases"
    subtitle = (
        f"{short(corpus)}, {documents}, protocol {protocol}, average {average}. "
        f"Each point is the first k predictions, k from 1 to {last}.{more}"
    )
    ks = max((list(curve) for curve in curves.values()), key=len)
    points = {shown[s]: [(a["r"], a["p"]) for a in curves[s].values()] for s in systems}
    # Of close curves the numbers would overlap: so they stand at the best one alone.
    numbered = systems if len(systems) < 3 else best[:1]
    beside = {shown[s]: {i: str(k) for i, k in enumerate(curves[s]) if k in (1, 5, 10)} for s in numbered}
    parts, columns = Curves(points, "recall", "precision", beside, zero=False, of=[f"k = {k}" for k in ks]).panels()
    spec = panels("pr", title, subtitle, parts, columns)
    sentences = [f"{short(s)} has precision {_at(curves[s], 0)} at k = 1 and recall {_at(curves[s], -1)}" for s in best]
    return Chart("pr", title, spec, None, f"{title}. {listed(sentences, 3)} at k = {last}.")


def _at(curve: dict[int, dict[str, float]], place: int) -> str:
    return number(list(curve.values())[place]["r" if place else "p"])


# ---------------------------------------------------------------------------------------------- differences


@dataclass(frozen=True, slots=True)
class _Apart:
    """Two systems on one metric."""

    request: Request
    a: Score
    b: Score


def differences(found: Results, bins: int | None = None) -> list[Chart]:
    """How many documents one system does better on than another, and by how much; a panel a pair and metric.

    With `bins` there are about so many bars.
    """
    families: dict[tuple[str, str], dict[Request, dict[str, Score]]] = {}
    for score in _apart_from_curves(found):
        if score.rows.units is None and score.request.spec.items is None:
            own = families.setdefault((score.corpus, score.protocol), {})
            own.setdefault(score.request.without_fitted(), {})[score.system] = score
    charts: list[Chart] = []
    for (corpus, protocol), requests in families.items():
        pairs = [_Apart(request, a, b) for request, own in requests.items() for a, b in _pairs(request, own)]
        where = f"{short(corpus)}, {found.documents}, protocol {protocol}"
        most = max(map(len, requests.values()))
        rest = f" Of {most:,} systems, the best with the next {PANELS}." if most > PANELS + 1 else ""
        charts += [_difference_chart(some, where, rest, bins) for some in chunks(pairs, PANELS)]
    why = "differences need two systems or more and a metric that each document has a value of"
    return charts or [missing("differences", "Differences of two systems by document", why)]


def _pairs(request: Request, own: dict[str, Score]) -> list[tuple[Score, Score]]:
    """The best system with each other one, the better ones first, as far as a chart goes."""
    order = ordered({system: score.value for system, score in own.items()}, request.spec.better)
    return [(own[order[0]], own[other]) for other in order[1 : PANELS + 1]]


def _difference_chart(some: Sequence[_Apart], where: str, rest: str, bins: int | None) -> Chart:
    columns = min(3, len(some))
    drawn = [_difference_panel(each, columns, i % columns == 0, bins) for i, each in enumerate(some)]
    title = "Differences of two systems, document by document"
    if len(some) == 1:
        only = some[0]
        title = f"{label_of(only.request)} of {short(only.a.system)} less that of {short(only.b.system)}, by document"
    counts = f" {drawn[0][1]}." if len(some) == 1 else ""
    subtitle = (
        f"{where}.{counts} Right of the line the first system is better, left of it the second; each has its colour. "
        f"Grey: alike, within half a bar.{rest}"
    )
    spec = panels("differences", title, subtitle, [panel for panel, _ in drawn], columns)
    spec["resolve"] = {"scale": {"color": "independent"}}  # every panel has its two systems
    return Chart("differences", title, spec, None, f"{title}, {where}: {listed([said for _, said in drawn], 3)}.")


def _difference_panel(each: _Apart, columns: int, left: bool, bins: int | None) -> tuple[Spec, str]:
    """A histogram, and what it says in words."""
    request, apart = each.request, each.a.per_document() - each.b.per_document()
    apart = apart[np.isfinite(apart)]
    sign = -1 if request.spec.better == "lower" else 1
    reach = float(np.abs(apart).max(initial=0.0))
    width = step(reach) if bins is None or not reach else 2 * reach / bins
    bars = histogram(apart, width)
    wins, losses = int((sign * apart > 0).sum()), int((sign * apart < 0).sum())
    a, b = short(each.a.system, 17), short(each.b.system, 17)
    equal = len(apart) - wins - losses
    said = f"{label_of(request)}: {a} better on {wins:,}, {b} on {losses:,}, equal on {equal:,} documents"
    better = {1: short(each.a.system), 0: "", -1: short(each.b.system)}
    values = [
        {
            "from": (i - 0.46) * width,
            "to": (i + 0.46) * width,
            "count": count,
            "side": sign * int(np.sign(i)),
            "name": better[sign * int(np.sign(i))],
            "tip": f"{counted(count, 'document')}: {_apart(i, width)}",
        }
        for i, count in bars.items()
    ]
    colour = {
        "field": "name",
        "type": "nominal",
        "scale": {"domain": [better[1], "", better[-1]], "range": [COLOURS[0], GREY, COLOURS[1]]},
        "legend": None,
    }
    ends = max((abs(i) for i in bars), default=1) + 0.5
    x = {
        "field": "from",
        "type": "quantitative",
        "scale": {"domain": [-ends * width, ends * width], "nice": False, "padding": 0},
        "axis": share_axis("difference", tickCount=5, grid=False),
    }
    y = {"field": "count", "type": "quantitative", "axis": count_axis("documents" if left else None, bars.values())}
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "orient": "vertical"},
            "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0}, "color": colour},
        },
        {
            "data": {"values": [{"x": 0}]},
            "mark": {"type": "rule", "strokeDash": [3, 2]},
            "encoding": {"x": {"field": "x", "type": "quantitative"}},
        },
    ]
    size = {1: (460, 220), 2: (250, 150)}.get(columns, (180, 120))
    panel = layered(values, layers, size)
    counts = f"better on {wins:,}, worse on {losses:,}, equal on {len(apart) - wins - losses:,}"
    panel["title"] = {"text": [label_of(request), f"{a} − {b}"], "subtitle": counts, "fontSize": 11, "offset": 6}
    return panel, said


def _apart(bar: int, width: float) -> str:
    """The differences that a bar holds."""
    return f"a difference of {number((bar - 0.5) * width)} to {number((bar + 0.5) * width)}"


def step(reach: float) -> float:
    """The width of the bars of a histogram from −reach to reach, about twenty: 1, 2 or 5 times a power of 10.

    >>> step(1.0), step(0.4), step(7.0), step(0.0)
    (0.1, 0.05, 1.0, 0.1)
    """
    if reach <= 0:
        return 0.1
    rough = reach / 10
    power = 10.0 ** np.floor(np.log10(rough))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9)))


def histogram(values: Floats, width: float) -> dict[int, int]:
    """How many values are within half a width of each whole number of widths, a lower end belonging to its bar.

    >>> histogram(np.array([0.0, 0.04, 0.05, -0.3]), 0.1)
    {-3: 1, 0: 2, 1: 1}
    """
    bars = np.floor(np.round(values / width + 0.5, 9)).astype(np.int64)
    found, counts = np.unique(bars, return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


# ---------------------------------------------------------------------------------------------- mean ranks


def ranks(found: Comparison) -> list[Chart]:
    """Critical-difference diagrams: mean ranks over corpora, bars joining systems that do not differ."""
    title = "Mean ranks of the systems over all corpora"
    if not found.rankings:
        why = f"ranks are over two corpora or more, and this comparison is of {counted(len(found.documents), 'corpus')}"
        return [missing("ranks", title, why.replace("corpuss", "corpora"))]
    return [_rank_chart(ranking, found.options.alpha) for ranking in found.rankings]


def _rank_chart(ranking: Ranking, alpha: float) -> Chart:
    """Ranks along the top; names below it, the better half on the left, each joined to its rank by a line."""
    rank = dict(zip(ranking.systems, ranking.friedman.ranks.tolist(), strict=True))
    order = sorted(ranking.systems, key=lambda system: rank[system])
    shown, count = names(order), len(order)
    half = (count + 1) // 2
    bars = _bars(ranking, rank)
    below = 14 + 9 * len({bar["y"] for bar in bars})
    left, right = 1.0, float(count)
    lines_ = []
    for i, system in enumerate(order):
        better = i < half
        depth = below + LINE * (i if better else count - 1 - i)
        end = left - 0.03 * (right - left) if better else right + 0.03 * (right - left)
        name = f"{shown[system]} ({rank[system]:.2f})"
        lines_.append(
            {"name": shown[system], "beside": name, "tip": name, "x": rank[system], "end": end, "top": 0, "y": depth}
            | {"side": better}
        )
    height = below + LINE * half
    layers = [*_rank_lines(left, right, height, list(shown.values())), _bar_layer(bars), _names(True), _names(False)]
    metric = label_of(ranking.request)
    title = f"Mean ranks on {metric} over {ranking.friedman.corpora} corpora"
    apart = f"less than {ranking.critical:.2f} apart" if np.isfinite(ranking.critical) else "that no ranks tell apart"
    p = p_value(ranking.friedman.used_p, ranking.friedman.at_floor).replace(" ", "\u00a0")
    subtitle = (
        f"Protocol {ranking.protocol}. 1 is best. Bars join systems {apart} (Nemenyi, alpha {alpha:g}); "
        f"Friedman p\u00a0{p}."
    )
    spec = panels("ranks", title, subtitle, [layered(lines_, layers, (360, height))], 1)
    said = listed([f"{short(system)} {rank[system]:.2f}" for system in order])
    groups = "; ".join(listed([short(s) for s in clique]) for clique in ranking.cliques[:4])
    alike = f" Not told apart: {groups}." if groups else " All differ."
    return Chart("ranks", title, spec, None, f"{title}: {said}.{alike}")


def _bars(ranking: Ranking, rank: dict[str, float]) -> list[dict[str, float]]:
    """The bars, each below those that it would run into."""
    ends: list[float] = []
    found = []
    for clique in sorted(ranking.cliques, key=lambda c: min(rank[s] for s in c)):
        low, high = min(rank[s] for s in clique), max(rank[s] for s in clique)
        level = next((i for i, end in enumerate(ends) if end < low - 0.15), len(ends))
        ends[level : level + 1] = [high]
        found.append({"low": low - 0.04, "high": high + 0.04, "y": 10 + 9 * level})
    return found


def _rank_lines(left: float, right: float, height: int, shown: Sequence[str]) -> list[Spec]:
    margin = 0.03 * (right - left)
    axis = {
        "title": "mean rank",
        "orient": "top",
        "tickMinStep": 1,
        "grid": False,
        "format": "d",
        "values": list(range(1, round(right) + 1, 1 if right <= 12 else 5)),
    }
    x = {"type": "quantitative", "scale": {"domain": [left - margin, right + margin], "nice": False}, "axis": axis}
    y = {"type": "quantitative", "scale": {"domain": [height, 0], "nice": False}, "axis": None}
    top = {"field": "top", **y}
    line = {"type": "rule", "strokeWidth": 1}
    return [
        {"mark": line, "encoding": {"x": {"field": "x", **x}, "y": top, "y2": {"field": "y"}}},
        {"mark": line, "encoding": {"x": {"field": "x", **x}, "x2": {"field": "end"}, "y": {"field": "y", **y}}},
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": {
                "x": {"field": "x", **x},
                "y": top,
                "color": coloured(shown, legend=False),
                "shape": shaped(shown, legend=False),
            },
        },
    ]


def _bar_layer(bars: Sequence[dict[str, float]]) -> Spec:
    return {
        "data": {"values": list(bars)},
        "mark": {"type": "rule", "strokeWidth": 5, "style": "faint", "strokeCap": "round"},
        "encoding": {
            "x": {"field": "low", "type": "quantitative"},
            "x2": {"field": "high"},
            "y": {"field": "y", "type": "quantitative"},
        },
    }


def _names(better: bool) -> Spec:
    """The names on one side, with their ranks."""
    return {
        "transform": [{"filter": {"field": "side", "equal": better}}],
        "mark": {
            "type": "text",
            "align": "right" if better else "left",
            "dx": -5 if better else 5,
            "fontSize": 11,
            "baseline": "middle",
        },
        "encoding": {
            "x": {"field": "end", "type": "quantitative"},
            "y": {"field": "y", "type": "quantitative"},
            "text": {"field": "beside"},
        },
    }
