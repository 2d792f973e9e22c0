"""karat nearmiss: what runs almost got, and of which kind it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb
from karat.cli.shared import (
    Files,
    Output,
    check_file,
    corpus_argument,
    output_flags,
    reading_flags,
    runs_argument,
)

if TYPE_CHECKING:
    from karat.analyses.nearmiss import NearMiss

EPILOG = """\b
Examples:
  karat nearmiss corpus.jsonl t5.jsonl
  karat nearmiss corpus.jsonl t5.jsonl one2set.jsonl --subset absent -f md
  karat nearmiss corpus.jsonl t5.jsonl --score kmr --threshold 0.4
  karat nearmiss corpus.jsonl t5.jsonl --every --all-pairs pairs.jsonl

The kinds are those of Kim (2010), location in the longer phrase, complexity
and words of the reference, and the relation of Zesch and Gurevych (2009).
"""


@verb("nearmiss", epilog=EPILOG)
@corpus_argument
@runs_argument
@click.option(
    "--all-pairs",
    metavar="FILE",
    help="Write every near miss to FILE as JSON lines, for people to judge: id, prediction, reference.",
    shell_complete=completion.new_paths,
)
@reading_flags
@output_flags
def nearmiss(corpus: str, runs: tuple[str, ...], all_pairs: str | None, **options: Any) -> None:
    """Show what runs almost got, and what kind of near miss it is.

    A near miss is a prediction that is no hit but shares a word with a
    missed reference, or with --threshold has such a score with one. Counted
    by where the shared words stand, by what the reference is made of, and
    by how the two phrases are related, with examples.
    """
    output, files = Output.of(options), Files.of(options)
    check_file(all_pairs, "all_pairs")
    documents, systems = files.all(corpus, runs)
    with files.work(options, output.quiet) as chosen, _writer(all_pairs) as pairs:
        found = karat.nearmiss(documents, *systems, pairs=pairs, **chosen)
    output.deliver(found)


@contextmanager
def _writer(path: str | None) -> Iterator[Callable[[list[NearMiss]], None] | None]:
    """A function that writes near misses to a file, each document's pairs once whichever runs have them."""
    if path is None:
        yield None
        return
    import msgspec

    from karat.formats.output import writing

    with writing(path) as file:

        def write(found: list[NearMiss]) -> None:
            pairs = dict.fromkeys((each.id, each.prediction, each.reference) for each in found)
            lines = [{"id": i, "prediction": prediction, "reference": reference} for i, prediction, reference in pairs]
            file.write(msgspec.json.Encoder().encode_lines(lines))

        yield write
