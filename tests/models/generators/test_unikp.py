"""The tagger and unikp: the encoder beside that of transformers, the prefix mask, losses by hand, and training."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import torch  # noqa: E402
from torch import Tensor  # noqa: E402

import karat  # noqa: E402
from karat import Corpus, Run, score  # noqa: E402
from karat.corpus import Document  # noqa: E402
from karat.models.generators import checkpoint, loop  # noqa: E402
from karat.models.generators.decoding import Decoding, decode  # noqa: E402
from karat.models.generators.unikp import reading  # noqa: E402
from karat.models.generators.unikp.encoder import Encoder, prefix_mask  # noqa: E402
from karat.models.generators.unikp.pieces import AHEAD, Pieces, pieces_at  # noqa: E402
from karat.models.generators.unikp.pretrained import read_weights  # noqa: E402
from karat.models.generators.unikp.reading import BothReader, Reader  # noqa: E402
from karat.models.generators.unikp.tagger import Tagged, Tagger, tag_loss  # noqa: E402
from karat.models.generators.unikp.unikp import UniKP, count_loss, piece_loss, weighed  # noqa: E402
from karat.models.generators.words import BOS, EOS, PAD, SEP  # noqa: E402
from tests.models.generators.made import DOCUMENTS  # noqa: E402

RANDOM = "model=random,size=32,layers=2,heads=2,inner=64,vocabulary=400,longest=100"
CORPUS, VALID = Corpus.of(DOCUMENTS, "made"), Corpus.of(DOCUMENTS[:6], "some")
KINDS = ("tagger", "unikp")
each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module", params=["bert", "roberta"])
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a small encoder with its tokenizer, as transformers writes it."""
    return made_encoder(tmp_path_factory.mktemp("encoder") / request.param, request.param)


def word_pieces(texts: list[str], marks: list[str]) -> dict[str, int]:
    """Frequent words and single letters. `tokenizers` would learn others each time."""
    words = Counter(word for text in texts for word in re.findall(r"[a-z]+|[^a-z\s]", text.lower()))
    letters = sorted({letter for word in words for letter in word})
    frequent = sorted(word for word, count in words.items() if count > 2 and len(word) > 1)
    return {piece: at for at, piece in enumerate([*marks, *letters, *(f"##{each}" for each in letters), *frequent])}


def made_encoder(folder: Path, kind: str = "bert") -> Path:
    import transformers
    from tokenizers import ByteLevelBPETokenizer, Tokenizer, decoders, models, normalizers, pre_tokenizers

    texts = [f"{each.title} {each.text} {each.keyphrases}" for each in DOCUMENTS]
    marks = ["<s>", "<pad>", "</s>", "<unk>"] if kind == "roberta" else ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    if kind == "roberta":
        made = ByteLevelBPETokenizer(add_prefix_space=False)
        made.train_from_iterator(texts, 400, special_tokens=marks, show_progress=False)
        tokenizer = Tokenizer.from_str(made.to_str())
        named = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    else:
        tokenizer = Tokenizer(models.WordPiece(vocab=word_pieces(texts, marks), unk_token="[UNK]"))
        tokenizer.normalizer, tokenizer.decoder = normalizers.BertNormalizer(), decoders.WordPiece()
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        named = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named).save_pretrained(folder)
    config = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}
    config |= {"vocab_size": tokenizer.get_vocab_size() + 3, "max_position_embeddings": 140}
    torch.manual_seed(3)
    if kind == "roberta":
        model = transformers.RobertaModel(transformers.RobertaConfig(**config, type_vocab_size=1, pad_token_id=1))
    else:
        model = transformers.BertModel(transformers.BertConfig(**config))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    return folder


# ---------------------------------------------------------------------------------------------- the encoder


@torch.no_grad()
def test_the_encoder_computes_what_transformers_computes(encoder: Path) -> None:
    import transformers

    pieces = pieces_at(str(encoder))
    ours = Encoder(pieces.shape, 0.1).eval()
    ours.load_state_dict(read_weights(str(encoder), pieces.shape))
    theirs = transformers.AutoModel.from_pretrained(encoder).eval()
    ids, there = torch.randint(5, pieces.shape.pieces, (3, 60)), torch.ones(3, 60, dtype=torch.bool)
    there[1, 40:] = False
    wanted = theirs(input_ids=torch.where(there, ids, theirs.config.pad_token_id), attention_mask=there.long())
    assert torch.allclose(ours.read(ids, there)[there], wanted.last_hidden_state[there], atol=1e-5)


