"""karat run ensemble, karat run rerank, karat run show: several runs as one, another order, one document of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import karat
from karat.cli import completion
from karat.cli.convert import run_group
from karat.cli.flags import verb
from karat.cli.shared import (
    Files,
    claim,
    combine,
    corpus_argument,
    echo_notes,
    progress,
    quiet_option,
    reading_flags,
    runs_argument,
    write_out,
)
from karat.options import options_from

if TYPE_CHECKING:
    from karat.analyses.ensemble import Made

ENSEMBLE_EPILOG = """\b
Examples:
  karat run ensemble t5.jsonl one2set.jsonl -o both.jsonl
  karat run ensemble a.jsonl b.jsonl c.jsonl --by vote --at-least 2 \\
      -o majority.jsonl
  karat run ensemble --present t5.jsonl --absent one2set.jsonl \\
      --corpus corpus.jsonl -o both.jsonl
"""

RERANK_EPILOG = """\b
Examples:
  karat run rerank t5.jsonl --by kpp -o sorted.jsonl
  karat run rerank t5.jsonl --by scores -o sorted.jsonl
"""

SHOW_EPILOG = """\b
Examples:
  karat run show --id d1 corpus.jsonl t5.jsonl one2set.jsonl
  karat run show --id d1 corpus.jsonl t5.jsonl -f md
"""

_written = combine(
    click.option(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="File to write; its suffix chooses the format.",
        shell_complete=completion.new_paths,
    ),
    click.option(
        "--to", metavar="FORMAT", help="Format to write (default: by the suffix).", shell_complete=completion.formats
    ),
    click.option("--lossy", is_flag=True, help="Write what fits even if something is lost, and say what."),
    reading_flags,
    quiet_option,
)


@verb("ensemble", epilog=ENSEMBLE_EPILOG)
@click.argument("runs", nargs=-1, metavar="[RUN RUN...]", shell_complete=completion.paths)
@_written
def ensemble(runs: tuple[str, ...], output: str, to: str | None, lossy: bool, quiet: bool, **options: Any) -> None:
    """Make one run of several.

    Phrases are one when their stems are; the run shows the phrase of the
    first run that has it, and what it scored. All runs must be over the same
    documents, whose order is that of the first run.
    """
    claim(output)
    from karat.analyses.ensemble import EnsembleOptions, make

    files = Files.of(options)
    for name, read in (("present", files.run), ("absent", files.run), ("corpus", files.corpus)):
        options[name] = None if options[name] is None else read(options[name])
    systems = list(map(files.run, runs))
    files.check()
    with files.work(options, quiet) as chosen:
        made = make(systems, options_from(EnsembleOptions, chosen))
    _write(made, output, to, lossy, quiet)


@verb("rerank", epilog=RERANK_EPILOG)
@click.argument("run", shell_complete=completion.paths)
@click.option(
    "--by",
    type=click.Choice(["kpp", "scores"]),
    required=True,
    help="Lowest keyphrase perplexity first (from token probabilities), or highest score first.",
)
@_written
def rerank(run: str, output: str, to: str | None, lossy: bool, quiet: bool, **options: Any) -> None:
    """Put the phrases of a run in another order.

    Keyphrase perplexity is (p1 · p2 · ... · pm)^(-1/m) over the tokens of a
    phrase. Equal phrases stay in their order; those without numbers go last.
    """
    claim(output)
    from karat.analyses.rerank import RerankOptions, make

    files = Files.of(options)
    given = files.run(run)
    files.check()
    _write(make(given, options_from(RerankOptions, options)), output, to, lossy, quiet)


def _write(made: Made, output: str, to: str | None, lossy: bool, quiet: bool) -> None:
    from karat.formats.write import write

    with progress(quiet) as done:
        lost = write(made.run, output, format=to, lossy=lossy, progress=done)
    if not quiet:
        echo_notes([*made.notes, *(f"lost: {what}" for what in lost)])


@verb("show", epilog=SHOW_EPILOG)
@corpus_argument
@runs_argument
@reading_flags
@click.option(
    "-f", "--format", "format_", type=click.Choice(["table", "md", "json"]), default="table", help="Output format."
)
def show(corpus: str, runs: tuple[str, ...], format_: str, **options: Any) -> None:
    """Show one document, its references and what runs predict for it.

    Present references are marked in the text, predictions that are
    references beside them.
    """
    files = Files.of(options)
    documents, systems = files.all(corpus, runs)
    write_out(karat.render(karat.show(documents, *systems, **options), format_))


for command in (ensemble, rerank, show):
    run_group.add_command(command)
