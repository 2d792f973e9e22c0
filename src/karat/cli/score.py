"""karat score: the scores of runs against a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.shared import (
    Files,
    Output,
    check_file,
    cite_flag,
    development_flags,
    documents_out_option,
    echo_notes,
    folder_flag,
    output_flags,
    reading_flags,
)
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.corpus import Corpus, Run
    from karat.results import Collection, Results

EPILOG = """\b
Examples:
  karat score corpus.jsonl t5.jsonl one2set.jsonl
  karat score inspec.jsonl.gz t5=runs/t5.jsonl.gz --protocol chan2019 \\
      --protocol kpdrop2022,pad=k -m f1@5:present -m f1@M:absent -f json
  karat score test_src.txt+test_trg.txt predictions.txt --protocol ye2021
  karat score corpus.jsonl predictions.csv \\
      --fields "run:id=doc,keyphrases=preds,separator=;"
  karat score corpus.jsonl run.jsonl --documents-out values.parquet
  karat score corpus.jsonl run.jsonl --shard 3/16 -o part3.karat
  karat score inspec.jsonl semeval.jsonl --runs runs -o both.karat
  karat score corpus.jsonl run.jsonl --protocol chan2019 --cite

A METRIC is NAME[@CUTOFF][:SUBSET][/AVERAGE][,option=value...]: a cutoff is a
number, M, O, G or V, a subset all, present, absent, P, R, M or U.

CORPUS and RUN are PATH or NAME=PATH; `-` is standard input. Parallel files
are joined by `+`. With --runs FOLDER all arguments are corpora, and the runs
of each are FOLDER/<name of the corpus>/<system>.jsonl.
"""


@verb("score", epilog=EPILOG)
@click.argument("given", nargs=-1, required=True, metavar="CORPUS RUN...", shell_complete=completion.paths)
@folder_flag
@development_flags
@cite_flag
@documents_out_option
@reading_flags
@output_flags
def score(given: tuple[str, ...], runs: str | None, cite: bool, documents_out: str | None, **options: Any) -> None:
    """Score runs against a corpus, or against several.

    Without -m: F1 at 5, M and O for present, absent and all phrases, in the
    protocol's own average.
    """
    output, files = Output.of(options, saves=True), Files.of(options)
    check_file(documents_out)
    if runs is None and len(given) < 2:
        raise click.UsageError("Missing argument 'RUN...': give a corpus and a run or more, or corpora with --runs.")
    development = files.other(options)
    what = files.given(given, runs, results=False)
    with files.work(options, output.quiet) as chosen:
        chosen["development"] = development
        found = karat.score(*what, **chosen) if runs is None else _scored(what[0], chosen)
    save_documents(found, documents_out, output.quiet)
    output.deliver(found, cite)


def save_documents(found: Results | Collection, path: str | None, quiet: bool) -> None:
    """Writes the values of each document where a path is given, and says which metrics have none."""
    notes = [] if path is None else found.save_documents(path)
    if not quiet:
        echo_notes(notes)


def _scored(corpora: Sequence[tuple[Corpus, list[Run]]], options: dict[str, Any]) -> Results | Collection:
    """The scores of each corpus."""
    if len(corpora) == 1:
        return karat.score(corpora[0][0], *corpora[0][1], **options)
    for flag, name in (("--dev-corpus", "development"), ("--shard", "shard")):
        if options[name] is not None:
            raise InputError(f"{flag} is of one corpus: leave it out with several")
    names = [corpus.name for corpus, _ in corpora]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two corpora are named {name!r}; name them: NAME=PATH")
    return karat.collect(karat.score(corpus, *own, **options) for corpus, own in corpora)
