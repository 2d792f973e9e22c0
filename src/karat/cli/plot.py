"""karat plot: charts of what the other verbs find."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

import karat
from karat.cli import completion
from karat.cli.flags import Verb, flags, verb
from karat.cli.shared import Files, check_file, echo_notes, quiet_option, reading_flags, say
from karat.errors import InputError, unknown
from karat.options import JoinOptions, WorkOptions, group, metrics_option, path_option, protocol_option

if TYPE_CHECKING:
    from karat.output.charts import Kind
    from karat.results import Results
    from karat.results.displayed import Result

EPILOG = """\b
Examples:
  karat plot protocols corpus.jsonl t5.jsonl one2set.jsonl -o protocols.svg
  karat plot scores corpus.jsonl t5.jsonl -m f1@5:present -o scores.pdf
  karat plot scores monday.karat -o scores.png --scale 3
  karat plot pr corpus.jsonl t5.jsonl one2set.jsonl -o curves.svg
  karat plot ranks inspec.jsonl semeval.jsonl --runs runs -m f1@M -o ranks.pdf
  karat plot homogeneity corpus.jsonl t5.jsonl --pairs pairs.jsonl -o h.svg
  karat plot positions corpus.jsonl t5.jsonl > positions.json
  karat plot training DIR OTHER -o learning.svg

Each is computed as by the verb that prints it: protocols by `karat audit`,
ranks by `karat compare`, prmu, recall, positions and missed by `karat
describe`, reliability, kpp, tokens and risk by `karat confidence`, which
needs runs that tell how sure the system is. scores, pr, differences and ranks
are also drawn from .karat files; for ranks with --runs FOLDER all arguments
are corpora. Without --protocol, protocols is of all published ones. training is
of directories that `karat train` has made.
"""


def _known() -> Mapping[str, Kind]:
    """The kinds of charts; they are imported when they are needed, as they load numpy."""
    from karat.output.charts import KINDS

    return KINDS


def _kinds(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name, help=kind.summary) for name, kind in _known().items() if name.startswith(incomplete)]


class _Plot(Verb):
    """The verb, whose help lists the kinds."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The kinds, then the examples."""
        lines = "\n".join(f"  {name:<12} {kind.summary}" for name, kind in _known().items())
        shown = copy(self)
        shown.epilog = f"\b\nKinds:\n{lines}\n\n{self.epilog}"
        click.Command.format_epilog(shown, ctx, formatter)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What is drawn: the options of the verbs that find it."""

    protocol: tuple[str, ...] = protocol_option(value=(), repeatable=True, otherwise="karat")
    metrics: tuple[str, ...] | None = metrics_option()
    pairs: str | None = path_option("Pairs of alike documents, for homogeneity.")
    runs: str | None = path_option("Runs of several corpora, a folder each, for ranks, corpora and cutoffs.", "FOLDER")
    join: JoinOptions = group(JoinOptions)
    work: WorkOptions = group(WorkOptions)


@verb("plot", epilog=EPILOG, cls=_Plot)
@click.argument("kind", shell_complete=_kinds)
@click.argument("given", nargs=-1, required=True, metavar="CORPUS RUN...|DIR...", shell_complete=completion.paths)
@flags(_Drawn)
@reading_flags
@click.option("-f", "--format", "format_", type=click.Choice(["svg", "pdf", "png", "json"]), help="What to write.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE; its suffix chooses the format: .svg .pdf .png .json. Several charts become FILE-1, FILE-2.",
    shell_complete=completion.new_paths,
)
@quiet_option
def plot(
    kind: str,
    given: tuple[str, ...],
    format_: str | None,
    output: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Draw what the other verbs find.

    One kind of chart, as SVG, PDF, PNG or as a Vega-Lite dict (JSON), which
    goes to standard output without -o.
    """
    _check(kind, given, options, format_, output)
    drawn = {name: options.pop(name) for name in ("scale", "theme", "width", "height", "font_size", "bins")}
    found = _found(kind, given, options | _bins_of_result(kind, drawn), quiet)
    _deliver(found, kind, format_, output, drawn)
    if not quiet:
        echo_notes(found.notes)


