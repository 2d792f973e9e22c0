"""Charts of agreement: what two systems predict alike, and how alike a system indexes alike documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat.analyses.homogeneity.result import Homogeneity, Row
from karat.analyses.overlap import Overlap, Pair
from karat.analyses.study import Study
from karat.errors import counted
from karat.output.charts.base import (
    LINE,
    MOST,
    TONES,
    Chart,
    Spec,
    coloured,
    known,
    layered,
    missing,
    names,
    number,
    panel_title,
    panels,
    rows_of,
    shaped,
    share_axis,
    short,
    tenths,
)

HISTOGRAMS = 3  # pairs of systems with a histogram of their own; more are lines of one chart
BOTH = ("both right", "both wrong")
CEILINGS = {"references": "references", "extractors": "extractors at best"}
MEASURES = {"hooper": "Hooper (phrases)", "rodgers": "Rodgers (words)", "soft": "soft score"}


# ---------------------------------------------------------------------------------------------- overlap


def overlap(found: Overlap) -> list[Chart]:
    """What two systems both have right and both have wrong: histograms by document, or of many pairs a line each."""
    families: dict[str, dict[tuple[str, str], list[Pair]]] = {}
    for pair in found.pairs:
        families.setdefault(pair.protocol, {}).setdefault((pair.a, pair.b), []).append(pair)
    charts: list[Chart] = []
    for protocol, pairs in families.items():
        if len(pairs) <= HISTOGRAMS:
            charts += [_histograms(found, protocol, own) for own in pairs.values()]
        else:
            charts.append(_pair_lines(found, protocol, pairs))
    return charts


def _where(found: Overlap, protocol: str) -> str:
    return f"{short(found.corpus)}, {counted(found.documents, 'document')}, protocol {protocol}"


def _histograms(found: Overlap, protocol: str, own: Sequence[Pair]) -> Chart:
    a, b = short(own[0].a), short(own[0].b)
    title = f"What {a} and {b} predict alike"
    if not any(pair.defined.any() for pair in own):
        return missing("overlap", title, f"neither {a} nor {b} predicts a phrase for any document")
    there = [pair for pair in own if pair.defined.any()]
    parts = [_tenths(pair, i == 0) for i, pair in enumerate(there)]
    lacking = [pair.subset for pair in own if not pair.defined.any()]
    subtitle = (
        f"{_where(found, protocol)}. Of the phrases that either predicts for a document, the share that both predict."
        + (f" Neither predicts {' or '.join(lacking)} phrases." if lacking else "")
    )
    said = [
        f"{pair.subset}: both right {pair.common_correct:.1f} %, both wrong {pair.common_wrong:.1f} % on average"
        for pair in own
        if pair.common_correct is not None and pair.common_wrong is not None
    ]
    return Chart("overlap", title, panels("overlap", title, subtitle, parts, 3), None, f"{title}: {'; '.join(said)}.")


def _tenths(pair: Pair, left: bool) -> Spec:
    """Documents by tenths, two bars in each: right and wrong."""
    counts = dict(zip(BOTH, pair.histogram().values(), strict=True))
    panel = tenths(counts, "% of the phrases of either", ("documents", left), 100, (190, 150))
    undefined = f", {pair.undefined:,} left out" if pair.undefined else ""
    return panel | {"title": panel_title(f"{pair.subset} phrases{undefined}")}


def _pair_lines(found: Overlap, protocol: str, pairs: dict[tuple[str, str], list[Pair]]) -> Chart:
    """A line for each pair with two points, the most alike first."""
    whole = {names_: own[-1] for names_, own in pairs.items() if own[-1].common_correct is not None}
    subset = next(iter(pairs.values()))[-1].subset
    title = f"What two systems predict alike, {subset} phrases"
    if not whole:
        return missing("overlap", title, "no system predicts a phrase for any document")
    order = sorted(whole, key=lambda pair: -(whole[pair].common_correct or 0.0))[:MOST]
    shown = names((f"{short(a, 22)} – {short(b, 22)}" for a, b in order), 60)
    values = [
        {"row": row, "name": name, "x": value, "tip": f"{row}, {name}: {value or 0:.1f} %"}
        for row, pair in zip(shown.values(), order, strict=True)
        for name, value in zip(BOTH, (whole[pair].common_correct, whole[pair].common_wrong), strict=True)
    ]
    y = rows_of(list(shown.values())) | {"field": "row"}
    x = {"field": "x", "type": "quantitative", "axis": {"title": "% of the phrases that either predicts, on average"}}
    points = {
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
        "encoding": {"y": y, "x": x, "color": coloured(BOTH, colours=TONES), "shape": shaped(BOTH)},
    }
    more = f" The {len(order)} most alike of {counted(len(whole), 'pair')}." if len(order) < len(whole) else ""
    subtitle = f"{_where(found, protocol)}.{more}"
    spec = panels("overlap", title, subtitle, [layered(values, [points], (400, LINE * len(order) + 8))], 1)
    first = whole[order[0]]
    said = f"most alike are {short(first.a)} and {short(first.b)}, both right on {first.common_correct:.1f} %"
    return Chart("overlap", title, spec, None, f"{title}: {said}.")


# ---------------------------------------------------------------------------------------------- homogeneity


def homogeneity(found: Homogeneity | Study) -> list[Chart]:
    """How alike each system indexes the documents of a pair, with intervals, and what could be reached.

    Of a study: of its reformulations, and of its documents that share references.
    """
    parts = [each for _, each in found.measured()] if isinstance(found, Study) else [found]
    charts = [
        _homogeneity(part, protocol)
        for part in parts
        for protocol in dict.fromkeys(row.protocol for row in part.systems)
    ]
    why = "there are no pairs of documents with predictions"
    return charts or [missing("homogeneity", "How alike systems index alike documents", why)]


def _homogeneity(found: Homogeneity, protocol: str) -> Chart:
    rows = [row for row in found.systems if row.protocol == protocol][:MOST]
    ceilings = [row for row in found.ceilings if row.protocol == protocol]
    title = "How alike systems index alike documents"
    measures = [m for m in MEASURES if any(m in row.figures and known(row.figures[m].value) for row in rows)]
    if not measures:
        return missing("homogeneity", title, "no pair of documents has a prediction in either of them")
    ceilings = [row for row in ceilings if _lines([row], measures[0])]  # none without references
    shown = names(row.system for row in rows)
    parts = [_measure(rows, ceilings, shown, measure, i == 0) for i, measure in enumerate(measures)]
    subtitle = (
        f"{short(found.corpus)}, {counted(found.pairs, 'pair')} over {counted(found.documents, 'document')}, protocol "
        f"{protocol}. 1: the same {'phrases' if len(measures) == 1 else 'phrases or words'} for both documents. Lines: "
        f"{100 * found.options.level:.4g} % intervals."
        + (" Dashed: what the references reach; dotted: what extractors can." if ceilings else "")
    )
    spec = panels("homogeneity", title, subtitle, parts, 3)
    top = max(rows, key=lambda row: _value(row, measures[0]))
    limits = [f"{CEILINGS.get(c.system, c.system)} {number(_value(c, measures[0]))}" for c in ceilings]
    alt = f"{title}: by {MEASURES[measures[0]]}, {short(top.system)} is highest with {number(_value(top, measures[0]))}"
    return Chart("homogeneity", title, spec, None, f"{alt}; {', '.join(limits)}." if limits else f"{alt}.")


def _value(row: Row, measure: str) -> float:
    figure = row.figures.get(measure)
    return figure.value if figure is not None and known(figure.value) else -1.0


def _measure(rows: Sequence[Row], ceilings: Sequence[Row], shown: dict[str, str], measure: str, left: bool) -> Spec:
    values = []
    for row in rows:
        figure = row.figures.get(measure)
        if figure is not None and known(figure.value):
            low, high = figure.interval
            ends = {"low": low, "high": high} if known(low) and known(high) else {}
            tip = f"{shown[row.system]}: {number(figure.value)}" + (
                f" ({number(low)} to {number(high)})" if ends else ""
            )
            values.append({"name": shown[row.system], "x": figure.value, "tip": tip} | ends)
    order = list(shown.values())
    y, colour = rows_of(order, left), coloured(order, legend=False)
    x = {
        "field": "x",
        "type": "quantitative",
        "axis": share_axis(MEASURES[measure]),
        "scale": {"zero": True},
    }
    layers: list[Spec] = [_limits(ceilings, measure)] if _lines(ceilings, measure) else []
    layers += [
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
    return layered(values, layers, (210, LINE * len(shown) + 8))


def _lines(ceilings: Sequence[Row], measure: str) -> list[dict[str, Any]]:
    return [
        {"name": CEILINGS.get(row.system, row.system), "x": row.figures[measure].value}
        for row in ceilings
        if measure in row.figures and known(row.figures[measure].value)
    ]


def _limits(ceilings: Sequence[Row], measure: str) -> Spec:
    """Lines down the panel: what references and extractors reach."""
    dash = {
        "field": "name",
        "type": "nominal",
        "scale": {"domain": list(CEILINGS.values()), "range": [[6, 3], [2, 2]]},
        "legend": None,
    }
    return {
        "data": {"values": _lines(ceilings, measure)},
        "mark": {"type": "rule", "strokeWidth": 1.5},
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "strokeDash": dash},
    }
