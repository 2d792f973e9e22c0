"""Charts of a description: what classes phrases are of, where in the text they stand, and what systems miss."""

from __future__ import annotations

from karat.analyses.describe.result import Description, Side
from karat.analyses.study import Study
from karat.errors import counted
from karat.matching.columns import PRMU
from karat.output.charts.base import (
    LINE,
    MOST,
    Chart,
    Curves,
    Spec,
    coloured,
    distinct,
    known,
    layered,
    listed,
    missing,
    panels,
    rows_of,
    share_axis,
    short,
)

NO_TEXT = "the documents have no title and no text, so where phrases stand cannot be told"
CLASS_NAMES = {"P": "present", "R": "reordered", "M": "mixed", "U": "unseen"}
SHADES = (1.0, 0.55, 0.3, 0.12)  # of the classes, in a system's colour
MEANING = "P: in the text as it is; R: all its words, apart; M: some of its words; U: none"


def _sides(found: Description) -> dict[str, Side]:
    """The reference sets and systems by the names they have in a chart."""
    sides = found.sides[:MOST]
    return dict(zip(distinct(side.name for side in sides), sides, strict=True))


def _where(found: Description) -> str:
    return f"{short(found.corpus)}, {counted(found.texts.documents, 'document')}, protocol {found.protocol}"


# ---------------------------------------------------------------------------------------------- classes


def prmu(found: Description | Study) -> list[Chart]:
    """The classes of phrases (PRMU), of references and of predictions."""
    title = "How many phrases are in the text, and how"
    if isinstance(found, Study):
        lines = distinct(version.name for version in found.versions)
        each = [[version.prmu[name] for name in PRMU] for version in found.versions]
        return [_stacked(title, short(found.corpus), dict(zip(lines, each, strict=True)))]
    shares = {name: list(side.portrait.classes) for name, side in _sides(found).items()}
    return [_stacked(title, _where(found), shares)]


def _stacked(title: str, where: str, shares: dict[str, list[float | None]]) -> Chart:
    whole = {name: [v for v in own if v is not None] for name, own in shares.items()}
    drawn = {name: own for name, own in whole.items() if len(own) == len(PRMU) and all(map(known, own))}
    if not drawn:
        return missing("prmu", title, NO_TEXT)
    values = [
        {
            "name": name,
            "class": letter,
            "from": 100 * sum(own[:i]),
            "to": 100 * sum(own[: i + 1]),
            "mid": 100 * (sum(own[:i]) + own[i] / 2),
            "told": f"{letter} {100 * own[i]:.0f}" if own[i] >= 0.06 else letter if own[i] >= 0.025 else "",
            "dark": i == 0,
            "tip": f"{name}: {100 * own[i]:.1f} % {CLASS_NAMES[letter]}",
        }
        for name, own in drawn.items()
        for i, letter in enumerate(PRMU)
    ]
    shade = {
        "field": "class",
        "type": "nominal",
        "scale": {"type": "ordinal", "domain": list(PRMU), "range": list(SHADES)},
        "legend": {"orient": "bottom", "title": None, "columns": 4},
    }
    y = rows_of(list(drawn), grid=False)
    x = {
        "field": "from",
        "type": "quantitative",
        "scale": {"domain": [0, 100], "nice": False},
        "axis": {"title": "% of the phrases of a document, on average"},
    }
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "height": LINE - 3},
            "encoding": {
                "y": y,
                "x": x,
                "x2": {"field": "to"},
                "color": coloured(list(drawn), legend=False),
                "fillOpacity": shade,
            },
        },
        *(_letters(y, x, dark) for dark in (True, False)),
    ]
    panel = layered(values, layers, (460, (LINE + 2) * len(drawn) + 8))
    spec = panels("prmu", title, f"{where}. {MEANING}.", [panel], 1)
    said = [
        f"{name} {', '.join(f'{letter} {100 * v:.0f} %' for letter, v in zip(PRMU, own, strict=True))}"
        for name, own in drawn.items()
    ]
    return Chart("prmu", title, spec, None, f"{title}: {listed(said, 3)}.")


def _letters(y: Spec, x: Spec, dark: bool) -> Spec:
    """The classes in the bars: white in those that are dark."""
    return {
        "transform": [{"filter": {"field": "dark", "equal": dark}}],
        "mark": {"type": "text", "fontWeight": "bold"} | ({"color": "#ffffff"} if dark else {}),
        "encoding": {"y": y, "x": x | {"field": "mid"}, "text": {"field": "told"}},
    }


