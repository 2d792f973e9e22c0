"""karat nearmiss: what runs almost got, and of which kind it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from karat.cli import completion
from karat.cli.shared import (
    Files,
    check_file,
    check_output,
    corpus_argument,
    deliver,
    jobs_option,
    matching_options,
    output_options,
    progress,
    protocol_option,
    runs_argument,
)

if TYPE_CHECKING:
    from karat.analyses.nearmiss import NearMiss

SUBSETS = ("all", "present", "absent", "P", "R", "M", "U")

EPILOG = """\b
Examples:
  karat nearmiss corpus.jsonl t5.jsonl
  karat nearmiss corpus.jsonl t5.jsonl one2set.jsonl --subset absent -f md
  karat nearmiss corpus.jsonl t5.jsonl --score kmr --threshold 0.4
  karat nearmiss corpus.jsonl t5.jsonl --every --all-pairs pairs.jsonl

The kinds are those of Kim (2010), location in the longer phrase, complexity
and words of the reference, and the relation of Zesch and Gurevych (2009).
"""


@click.command(epilog=EPILOG)
@corpus_argument
@runs_argument
@protocol_option
@click.option(
    "--score",
    "similarity",
    default="overlap",
    metavar="NAME[,option=value...]",
    help="How near two phrases are, as kmr or file:PATH (default overlap). See `karat list similarities`.",
    shell_complete=completion.similarities,
)
@click.option(
    "--threshold",
    type=float,
    metavar="T",
    help="Near is a score of at least T, from 0 to 1 (default: the phrases share a word).",
)
@click.option("--subset", type=click.Choice(SUBSETS), default="all", help="Which phrases are looked at (default all).")
@click.option("--cutoff", default="M", metavar="K", help="The first K predictions, or M, O, G (default M, all).")
@click.option("--every", is_flag=True, help="Every near reference of a prediction, not the nearest alone.")
@click.option("--both", is_flag=True, help="Tell phrases that hold first word and head from those that hold the head.")
@click.option("--examples", type=click.IntRange(0), default=3, metavar="N", help="Examples of each class (default 3).")
@click.option(
    "--all-pairs",
    metavar="FILE",
    help="Write every near miss to FILE as JSON lines, for people to judge: id, prediction, reference.",
    shell_complete=completion.paths,
)
@matching_options
@jobs_option
@output_options
def nearmiss(
    corpus: str,
    runs: tuple[str, ...],
    format_: str | None,
    output: str | None,
    quiet: bool,
    all_pairs: str | None,
    **options: Any,
) -> None:
    """Show what runs almost got, and what kind of near miss it is.

    A near miss is a prediction that is no hit but shares a word with a
    missed reference, or with --threshold has such a score with one. Counted
    by where the shared words stand, by what the reference is made of, and
    by how the two phrases are related, with examples.
    """
    check_output(format_, output, saves=False)
    check_file(all_pairs, "all_pairs")
    from karat.analyses.nearmiss import nearmiss as near_misses

    files = Files.of(options)
    protocols = options.pop("protocols")
    documents, systems = files.all(corpus, runs)
    with progress(quiet) as done, _writer(all_pairs) as pairs:
        found = near_misses(documents, *systems, protocol=protocols or "karat", progress=done, pairs=pairs, **options)
    deliver(found, format_, output, quiet)


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
