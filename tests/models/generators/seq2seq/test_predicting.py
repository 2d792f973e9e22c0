"""Any directory with an encoder and a decoder predicts, trained by karat or not; what is refused is one sentence."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import torch  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from transformers import BertConfig, BertModel  # noqa: E402

import karat  # noqa: E402
from karat import Corpus, InputError  # noqa: E402
from karat.cli import karat as command  # noqa: E402
from karat.corpus import Document  # noqa: E402
from karat.models.generators.seq2seq import directory  # noqa: E402
from karat.models.generators.seq2seq.beams import Search, Sequence  # noqa: E402
from karat.models.generators.seq2seq.settings import Seq2SeqLearning, Seq2SeqShape  # noqa: E402
from karat.models.generators.seq2seq.texts import Language  # noqa: E402
from karat.models.generators.seq2seq.writing import Writer  # noqa: E402
from karat.models.generators.words import Stems  # noqa: E402
from tests.models.generators.made import DOCUMENTS  # noqa: E402
from tests.models.generators.seq2seq.made import KINDS, far, network_of, tokenizer_of  # noqa: E402

CORPUS = Corpus.of(DOCUMENTS[:12], "made")


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module", params=KINDS)
def given(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that karat did not train."""
    return made(request.param, tmp_path_factory.mktemp("given") / request.param)


def made(kind: str, folder: Path) -> Path:
    tokenizer = tokenizer_of(kind)
    far(network_of(kind, len(tokenizer))).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


# ---------------------------------------------------------------------------------------------- predicting


def test_a_directory_predicts_without_training(given: Path, tmp_path: Path) -> None:
    karat.write(CORPUS, tmp_path / "corpus.jsonl")
    model = f"seq2seq,model={given},separator=;,beam=4,longest=24"
    found = CliRunner().invoke(
        command, ["predict", model, str(tmp_path / "corpus.jsonl"), "-n", "10", "-o", str(tmp_path / "run.jsonl")]
    )
    assert found.exit_code == 0, found.output
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == [document.id for document in CORPUS]
    assert any(line["keyphrases"] for line in lines)
    for line in lines:
        phrases = line["keyphrases"]
        assert len(phrases) == len(line["scores"]) == len(line["token_probs"]) == len(line["kinds"]) <= 10
        assert all(phrase.strip() == phrase and ";" not in phrase for phrase in phrases)
    paths = [str(tmp_path / "corpus.jsonl"), str(tmp_path / "run.jsonl")]
    found = CliRunner().invoke(command, ["confidence", *paths, "-f", "json"])
    assert found.exit_code == 0, found.output


def test_the_size_of_a_batch_changes_no_prediction(given: Path) -> None:
    model = f"seq2seq,model={given},beam=3,longest=12"
    together = list(karat.predict(CORPUS, model))
    for at in (0, 5, 11):
        [alone] = karat.predict(Corpus.of(DOCUMENTS[at : at + 1]), model)
        assert alone.keyphrases == together[at].keyphrases
        assert alone.scores == pytest.approx(together[at].scores, abs=1e-5)
    with pytest.raises(InputError, match=r"sequences is from 0, which is all, to the beam, 3, not 4"):
        karat.predict(CORPUS, f"{model},sequences=4")


def test_a_document_without_text_has_no_phrases(given: Path) -> None:
    some = Corpus.of([Document(id="a", text=" "), DOCUMENTS[0]])
    first, second = karat.predict(some, f"seq2seq,model={given},longest=12,beam=3")
    assert first.keyphrases == []
    assert second.id == DOCUMENTS[0].id


def test_what_is_longer_than_the_model_takes_is_cut_counted_and_said(tmp_path: Path) -> None:
    folder = made("bart", tmp_path / "bart")  # which has 256 places
    told = json.loads((folder / "generation_config.json").read_text())
    (folder / "generation_config.json").write_text(json.dumps(told | {"repetition_penalty": 1.5}))
    long = [Document(id=str(at), text="graph tree " * 300) for at in range(3)]
    karat.write(Corpus.of([*long, DOCUMENTS[0]]), tmp_path / "corpus.jsonl")
    found = CliRunner().invoke(
        command,
        [
            "predict",
            f"seq2seq,model={folder},longest=4",
            str(tmp_path / "corpus.jsonl"),
            "-o",
            str(tmp_path / "r.jsonl"),
        ],
    )
    assert found.exit_code == 0, found.output
    said = "3 documents were longer than what is read, and were cut to the first 256 tokens"
    assert said in " ".join(found.stderr.split())
    assert "generation_config.json asks for repetition_penalty, which karat does not do" in found.stderr