def test_a_tokenizer_gives_the_pieces_that_transformers_gives(encoder: Path) -> None:
    import transformers

    pieces, theirs = pieces_at(str(encoder)), transformers.AutoTokenizer.from_pretrained(encoder)
    from karat.models.generators.unikp.tags import matching_of, words_of

    for document in DOCUMENTS[:5]:
        words = words_of(document, matching_of("english"))
        ids, of = pieces.of(document, words)
        parts = [theirs(text, add_special_tokens=False)["input_ids"] for text in (document.title, document.text)]
        assert ids == [*parts[0], theirs.sep_token_id, *parts[1]]
        assert set(range(len(words.stems))) == {*of.tolist()} - {-1}  # each word has a piece
        assert pieces.around(ids)[0] == AHEAD + theirs.cls_token_id


# ---------------------------------------------------------------------------------------------- the prefix mask


def made(kind: str, **options: Any) -> tuple[Tagger, Pieces]:
    from karat.models.generators.unikp.material import build
    from karat.models.generators.unikp.pieces import new_pieces

    given = {"model": "random", "size": 32, "layers": 2, "heads": 2, "inner": 64, "vocabulary": 400, **options}
    shape, _ = checkpoint.parted(kind, given)
    pieces = new_pieces(shape, DOCUMENTS)
    torch.manual_seed(1)
    model = build(kind, given, pieces).eval()
    for parameter in model.parameters():  # far from where it begins, so that all differs
        torch.nn.init.normal_(parameter, std=0.2)
    return model, pieces


def batch_of(lengths: tuple[int, ...] = (12, 9), targets: int = 6) -> Tagged:
    random = torch.Generator().manual_seed(0)
    source = torch.randint(AHEAD + 100, AHEAD + 250, (len(lengths), max(lengths)), generator=random)
    tags = torch.randint(1, 5, source.shape, generator=random)
    for row, length in enumerate(lengths):
        source[row, length:], tags[row, length:] = PAD, 0
    wanted = torch.randint(AHEAD + 100, AHEAD + 250, (len(lengths), targets), generator=random)
    wanted[:, 2], wanted[:, -1] = SEP, EOS
    inputs = torch.cat([torch.full((len(lengths), 1), BOS), wanted[:, :-1]], 1)
    return Tagged(source, tags, inputs, wanted)


def unikp() -> UniKP:
    model, _ = made("unikp")
    assert isinstance(model, UniKP)
    return model


@torch.no_grad()
def everything(model: UniKP, batch: Tagged) -> list[Tensor]:
    """The states of all places [b, n + m, d]: of the encoder, of tags, and of writing."""
    n, m = batch.source.shape[1], batch.inputs.shape[1]
    behind = batch.mask.sum(1, keepdim=True) + torch.arange(m)
    source = model.encoder.embedded(model.pieces(batch.source), torch.arange(n))
    target = model.encoder.embedded(model.pieces(batch.inputs), behind, 1)
    mask = prefix_mask(batch.mask, m)
    states, _ = model.encoder(torch.cat([source, target], 1), mask)
    return [states, *model.related(states, mask)]


@pytest.mark.parametrize("place", range(6))
def test_another_target_changes_no_source_state_and_no_earlier_target_state(place: int) -> None:
    model, batch = unikp(), batch_of()
    other = batch._replace(inputs=batch.inputs.clone())
    other.inputs[:, place] = AHEAD + 255
    n = batch.source.shape[1]
    for before, after in zip(everything(model, batch), everything(model, other), strict=True):
        assert torch.equal(before[:, : n + place], after[:, : n + place])
        assert ((before - after)[:, n + place :].abs().amax(2) > 1e-6).all()
    assert torch.equal(model.tag_shares(batch.source), model.tag_shares(other.source))


@pytest.mark.parametrize("place", [0, 4, 8])
def test_another_source_token_changes_all_states(place: int) -> None:
    model, batch = unikp(), batch_of()
    other = batch._replace(source=batch.source.clone())
    other.source[:, place] = AHEAD + 255
    there = torch.cat([batch.mask, torch.ones_like(batch.inputs, dtype=torch.bool)], 1)
    for before, after in zip(everything(model, batch), everything(model, other), strict=True):
        assert ((before - after).abs().amax(2)[there] > 1e-6).all()


