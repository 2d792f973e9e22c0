"""71,482 real documents, scored and paired in five ways: the same digits and the same pairs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import karat
from tests.spark.commands import CLUSTER, on_spark, outcome, run_command

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from karat.spark import session

    found = session("local[2]")
    yield found
    found.stop()


@pytest.fixture(scope="module")
def corpus(shared: Path) -> Path:
    return shared / "data" / "training" / "acm-cr.train.jsonl.gz"


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Predictions for all documents: every other reference, the words of the title, and some of the text."""
    path = tmp_path_factory.mktemp("acm") / "run.jsonl"
    with path.open("wb") as file:
        for document in karat.read(corpus):
            words = (document.title or "").split()
            said = [*(document.keyphrases or [])[::-2], *(" ".join(words[n : n + 2]) for n in range(0, len(words), 2))]
            file.write(
                msgspec.json.encode({"id": document.id, "keyphrases": [*said, (document.text or "")[:30]]}) + b"\n"
            )
    return path


def test_scores_are_the_same_in_five_ways(corpus: Path, run: Path, tmp_path: Path, spark: Any) -> None:
    words = ["score", str(corpus), str(run), "-m", "f1@5:present", "-m", "f1@M:absent", "-m", "map@10", "-f", "json"]
    here = outcome([*words, "-j", "1"]).stdout
    assert outcome([*words, "-j", "2"]).stdout == here
    assert on_spark(words).stdout == here
    found = run_command(*words, "--engine", CLUSTER)
    assert found.returncode == 0, found.stderr
    assert found.stdout == here
    parts = [tmp_path / f"{n}.karat" for n in range(1, 17)]
    for n, part in enumerate(parts, 1):
        outcome([*words[:-2], "--shard", f"{n}/16", "-o", str(part), "-j", "2"])
    assert outcome(["results", "merge", *map(str, parts), "-f", "json"]).stdout == here


def test_pairs_are_the_same_in_four_ways(corpus: Path, spark: Any) -> None:
    words = ["pairs", "mine", str(corpus), "--stem", "--min", "0.4"]
    here = outcome([*words, "-j", "1"]).stdout
    assert here.count("\n") > 1000
    assert outcome([*words, "-j", "2"]).stdout == here
    assert on_spark(words).stdout == here
    found = run_command(*words, "--engine", CLUSTER)
    assert found.returncode == 0, found.stderr
    assert found.stdout == here
