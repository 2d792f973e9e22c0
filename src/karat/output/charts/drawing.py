"""Charts as files: SVG, PDF and PNG by vl-convert, the same bytes for the same chart."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from karat.errors import InputError, unknown
from karat.inert import escaped, inert
from karat.output.charts.base import GREY, TITLE, WIDEST, Chart, Spec, lines

Theme = Literal["light", "dark", "page"]
THEMES: tuple[Theme, ...] = ("light", "dark", "page")
FORMATS = ("svg", "pdf", "png", "json")
VERSION = "5.21"  # of Vega-Lite

# Colours that stand for whatever colour the text around the chart has; no other colour here is equal to them.
_TEXT, _FAINT = "#0a0b0c", "#0a0b0d"
_INK = {"light": ("#222222", "#dcdcdc"), "dark": ("#e8e8e8", "#40454d"), "page": (_TEXT, _FAINT)}
_GROUND = {"light": "#ffffff", "dark": "#1b1e23", "page": None}
_MARK = re.compile(r"point|bar|tick|(?!group)\w+ mark")  # how Vega calls what stands for a value
FONT_SIZE = 11  # of most letters
LEAST = 24  # letters of a line above a chart
WIDTH = 760  # of a page, at least: narrower charts keep the size of their letters beside wider ones


def config(theme: Theme = "light", font_size: float = FONT_SIZE) -> Spec:
    """How Vega-Lite draws in a theme: colours of text, axes and grid lines; sizes, by that of most letters."""
    if theme not in THEMES:
        raise unknown("theme", theme, THEMES)
    ink, faint = _INK[theme]
    letters = font_size + 1 if theme == "page" else font_size  # beside axes
    font = "sans-serif"
    return {
        "background": _GROUND[theme],
        "padding": {"left": 12, "right": 10, "top": 2, "bottom": 2} if theme == "page" else 12,
        "font": font,
        "view": {"stroke": None},
        "axis": {
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": letters,
            "titleFontSize": letters,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": faint,
            "domainColor": ink,
            "tickColor": ink,
        },
        "axisX": {"labelFlush": False},
        "legend": {
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": font_size,
            "titleFontSize": font_size,
            "labelLimit": 260,
            "symbolStrokeWidth": 2,
            "symbolSize": 70,
        },
        "title": {
            "color": ink,
            "subtitleColor": ink,
            "anchor": "start",
            "frame": "bounds",
            "fontSize": _relative(15, font_size),
            "subtitleFontSize": font_size,
            "subtitlePadding": 6,
            "offset": 14,
        },
        "text": {"color": ink, "fontSize": letters - 1 if theme == "page" else _relative(10, font_size)},
        "rule": {"color": ink},
        "style": {"faint": {"color": GREY, "stroke": GREY}},
    }


def _relative(size: int, font_size: float) -> float:
    """A size of letters, where most letters have another size than FONT_SIZE."""
    return size if font_size == FONT_SIZE else size * font_size / FONT_SIZE


def svg(chart: Chart, theme: Theme = "light") -> str:
    """The chart as SVG; of the theme `page` to stand inside HTML, in the colour of the text around it.

    There it is as wide as what it stands in, and a mark says the `tip` of its values when it is pointed at.
    """
    drawn = _drawn(chart, theme)
    return _for_page(drawn, chart.alt) if theme == "page" else _titled(drawn, chart.alt)


def pdf(chart: Chart, theme: Theme = "light") -> bytes:
    """The chart as a PDF file."""
    import vl_convert

    return _in_order(vl_convert.svg_to_pdf(_drawn(chart, theme)))


def png(chart: Chart, scale: float = 2, theme: Theme = "light") -> bytes:
    """The chart as a PNG file, so many pixels for each unit of its size."""
    import vl_convert

    drawn: bytes = vl_convert.svg_to_png(_drawn(chart, theme), scale=scale)
    return drawn


def _drawn(chart: Chart, theme: Theme) -> str:
    """The SVG as Vega makes it."""
    if chart.spec is None:
        raise InputError(f"there is nothing to draw: {chart.why}")
    import vl_convert

    spec = _inert(chart.spec)
    spec |= {"config": config(theme, font_size_of(spec)) | {"aria": theme == "page"}}
    if theme == "page":
        _describe(spec)
    drawn: str = vl_convert.vegalite_to_svg(spec, vl_version=VERSION, allowed_base_urls=[])
    return drawn


def _inert(value: Any) -> Any:
    """A chart's dict in whose texts nothing acts; equal texts stay equal."""
    if isinstance(value, str):
        return inert(value)
    if isinstance(value, Mapping):
        return {name: _inert(each) for name, each in value.items()}
    return [_inert(each) for each in value] if isinstance(value, list | tuple) else value


def _describe(spec: Spec, values: Sequence[Any] = ()) -> None:
    """Has every mark whose values have a `tip` say it; other marks say nothing."""
    own = spec["data"]["values"] if "data" in spec else values
    for inner in ("concat", "vconcat", "layer"):
        for part in spec.get(inner, ()):
            _describe(part, own)
    if "mark" in spec:
        if any("tip" in value for value in own) and spec["mark"]["type"] not in ("line", "text"):
            spec["encoding"]["description"] = {"field": "tip"}
        else:
            spec["mark"]["aria"] = False


