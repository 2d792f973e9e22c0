"""Generators as a user meets them: the command trains, predicts for any document, and goes on after a kill."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import torch  # noqa: E402

import karat  # noqa: E402
from karat import Corpus  # noqa: E402
from karat.corpus import Document  # noqa: E402
from tests.faults.audited import audit  # noqa: E402
from tests.forked import program  # noqa: E402
from tests.models.generators.made import DOCUMENTS  # noqa: E402
from tests.models.generators.seq2seq.made import directory_of  # noqa: E402

TINY = "copyrnn,attention=general,embedding=8,hidden=8,read=60,written=30"
TEXT = "On graph list structures\n\nWe look at tree-graph methods, and at own0 of it."


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def ran(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [*program(), *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, input=stdin, env=environment
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, and a generator that the command has trained on it."""
    place = tmp_path_factory.mktemp("command")
    karat.write(Corpus.of(DOCUMENTS), place / "corpus.jsonl")
    done = ran(place, "train", TINY, "corpus.jsonl", "-o", "model", "--steps", "40", "--valid", "corpus.jsonl")
    assert done.returncode == 0, done.stderr
    assert "step 40 of 40: loss " in done.stderr
    assert "documents/s" in done.stderr
    assert "32 of the training documents are also validation documents" in done.stderr
    assert done.stdout.startswith("copyrnn, learned from 640 documents: model")
    assert "Next: karat predict model CORPUS" in done.stdout
    return place


def test_a_directory_that_has_the_name_of_a_model_is_told_apart_from_it(folder: Path) -> None:
    done = ran(folder, "train", TINY, "corpus.jsonl", "-o", "copyrnn", "--steps", "1")
    assert "Next: karat predict ./copyrnn CORPUS" in done.stdout
    done = ran(folder, "predict", "./copyrnn", "corpus.jsonl", "-o", "named.jsonl")
    assert done.returncode == 0, done.stderr


def test_a_tagger_begins_with_new_weights(folder: Path) -> None:
    small = "tagger,model=random,size=32,layers=2,heads=2,inner=64,vocabulary=400,longest=100"
    done = ran(folder, "train", small, "corpus.jsonl", "-o", "tagger-new", "--steps", "1")
    assert done.returncode == 0, done.stderr


def test_a_training_goes_on_where_what_it_began_with_is_gone(folder: Path) -> None:
    begun = directory_of("bart", folder / "begun")
    words = ("train", "bart,model=begun", "corpus.jsonl", "-o", "learned", "--steps")
    assert ran(folder, *words, "1").returncode == 0
    begun.rename(folder / "elsewhere")
    assert ran(folder, *words, "2").returncode == 2
    done = ran(folder, *words, "1", "--resume")
    assert done.returncode == 0, done.stderr


def test_a_text_a_pdf_and_standard_input_are_predicted_for(folder: Path) -> None:
    from tests.models.papers import pdf_of

    (folder / "one.txt").write_text(TEXT)
    (folder / "one.pdf").write_bytes(pdf_of([["We look at tree-graph methods, and at own0 of it."]]))
    for given in ("one.txt", "one.pdf", "-"):
        done = ran(folder, "predict", "model,beam=4", given, "-f", "jsonl", "-q", stdin=TEXT)
        assert done.returncode == 0, done.stderr
        [found] = map(json.loads, done.stdout.splitlines())
        assert found["id"] == ("stdin" if given == "-" else "one")
        assert len(found["keyphrases"]) == len(found["scores"]) == len(found["token_probs"]) == len(found["kinds"])
    assert ran(folder, "predict", "model", "one.txt").returncode == 0


def test_a_run_is_read_by_confidence(folder: Path) -> None:
    assert ran(folder, "predict", "model,beam=4", "corpus.jsonl", "-o", "run.jsonl").returncode == 0
    done = ran(folder, "confidence", "corpus.jsonl", "run.jsonl", "-f", "json")
    assert done.returncode == 0, done.stderr


