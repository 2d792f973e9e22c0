"""karat run ensemble, karat run rerank, karat run show: several runs as one, another order, one document of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from karat.cli import completion
from karat.cli.shared import (
    Files,
    claim,
    combine,
    corpus_argument,
    fields_option,
    from_option,
    matching_options,
    progress,
    quiet_option,
    runs_argument,
    write_out,
)

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
        shell_complete=completion.paths,
    ),
    click.option(
        "--to", metavar="FORMAT", help="Format to write (default: by the suffix).", shell_complete=completion.formats
    ),
    click.option("--lossy", is_flag=True, help="Write what fits even if something is lost, and say what."),
    from_option,
    fields_option,
    quiet_option,
)
_protocol = click.option(
    "--protocol",
    default="karat",
    metavar="NAME[,option=value...]",
    help="Convention by which phrases are equal, and present (default karat).",
    shell_complete=completion.protocols,
)
_language = click.option(
    "--language",
    metavar="LANGUAGE",
    help="Stem with Snowball for this language, as french.",
    shell_complete=completion.languages,
)


@click.command(epilog=ENSEMBLE_EPILOG)
@click.argument("runs", nargs=-1, metavar="[RUN RUN...]", shell_complete=completion.paths)
@click.option(
    "--by",
    type=click.Choice(["rrf", "vote"]),
    default="rrf",
    help="Order by reciprocal rank fusion, or by how many runs have a phrase (default rrf).",
)
@click.option("--k", type=float, default=60.0, metavar="K", help="A phrase gains 1/(K + rank) of a run (default 60).")
@click.option(
    "--at-least", type=click.IntRange(1), default=1, metavar="N", help="Only phrases that N runs have (default 1)."
)
@click.option("--present", metavar="RUN", help="Take present phrases from this run...", shell_complete=completion.paths)
@click.option("--absent", metavar="RUN", help="...and absent ones from this.", shell_complete=completion.paths)
@click.option(
    "--corpus",
    metavar="CORPUS",
    help="The documents, in which is seen what is present.",
    shell_complete=completion.paths,
)
@_protocol
@_language
@_written
def ensemble(runs: tuple[str, ...], output: str, to: str | None, lossy: bool, quiet: bool, **options: Any) -> None:
    """Make one run of several.

    Phrases are one when their stems are; the run shows the phrase of the
    first run that has it, and what it scored. All runs must be over the same
    documents, whose order is that of the first run.
    """
    claim(output)
    from karat.analyses.ensemble import Options, make

    files = Files.of(options)
    for name, read in (("present", files.run), ("absent", files.run), ("corpus", files.corpus)):
        options[name] = None if options[name] is None else read(options[name])
    systems = list(map(files.run, runs))
    files.check()
    made = make(systems, Options(**options))
    _write(made, output, to, lossy, quiet)


@click.command(epilog=RERANK_EPILOG)
@click.argument("run", shell_complete=completion.paths)
@click.option(
    "--by",
    type=click.Choice(["kpp", "scores"]),
    required=True,
    help="Lowest keyphrase perplexity first (from token probabilities), or highest score first.",
)
@_written
def rerank(run: str, by: str, output: str, to: str | None, lossy: bool, quiet: bool, **options: Any) -> None:
    """Put the phrases of a run in another order.

    Keyphrase perplexity is (p1 · p2 · ... · pm)^(-1/m) over the tokens of a
    phrase. Equal phrases stay in their order; those without numbers go last.
    """
    claim(output)
    from karat.analyses.rerank import make

    files = Files.of(options)
    given = files.run(run)
    files.check()
    _write(make(given, by), output, to, lossy, quiet)  # type: ignore[arg-type]


def _write(made: Made, output: str, to: str | None, lossy: bool, quiet: bool) -> None:
    from karat.formats.write import write

    with progress(quiet) as done:
        lost = write(made.run, output, format=to, lossy=lossy, progress=done)
    if not quiet:
        for note in (*made.notes, *(f"lost: {what}" for what in lost)):
            click.echo(f"note: {note}", err=True)


@click.command(epilog=SHOW_EPILOG)
@corpus_argument
@runs_argument
@click.option("--id", "id_", required=True, metavar="ID", help="The document (its line, where there are no ids).")
@_protocol
@matching_options
@click.option(
    "-f", "--format", "format_", type=click.Choice(["table", "md", "json"]), default="table", help="Output format."
)
def show(corpus: str, runs: tuple[str, ...], id_: str, format_: str, **options: Any) -> None:
    """Show one document, its references and what runs predict for it.

    Present references are marked in the text, predictions that are
    references beside them.
    """
    from karat.analyses.show import show as show_document
    from karat.output import render

    files = Files.of(options)
    documents, systems = files.all(corpus, runs)
    write_out(render(show_document(documents, *systems, id=id_, **options), format_))
