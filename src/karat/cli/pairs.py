"""karat pairs mine, describe, repeats, gather: pairs of alike documents, repeated runs, several corpora."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb, verbs
from karat.cli.shared import (
    Files,
    Output,
    check_file,
    corpus_argument,
    corpus_verb,
    echo_notes,
    output_flags,
    quiet_option,
    reading_flags,
    write_out,
)

MINE_EPILOG = """\b
Examples:
  karat pairs mine corpus.jsonl -o pairs.jsonl
  karat pairs mine corpus.jsonl --min 0.2 --stem --text-max 0.5 -o pairs.csv
  karat pairs mine corpus.jsonl --measure max --min 0.6 --nearest 5
  karat pairs mine corpus.jsonl --by embedding --model models/scibert \\
      --min 0.8 --nearest 3 -o pairs.jsonl

A line is {"a": "d1", "b": "d7", "jaccard": 0.5}, what `karat homogeneity`
reads.
"""


pairs_out_option = click.option(
    "--pairs-out",
    metavar="FILE",
    help="Write what each system has on each pair: .jsonl, .csv, .tsv or .parquet.",
    shell_complete=completion.new_paths,
)


@click.group("pairs", commands=verbs())
def pairs_group() -> None:
    """Work on pairs of alike documents."""


@verb("mine_pairs", name="mine", epilog=MINE_EPILOG)
@corpus_argument
@reading_flags
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE: .jsonl, .csv, .tsv or .parquet (default JSON lines to standard output).",
    shell_complete=completion.new_paths,
)
@quiet_option
def mine(corpus: str, output: str | None, quiet: bool, **options: Any) -> None:
    """Find pairs of documents that are alike.

    By default those that share half of their references or more: lower-cased
    sets in which a repeat counts once. Documents without references are left
    out and counted. The search is exact.
    """
    check_file(output)
    files = Files.of(options)
    documents = files.corpus(corpus)
    files.check()
    with files.work(options, quiet) as chosen:
        found = karat.mine_pairs(documents, **chosen)
    if output is not None:
        found.save(output)
    else:
        import msgspec

        encode = msgspec.json.Encoder().encode
        for row in found:
            write_out(encode(row).decode() + "\n")
    if not quiet:
        echo_notes(found.notes)


DESCRIBE_EPILOG = """\b
Examples:
  karat pairs describe corpus.jsonl pairs.jsonl
  karat pairs describe corpus.jsonl pairs.jsonl --no-stem -f json
  karat pairs describe corpus.jsonl sources.csv \\
      --reformulations paraphrases.jsonl

df is the number of documents of the corpus that have a reference: a reference
that many have is generic.
"""

GATHER_EPILOG = """\b
Examples:
  karat homogeneity inspec.jsonl pairs.jsonl runs/*.jsonl -o inspec.json
  karat homogeneity termith.jsonl paires.jsonl fr/*.jsonl \\
      --language french -o termith.json
  karat pairs gather inspec.json termith.json -f latex
"""


@verb("describe_pairs", name="describe", epilog=DESCRIBE_EPILOG)
@corpus_argument
@click.argument("pairs", shell_complete=completion.paths)
@reading_flags
@output_flags
def describe(corpus: str, pairs: str, reformulations: str | None, **options: Any) -> None:
    """Describe pairs of documents, without any run.

    How alike their texts are (ROUGE-1, WER) and their references (Hooper and
    Rodgers, of all and of those that their document holds), the classes of
    the references (PRMU), and how generic those are that a pair shares.
    """
    output, files = Output.of(options), Files.of(options)
    others = None if reformulations is None else files.corpus(reformulations)
    documents = files.corpus(corpus)
    files.check()
    with files.work(options, output.quiet) as chosen:
        found = karat.describe_pairs(documents, pairs, reformulations=others, **chosen)
    output.deliver(found)


REPEATS_EPILOG = """\b
Examples:
  karat predict llm:qwen corpus.jsonl --repeat 3 --temperature 1 -o run.jsonl
  karat pairs repeats corpus.jsonl run.jsonl run.2.jsonl run.3.jsonl
  karat pairs repeats corpus.jsonl seed1.jsonl seed2.jsonl --cutoff 5 -f csv
"""


@corpus_verb("repeats", epilog=REPEATS_EPILOG)
def repeats() -> None:
    """Show whether runs of one system give documents the same.

    RUNs are of one system on the same documents: of a language model that was
    asked several times, of a generator trained with other seeds. Of every two
    of them, Hooper and Rodgers on each document, and the share of phrases that
    all runs give.
    """


@click.command("gather", epilog=GATHER_EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=completion.paths)
@output_flags
def gather(files: tuple[str, ...], **options: Any) -> None:
    """Put homogeneity on several corpora into one table.

    FILEs are what `karat homogeneity -o FILE.json` wrote, each of another
    corpus: in another language, with other pairs, under another protocol.
    """
    output = Output.of(options)
    output.deliver(karat.gather_homogeneity(*files))


for command in (mine, describe, repeats, gather):
    pairs_group.add_command(command)
