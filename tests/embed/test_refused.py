"""Names and directories that are no embedder: refused in one sentence, before torch is loaded."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from karat.embed import embedder
from karat.errors import InputError
from tests.embed.models import write_json

BERT = {"model_type": "bert", "architectures": ["BertModel"], "num_hidden_layers": 3}


def directory(folder: Path, config: Any = BERT, *files: str) -> str:
    folder.mkdir(exist_ok=True)
    if config is not None:
        write_json(folder / "config.json", config)
    for name in files:
        (folder / name).write_bytes(b"x")
    return str(folder)


def refusal(name: str) -> str:
    with pytest.raises(InputError) as caught:
        embedder(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["", "Hash", "bert-base-uncased", ",layer=3"])
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(name: str) -> None:
    assert "known: hash, vectors:PATH" in refusal(name)


def test_a_name_of_the_hub_is_not_downloaded() -> None:
    assert "karat downloads no models" in refusal("sentence-transformers/all-MiniLM-L6-v2")


def test_a_directory_without_a_configuration_is_refused(tmp_path: Path) -> None:
    assert "it has no config.json" in refusal(str(tmp_path))


def test_a_directory_with_pickles_only_is_refused(tmp_path: Path) -> None:
    said = refusal(directory(tmp_path / "m", BERT, "pytorch_model.bin"))
    assert "has its weights as pickles only" in said


def test_a_directory_without_weights_is_refused(tmp_path: Path) -> None:
    assert "has no weights" in refusal(directory(tmp_path / "m"))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model_type": "t5", "is_encoder_decoder": True}, "a t5 is a sequence-to-sequence model"),
        ({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}, "a gpt2 is a decoder"),
        ({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}, "a llama is a decoder"),
        ({"model_type": "bert", "is_decoder": True}, "a bert is a decoder"),
        ({}, "does not say its model_type"),
        ([], "is not a JSON object"),
        ({**BERT, "transformers_weights": "x.bin"}, "weights are elsewhere"),
    ],
)
def test_a_configuration_that_is_no_encoders_is_refused(tmp_path: Path, config: Any, said: str) -> None:
    assert said in refusal(directory(tmp_path / "m", config, "model.safetensors"))


def test_a_configuration_that_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    assert "is not JSON" in refusal(str(tmp_path))


def test_an_adapter_is_refused(tmp_path: Path) -> None:
    assert "an adapter's" in refusal(directory(tmp_path / "m", BERT, "model.safetensors", "adapter_config.json"))


@pytest.mark.parametrize("shard", ["a.bin", "../a.safetensors", "absent.safetensors"])
def test_an_index_that_leads_elsewhere_is_refused(tmp_path: Path, shard: str) -> None:
    name = directory(tmp_path / "m", BERT, "a.bin")
    write_json(tmp_path / "m" / "model.safetensors.index.json", {"weight_map": {"x": shard}})
    assert "does not list safetensors files" in refusal(name) or "there is no such file" in refusal(name)


def test_a_layer_that_is_not_there_is_refused(tmp_path: Path) -> None:
    name = directory(tmp_path / "m", BERT, "model.safetensors")
    assert "there is no layer 4, the model has 3" in refusal(f"{name},layer=4")
    for layer in ("-1", "x", "", "²"):
        assert "is not a whole number" in refusal(f"{name},layer={layer}")


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        ([{"type": "x.Transformer", "path": ""}, {"type": "x.Dense", "path": "d"}], "Transformer + Dense is not"),
        ([{"type": "x.Transformer", "path": "../other"}], "is outside of the directory"),
        ({}, "is not a list of modules"),
    ],
)
def test_modules_that_are_not_known_are_refused(tmp_path: Path, modules: Any, said: str) -> None:
    name = directory(tmp_path / "m", BERT, "model.safetensors")
    (tmp_path / "m" / "modules.json").write_text(json.dumps(modules))
    assert said in refusal(name)


@pytest.mark.parametrize("pooling", [{"pooling_mode": "lasttoken"}, {"pooling_mode_weightedmean_tokens": True}])
def test_a_pooling_that_is_not_known_is_refused(tmp_path: Path, pooling: dict[str, Any]) -> None:
    name = directory(tmp_path / "m", BERT, "model.safetensors")
    modules = [{"type": "x.Transformer", "path": ""}, {"type": "x.Pooling", "path": "1_Pooling"}]
    write_json(tmp_path / "m" / "modules.json", modules)
    write_json(tmp_path / "m" / "1_Pooling" / "config.json", pooling)
    assert "is not supported (known: mean, cls, max)" in refusal(name)


@pytest.mark.parametrize("name", ["package:no_such_package_at_all", "package:a/b", "package:", "package:zlib"])
def test_a_package_that_is_not_there_is_refused(name: str) -> None:
    assert "there is no Python package" in refusal(name)


def test_a_package_without_a_model_is_refused() -> None:
    assert "has 0 models in it" in refusal("package:json")


def test_a_packages_model_is_found_without_importing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "some_model"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    directory(package / "model", BERT, "model.safetensors")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert embedder("package:some-model,layer=2").summary == "encoder model, layer 2"


def test_without_torch_the_command_to_install_it_is_said(tmp_path: Path) -> None:
    name = directory(tmp_path / "m", BERT, "model.safetensors")
    program = f"""
import sys
sys.modules["torch"] = None
from karat.embed import embedder
from karat.errors import MissingExtraError
try:
    embedder({name!r}).embed(["a"])
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'karat[neural]'" in done.stdout


def test_importing_embedders_loads_neither_torch_nor_transformers() -> None:
    program = "import sys, karat.embed; karat.embed.embedder('hash').embed(['a']); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"'torch'", "'transformers'", "'huggingface_hub'"} & set(done.stdout.strip("[]\n").split(", "))