# ---------------------------------------------------------------------------------------------- sizes


@dataclass(frozen=True, slots=True)
class Size:
    """How large a chart is drawn: the widest and the highest panel, and the letters; None: as it is."""

    width: float | None = None
    height: float | None = None
    font_size: float | None = None


def sized(chart: Chart, size: Size) -> Chart:
    """The chart with panels and letters of a size; all panels grow or shrink alike."""
    if chart.spec is None or size == Size():
        return chart
    across, down = (_factor(chart.spec, side, getattr(size, side)) for side in ("width", "height"))
    letters = (size.font_size or FONT_SIZE) / FONT_SIZE
    spec = _scaled(chart.spec, {"width": across, "height": down, "fontSize": letters})
    meta = chart.spec["usermeta"] | {"font_size": size.font_size or FONT_SIZE}
    return replace(chart, spec=spec | {"title": _wrapped(spec["title"], across / letters), "usermeta": meta})


def font_size_of(spec: Spec) -> float:
    """The size of most letters of a chart."""
    size: float = spec.get("usermeta", {}).get("font_size", FONT_SIZE)
    return size


def _factor(spec: Spec, side: str, wanted: float | None) -> float:
    """By how much the largest panel is to grow on a side."""
    largest = max(_sides(spec, side), default=None)
    return 1.0 if wanted is None or largest is None else wanted / largest


def _sides(spec: Any, side: str) -> Iterator[float]:
    """The sizes of all panels on a side."""
    for part in _parts(spec):
        if "layer" in part or "mark" in part:
            yield from (part[side] for _ in (side,) if isinstance(part.get(side), int | float))


def _parts(spec: Spec) -> Iterator[Spec]:
    """A chart and its panels, those inside others too."""
    yield spec
    for name in ("concat", "hconcat", "vconcat"):
        for part in spec.get(name, ()):
            yield from _parts(part)


def _scaled(spec: Spec, factors: Mapping[str, float]) -> Spec:
    """A chart whose panels and letters are so many times as large."""
    found: Spec = {}
    for name, value in spec.items():
        if name in ("concat", "hconcat", "vconcat", "layer"):
            found[name] = [_scaled(part, factors) for part in value]
        elif name in ("title", "mark") and isinstance(value, dict) and "fontSize" in value:
            found[name] = value | {"fontSize": value["fontSize"] * factors["fontSize"]}
        elif name in ("width", "height") and isinstance(value, int | float):
            found[name] = round(value * factors[name], 3)
        else:
            found[name] = value
    return found


def _wrapped(title: Spec, room: float) -> Spec:
    """The title of a chart in lines that are longer or shorter, as there is room."""
    told = {name: " ".join(title[name]) for name in ("text", "subtitle") if isinstance(title.get(name), list)}
    widest = {"text": TITLE, "subtitle": WIDEST}
    return title | {name: lines(text, max(LEAST, int(widest[name] * min(room, 1)))) for name, text in told.items()}


# ---------------------------------------------------------------------------------------------- the same bytes

_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
_FONTS = re.compile(rb"(?:^[ ]+/[A-Za-z]+\d+ \d+ 0 R\n){2,}", re.MULTILINE)


def _in_order(content: bytes) -> bytes:
    """A PDF with its objects in the order in which they are named from the first on.

    Fonts come in any order as they are written, and with them the numbers of objects; nothing else differs.
    """
    end = int(content[content.rindex(b"startxref") :].split()[1])
    lines = content[end:].split(b"\n")
    starts = {i: int(line.split()[0]) for i, line in enumerate(lines[2:]) if line.rstrip().endswith(b" n")}
    ends = dict(zip(sorted(starts.values()), [*sorted(starts.values())[1:], end], strict=True))
    objects = {i: _sorted_fonts(content[at : ends[at]]) for i, at in starts.items()}
    trailer = content[content.rindex(b"trailer") : content.rindex(b"startxref")]
    order = [int(found) for found in _REFERENCE.findall(trailer)]
    for number in order:  # grows while it is walked
        order += [each for each in map(int, _REFERENCE.findall(_head(objects[number]))) if each not in order]
    return _written(content[: min(starts.values())], [objects[i] for i in order], order, trailer)


def _head(body: bytes) -> bytes:
    """An object without its stream."""
    return body.partition(b"\nstream\n")[0]


def _sorted_fonts(body: bytes) -> bytes:
    head = _head(body)
    return _FONTS.sub(lambda found: b"".join(sorted(found[0].splitlines(keepends=True))), head) + body[len(head) :]


