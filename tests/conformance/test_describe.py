"""Portraits of real corpora, against figures of papers and counts made without karat."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from nltk.stem import PorterStemmer

import karat

POSITIONS = {
    ("inspec", "kundu2023"): [1199, 759, 631, 547, 496],
    ("semeval", "kundu2023"): [325, 123, 86, 71, 44],
    ("inspec", "kundu2023,present=tokens"): [1189, 753, 629, 549, 497],
    ("semeval", "kundu2023,present=tokens"): [315, 117, 83, 68, 42],
    # Kundu's Table 3, which divides by the length of the text as it is given.
    ("inspec", "kundu2023,position=raw"): [1326, 845, 686, 602, 173],
    ("semeval", "kundu2023,position=raw"): [346, 126, 103, 54, 20],
}


@pytest.mark.parametrize(("name", "protocol"), POSITIONS)
def test_present_references_are_in_the_parts_that_were_counted(shared: Path, name: str, protocol: str) -> None:
    [row] = karat.describe(shared / "data" / f"{name}.chan19.jsonl.gz", protocol=protocol).rows()
    assert row["positions"] == POSITIONS[name, protocol]


def test_the_classes_of_inspec_are_those_of_boudin_and_gallina(shared: Path) -> None:
    [row] = karat.describe(shared / "data" / "inspec.jsonl.gz").rows()
    assert [round(100 * row[name], 2) for name in "PRMU"] == [78.81, 9.88, 6.54, 4.77]
    assert [round(100 * row[f"{name}_corpus"], 2) for name in "PRMU"] == [78.30, 10.34, 6.51, 4.84]


@pytest.mark.parametrize(
    ("name", "language", "stemmed"),
    [("inspec", "english", False), ("semeval", "english", True), ("termith-fr", "french", False)],
)
def test_languages_and_stemmed_references_are_told(shared: Path, name: str, language: str, stemmed: bool) -> None:
    found = karat.describe(shared / "data" / f"{name}.jsonl.gz")
    assert found.texts.language == language
    assert any("stemmed already" in warning for warning in found.warnings) == stemmed


def test_miss_rates_are_those_of_plain_loops_over_nltk_stems(shared: Path) -> None:
    stem = PorterStemmer().stem

    def stems(text: str) -> str:
        return " ".join(map(stem, text.lower().split()))

    corpus, run = (shared / "data" / name for name in ("inspec.chan19.jsonl.gz", "predictions/inspec/one2set.jsonl.gz"))
    with gzip.open(corpus, "rt") as one, gzip.open(run, "rt") as other:
        predicted = {line["id"]: set(map(stems, line["keyphrases"])) for line in map(json.loads, other)}
        there, missed = [0] * 5, [0] * 5
        for line in map(json.loads, one):
            text = f"{stems(line['title'])} <eos> {stems(line['text'])}"
            for phrase in map(stems, line["keyphrases"]):
                if phrase in text:
                    part = min(4, 5 * text.index(phrase) // len(text))
                    there[part] += 1
                    missed[part] += phrase not in predicted[line["id"]]
    row = karat.describe(corpus, run, protocol="kundu2023").rows()[1]
    assert row["miss_rate"] == pytest.approx([m / t for m, t in zip(missed, there, strict=True)])