@torch.no_grad()
def test_tags_of_a_source_are_the_same_with_and_without_targets() -> None:
    model, batch = unikp(), batch_of()
    present, absent = model.states(batch)
    assert torch.allclose(model.tag(present)[batch.mask], model.logits(batch.source)[batch.mask], atol=1e-5)
    whole = everything(model, batch)
    assert torch.equal(present, whole[1][:, :12])
    assert torch.equal(absent, whole[2][:, 12:])


@torch.no_grad()
def test_relations_are_those_of_the_formula() -> None:
    model, batch = unikp(), batch_of((7,), 3)
    states, present, absent = everything(model, batch)
    mask = prefix_mask(batch.mask, 3)[0, 0]
    p = a = states[0]
    for layer in model.relations:
        p2 = layer.norms[0](p + torch.relu(layer.present(p)))
        a2 = layer.norms[1](a + torch.relu(layer.absent(a)))
        rows_p, rows_a = [], []
        for at in range(len(p2)):
            seen = mask[at].nonzero()[:, 0]
            rows_p.append(layer.norms[2](p2[at] + (a2[seen] @ p2[at]).softmax(0) @ a2[seen]))
            rows_a.append(layer.norms[3](a2[at] + (p2[seen] @ a2[at]).softmax(0) @ p2[seen]))
        p, a = torch.stack(rows_p), torch.stack(rows_a)
    assert torch.allclose(present[0], p, atol=1e-4)
    assert torch.allclose(absent[0], a, atol=1e-4)


# ---------------------------------------------------------------------------------------------- losses, by hand

LN2 = math.log(2)


def test_the_loss_of_tags_by_hand() -> None:
    shares = torch.tensor([[[0.5, 0.25, 0.125, 0.125], [0.25, 0.25, 0.25, 0.25], [0.5, 0.25, 0.125, 0.125]]])
    tags = torch.tensor([[1, 2, 0]])  # O, B, and a piece that has none
    assert float(tag_loss(shares.log(), tags, 5.0)) == pytest.approx((1 * LN2 + 5 * 2 * LN2) / 6)
    assert float(tag_loss(shares.log(), torch.tensor([[1, 1, 4]]), 5.0)) == pytest.approx((1 + 2 + 5 * 3) * LN2 / 7)


def test_the_loss_of_pieces_by_hand() -> None:
    logits = torch.tensor([[[0.5, 0.25, 0.125, 0.125], [0.1, 0.2, 0.3, 0.4]]]).log()
    wanted, there = torch.tensor([[0, 1]]), torch.tensor([[True, False]])
    smooth = 0.9 * LN2 + 0.1 / 4 * (1 + 2 + 3 + 3) * LN2
    assert float(piece_loss(logits, wanted, there, 0.1)) == pytest.approx(smooth)
    both = (LN2 - math.log(0.2)) / 2
    assert float(piece_loss(logits, wanted, torch.tensor([[True, True]]), 0.0)) == pytest.approx(both)
    theirs = torch.nn.functional.cross_entropy(logits[0], wanted[0], label_smoothing=0.1)
    assert float(piece_loss(logits, wanted, torch.tensor([[True, True]]), 0.1)) == pytest.approx(float(theirs))


def test_the_loss_of_counts_by_hand() -> None:
    """Piece 1 is counted .8 + .4 and is 1; pieces are written .8, .3, .7 and .2 times and are 1, 0, 0 and 1."""
    tags = torch.tensor([[[0.2, 0.8, 0, 0], [0.9, 0.1, 0, 0], [0.6, 0.2, 0.2, 0]]]).clamp(min=1e-30).log()
    wanted_tags, source = torch.tensor([[2, 1, 1]]), torch.tensor([[1, 2, 1]])
    logits = torch.tensor([[[0.7, 0.1, 0.1, 0.1], [0.1, 0.2, 0.6, 0.1], [0.3, 0.3, 0.2, 0.2]]]).log()
    wanted, there = torch.tensor([[0, 3, 0]]), torch.tensor([[True, True, False]])
    present, absent = 0.2**2 / 1, (0.2**2 + 0.3**2 + 0.7**2 + 0.8**2) / 3
    found = count_loss(tags, wanted_tags, source, logits, wanted, there)
    assert float(found) == pytest.approx((present + absent) / 2, abs=1e-6)


