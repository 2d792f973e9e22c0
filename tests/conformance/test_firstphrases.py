"""firstphrases gives for real documents what tagging all of their sentences gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat import read
from karat.models.base import CommonOptions
from tests.models.test_firstphrases import expected, given


@pytest.mark.parametrize("corpus", ["inspec", "semeval", "kp20k.first1000"])
def test_real_documents_have_the_phrases_that_tagging_all_gives(shared: Path, corpus: str) -> None:
    for document in read(shared / "data" / f"{corpus}.jsonl.gz"):
        for common in (CommonOptions(), CommonOptions(n=3, stem=True, redundancy=True, title_weight=2.0)):
            assert repr(given(document, common)) == repr(expected(document, common)), document.id


@pytest.mark.spacy
def test_french_documents_have_the_phrases_that_tagging_all_gives(shared: Path) -> None:
    common = CommonOptions(language="french", redundancy=True)
    for document in list(read(shared / "data" / "termith-fr.jsonl.gz"))[:60]:
        assert repr(given(document, common)) == repr(expected(document, common)), document.id
