"""A made corpus and a session of Spark that all tests here share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.made_corpus import write_corpus
from tests.spark.commands import Files

DOCUMENTS = 5000


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """A made corpus, its run, and another run: the same phrases the other way round, in another order of documents."""
    made = write_corpus(tmp_path_factory.mktemp("made"), DOCUMENTS)
    lines = [json.loads(line) for line in made.run.read_text(encoding="utf-8").splitlines()]
    other = made.run.with_name("other.jsonl")
    turned = [json.dumps({**each, "keyphrases": each["keyphrases"][::-1]}) for each in reversed(lines)]
    other.write_text("\n".join(turned) + "\n", encoding="utf-8")
    return made.corpus, made.run, other


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session of this process."""
    from karat.spark import session

    found = session("local[2]")
    yield found
    found.stop()
