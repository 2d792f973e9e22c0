"""karat corpus convert, karat run convert: from any format into any that can hold it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from karat.cli import completion
from karat.cli.flags import verbs
from karat.cli.shared import (
    Files,
    claim,
    combine,
    corpus_argument,
    echo_notes,
    fields_option,
    from_option,
    progress,
    quiet_option,
    write_out,
)
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.corpus import Corpus, Run

CORPUS_EPILOG = """\b
Examples:
  karat corpus convert corpus.jsonl -o corpus.csv
  karat corpus convert Inspec/Test -o inspec.jsonl
  karat corpus convert test.csv --fields "id=doc,keyphrases=tags" \\
      --variants of-pp -o corpus.jsonl.gz
  karat corpus convert corpus.jsonl --to chan -o src.txt+trg.txt --lossy
"""

RUN_EPILOG = """\b
Examples:
  karat run convert run.jsonl -o run.csv
  karat run convert predictions.csv --fields "id=doc,keyphrases=preds" \\
      -o run.jsonl
  karat run convert run.jsonl --corpus library.bib -o with-keywords.bib
"""

_options = combine(
    click.option(
        "--to",
        metavar="FORMAT",
        help="Format to write (default: by the suffix of -o, else karat).",
        shell_complete=completion.formats,
    ),
    click.option(
        "-o",
        "--output",
        metavar="PATH",
        help="File or folder to write (default standard output).",
        shell_complete=completion.new_paths,
    ),
    click.option("--lossy", is_flag=True, help="Write what fits even if something is lost, and say what."),
    from_option,
    fields_option,
    quiet_option,
)


@click.command("convert", epilog=CORPUS_EPILOG)
@corpus_argument
@click.option(
    "--variants",
    type=click.Choice(["of-pp"]),
    help="Add Y X to each reference X of Y: service quality to quality of service.",
)
@_options
def convert_corpus(corpus: str, variants: str | None, **options: Any) -> None:
    """Convert a corpus from any format into any other.

    The outcome is read back and compared before it takes its place: what the
    format cannot hold (say, variants in a `;` string) is an error that names
    it, or with --lossy a note. `karat list formats` shows what there is.
    """
    files = Files.of(options)
    found = files.corpus(corpus)
    files.check()
    if variants is not None:
        from karat.text.variants import with_of_variants

        found = with_of_variants(found)
    _write(found, **options)


@click.command("convert", epilog=RUN_EPILOG)
@click.argument("run", shell_complete=completion.paths)
@click.option(
    "--corpus",
    metavar="CORPUS",
    help="Write a catalogue: the documents of CORPUS with their titles and the phrases of the run; of a BibTeX or RIS "
    "file its entries.",
    shell_complete=completion.paths,
)
@_options
def convert_run(run: str, corpus: str | None, **options: Any) -> None:
    """Convert a run from any format into any other.

    The outcome is read back and compared before it takes its place: what the
    format cannot hold (say, scores) is an error that names it, or with
    --lossy a note. `karat list formats` shows what there is.
    """
    files = Files.of(options)
    found = files.run(run)
    documents = None if corpus is None else files.corpus(corpus)
    files.check()
    _write(found, corpus=documents, **options)


def _write(
    records: Corpus | Run, to: str | None, output: str | None, lossy: bool, quiet: bool, corpus: Corpus | None = None
) -> None:
    from karat.corpus import split_paths
    from karat.formats.write import write

    for part in split_paths(output) if output else ():  # SRC+TRG
        claim(part)
    with tempfile.TemporaryDirectory() as folder:
        target = output or str(Path(folder, "stdout"))
        chosen = to or (None if output else "karat")
        try:
            with progress(quiet) as done:
                lost = write(records, target, format=chosen, lossy=lossy, corpus=corpus, progress=done)
        except InputError as error:
            raise type(error)(str(error).replace(target, output or "standard output")) from None
        if output is None:
            _to_standard_output(Path(target), chosen)
    if not quiet:
        echo_notes(f"lost: {what}" for what in lost)


def _to_standard_output(path: Path, form: str | None) -> None:
    if path.is_dir():
        raise click.UsageError(f"the format {form} is a folder: name it with -o")
    with path.open("rb") as file:
        if sys.stdout.isatty():  # what acts there is escaped; a file or a pipe gets the bytes as they are
            for line in file:
                write_out(line.decode(errors="replace"))
        else:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


@click.group("corpus", commands=verbs())
def corpus_group() -> None:
    """Work on corpora."""


@click.group("run", commands=verbs())
def run_group() -> None:
    """Work on runs."""


corpus_group.add_command(convert_corpus)
run_group.add_command(convert_run)
