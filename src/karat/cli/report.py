"""karat report: everything about systems on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.analyses.report.result import Page

EPILOG = """\b
Examples:
  karat report corpus.jsonl t5.jsonl one2set.jsonl -o report.html
  karat report corpus.jsonl t5.jsonl -o report.html --figures figures \\
      --title "Indexers of the library, 2026"
  karat report corpus.jsonl t5.jsonl -o report.html --pairs pairs.jsonl \\
      --reformulations paraphrases.jsonl --missing empty
  karat report inspec.jsonl semeval.jsonl --runs runs -o report.html
  karat report monday.karat tuesday.karat -o report.html

With --runs FOLDER all arguments are corpora, and the runs of each are
FOLDER/<name of the corpus>/<system>.jsonl. From .karat files the page has
tables and charts, but no documents.
"""


@click.command(epilog=EPILOG)
@click.argument("given", nargs=-1, required=True, metavar="CORPUS RUN...", shell_complete=completion.paths)
@click.option(
    "-o", "--output", metavar="FILE", help="The page to write, as report.html.", shell_complete=completion.paths
)
@click.option("--title", metavar="TEXT", help="What stands above the page.")
@click.option("--no-texts", is_flag=True, help="Leave titles and texts out, where they may not be passed on.")
@click.option(
    "--figures",
    metavar="FOLDER",
    help="Write every chart there too, as SVG, PDF and PNG.",
    shell_complete=completion.paths,
)
@protocol_option
@metric_option
@click.option("--runs", metavar="FOLDER", help="Runs of several corpora, in a folder for each.")
@click.option(
    "--pairs",
    metavar="FILE",
    help="Pairs of alike documents, for homogeneity; see `karat pairs mine`.",
    shell_complete=completion.paths,
)
@click.option(
    "--reformulations",
    metavar="CORPUS",
    help="The corpus of b, where pairs are of documents and their reformulations.",
    shell_complete=completion.paths,
)
@click.option(
    "--human",
    metavar="FILE",
    help="Scores that people gave, to measure metrics against.",
    shell_complete=completion.paths,
)
@click.option(
    "--resamples",
    type=click.IntRange(1),
    metavar="N",
    help="Resamples (default as many as `karat compare` and the other verbs draw by themselves).",
)
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="Which resamples (default 0).")
@matching_options
@jobs_option
@quiet_option
def report(
    given: tuple[str, ...],
    output: str | None,
    figures: str | None,
    runs: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Put everything on one page.

    One HTML file that opens from disk and needs no network: who wins and how
    sure that is, tables and charts of what the other verbs find, and every
    document with its references and what each system made of them, to be
    searched, filtered and sorted.
    """
    _check(output, figures)
    files = Files.of(options)
    options["metrics"] = options["metrics"] or None
    options["protocol"] = options.pop("protocols") or "karat"
    options["texts"] = not options.pop("no_texts")
    with progress(quiet) as done:
        page = _page(files, given, runs, options | {"progress": done})
    assert output is not None
    page.save(output)
    written = [] if figures is None else page.figures(figures)
    if not quiet:
        echo_notes(page.notes)
        click.echo(_told(output, figures, len(written)), err=True)


def _check(output: str | None, figures: str | None) -> None:
    """Says at once, before any work, when the page could not be written."""
    if output is None:
        raise InputError("where should the page go? Write -o report.html")
    if Path(output).suffix not in (".html", ".htm"):
        raise InputError(f"-o {output}: a page is written to a file that ends in .html, as {Path(output).stem}.html")
    check_file(output)
    if figures is not None and Path(figures).exists() and not Path(figures).is_dir():
        raise InputError(f"--figures {figures}: is a file, not a folder")


def _page(files: Files, given: tuple[str, ...], folder: str | None, options: dict[str, Any]) -> Page:
    from karat.analyses.report import page, page_corpora

    if all(path.endswith(".karat") for path in given):
        return page(*given, **options)
    if options["reformulations"] is not None:
        options["reformulations"] = files.corpus(options["reformulations"])
    if folder is not None:
        corpora = [files.corpus(path) for path in given]
        listed = [(corpus, [files.run(path) for path in runs_of(folder, corpus.name)]) for corpus in corpora]
        files.check()
        return page_corpora(listed, **options)
    if len(given) < 2:
        raise InputError("give a corpus and one run or more, .karat files, or corpora with --runs FOLDER")
    documents, systems = files.all(given[0], given[1:])
    return page(documents, *systems, **options)


def _told(output: str, figures: str | None, count: int) -> str:
    size = Path(output).stat().st_size
    told = f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.0f} kB"
    return f"{output}: {told}" + ("" if figures is None else f"; {figures}: {count:,} files")
