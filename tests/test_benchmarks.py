"""The benchmark command measures every stage, and what it measures is karat's work."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import karat
from benchmarks import __main__ as command
from benchmarks import stages
from benchmarks.made_corpus import MadeCorpus, write_corpus

DOCUMENTS = 60
ROOT = Path(__file__).resolve().parent.parent
STAGES = [
    "make",
    "import",
    "read",
    "join",
    "prepare",
    "align",
    "metrics",
    "score",
    "score -j 2",
]


def benchmark(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The finished command, on a small corpus in the folder."""
    command = [sys.executable, "-m", "benchmarks", "--documents", str(DOCUMENTS), "--repeat", "1"]
    command += ["--folder", str(folder), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def numbers(printed: str, stage: str) -> list[str]:
    """What stands behind the name of a stage in the table."""
    found = re.search(rf"^{re.escape(stage)}  +(.*)$", printed, re.MULTILINE)
    assert found, f"no line for {stage} in\n{printed}"
    return found[1].split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that does not exist yet."""
    return tmp_path_factory.mktemp("benchmarks") / "made"


@pytest.fixture(scope="module")
def first(folder: Path) -> subprocess.CompletedProcess[str]:
    """The command called for the first time."""
    return benchmark(folder, "-j", "2", "--peer")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeCorpus:
    """A corpus that the tests only read."""
    return write_corpus(tmp_path_factory.mktemp("made"), DOCUMENTS)


def test_every_stage_is_in_the_table_with_numbers(first: subprocess.CompletedProcess[str]) -> None:
    assert first.returncode == 0, first.stderr
    for stage in [*STAGES, "peer, 60 documents"]:
        seconds, peak, rate = numbers(first.stdout, stage)
        assert float(seconds) > 0
        assert float(peak) > 1
        assert rate == "-" if stage == "import" else float(rate.replace(",", "")) > 0
        assert f"benchmarks: {stage}\n" in first.stderr
    assert max(map(len, first.stdout.splitlines())) <= 80


def test_ratios_startup_and_figures_follow_the_table(first: subprocess.CompletedProcess[str]) -> None:
    for start in (
        "seconds, score / score -j 2: ",
        "documents/s, score / peer: ",
    ):
        assert re.search(rf"^{start}[\d.,]+$", first.stdout, re.MULTILINE)
    for start in ("karat --help: ", "import karat: "):
        assert re.search(rf"^{start}[\d.]+ s, numpy not imported$", first.stdout, re.MULTILINE)
    assert "corpus: 60 documents, " in first.stdout
    assert f"karat {karat.__version__}, Python 3." in first.stdout


def test_second_call_keeps_the_corpus(folder: Path, first: subprocess.CompletedProcess[str]) -> None:
    assert "kept" not in first.stdout
    before = (folder / "corpus.jsonl").stat().st_mtime_ns
    again = benchmark(folder)
    assert again.returncode == 0, again.stderr
    assert numbers(again.stdout, "make") == ["kept", "-", "-"]
    assert "the corpus was kept" in again.stdout
    assert (folder / "corpus.jsonl").stat().st_mtime_ns == before
    assert again.stdout.partition("corpus: ")[2] == first.stdout.partition("corpus: ")[2]


def test_another_seed_makes_the_corpus_anew(tmp_path: Path, made: MadeCorpus) -> None:
    (tmp_path / "made.json").write_text('{"origin": {"documents": 60, "seed": 7}, "sizes": [], "figures": {}}')
    (tmp_path / "corpus.jsonl").write_text("{}\n")
    command.make(tmp_path, DOCUMENTS, 0, 1)
    assert (tmp_path / "corpus.jsonl").read_bytes() == made.corpus.read_bytes()


def test_corpus_of_other_origin_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text("{}\n")
    done = benchmark(tmp_path)
    assert done.returncode == 1
    assert "give another --folder" in done.stderr
    assert (tmp_path / "corpus.jsonl").read_text() == "{}\n"


@pytest.mark.parametrize("stage", ["read", "join", "prepare", "align", "metrics"])
def test_stage_goes_through_all_documents(made: MadeCorpus, stage: str) -> None:
    assert getattr(stages, stage)(str(made.corpus), str(made.run)) == DOCUMENTS


def test_plain_loops_find_the_numbers_of_karat(made: MadeCorpus) -> None:
    rows = karat.score(made.corpus, made.run).rows()
    scores = {f"{row['metric']}:{row['subset']}": row["value"] for row in rows}
    assert stages.peer(str(made.corpus), str(made.run), DOCUMENTS) == pytest.approx(scores)
