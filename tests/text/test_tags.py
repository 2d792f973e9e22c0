"""Word classes come with karat: no download, and no import before they are asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from karat.text import tags as module
from karat.text.tags import tags

ROOT = Path(__file__).parents[2]


def said(code: str, **environment: str) -> str:
    """What a Python process prints, every warning being an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")} | environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_examples_of_kim_have_the_classes_that_a_reader_gives_them() -> None:
    assert tags([["quality", "of", "service"]]) == [("NN", "IN", "NN")]
    assert tags([["partially", "observable", "markov", "decision", "process"]]) == [("RB", "JJ", "NN", "NN", "NN")]
    assert tags([["performance", "and", "scalability"]]) == [("NN", "CC", "NN")]


def test_every_token_has_one_tag_and_every_phrase_its_place() -> None:
    phrases = [["a"], [], ["neural", "networks"], ["a"]]
    found = tags(phrases)
    assert list(map(len, found)) == [1, 0, 2, 1]
    assert found[0] == found[3]


def test_unknown_words_are_judged_by_their_ending() -> None:
    assert tags([["glorbal"], ["glorbs"], ["glorbed"], ["glorb"]]) == [("JJ",), ("NNS",), ("VBN",), ("NN",)]


def test_each_distinct_phrase_is_tagged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def note(phrase: tuple[str, ...]) -> tuple[str, ...]:
        asked.append(phrase)
        return ("NN",) * len(phrase)

    monkeypatch.setattr(module, "_tags_of", note)
    tags([["deep", "net"], ["net"], ["deep", "net"]])
    assert asked == [("deep", "net"), ("net",)]


def test_nothing_is_downloaded(tmp_path: Path) -> None:
    code = "from karat.text.tags import tags; print(tags([['effective', 'algorithm']]))"
    nowhere = str(tmp_path / "nowhere")
    assert said(code, NLTK_DATA=nowhere, HOME=nowhere, PYTHONDONTWRITEBYTECODE="1") == "[('JJ', 'NN')]\n"


def test_the_tagger_is_imported_when_it_is_asked_for() -> None:
    loaded = "karat.text.tags, karat.similarity.classes, karat.analyses.nearmiss"
    code = f"import sys, {loaded}; print('textblob' in sys.modules)"
    assert said(code) == "False\n"
