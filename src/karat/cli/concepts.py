"""karat concepts: precision and recall of each concept of a vocabulary."""

from karat.cli.shared import corpus_verb

EPILOG = """\b
Examples:
  karat concepts corpus.jsonl t5.jsonl --vocabulary thesaurus.ttl
  karat concepts corpus.jsonl t5.jsonl one2set.jsonl --cutoff 5 \\
      --vocabulary thesaurus.rdf,language=en --worst 50 -f csv
  karat score corpus.jsonl t5.jsonl --vocabulary thesaurus.ttl \\
      -m f1@5 -m hier_f@5 -m soft_f@5,score=concept,credit=0.5

`karat vocabulary map --help` lists the options of a vocabulary. JSON has all
concepts that are never assigned, and CSV a row for each concept.
"""


@corpus_verb("concepts", epilog=EPILOG)
def concepts() -> None:
    """Show precision and recall of each concept of a vocabulary.

    Phrases are the concepts of which they are labels. Shows micro and macro
    averages, the most frequent concepts, and those that are never assigned.
    """