def writer(kind: str, separator: str, **shape: Any) -> Writer:
    tokenizer = tokenizer_of(kind, ["a b c d e f ; (x);(y) net nets"] * 5, 300 if kind == "bart" else 40)
    tokenizer.add_tokens(["<sep>"])
    found = directory.Pretrained(network_of(kind, len(tokenizer)), tokenizer)
    language = Language.of(found, Seq2SeqShape(separator=separator, **shape), Seq2SeqLearning())
    return Writer(found, language, Search(), 10)


@pytest.mark.parametrize(("kind", "separator"), [("bart", ";"), ("bart", "<sep>"), ("t5", ";"), ("t5", " <sep> ")])
def test_sequences_are_cut_at_separators_and_each_token_counts_for_its_phrase(kind: str, separator: str) -> None:
    made = writer(kind, separator)
    phrases = ["a b", "(x)", "nets"]
    ids, _ = made.language.target(phrases)
    logs = [-0.01 * at for at in range(len(ids))]
    parts = list(made._parts(Sequence(ids, logs, 0.0)))
    assert [text for text, _ in parts] == phrases
    used = [log for _, some in parts for log in some]
    assert len(set(used)) == len(used)  # no token counts twice, as none has letters of two phrases
    silent = [log for token, log in zip(ids, logs, strict=True) if token in made.language.tokenizer.all_special_ids]
    assert not set(silent) & set(used)


def test_a_token_with_a_separator_and_letters_counts_for_their_phrase() -> None:
    made = writer("bart", ";")
    made.language.tokenizer.add_tokens([");"])
    ids = made.language.tokenizer("(a);b", add_special_tokens=False)["input_ids"]
    assert len(ids) == 4
    assert list(made._parts(Sequence(ids, [-0.1, -0.2, -0.3, -0.4], 0.0))) == [
        ("(a)", [-0.1, -0.2, -0.3]),
        ("b", [-0.4]),
    ]


def test_numbers_come_from_the_document_where_texts_are_tokens() -> None:
    made = writer("t5", " <sep> ", text="tokens")
    made.language.tokenizer.add_tokens(["<digit>"])
    ids, _ = made.language.target(["net <digit>", "nets", "c <digit>"])
    document = Document(text="Net 7 and Nets.")
    found = made._prediction(document, [Sequence(ids, [-0.1] * len(ids), 0.0)], Stems("english"))
    assert found.keyphrases == ["Net 7", "Nets"]  # which number the last one has, nobody knows
    assert found.kinds == ["present", "present"]


# ---------------------------------------------------------------------------------------------- what is refused


def no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def a_pickle(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def damaged(folder: Path) -> None:
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[: len(content) // 2])


def changed(folder: Path, **values: Any) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | values))


def remote_code(folder: Path) -> None:
    changed(folder, auto_map={"AutoModelForSeq2SeqLM": "code.Model"})


def remote_tokenizer(folder: Path) -> None:
    told = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(told | {"auto_map": {"AutoTokenizer": ["t.T", None]}}))


def an_encoder(folder: Path) -> None:
    BertModel(BertConfig(vocab_size=40, hidden_size=8, num_hidden_layers=1, num_attention_heads=1)).save_pretrained(
        folder
    )


def fewer_rows(folder: Path) -> None:
    tokenizer_of("bart").save_pretrained(folder)
    network_of("bart", 100).save_pretrained(folder)


def other_shape(folder: Path) -> None:
    changed(folder, d_model=64)


