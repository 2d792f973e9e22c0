"""The study of examples/papers on the bundled abstracts: it trains, is stopped, goes on, and makes all its tables."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import karat  # noqa: E402
from karat.corpus import Corpus, Document  # noqa: E402
from tests.pairs.test_synonyms import INDEX, IRREGULAR  # noqa: E402
from tests.waiting import until  # noqa: E402

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "src" / "karat" / "demo" / "corpus.jsonl"
TABLES = (
    "What was trained",
    "All systems on acm-cr",
    "All systems on acm-cr and Inspec",
    "Homogeneity: Inspec and its reformulations (Table 2)",
    "Homogeneity: documents that share a quarter of their keyphrases or more (Table 3)",
    "Homogeneity: documents that share half of their keyphrases or more (Table 3)",
    "Confidence",
    "Positions",
    "Greedy and beams",
    "Macro and micro averages",
    "M, O and k",
    "Trained on and tested on: F1@M, present / absent",
)


def again(document: Document) -> Document:
    """Another document with all but one of the keyphrases."""
    text = f"This is about something else than others. {document.text}"
    return Document(id=f"{document.id}-b", title=document.title, text=text, keyphrases=(document.keyphrases or [])[1:])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of corpora: the bundled abstracts under the names of those of the study, some of them twice."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "training").mkdir()
    documents = list(karat.read(DEMO))
    test = [each for document in documents[:6] for each in (document, again(document))]
    parts = {"train": documents[20:], "valid": documents[12:20], "test": test}
    for corpus in ("acm-cr", "papyrus-en"):
        for part, some in parts.items():
            karat.write(Corpus.of(some), folder / "training" / f"{corpus}.{part}.jsonl.gz")
    for name in ("inspec", "stackexchange"):
        karat.write(Corpus.of(documents[6:12]), folder / f"{name}.jsonl.gz")
    (folder / "wordnet").mkdir()
    for part, lines in INDEX.items():
        words = "\n".join(line.strip() for line in lines.strip().splitlines())
        (folder / "wordnet" / f"index.{part}").write_text(words)
        (folder / "wordnet" / f"{part}.exc").write_text(IRREGULAR[part])
    return folder


def started(data: Path, out: Path, *options: str) -> subprocess.Popen[str]:
    script = str(ROOT / "examples" / "papers" / "run.py")
    environment = os.environ | {"KARAT_WORDNET": str(data / "wordnet"), "PYTHONPATH": str(ROOT / "src")}
    environment.pop("KARAT_LLM_BASE_URL", None)
    words = [sys.executable, script, str(data), str(out), *options]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def test_the_study_goes_on_after_a_signal_and_makes_all_tables(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ("--documents", "64", "--systems", "copyrnn", "--jobs", "2")
    process = started(data, out, *options)
    until(lambda: process.poll() is not None or (out / "steps" / "train-copyrnn.done").is_file(), "the first training")
    process.send_signal(signal.SIGTERM)
    printed = process.communicate()[0]
    assert process.returncode == 130, printed
    assert printed.endswith("interrupted; the same command goes on\n")
    weights = (out / "models" / "copyrnn" / "weights.safetensors").stat()
    process = started(data, out, *options)
    printed = process.communicate()[0]
    assert process.returncode == 0, printed
    assert (out / "models" / "copyrnn" / "weights.safetensors").stat().st_mtime_ns == weights.st_mtime_ns
    found = (out / "results.md").read_text()
    assert [line[3:] for line in found.splitlines() if line.startswith("## ")] == list(TABLES)
    assert (out / "report.html").stat().st_size > 100_000
    drawn = {path.stem for path in (out / "figures").iterdir()}
    assert {"training", "kpp", "tokens", "reliability", "positions"} <= {name.rstrip("-123456789") for name in drawn}
    runs = [path.stem for path in sorted((out / "runs" / "acm-cr").iterdir())]
    assert runs == ["copyrnn", "kea", "multipartiterank", "tfidf"]
    assert "\\toprule" in (out / "results" / "table.tex").read_text()
    trained = json.loads((out / "models" / "copyrnn" / "model.json").read_text())
    assert trained["steps"] == 4
    assert trained["documents"] in (40 + 16, 40 + 8)  # all 40, and the first batch of the next epoch


def test_what_is_missing_or_unknown_is_named(data: Path, tmp_path: Path) -> None:
    process = started(tmp_path, tmp_path / "out")
    assert "acm-cr.train.jsonl.gz" in process.communicate()[0]
    assert process.returncode == 2
    for options, said in (
        (("--systems", "copyrn"), "--systems copyrn: there are copyrnn, transformer"),
        (("--weights", "bert=nowhere"), "'bert' begins with no pretrained weights: bart, t5, unikp, tagger do"),
        (("--weights", "bart=nowhere"), "bart=nowhere: there is no such directory"),
        (("--test", "0"), "'0' is no number of documents"),
    ):
        process = started(data, tmp_path / "out", *options)
        assert said in process.communicate()[0]
        assert process.returncode == 2


def test_a_step_that_fails_is_named_with_its_last_lines(data: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "models").mkdir(parents=True)
    (tmp_path / "out" / "models" / "copyrnn").write_text("a file, where a directory is to be made")
    process = started(data, tmp_path / "out", "--documents", "64", "--systems", "copyrnn", "--jobs", "1")
    printed = process.communicate()[0]
    assert process.returncode == 1
    assert "train-copyrnn ended with 2" in printed
    assert "is a file; a generator is trained into a directory" in printed
