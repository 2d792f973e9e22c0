"""Measures that no figure is at hand for, against plain loops over real predictions, written from what scripts do."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nltk.stem import PorterStemmer
from scipy.optimize import linear_sum_assignment

import karat

stem = PorterStemmer().stem
Stems = tuple[str, ...]


def lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def stems(text: str) -> Stems:
    return tuple(stem(token) for token in text.lower().split())


def stands_in(phrase: Stems, text: Stems) -> bool:
    return any(text[i : i + len(phrase)] == phrase for i in range(len(text) - len(phrase) + 1))


def read(corpus: Path, run: Path) -> Iterator[dict[str, tuple[list[Stems], list[Stems]]]]:
    """Of each document, by subset, the valid predictions without repeats and the references with them."""
    predicted = {line["id"]: line["keyphrases"] for line in lines(run)}
    for line in lines(corpus):
        text = stems(f"{line['title']} . {line['text']}")
        given = [phrase for phrase in predicted[line["id"]] if not {"<unk>", ",", "."} & set(phrase.split())]
        predictions = list(dict.fromkeys(phrase for phrase in map(stems, given) if phrase))
        references = [stems(phrase) for phrase in line["keyphrases"]]
        both = (predictions, references)
        present = tuple([phrase for phrase in phrases if stands_in(phrase, text)] for phrases in both)
        absent = tuple([phrase for phrase in phrases if not stands_in(phrase, text)] for phrases in both)
        yield {"all": both, "present": (present[0], present[1]), "absent": (absent[0], absent[1])}


def partial(predictions: list[Stems], references: list[Stems]) -> float:
    """The sum of the Jaccard indices of words and pairs of words, in the pairing where it is largest."""
    if not predictions or not references:
        return 0.0
    grams = [[{*phrase, *map("_".join, pairwise(phrase))} for phrase in each] for each in (predictions, references)]
    worth = np.array([[len(a & b) / len(a | b) for b in grams[1]] for a in grams[0]])
    return float(worth[linear_sum_assignment(-worth)].sum())


def measured(predictions: list[Stems], references: list[Stems]) -> dict[str, float]:
    """What the script prints of one document; 0 without references."""
    n, found = len(references), [phrase in references for phrase in predictions]
    scores: dict[str, float] = defaultdict(float)
    for name, k in (("5", 5), ("10", 10), ("O", n), ("M", len(predictions))):
        worth, below = partial(predictions[:k], references), len(predictions[:k])
        p, r = worth / below if below else 0.0, worth / n if n else 0.0
        scores |= {f"partial_p@{name}": p, f"partial_r@{name}": r}
        scores[f"partial_f1@{name}"] = 2 * p * r / (p + r) if p + r else 0.0
    curve = [(0.0, 1.0)] + [(sum(found[:i]) / n if n else 0.0, sum(found[:i]) / i) for i in range(1, len(found) + 1)]
    scores["pr_auc"] = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(curve))
    gains = (1.0 if rank <= n else 1 / log2(rank - n + 2) for rank, hit in enumerate(found, start=1) if hit)
    scores["sadr"] = sum(gains) / n if n else 0.0
    return scores


@pytest.mark.parametrize(("name", "system"), [("inspec", "t5"), ("semeval", "one2set")])
def test_partial_matching_area_and_discounted_recall_are_those_of_plain_loops(
    shared: Path, name: str, system: str
) -> None:
    corpus = shared / "data" / f"{name}.chan19.jsonl.gz"
    run = shared / "data" / "predictions" / name / f"{system}.jsonl.gz"
    each = list(read(corpus, run))
    expected: dict[str, float] = {}
    for subset in ("all", "present", "absent"):
        scores = [measured(*document[subset]) for document in each]
        expected |= {f"{metric}:{subset}": float(np.mean([s[metric] for s in scores])) for metric in scores[0]}
    found = karat.score(corpus, run, metrics=list(expected), protocol="meng2021,tokenizer=split")
    assert [row["value"] for row in found.rows()] == pytest.approx(list(expected.values()), abs=1e-9)


def test_repeats_in_the_slots_of_exhird_are_those_of_plain_loops(shared: Path) -> None:
    run = shared / "data" / "predictions" / "inspec" / "confidence" / "exhird.jsonl.gz"
    expected = {}
    for kind in ("present", "absent"):
        slots = [
            [phrase for phrase, own in zip(line["keyphrases"], line["kinds"], strict=True) if own == kind]
            for line in lines(run)
        ]
        ratios = [(len(phrases) - len(set(phrases))) / len(phrases) for phrases in slots if phrases]
        expected[f"duplicate_ratio:{kind}"] = float(np.mean(ratios))
    corpus = shared / "data" / "inspec.chen20.jsonl.gz"
    found = karat.score(corpus, run, metrics=list(expected), protocol="chen2020")
    assert [row["value"] for row in found.rows()] == pytest.approx(list(expected.values()), abs=1e-12)
    assert min(expected.values()) > 0