def test_the_weights_of_losses_by_hand() -> None:
    losses, variances = torch.tensor([[1.0, 2.0, 4.0], [0.0, 0.0, 1.0]]), torch.tensor([0.0, LN2, -LN2])
    assert weighed(losses, variances).tolist() == pytest.approx([1 + 2 / 2 + 4 * 2 / 2, 1 * 2 / 2])
    assert weighed(losses[:1], torch.tensor([2.0, 0, 0])).tolist() == pytest.approx([math.exp(-2) + 2 + 2 + 1])


def test_the_weights_of_losses_are_learned() -> None:
    model = unikp()
    loss, count = model.loss(batch_of())
    loss.backward()
    assert int(count) == 2
    assert model.variances.grad is not None
    assert model.variances.grad.abs().min() > 0


# ---------------------------------------------------------------------------------------------- batches and decoding


@each_kind
@torch.no_grad()
def test_padding_and_the_others_of_a_batch_change_no_loss(kind: str) -> None:
    model, _ = made(kind)
    together = batch_of((12, 9, 5))
    alone = []
    for row, length in enumerate((12, 9, 5)):
        one = Tagged(*(each[row : row + 1] for each in together))
        alone.append(float(model.loss(one._replace(source=one.source[:, :length], tags=one.tags[:, :length]))[0]))
    assert float(model.loss(together)[0]) == pytest.approx(sum(alone), rel=1e-5)


@torch.no_grad()
def test_padding_and_the_others_of_a_batch_change_nothing_that_is_written() -> None:
    model, batch = unikp(), batch_of((12, 9, 5))
    found = decode(model, batch, Decoding(beam=3, longest=7))
    for row, length in enumerate((12, 9, 5)):
        one = Tagged(*(each[row : row + 1] for each in batch))
        one = one._replace(source=one.source[:, :length])
        for ours, alone in zip(found[row], decode(model, one, Decoding(beam=3, longest=7))[0], strict=True):
            assert ours.words == alone.words
            assert ours.logs == pytest.approx(alone.logs, abs=1e-4)


@torch.no_grad()
def test_each_cached_step_is_that_of_all_places_at_once() -> None:
    model, batch = unikp(), batch_of((12, 9, 5))
    whole = model.log_probabilities(batch)
    state = model.encode(batch)
    for at in range(batch.inputs.shape[1]):
        shares, state = model.step(state, batch.inputs[:, at])
        assert torch.allclose(shares.sum(1), torch.ones(3), atol=1e-4)
        assert torch.allclose(shares.gather(1, batch.targets[:, at : at + 1])[:, 0].log(), whole[:, at], atol=1e-4)


@torch.no_grad()
def test_scores_of_a_beam_are_log_probabilities_by_teacher_forcing() -> None:
    model, batch = unikp(), batch_of((12, 9))
    for row, sequences in enumerate(decode(model, batch, Decoding(beam=4, longest=6))):
        assert len(sequences) == 4
        for each in sequences:
            targets = torch.tensor([each.words])
            source = batch.source[row : row + 1]
            inputs = torch.tensor([[BOS, *each.words[:-1]]])
            found = model.log_probabilities(Tagged(source, torch.zeros_like(source), inputs, targets))[0]
            assert each.logs == pytest.approx(found.tolist(), abs=1e-4)


# ---------------------------------------------------------------------------------------------- training


def weights(folder: Path) -> bytes:
    return (folder / "weights.safetensors").read_bytes()


def trained_into(folder: Path, kind: str, corpus: Any = CORPUS, **settings: Any) -> Path:
    given: dict[str, Any] = {"steps": 6, "batch": 8, "valid": VALID} | settings
    karat.train(corpus, f"{kind},{RANDOM}", output=folder, **given)
    return folder


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("trained")
    return {kind: trained_into(place / kind, kind) for kind in KINDS}


@each_kind
def test_the_same_seed_gives_the_same_weights_and_another_does_not(
    kind: str, trained: dict[str, Path], tmp_path: Path
) -> None:
    assert weights(trained_into(tmp_path / "same", kind)) == weights(trained[kind])
    assert weights(trained_into(tmp_path / "other", kind, seed=1)) != weights(trained[kind])


@each_kind
def test_a_killed_training_goes_on_to_the_same_bytes(
    kind: str, trained: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "SAVED", -1.0)
    step = loop.Training._step

    def cut(training: loop.Training, number: int) -> Any:
        if number == 4:
            raise KeyboardInterrupt
        return step(training, number)

    with monkeypatch.context() as patch:
        patch.setattr(loop.Training, "_step", cut)
        with pytest.raises(KeyboardInterrupt):
            trained_into(tmp_path / "model", kind)
    trained_into(tmp_path / "model", kind, resume=True)
    assert weights(tmp_path / "model") == weights(trained[kind])
    assert (tmp_path / "model" / "log.jsonl").read_bytes() == (trained[kind] / "log.jsonl").read_bytes()


