"""What a generator's options, settings and files cannot be: each is refused in a sentence, before anything is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import torch  # noqa: E402

import karat  # noqa: E402
from karat.cli import karat as command  # noqa: E402
from karat.corpus import Corpus, Document  # noqa: E402
from karat.errors import InputError  # noqa: E402
from karat.models.generators import checkpoint, loop  # noqa: E402
from karat.models.generators.copyrnn import CopyRNN  # noqa: E402
from karat.models.generators.curves import read_courses  # noqa: E402
from karat.models.generators.decoding import Decoding  # noqa: E402
from karat.models.generators.words import SPECIAL, Words  # noqa: E402
from tests.checksums import remove_checksums  # noqa: E402
from tests.models.generators.made import DOCUMENTS  # noqa: E402

TINY = "copyrnn,attention=general,embedding=8,hidden=8,read=60,written=30"
CORPUS, VALID = Corpus.of(DOCUMENTS, name="made"), Corpus.of(DOCUMENTS[:6], name="valid")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("refusing") / "model"
    karat.train(CORPUS, TINY, output=folder, steps=12, batch=8, valid=VALID)
    return folder


@pytest.fixture
def copy(trained: Path, tmp_path: Path) -> Path:
    return remove_checksums(Path(shutil.copytree(trained, tmp_path / "copy")))


# ---------------------------------------------------------------------------------------------- options and settings


@pytest.mark.parametrize(
    ("model", "options", "said"),
    [
        ("copyrnn", {"hidden": 0}, "hidden is from 1 to 100,000, not 0"),
        ("corrrnn", {"embedding": -1}, "embedding is from 1"),
        ("exhird", {"hidden": 10**22}, "hidden is from 1"),
        ("transformer", {"layers": 0}, "layers is from 1 to 100, not 0"),
        ("transformer", {"inner": -5}, "inner is from 1"),
        ("transformer", {"size": 0}, "size is from 1"),
        ("one2set", {"slots": 10**6}, "slots is from 1"),
        ("copyrnn", {"dropout": 2.0}, "dropout is from 0 to .99, not 2"),
        ("copyrnn", {"dropout": 1.0}, "dropout is from 0"),
        ("one2set", {"dropout": float("nan")}, "dropout is from 0"),
        ("copyrnn", {"rate": float("inf")}, "more than 0 and finite"),
        ("copyrnn", {"hidden": "8"}, r"Expected `int`, got `str` - at `\$.hidden`"),
        ("copyrnn", {"attention": "wide"}, "attention"),
        ("copyrnn", {"hiden": 8}, "did you mean 'hidden'"),
        ("tgrf", {"of": ["tgnet"]}, "--from DIR"),
    ],
)
def test_options_that_cannot_be_are_refused(model: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        checkpoint.parted(model, options)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"minutes": float("inf")}, "--minutes is more than 0 and finite, not inf"),
        ({"epochs": float("inf")}, "--epochs is more than 0"),
        ({"seed": 1 << 40}, "--seed is from 0 to 4,294,967,295"),
        ({"seed": -1}, "--seed is from 0"),
        ({"steps": 1, "batch": "many"}, r"Expected `int \| null`, got `str`"),
        ({"steps": 1, "device": "meta"}, "no such device"),
        ({"steps": 1, "stop": "f9@5:3"}, "unknown metric 'f9'"),
        ({"steps": 1, "stop": "words:3"}, "neither more nor less of it is better"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_anything_is_written(
    settings: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        karat.train(CORPUS, TINY, output=tmp_path / "m", valid=VALID, **settings)
    assert not list(tmp_path.iterdir())


def test_a_model_that_does_not_fit_into_memory_is_not_begun(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"weights do not fit into the memory of this machine"):
        karat.train(CORPUS, "copyrnn,hidden=100000", output=tmp_path / "m", steps=1)
    assert not (tmp_path / "m").exists()
    with pytest.raises(InputError, match="do not fit"):
        checkpoint.build("transformer", {"size": 100_000}, Words(SPECIAL, len(SPECIAL)))


def test_the_least_is_kept_of_a_metric_of_which_less_is_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = iter([0.5, 0.2, 0.4, None])
    monkeypatch.setattr(loop, "score_on", lambda *_: next(scores))
    found = karat.train(CORPUS, TINY, output=tmp_path / "m", steps=9, valid=VALID, stop="duplicate_ratio:2")
    assert [row["duplicate_ratio"] for row in found.rows] == [0.5, 0.2, 0.4, None]
    assert checkpoint.read_card(tmp_path / "m").step == 2


def test_paths_are_settings_as_well(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="was trained without <peos>"):
        karat.train(CORPUS, "tgrf", output=tmp_path / "m", steps=1, start=str(trained))


# ---------------------------------------------------------------------------------------------- model.json


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"options": {"hidden": 8.5}}, "Expected `int`, got `float`"),
        ({"options": {"hidden": -8}}, "hidden is from 1"),
        ({"options": {"attention": "wide"}}, "attention"),
        ({"options": {"zzz": 1}}, "unknown option of copyrnn 'zzz'"),
        ({"settings": {"guide": 5}}, "got `int`"),
        ({"language": "klingon"}, "unknown language 'klingon'"),
        ({"model": "foo"}, "unknown generator 'foo'"),
        ({"corpus": {}}, "the name of the corpus is missing"),
    ],
)
def test_a_card_of_other_values_is_refused(change: dict[str, Any], said: str, copy: Path) -> None:
    card = json.loads((copy / "model.json").read_text())
    (copy / "model.json").write_text(json.dumps(card | change))
    with pytest.raises(InputError, match=f"model.json: does not say what the model is.*{said}"):
        karat.predict(VALID, str(copy))


def test_a_card_that_is_nested_too_deeply_is_refused(copy: Path) -> None:
    (copy / "model.json").write_bytes(b"[" * 100_000)
    with pytest.raises(InputError, match="does not say what the model is"):
        karat.predict(VALID, str(copy))


# ---------------------------------------------------------------------------------------------- going on


def go_on(folder: Path) -> None:
    karat.train(CORPUS, TINY, output=folder, steps=12, batch=8, valid=VALID, resume=True)


def test_examples_that_were_removed_are_told(copy: Path) -> None:
    (copy / "examples.i32").unlink()
    with pytest.raises(InputError, match=r"examples\.i32: there is no such file, which a training learns from"):
        go_on(copy)


@pytest.mark.parametrize(
    ("column", "value"), [(0, -5), (0, 10**9), (1, 10**9), (1, 0), (2, 10**9), (2, 1 << 62), (3, 0), (3, 10**9)]
)
def test_a_damaged_index_is_refused(column: int, value: int, copy: Path) -> None:
    content = bytearray((copy / "examples.i32").read_bytes())
    numbers = np.frombuffer(content, np.int64)
    numbers[-2 - 5 * int(numbers[-2]) :][column] = value
    (copy / "examples.i32").write_bytes(content)
    with pytest.raises(InputError, match="index is damaged"):
        go_on(copy)


@pytest.mark.parametrize("count", [0, -1, 10**6, 1 << 40])
def test_an_index_of_another_length_is_refused(count: int, copy: Path) -> None:
    content = bytearray((copy / "examples.i32").read_bytes())
    np.frombuffer(content, np.int64)[-2] = count
    (copy / "examples.i32").write_bytes(content)
    with pytest.raises(InputError, match="index is damaged"):
        go_on(copy)


@pytest.mark.parametrize("change", [{"step": "a"}, {"step": -5}, {"log": 5}, {"pieces": 0}, {"tokens": "x"}])
def test_a_state_that_does_not_say_how_far_it_is_is_refused(change: dict[str, Any], copy: Path) -> None:
    tensors, told = checkpoint.read_tensors(copy / "state.safetensors")
    checkpoint.write_tensors(copy / "state.safetensors", tensors, told | change)
    with pytest.raises(InputError, match=r"state.safetensors: does not say"):
        go_on(copy)


def test_a_state_with_another_optimiser_is_refused(copy: Path) -> None:
    tensors, told = checkpoint.read_tensors(copy / "state.safetensors")
    tensors["exp_avg.gate.bias"] = torch.zeros(3)
    checkpoint.write_tensors(copy / "state.safetensors", tensors, told)
    with pytest.raises(InputError, match=r"keeps of gate\.bias is missing, or of another shape"):
        go_on(copy)


def test_validation_examples_of_a_training_that_failed_are_none_of_the_next(tmp_path: Path) -> None:
    nothing = Corpus.of([Document(id="a", text="deep nets")])
    (tmp_path / "m").mkdir()
    with pytest.raises(InputError, match="no validation document"):
        karat.train(CORPUS, TINY, output=tmp_path / "m", steps=2, valid=nothing)
    found = karat.train(CORPUS, TINY, output=tmp_path / "m", steps=2)
    assert [row["valid"] for row in found.rows] == [None, None]


def test_a_training_that_is_refused_leaves_no_folder_and_takes_none_away(tmp_path: Path) -> None:
    nothing = Corpus.of([Document(id="a", text="deep nets")])
    (tmp_path / "there").mkdir()
    for name in ("new", "there"):
        for corpus, valid in ((nothing, None), (CORPUS, nothing)):
            with pytest.raises(InputError, match=r"no document has any|no validation document has references"):
                karat.train(corpus, TINY, output=tmp_path / name, steps=2, valid=valid)
    assert [each.name for each in tmp_path.iterdir()] == ["there"]
    assert not list((tmp_path / "there").iterdir())


def test_validation_examples_that_were_removed_are_told(copy: Path) -> None:
    (copy / "valid.i32").unlink()
    with pytest.raises(InputError, match=r"valid\.i32: there is no such file"):
        go_on(copy)


def test_weights_without_a_card_are_not_written_over(copy: Path) -> None:
    (copy / "model.json").unlink()
    before = (copy / "weights.safetensors").read_bytes()
    with pytest.raises(InputError, match=r"has state\.safetensors without a model\.json; put that back"):
        go_on(copy)
    assert (copy / "weights.safetensors").read_bytes() == before


# ---------------------------------------------------------------------------------------------- no number


def test_a_validation_loss_that_is_no_number_leaves_no_weights(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="validation loss at step 1 is not a number; nothing was saved yet"):
        karat.train(CORPUS, f"{TINY},rate=1e30,warmup=0", output=tmp_path / "m", steps=5, valid=VALID)
    assert not (tmp_path / "m" / "weights.safetensors").exists()


def test_a_gradient_that_is_no_number_changes_no_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loss, calls = CopyRNN.loss, iter(range(100))

    def steep(model: CopyRNN, batch: Any) -> Any:
        found, many = loss(model, batch)
        found.register_hook(lambda gradient: gradient * float("nan") if next(calls) == 1 else gradient)
        return found, many

    monkeypatch.setattr(CopyRNN, "loss", steep)
    with pytest.raises(InputError, match=r"the gradient of step 2 is not a number \(documents d\d+, .*state is kept"):
        karat.train(CORPUS, TINY, output=tmp_path / "m", steps=5)
    assert all(each.isfinite().all() for each in checkpoint.load(tmp_path / "m").model.state_dict().values())


def test_slots_of_a_model_without_numbers_are_no_fault_of_ours(tmp_path: Path) -> None:
    options = "one2set,size=16,heads=2,inner=16,layers=1,read=60,written=30,rate=1e30,warmup=0"
    with pytest.raises(InputError, match="the loss of step 2 is not a number"):
        karat.train(CORPUS, options, output=tmp_path / "m", steps=20)


# ---------------------------------------------------------------------------------------------- --from


def test_a_rewarded_model_goes_on_from_another(tmp_path: Path) -> None:
    karat.train(CORPUS, f"{TINY},peos=always", output=tmp_path / "one", steps=1)
    karat.train(CORPUS, "tgrf", output=tmp_path / "two", steps=1, start=str(tmp_path / "one"))
    with pytest.raises(InputError, match="two: is a tgrf already: go on from the generator"):
        karat.train(CORPUS, "tgrf", output=tmp_path / "three", steps=1, start=str(tmp_path / "two"))


def test_a_directory_to_go_on_from_that_is_not_there_is_told_as_one(tmp_path: Path) -> None:
    karat.write(CORPUS, tmp_path / "corpus.jsonl")
    arguments = ["train", "tgrf", str(tmp_path / "corpus.jsonl"), "-o", str(tmp_path / "m"), "--from", "gone"]
    found = CliRunner().invoke(command, arguments)
    assert "gone: there is no such directory" in str(found.exception)


# ---------------------------------------------------------------------------------------------- predicting


@pytest.mark.parametrize("options", [{"penalty": -1e300}, {"penalty": float("nan")}, {"temperature": float("inf")}])
def test_ways_to_decode_that_cannot_be_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match=r"penalty is from 0 to 1000|temperature is more than 0 and finite"):
        Decoding(**options)  # type: ignore[arg-type]


def test_more_first_words_than_there_can_be_need_no_memory(trained: Path) -> None:
    whole = list(karat.predict(VALID, f"{trained},exclusive=60"))
    assert list(karat.predict(VALID, f"{trained},exclusive=1000000000000")) == whole


# ---------------------------------------------------------------------------------------------- logs and processes


def test_an_empty_log_is_no_course_of_a_training(copy: Path) -> None:
    (copy / "log.jsonl").write_bytes(b"")
    with pytest.raises(InputError, match="has no validation yet"):
        read_courses([copy])


def test_processes_of_a_training_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    """The first process is killed, and can end none of the others."""
    karat.write(CORPUS, tmp_path / "corpus.jsonl")
    command = [sys.executable, "-m", "karat", "train", TINY, str(tmp_path / "corpus.jsonl"), "-o", str(tmp_path / "m")]
    process = subprocess.Popen([*command, "--steps", "1000000", "--jobs", "2"], stderr=subprocess.PIPE)
    assert process.stderr is not None
    try:
        assert process.stderr.readline().startswith(b"step 1 of")  # both are at work
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        started = [Path("/proc", each) for each in children.read_text().split()] if children.exists() else []
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    end = time.monotonic() + 30
    while any(map(_runs, started)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not [each for each in started if _runs(each)]


def _runs(process: Path) -> bool:
    try:
        return "\nState:\tZ" not in (process / "status").read_text()
    except OSError:
        return False
