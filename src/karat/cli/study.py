"""karat pairs tables: the three tables of a study of homogeneity."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.pairs import pairs_group
from karat.cli.shared import Files, Output, corpus_argument, output_flags, reading_flags, runs_argument

EPILOG = """\b
Examples:
  karat pairs tables corpus.jsonl runs/ --reformulations paraphrases.jsonl
  karat pairs tables corpus.jsonl runs/ --min 0.4 -f latex
  karat pairs tables corpus.jsonl tfidf.jsonl t5.jsonl \\
      --reformulations back.jsonl --reformulations para.jsonl --cutoff 5

A RUN predicts for the documents and for their reformulations, by their ids. In
a folder, files of one name are one system's: runs/documents/tfidf.jsonl and
runs/reformulations/tfidf.jsonl, or runs/tfidf.jsonl for both.
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
@reading_flags
@output_flags
def tables(corpus: str, runs: tuple[str, ...], reformulations: tuple[str, ...], **options: Any) -> None:
    """Make the three tables of a study of homogeneity.

    Those of Houbre, Boudin and Daille: what the documents are like, how alike
    systems index documents and their reformulations, and how alike documents
    that share references.
    """
    output, files = Output.of(options), Files.of(options)
    from karat.analyses.study import runs_in

    documents, systems = files.corpus(corpus), runs_in(runs, files.run)
    files.check()
    with files.work(options, output.quiet) as chosen:
        found = karat.study(documents, reformulations or None, *systems, **chosen)
    output.deliver(found)


pairs_group.add_command(tables)