def test_a_prediction_that_is_killed_goes_on_to_the_same_bytes(folder: Path) -> None:
    many = [Document(id=f"{n}.{each.id}", title=each.title, text=each.text) for n in range(60) for each in DOCUMENTS]
    karat.write(Corpus.of(many), folder / "many.jsonl")
    assert ran(folder, "predict", "model", "many.jsonl", "-o", "whole.jsonl").returncode == 0
    command = [sys.executable, "-m", "karat", "predict", "model", "many.jsonl", "-o", "broken.jsonl"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    while process.poll() is None and not any(each.stat().st_size > 1000 for each in folder.glob("*broken.jsonl*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (folder / "broken.jsonl").exists()
    done = ran(folder, "predict", "model", "many.jsonl", "-o", "broken.jsonl")
    assert "went on after " in done.stderr
    assert (folder / "broken.jsonl").read_bytes() == (folder / "whole.jsonl").read_bytes()


@pytest.mark.parametrize("most", [100, 9_000])
def test_on_a_full_disk_training_says_so_and_goes_on_when_there_is_room(folder: Path, most: int) -> None:
    """No file can have more bytes than these: words, examples, or the state do not fit.

    -B, as Python itself leaves its compiled modules cut short under such a limit, for every later process to read.
    """
    words = ("train", TINY, "corpus.jsonl", "-o", f"full-{most}", "--steps", "6", "--resume")
    limited = [sys.executable, "-B", "-m", "karat", *words]
    done = subprocess.run(
        limited,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY)),
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert f"full-{most}" in done.stderr
    done = ran(folder, *words)
    assert done.returncode == 0, done.stderr
    assert ran(folder, *words[:3], "-o", f"roomy-{most}", *words[5:7]).returncode == 0
    found, wanted = (folder / f"{name}-{most}" / "weights.safetensors" for name in ("full", "roomy"))
    assert found.read_bytes() == wanted.read_bytes()


@pytest.mark.parametrize(
    "options",
    [
        (f"{TINY},targets=one2one", {}),
        (f"{TINY},peos=always", {}),
        (f"{TINY},schedule=halve", {"stop": "loss:3"}),
        (f"{TINY},schedule=constant", {"accumulate": 2}),
        (TINY, {"precision": "bf16"}),
        (TINY.replace("general", "additive"), {"precision": "bf16"}),
        ("transformer,size=16,heads=2,inner=16,read=60,written=30", {"precision": "bf16"}),
    ],
)
def test_each_way_of_training_comes_to_a_model_that_predicts(
    tmp_path: Path, options: tuple[str, dict[str, Any]]
) -> None:
    model, settings = options
    output = tmp_path / "model"
    corpus = Corpus.of(DOCUMENTS)
    karat.train(corpus, model, output=output, steps=30, valid=corpus, **settings)
    losses = [json.loads(line)["valid"] for line in (output / "log.jsonl").read_text().splitlines()]
    assert losses[-1] < losses[0]
    found = karat.predict(corpus, f"{output},beam=3")
    assert len(list(found)) == 32


def test_the_papers_schedule_halves_the_rate_when_validation_is_no_better(tmp_path: Path) -> None:
    """With a rate at which nothing is learned any more, each validation halves it."""
    valid = Corpus.of(DOCUMENTS[:6])
    options = f"{TINY},schedule=halve,rate=2.0,warmup=0"
    karat.train(Corpus.of(DOCUMENTS), options, output=tmp_path / "model", steps=40, batch=8, valid=valid)
    lines = [json.loads(line) for line in (tmp_path / "model" / "log.jsonl").read_text().splitlines()]
    best, halvings = lines[0]["valid"], 0
    for line in lines:
        assert line["rate"] == pytest.approx(2.0 * 0.5**halvings)
        halvings += line is not lines[0] and line["valid"] >= best
        best = min(best, line["valid"])
    assert halvings > 1


def test_the_files_of_a_model_are_in_the_record_and_are_never_overwritten(folder: Path) -> None:
    lines = [
        f"train {TINY} corpus.jsonl -o audited --steps 2 --valid corpus.jsonl",
        f"train {TINY} corpus.jsonl -o audited --steps 2 --valid corpus.jsonl --resume",
        "predict audited corpus.jsonl -o audited.jsonl",
        "plot training audited -o audited.svg",
    ]
    for line, seen in zip(lines, audit(folder, lines), strict=True):
        assert (seen["code"], seen["unrecorded"]) == (0, []), (line, seen["stderr"])
        assert seen["opened"] >= 2, line
    for path in sorted((folder / "audited").iterdir()):
        before = path.read_bytes()
        done = ran(folder, "predict", "audited", "corpus.jsonl", "-o", f"audited/{path.name}", "-f", "jsonl")
        assert done.returncode == 2
        assert done.stderr == (
            f"karat: audited/{path.name}: is in audited, which is an input; name a place outside of that folder\n"
        )
        assert path.read_bytes() == before
