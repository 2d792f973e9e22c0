"""The training of generators: from a corpus to a directory, broken off and gone on with, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
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
from karat import Corpus, InputError  # noqa: E402
from karat.corpus import Document  # noqa: E402
from karat.models.find import parse_model  # noqa: E402
from karat.models.generators import checkpoint, loop  # noqa: E402
from karat.models.generators.copyrnn import CopyRNN  # noqa: E402
from karat.models.generators.settings import Settings  # noqa: E402
from karat.models.run import PredictOptions, predicted  # noqa: E402
from tests.checksums import remove_checksums  # noqa: E402
from tests.models.generators.made import DOCUMENTS  # noqa: E402

TINY = "copyrnn,attention=general,embedding=8,hidden=8,read=60,written=30"
CORPUS = Corpus.of(DOCUMENTS, "made")
VALID = Corpus.of(DOCUMENTS[:6], "some")


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def weights(folder: Path) -> bytes:
    return (folder / "weights.safetensors").read_bytes()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "model"
    karat.train(CORPUS, TINY, output=folder, steps=12, batch=8, valid=VALID)
    return folder


def test_a_directory_holds_a_card_words_weights_state_and_log(trained: Path) -> None:
    assert {each.name for each in trained.iterdir()} == {
        *("model.json", "words.txt", "weights.safetensors", "state.safetensors", "state.json", "log.jsonl"),
        *("examples.i32", "valid.i32"),
    }
    card = json.loads((trained / "model.json").read_text())
    assert (card["model"], card["steps"], card["step"], card["documents"]) == ("copyrnn", 12, 12, 96)
    assert card["corpus"]["name"] == "made"
    assert len((trained / "log.jsonl").read_text().splitlines()) == 6


def test_the_same_seed_gives_the_same_weights_and_another_does_not(trained: Path, tmp_path: Path) -> None:
    karat.train(CORPUS, TINY, output=tmp_path / "same", steps=12, batch=8, valid=VALID)
    karat.train(CORPUS, TINY, output=tmp_path / "other", steps=12, batch=8, valid=VALID, seed=1)
    assert weights(tmp_path / "same") == weights(trained)
    assert weights(tmp_path / "other") != weights(trained)


def test_accumulated_batches_are_one_batch(tmp_path: Path) -> None:
    """Without dropout and with one batch an epoch, two halves give the gradients of the whole."""
    options = f"{TINY},dropout=0"
    same = Corpus.of([DOCUMENTS[0]] * 8)
    karat.train(same, options, output=tmp_path / "whole", steps=5, batch=8)
    karat.train(same, options, output=tmp_path / "halves", steps=5, batch=4, accumulate=2)
    one, two = (checkpoint.load(tmp_path / name).model.state_dict() for name in ("whole", "halves"))
    assert all(torch.allclose(one[name], two[name], atol=1e-5) for name in one)


def test_minutes_fix_a_number_of_steps_that_gives_the_same_weights(tmp_path: Path) -> None:
    karat.train(CORPUS, TINY, output=tmp_path / "timed", minutes=0.01, batch=8)
    steps = checkpoint.read_card(tmp_path / "timed").steps
    karat.train(CORPUS, TINY, output=tmp_path / "counted", steps=steps, batch=8)
    assert weights(tmp_path / "timed") == weights(tmp_path / "counted")


def test_steps_of_several_processes_are_timed_by_them_beside_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def alone(_training: loop.Training) -> None:
        raise AssertionError("this process has more threads than each of those that train")

    karat.write(CORPUS, tmp_path / "corpus.jsonl")
    monkeypatch.setattr(loop.Training, "plan", alone)  # in this process, not in those that it starts
    karat.train(tmp_path / "corpus.jsonl", TINY, output=tmp_path / "timed", minutes=0.01, batch=4, jobs=2)
    steps = checkpoint.read_card(tmp_path / "timed").steps
    karat.train(tmp_path / "corpus.jsonl", TINY, output=tmp_path / "counted", steps=steps, batch=4, jobs=2)
    assert weights(tmp_path / "timed") == weights(tmp_path / "counted")


@pytest.mark.parametrize("at", [1, 5, 9])
def test_a_killed_training_goes_on_to_the_same_bytes(
    at: int, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state is saved at each step; the training is cut off before a step, with nothing tidied up."""
    monkeypatch.setattr(loop, "SAVED", -1.0)
    step = loop.Training._step

    def cut(training: loop.Training, number: int) -> Any:
        if number == at:
            raise KeyboardInterrupt
        return step(training, number)

    with monkeypatch.context() as patch:
        patch.setattr(loop.Training, "_step", cut)
        with pytest.raises(KeyboardInterrupt):
            karat.train(CORPUS, TINY, output=tmp_path / "model", steps=12, batch=8, valid=VALID)
    karat.train(CORPUS, TINY, output=tmp_path / "model", steps=12, batch=8, valid=VALID, resume=True)
    assert weights(tmp_path / "model") == weights(trained)
    assert (tmp_path / "model" / "log.jsonl").read_bytes() == (trained / "log.jsonl").read_bytes()


