"""karat vocabulary map, karat vocabulary show: concepts of a controlled vocabulary."""

from __future__ import annotations

from typing import Any

import click

import karat
from karat.cli import completion
from karat.cli.flags import verb, verbs
from karat.cli.shared import (
    Files,
    Output,
    claim,
    deliver,
    echo_notes,
    format_option,
    output_flags,
    progress,
    quiet_option,
    reading_flags,
)

MAP_EPILOG = """\b
Examples:
  karat vocabulary map t5.jsonl --vocabulary thesaurus.ttl -o mapped.jsonl
  karat vocabulary map t5.jsonl --vocabulary terms.txt
  karat vocabulary map t5.jsonl -o concepts.jsonl --phrases preferred \\
      --vocabulary thesaurus.rdf.gz,language=en,similar=0.9,unmapped=drop

\b
Options of a vocabulary, behind its file:
  language=en     labels of this language alone
  similar=0.9     a phrase that is no label is the label that is most like it
  model=NAME      what is like: vectors of an embedder, not letters
  unmapped=drop   phrases that are no concepts are left out, not kept

The run gets `concepts`, the URI of each phrase, and `concepts_by`: exact, stem
or similar.
"""

SHOW_EPILOG = """\b
Examples:
  karat vocabulary show thesaurus.ttl
  karat vocabulary show thesaurus.rdf,language=de -f json
  karat vocabulary show terms.txt --worst 0 -f md

SKOS is read from Turtle (.ttl), N-Triples (.nt), RDF/XML (.rdf, .xml) and
JSON-LD (.jsonld), also compressed; anything else is a list, a term a line with
its variants behind it after tabs.
"""


@click.group("vocabulary", commands=verbs())
def vocabulary_group() -> None:
    """Work on controlled vocabularies."""


@verb("map_concepts", name="map", epilog=MAP_EPILOG)
@click.argument("run", shell_complete=completion.paths)
@reading_flags
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the run with its concepts to FILE; its suffix chooses the format.",
    shell_complete=completion.new_paths,
)
@click.option(
    "--to", metavar="FORMAT", help="Format of the run (default: by the suffix).", shell_complete=completion.formats
)
@click.option("--lossy", is_flag=True, help="Write what fits even if something is lost, and say what.")
@format_option
@quiet_option
def map_run(
    run: str, output: str | None, to: str | None, lossy: bool, format_: str | None, quiet: bool, **options: Any
) -> None:
    """Map the phrases of a run to the concepts of a vocabulary.

    Shows how many phrases are labels of concepts, as they are written or by
    their stems, and the most frequent that are none. With -o, the run is
    written with the URI of each phrase.
    """
    if output is not None:
        claim(output)
    files = Files.of(options)
    given = files.run(run)
    files.check()
    found = karat.map_concepts(given, **options)
    lost: list[str] = []
    if output is not None:
        with progress(quiet) as done:
            lost = karat.write(found.run, output, format=to, lossy=lossy, progress=done)
    deliver(found, format_, None, quiet)
    if not quiet:
        echo_notes(f"lost: {what}" for what in lost)


@verb("show_vocabulary", name="show", epilog=SHOW_EPILOG)
@click.argument("vocabulary", metavar="FILE[,option=value...]", shell_complete=completion.paths)
@output_flags
def show_vocabulary(vocabulary: str, **options: Any) -> None:
    """Show what a vocabulary is like.

    Concepts, labels by language, the depth of the hierarchy, labels that
    several concepts have, and cycles.
    """
    output = Output.of(options)
    output.deliver(karat.show_vocabulary(vocabulary, **options))


for command in (map_run, show_vocabulary):
    vocabulary_group.add_command(command)
