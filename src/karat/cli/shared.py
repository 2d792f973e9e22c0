"""Flags that several verbs share, and where results go."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from karat.errors import InputError

if TYPE_CHECKING:
    from karat.results import Results

F = TypeVar("F", bound=Callable[..., Any])

TEXT_FORMATS = ("table", "md", "latex", "csv", "json")
_BY_SUFFIX = {".md": "md", ".tex": "latex", ".csv": "csv", ".json": "json", ".txt": "table"}

protocol_option = click.option(
    "--protocol",
    "protocols",
    multiple=True,
    metavar="NAME[,option=value...]",
    help="Convention to score under (repeatable; default karat). See `karat list protocols`.",
)
metric_option = click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="What to compute, as f1@5:present (repeatable). See `karat list metrics`.",
)
format_option = click.option(
    "-f", "--format", "format_", type=click.Choice(TEXT_FORMATS), help="Output format (default table)."
)
output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE; its suffix chooses the format: .karat .json .csv .md .tex .txt",
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No notes and no progress on standard error.")


def combine(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator of several, the first outermost."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


output_options: Callable[[F], F] = combine(format_option, output_option, quiet_option)


def check_output(format_: str | None, output: str | None) -> None:
    """Says at once, before any work, when the results could not be written."""
    if output is None:
        return
    if output.endswith(".karat") and format_ is not None:
        raise InputError(f"-o {output} writes results for karat itself; leave out -f {format_}")
    if Path(output).is_dir():
        raise InputError(f"{output}: is a directory, not a file")
    if not Path(output).parent.is_dir():
        raise InputError(f"{Path(output).parent}: there is no such folder")


def deliver(results: Results, format_: str | None, output: str | None, quiet: bool) -> None:
    """Writes results to standard output, or to a file in the format that its suffix or -f names."""
    from karat.formats.files import write_beside
    from karat.report import render

    chosen = format_ or _BY_SUFFIX.get(Path(output or "").suffix, "table")
    if output is None:
        write_out(render(results, chosen))
    elif output.endswith(".karat"):
        results.save(output)
    else:
        write_beside(output, render(results, chosen).encode())
    if not quiet and (output is not None or chosen in ("csv", "latex")):  # the other formats hold them
        for note in results.notes:
            click.echo(f"note: {note}", err=True)


def write_out(text: str) -> None:
    """Text to standard output, in UTF-8 wherever that goes."""
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """A function to call with the number of documents done: a bar on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:,.0f} documents"),
        TimeElapsedColumn(),
    )
    # No thread of its own: workers are forked while the bar is shown.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=None)

        def advance(done: int) -> None:
            bar.advance(task, done)
            bar.refresh()

        yield advance
