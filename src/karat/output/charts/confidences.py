"""Charts of confidence: whether a system is right as often as it is sure, and what a threshold would keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from karat.analyses.confidence.measures import KPP_BINS, KPP_WIDTH, Bin
from karat.analyses.confidence.result import Assessed, Confidence
from karat.errors import counted
from karat.output.charts.base import (
    AT_ONCE,
    COLOURS,
    GREY,
    MOST,
    TONES,
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
    shaped,
    share_axis,
    short,
    tenths,
)

NO_PROBABILITIES = "no prediction has a probability: a run gives token_probs or token_logprobs"
NONE = "no prediction has a confidence: a run gives token_probs, token_logprobs or scores"
SHOWN_KPP = 40  # bins of perplexity: from 1 to 5
PANELS = 12  # of a chart that has one for each system
POINTS = ("as it is", "calibrated")


def _families(found: Confidence, any_scores: bool) -> dict[str, list[Assessed]]:
    """What there is to draw, by protocol."""
    families: dict[str, list[Assessed]] = {}
    for each in found.found:
        if each.predictions and (each.probabilities or any_scores):
            families.setdefault(each.protocol, []).append(each)
    return families


def _where(found: Confidence, protocol: str) -> str:
    return f"{short(found.corpus)}, {counted(found.documents, 'document')}, protocol {protocol}"


def _by_system(found: Sequence[Assessed]) -> dict[str, dict[str, Assessed]]:
    systems: dict[str, dict[str, Assessed]] = {}
    for each in found:
        systems.setdefault(each.system, {})[each.subset] = each
    return dict(list(systems.items())[:MOST])


def _two(own: dict[str, Assessed]) -> dict[str, Assessed]:
    """Present and absent predictions apart, where the texts allow it; else all."""
    apart = {subset: each for subset, each in own.items() if subset in ("present", "absent")}
    return apart or own


def _each(
    found: Confidence,
    kind: str,
    title: str,
    make: Callable[[str, list[Assessed]], list[Chart]],
    any_scores: bool = False,
) -> list[Chart]:
    """The charts of each protocol, or that there is none; `any_scores` includes scores that are not probabilities."""
    charts = [chart for protocol, own in _families(found, any_scores).items() for chart in make(protocol, own)]
    return charts or [missing(kind, title, NONE if any_scores else NO_PROBABILITIES)]


# ---------------------------------------------------------------------------------------------- reliability


def reliability(found: Confidence) -> list[Chart]:
    """Reliability diagrams: how often predictions are right against how sure the system is, with counts."""
    title = "Is each system right as often as it is sure?"

    def make(protocol: str, own: list[Assessed]) -> list[Chart]:
        few = len({each.system for each in own}) <= AT_ONCE
        drawn = own if few else [each for each in own if each.subset == "all"]
        width = len({each.subset for each in drawn}) if few else 4
        subtitle = (
            f"{_where(found, protocol)}. On the dashed line confidence is right; below it the system is too sure. "
            "Bars below: predictions in each bin."
        )
        return [_reliability(title, subtitle, some, width) for some in chunks(drawn, 9 if few else 16)]

    return _each(found, "reliability", title, make)


def _reliability(title: str, subtitle: str, some: Sequence[Assessed], columns: int) -> Chart:
    shown = names((each.system for each in some), 17)
    two = any(each.calibrated for each in some)
    parts = [
        _diagram(each, f"{shown[each.system]}, {each.subset}", i % columns == 0, two) for i, each in enumerate(some)
    ]
    spec = panels("reliability", title, subtitle, parts, columns)
    said = [
        f"{short(each.system)}, {each.subset}: mean confidence {number(each.figures.mean_confidence or 0)}, "
        f"{number(each.accuracy or 0)} are right, ECE {number(each.figures.ece or 0)}"
        for each in some
    ]
    return Chart("reliability", title, spec, None, f"{title} {listed(said, 3)}.")


def _diagram(each: Assessed, title: str, left: bool, two: bool) -> Spec:
    """The diagram above, the counts of its bins below."""
    axis = share_axis(None, tickCount=4)
    x = {"field": "x", "type": "quantitative", "scale": {"domain": [0, 1]}, "axis": axis}
    y = x | {"field": "y", "axis": share_axis("share that is right" if left else None, tickCount=4)}
    bins = [*_points(each.figures.bins, POINTS[0])]
    if each.calibrated is not None:
        bins += _points(each.calibrated.figures.bins, POINTS[1])
    shown = POINTS if two else POINTS[:1]
    marks: list[Spec] = [
        {
            "data": {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]},
            "mark": {"type": "line", "strokeDash": [4, 3], "style": "faint", "strokeWidth": 1.5},
            "encoding": {"x": x, "y": y},
        },
        {
            "mark": {"type": "line", "strokeWidth": 1, "opacity": 0.6},
            "encoding": {"x": x, "y": y, "color": coloured(shown, two, colours=TONES)},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": coloured(shown, two, colours=TONES), "shape": shaped(shown, two)},
        },
    ]
    above = layered(bins, marks, (150, 150))
    ece = "" if each.figures.ece is None else f"ECE {number(each.figures.ece)}"
    above["title"] = panel_title(title) | {"subtitle": f"{ece}, {counted(each.predictions, 'prediction')}"}
    return {"vconcat": [above, _counts(each.figures.bins, left)], "spacing": 4}


def _points(bins: Sequence[Bin], name: str) -> list[Spec]:
    return [
        {
            "name": name,
            "x": b.confidence,
            "y": b.accuracy,
            "tip": f"{name}: mean confidence {number(b.confidence or 0)}, {number(b.accuracy or 0)} right of "
            f"{counted(b.n, 'prediction')}",
        }
        for b in bins
        if known(b.confidence) and known(b.accuracy)
    ]


def _counts(bins: Sequence[Bin], left: bool) -> Spec:
    gap = 0.004
    values = [
        {"from": b.low + gap, "to": b.high - gap, "count": b.n, "tip": counted(b.n, "prediction")}
        for b in bins
        if b.high > b.low
    ]
    x = {
        "field": "from",
        "type": "quantitative",
        "scale": {"domain": [0, 1], "padding": 0},
        "axis": share_axis("confidence", tickCount=4, grid=False),
    }
    y = {
        "field": "count",
        "type": "quantitative",
        "axis": {"title": "count" if left else None, "tickCount": 2, "format": "~s"},
    }
    bars = {
        "mark": {"type": "bar", "orient": "vertical", "color": TONES[0], "opacity": 0.7},
        "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0}},
    }
    return layered(values, [bars], (150, 36))


# ---------------------------------------------------------------------------------------------- how sure


def kpp(found: Confidence) -> list[Chart]:
    """How sure systems are of their predictions, present and absent apart: shares by tenths of confidence."""
    title = "How sure each system is of its predictions"

    def make(protocol: str, own: list[Assessed]) -> list[Chart]:
        subtitle = (
            f"{_where(found, protocol)}. KPP, the perplexity of a keyphrase, is 1 where the system is sure and has no "
            "upper end; its inverse is the confidence."
        )
        systems = {system: _two(subsets) for system, subsets in _by_system(own).items()}
        return [_sure(title, subtitle, dict(some)) for some in chunks(list(systems.items()), PANELS)]

    return _each(found, "kpp", title, make)


def _sure(title: str, subtitle: str, systems: dict[str, dict[str, Assessed]]) -> Chart:
    shown, columns = names(systems), min(3, len(systems))
    parts, said = [], []
    for i, (system, two) in enumerate(systems.items()):
        shares = {s: [100 * n / max(sum(e.histogram), 1) for n in e.histogram] for s, e in two.items()}
        medians = ", ".join(f"{s} {_kpp(e.kpp_median)}" for s, e in two.items())
        panel = tenths(shares, "confidence (1 / KPP)", ("% of predictions", i % columns == 0), 1.0, (180, 130))
        parts.append(panel | {"title": panel_title(shown[system]) | {"subtitle": f"median KPP: {medians}"}})
        said.append(f"{short(system)} has a median KPP of {medians}")
    spec = panels("kpp", title, subtitle, parts, columns)
    return Chart("kpp", title, spec, None, f"{title}: {listed(said, 3)}.")


def perplexity(found: Confidence, bins: int | None = None) -> list[Chart]:
    """How many phrases have which perplexity, in so many bins of .1: a row a system, present and absent apart."""
    title = "Perplexity of keyphrases"
    shown = min(SHOWN_KPP if bins is None else bins, KPP_BINS)

    def make(protocol: str, own: list[Assessed]) -> list[Chart]:
        last = number(1 + KPP_WIDTH * (shown - 1), 1)
        subtitle = (
            f"{_where(found, protocol)}. Phrases by KPP in bins of .1, the last (grey) with all from {last} on; "
            "dashed: the median. One scale."
        )
        systems = {system: _two(subsets) for system, subsets in _by_system(own).items()}
        parts = [(name, subset, each) for name, two in systems.items() for subset, each in two.items()]
        columns = max(map(len, systems.values()))
        return [_perplexities(title, subtitle, some, shown, columns) for some in chunks(parts, PANELS)]

    return _each(found, "perplexity", title, make)


def _perplexities(
    title: str, subtitle: str, parts: Sequence[tuple[str, str, Assessed]], shown: int, columns: int
) -> Chart:
    called = names(system for system, _, _ in parts)
    counts = [[*each.kpp_histogram[: shown - 1], sum(each.kpp_histogram[shown - 1 :])] for _, _, each in parts]
    top = max(map(max, counts))
    drawn = [
        _kpp_bars(own, each.kpp_median, top, i % columns == 0)
        | {
            "title": panel_title(f"{called[system]}, {subset}")
            | {"subtitle": f"median {_kpp(each.kpp_median)}, {counted(each.predictions, 'phrase')}"}
        }
        for i, ((system, subset, each), own) in enumerate(zip(parts, counts, strict=True))
    ]
    said = [f"{short(s)}, {subset}: median {_kpp(e.kpp_median)} of {e.predictions:,}" for s, subset, e in parts]
    spec = panels("perplexity", title, subtitle, drawn, columns)
    return Chart("perplexity", title, spec, None, f"{title}: {listed(said, 4)}.")


def _kpp_bars(counts: Sequence[int], median: float | None, top: int, left: bool) -> Spec:
    """The bars of some phrases, and a dashed line at their median where it is among the bins."""
    gap, end = 0.1 * KPP_WIDTH, 1 + KPP_WIDTH * len(counts)
    values = [
        {"from": 1 + KPP_WIDTH * i + gap, "to": 1 + KPP_WIDTH * (i + 1) - gap, "count": n, "rest": i == len(counts) - 1}
        for i, n in enumerate(counts)
    ]
    scale = {"domain": [1, end], "nice": False, "padding": 0}
    x = {
        "field": "from",
        "type": "quantitative",
        "scale": scale,
        "axis": {"title": "KPP", "tickCount": 5, "grid": False},
    }
    y = {
        "field": "count",
        "type": "quantitative",
        "scale": {"domain": [0, max(top, 1)], "nice": False},
        "axis": count_axis("phrases" if left else None, [top]),
    }
    colour = {
        "field": "rest",
        "type": "nominal",
        "scale": {"domain": [False, True], "range": [COLOURS[0], GREY]},
        "legend": None,
    }
    bars = {
        "mark": {"type": "bar", "orient": "vertical"},
        "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0}, "color": colour},
    }
    lines = [] if median is None or not median < end else [{"x": median}]
    middle = {
        "data": {"values": lines},
        "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1.5, "color": COLOURS[1]},
        "encoding": {"x": {"field": "x", "type": "quantitative"}},
    }
    return layered(values, [bars, middle], (240, 130))


def _kpp(value: float | None) -> str:
    return f"{value:.2f}" if known(value) else "–"


def tokens(found: Confidence) -> list[Chart]:
    """The probabilities of tokens by their place in the phrase: quartiles, median, mean."""
    title = "Probability of a token by its place in the phrase"

    def make(protocol: str, own: list[Assessed]) -> list[Chart]:
        systems = {system: _two(subsets) for system, subsets in _by_system(own).items()}
        there = [(system, two) for system, two in systems.items() if any(each.positions for each in two.values())]
        if not there:
            why = "no run gives the probabilities of its tokens (token_probs or token_logprobs)"
            return [missing("tokens", title, why)]
        where = _where(found, protocol)
        subtitle = f"{where}. Bars: from the first to the third quartile; line: the median; mark: the mean."
        return [_places(title, subtitle, dict(some)) for some in chunks(there, PANELS)]

    return _each(found, "tokens", title, make)


def _places(title: str, subtitle: str, there: dict[str, dict[str, Assessed]]) -> Chart:
    shown, columns = names(there), min(3, len(there))
    parts = [_boxes(two, shown[s], i % columns == 0) for i, (s, two) in enumerate(there.items())]
    said = [
        f"{short(s)}, {subset}: median {number(e.positions[0].median)} at the first token, "
        f"{number(e.positions[-1].median)} at token {e.positions[-1].position}"
        for s, two in there.items()
        for subset, e in two.items()
        if e.positions
    ]
    return Chart(
        "tokens", title, panels("tokens", title, subtitle, parts, columns), None, f"{title}: {listed(said, 4)}."
    )


def _boxes(two: dict[str, Assessed], name: str, left: bool) -> Spec:
    shown = list(two)
    half = 0.36 / len(shown)
    values = [
        {
            "name": subset,
            "from": at.position + (2 * n + 1 - len(shown)) * half - half * 0.9,
            "mid": at.position + (2 * n + 1 - len(shown)) * half,
            "to": at.position + (2 * n + 1 - len(shown)) * half + half * 0.9,
            "q1": at.q1,
            "median": at.median,
            "q3": at.q3,
            "mean": at.mean,
            "tip": f"{subset}, token {at.position}: median {number(at.median)}, mean {number(at.mean)}, quartiles "
            f"{number(at.q1)} and {number(at.q3)}",
        }
        for n, (subset, each) in enumerate(two.items())
        for at in each.positions
    ]
    last = max((at.position for each in two.values() for at in each.positions), default=1)
    axis = {"title": "token of the phrase", "values": list(range(1, last + 1)), "grid": False, "format": "d"}
    x = {"field": "from", "type": "quantitative", "scale": {"domain": [0.5, last + 0.5], "nice": False}, "axis": axis}
    y = {
        "field": "q1",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": share_axis("probability" if left else None),
    }
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "orient": "vertical", "opacity": 0.35},
            "encoding": {
                "x": x,
                "x2": {"field": "to"},
                "y": y,
                "y2": {"field": "q3"},
                "color": coloured(shown, colours=TONES),
            },
        },
        {
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {
                "x": x,
                "x2": {"field": "to"},
                "y": y | {"field": "median"},
                "color": coloured(shown, colours=TONES),
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
            "encoding": {
                "x": x | {"field": "mid"},
                "y": y | {"field": "mean"},
                "color": coloured(shown, colours=TONES),
                "shape": shaped(shown),
            },
        },
    ]
    return layered(values, layers, (190, 150), name)


# ---------------------------------------------------------------------------------------------- risk and coverage


def risk(found: Confidence) -> list[Chart]:
    """Risk-coverage curves: the share that is wrong among the predictions a system is surest of."""
    title = "What is wrong among the predictions a system is surest of"

    def make(protocol: str, own: list[Assessed]) -> list[Chart]:
        drawn = [each for each in own if len(each.curve) > 1]
        shown = names(list(dict.fromkeys(each.system for each in drawn))[:MOST])
        if not shown:
            return [missing("risk", title, "no system has two predictions of which it is more and less sure")]
        many = len(shown) > AT_ONCE
        subsets = [s for s in dict.fromkeys(each.subset for each in drawn) if s == "all" or not many]
        parts, columns = list[Spec](), 3
        for subset in subsets:
            points = {
                shown[e.system]: [(at.coverage, at.risk) for at in e.curve]
                for e in drawn
                if e.subset == subset and e.system in shown
            }
            size = (190, 190) if len(subsets) > 1 else (480, 320)
            panel, row = Curves(points, "share kept", "share wrong", {}, everyone=list(shown.values())).panels(
                size, f"{subset} phrases"
            )
            parts, columns = parts + panel, max(row, columns)
        subtitle = (
            f"{_where(found, protocol)}. Of the predictions that are kept, the share that is wrong; lower is better."
        )
        spec = panels("risk", title, subtitle, parts, columns)
        return [Chart("risk", title, spec, None, f"{title}: {_risks(drawn)}.")]

    return _each(found, "risk", title, make, any_scores=True)


def _risks(drawn: Sequence[Assessed]) -> str:
    """In words, how much is wrong of the surest predictions and of all."""
    return listed(
        [
            f"{short(each.system)}, {each.subset}: {number(each.curve[0].risk)} of the surest "
            f"{100 * each.curve[0].coverage:.0f} %, {number(each.curve[-1].risk)} of all"
            + ("" if each.aurc is None else f", AURC {number(each.aurc)}")
            for each in drawn
        ],
        3,
    )
