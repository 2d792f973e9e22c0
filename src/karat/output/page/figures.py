"""Charts as a page has them: in two widths, every system in its colour and shape, legends in HTML, values at points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from karat.analyses.report.result import Page
from karat.output.charts.base import COLOURS, GREY, Chart, Spec, Style, distinct, names, short, style
from karat.output.charts.drawing import svg

WIDE, NARROW = 860, 340  # units of a drawing; a card is between .8 and 1.3 times as wide, or as a telephone
NEAR_ENOUGH = 0.07  # by how much a drawing may miss its width: it is scaled to its card
LABEL = 20  # letters of a name at the left of a narrow drawing
BOTH = " – "  # between two names at the left; in a narrow drawing each has its line
LETTER = 6.4  # units
REFERENCES = Style(GREY, "circle", (1, 0))  # of what is no system, beside systems
_SHAPES = {
    "circle": "M5 0A5 5 0 1 1-5 0A5 5 0 1 1 5 0Z",
    "square": "M-4.4-4.4H4.4V4.4H-4.4Z",
    "triangle-up": "M0-5.2L5.4 4.2H-5.4Z",
    "triangle-down": "M0 5.2L5.4-4.2H-5.4Z",
    "triangle-right": "M5.2 0L-4.2 5.4V-5.4Z",
    "triangle-left": "M-5.2 0L4.2 5.4V-5.4Z",
    "diamond": "M0-6L5 0 0 6-5 0Z",
    "cross": "M-5-1.8H-1.8V-5H1.8V-1.8H5V1.8H1.8V5H-1.8V1.8H-5Z",
}


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of a legend: a text beside a shape, which may be faint."""

    text: str
    colour: str
    path: str
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart that is drawn: what stands above it, its legend, and its SVG for a wide and for a narrow card."""

    title: str
    below: str
    keys: tuple[Key, ...]
    wide: str
    narrow: str


def styles_of(page: Page) -> dict[str, Style]:
    """The colour and shape of each system of a page, the same everywhere on it."""
    systems = dict.fromkeys(system for part in page.parts for system in part.systems)
    return {system: style(number) for number, system in enumerate(systems)}


def key_of(name: str, own: Style) -> Key:
    """A system's entry in a legend."""
    return Key(name, own.colour, _SHAPES[own.shape])


def painted(chart: Chart, styles: Mapping[str, Style]) -> Chart:
    """A chart whose systems have the colours and shapes of the page."""
    if chart.spec is None:
        return chart
    shown = names(styles)
    known = {shown[name]: own for name, own in styles.items()}
    spec = deepcopy(chart.spec)
    for view in _views(spec):
        own = {name: view["encoding"].get(name, {}).get("scale", {}) for name in ("color", "shape", "strokeDash")}
        if set(COLOURS).intersection(own["color"].get("range", ())):  # else what is told apart are no systems
            for scale in own.values():
                both = zip(scale.get("domain", ()), scale.get("range", ()), strict=True)
                values = [_value(value, known.get(name, REFERENCES)) for name, value in both]
                scale |= {"range": values} if values else {}
    return replace(chart, spec=spec)


def _value(value: Any, own: Style) -> Any:
    """What a style has in the place of a colour, a shape or dashes; other colours are not of systems."""
    if isinstance(value, list):
        return list(own.dash)
    if value in COLOURS:
        return own.colour
    return own.shape if value in _SHAPES else value


def drawn(chart: Chart) -> Figure:
    """A chart as it stands on the page."""
    assert chart.spec is not None
    spec = deepcopy(chart.spec)
    title = spec.pop("title", {})
    keys = tuple(_keys(spec))
    wide, narrow = (_fitted(replace(chart, spec=spec), width) for width in (WIDE, NARROW))
    return Figure(" ".join(title.get("text", ())), " ".join(title.get("subtitle", ())), keys, wide, narrow)


# ---------------------------------------------------------------------------------------------- walking a spec


def _views(spec: Spec) -> Iterator[Spec]:
    """The layers of a chart that have marks."""
    for inner in ("concat", "vconcat", "layer"):
        for part in spec.get(inner, ()):
            yield from _views(part)
    if "mark" in spec:
        yield spec


def _channels(spec: Spec) -> Iterator[Spec]:
    for view in _views(spec):
        yield from (channel for channel in view["encoding"].values() if isinstance(channel, dict))


def _keys(spec: Spec) -> Iterator[Key]:
    """The legend of a chart, which then is none of the drawing."""
    found: dict[str, dict[str, Any]] = {}
    for view in _views(spec):
        for channel, kind in (("color", "colour"), ("shape", "shape"), ("fillOpacity", "opacity")):
            own = view["encoding"].get(channel)
            if own and own.get("legend"):
                for name, value in zip(own["scale"]["domain"], own["scale"]["range"], strict=True):
                    found.setdefault(name, {})[kind] = value
        for channel in view["encoding"].values():
            if isinstance(channel, dict) and "legend" in channel:
                channel["legend"] = None
    for name, own in found.items():
        shape = _SHAPES[own.get("shape", "square")]
        yield Key(name, own.get("colour", GREY), shape, own.get("opacity", 1.0))


# ---------------------------------------------------------------------------------------------- widths


