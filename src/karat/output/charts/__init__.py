"""Charts as plain Vega-Lite dicts, and as files: SVG, PDF, PNG.

`charts_of` gives every chart of what a verb found, `plot` those of one kind as files, `figures` all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from karat.analyses.audit import Audit
from karat.analyses.compare.result import Comparison
from karat.analyses.confidence.result import Confidence
from karat.analyses.describe.result import Description
from karat.analyses.homogeneity.result import Homogeneity
from karat.analyses.overlap import Overlap
from karat.analyses.report.result import Page
from karat.analyses.study import Study
from karat.errors import InputError, unknown
from karat.formats.output import write_beside, writing_errors
from karat.models.generators.curves import Courses
from karat.options import option, options_from, public
from karat.output.charts import agreement, confidences, corpora, portraits, scores, trainings
from karat.output.charts.base import Chart, Kind
from karat.output.charts.drawing import FORMATS, Size, Theme, as_json, config, content, format_of, pdf, png, sized, svg
from karat.registry import Registry, place_of
from karat.results import Collection, Results

__all__ = [
    "FORMATS",
    "KINDS",
    "Chart",
    "Kind",
    "Size",
    "as_json",
    "charts_of",
    "config",
    "content",
    "drawable",
    "figures",
    "pdf",
    "plot",
    "png",
    "sized",
    "svg",
]

_LISTED = (
    Kind("protocols", "one metric under every protocol", (Audit,), scores.protocols),
    Kind("scores", "scores with intervals, a panel a metric", (Results, Comparison), scores.scores),
    Kind("pr", "precision against recall at k = 1 to 10", (Results,), scores.precision_recall, scores.CURVE_METRICS),
    Kind("differences", "two systems, document by document", (Results,), scores.differences, bins="chart"),
    Kind("ranks", "mean ranks over corpora, with bars", (Comparison,), scores.ranks),
    Kind(
        "corpora",
        "bars over corpora, by system or variant",
        (Collection, Comparison),
        corpora.systems,
        corpora.METRICS,
    ),
    Kind("cutoffs", "bars over corpora, by cutoff", (Collection, Comparison), corpora.cutoffs, corpora.CUTOFF_METRICS),
    Kind("overlap", "what two systems both have right, both wrong", (Overlap,), agreement.overlap),
    Kind("homogeneity", "agreement on alike documents, with ceilings", (Homogeneity, Study), agreement.homogeneity),
    Kind("prmu", "phrases that are in the text, and that are not", (Description, Study), portraits.prmu),
    Kind("recall", "what is found of references in the text and not", (Description,), portraits.recall),
    Kind("positions", "where in the text phrases are first met", (Description,), portraits.positions),
    Kind("missed", "what is missed in each part of the text", (Description,), portraits.missed),
    Kind("reliability", "right as often as sure? with counts", (Confidence,), confidences.reliability, bins="result"),
    Kind("kpp", "how sure systems are, present and absent", (Confidence,), confidences.kpp),
    Kind("perplexity", "KPP in bins of .1, with medians", (Confidence,), confidences.perplexity, bins="chart"),
    Kind("tokens", "probability of a token by its place", (Confidence,), confidences.tokens),
    Kind("risk", "what is wrong among the surest predictions", (Confidence,), confidences.risk),
    Kind("training", "what generators learn, by documents seen", (Courses,), trainings.learning),
)
KINDS: Registry[Kind] = Registry("kind of chart", lambda kind: place_of(kind.make), _LISTED)


def charts_of(found: object, kind: str | None = None, *, bins: int | None = None) -> list[Chart]:
    """Every chart of what a verb found, or those of a kind; none where there are no charts of such results.

    `bins` are how many bins those charts have that make them. Raises InputError if a kind has none.
    """
    if isinstance(found, Page):
        from karat.output.page.sections import charts

        return list(charts(found))
    if kind is not None and kind not in KINDS:
        raise unknown("kind of chart", kind, KINDS)
    kinds = [each for each in KINDS.values() if kind in (None, each.name) and isinstance(found, each.of)]
    if kind is not None and not kinds:
        own = [each.name for each in KINDS.values() if isinstance(found, each.of)]
        there = f"it has {', '.join(own)}" if own else "there are no charts of it"
        raise InputError(f"{type(found).__name__} has no chart of the kind {kind!r}; {there}")
    if bins is not None and not any(each.bins == "chart" for each in kinds):
        raise _without_bins(kinds, bins)
    made = (each.make(found, bins=bins) if each.bins == "chart" else each.make(found) for each in kinds)
    return [chart for charts in made for chart in charts]


def _without_bins(kinds: Sequence[Kind], bins: int) -> InputError:
    """An error for bins of charts that make none."""
    own = [each.name for each in kinds if each.bins == "result"]
    if own:
        return InputError(f"the bins of {own[0]} are those of its result: karat.confidence(..., bins={bins})")
    able = ", ".join(each.name for each in KINDS.values() if each.bins)
    return InputError(f"a chart of the kind {kinds[0].name} has no bins to choose; these have: {able}")


@dataclass(frozen=True, slots=True)
class PlotOptions:
    """How charts are drawn."""

    scale: float = option(2.0, "Pixels of a PNG for each unit.", least=0.1, most=20, metavar="S")
    theme: Theme = option("light", "The ground.", values=("light", "dark"))
    width: float | None = option(None, "Width of the widest panel.", least=20, most=5000, metavar="W")
    height: float | None = option(None, "Height of the highest panel.", least=20, most=5000, metavar="H")
    font_size: float | None = option(None, "Size of letters.", least=4, most=72, metavar="S", otherwise="11")
    bins: int | None = option(None, "Bins, of differences, reliability and perplexity.", least=2, most=200, metavar="N")


@public(PlotOptions)
def plot(
    found: object,
    kind: str,
    path: str | Path,
    format: str | None = None,
    *,
    scale: float = 2.0,
    theme: Theme = "light",
    width: float | None = None,
    height: float | None = None,
    font_size: float | None = None,
    bins: int | None = None,
) -> list[Path]:
    """The files that hold the charts of a kind: `path`, or of several charts FILE-1.svg, FILE-2.svg.

    The suffix says what is written, svg, pdf, png or json (the Vega-Lite dict), unless `format` does. Raises
    InputError if the result has no chart of the kind, or nothing to draw.
    """
    options = options_from(PlotOptions, locals())
    where = Path(path)
    chosen = format_of(where, format)
    size = Size(options.width, options.height, options.font_size)
    charts = [sized(chart, size) for chart in drawable(found, kind, options.bins)]
    paths = numbered(where, len(charts))
    for chart, each in zip(charts, paths, strict=True):
        write_beside(each, content(chart, chosen, options.scale, options.theme))
    return paths


def drawable(found: object, kind: str, bins: int | None = None) -> list[Chart]:
    """The charts of a kind that there is something to draw for; none at all is an error that says why."""
    charts = charts_of(found, kind, bins=bins)
    there = [chart for chart in charts if chart.spec is not None]
    if not there:
        raise InputError(f"there is nothing to draw: {charts[0].why}")
    return there


def numbered(path: Path, count: int) -> list[Path]:
    """The paths of so many charts: the one that was given, or FILE-1.svg, FILE-2.svg."""
    if count == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{i}{path.suffix}") for i in range(1, count + 1)]


def figures(*found: object, folder: str | Path, formats: Sequence[str] = ("svg", "pdf", "png")) -> list[Path]:
    """The files of every chart of some results, named by kind and number; the folder is made where there is none."""
    place = Path(folder)
    with writing_errors(folder, place.parent):
        place.mkdir(parents=True, exist_ok=True)
    counts: dict[str, int] = {}
    written: list[Path] = []
    for chart in (chart for each in found for chart in charts_of(each) if chart.spec is not None):
        counts[chart.kind] = counts.get(chart.kind, 0) + 1
        for format in formats:
            written.append(place / f"{chart.kind}-{counts[chart.kind]}.{format}")
            write_beside(written[-1], content(chart, format))
    return written