def no_json(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def broken_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")


def rewritten(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        change(weights)
        save_file(weights, folder / "model.safetensors", {"format": "pt"})

    return apply


NAME = "model.decoder.layers.1.fc1.weight"
CONVERTS = r"has its weights as a pickle \(pytorch_model.bin\), which karat does not open; if you trust it, write"
REFUSED: list[tuple[Callable[[Path], None], str]] = [
    (no_config, "is not the directory of a pretrained model: it has no config.json"),
    (no_tokenizer, "has no tokenizer.json"),
    (no_weights, r"has no weights \(model.safetensors\)"),
    (a_pickle, CONVERTS),
    (damaged, "could not be loaded as a pretrained model"),
    (remote_code, r"asks for code of its own \(auto_map\), which karat does not run"),
    (remote_tokenizer, r"asks for code of its own \(auto_map\), which karat does not run"),
    (an_encoder, "a bert has no encoder and decoder of text, as BART and T5 have"),
    (fewer_rows, r"its tokenizer has \d+ tokens, and the model 100"),
    (other_shape, r"the weight model\.\S+ is of another shape than config.json says"),
    (rewritten(lambda weights: weights[NAME].fill_(math.nan)), f"the weight {NAME} has values that are not finite"),
    (rewritten(lambda weights: weights.pop(NAME)), f"its weights are not complete: {NAME} is missing"),
    (no_json, "config.json: is not JSON"),
    (broken_tokenizer, "its tokenizer could not be loaded"),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made("bart", tmp_path_factory.mktemp("whole") / "bart")


@pytest.mark.parametrize(("break_", "said"), REFUSED, ids=lambda each: getattr(each, "__name__", ""))
def test_a_directory_that_cannot_be_is_one_sentence(
    break_: Callable[[Path], None], said: str, whole: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "broken"))
    break_(folder)
    with pytest.raises(InputError, match=said) as predicted:
        karat.predict(CORPUS, f"seq2seq,model={folder}")
    with pytest.raises(InputError, match=said):
        karat.train(CORPUS, f"bart,model={folder}", output=tmp_path / "out", steps=1)
    assert "\n" not in str(predicted.value)
    assert len(str(predicted.value)) < 600
    assert not (tmp_path / "out" / "model.json").exists()


def test_the_command_that_converts_a_pickle_does_so(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "pickled"))
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError) as refused:
        karat.predict(CORPUS, f"seq2seq,model={folder}")
    code = str(refused.value).rpartition('python -c "')[2].removesuffix('"')
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True)
    model = "longest=8,beam=2"
    ours = list(karat.predict(CORPUS, f"seq2seq,model={folder},{model}"))
    assert ours == list(karat.predict(CORPUS, f"seq2seq,model={whole},{model}"))


def test_a_hub_that_cannot_be_reached_is_one_sentence_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library of the hub is asked once."""
    import huggingface_hub

    asked = []

    def download(name: str, **options: Any) -> str:
        asked.append((name, options["revision"], options["etag_timeout"]))
        raise OSError("Name or service not known\nPlease check your connection")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    karat.write(CORPUS, tmp_path / "corpus.jsonl")
    found = sentence_of(["predict", "seq2seq,model=hf:some/model@v1", str(tmp_path / "corpus.jsonl")])
    assert "hf:some/model: could not be fetched from a hub (OSError: Name or service not known" in found
    assert asked == [("some/model", "v1", 5)]


def test_a_model_of_a_hub_is_a_directory_from_then_on(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: str(whole))
    options = "beam=2,longest=8"
    found = list(karat.predict(CORPUS, f"seq2seq,model=hf:some/model,{options}"))
    assert found == list(karat.predict(CORPUS, f"seq2seq,model={whole},{options}"))


def sentence_of(arguments: list[str]) -> str:
    """The sentence that a command ends with."""
    found = CliRunner().invoke(command, arguments)
    assert isinstance(found.exception, InputError), found.exception
    return str(found.exception)


@pytest.mark.parametrize(
    ("model", "settings", "said"),
    [
        ("bart", {}, r"bart begins with a pretrained model: write bart,model=DIR, or hf:NAME"),
        ("bart,model=gone", {}, "gone: there is no such directory; write model=DIR, or model=hf:NAME to fetch a model"),
        ("bart,model={}", {"drop": "add"}, "--drop is for generators that count their own words, not for bart"),
        ("bart,model={}", {"guide": "tfidf"}, "--guide is for generators that count their own words, not for bart"),
        ("bart,model={},optimiser=sm3", {}, "sm3 has no decay of weights: write decay=0"),
        ("bart,model={},longest=2", {}, "longest is from 4 to 1,000,000 tokens, not 2"),
        ("bart,model={},order=last", {}, "order"),
        ("bart,model={},read=5", {}, "unknown option of bart 'read'"),
    ],
)
def test_a_training_that_cannot_be_is_refused_before_anything_is_written(
    model: str, settings: dict[str, Any], said: str, whole: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        karat.train(CORPUS, model.format(whole), output=tmp_path / "out", steps=1, **settings)
    assert not (tmp_path / "out" / "model.json").exists()


def test_a_pretrained_model_is_not_trained_over(whole: Path) -> None:
    with pytest.raises(InputError, match=r"has model.safetensors without a model.json"):
        karat.train(CORPUS, f"bart,model={whole}", output=whole, steps=1)


def test_options_of_predicting_that_cannot_be_are_refused(whole: Path) -> None:
    for option, said in (
        ("beam=0", "beam is from 1 to 1,000, not 0"),
        ("longest=0", "longest is from 1"),
        ("penalty=much", "penalty is a number from -1000 to 1000"),
    ):
        with pytest.raises(InputError, match=said):
            karat.predict(CORPUS, f"seq2seq,model={whole},{option}")
    with pytest.raises(InputError, match="seq2seq needs a pretrained model"):
        karat.predict(CORPUS, "seq2seq")
