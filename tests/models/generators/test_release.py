"""A trained generator as an installed package: it predicts what its directory predicts, with the same options."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("hatchling")
pytestmark = pytest.mark.neural

import karat  # noqa: E402
from examples.release.build import Release, build  # noqa: E402
from karat.corpus import Corpus  # noqa: E402
from karat.errors import InputError  # noqa: E402
from karat.models.generators.checkpoint import read_tensors  # noqa: E402
from tests.checksums import remove_checksums  # noqa: E402
from tests.models.generators.made import DOCUMENTS  # noqa: E402
from tests.models.generators.seq2seq.made import directory_of  # noqa: E402
from tests.models.test_release import installed, run_karat  # noqa: E402

GIVEN = {"name": "made-en", "licence": "CC0-1.0", "attribution": "Documents that are made up"}
SMALL = "copyrnn,embedding=16,hidden=16,dropout=0,rate=.02,warmup=0"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "model"
    karat.train(Corpus.of(DOCUMENTS), SMALL, output=folder, steps=40, language="english")
    return folder


def test_an_installed_generator_predicts_as_its_directory_does(trained: Path, tmp_path: Path) -> None:
    wheel = build(trained, Release(**GIVEN), tmp_path / "dist")
    with zipfile.ZipFile(wheel) as file:
        inside = {Path(name).name for name in file.namelist() if "/model/" in name}
    assert inside == {"model.json", "words.txt", "weights.safetensors"}
    karat.write(Corpus.of(DOCUMENTS), tmp_path / "corpus.jsonl")
    environment = installed(wheel, tmp_path / "site")
    for model, run in (("made-en,beam=3", "installed.jsonl"), (f"{trained},beam=3", "directory.jsonl")):
        run_karat(environment, "predict", model, tmp_path / "corpus.jsonl", "-o", tmp_path / run)
    assert (tmp_path / "installed.jsonl").read_bytes() == (tmp_path / "directory.jsonl").read_bytes()
    assert any(json.loads(line)["keyphrases"] for line in (tmp_path / "directory.jsonl").read_text().splitlines())
    assert "copyrnn, trained: 640 documents" in " ".join(run_karat(environment, "list", "models", "made-en").split())


def test_a_wheel_does_not_tell_whose_folders_a_training_began_in(tmp_path: Path) -> None:
    folder = directory_of("bart", tmp_path / "home" / "somebody" / "begun")
    karat.train(Corpus.of(DOCUMENTS), f"bart,model={folder}", output=tmp_path / "model", steps=1)
    wheel = build(tmp_path / "model", Release(**GIVEN), tmp_path / "dist")
    with zipfile.ZipFile(wheel) as file:
        told = [file.read(name) for name in file.namelist() if name.endswith((".json", ".txt", ".md"))]
    assert json.loads(next(each for each in told if b'"options"' in each))["options"]["model"] == "begun"
    assert not any(b"somebody" in each for each in told)


def test_weights_of_16_bits_are_those_of_32_rounded_and_can_be_read(trained: Path, tmp_path: Path) -> None:
    import torch

    wheel = build(trained, Release(**GIVEN, precision="bf16"), tmp_path)
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "site")
    folder = tmp_path / "site" / "karat_model_made_en" / "model"
    given, _ = read_tensors(trained / "weights.safetensors")
    rounded, _ = read_tensors(folder / "weights.safetensors")
    assert {name: each.dtype for name, each in rounded.items()} == dict.fromkeys(given, torch.bfloat16)
    assert all(torch.equal(rounded[name], given[name].to(torch.bfloat16)) for name in given)
    assert len(list(karat.predict(Corpus.of(DOCUMENTS), str(folder)))) == len(DOCUMENTS)


def test_pickles_and_damaged_weights_are_refused(trained: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("model.json", "words.txt"):
        (folder / name).write_bytes((trained / name).read_bytes())
    remove_checksums(folder)
    with pytest.raises(InputError, match=r"weights.safetensors: there is no such file"):
        build(folder, Release(**GIVEN), tmp_path / "dist")
    (folder / "weights.safetensors").write_bytes(b"\x80\x04\x95\x00.")
    with pytest.raises(InputError, match="is no file of weights, or is damaged"):
        build(folder, Release(**GIVEN), tmp_path / "dist")
    (folder / "weights.safetensors").write_bytes((trained / "weights.safetensors").read_bytes())
    (folder / "weights.pt").write_bytes(b"\x80\x04\x95\x00.")
    with pytest.raises(InputError, match=r"weights.pt may be a pickle"):
        build(folder, Release(**GIVEN), tmp_path / "dist")
    assert not (tmp_path / "dist").exists()
