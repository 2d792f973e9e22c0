"""karat report: everything about systems on one page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import jobs_for, verb
from karat.cli.shared import Files, check_file, echo_notes, folder_flag, quiet_option, reading_flags, say
from karat.errors import InputError
from karat.inert import one_line
from karat.options import Progress
from karat.record import note_output

Stage = Callable[[str, int], None]

EPILOG = """\b
Examples:
  karat report papers/ -o page.html
  karat report papers/ -o page.html --models multipartiterank,yake -n 5
  karat report catalogue.csv -o page.html --language french
  karat report corpus.jsonl t5.jsonl one2set.jsonl -o report.html
  karat report corpus.jsonl t5.jsonl -o report.html --figures figures \\
      --title "Indexers of the library, 2026"
  karat report corpus.jsonl t5.jsonl -o report.html --pairs pairs.jsonl \\
      --reformulations paraphrases.jsonl --missing empty
  karat report inspec.jsonl semeval.jsonl --runs runs -o report.html
  karat report monday.karat tuesday.karat -o report.html

Without a run, models predict: for a corpus in any format, a text, a PDF or a
folder of these. What they predict is kept in a folder beside the page, and the
same command, after a kill or an error, goes on where it was.
With --runs FOLDER all arguments are corpora, and the runs of each are
FOLDER/<name of the corpus>/<system>.jsonl. From .karat files the page has
tables and charts, but no documents.
"""


@verb("report", epilog=EPILOG)
@click.argument("given", nargs=-1, required=True, metavar="CORPUS [RUN...]", shell_complete=completion.paths)
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
    sure that is, or where nothing says who is right how far systems agree;
    tables and charts of what the other verbs find, and every document with its
    references and what each system made of them, to be searched, filtered and
    sorted.
    """
    _check(output, figures)
    assert output is not None
    files = Files.of(options)
    predicts = options["models"] is not None or (runs is None and len(given) == 1 and not given[0].endswith(".karat"))
    if not predicts and options["keep_runs"] is not None:
        raise InputError("--keep-runs is for what models predict: name models, or give no run")
    if predicts and options["keep_runs"] is None:
        options["keep_runs"] = str(Path(output).with_suffix(".runs"))
    others = options.pop("reformulations")
    reformulations = None if others is None else files.corpus(others)
    what = _given(files, given, runs)
    if predicts:
        note_output(options["keep_runs"])
    with _progress(quiet) as (stage, done):
        jobs = jobs_for(options["jobs"], sum(files.sizes))
        chosen = options | {"jobs": jobs, "stage": stage, "progress": done}
        page = karat.report(*what, reformulations=reformulations, **chosen)
    page.save(output)
    written = [] if figures is None else page.figures(figures)
    if not quiet:
        echo_notes([*page.provenance, *page.notes])
        say(_summary(output, figures, len(written)))
        if predicts:
            say(f"{options['keep_runs']}: the runs of each model, for --runs {options['keep_runs']}")


def _given(files: Files, given: tuple[str, ...], runs: str | None) -> tuple[Any, ...]:
    """What the page is of; a path by itself is that of documents in whatever form."""
    if runs is None and len(given) == 1 and not given[0].endswith(".karat") and not (files.from_ or files.fields):
        files.add(given[0])
        return given
    return files.given(given, runs)


@contextmanager
def _progress(quiet: bool) -> Iterator[tuple[Stage | None, Progress | None]]:
    """Functions to call with what begins, and with documents that are done: a bar on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None, None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[of]}"),
        TimeElapsedColumn(),
    )
    # No thread of its own: workers are forked while the bar is shown.
    with Bar(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("Reading", total=None, of="")

        def show(done: int = 0) -> None:
            now = bar.tasks[0]
            of = f"{now.completed + done:,.0f}" + (f" of {now.total:,.0f}" if now.total else "") + " documents"
            bar.update(task, advance=done, of=of)
            bar.refresh()

        def stage(what: str, documents: int) -> None:
            bar.reset(task, total=documents or None, description=escape(one_line(what)))
            show()

        yield stage, show


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