def recall(found: Description) -> list[Chart]:
    """What share of the references of each class each system finds."""
    title = "What share of the references of each class is found"
    values: dict[str, dict[str, tuple[float, int]]] = {}
    for name, side in _sides(found).items():
        for group in side.looks.groups if side.looks is not None else ():
            if group.by == "class of a reference" and group.value is not None:
                values.setdefault(group.group, {})[name] = group.value, group.count
    if not values:
        return [missing("recall", title, "there is no run, or there are no references that a text could hold")]
    systems = list(dict.fromkeys(name for own in values.values() for name in own))
    parts: list[Spec] = []
    for letter, own in values.items():
        rows = [
            {"name": name, "x": value, "tip": f"{name}: {100 * value:.1f} % of {counted(count, 'reference')}"}
            for name, (value, count) in own.items()
        ]
        x = {
            "field": "x",
            "type": "quantitative",
            "axis": share_axis("recall", tickCount=3),
            "scale": {"domain": [0, 1], "nice": False},
        }
        y = rows_of(systems, not parts)
        bars = {
            "mark": {"type": "bar", "height": 7},
            "encoding": {"y": y, "x": x, "color": coloured(systems, legend=False)},
        }
        count = max(count for _, count in own.values())
        parts.append(layered(rows, [bars], (110, LINE * len(systems) + 8), f"{letter}, {counted(count, 'reference')}"))
    spec = panels("recall", title, f"{_where(found)}. {MEANING}.", parts, 4)
    said = [
        f"of {letter} {best} finds most, {100 * own[best][0]:.0f} %"
        for letter, own in values.items()
        for best in [max(own, key=lambda name: own[name][0])]
    ]
    return [Chart("recall", title, spec, None, f"{title}: {'; '.join(said)}.")]


# ---------------------------------------------------------------------------------------------- positions


def positions(found: Description) -> list[Chart]:
    """Where in the text phrases are first met, references and predictions."""
    title = "Where in the text phrases are first met"
    curves: dict[str, list[tuple[float, float]]] = {}
    for name, side in _sides(found).items():
        counts = side.portrait.curve
        if counts and sum(counts):
            step = 100 / len(counts)
            curves[name] = [((i + 0.5) * step, 100 * n / sum(counts)) for i, n in enumerate(counts)]
    if not curves:
        why = "no phrase is present in a text" if found.texts.with_text else NO_TEXT
        return [missing("positions", title, why)]
    parts, columns = Curves(curves, "% of the text", "% of phrases", {}).panels()
    width = 100 / len(next(iter(curves.values())))
    subtitle = f"{_where(found)}. Present phrases alone; each point: {width:g} % of the characters of the text."
    spec = panels("positions", title, subtitle, parts, columns)
    said = [f"{name} has {_until(points, 20):.0f} % in the first fifth" for name, points in curves.items()]
    return [Chart("positions", title, spec, None, f"{title}: {listed(said, 3)}.")]


def _until(points: list[tuple[float, float]], end: float) -> float:
    return sum(share for place, share in points if place < end)


def missed(found: Description) -> list[Chart]:
    """What share of the references that stand in each part of the text each system misses."""
    title = "What share of present references is missed, by part of the text"
    curves: dict[str, list[tuple[float, float]]] = {}
    for name, side in _sides(found).items():
        rates = side.looks.miss_rate if side.looks is not None else None
        if rates is not None and any(map(known, rates)):
            step = 100 / len(rates)
            curves[name] = [((i + 0.5) * step, 100 * r) for i, r in enumerate(rates) if r is not None]
    if not curves:
        return [missing("missed", title, "there is no run, or no reference is present in a text")]
    parts, columns = Curves(curves, "% of the text", "% missed", {}).panels()
    spec = panels("missed", title, f"{_where(found)}. Each point: a fifth of the text.", parts, columns)
    said = [
        f"{name} misses {points[0][1]:.0f} % in the first part, {points[-1][1]:.0f} % in the last"
        for name, points in curves.items()
    ]
    return [Chart("missed", title, spec, None, f"{title}: {listed(said, 3)}.")]
