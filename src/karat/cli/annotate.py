"""karat annotate: sheets for people to judge keyphrases, and what is made of their answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb, verbs
from karat.cli.shared import (
    Files,
    Output,
    check_file,
    claim,
    corpus_argument,
    deliver,
    output_flags,
    quiet_option,
    reading_flags,
    say,
)
from karat.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])

SHEETS_EPILOG = """\b
Examples:
  karat annotate sheets corpus.jsonl t5.jsonl one2set.jsonl --task set \\
      --annotators 4 --sample 200 -o study
  karat annotate sheets corpus.jsonl t5.jsonl --task pair --scale 0-1 \\
      --annotators ana,ben,cem --overlap 0.5 -o study
  karat annotate sheets corpus.jsonl t5.jsonl one2set.jsonl --task phrase \\
      --cutoff 10 --at-least 2 -o study
  karat annotate sheets corpus.jsonl --task reference -o study
  karat annotate sheets corpus.jsonl t5.jsonl --task set -o study \\
      --format label-studio

Give every annotator their page, as study/a1.html, and keep study/study.json:
it says which system an item is of. A page opens from disk, keeps the answers
in the browser and saves them as a file; `karat annotate collect` reads these.
"""
COLLECT_EPILOG = """\b
Examples:
  karat annotate collect study a1.json a2.json a3.json a4.json
  karat annotate collect study *.json --scores scores.jsonl
  karat human scores.jsonl --corpus corpus.jsonl --run t5.jsonl
  karat annotate collect study *.json --adjudicate settle.html
  karat annotate collect study *.json --accepted accepted.csv --votes 2
  karat score corpus.jsonl t5.jsonl --extra-references accepted.csv

Of several files of an annotator the newest answer to each item counts. An
export of Label Studio (JSON) is read as well.
"""


@click.group("annotate", commands=verbs())
def annotate_group() -> None:
    """Have people judge keyphrases, without a server."""


@verb("annotation_sheets", name="sheets", epilog=SHEETS_EPILOG)
@corpus_argument
@click.argument("runs", nargs=-1, metavar="[RUN...]", shell_complete=completion.paths)
@reading_flags
@click.option(
    "-o", "--output", metavar="FOLDER", help="The folder to write, as study.", shell_complete=completion.new_paths
)
@quiet_option
def sheets(corpus: str, runs: tuple[str, ...], output: str | None, quiet: bool, **options: Any) -> None:
    """Write a sheet for each annotator.

    Chooses items so that systems and strata are balanced, hides which system
    an item is of, and writes one page for each annotator, in an order of
    their own. The same seed makes the same sheets.
    """
    folder = _folder(output)
    files = Files.of(options)
    documents, systems = files.all(corpus, runs)
    with files.work(options, quiet) as chosen:
        found = karat.annotation_sheets(documents, *systems, **chosen)
    found.save(folder)
    if not quiet:
        deliver(found, None, None, quiet)
        say(_written(folder, list(found.study.annotators), found.format))


def _folder(output: str | None) -> str:
    """The folder to write to. Raises InputError at once, before any work, where that cannot be."""
    if output is None:
        raise InputError("where should the sheets go? Write -o study")
    place = Path(output)
    parent = Path(os.path.realpath(place)).parent
    if not parent.is_dir():
        raise InputError(f"{parent if place.is_symlink() else place.parent}: there is no such folder")
    claim(output)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InputError(f"{output}: is there already and is not an empty folder; name another one")
    return output


def _written(folder: str, names: list[str], format_: str) -> str:
    if format_ != "html":
        return f"{folder}: tasks.json and labeling.xml are for Label Studio, study.json is for `karat annotate collect`"
    first, last = f"{names[0]}.html", f"{names[-1]}.html"
    pages = first if len(names) == 1 else f"{first} to {last}"
    return f"{folder}: {pages} are for the annotators, study.json is for `karat annotate collect`"


def _new_file(flag: str, help: str) -> Callable[[F], F]:
    return click.option(flag, metavar="FILE", help=help, shell_complete=completion.new_paths)


@verb("collect_annotations", name="collect", epilog=COLLECT_EPILOG)
@click.argument("study", metavar="STUDY", shell_complete=completion.paths)
@click.argument("answers", nargs=-1, metavar="[FILE...]", shell_complete=completion.paths)
@_new_file("--scores", "Write the scores of sets or pairs to FILE, as `karat human` reads them.")
@_new_file("--resolved", "Write one score for each set or pair: the adjudicator's, or else the majority's.")
@_new_file("--accepted", "Write the judged phrases to FILE, as --extra-references reads them.")
@_new_file("--adjudicate", "Write a sheet of the disagreements to FILE, a page for somebody to settle them.")
@output_flags
def collect(study: str, answers: tuple[str, ...], **options: Any) -> None:
    """Join the answers of annotators.

    Shows how far everybody is, how far they agree and what is left to settle,
    and writes files that `karat human` and --extra-references read. Without
    files, those in the folder of the study are taken.
    """
    output = Output.of(options)
    kinds = ("scores", "resolved", "accepted")
    wanted = {name: options.pop(name) for name in (*kinds, "adjudicate")}
    for path in wanted.values():
        check_file(path)
    found = karat.collect_annotations(study, *answers, **options)
    for name in kinds:
        if wanted[name] is not None:
            found.save(wanted[name], name)
    if wanted["adjudicate"] is not None and not found.save_adjudication(wanted["adjudicate"]) and not output.quiet:
        say(f"note: there is nothing to settle; {wanted['adjudicate']} is not written")
    output.deliver(found)


annotate_group.add_command(sheets)
annotate_group.add_command(collect)
