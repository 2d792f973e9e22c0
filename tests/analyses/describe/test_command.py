"""`karat describe` as a command: what it writes, and what it says of bad input."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import describe as benchmark
from tests.cli.test_output import DATA, SYNTHETIC, karat


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text('{"id": "d1", "text": "Bees swarm.", "keyphrases": ["bee swarm", "bees"]}\n')
    (tmp_path / "bare.jsonl").write_text('{"id": "d1"}\n')
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "run.jsonl").write_text('{"id": "d2", "keyphrases": ["swarm"]}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["empty.jsonl"], "karat: empty.jsonl: the file is empty"),
        (["bare.jsonl"], "karat: bare.jsonl: no document has a title, a text or keyphrases, so there is nothing to"),
        (["corpus.jsonl", "run.jsonl"], "karat: run.jsonl: no predictions for document 'd1' of corpus.jsonl; its own"),
        (
            ["corpus.jsonl", "--references", "author"],
            "karat: corpus.jsonl has no reference sets, so --references autho",
        ),
        (["corpus.jsonl", "--train", "empty.jsonl"], "karat: empty.jsonl: the file is empty"),
        (["corpus.jsonl", "--protocol", "karat,position=raws"], "karat: unknown value of option position 'raws'; did "),
        (["corpus.jsonl", "-o", "x.karat"], "karat: -o x.karat: this verb writes no .karat file; choose another suff"),
    ],
)
def test_bad_input_is_answered_in_a_sentence(folder: Path, arguments: list[str], said: str) -> None:
    done = karat("describe", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(said)
    assert "Traceback" not in done.stderr.decode()


def test_the_bytes_are_the_same_on_several_processes_and_in_a_file(tmp_path: Path) -> None:
    one = karat("describe", *SYNTHETIC, "-f", "json").stdout
    assert karat("describe", *SYNTHETIC, "-f", "json", "-j", "2").stdout == one
    done = karat("describe", *SYNTHETIC, "-o", str(tmp_path / "out.json"))
    assert (done.stdout, (tmp_path / "out.json").read_bytes()) == (b"", one)


def test_the_output_is_json_with_the_fields_of_every_verb() -> None:
    found = json.loads(karat("describe", *SYNTHETIC[:2], "--train", SYNTHETIC[0], "-f", "json").stdout)
    assert list(found) == [
        "signatures",
        "short_signatures",
        "rows",
        "notes",
        "documents",
        "duplicates",
        "leaks",
        "warnings",
        "options",
    ]
    assert [row["system"] for row in found["rows"]] == [None, "synthetic.alpha"]
    assert found["leaks"]["leaked"] == found["documents"]["documents"] == 400
    assert found["rows"][0]["seen_in_training"] == 1.0
    assert ",position=stems,set=keyphrases,hash=" in found["signatures"]["karat"]


def test_the_benchmark_prints_seconds_and_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, run = (str(DATA / name) for name in SYNTHETIC[:2])
    names = ["describe", "describe with a run", "describe --train", "score"]
    planned = {stage.name: stage for stage in benchmark.stages(corpus, run)}
    assert list(planned) == names
    # Each stage is a process; one of them is enough to see that a stage does what it says.
    monkeypatch.setattr(benchmark, "stages", lambda corpus, run: [planned["describe with a run"]])
    monkeypatch.setattr(sys, "argv", ["describe", "--corpus", corpus, "--run", run])
    benchmark.main()
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("describe with a run")]
    seconds, peak, found = line.removeprefix("describe with a run").split()
    assert float(seconds) > 0
    assert float(peak.replace(",", "")) > 1
    assert found == "400"
