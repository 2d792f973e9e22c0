"""karat score: the scores of runs against a corpus."""

from __future__ import annotations

from karat.cli.shared import corpus_verb, development_files, development_flags

EPILOG = """\b
Examples:
  karat score corpus.jsonl t5.jsonl one2set.jsonl
  karat score inspec.jsonl.gz t5=runs/t5.jsonl.gz --protocol chan2019 \\
      --protocol kpdrop2022,pad=k -m f1@5:present -m f1@M:absent -f json
  karat score test_src.txt+test_trg.txt predictions.txt --protocol ye2021
  karat score corpus.jsonl predictions.csv \\
      --fields "run:id=doc,keyphrases=preds,separator=;"
  karat score corpus.jsonl run.jsonl --shard 3/16 -o part3.karat

A METRIC is NAME[@CUTOFF][:SUBSET][/AVERAGE][,option=value...]: a cutoff is a
number, M, O, G or V, a subset all, present, absent, P, R, M or U.

CORPUS and RUN are PATH or NAME=PATH; `-` is standard input. Parallel files
are joined by `+`.
"""


@corpus_verb("score", epilog=EPILOG, extra=development_files, saves=True)
@development_flags
def score() -> None:
    """Score runs against a corpus.

    Without -m: F1 at 5, M and O for present, absent and all phrases, in the
    protocol's own average.
    """
