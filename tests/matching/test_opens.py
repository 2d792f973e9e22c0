"""How often a verb opens a corpus: once to see what it is, and once for each time that it has to be read."""

from __future__ import annotations

import ast
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from karat.corpus import AHEAD
from karat.formats.files import BLOCK_BYTES

DOCUMENTS = 320
PADDING = "x" * (AHEAD * BLOCK_BYTES // DOCUMENTS + 9000)  # of a field that is not read
WORDS = ["bees", "swarms", "nets", "trees", "graphs", "suns", "roads"]

# Runs the command and prints, last of all, how often files were opened, and standard input was read.
WATCHED = """
import atexit, os, sys
from collections import Counter

opened, process = Counter(), os.getpid()

def note(event, given):
    if event == "open" and os.getpid() == process and isinstance(given[0], (str, bytes, os.PathLike)):
        opened[os.path.basename(os.fsdecode(given[0]))] += 1

class Input:
    def __init__(self, source):
        self.buffer, self.source = self, source

    def read(self, *given):
        found = self.source.read(*given)
        opened["-"] += not given or not found  # once for each time that its end is met
        return found

    def isatty(self):
        return False

    def close(self):  # by each process that is forked
        self.source.close()

sys.stdin = Input(sys.stdin.buffer)
sys.addaudithook(note)
atexit.register(lambda: print(dict(opened), file=sys.stderr))
from karat.cli import main
main()
"""


def document(n: int, padding: str) -> dict[str, Any]:
    words = [WORDS[(n * k) % len(WORDS)] for k in range(1, 5)]
    own = " ".join(f"w{n}x{k}" for k in range(12))  # no two documents are nearly the same
    return {"id": f"d{n}", "text": f"Of {' '.join(words)} and {own}.", "keyphrases": words[:2], "more": padding}


def prediction(n: int, shift: int) -> dict[str, Any]:
    phrases = [WORDS[(n + k * shift) % len(WORDS)] for k in range(3)]
    return {"id": f"d{n}", "keyphrases": phrases, "token_probs": [[0.5 + k / 8] for k in range(3)]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of more batches than are kept, plain and compressed, a small one, and runs."""
    made = tmp_path_factory.mktemp("opens")
    for name, padding in (("large", PADDING), ("small", "")):
        lines = "".join(json.dumps(document(n, padding)) + "\n" for n in range(DOCUMENTS))
        (made / f"{name}.jsonl").write_text(lines)
    content = (made / "large.jsonl").read_bytes()
    assert len(content) > (AHEAD + 1) * BLOCK_BYTES
    (made / "large.jsonl.gz").write_bytes(gzip.compress(content, 1))
    for name, shift in (("a", 1), ("b", 2)):
        lines = "".join(json.dumps(prediction(n, shift)) + "\n" for n in range(DOCUMENTS))
        (made / f"{name}.jsonl").write_text(lines)
    pairs = "".join(json.dumps({"a": f"d{n}", "b": f"d{n + 1}"}) + "\n" for n in range(0, 40, 2))
    (made / "pairs.jsonl").write_text(pairs)
    (made / "made.jsonl").write_text(json.dumps({"id": "d1~x", "source": "d1", "text": "Of bees."}) + "\n")
    (made / "figures.json").write_text(json.dumps([{"metric": "f1@M", "value": "0.31"}]))
    return made


def opened(folder: Path, *words: str, given: bytes = b"") -> tuple[dict[str, int], str]:
    """(how often a command opened each file, what it wrote)."""
    source = str(Path(__file__).parents[2] / "src")
    finished = subprocess.run(
        [sys.executable, "-c", WATCHED, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": source, "PYTHONIOENCODING": "utf-8"},
        input=given,
        capture_output=True,
        check=False,
    )
    told = finished.stderr.decode().splitlines()
    assert finished.returncode == 0, told
    return ast.literal_eval(told[-1]), finished.stdout.decode()


# One opening is to see what the file is. A constant that is fitted takes a reading more, a portrait looks through the
# references before it looks for them in the texts, and pairs of documents are found before all runs are read.
READINGS = {
    "score": (["score", "{0}", "a.jsonl"], 1),
    "score fitted": (["score", "{0}", "a.jsonl", "-m", "f1@V"], 2),
    "overlap": (["overlap", "{0}", "a.jsonl", "b.jsonl"], 1),
    "nearmiss": (["nearmiss", "{0}", "a.jsonl"], 1),
    "confidence": (["confidence", "{0}", "a.jsonl"], 1),
    "compare": (["compare", "{0}", "a.jsonl", "b.jsonl", "--resamples", "20"], 1),
    "describe": (["describe", "{0}", "a.jsonl"], 2),
    "report": (["report", "{0}", "a.jsonl", "b.jsonl", "--resamples", "20", "-o", "page.html"], 2),
    "homogeneity": (["homogeneity", "{0}", "pairs.jsonl", "a.jsonl", "b.jsonl", "--resamples", "20"], 2),
    "mine": (["pairs", "mine", "{0}", "-o", "mined.jsonl"], 1),
    "filter": (["pairs", "filter", "{0}", "made.jsonl"], 1),
    "show": (["run", "show", "--id", "d7", "{0}", "a.jsonl"], 1),
    "ensemble": (["run", "ensemble", "a.jsonl", "b.jsonl", "--corpus", "{0}", "-o", "both.jsonl"], 1),
    "reproduce": (["reproduce", "{0}", "a.jsonl", "--reported", "figures.json", "--budget", "40"], 2),
}


@pytest.mark.parametrize("verb", READINGS)
def test_a_verb_opens_a_large_corpus_once_to_see_it_and_once_a_reading(verb: str, folder: Path) -> None:
    words, readings = READINGS[verb]
    found, _ = opened(folder, *(word.format("large.jsonl") for word in words), *([] if verb == "show" else ["-q"]))
    assert found["large.jsonl"] <= 1 + readings


@pytest.mark.parametrize("verb", ["score", "score fitted", "describe"])
def test_a_compressed_corpus_is_opened_as_often_as_a_plain_one(verb: str, folder: Path) -> None:
    words, readings = READINGS[verb]
    found, _ = opened(folder, *(word.format("large.jsonl.gz") for word in words), "-q")
    assert found["large.jsonl.gz"] <= 1 + readings


@pytest.mark.parametrize("verb", ["overlap", "describe", "report", "homogeneity", "reproduce", "ensemble"])
def test_small_files_are_opened_once_to_be_seen_and_once_to_be_read(verb: str, folder: Path) -> None:
    words, _ = READINGS[verb]
    found, _ = opened(folder, *(word.format("small.jsonl") for word in words), "-q")
    assert found["small.jsonl"] <= (3 if verb == "homogeneity" else 2)  # which looks at nothing ahead
    assert found["a.jsonl"] <= (3 if verb == "report" else 2)  # which has a verb that is of runs alone


def test_standard_input_is_read_once_and_scored_as_its_file_is(folder: Path) -> None:
    content = (folder / "large.jsonl").read_bytes()
    for more in ([], ["-m", "f1@V"]):
        found, told = opened(folder, "score", "-", "a.jsonl", "-f", "json", "-q", *more, given=content)
        _, of_file = opened(folder, "score", "large.jsonl", "a.jsonl", "-f", "json", "-q", *more)
        assert found["-"] == 1
        assert values(told) == values(of_file)


def values(told: str) -> list[float]:
    return [row["value"] for row in json.loads(told)["rows"]]
