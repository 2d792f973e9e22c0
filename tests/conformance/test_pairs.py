"""Pairs of real documents, and how homogeneous released systems are on them, against counts made without karat."""

from __future__ import annotations

import gzip
import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nltk.stem import PorterStemmer

import karat

TOKEN = re.compile(r"\w+(?:-\w+)*|[^\w\s]")


def lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize(("stem", "figures"), [(False, (8, 14)), (True, (10, 16))])
def test_inspec_has_the_pairs_that_were_counted(shared: Path, stem: bool, figures: tuple[int, int]) -> None:
    found = karat.mine_pairs(shared / "data" / "inspec.jsonl.gz", min=0.2, stem=stem)
    assert (len(found), found.documents) == figures


@pytest.mark.parametrize("name", ["inspec.jsonl.gz", "kp20k.first1000.jsonl.gz"])
@pytest.mark.parametrize("measure", ["jaccard", "max"])
def test_mining_finds_what_comparing_every_two_documents_finds(shared: Path, name: str, measure: str) -> None:
    documents = lines(shared / "data" / name)
    sets = [{" ".join(phrase.lower().split()) for phrase in document["keyphrases"]} for document in documents]
    expected = set()
    for (i, one), (j, other) in combinations(enumerate(sets), 2):
        common = len(one & other)
        if common and one != other:
            below = max(len(one), len(other)) if measure == "max" else len(one) + len(other) - common
            if 10 * common >= below:
                expected.add((documents[i]["id"], documents[j]["id"]))
    found = karat.mine_pairs(shared / "data" / name, min=0.1, measure=measure)  # type: ignore[arg-type]
    assert {(row["a"], row["b"]) for row in found.rows()} == expected
    assert len(expected) > 50


def test_pairs_at_lower_thresholds_are_as_many_as_comparing_every_two_documents_finds(shared: Path) -> None:
    documents = lines(shared / "data" / "inspec.jsonl.gz")
    sets = [{" ".join(phrase.lower().split()) for phrase in document["keyphrases"]} for document in documents]
    shares = np.array([len(one & other) / len(one | other) for one, other in combinations(sets, 2) if one != other])
    found = karat.mine_pairs(shared / "data" / "inspec.jsonl.gz")
    assert found.lower == ((0.4, 3), (0.3, 4), (0.2, 8), (0.15, 17), (0.1, 64))
    assert [count for _, count in found.lower] == [int((shares >= least - 1e-9).sum()) for least, _ in found.lower]


@pytest.mark.parametrize("system", ["t5", "one2set"])
def test_homogeneity_is_that_of_plain_sets_of_nltk_stems(shared: Path, system: str) -> None:
    corpus = shared / "data" / "inspec.chan19.jsonl.gz"
    path = shared / "data" / "predictions" / "inspec" / f"{system}.jsonl.gz"
    pairs = karat.mine_pairs(corpus, min=0.1, stem=True)
    stem = PorterStemmer().stem
    phrases = {
        line["id"]: {
            " ".join(stem(token) for token in TOKEN.findall(phrase.lower()))
            for phrase in line["keyphrases"]
            if "<unk>" not in phrase and any(map(str.isalnum, phrase))
        }
        for line in lines(path)
    }
    words = {
        i: {word for phrase in each for word in phrase.split() if any(map(str.isalnum, word))}
        for i, each in phrases.items()
    }
    [row] = karat.homogeneity(corpus, pairs, path, resamples=99).rows()
    for name, sets in (("hooper", phrases), ("rodgers", words)):
        both = [(sets[pair["a"]], sets[pair["b"]]) for pair in pairs.rows()]
        values = [len(a & b) / len(a | b) for a, b in both if a or b]
        assert row[name] == pytest.approx(np.mean(values))
    assert row["pairs"] == len(pairs)
