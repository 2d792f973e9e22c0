"""karat plot: charts of what the other verbs find."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from karat.cli import completion
from karat.cli.shared import (
    Files,
    check_file,
    echo_notes,
    jobs_option,
    matching_options,
    metric_option,
    progress,
    protocol_option,
    quiet_option,
    runs_of,
)
from karat.errors import InputError, unknown

if TYPE_CHECKING:
    from karat.results import Found, Results

# The kinds and what each shows, as `karat.output.charts.KINDS` has them, which would load numpy.
KINDS = {
    "protocols": "one metric under every protocol",
    "scores": "scores with intervals, a panel a metric",
    "pr": "precision against recall at k = 1 to 10",
    "differences": "two systems, document by document",
    "ranks": "mean ranks over corpora, with bars",
    "overlap": "what two systems both have right, both wrong",
    "homogeneity": "agreement on alike documents, with ceilings",
    "prmu": "phrases that are in the text, and that are not",
    "recall": "what is found of references in the text and not",
    "positions": "where in the text phrases are first met",
    "missed": "what is missed in each part of the text",
    "reliability": "right as often as sure? with counts",
    "kpp": "how sure systems are, present and absent",
    "tokens": "probability of a token by its place",
    "risk": "what is wrong among the surest predictions",
    "training": "what generators learn, by documents seen",
}
DESCRIBED = ("prmu", "recall", "positions", "missed")
WITH_METRICS = ("protocols", "scores", "pr", "differences", "ranks")
OF_RESULTS = ("scores", "pr", "differences", "ranks")  # can be drawn from .karat files
LISTED = "\n".join(f"  {name:<12} {summary}" for name, summary in KINDS.items())

EPILOG = f"""\b
Kinds:
{LISTED}

\b
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


def _kinds(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name, help=told) for name, told in KINDS.items() if name.startswith(incomplete)]


@click.command(epilog=EPILOG)
@click.argument("kind", shell_complete=_kinds)
@click.argument("given", nargs=-1, required=True, metavar="CORPUS RUN...|DIR...", shell_complete=completion.paths)
@protocol_option
@metric_option
@click.option(
    "--pairs", metavar="FILE", help="Pairs of alike documents, for homogeneity.", shell_complete=completion.paths
)
@click.option("--runs", metavar="FOLDER", help="Runs of several corpora, in a folder for each, for ranks.")
@matching_options
@jobs_option
@click.option("-f", "--format", "format_", type=click.Choice(["svg", "pdf", "png", "json"]), help="What to write.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE; its suffix chooses the format: .svg .pdf .png .json. Several charts become FILE-1, FILE-2.",
    shell_complete=completion.paths,
)
@click.option(
    "--scale",
    type=click.FloatRange(0.1, 20),
    default=2.0,
    metavar="S",
    help="Pixels of a PNG for each unit (default 2).",
)
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light", help="The ground (default light).")
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
    drawn = {"scale": options.pop("scale"), "theme": options.pop("theme")}
    with progress(quiet) as done:
        found = _found(kind, given, options | {"progress": done})
    _deliver(found, kind, format_, output, drawn)
    if not quiet:
        echo_notes(found.notes)


def _check(kind: str, given: tuple[str, ...], options: dict[str, Any], format_: str | None, output: str | None) -> None:
    """Says at once, before any work, what cannot be drawn or written."""
    if kind not in KINDS:
        raise unknown("kind of chart", kind, KINDS)
    if options["metrics"] and kind not in WITH_METRICS:
        raise InputError(f"-m {options['metrics'][0]}: a chart of the kind {kind} has no metrics to choose")
    if options["pairs"] and kind != "homogeneity":
        raise InputError(f"--pairs is for homogeneity, not for {kind}")
    if options["runs"] and kind != "ranks":
        raise InputError(f"--runs is for ranks, not for {kind}")
    saved = [path.endswith(".karat") for path in given]
    if any(saved) and kind not in OF_RESULTS:
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


def _deliver(found: Found, kind: str, format_: str | None, output: str | None, drawn: dict[str, Any]) -> None:
    """Writes the charts to standard output, or to files whose names are told."""
    from karat.output.charts import content, drawable
    from karat.output.charts import plot as plot_to

    if output is None:
        charts = drawable(found, kind)
        if len(charts) > 1:
            raise InputError(f"there are {len(charts)} charts of this kind: give -o FILE, and they are numbered")
        sys.stdout.buffer.write(content(charts[0], format_ or "json", **drawn))
        sys.stdout.buffer.flush()
        return
    paths = plot_to(found, kind, output, format_, **drawn)
    if len(paths) > 1:
        click.echo(f"{len(paths)} charts: {paths[0]} to {paths[-1].name}", err=True)


# ---------------------------------------------------------------------------------------------- what is drawn


