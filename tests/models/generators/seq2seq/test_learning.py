"""Pretrained networks learn: what they read and write, their labels, trainings that are broken off, and checkpoints."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import numpy as np  # noqa: E402
import torch  # noqa: E402
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer  # noqa: E402

import karat  # noqa: E402
from karat import Corpus  # noqa: E402
from karat.corpus import Document  # noqa: E402
from karat.errors import InputError  # noqa: E402
from karat.models.generators import checkpoint  # noqa: E402
from karat.models.generators.examples import Examples  # noqa: E402
from karat.models.generators.seq2seq.material import MATERIAL  # noqa: E402
from karat.models.generators.seq2seq.network import NO_LABEL, Pairs, Seq2Seq  # noqa: E402
from karat.models.generators.seq2seq.settings import Seq2SeqLearning  # noqa: E402
from tests.models.generators.made import DOCUMENTS  # noqa: E402
from tests.models.generators.seq2seq.made import KINDS, directory_of, network_of  # noqa: E402

SHORT = Document(
    id="d7", title=DOCUMENTS[7].title, text=DOCUMENTS[7].text, keyphrases=(DOCUMENTS[7].keyphrases or [])[:2]
)
FEW = Corpus.of([*DOCUMENTS[:7], SHORT], "few")
STEPS = {"bart": 150, "t5": 400}  # twice as many as they need, or more
RATES = {"bart": "rate=.003", "t5": "rate=.1,warmup=20"}
CPU = torch.device("cpu")


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def begun(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a pretrained model, as others write it."""
    return directory_of(kind, tmp_path_factory.mktemp("pretrained") / kind, size=64)


