"""The benchmark command measures every stage, and what it measures is karat's work."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click import Command, Context, Group

import karat
from benchmarks import __main__ as command
from benchmarks import scale, speed, stages
from benchmarks.made_corpus import MadeCorpus, write_corpus
from karat.cli import karat as karat_command

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


# ---------------------------------------------------------------------------------------------- benchmarks.speed


def measured(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The finished command that measures lines, on a small corpus in the folder."""
    command = [sys.executable, "-m", "benchmarks.speed", "--documents", "20", "--folder", str(folder), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_lines_are_measured_in_two_checkouts_side_by_side(tmp_path: Path) -> None:
    done = measured(tmp_path, "--lines", "describe", "one-document", "--against", str(ROOT))
    assert done.returncode == 0, done.stderr
    table = done.stdout.partition("documents")[2]
    for line, documents in (("one-document", "1"), ("describe", "20")):
        first, *figures = numbers(table, line)
        assert first == documents
        for before, after, ratio in zip(figures[::3], figures[1::3], figures[2::3], strict=True):
            assert float(before) > 0
            assert float(after) > 0
            assert float(ratio) > 0
        assert f"speed: {line} in {ROOT}: " in done.stderr
    assert f"before: karat {karat.__version__} in {ROOT}\n" in done.stdout
    assert "audit" not in done.stdout


def test_scores_that_a_line_reads_are_made_before_it_is_measured(tmp_path: Path) -> None:
    done = measured(tmp_path, "--lines", "compare")
    assert done.returncode == 0, done.stderr
    documents, cpu, wall, peak = numbers(done.stdout.partition("MB\n")[2], "compare")
    assert documents == "20"
    assert min(float(cpu), float(wall), float(peak)) > 0
    runs = [(tmp_path / "20-0" / name).read_bytes() for name in ("run.jsonl", "run2.jsonl", "run3.jsonl")]
    assert len(set(runs)) == 3


@pytest.mark.parametrize("line", speed.LINES, ids=lambda line: line.name)
def test_every_line_is_a_command_of_karat(line: speed.Line) -> None:
    parent = Context(karat_command, **karat_command.context_settings)
    for verb, *arguments in (*line.before, line.command):
        karat_command.commands[verb].make_context(verb, arguments, parent)


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    done = measured(tmp_path, "--against", str(tmp_path))
    assert done.returncode == 2
    assert "it has no folder src/karat" in done.stderr


def test_a_command_that_fails_is_reported_with_its_error_message(tmp_path: Path) -> None:
    checkout = speed.Checkout(ROOT, tmp_path / "compiled")
    with pytest.raises(SystemExit, match=r"karat score failed in .* \(exit 2\)\n(.|\n)*Missing argument"):
        checkout.run(["score"], tmp_path)


# ---------------------------------------------------------------------------------------------- benchmarks.scale


@pytest.mark.skipif(sys.platform != "linux", reason="the figures come from /proc")
def test_verbs_are_measured_in_several_ways(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.scale", "--sizes", "20", "40", "--ways", "1", "2"]
    done = subprocess.run(
        [*command, "--verbs", "score", "pairs mine", "--folder", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()[2:10]]
    assert [(line[0], line[-10], line[-9]) for line in lines] == [
        (verb, size, way) for size in ("20", "40") for verb in ("score", "pairs") for way in ("1", "2")
    ]
    for line in lines:
        wall, cpu, *_, python, java, together, _load = line[-8:]
        assert float(wall) > 0
        assert float(cpu) > 0
        assert int(python) > 20  # megabytes: no process of Python with numpy has fewer
        assert java == "–"
        assert int(together) > 20


def test_a_way_is_a_number_of_processes_or_an_engine() -> None:
    assert scale.flags("2") == ("-j", "2")
    assert scale.flags("spark:local[2]") == ("--engine", "spark:local[2]")


@pytest.mark.parametrize("verb", scale.VERBS)
def test_every_verb_of_the_scale_is_a_command_of_karat(verb: str) -> None:
    found: Command = karat_command
    words = [*scale.VERBS[verb], *scale.flags("2")]
    while isinstance(found, Group):
        found = found.commands[words.pop(0)]
    assert found.make_context(verb, words, Context(karat_command, **karat_command.context_settings)).params["jobs"] == 2
