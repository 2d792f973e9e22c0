"""Sentences and tokens are those of NLTK with Punkt and of spaCy, on made sentences and on the demo's documents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from karat.text import spacy_tokens
from karat.text.punkt import sentences
from karat.text.tokens import tokenizer

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

MADE = [json.loads(line) for line in (GOLDEN / "tokens.jsonl").read_text(encoding="utf-8").splitlines()]
DEMO = [json.loads(line) for line in gzip.decompress((GOLDEN / "tokens.demo.jsonl.gz").read_bytes()).splitlines()]


@pytest.mark.parametrize("made", MADE, ids=lambda made: made["text"][:40])
def test_made_sentences_are_cut_alike(made: dict[str, Any]) -> None:
    assert sentences(made["text"]) == made["sentences"]
    assert tokenizer("nltk")(made["text"]) == made["nltk"]
    assert tokenizer("spacy")(made["text"]) == made["spacy"]


def test_the_documents_of_the_demo_are_cut_alike() -> None:
    assert len(DEMO) == 120
    for found in DEMO:
        assert sentences(found["text"]) == found["sentences"]
        assert tokenizer("nltk")(found["text"]) == found["nltk"]
        assert tokenizer("spacy")(found["text"]) == found["spacy"]


@pytest.mark.parametrize("text", ["", "   ", ".", "...", "?!", "a.", ". .", "a. ", "(a.)", '"', "\n.\n", "x.\u00a0Y"])
def test_sentences_hold_all_of_a_text_but_white_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["(" * 3000 + "x" + ")" * 3000, "." * 5000, "a." * 3000, "a@" * 3000, ":)" * 2000])
def test_a_long_string_without_spaces_is_cut_too(text: str) -> None:
    assert "".join(spacy_tokens.tokens(text)) == text
    assert "".join(sentences(text)) == text