def test_a_process_that_is_killed_leaves_a_state_to_go_on_from(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    karat.write(CORPUS, corpus)
    code = (
        "import sys, torch, karat; from karat.models.generators import loop; torch.set_num_threads(1);"
        "loop.SAVED = -1.0;"
        f"karat.train(sys.argv[1], {TINY!r}, output=sys.argv[2], steps=60, batch=4, resume=True)"
    )
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    subprocess.run([sys.executable, "-c", code, str(corpus), str(whole)], check=True)
    killed = 0
    for wait in (0.0, 0.05, 0.1):
        process = subprocess.Popen([sys.executable, "-c", code, str(corpus), str(broken)])
        before = _step_of(broken)
        while process.poll() is None and _step_of(broken) <= before + 8:
            time.sleep(0.02)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed
    subprocess.run([sys.executable, "-c", code, str(corpus), str(broken)], check=True)
    assert weights(broken) == weights(whole)


def _step_of(folder: Path) -> int:
    try:
        return int(json.loads((folder / "state.json").read_text())["step"])
    except (OSError, ValueError):
        return 0


def test_two_processes_do_as_one_with_twice_the_batch(tmp_path: Path) -> None:
    options = f"{TINY},dropout=0"
    corpus = tmp_path / "corpus.jsonl"
    karat.write(CORPUS, corpus)
    karat.train(corpus, options, output=tmp_path / "one", steps=20, batch=8)
    karat.train(corpus, options, output=tmp_path / "two", steps=20, batch=4, jobs=2)
    one, two = (checkpoint.load(tmp_path / name).model.state_dict() for name in ("one", "two"))
    assert all(torch.allclose(one[name], two[name], atol=1e-4) for name in one)


def test_training_stops_when_validation_gets_no_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    losses = iter([3.0, 2.0, 2.5, 2.6, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    monkeypatch.setattr(loop, "loss_on", lambda *_: next(losses))
    found = karat.train(CORPUS, TINY, output=tmp_path / "m", steps=20, batch=8, valid=VALID, stop="loss:2")
    card = checkpoint.read_card(tmp_path / "m")
    assert [row["valid"] for row in found.rows] == [3.0, 2.0, 2.5, 2.6]
    assert (card.step, card.loss) == (4, 2.0)  # the best weights stay
    assert "stopped at step 8" in found.notes[-1]


def test_any_metric_can_say_when_to_stop(tmp_path: Path) -> None:
    found = karat.train(CORPUS, TINY, output=tmp_path / "m", steps=4, batch=8, valid=VALID, stop="f1@5:present:1")
    assert all(0 <= row["f1@5:present"] <= 1 for row in found.rows)


def test_a_batch_that_does_not_fit_is_cut_into_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loss = CopyRNN.loss

    def small(model: CopyRNN, batch: Any) -> Any:
        if len(batch.source) > 4:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return loss(model, batch)

    monkeypatch.setattr(CopyRNN, "loss", small)
    found = karat.train(CORPUS, TINY, output=tmp_path / "m", steps=2, batch=16)
    assert "cut into 4 pieces" in found.notes[-1]


def test_a_loss_that_is_no_number_stops_and_names_step_and_documents(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "SAVED", -1.0)
    loss, calls = CopyRNN.loss, iter(range(100))

    def broken(model: CopyRNN, batch: Any) -> Any:
        found, many = loss(model, batch)
        return (found * float("nan") if next(calls) == 3 else found), many

    monkeypatch.setattr(CopyRNN, "loss", broken)
    with pytest.raises(InputError, match=r"the loss of step 4 is not a number \(documents d\d+, "):
        karat.train(CORPUS, TINY, output=tmp_path / "m", steps=12, batch=8)
    assert _step_of(tmp_path / "m") == 3


def test_documents_that_were_seen_are_counted_as_they_are(tmp_path: Path) -> None:
    """Three batches of 32 documents of 12, of which the third has 8, and a batch that all of them do not fill."""
    found = karat.train(CORPUS, TINY, output=tmp_path / "small", steps=3, batch=12)
    assert found.documents == 32
    found = karat.train(CORPUS, TINY, output=tmp_path / "large", steps=2, batch=1000)
    assert found.documents == 64


def test_validation_documents_among_the_training_ones_are_counted(tmp_path: Path) -> None:
    found = karat.train(CORPUS, TINY, output=tmp_path / "m", steps=1, batch=8, valid=VALID)
    assert found.notes[0].startswith("6 of the training documents are also validation documents")


def test_references_that_are_all_absent_are_said(tmp_path: Path) -> None:
    absent = Corpus.of([Document(text="a b c", keyphrases=["x y"]), Document(text="d e f", keyphrases=["y z"])])
    found = karat.train(absent, TINY, output=tmp_path / "m", steps=1)
    assert any("all references are absent" in note for note in found.notes)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"steps": 3, "minutes": 2}, "both say how long"),
        ({"batch": 0}, "--batch is more than 0"),
        ({"stop": "f1@5"}, "METRIC:4"),
        ({"stop": "loss"}, "--valid"),
        ({"device": "tpu9"}, "no such device"),
        ({"bach": 3}, "did you mean 'batch'"),
        ({"precision": "fp8"}, "fp32 or bf16"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        karat.train(
            CORPUS, TINY, output=tmp_path / "m", **({"steps": 1} | settings if "minutes" not in settings else settings)
        )


def test_a_corpus_without_references_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no document has any"):
        karat.train(Corpus.of([Document(text="a b")]), TINY, output=tmp_path / "m", steps=1)
    with pytest.raises(InputError, match="vocabulary of one word"):
        karat.train(CORPUS, "copyrnn,written=1", output=tmp_path / "m", steps=1)


def test_a_training_is_not_overwritten_and_goes_on_with_the_same_only(trained: Path) -> None:
    with pytest.raises(InputError, match="--resume"):
        karat.train(CORPUS, TINY, output=trained, steps=12, batch=8)
    with pytest.raises(InputError, match=r"another batch \(8, not 4\)"):
        karat.train(CORPUS, TINY, output=trained, steps=12, batch=4, resume=True)
    with pytest.raises(InputError, match="another corpus"):
        karat.train(VALID, TINY, output=trained, steps=12, batch=8, resume=True)


def test_another_directory_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match=r"no directory of a training \(thesis.tex\)"):
        karat.train(CORPUS, TINY, output=tmp_path, steps=1)


# ---------------------------------------------------------------------------------------------- prediction


def test_a_directory_is_a_model(trained: Path) -> None:
    by_path = list(karat.predict(VALID, str(trained)))
    by_name = list(karat.predict(VALID, f"copyrnn,model={trained}"))
    assert by_path == by_name
    assert [each.id for each in by_path] == [each.id for each in DOCUMENTS[:6]]
    beam = list(karat.predict(VALID, f"{trained},beam=3"))
    assert all(len(each.token_probs or ()) == len(each.keyphrases or ()) for each in beam)


def test_documents_without_text_have_no_phrases(trained: Path) -> None:
    found = list(karat.predict(Corpus.of([Document(id="a"), DOCUMENTS[0], Document(id="b", text=" ")]), str(trained)))
    assert [bool(each.keyphrases) for each in found if each.id != "d0"] == [False, False]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: (folder / "model.json").unlink(), "has no model.json"),
        (lambda folder: _replace(folder, '"karat generator 1"', '"karat generator 9"'), "of another version"),
        (
            lambda folder: _replace(folder, '"hidden": 8', '"hidden": 9'),
            r"is \[2, 8, 24\], and the model has \[2, 9, 27\]",
        ),
        (lambda folder: _drop(folder, "gate.bias"), "the weight gate.bias is missing"),
        (lambda folder: (folder / "weights.safetensors").write_bytes(b"{}"), "damaged"),
        (lambda folder: (folder / "words.txt").write_text("a\nb\n"), "no table of words"),
    ],
)
def test_a_damaged_directory_is_refused(change: Any, said: str, trained: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    remove_checksums(Path(shutil.copytree(trained, folder)))
    change(folder)
    with pytest.raises(InputError, match=said):
        karat.predict(VALID, str(folder))


@pytest.mark.parametrize("name", ["model.json", "words.txt", "weights.safetensors"])
def test_a_file_that_does_not_match_its_checksum_is_refused(name: str, trained: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(trained, tmp_path / "model"))
    content = bytearray((folder / name).read_bytes())
    content[-3] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=rf"{name}: is damaged: its content does not match its checksum; restore it"):
        karat.predict(VALID, str(folder))