def _bins_of_result(kind: str, drawn: dict[str, Any]) -> dict[str, Any]:
    """Takes --bins out of how a chart is drawn, where its bins are those of the result: an option of that."""
    return {"bins": drawn.pop("bins")} if _known()[kind].bins == "result" and drawn["bins"] is not None else {}


def _check(kind: str, given: tuple[str, ...], options: dict[str, Any], format_: str | None, output: str | None) -> None:
    """Says at once, before any work, what cannot be drawn or written."""
    known = _known()
    if kind not in known:
        raise unknown("kind of chart", kind, known)
    of = {each.__name__ for each in known[kind].of}
    if options["metrics"] and not of & {"Audit", "Results", "Comparison", "Collection"}:
        raise InputError(f"-m {options['metrics'][0]}: a chart of the kind {kind} has no metrics to choose")
    if options["bins"] is not None and not known[kind].bins:
        able = ", ".join(name for name, each in known.items() if each.bins)
        raise InputError(f"--bins is for {able}, not for {kind}")
    if options["pairs"] and kind != "homogeneity":
        raise InputError(f"--pairs is for homogeneity, not for {kind}")
    if options["runs"] and known[kind].of[0].__name__ not in ("Comparison", "Collection"):
        raise InputError(f"--runs is for ranks, corpora and cutoffs, not for {kind}")
    saved = [path.endswith(".karat") for path in given]
    if any(saved) and not of & {"Results", "Comparison"}:
        raise InputError(f"{kind} is not drawn from .karat files: give the corpus and its runs")
    if any(saved) and not all(saved):
        raise InputError("give .karat files alone, or a corpus and its runs")
    if any(saved) and options["metrics"]:
        raise InputError("-m chooses nothing in .karat files: score with the metric, or leave it out")
    check_file(output)
    if (
        output is not None
        and format_ is None
        and output.rpartition(".")[2].lower() not in ("svg", "pdf", "png", "json")
    ):
        raise InputError(f"-o {output}: a chart is .svg, .pdf, .png or .json; choose one with -f")
    if output is None and format_ in ("pdf", "png") and sys.stdout.isatty():
        raise InputError(f"a terminal shows no {format_.upper()}: give -o FILE")


def _deliver(found: Result, kind: str, format_: str | None, output: str | None, drawn: dict[str, Any]) -> None:
    """Writes the charts to standard output, or to files, and prints their names."""
    from karat.output.charts import Size, content, drawable, sized

    if output is None:
        size = Size(drawn.pop("width"), drawn.pop("height"), drawn.pop("font_size"))
        charts = [sized(chart, size) for chart in drawable(found, kind, drawn.pop("bins", None))]
        if len(charts) > 1:
            raise InputError(f"there are {len(charts)} charts of this kind: give -o FILE, and they are numbered")
        sys.stdout.buffer.write(content(charts[0], format_ or "json", **drawn))
        sys.stdout.buffer.flush()
        return
    paths = karat.plot(found, kind, output, format_, **drawn)
    if len(paths) > 1:
        say(f"{len(paths)} charts: {paths[0]} to {paths[-1].name}")


# ---------------------------------------------------------------------------------------------- what is drawn


def _found(kind: str, given: tuple[str, ...], options: dict[str, Any], quiet: bool) -> Result:
    """What the verb of a kind finds."""
    files = Files.of(options)
    protocols, metrics = options.pop("protocol"), options.pop("metrics")
    pairs, folder = options.pop("pairs"), options.pop("runs")
    if kind == "training":
        return _courses(given, protocols)
    if all(path.endswith(".karat") for path in given):
        return _of_results(kind, given)
    result = _known()[kind].of[0].__name__
    if result not in _VERBS:
        raise InputError(f"{kind} is drawn of a {result} that is at hand: karat.plot({result.lower()}, {kind!r}, FILE)")
    verb_of = _VERBS[result]
    if kind == "ranks" and folder is None:
        raise InputError("ranks are over several corpora: give these, and their runs as --runs FOLDER; or .karat files")
    if folder is None and len(given) < 2 and verb_of is not _described:
        raise InputError("give a corpus and a run or more")
    what = files.given(given, folder, results=False)
    with files.work(options, quiet) as chosen:
        return verb_of(_ChartRequest(kind, what, protocols, metrics, pairs, chosen))


