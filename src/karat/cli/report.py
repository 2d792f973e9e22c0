"""karat report: everything about systems on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.shared import Files, check_file, echo_notes, folder_flag, quiet_option, reading_flags, say
from karat.errors import InputError

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


@verb("report", epilog=EPILOG)
@click.argument("given", nargs=-1, required=True, metavar="CORPUS RUN...", shell_complete=completion.paths)
@folder_flag
@reading_flags
@click.option(
    "-o", "--output", metavar="FILE", help="The page to write, as report.html.", shell_complete=completion.new_paths
)
@click.option(
    "--figures",
    metavar="FOLDER",
    help="Write every chart there too, as SVG, PDF and PNG.",
    shell_complete=completion.new_paths,
)
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
    if runs is None and len(given) < 2 and not all(path.endswith(".karat") for path in given):
        raise InputError("give a corpus and one run or more, .karat files, or corpora with --runs FOLDER")
    others = options.pop("reformulations")
    reformulations = None if others is None else files.corpus(others)
    what = files.given(given, runs)
    with files.work(options, quiet) as chosen:
        page = karat.report(*what, reformulations=reformulations, **chosen)
    assert output is not None
    page.save(output)
    written = [] if figures is None else page.figures(figures)
    if not quiet:
        echo_notes(page.notes)
        say(_summary(output, figures, len(written)))


def _check(output: str | None, figures: str | None) -> None:
    """Says at once, before any work, when the page could not be written."""
    if output is None:
        raise InputError("where should the page go? Write -o report.html")
    if Path(output).suffix not in (".html", ".htm"):
        raise InputError(f"-o {output}: a page is written to a file that ends in .html, as {Path(output).stem}.html")
    check_file(output)
    if figures is not None and Path(figures).exists() and not Path(figures).is_dir():
        raise InputError(f"--figures {figures}: is a file, not a folder")


def _summary(output: str, figures: str | None, count: int) -> str:
    size = Path(output).stat().st_size
    amount = f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.0f} kB"
    return f"{output}: {amount}" + ("" if figures is None else f"; {figures}: {count:,} files")