@pytest.fixture(scope="module")
def trained(kind: str, begun: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "model"
    karat.train(FEW, f"{kind},model={begun},{RATES[kind]}", output=folder, steps=STEPS[kind], batch=8, valid=FEW)
    return folder


def test_a_handful_of_documents_is_learned_by_heart(trained: Path) -> None:
    run = karat.predict(FEW, f"{trained},sequences=1")
    assert karat.score(FEW, run, metrics=["f1@M"]).rows()[0]["value"] >= 0.95
    [first] = karat.predict(Corpus.of(DOCUMENTS[:1]), f"{trained},sequences=1")
    assert sorted(map(str, first.keyphrases or ())) == ["graph list", "graph theory", "own0", "tree-graph methods"]
    assert dict(zip(map(str, first.keyphrases or ()), first.kinds or (), strict=True))["graph theory"] == "absent"
    scores, probabilities = first.scores or [], first.token_probs or []
    assert scores == pytest.approx([float(np.exp(np.log(each or []).mean())) for each in probabilities], abs=1e-5)


def test_a_checkpoint_is_what_save_pretrained_writes(trained: Path, tmp_path: Path) -> None:
    """Others load it without karat, and would save the same files."""
    network, told = AutoModelForSeq2SeqLM.from_pretrained(str(trained), output_loading_info=True)
    assert not told["missing_keys"]
    assert not told["unexpected_keys"]
    tokenizer = AutoTokenizer.from_pretrained(str(trained))
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (trained / path.name).read_bytes() or path.name == "tokenizer_config.json", (
            path.name
        )
    own = {"model.json", "log.jsonl", "state.json", "state.safetensors", "examples.i32", "valid.i32"}
    assert {path.name for path in trained.iterdir()} - own == {path.name for path in tmp_path.iterdir()}
    given = tokenizer("graph", return_tensors="pt")
    with torch.no_grad():
        assert network.generate(**given, max_new_tokens=5).shape[0] == 1


def test_what_is_read_and_written_is_that_of_the_papers(kind: str, trained: Path) -> None:
    words = MATERIAL.read_words(trained)
    example = Examples(trained / "examples.i32", words.rows, words=words.rows).example(0)
    source, target = (words.tokenizer.decode(each.tolist()) for each in (example.source, example.target))
    if kind == "bart":
        assert source == "<s>On graph list structures<s>We look at tree-graph methods, and at own0 of it.</s>"
        assert target == "<s>tree-graph methods;own0;graph list;graph theory</s>"
    else:
        assert source.replace(" ", "") == ("ongraphliststructures<sep>welookattree-graphmethods,andatown0ofit.</s>")
        assert target.replace(" ", "") == "graphlist<sep>tree-graphmethods<sep>own0<sep>graphtheory</s>"
        assert {"<sep>", "<digit>", "<cls>"} <= set(words.tokenizer.get_vocab())


def test_labels_never_have_padding(kind: str, trained: Path) -> None:
    """With the published collator's fault, that padding is a label, there would be as many labels as places."""
    words = MATERIAL.read_words(trained)
    examples = Examples(trained / "examples.i32", words.rows, words=words.rows)
    lengths = [len(examples.example(row).target) for row in range(8)]
    batch = MATERIAL.batch(examples, range(8), words, CPU)
    assert len(set(lengths)) > 1
    assert [(row != NO_LABEL).sum().item() for row in batch.targets] == lengths
    assert not (batch.targets == words.pad).any()
    model = Seq2Seq(network_of(kind, words.rows))
    with torch.no_grad():
        loss, many = model.loss(batch)
        alone = [model.loss(MATERIAL.batch(examples, [row], words, CPU)) for row in range(8)]
    assert many == sum(lengths)
    assert loss.item() == pytest.approx(sum(each.item() for each, _ in alone), rel=1e-5)
    faulty = batch._replace(targets=batch.targets.masked_fill(batch.targets == NO_LABEL, words.pad))
    with torch.no_grad():
        assert model.loss(faulty)[0].item() > loss.item() + 1  # what the test is about would be seen


def test_a_pad_token_in_a_text_is_read() -> None:
    rows = [np.array([5, 1, 7], np.int32), np.array([5], np.int32)]
    batch = Pairs.of(rows, rows, 2, 1, CPU)
    assert batch.mask.tolist() == [[1, 1, 1], [1, 0, 0]]
    assert batch.inputs.tolist() == [[2, 5, 1], [2, 5, 1]]
    assert batch.targets.tolist() == [[5, 1, 7], [5, NO_LABEL, NO_LABEL]]


def test_weights_decay_but_norms_and_biases_do_not(kind: str) -> None:
    model = Seq2Seq(network_of(kind, 50))
    optimiser = model.optimiser(Seq2SeqLearning(decay=0.25))
    decayed, others = optimiser.param_groups
    assert (decayed["weight_decay"], others["weight_decay"]) == (0.25, 0.0)
    assert all(each.dim() > 1 for each in decayed["params"])
    assert all(each.dim() == 1 for each in others["params"])
    assert len(decayed["params"]) + len(others["params"]) == len(list(model.parameters()))


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def test_the_same_seed_gives_the_same_weights_and_halves_give_the_whole(kind: str, begun: Path, tmp_path: Path) -> None:
    how: dict[str, Any] = {"batch": 3, "valid": FEW}
    model = f"{kind},model={begun}"
    for name in ("one", "two"):
        karat.train(FEW, model, output=tmp_path / name, steps=4, **how)
    assert weights(tmp_path / "one") == weights(tmp_path / "two")
    karat.train(FEW, model, output=tmp_path / "other", steps=4, seed=1, **how)
    assert weights(tmp_path / "one") != weights(tmp_path / "other")

    def broken(told: Any) -> None:
        if told.step == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        karat.train(FEW, model, output=tmp_path / "halves", steps=4, tell=broken, **how)
    assert weights(tmp_path / "halves") != weights(tmp_path / "one")
    karat.train(FEW, model, output=tmp_path / "halves", steps=4, resume=True, **how)
    assert weights(tmp_path / "halves") == weights(tmp_path / "one")


def test_a_training_that_is_killed_goes_on(tmp_path: Path) -> None:
    kind, begun = "t5", directory_of("t5", tmp_path / "t5")
    karat.write(FEW, tmp_path / "few.jsonl")
    command = [sys.executable, "-m", "karat", "train", f"{kind},model={begun}", str(tmp_path / "few.jsonl")]
    command += ["-o", str(tmp_path / "m"), "--steps", "12", "--batch", "4"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(b"step ") and (tmp_path / "m" / "state.safetensors").exists():
            break
    process.send_signal(signal.SIGKILL)
    process.stderr.close()
    process.wait()
    karat.train(FEW, f"{kind},model={begun}", output=tmp_path / "m", steps=12, batch=4, resume=True)
    karat.train(FEW, f"{kind},model={begun}", output=tmp_path / "whole", steps=12, batch=4)
    assert weights(tmp_path / "m") == weights(tmp_path / "whole")


def test_two_processes_learn_as_one_with_twice_the_batch(tmp_path: Path) -> None:
    begun = directory_of("bart", tmp_path / "bart")
    model = f"seq2seq,model={begun},rate=.001"
    karat.train(FEW, model, output=tmp_path / "one", steps=2, batch=4)
    karat.train(FEW, model, output=tmp_path / "two", steps=2, batch=2, jobs=2)
    one, two = (checkpoint.load(tmp_path / name).model.tensors() for name in ("one", "two"))
    assert all(torch.allclose(each, two[name], atol=1e-4) for name, each in one.items())


def test_a_preset_says_batch_and_epochs_where_nobody_else_does(kind: str, begun: Path, tmp_path: Path) -> None:
    karat.train(FEW, f"{kind},model={begun}", output=tmp_path / "m")
    card = json.loads((tmp_path / "m" / "model.json").read_text())
    assert card["settings"]["batch"] == {"bart": 32, "t5": 64}[kind]
    assert card["steps"] == 10  # 10 epochs of one batch
    published = {"bart": (0.0001, 0.01, "adam", 512, 128), "t5": (0.1, 0.0, "sm3", 512, 128)}
    names = ("rate", "decay", "optimiser", "longest", "length")
    assert tuple(card["options"][name] for name in names) == published[kind]


def test_documents_without_text_or_references_are_left_out_and_long_ones_cut(begun: Path, tmp_path: Path) -> None:
    some = [
        *DOCUMENTS[:3],
        Document(id="none", text="graph"),
        Document(id="empty", keyphrases=["graph"]),
        Document(id="long", text="graph " * 400, keyphrases=["graph"]),
    ]
    found = karat.train(Corpus.of(some), f"seq2seq,model={begun},longest=100", output=tmp_path / "m", steps=1)
    assert "2 documents were left out: without text or references" in found.notes
    assert any("1 document is longer than what is read" in note for note in found.notes)
    assert len(Examples(tmp_path / "m" / "examples.i32", 1000)) == 4


def test_of_too_many_references_whole_ones_are_learned_and_a_note_counts_the_documents(
    begun: Path, tmp_path: Path
) -> None:
    words = [each for each in dict.fromkeys((DOCUMENTS[0].text or "").lower().split()) if each.isalpha()][:8]
    many = [f"{one} {other}" for one, other in permutations(words, 2)]
    documents = Corpus.of([DOCUMENTS[0], Document(id="many", text="graph", keyphrases=[*many])])
    spec = f"seq2seq,model={begun},separator=;,order=given,length=64"
    found = karat.train(documents, spec, output=tmp_path / "m", steps=1)
    said = "1 document has more references than are written at once (length=): the last ones were not learned"
    assert said in found.notes
    examples = Examples(tmp_path / "m" / "examples.i32", 1000)
    tokenizer = AutoTokenizer.from_pretrained(begun)
    learned = [tokenizer.decode(examples.example(row).target, skip_special_tokens=True) for row in range(2)]
    phrases = [each.strip() for each in next(text for text in learned if many[1] in text).split(";")]
    assert phrases == many[: len(phrases)]
    assert 1 < len(phrases) < len(many)


def test_what_a_directory_says_of_generate_is_not_passed_over_where_it_is_damaged(kind: str, tmp_path: Path) -> None:
    folder = directory_of(kind, tmp_path / kind)
    (folder / "generation_config.json").write_text('{"num_beams": "x"')
    with pytest.raises(InputError, match=r"generation_config.json: is not JSON"):
        karat.train(FEW, f"seq2seq,model={folder}", output=tmp_path / "m", steps=1)