def test_two_processes_do_as_one_with_twice_the_batch(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    karat.write(CORPUS, corpus)
    options = f"unikp,{RANDOM},dropout=0,relations=0"
    karat.train(corpus, options, output=tmp_path / "one", steps=8, batch=8)
    karat.train(corpus, options, output=tmp_path / "two", steps=8, batch=4, jobs=2)
    one, two = (checkpoint.load(tmp_path / name).model.state_dict() for name in ("one", "two"))
    assert all(torch.allclose(one[name], two[name], atol=1e-4) for name in one)


@each_kind
def test_a_directory_is_complete_and_predicts_the_same_anywhere(
    kind: str, trained: dict[str, Path], tmp_path: Path
) -> None:
    wanted = list(karat.predict(VALID, str(trained[kind])))
    assert any(each.keyphrases for each in wanted)
    (tmp_path / "moved").mkdir()
    for name in ("model.json", "encoder.json", "tokenizer.json", "weights.safetensors"):
        (tmp_path / "moved" / name).write_bytes((trained[kind] / name).read_bytes())
    assert list(karat.predict(VALID, str(tmp_path / "moved"))) == wanted
    assert list(karat.predict(VALID, f"{kind},model={tmp_path / 'moved'}")) == wanted


def test_a_trained_tagger_predicts_without_transformers(trained: dict[str, Path]) -> None:
    code = (
        "import sys; sys.modules['transformers'] = None\nimport karat\n"
        "[found] = karat.predict(karat.Corpus.of([{'id': '1', 'text': 'On graph list structures.'}]), sys.argv[1])\n"
        "assert found.keyphrases"
    )
    subprocess.run([sys.executable, "-c", code, str(trained["unikp"])], check=True)


@pytest.mark.parametrize(("kind", "steps"), [("tagger", 120), ("unikp", 300)])
def test_32_documents_are_learned_by_heart(kind: str, steps: int, tmp_path: Path) -> None:
    options = f"{kind},{RANDOM},dropout=0,rate=.005,warmup=10" + ",relation_dropout=0" * (kind == "unikp")
    karat.train(CORPUS, options, output=tmp_path / "m", steps=steps, batch=32)
    loaded = checkpoint.load(tmp_path / "m")
    predictions = list(karat.predict(CORPUS, f"{tmp_path / 'm'},least=.5", n=3 if kind == "tagger" else 6))
    present = score(CORPUS, Run.of(predictions), metrics=["f1@M:present"]).rows()[0]["value"]
    assert present >= 0.98
    assert "own7" in (predictions[7].keyphrases or [])
    assert any("-" in (phrase or "") for each in predictions for phrase in each.keyphrases or [])
    if kind == "unikp":
        greedy = BothReader(loaded, 20, Decoding(), least=0.5).predict(DOCUMENTS)
        absent = score(CORPUS, Run.of(greedy), metrics=["f1@M:absent"]).rows()[0]["value"]
        assert absent >= 0.9
        assert {"present", "absent"} == {kind for each in predictions for kind in each.kinds or []}


def test_what_is_frozen_stays_and_the_rest_begins_where_others_left_it(tmp_path: Path) -> None:
    folder = made_encoder(tmp_path / "bert")
    karat.train(CORPUS, f"tagger,model={folder},frozen=1,longest=100", output=tmp_path / "m", steps=3, batch=8)
    pieces = pieces_at(str(folder))
    given = read_weights(str(folder), pieces.shape)
    after = {
        name.removeprefix("encoder."): each
        for name, each in checkpoint.load(tmp_path / "m").model.state_dict().items()
        if name.startswith("encoder.")
    }
    assert given.keys() == after.keys()
    changed = {name for name in given if not torch.equal(given[name], after[name])}
    assert changed
    assert all(name.startswith("layers.1.") for name in changed)
    assert all(torch.allclose(given[name], after[name], atol=0.01) for name in changed)
    kept, _ = checkpoint.read_tensors(tmp_path / "m" / "state.safetensors")
    assert not any(name.startswith("exp_avg.encoder.layers.0") for name in kept)
    assert any(name.startswith("exp_avg.encoder.layers.1") for name in kept)


def test_all_layers_can_be_frozen(tmp_path: Path) -> None:
    trained_into(tmp_path / "m", "tagger,frozen=2", steps=2)
    model = checkpoint.load(tmp_path / "m").model
    assert {name for name, each in model.named_parameters() if each.requires_grad} == {"tag.weight", "tag.bias"}


def test_documents_that_are_too_long_are_counted(tmp_path: Path) -> None:
    many = [Document(id="long", text="graph list. " * 100, keyphrases=["graph"]), *DOCUMENTS]
    found = karat.train(Corpus.of(many), f"tagger,{RANDOM}", output=tmp_path / "m", steps=1)
    assert found.notes == ("1 document is longer than what is read: what comes after was not learned from",)


def test_a_long_document_is_read_in_windows(trained: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each window is read as a document is, and a word is taken from the window in which it is farthest from a cut."""
    loaded = checkpoint.load(trained["tagger"])
    document = Document(id="long", text=" ".join(each.text or "" for each in DOCUMENTS))
    monkeypatch.setattr(reading, "WINDOW", 40)
    reader = Reader(loaded, 10)
    [text] = reader.texts([document])
    [shares] = reader.shares([text])
    assert len(text.ids) > 400
    assert shares.shape == (len(text.words.stems), 4)
    assert shares.sum(1).tolist() == pytest.approx([1.0] * len(shares))
    assert isinstance(loaded.model, Tagger)
    source = torch.tensor([loaded.words.around(text.ids[30:70])])  # the second window, of pieces 30 to 69
    part = loaded.model.tag_shares(source)[0, 1:-1]
    word = int(text.of[50])
    first = text.of.tolist().index(word)
    assert shares[word].tolist() == pytest.approx(part[first - 30].tolist(), abs=1e-5)
    [alone], [beside, _] = reader.predict([document]), reader.predict([document, DOCUMENTS[0]])
    assert alone.keyphrases == beside.keyphrases


@each_kind
def test_how_many_documents_are_longer_than_the_model_takes_is_said(kind: str, trained: dict[str, Path]) -> None:
    from karat.models.find import parse_model
    from karat.models.run import PredictOptions, predicted

    long = Document(id="long", text="graph list. " * 300)
    documents = [long, *DOCUMENTS[:2], Document(id="other", text="own7 tree. " * 300)]
    notes = predicted(Corpus.of(documents), parse_model(str(trained[kind])), PredictOptions(language="en")).notes
    assert "2 documents were longer than the model takes, and were read in windows of 510 pieces" in notes
    written = "2 documents were longer than the model takes: absent phrases are of the first 462 pieces"
    assert (written in notes) == (kind == "unikp")
    if kind == "unikp":  # no more is written than there are positions for
        [found] = karat.predict(Corpus.of([long]), f"{trained[kind]},longest=1000,beam=2")
        assert found.keyphrases
    assert not predicted(VALID, parse_model(str(trained[kind])), PredictOptions(language="en")).notes


@each_kind
def test_a_document_has_the_same_phrases_beside_any_other(kind: str, trained: dict[str, Path]) -> None:
    documents = [*DOCUMENTS[:4], Document(id="empty", text=""), Document(id="one", title="Graphs")]
    together = list(karat.predict(Corpus.of(documents), str(trained[kind]), n=5))
    assert [each.id for each in together] == [each.id for each in documents]
    assert not together[4].keyphrases
    for document, found in zip(documents, together, strict=True):
        [alone] = karat.predict(Corpus.of([document]), str(trained[kind]), n=5)
        assert (alone.keyphrases, alone.kinds) == (found.keyphrases, found.kinds)
        assert alone.scores == pytest.approx(found.scores, abs=1e-5)
    few = list(karat.predict(Corpus.of(documents), str(trained[kind]), n=2))
    assert [each.keyphrases for each in few] == [(each.keyphrases or [])[:2] for each in together]


@each_kind
def test_a_run_is_read_by_confidence(kind: str, trained: dict[str, Path]) -> None:
    run = karat.predict(CORPUS, str(trained[kind]))
    found = karat.confidence(CORPUS, run)
    assert "token_probs" in json.dumps(found.as_dict(), default=str)


def test_any_metric_can_say_when_to_stop(tmp_path: Path) -> None:
    found = karat.train(
        CORPUS, f"tagger,{RANDOM}", output=tmp_path / "m", steps=2, batch=8, valid=VALID, stop="f1@5:present:1"
    )
    assert all(0 <= row["f1@5:present"] <= 1 for row in found.rows)