def _found(kind: str, given: tuple[str, ...], options: dict[str, Any]) -> Found:
    """What the verb of a kind finds."""
    files = Files.of(options)
    if kind == "training":
        return _courses(given, options)
    options["protocol"] = options.pop("protocols") or ("karat" if kind != "protocols" else ())
    options["metrics"] = list(options["metrics"]) or None
    pairs, folder = options.pop("pairs"), options.pop("runs")
    if all(path.endswith(".karat") for path in given):
        return _of_results(kind, given)
    if kind == "ranks":
        return _ranks(files, given, folder, options)
    if kind in DESCRIBED:
        return _described(files, given, options)
    if len(given) < 2:
        raise InputError("give a corpus and a run or more")
    documents, systems = files.all(given[0], given[1:])
    if kind == "homogeneity":
        return _homogeneity(documents, pairs, systems, options)
    return _VERBS.get(kind, _confidence)(kind, documents, systems, options)


def _courses(given: tuple[str, ...], options: dict[str, Any]) -> Found:
    from karat.models.generators.curves import read_courses

    if options["protocols"]:
        raise InputError(f"--protocol {options['protocols'][0]}: a training is not drawn under a protocol")
    return read_courses(given)


def _of_results(kind: str, given: tuple[str, ...]) -> Found:
    from karat.analyses.compare import compare_results
    from karat.results import load

    loaded = [load(path) for path in given]
    if kind == "ranks" or (kind == "scores" and len(loaded) > 1):
        return compare_results(loaded)
    return _together(loaded)


def _together(loaded: list[Results]) -> Results:
    """The results of several systems on the same documents as one."""
    from dataclasses import replace

    first = loaded[0]
    if any(each.ids != first.ids for each in loaded):
        raise InputError("these .karat files are not of the same documents: give those of one corpus")
    scores = tuple(score for each in loaded for score in each.scores)
    signatures = {name: text for each in loaded for name, text in each.signatures.items()}
    return replace(first, scores=scores, signatures=signatures)


def _ranks(files: Files, given: tuple[str, ...], folder: str | None, options: dict[str, Any]) -> Found:
    from karat.analyses.compare import compare_corpora

    if folder is None:
        raise InputError("ranks are over several corpora: give these, and their runs as --runs FOLDER; or .karat files")
    corpora = [files.corpus(path) for path in given]
    listed = [(corpus, [files.run(path) for path in runs_of(folder, corpus.name)]) for corpus in corpora]
    files.check()
    return compare_corpora(listed, **options)


def _described(files: Files, given: tuple[str, ...], options: dict[str, Any]) -> Found:
    from karat.analyses.describe import describe

    documents, systems = files.all(given[0], given[1:])
    protocol = _only("protocol", options.pop("protocol"))
    del options["metrics"]
    return describe(documents, *systems, protocol=protocol, **options)


def _only(what: str, given: Any) -> Any:
    """The one that was given."""
    if isinstance(given, str):
        return given
    if len(given) > 1:
        raise InputError(f"this chart is of one {what}, not of {len(given)}: {', '.join(given)}")
    return given[0]


def _homogeneity(documents: Any, pairs: str | None, systems: list[Any], options: dict[str, Any]) -> Found:
    from karat.analyses.homogeneity import homogeneity

    if pairs is None:
        raise InputError("homogeneity is of pairs of alike documents: give --pairs FILE; `karat pairs mine` finds some")
    del options["metrics"], options["jobs"]
    return homogeneity(documents, pairs, *systems, **options)


def _audit(_kind: str, documents: Any, systems: list[Any], options: dict[str, Any]) -> Found:
    from karat.analyses.audit import audit

    metrics = options.pop("metrics")
    chosen = {"metric": _only("metric", metrics)} if metrics else {}
    return audit(documents, *systems, causes=False, **chosen, **options)


def _score(kind: str, documents: Any, systems: list[Any], options: dict[str, Any]) -> Found:
    from karat.analyses.score import score
    from karat.output.charts import KINDS as CHARTS

    metrics = options.pop("metrics") or list(CHARTS[kind].metrics) or None
    return score(documents, *systems, metrics=metrics, **options)


def _overlap(_kind: str, documents: Any, systems: list[Any], options: dict[str, Any]) -> Found:
    from karat.analyses.overlap import overlap

    del options["metrics"]
    return overlap(documents, *systems, **options)


def _confidence(_kind: str, documents: Any, systems: list[Any], options: dict[str, Any]) -> Found:
    from karat.analyses.confidence import confidence

    del options["metrics"]
    # No chart of confidence shows an interval; so few resamples do.
    return confidence(documents, *systems, resamples=FEW, **options)


FEW = 100
_VERBS: dict[str, Callable[[str, Any, list[Any], dict[str, Any]], Found]] = {
    "protocols": _audit,
    "scores": _score,
    "pr": _score,
    "differences": _score,
    "overlap": _overlap,
}
