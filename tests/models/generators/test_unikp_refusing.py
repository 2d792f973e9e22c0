"""What cannot be the encoder, the corpus or the directory of a tagger: each is one sentence, and exit code 2."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import karat  # noqa: E402
from karat import Corpus, InputError  # noqa: E402
from karat.corpus import Document  # noqa: E402
from karat.models.generators import checkpoint  # noqa: E402
from tests.checksums import remove_checksums  # noqa: E402
from tests.forked import program  # noqa: E402
from tests.models.generators.made import DOCUMENTS  # noqa: E402
from tests.models.generators.test_unikp import CORPUS, RANDOM, VALID, made_encoder  # noqa: E402

TINY = f"tagger,{RANDOM}"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_encoder(tmp_path_factory.mktemp("refused") / "bert")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("refused") / "model"
    karat.train(CORPUS, TINY, output=folder, steps=2, batch=8, valid=VALID)
    return folder


def configured(**change: Any) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | change))

    return apply


def without(*names: str) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        for name in names:
            (folder / name).unlink(missing_ok=True)

    return apply


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def without_numbers(file: str, name: str) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        tensors, _ = checkpoint.read_tensors(folder / file)
        tensors[name][0] = float("inf")
        checkpoint.write_tensors(folder / file, tensors)

    return apply


def lacking(folder: Path) -> None:
    tensors, _ = checkpoint.read_tensors(folder / "model.safetensors")
    del tensors["encoder.layer.1.output.dense.bias"]
    checkpoint.write_tensors(folder / "model.safetensors", tensors)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without("config.json"), "is not the directory of an encoder: it has no config.json"),
        (configured(is_encoder_decoder=True), "is a sequence-to-sequence model; an encoder is needed"),
        (configured(architectures=["BertLMHeadModel"]), "is a decoder; an encoder is needed"),
        (configured(model_type="distilbert"), r"a distilbert is no encoder of BERT's kind \(bert, roberta"),
        (
            configured(auto_map={"AutoModel": "code.Model"}),
            r"asks for code of its own \(auto_map\), which karat does not",
        ),
        (configured(hidden_size="32"), "hidden_size is missing, or is no whole number"),
        (configured(num_attention_heads=3), "size is a multiple of the heads, not 32 with 3 heads"),
        (configured(hidden_act="swish"), "its activation is swish, and karat knows gelu"),
        (configured(position_embedding_type="relative_key"), "its positions are relative_key, not absolute"),
        (configured(num_hidden_layers=3), "its weights are not complete: encoder.layer.2.*is missing"),
        (configured(intermediate_size=64), r"is \[48, 32\], and config.json says \[64, 32\]"),
        (configured(vocab_size=20), "its tokenizer has .* pieces, and the model 20"),
        (pickled, r"as pickles only, which karat does not open; if you trust them, .*save_pretrained\('.'\)"),
        (without("model.safetensors"), "has no weights"),
        (without("tokenizer.json", "vocab.txt", "tokenizer_config.json"), "has no tokenizer"),
        (lambda folder: (folder / "tokenizer.json").write_text("{"), "its tokenizer could not be loaded"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"{}"), "is no file of weights, or is damaged"),
        (
            without_numbers("model.safetensors", "encoder.layer.1.output.dense.bias"),
            "has values that are not finite numbers",
        ),
        (lacking, r"not complete: encoder\.layer\.1\.output\.dense\.bias is missing"),
    ],
)
def test_what_is_no_encoder_is_told_in_a_sentence(change: Any, said: str, encoder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(encoder, tmp_path / "copy"))
    change(folder)
    with pytest.raises(InputError, match=said) as error:
        karat.train(CORPUS, f"tagger,model={folder},longest=100", output=tmp_path / "m", steps=1)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "m" / "weights.safetensors").exists()


def test_a_directory_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gone: there is no such directory"):
        karat.train(CORPUS, f"tagger,model={tmp_path / 'gone'}", output=tmp_path / "m", steps=1)


def test_where_the_package_of_the_default_is_missing_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from karat.models.generators.unikp import pretrained

    monkeypatch.setattr(pretrained, "MINILM", "no-such-package-as-this")
    with pytest.raises(InputError, match="name an encoder, as model=DIR, or model=random"):
        karat.train(CORPUS, "tagger", output=tmp_path / "m", steps=1)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("tagger,model=random,frozen=9", "the encoder has 2 layers, so that 9 cannot be frozen"),
        ("tagger,model=random,frozen=-1", "frozen is from 0 to 100 layers, not -1"),
        ("tagger,model=random,longest=600", "the encoder takes 512 pieces: longest is 512 or less"),
        ("unikp,model=random,longest=500", "the encoder takes 512 pieces: longest is 464 or less"),
        ("unikp,model=random,smoothing=1", "smoothing is from 0 to below 1, not 1"),
        ("unikp,model=random,relations=-1", "relations is from 0 to 100 layers"),
        ("unikp,model=random,written=1", "written is from 2"),
        ("tagger,model=random,heads=3", "size is a multiple of the heads"),
        ("tagger,model=random,vocabulary=20", "vocabulary is from 300"),
        ("tagger,model=random,size=100000,inner=100000,layers=100", "do not fit into the memory of this machine"),
        ("tagger,model=random,weight=0", "weight is more than 0 and finite"),
        ("tagger,model=random,dropout=1", "dropout is from 0 to .99"),
        ("tagger,size=64", "size is an option of model=random: an encoder that is trained has its own"),
        ("tagger,frozn=1", "did you mean 'frozen'"),
    ],
)
def test_options_that_cannot_be_are_refused(model: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        karat.train(CORPUS, model, output=tmp_path / "m", steps=1)


@pytest.mark.parametrize("setting", [{"drop": "add"}, {"guide": "yake"}])
def test_settings_of_generators_that_copy_are_refused(setting: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is for generators that copy, not for tagger"):
        karat.train(CORPUS, TINY, output=tmp_path / "m", steps=1, **setting)  # type: ignore[arg-type]
    assert not (tmp_path / "m").exists()


def test_a_corpus_without_references_or_without_present_ones_is_refused(tmp_path: Path) -> None:
    nothing = Corpus.of([Document(text="deep nets"), Document(text="", keyphrases=["nets"])])
    with pytest.raises(InputError, match="tagger learns from references, and no document has any with a text"):
        karat.train(nothing, TINY, output=tmp_path / "m", steps=1)
    absent = Corpus.of([Document(text="deep nets", keyphrases=["bees"]), Document(text="trees", keyphrases=["heap"])])
    with pytest.raises(InputError, match="tagger learns from references that stand in their documents, and none does"):
        karat.train(absent, TINY, output=tmp_path / "m", steps=1)
    with pytest.raises(InputError, match="and no validation document has any"):
        karat.train(CORPUS, TINY, output=tmp_path / "m", steps=1, valid=nothing)
    found = karat.train(absent, TINY.replace("tagger", "unikp"), output=tmp_path / "both", steps=1)
    assert any("all references are absent" in note for note in found.notes)


def rewritten(name: str, change: dict[str, Any]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        content = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(content | change))

    return apply


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without("model.json"), "has no model.json"),
        (without("encoder.json"), r"encoder\.json: there is no such file"),
        (without("tokenizer.json"), r"tokenizer\.json: there is no such file, which is the tokenizer"),
        (without("weights.safetensors"), r"weights\.safetensors: there is no such file"),
        (without_numbers("weights.safetensors", "tag.bias"), r"the weight tag\.bias has values that are not finite"),
        (lambda folder: (folder / "tokenizer.json").write_text("[]"), "is no tokenizer, or is damaged"),
        (lambda folder: (folder / "encoder.json").write_text("[]"), "does not say the shape of an encoder"),
        (lambda folder: (folder / "weights.safetensors").write_bytes(b"PK"), "is no file of weights, or is damaged"),
        (rewritten("encoder.json", {"size": "x"}), "does not say the shape of an encoder"),
        (rewritten("encoder.json", {"size": -4}), "does not say the shape of an encoder"),
        (rewritten("encoder.json", {"pieces": 200}), "pieces, and the encoder 200"),
        (rewritten("encoder.json", {"inner": 65}), r"is \[64, 32\], and the model has \[65, 32\]"),
        (rewritten("encoder.json", {"pieces": 9_999_999, "size": 100_000, "heads": 1}), "do not fit into the memory"),
        (rewritten("encoder.json", {"end": 100_000}), "none of its vocabulary"),
        (rewritten("model.json", {"model": "unikp"}), "does not say what the model is|is missing"),
        (rewritten("model.json", {"options": {"model": "random", "frozen": "x"}}), "does not say what the model is"),
    ],
)
def test_a_damaged_directory_is_told_in_a_sentence(change: Any, said: str, trained: Path, tmp_path: Path) -> None:
    folder = remove_checksums(Path(shutil.copytree(trained, tmp_path / "copy")))
    change(folder)
    with pytest.raises(InputError, match=said) as error:
        karat.predict(VALID, str(folder))
    assert "\n" not in str(error.value)


def test_a_model_without_a_trained_one_says_how_to_make_one(trained: Path) -> None:
    with pytest.raises(InputError, match="karat train tagger CORPUS -o DIR makes one"):
        karat.predict(VALID, "tagger")
    with pytest.raises(InputError, match="is a tagger, not a unikp"):
        karat.predict(VALID, f"unikp,model={trained}")
    with pytest.raises(InputError, match="least a probability from 0 to 1"):
        karat.predict(VALID, f"{trained},least=2")


def test_a_training_goes_on_as_the_same_model_only(trained: Path) -> None:
    with pytest.raises(InputError, match=r"was trained with another model \(tagger, not unikp\)"):
        karat.train(CORPUS, f"unikp,{RANDOM}", output=trained, steps=2, batch=8, valid=VALID, resume=True)
    with pytest.raises(InputError, match=r"was trained with another frozen \(0, not 1\)"):
        karat.train(CORPUS, f"{TINY},frozen=1", output=trained, steps=2, batch=8, valid=VALID, resume=True)


def test_the_command_ends_with_code_2_and_one_sentence(encoder: Path, tmp_path: Path) -> None:
    karat.write(Corpus.of(DOCUMENTS[:4]), tmp_path / "corpus.jsonl")
    folder = Path(shutil.copytree(encoder, tmp_path / "copy"))
    pickled(folder)
    words = ("train", "tagger,model=copy", "corpus.jsonl", "-o", "m", "--steps", "1")
    done = subprocess.run([*program(), *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "as pickles only, which karat does not open" in done.stderr
