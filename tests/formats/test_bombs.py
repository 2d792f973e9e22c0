"""A small file that would become large is refused, in one sentence and in little memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bombs import BOMBS, COUNTS, Bomb, explode

QUICK = (
    "line.jsonl.zst",
    "references.jsonl.gz",
    "phrases.jsonl.gz",
    "entry.json.gz",
    "joined.jsonl.gz",
    "phrases.csv.gz",
    "lines.txt.gz",
    "variants.final.gz",
    "lines.ris.gz",
    "tokens.xml.gz",
    "tokens.jsonl.gz",
    "columns.trec.gz",
    "second.jsonl.gz",
    "levels.jsonl",
    "digits.jsonl",
    "laughs.xml",
    "pages.pdf",
    "drawn.pdf",
    "words.docx",
)


@pytest.mark.parametrize("bomb", [each for each in BOMBS if each.name in QUICK], ids=lambda each: each.name)
def test_a_bomb_is_refused_in_one_sentence_and_in_little_memory(bomb: Bomb, tmp_path: Path) -> None:
    found = explode(bomb, tmp_path)

    assert found.code == 2, found.sentence
    assert len(found.sentence.splitlines()) == 1
    assert found.sentence.startswith(f"karat: {bomb.name}:")
    assert f"--limit {bomb.limit}=" in found.sentence or not bomb.limit
    assert found.megabytes < (300 if bomb in COUNTS else 500)


def test_every_quick_bomb_is_there() -> None:
    assert {each.name for each in BOMBS} >= set(QUICK)
