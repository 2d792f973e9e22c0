"""Back-translation by small Marian models that the tests make; their words are chance, the way they go is not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.errors import InputError
from karat.pairs.marian import NEEDED, checked, name_of, sentences

# torch, transformers and what stands on them warn of their own affairs.
pytestmark = [pytest.mark.neural, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    import torch

    folder = tmp_path_factory.mktemp("models")
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # of so small a model, threads would only wait for each other
    yield marian(folder / "there", 1), marian(folder / "back", 2)
    torch.set_num_threads(before)


def marian(folder: Path, seed: int) -> Path:
    """A directory with a Marian model of two small layers whose weights come from a seed."""
    import torch
    from sentencepiece import SentencePieceTrainer
    from transformers import MarianConfig, MarianMTModel

    folder.mkdir()
    text = folder / "text.txt"
    text.write_text("\n".join(["the bees live in the hive", "how wasps build a nest", "graphs grow like trees"] * 20))
    for side in ("source", "target"):
        SentencePieceTrainer.train(
            input=str(text), model_prefix=str(folder / side), vocab_size=50, minloglevel=2, hard_vocab_limit=False
        )
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
    pieces = [line.split("\t")[0] for line in (folder / "source.vocab").read_text().splitlines()]
    special = ["</s>", "<unk>", "<pad>"]
    words = [*special, *(piece for piece in pieces if piece not in (*special, "<s>"))]
    (folder / "vocab.json").write_text(json.dumps({word: n for n, word in enumerate(words)}))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "MarianTokenizer"}')
    config = MarianConfig(
        vocab_size=len(words),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=24,
        pad_token_id=2,
        eos_token_id=0,
        decoder_start_token_id=2,
        forced_eos_token_id=0,
        init_std=0.5,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        MarianMTModel(config).save_pretrained(folder)
    return folder


CORPUS = karat.Corpus.of(
    [
        {"id": "d1", "title": "The bees", "text": "The bees live in the hive. How wasps build a nest!"},
        {"id": "d2", "text": "Graphs grow like trees " * 12, "keyphrases": ["graphs"]},
    ]
)


def made(models: tuple[Path, Path], **options: Any) -> karat.Reformulated:
    return karat.reformulate(CORPUS, "marian", forward=models[0], backward=models[1], **options)


def test_documents_are_translated_there_and_back(models: tuple[Path, Path]) -> None:
    found = made(models)
    assert [each.id for each in found] == ["d1~marian", "d2~marian"]
    assert found.records[1].keyphrases == ["graphs"]
    assert found.records[1].text
    assert found.records[1].text != "Graphs grow like trees " * 12
    assert made(models) == found


def test_the_two_models_each_have_their_way(models: tuple[Path, Path]) -> None:
    there_and_back, other_way_round = made(models), made((models[1], models[0]))
    assert [each.text for each in there_and_back] != [each.text for each in other_way_round]


def test_what_is_translated_is_not_translated_again(
    models: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made(models, store=tmp_path / "kept.sqlite")

    def refuse(directory: Path) -> None:
        raise AssertionError("no model is needed")

    monkeypatch.setattr("karat.pairs.marian.translator", refuse)
    assert made(models, store=tmp_path / "kept.sqlite") == first


def test_the_name_of_a_model_is_of_its_files(models: tuple[Path, Path], tmp_path: Path) -> None:
    assert name_of(models[0]).startswith("there:")
    assert name_of(models[0]) != name_of(models[1])


def test_sentences_are_cut_where_one_ends_and_another_begins() -> None:
    assert sentences("It is 3.5 m. A (B) is. e.g. this? Yes.") == ["It is 3.5 m.", "A (B) is. e.g. this?", "Yes."]
    assert sentences("  ") == []


# ---------------------------------------------------------------------------------------------- refused


def fake(folder: Path, **config: Any) -> Path:
    folder.mkdir()
    for name in NEEDED:
        (folder / name).write_text("{}")
    (folder / "config.json").write_text(json.dumps({"model_type": "marian"} | config))
    return folder


def test_a_pickle_is_not_opened(tmp_path: Path) -> None:
    folder = fake(tmp_path / "m")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="has its weights as pickles only, which karat does not open"):
        checked(folder)


@pytest.mark.parametrize("name", NEEDED)
def test_a_file_that_lacks_is_named(name: str, tmp_path: Path) -> None:
    folder = fake(tmp_path / "m")
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"is not the directory of a Marian model: it has no {name}"):
        checked(folder)


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a Marian model is needed, and this is of type 't5'"):
        checked(fake(tmp_path / "t5", model_type="t5"))
    with pytest.raises(InputError, match="its weights are elsewhere or an adapter's"):
        checked(fake(tmp_path / "adapter", transformers_weights="x.bin"))
    with pytest.raises(InputError, match="there is no such directory"):
        checked(tmp_path / "nowhere")
    (fake(tmp_path / "broken") / "config.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        checked(tmp_path / "broken")


def test_a_model_without_some_of_its_weights_is_refused(models: tuple[Path, Path], tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    shutil.copytree(models[0], tmp_path / "part")
    weights = load_file(tmp_path / "part" / "model.safetensors")
    weights.pop("model.encoder.layers.0.fc1.weight")
    save_file(weights, tmp_path / "part" / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match=r"its weights are not complete: model.encoder.layers.0.fc1.weight"):
        made((tmp_path / "part", models[1]))


def test_nothing_is_printed_while_a_model_is_loaded(
    models: tuple[Path, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    made(models)
    assert capfd.readouterr() == ("", "")


def test_a_model_that_cannot_be_loaded_is_one_sentence(models: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="could not be loaded as a Marian model"):
        made((fake(tmp_path / "m"), models[1]))
