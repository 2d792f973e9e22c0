"""What a chart is, and what all charts share: names, colours, shapes, panels.

A chart is a plain Vega-Lite dict with its values inline. Text from files stands in values and titles alone, never where
Vega-Lite looks for a field or an expression: fields have names of our own, and names of systems are only their values.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from typing import Any, Literal

from karat.inert import inert
from karat.output.markup import html

Spec = dict[str, Any]

# Contrast of 3.7 or more with white and with the dark ground. Of twenty systems, two that have the same shape have
# colours that the colour-blind tell apart too.
COLOURS = ("#1f83c7", "#d06400", "#00906a", "#bf5f97", "#7d74d6", "#a08000", "#e42f66")
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [10, 2, 2, 2, 2, 2], [4, 1])
TONES = ("#6b7c90", "#9c7840")  # of what is no system: of two kinds of phrases, say
GREY = "#767676"
REFERENCES = "references"  # the name that the references have among those of systems

LONGEST = 32  # letters of a name in a chart
TITLE, WIDEST = 72, 92  # letters of a line of the title, and of one below it
AT_ONCE = 7  # systems that differ by colour and shape in one panel; more have a panel or a line each
MOST = 60  # systems of a chart
LINE = 17  # pixels between two systems
CUT = "…"


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: a Vega-Lite dict, or why there is none; and what it shows, in words."""

    kind: str
    title: str
    spec: Spec | None
    why: str | None
    alt: str

    def __str__(self) -> str:
        return self.alt

    def _repr_svg_(self) -> str | None:
        from karat.output.charts.drawing import svg

        return None if self.spec is None else svg(self)

    def _repr_html_(self) -> str | None:
        return html([self.alt]) if self.spec is None else None  # a notebook shows the SVG where there is one

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of chart: what it shows, which results it is of, how it is made, which metrics these must have."""

    name: str
    summary: str
    of: tuple[type, ...]
    make: Callable[..., list[Chart]]
    metrics: tuple[str, ...] = ()  # those that the results must be of; none: any
    bins: Literal["", "chart", "result"] = ""  # whether it has bins: it makes them (`bins=N`), or its result has them


def missing(kind: str, title: str, why: str) -> Chart:
    """A chart that cannot be drawn, and why."""
    return Chart(kind, title, None, why, why)


# ---------------------------------------------------------------------------------------------- text


def plain(text: str) -> str:
    """A text on one line, in which nothing acts and words are one space apart.

    >>> plain("a\\t\\tb\\u00adc\\x00")
    'a bc�'
    """
    return " ".join(inert(text).split())


def short(text: str, longest: int = LONGEST) -> str:
    """A text of so many letters at most: of a longer one the beginning and the end.

    >>> short("a very long name of a system, with a seed 17", 20)
    'a very long … eed 17'
    """
    said = plain(text)
    if len(said) <= longest:
        return said or "(no name)"
    end = longest // 3
    return f"{said[: longest - end - 3].rstrip()} {CUT} {said[-end:].lstrip()}"


def names(given: Iterable[str], longest: int = LONGEST) -> dict[str, str]:
    """The name in a chart of each given one: short, and never the same for two.

    >>> list(names(["t5", "x" * 40 + "1", "x" * 41 + "1"], 6).values())
    ['t5', 'x … x1', 'x … x1 (2)']
    """
    once = list(dict.fromkeys(given))
    return dict(zip(once, distinct(once, longest), strict=True))


def distinct(given: Iterable[str], longest: int = LONGEST) -> list[str]:
    """Short names, one for each given one, also where two of these are equal."""
    found: dict[str, None] = {}
    for name in given:
        shown = base = short(name, longest)
        number = 1
        while shown in found:
            number += 1
            shown = f"{base} ({number})"
        found[shown] = None
    return list(found)


def lines(text: str, width: int = WIDEST) -> list[str]:
    """A text in lines of so many letters."""
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def number(value: float, digits: int = 3) -> str:
    """A number as tables have it, without the zero before the point.

    >>> number(0.25), number(-0.5, 1), number(12.0, 1)
    ('.250', '−.5', '12.0')
    """
    text = f"{abs(value):.{digits}f}"
    return ("−" if value < 0 and float(text) else "") + (text[1:] if text.startswith("0.") else text)


def listed(given: Sequence[str], most: int = 6) -> str:
    """Some names in a sentence, and how many there are beyond."""
    shown = list(given[:most])
    if len(given) > most:
        shown.append(f"{len(given) - most:,} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def known(value: float | None) -> bool:
    """Whether there is a number to draw."""
    return value is not None and isfinite(value)


# ---------------------------------------------------------------------------------------------- colours and shapes


@dataclass(frozen=True, slots=True)
class Style:
    """By what a system is known in charts: its colour, the shape of its points, the dashes of its lines."""

    colour: str
    shape: str
    dash: tuple[int, ...]


def style(number: int) -> Style:
    """The style of a system by its number, no two of the first forty being the same.

    >>> style(0), style(8).colour == style(1).colour, style(8).shape
    (Style(colour='#1f83c7', shape='circle', dash=(1, 0)), True, 'triangle-up')
    """
    turn, place = divmod(number, len(COLOURS))
    shape = SHAPES[(place + turn) % len(SHAPES)]
    return Style(COLOURS[place], shape, tuple(DASHES[place]))


def coloured(
    shown: Sequence[str], legend: bool = True, title: str | None = None, colours: Sequence[str] | None = None
) -> Spec:
    """The colour of each name, a channel of the field `name`; those of systems, unless colours are given."""
    own = [style(i).colour for i in range(len(shown))] if colours is None else in_turn(colours, len(shown))
    return _channel_of(shown, own, legend, title)


def shaped(shown: Sequence[str], legend: bool = True, title: str | None = None) -> Spec:
    """The shape of each name; with the same legend as its colour."""
    return _channel_of(shown, [style(i).shape for i in range(len(shown))], legend, title)


def dashed(shown: Sequence[str], legend: bool = True, title: str | None = None) -> Spec:
    """The dashes of each name's line; with the same legend as its colour."""
    return _channel_of(shown, [list(style(i).dash) for i in range(len(shown))], legend, title)


