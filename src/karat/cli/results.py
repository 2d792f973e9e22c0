"""karat results: work on saved results."""

from __future__ import annotations

import click

from karat.cli import completion
from karat.cli.shared import check_output, deliver, output_options

MERGE_EPILOG = """\b
Examples:
  karat results merge part*.karat -o all.karat
  karat results merge all.karat -f latex
"""


@click.group()
def results() -> None:
    """Work on saved results (.karat files)."""


@results.command(epilog=MERGE_EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=completion.paths)
@output_options
def merge(files: tuple[str, ...], format_: str | None, output: str | None, quiet: bool) -> None:
    """Merge the shards of one scoring into its results.

    All shards I/N of `karat score --shard I/N -o FILE.karat` are needed; the
    outcome is the same as if the corpus had been scored at once. One whole
    file is shown as it is.
    """
    check_output(format_, output)
    from karat.results import load
    from karat.results import merge as merge_results

    deliver(merge_results(load(file) for file in files), format_, output, quiet)
