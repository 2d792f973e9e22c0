"""What a generator's options, settings and files cannot be: each is refused in a sentence, before anything is lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import karat  # noqa: E402
from karat.corpus import Corpus  # noqa: E402
from karat.errors import InputError  # noqa: E402
from karat.generators import checkpoint, loop  # noqa: E402
from karat.generators.words import SPECIAL, Words  # noqa: E402
from tests.generators.made import DOCUMENTS  # noqa: E402

TINY = "copyrnn,attention=general,embedding=8,hidden=8,read=60,written=30"
CORPUS, VALID = Corpus.of(DOCUMENTS, name="made"), Corpus.of(DOCUMENTS[:6], name="valid")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("refusing") / "model"
    karat.train(CORPUS, TINY, output=folder, steps=12, batch=8, valid=VALID)
    return folder


@pytest.fixture
def copy(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "copy"))


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
        ({"steps": 1, "batch": "many"}, "Expected `int`, got `str`"),
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
    assert not (tmp_path / "m" / "model.json").exists()
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
        karat.train(CORPUS, "tgrf", output=tmp_path / "m", steps=1, start=trained)


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
