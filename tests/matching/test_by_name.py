"""References of SemEval are known by the name or the path of their corpus, and a note says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat

DOCUMENT = {"id": "1", "text": "the servic qualiti of networks", "keyphrases": ["servic qualiti", "networks"]}
RUN = karat.Run.of([{"id": "1", "keyphrases": ["service quality", "network"]}])
NOTE = "`semeval` is in its name or path"


def scored(corpus: str | Path | karat.Corpus, protocol: str) -> tuple[float, list[str]]:
    found = karat.score(corpus, RUN, metrics=["r@M"], protocol=protocol)
    return found.rows()[0]["value"], [note for note in found.as_dict()["notes"] if NOTE in note]


@pytest.mark.parametrize("protocol", ["chen2020", "kpdrop2022", "thomas2024"])
@pytest.mark.parametrize(
    "path", ["SemEval-2010.jsonl", "semeval2010.jsonl", "data/SemEval/test.jsonl", "word_SEMEVAL_testing.jsonl"]
)
def test_semeval_is_found_in_any_part_of_the_path_and_in_any_case(tmp_path: Path, path: str, protocol: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    value, notes = scored(file, protocol)
    assert value == 0.5  # `networks` is not stemmed, so `network` is not found
    assert notes == [f"{file.stem}: {NOTE}, so {protocol} takes its references as stemmed already (references=by-name)"]


@pytest.mark.parametrize("protocol", ["chen2020", "kpdrop2022", "thomas2024"])
@pytest.mark.parametrize(("name", "expected"), [("SemEval-2010", 0.5), ("semeval.chan19", 0.5), ("inspec", 1.0)])
def test_a_corpus_in_memory_is_known_by_its_name(name: str, expected: float, protocol: str) -> None:
    value, notes = scored(karat.Corpus.of([DOCUMENT], name), protocol)
    assert value == expected
    assert bool(notes) == (expected == 0.5)


@pytest.mark.parametrize("protocol", ["karat", "chan2019", "chen2020,references=stem"])
def test_nothing_is_said_where_the_name_has_no_say(protocol: str) -> None:
    assert scored(karat.Corpus.of([DOCUMENT], "semeval"), protocol) == (1.0, [])


def test_describe_says_it_too() -> None:
    corpus = karat.Corpus.of([DOCUMENT], "semeval")
    assert any(NOTE in note for note in karat.describe(corpus, protocol="kpdrop2022").remarks)
    assert not any(NOTE in note for note in karat.describe(corpus).remarks)
