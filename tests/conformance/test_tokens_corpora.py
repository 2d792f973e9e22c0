"""Sentences are those of Punkt and tokens those of spaCy on the real corpora, but for a few that are counted here."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from karat.text import spacy_tokens
from karat.text.punkt import sentences

CORPORA = [
    "inspec",
    "inspec.chan19",
    "inspec.chen20",
    "kp20k.first1000",
    "semeval",
    "semeval.chan19",
    "semeval.chen20",
    "stackexchange",
    "training/acm-cr.test",
    "training/acm-cr.valid",
    "training/papyrus-en.test",
]
FIELDS = ("title", "text", "fulltext")


def texts(shared: Path, name: str) -> Iterator[str]:
    with gzip.open(shared / "data" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for document in map(json.loads, lines):
            yield from (document[field] for field in FIELDS if document.get(field))


# ---------------------------------------------------------------------------------------------- Punkt


@pytest.fixture(scope="module")
def punkt() -> Iterator[Any]:
    """NLTK's Punkt with its English model, which the wheel of llama-index-core carries."""
    folder = os.environ.get("KARAT_PUNKT")
    if folder is None and find_spec("llama_index") and (found := find_spec("llama_index.core")) and found.origin:
        folder = str(Path(found.origin).parent / "_static" / "nltk_cache")
    if folder is None or not (Path(folder) / "tokenizers" / "punkt_tab" / "english").is_dir():
        pytest.skip(
            "NLTK's model punkt_tab is not there: pip install --no-deps llama-index-core, or name the folder that has "
            "tokenizers/punkt_tab in KARAT_PUNKT"
        )
    import nltk

    known = nltk.data.path
    nltk.data.path = [folder]
    yield nltk.tokenize.punkt.PunktTokenizer("english")
    nltk.data.path = known


def ends(found: list[str]) -> set[int]:
    """Where sentences end, in characters that are not white space."""
    at, places = 0, set()
    for sentence in found:
        at += len("".join(sentence.split()))
        places.add(at)
    return places


@pytest.mark.parametrize("name", CORPORA)
def test_sentences_end_where_punkt_ends_them(shared: Path, punkt: Any, name: str) -> None:
    both = either = 0
    for text in texts(shared, name):
        own, theirs = ends(sentences(text)), ends(punkt.tokenize(text))
        both += len(own & theirs)
        either += len(own | theirs)
    assert either > 800
    assert both / either >= 0.995


# ---------------------------------------------------------------------------------------------- spaCy

# Differences from spaCy, white space left out: `p.` in `: p.Ile69Thr`, where spaCy looks at `: p` first.
DIFFERENT = {"training/papyrus-en.test": 1}


@pytest.fixture(scope="module")
def spacy() -> Any:
    """spaCy's English tokenizer, hyphens within words being kept."""
    if find_spec("spacy") is None:
        pytest.skip("spaCy is not there: pip install 'karat[spacy]'")
    from spacy import blank, util
    from spacy.lang import char_classes

    letters, lower, upper = char_classes.ALPHA, char_classes.ALPHA_LOWER, char_classes.ALPHA_UPPER
    quotes = char_classes.CONCAT_QUOTES
    infixes = [
        *char_classes.LIST_ELLIPSES,
        *char_classes.LIST_ICONS,
        r"(?<=[0-9])[+\-\*^](?=[0-9-])",
        rf"(?<=[{lower}{quotes}])\.(?=[{upper}{quotes}])",
        rf"(?<=[{letters}]),(?=[{letters}])",
        rf"(?<=[{letters}0-9])[:<>=/](?=[{letters}])",
    ]
    tokenizer = blank("en").tokenizer
    tokenizer.infix_finditer = util.compile_infix_regex(infixes).finditer
    return tokenizer


@pytest.mark.parametrize("name", CORPORA)
def test_tokens_are_those_of_spacy(shared: Path, spacy: Any, name: str) -> None:
    different = 0
    for text in texts(shared, name):
        theirs = [token.text for token in spacy(text) if not token.is_space]
        different += theirs != spacy_tokens.tokens(text)
    assert different == DIFFERENT.get(name, 0)