@pytest.mark.parametrize("name", ["examples.i32", "state.safetensors"])
def test_a_training_is_not_resumed_with_damaged_files(name: str, trained: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(trained, tmp_path / "model"))
    content = bytearray((folder / name).read_bytes())
    content[-3] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=rf"{name}: is damaged: its content does not match its checksum; restore it"):
        karat.train(CORPUS, TINY, output=folder, steps=12, batch=8, valid=VALID, resume=True)


def test_a_model_without_checksums_is_noted(trained: Path, tmp_path: Path) -> None:
    folder = remove_checksums(Path(shutil.copytree(trained, tmp_path / "model")))
    found = predicted(VALID, parse_model(str(folder)), PredictOptions())
    assert f"{folder}: has no checksum, as an earlier version of karat wrote it: damage to it is not detected" in (
        found.notes
    )


def _replace(folder: Path, old: str, new: str) -> None:
    path = folder / "model.json"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def _drop(folder: Path, name: str) -> None:
    tensors, _ = checkpoint.read_tensors(folder / "weights.safetensors")
    del tensors[name]
    checkpoint.write_tensors(folder / "weights.safetensors", tensors)


def test_a_generator_without_a_trained_model_says_how_to_make_one() -> None:
    with pytest.raises(InputError, match="karat train copyrnn CORPUS -o DIR"):
        karat.predict(VALID, "copyrnn")


