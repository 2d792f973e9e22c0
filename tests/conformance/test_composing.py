"""Examples composed of real documents, against comparing every two of them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import msgspec

from karat.formats import read
from karat.models.generators.composing import composed
from tests.models.generators.test_composing import check


def test_partners_among_2000_real_documents_are_those_that_comparing_all_finds(shared: Path) -> None:
    some = islice(read(shared / "data" / "training" / "acm-cr.train.jsonl.gz"), 2000)
    documents = [msgspec.structs.replace(each, id=f"d{n}", title=f"title {n}") for n, each in enumerate(some)]
    check(documents)
    assert len(documents) == 2000
    assert len(list(composed(documents, "english", 0))) > 10
