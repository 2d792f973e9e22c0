"""karat pairs tables: the three tables of a study of homogeneity."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.pairs import pairs_group, pairs_out_option
from karat.cli.shared import Files, Output, check_file, corpus_argument, output_flags, reading_flags, runs_argument

EPILOG = """\b
Examples:
  karat pairs tables corpus.jsonl runs/ --reformulations paraphrases.jsonl
  karat pairs tables corpus.jsonl runs/ --min 0.4 -f latex
  karat pairs tables corpus.jsonl tfidf.jsonl t5.jsonl \\
      --reformulations back.jsonl --reformulations para.jsonl --cutoff 5
  karat pairs tables inspec.jsonl runs/ --reformulations para.jsonl \\
      --shared kp20k.jsonl --min 0.5 --stem --pairs-out values.csv

A RUN predicts for the documents and for their reformulations, by their ids. In
a folder, files of one name are one system's: runs/documents/tfidf.jsonl and
runs/reformulations/tfidf.jsonl, or runs/tfidf.jsonl for both. Where it has a
folder that is named like a corpus, the runs of that corpus are those in it.
"""


@verb("study", name="tables", epilog=EPILOG)
@corpus_argument
@runs_argument
@click.option(
    "--reformulations",
    multiple=True,
    metavar="FILE",
    help="Reformulations of the documents, which are filtered as by `karat pairs filter` (repeatable).",
    shell_complete=completion.paths,
)
@click.option(
    "--shared",
    multiple=True,
    metavar="CORPUS",
    help="The corpus of the third table, where it is another one (repeatable).",
    shell_complete=completion.paths,
)
@pairs_out_option
@reading_flags
@output_flags
def tables(
    corpus: str,
    runs: tuple[str, ...],
    reformulations: tuple[str, ...],
    shared: tuple[str, ...],
    pairs_out: str | None,
    **options: Any,
) -> None:
    """Make the three tables of a study of homogeneity.

    Those of Houbre, Boudin and Daille: what the documents are like, how alike
    systems index documents and their reformulations, and how alike documents
    that share references. Then what agreement goes with, the systems compared,
    and how generic shared phrases are.
    """
    output, files = Output.of(options), Files.of(options)
    check_file(pairs_out)
    from karat.analyses.study import runs_in

    documents = files.corpus(corpus)
    systems = runs_in(runs, files.run, documents.name)
    others = [(each, runs_in(runs, files.run, each.name)) for each in map(files.corpus, shared)]
    files.check()
    with files.work(options, output.quiet) as chosen:
        found = karat.study(documents, reformulations or None, *systems, shared=others or None, **chosen)
    if pairs_out is not None:
        found.save_pairs(pairs_out)
    output.deliver(found)


pairs_group.add_command(tables)
