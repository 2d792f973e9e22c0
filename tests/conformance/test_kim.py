"""Kim and others (2010): on real pairs in which one phrase holds the other, three of the seven measures order alike.

The scores of the paper's four annotators are not at hand.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import karat
from karat.analyses.nearmiss import NearMiss
from karat.similarity import compare


@pytest.mark.parametrize(("corpus", "pairs"), [("semeval", 285), ("inspec", 1653)])
def test_overlap_bleu_and_rouge_order_the_near_misses_of_two_systems_alike(
    shared: Path, corpus: str, pairs: int
) -> None:
    found: list[NearMiss] = []
    folder = shared / "data" / "predictions" / corpus
    runs = [folder / f"{name}.jsonl.gz" for name in ("t5", "one2set")]
    documents = shared / "data" / f"{corpus}.chan19.jsonl.gz"
    karat.nearmiss(documents, *runs, relation="include,part-of", every=True, pairs=found.extend)
    distinct = list(dict.fromkeys((each.id, each.prediction, each.reference) for each in found))
    assert len(distinct) == pairs
    ranks = {
        name: stats.rankdata([round(compare(name, *pair[1:]), 10) for pair in distinct])
        for name in ("overlap", "bleu", "rouge1", "overlap_head")
    }
    assert np.array_equal(ranks["overlap"], ranks["bleu"])
    assert np.array_equal(ranks["overlap"], ranks["rouge1"])
    assert stats.spearmanr(ranks["overlap"], ranks["overlap_head"]).statistic < 0.7