def _written(start: bytes, bodies: Sequence[bytes], order: Sequence[int], trailer: bytes) -> bytes:
    """The PDF of some objects, numbered anew."""
    numbers = {old: new for new, old in enumerate(order, start=1)}

    def renamed(text: bytes) -> bytes:
        return _REFERENCE.sub(lambda found: b"%d 0 R" % numbers[int(found[1])], text)

    parts, at, places = [start], len(start), []
    for new, body in enumerate(bodies, start=1):
        head = _head(body)
        text = b"%d 0 obj" % new + renamed(head.partition(b" 0 obj")[2]) + body[len(head) :]
        places.append(at)
        parts.append(text)
        at += len(text)
    table = b"".join(b"%010d 00000 n\r\n" % place for place in places)
    size = len(order) + 1
    trailer = re.sub(rb"/Size \d+", b"/Size %d" % size, renamed(trailer))
    parts.append(b"xref\n0 %d\n0000000000 65535 f\r\n" % size + table + trailer + b"startxref\n%d\n%%%%EOF" % at)
    return b"".join(parts)


# ---------------------------------------------------------------------------------------------- SVG inside a page


def _parsed(drawn: str) -> ET.Element:
    """The SVG, whose ids are numbered from 0: Vega goes on counting from one chart to the next."""
    root = ET.fromstring(drawn)
    ET.register_namespace("", root.tag[1:].partition("}")[0])  # so that it is written without a prefix
    found = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    _rename(root, {name: f"id{i}" for i, name in enumerate(found)})
    return root


def _rename(root: ET.Element, names: dict[str, str]) -> None:
    """Renames the ids of an SVG, and the references to them, in place."""
    for element in root.iter():
        for attribute, value in element.attrib.items():
            pointed = re.fullmatch(r"url\(#([^)]+)\)", value)
            if attribute == "id" and value in names:
                element.attrib[attribute] = names[value]
            elif pointed and pointed[1] in names:
                element.attrib[attribute] = f"url(#{names[pointed[1]]})"


def _described(root: ET.Element, alt: str) -> None:
    root.attrib.pop("class", None)
    root.set("role", "img")
    root.set("aria-label", inert(alt))


def _titled(drawn: str, alt: str) -> str:
    """An SVG file that says what it shows."""
    root = _parsed(drawn)
    _described(root, alt)
    return ET.tostring(root, encoding="unicode") + "\n"


def _for_page(drawn: str, alt: str) -> str:
    """An SVG without style, of any width, whose ids are its own and whose text has the colour of the page."""
    root = _parsed(drawn)
    ids = sum("id" in element.attrib for element in root.iter())
    own = blake2b(ET.tostring(root), digest_size=6).hexdigest() if ids else ""
    _rename(root, {f"id{i}": f"k{own}-{i}" for i in range(ids)})
    width, height = float(root.attrib.pop("width")), float(root.attrib.pop("height"))
    for element in root.iter():
        if _FAINT in (element.get("stroke"), element.get("fill")):
            element.set("opacity", "0.18")
        _tell(element)
        for name, value in list(element.attrib.items()):
            if name in ("class", "role") or name.startswith("aria-"):
                del element.attrib[name]
            elif value in (_TEXT, _FAINT) and name in ("stroke", "fill"):
                element.set(name, "currentColor")
    root.set("viewBox", f"0 0 {width:g} {height:g}")
    root.set("width", "100%")
    _described(root, alt)
    return ET.tostring(root, encoding="unicode")


def _tell(element: ET.Element) -> None:
    """Puts what a mark says of itself where a browser shows it when it is pointed at."""
    said = element.get("aria-label")
    if said and _MARK.fullmatch(element.get("aria-roledescription", "")):
        title = ET.Element(f"{element.tag.rpartition('}')[0]}}}title")
        title.text = said
        element.insert(0, title)


# ---------------------------------------------------------------------------------------------- files


def content(chart: Chart, format: str, scale: float = 2, theme: Theme = "light") -> bytes:
    """The bytes of a file in one of FORMATS, also written as a suffix; `json` is the Vega-Lite dict."""
    format = format.removeprefix(".")
    if format == "svg":
        return svg(chart, theme).encode()
    if format == "pdf":
        return pdf(chart, theme)
    if format == "png":
        return png(chart, scale, theme)
    if format == "json":
        return as_json(chart, theme)
    raise unknown("format of a chart", format, FORMATS)


def as_json(chart: Chart, theme: Theme = "light") -> bytes:
    """The Vega-Lite dict of a chart as text, with how it is drawn in a theme."""
    import msgspec

    if chart.spec is None:
        raise InputError(f"there is nothing to draw: {chart.why}")
    config_of = config(theme, font_size_of(chart.spec))
    whole = _inert({"description": chart.alt} | chart.spec) | {"config": config_of}
    return escaped(msgspec.json.format(msgspec.json.encode(whole), indent=1).decode()).encode() + b"\n"


def format_of(path: Path, given: str | None = None) -> str:
    """The format of a chart's file: the one that is given, or that of its suffix."""
    if given is not None and given not in FORMATS:
        raise unknown("format of a chart", given, FORMATS)
    found = given or path.suffix.removeprefix(".").lower()
    if found not in FORMATS:
        raise InputError(f"{path}: a chart is written to a file that ends in .{', .'.join(FORMATS)}; or choose with -f")
    return found