@dataclass(frozen=True, slots=True)
class _ChartRequest:
    """A kind of chart, and what its verb is given."""

    kind: str
    what: tuple[Any, ...]  # a corpus and runs, or corpora with their runs
    protocols: tuple[str, ...]
    metrics: tuple[str, ...] | None
    pairs: str | None
    options: dict[str, Any]


def _courses(given: tuple[str, ...], protocols: tuple[str, ...]) -> Result:
    from karat.models.generators.curves import read_courses

    if protocols:
        raise InputError(f"--protocol {protocols[0]}: a training is not drawn under a protocol")
    return read_courses(given)


def _of_results(kind: str, given: tuple[str, ...]) -> Result:
    if _known()[kind].of[0].__name__ == "Collection":
        from karat.analyses.corpora import side_by_side

        return side_by_side([karat.load(path) for path in given])
    if kind == "ranks" or (kind == "scores" and len(given) > 1):
        return karat.compare(*given)
    return _together([karat.load(path) for path in given])


def _together(loaded: list[Results]) -> Results:
    """The results of several systems on the same documents as one."""
    first = loaded[0]
    if any(each.ids != first.ids for each in loaded):
        raise InputError("these .karat files are not of the same documents: give those of one corpus")
    scores = tuple(score for each in loaded for score in each.scores)
    signatures = {name: text for each in loaded for name, text in each.signatures.items()}
    return replace(first, scores=scores, signatures=signatures)


def _only(what: str, given: tuple[str, ...]) -> str:
    """The one that was given."""
    if len(given) > 1:
        raise InputError(f"this chart is of one {what}, not of {len(given)}: {', '.join(given)}")
    return given[0]


def _ranks(request: _ChartRequest) -> Result:
    return karat.compare(
        *request.what, protocol=request.protocols or "karat", metrics=request.metrics, **request.options
    )


def _described(request: _ChartRequest) -> Result:
    return karat.describe(*request.what, protocol=_only("protocol", request.protocols or ("karat",)), **request.options)


def _homogeneity(request: _ChartRequest) -> Result:
    if request.pairs is None:
        raise InputError("homogeneity is of pairs of alike documents: give --pairs FILE; `karat pairs mine` finds some")
    documents, *systems = request.what
    options = {name: value for name, value in request.options.items() if name != "jobs"}
    return karat.homogeneity(documents, request.pairs, *systems, protocol=request.protocols or "karat", **options)


def _audit(request: _ChartRequest) -> Result:
    metric: dict[str, Any] = {} if request.metrics is None else {"metric": _only("metric", request.metrics)}
    return karat.audit(*request.what, protocol=request.protocols, causes=False, **metric | request.options)


def _score(request: _ChartRequest) -> Result:
    metrics = request.metrics or _known()[request.kind].metrics or None
    return karat.score(*request.what, protocol=request.protocols or "karat", metrics=metrics, **request.options)


def _corpora(request: _ChartRequest) -> Result:
    """The scores on each corpus."""
    from karat.analyses.corpora import side_by_side
    from karat.matching.inputs import as_corpora

    chosen: dict[str, Any] = {
        "protocol": request.protocols or "karat",
        "metrics": request.metrics or _known()[request.kind].metrics,
    }
    given = as_corpora(request.what[0], request.what[1:])
    return side_by_side([karat.score(documents, *runs, **chosen, **request.options) for documents, runs in given])


def _overlap(request: _ChartRequest) -> Result:
    return karat.overlap(*request.what, protocol=request.protocols or "karat", **request.options)


def _confidence(request: _ChartRequest) -> Result:
    return karat.confidence(*request.what, protocol=request.protocols or "karat", **request.options)


# How a result is found, by the name of its class.
_VERBS: dict[str, Callable[[_ChartRequest], Result]] = {
    "Audit": _audit,
    "Results": _score,
    "Comparison": _ranks,
    "Collection": _corpora,
    "Overlap": _overlap,
    "Homogeneity": _homogeneity,
    "Description": _described,
    "Confidence": _confidence,
}