def _channel_of(shown: Sequence[str], values: Sequence[Any], legend: bool, title: str | None) -> Spec:
    return {
        "field": "name",
        "type": "nominal",
        "scale": {"domain": list(shown), "range": list(values)},
        "legend": _legend(shown, title) if legend else None,
    }


def in_turn(values: Sequence[Any], count: int) -> list[Any]:
    """So many of the values, from the first again after the last."""
    return [values[i % len(values)] for i in range(count)]


def _legend(shown: Sequence[str], title: str | None) -> Spec:
    widest = max(map(len, shown), default=1)
    return {"orient": "bottom", "title": title, "columns": max(1, min(4, WIDEST // (widest + 6))), "symbolLimit": 0}


# ---------------------------------------------------------------------------------------------- axes and panels


def share_axis(title: str | None, **more: Any) -> Spec:
    """An axis of scores: .2, .4."""
    return {"title": title, "tickCount": 5} | more


def count_axis(title: str | None, counts: Iterable[float]) -> Spec:
    """An axis of counts from 0 to the highest, with whole numbers at about four ticks.

    >>> count_axis("documents", [1])["values"], count_axis(None, [3, 37])["values"]
    ([0, 1], [0, 10, 20, 30])
    """
    most = max(counts, default=0)
    step = next(s for s in (m * 10**e for e in range(20) for m in (1, 2, 5)) if s * 4 >= most)
    return {"title": title, "values": list(range(0, int(max(most, 1)) + 1, step)), "format": ",d"}


def rows_of(shown: Sequence[str], labels: bool = True, title: str | None = None, grid: bool = True) -> Spec:
    """The channel y of names down a chart, in the order that is given."""
    axis = {"title": title, "labelLimit": 260, "ticks": False, "domain": False, "labelPadding": 6}
    return {
        "field": "name",
        "type": "nominal",
        "scale": {"domain": list(shown)},
        "axis": axis | {"labels": labels, "grid": grid},
    }


def panels(kind: str, title: str, subtitle: str, parts: Sequence[Spec], columns: int) -> Spec:
    """The whole of a chart: its title in words, and panels in rows of so many."""
    whole: Spec = {"title": heading(title, subtitle), "usermeta": {"karat": kind}}
    if len(parts) == 1:
        return parts[0] | whole
    return whole | {
        "concat": list(parts),
        "columns": columns,
        "spacing": {"row": 28, "column": 20},
        "resolve": {"scale": {"color": "shared", "shape": "shared", "strokeDash": "shared"}},
    }


def heading(title: str, subtitle: str) -> Spec:
    """The title of a chart; what is said below it may be long."""
    return {"text": lines(title, TITLE), "subtitle": lines(subtitle)}


def layered(
    values: Sequence[Mapping[str, Any]], layers: Sequence[Spec], size: tuple[int, int], title: str = ""
) -> Spec:
    """A panel: layers over one another, of the same values."""
    found: Spec = {
        "data": {"values": [dict(value) for value in values]},
        "width": size[0],
        "height": size[1],
        "layer": list(layers),
    }
    return found | ({"title": panel_title(title)} if title else {})


def panel_title(text: str) -> Spec:
    """The title of one panel."""
    return {"text": lines(text, 44), "anchor": "start", "fontSize": 11, "fontWeight": "bold", "offset": 6}


def chunks(parts: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """The parts, so many at a time."""
    return [parts[i : i + size] for i in range(0, len(parts), size)]


# ---------------------------------------------------------------------------------------------- curves and bars


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves of systems on the same axes: the points of each, in order, and what the axes are."""

    points: Mapping[str, Sequence[tuple[float, float]]]  # by name as it is shown
    x: str
    y: str
    labels: Mapping[str, Mapping[int, str]]  # what stands beside some points, by their place
    zero: bool = True  # whether the axes begin at 0
    everyone: Sequence[str] = ()  # whose colours these are, where other panels have further curves
    shares: bool = True  # whether the axes are of shares from 0 to 1
    of: Sequence[str] = ()  # what each point is of, where it is not its x that says so

    def values(self, name: str) -> list[Spec]:
        """The points of one curve as values."""
        beside = self.labels.get(name, {})
        return [
            {"name": name, "k": k, "x": x, "y": y, "told": beside.get(k, ""), "tip": self._tip(name, k, x, y)}
            for k, (x, y) in enumerate(self.points[name])
        ]

    def _tip(self, name: str, k: int, x: float, y: float) -> str:
        """What a point says of itself."""
        of = f", {self.of[k]}" if self.of else ""
        return f"{name}{of}: {self.x} {_figure(x, self.shares)}, {self.y} {_figure(y, self.shares)}"

    def panels(self, size: tuple[int, int] = (480, 320), title: str = "") -> tuple[list[Spec], int]:
        """(panels, how many in a row): all curves in one, or of many systems each before the others."""
        everything = [value for name in self.points for value in self.values(name)]
        if len(self.points) <= AT_ONCE:
            return [self._together(everything, size, title)], 1
        return [self._alone(name, everything) for name in self.points], 5

    def _together(self, values: Sequence[Spec], size: tuple[int, int], title: str) -> Spec:
        x, y = (self._channel(field, title, self.zero) for field, title in (("x", self.x), ("y", self.y)))
        shown = list(self.everyone or self.points)
        layers: list[Spec] = [
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": x,
                    "y": y,
                    "order": {"field": "k"},
                    "color": coloured(shown),
                    "strokeDash": dashed(shown, legend=False),
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": coloured(shown), "shape": shaped(shown)},
            },
            {
                "mark": {"type": "text", "dy": -9, "dx": 6},
                "encoding": {"x": x, "y": y, "text": {"field": "told"}},
            },
        ]
        return layered(values, layers, size, title)

    def _alone(self, name: str, everything: Sequence[Spec]) -> Spec:
        """One system's curve before those of all others."""
        x, y = (self._channel(field, title, zero=False, ticks=3) for field, title in (("x", self.x), ("y", self.y)))
        order = {"x": x, "y": y, "order": {"field": "k"}}
        own = order | {"color": coloured(list(self.everyone or self.points), legend=False)}
        layers: list[Spec] = [
            {
                "data": {"values": list(everything)},
                "mark": {"type": "line", "style": "faint", "strokeWidth": 0.7, "opacity": 0.35},
                "encoding": order | {"detail": {"field": "name"}},
            },
            {"mark": {"type": "line", "strokeWidth": 2.5}, "encoding": own},
            {"mark": {"type": "point", "filled": True, "size": 18, "opacity": 1}, "encoding": own},
        ]
        return layered(self.values(name), layers, (96, 80), short(name, 17))

    def _channel(self, field: str, title: str, zero: bool, ticks: int = 5) -> Spec:
        axis: Spec = {"title": title, "format": ",.6~r"} if not self.shares else share_axis(title)
        axis |= {"tickCount": ticks, "labelFlush": False}
        return {"field": field, "type": "quantitative", "scale": {"zero": zero}, "axis": axis}


def _figure(value: float, share: bool) -> str:
    """A number of a point: a share from 0 to 1 with three digits, anything else as short as it goes."""
    return number(value) if share and abs(value) <= 1 else f"{value:,.4g}"


def tenths(
    counts: Mapping[str, Sequence[float]], x: str, y: tuple[str, bool], scale: float, size: tuple[int, int]
) -> Spec:
    """A panel with a bar of each name in every tenth of `scale`; a mark above it tells whose it is without colour.

    `y` is what is counted, and whether the axis says so.
    """
    shown, wide = list(counts), scale / 10
    part = wide * 0.88 / max(len(shown), 1)
    values = [
        {
            "name": name,
            "from": wide * i + 0.06 * wide + part * n,
            "mid": wide * i + 0.06 * wide + part * (n + 0.5),
            "to": wide * i + 0.06 * wide + part * (n + 1),
            "count": count,
            "tip": f"{name}, {wide * i:g} to {wide * (i + 1):g}: {count:,.4g} {y[0]}",
        }
        for n, name in enumerate(shown)
        for i, count in enumerate(counts[name])
    ]
    across = {
        "field": "from",
        "type": "quantitative",
        "scale": {"domain": [0, scale], "nice": False, "padding": 0},
        "axis": {"title": x, "values": [scale * i / 5 for i in range(6)], "grid": False},
    }
    up = {
        "field": "count",
        "type": "quantitative",
        "axis": count_axis(y[0] if y[1] else None, chain.from_iterable(counts.values())),
    }
    bars = {
        "mark": {"type": "bar", "orient": "vertical"},
        "encoding": {
            "x": across,
            "x2": {"field": "to"},
            "y": up,
            "y2": {"datum": 0},
            "color": coloured(shown, colours=TONES),
        },
    }
    tops = {
        "transform": [{"filter": {"field": "count", "gt": 0}}],
        "mark": {"type": "point", "filled": True, "size": 24, "opacity": 1, "yOffset": -5},
        "encoding": {
            "x": across | {"field": "mid"},
            "y": up,
            "color": coloured(shown, colours=TONES),
            "shape": shaped(shown),
        },
    }
    return layered(values, [bars, tops], size)