def test_a_model_of_another_kind_is_told(trained: Path) -> None:
    with pytest.raises(InputError, match="is a copyrnn, not a transformer"):
        karat.predict(VALID, f"transformer,model={trained}")


def test_trained_models_are_listed(trained: Path) -> None:
    from click.testing import CliRunner

    from karat.cli import karat as command

    found = CliRunner().invoke(command, ["list", "models", str(trained), "-f", "json"])
    [told] = json.loads(found.output).values()
    assert (told["model"], told["corpus"], told["documents"], told["step"]) == ("copyrnn", "made", 96, 12)
    assert "96 documents of made seen (step 12 of 12)" in told["summary"]
    told = " ".join(CliRunner().invoke(command, ["list", "models", "one2set"]).output.split())
    assert "needs training" in told
    assert "Options of karat train one2set: size=128, layers=2, heads=4" in told
    assert "slots=20, length=6" in told


def test_settings_know_what_they_stop_by() -> None:
    assert Settings(stop="loss").stopping() == ("loss", 4)
    assert Settings(stop="f1@5:present:3").stopping() == ("f1@5:present", 3)


def test_extractors_do_without_torch() -> None:
    code = (
        "import sys, karat; list(karat.predict(karat.Corpus.of([{'id': '1', 'text': 'Deep nets learn.'}]), 'yake'));"
        "from karat.models.train import trainers; trainers();"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))


def test_without_torch_the_extra_is_named(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(karat.KaratError, match=r"karat\[neural\]"):
        karat.predict(VALID, str(trained))
    with pytest.raises(karat.KaratError, match=r"karat\[neural\]"):
        karat.train(CORPUS, TINY, output=tmp_path / "m", steps=1)


def test_kea_is_told_that_a_setting_is_not_its_own(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--minutes is for generators"):
        karat.train(CORPUS, "kea", output=tmp_path / "kea.json", minutes=1)


def test_a_broken_off_prediction_goes_on(trained: Path, tmp_path: Path) -> None:
    """What is there of an earlier attempt is kept, and the rest is predicted as it would have been."""

    whole = tmp_path / "whole.jsonl"
    predicted(CORPUS, parse_model(str(trained)), PredictOptions(), output=str(whole))
    lines = whole.read_bytes().splitlines(keepends=True)
    assert len(lines) == 32
    from karat.formats.unfinished import unfinished
    from karat.models.base import CommonOptions
    from karat.models.fingerprint import fingerprint

    part = tmp_path / "part.jsonl"
    with unfinished(str(part), fingerprint(parse_model(str(trained)), CommonOptions(), CORPUS)) as work:
        work.add(line.rstrip(b"\n") for line in lines[:10])
    found = predicted(CORPUS, parse_model(str(trained)), PredictOptions(), output=str(part))
    assert "went on after 10 documents that were there already" in found.provenance
    assert part.read_bytes() == whole.read_bytes()