def _fitted(chart: Chart, target: int) -> str:
    """The SVG of a chart that is about so wide."""
    assert chart.spec is not None
    spec = deepcopy(chart.spec)
    for channel in _channels(spec):
        if "labelLimit" in (channel.get("axis") or {}):
            channel["axis"]["labelLimit"] = 0
    if target == NARROW:
        _shorten(spec)
        for view in _views(spec):
            if view["encoding"].get("x", {}).get("axis"):
                view["encoding"]["x"]["axis"]["titleAnchor"] = "end"  # it may be longer than the axis
    _clear(spec, 0.05 if target == WIDE else 0.14)
    if "concat" not in spec and "vconcat" not in spec:
        return svg(replace(chart, spec=_alone(spec, target)), "page")
    columns = _columns(spec, target)
    if "concat" in spec:
        spec["columns"] = columns
        for i, panel in enumerate(spec["concat"]):
            _label(panel, spec["concat"][0], i % columns == 0)
    width = max(40, (target - _margins(spec, columns)) / columns)
    found = svg(replace(chart, spec=_resized(spec, width)), "page")
    missed = target - float(found.partition('viewBox="0 0 ')[2].partition(" ")[0])
    if abs(missed) > NEAR_ENOUGH * target:
        width = max(40, width + missed / columns)
        found = svg(replace(chart, spec=_resized(spec, width)), "page")
    return found


def _alone(spec: Spec, target: int) -> Spec:
    """A chart of one panel: Vega finds how wide that may be."""
    height = spec["height"] if _has_rows(spec) else min(spec["height"], round(0.75 * target))
    if any("labelExpr" in (channel.get("axis") or {}) for channel in _channels(spec)):
        height = round(2.1 * height)  # two lines a row
    return spec | {"width": target, "height": height, "autosize": {"type": "fit-x", "contains": "padding"}}


def _columns(spec: Spec, target: int) -> int:
    """How many panels stand in a row."""
    given = int(spec.get("columns", 1))
    if target == WIDE:
        return min(given, len(spec.get("concat", (0,))))
    return 3 if given >= 5 and not _has_rows(spec["concat"][0]) else 2 if given >= 4 else 1


def _has_rows(panel: Spec) -> bool:
    """Whether names stand at the left of a panel, each of a line that has its height."""
    return any(view["encoding"].get("y", {}).get("type") == "nominal" for view in _views(panel))


def _shorten(spec: Spec) -> None:
    """Shortens the names at the left of panels. Vega would do it, but cuts letters that it holds in two parts."""
    rows: dict[str, dict[str, None]] = {}
    for view in _views(spec):
        y = view["encoding"].get("y", {})
        if y.get("type") == "nominal":
            rows.setdefault(y["field"], {}).update(dict.fromkeys(y["scale"]["domain"]))
    shorter = {field: dict(zip(own, _shorter(list(own)), strict=True)) for field, own in rows.items()}
    for channel in {id(each): each for each in _channels(spec)}.values():
        own = shorter.get(channel.get("field", ""))
        if own and "domain" in channel.get("scale", {}):
            channel["scale"] |= {"domain": [own.get(name, name) for name in channel["scale"]["domain"]]}
            if channel.get("axis") and any(BOTH in name for name in own):
                channel["axis"] |= {"labelExpr": f"split(datum.label, '{BOTH}')", "labelOffset": -6}
    for values in _data(spec):
        for value in values:
            value |= {field: own.get(value[field], value[field]) for field, own in shorter.items() if field in value}


def _shorter(given: Sequence[str]) -> list[str]:
    return distinct((BOTH.join(short(name, LABEL) for name in each.split(BOTH)) for each in given), 3 * LABEL)


def _clear(spec: Spec, least: float) -> None:
    """Takes the text from pieces of bars that have no room for it: those below a share of the longest bar."""
    for values in _data(spec):
        longest = max((value.get("to", 0) for value in values), default=0)
        for value in values:
            if {"told", "from", "to"} <= value.keys() and value["to"] - value["from"] < least * longest:
                value["told"] = ""


def _data(spec: Spec) -> Iterator[list[Spec]]:
    if "data" in spec:
        yield spec["data"]["values"]
    for inner in ("concat", "vconcat", "layer"):
        for part in spec.get(inner, ()):
            yield from _data(part)


def _label(panel: Spec, first: Spec, left: bool) -> None:
    """Gives a panel at the left the labels and titles of the first one's y axes, and takes them from others."""
    for view, model in zip(_views(panel), _views(first), strict=False):
        axis, own = (each["encoding"].get("y", {}).get("axis") for each in (view, model))
        if axis and own:
            axis["title"] = own.get("title") if left else None
            if "labels" in axis:
                axis["labels"] = left


def _margins(spec: Spec, columns: int) -> float:
    """About how many units of a row of panels are no panel: labels, titles, gaps."""
    [first, *_] = spec.get("concat") or spec["vconcat"]
    gaps = 20.0 * (columns - 1)
    for view in _views(first):
        y = view["encoding"].get("y", {})
        if y.get("type") == "nominal":
            longest = max((len(line) for name in y["scale"]["domain"] for line in name.split(BOTH)), default=0)
            return gaps + LETTER * longest + 16
    return gaps + 34 * columns + 20


def _resized(spec: Spec, width: float) -> Spec:
    """A chart whose panels are so wide; square ones keep their form as far as there is room."""
    found = dict(spec)
    for inner in ("concat", "vconcat"):
        if inner in found:
            found[inner] = [_resized(part, width) for part in found[inner]]
    if "width" in found:
        if found["width"] == found["height"] or (not _has_rows(found) and width > 1.5 * found["width"]):
            found["height"] = min(round(found["height"] * width / found["width"]), max(found["height"], 240))
        found["width"] = round(width)
    return found
