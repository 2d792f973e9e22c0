"""What must hold of every generator, on tiny ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import torch  # noqa: E402

from karat import Corpus, Run, score  # noqa: E402
from karat.corpus import Document  # noqa: E402
from karat.models.generators import checkpoint  # noqa: E402
from karat.models.generators.base import Batch, Generator  # noqa: E402
from karat.models.generators.copying import distribution, log_probability_of  # noqa: E402
from karat.models.generators.decoding import FORBIDDEN, Decoding, decode  # noqa: E402
from karat.models.generators.examples import Examples, in_table, write_examples  # noqa: E402
from karat.models.generators.words import BOS, EOS, PAD, Words, count_words  # noqa: E402
from karat.models.generators.writing import Writer  # noqa: E402
from tests.models.generators.made import DOCUMENTS  # noqa: E402

WORDS = count_words(DOCUMENTS, read=60, written=30)
TINY: dict[str, dict[str, Any]] = {
    "copyrnn": {"embedding": 16, "hidden": 12},
    "copyrnn,general": {"embedding": 16, "hidden": 12, "attention": "general", "tied": False},
    "corrrnn": {"embedding": 16, "hidden": 12},
    "tgnet": {"embedding": 16, "hidden": 12},
    "exhird": {"embedding": 16, "hidden": 12},
    "transformer": {"size": 16, "heads": 2, "inner": 32},
}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def made(which: str, words: Words = WORDS) -> Generator:
    torch.manual_seed(1)
    found = checkpoint.build(which.partition(",")[0], TINY[which], words).eval()
    for parameter in found.parameters():  # far from where it begins, so that words differ
        torch.nn.init.normal_(parameter, std=0.4)
    return found


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Examples:
    path = tmp_path_factory.mktemp("examples") / "e.i32"
    write_examples(path, DOCUMENTS, WORDS, language="english", targets="one2seq", longest=100)
    return Examples(path, WORDS.written)


def batch_of(examples: Examples, *rows: int) -> Batch:
    return Batch.of(examples.arrays(rows))


def alone(model: Generator, batch: Batch, row: int, words: list[int]) -> list[float]:
    """The log-probabilities of a sequence for a document, by teacher forcing."""
    targets = torch.tensor([words])
    before = torch.tensor([[BOS, *words[:-1]]])
    inputs = in_table(before.numpy(), batch.own[row : row + 1].numpy(), model.written)
    source, copied, own = (each[row : row + 1] for each in batch[:3])
    one = Batch(source, copied, own, torch.as_tensor(inputs), targets)
    with torch.no_grad():
        return [float(each) for each in model.log_probabilities(one)[0]]


each_model = pytest.mark.parametrize("which", TINY)


@each_model
def test_a_later_target_changes_nothing_before_it(which: str, examples: Examples) -> None:
    model, batch = made(which), batch_of(examples, 0, 1, 2)
    other = batch._replace(inputs=batch.inputs.clone(), targets=batch.targets.clone())
    assert not (batch.inputs[:, 5:] == 12).any()
    other.inputs[:, 5:], other.targets[:, 5:] = 12, 12  # what is read at place 5 is the target of place 4
    with torch.no_grad():
        before, after = model.log_probabilities(batch), model.log_probabilities(other)
    assert torch.equal(before[:, :5], after[:, :5])
    assert not torch.allclose(before[:, 6:], after[:, 6:])


@each_model
def test_padding_and_the_others_of_a_batch_change_nothing(which: str, examples: Examples) -> None:
    model = made(which)
    together = model.log_probabilities(batch_of(examples, 0, 4, 9, 3))
    single = model.log_probabilities(batch_of(examples, 0))
    assert examples.index[0, 1] < examples.index[4, 1]  # so that there is padding
    assert torch.allclose(together[0, : single.shape[1]], single[0], atol=1e-5)
    batch = batch_of(examples, 0, 4, 9, 3)
    [one], *_ = decode(model, batch, Decoding(longest=12))
    [only] = decode(model, batch_of(examples, 0), Decoding(longest=12))[0]
    assert one.words == only.words
    assert one.logs == pytest.approx(only.logs, abs=1e-5)


@each_model
def test_the_short_loss_equals_that_of_the_whole_distribution(which: str, examples: Examples) -> None:
    model, batch = made(which), batch_of(examples, 0, 1, 2, 3)
    with torch.no_grad():
        short = model.log_probabilities(batch)
        state, found = model.encode(batch), []
        for at in range(batch.inputs.shape[1]):
            shares, state = model.step(state, batch.inputs[:, at])
            assert torch.allclose(shares.sum(1), torch.ones(4), atol=1e-5)
            found.append(shares.log().gather(1, batch.targets[:, at : at + 1])[:, 0])
    whole = torch.stack(found, 1).masked_fill(batch.targets == PAD, 0)
    assert torch.allclose(short, whole, atol=1e-4)  # and so does each cached step


@each_model
def test_half_precision_gives_about_the_same_loss(which: str, examples: Examples) -> None:
    model, batch = made(which), batch_of(examples, 0, 4, 9)
    exact, _ = model.loss(batch)
    with torch.autocast("cpu", torch.bfloat16):
        loss, _ = model.loss(batch)
    loss.backward()
    assert loss.item() == pytest.approx(exact.item(), rel=0.05)
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_the_probability_of_a_target_is_that_of_the_distribution_by_hand() -> None:
    logits = torch.tensor([[1.0, 2.0, 0.5]]).log()  # shares 2/7, 4/7, 1/7
    attention, copied = torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([[1, 3, 1]])
    gate = torch.tensor([0.0])  # one half
    whole = distribution(logits, gate, attention[:, None], copied, 1)[0].tolist()
    assert whole == pytest.approx([1 / 7, 2 / 7 + 0.375, 1 / 14, 0.125], abs=1e-6)
    for target, wanted in enumerate(whole):
        found = log_probability_of(torch.tensor([target]), logits, gate, attention, copied)
        assert float(found.exp()) == pytest.approx(wanted, abs=1e-6)


@each_model
def test_a_beam_of_one_equals_greedy_by_hand(which: str, examples: Examples) -> None:
    model, batch = made(which), batch_of(examples, 5)
    [[found]] = decode(model, batch, Decoding(longest=10))
    words: list[int] = []
    state, last = model.encode(batch), BOS
    while len(words) < 10 and last != EOS:
        given = last if last < model.written else int(batch.own[0, last - model.written])
        shares, state = model.step(state, torch.tensor([given]))
        shares[:, FORBIDDEN] = 0
        last = int(shares.argmax())
        words.append(last)
    assert found.words == words


@each_model
@pytest.mark.parametrize(
    "how",
    [
        Decoding(beam=4, longest=8),
        Decoding("diverse", beam=4, groups=2, longest=8),
        Decoding("topk", beam=3, topk=4, longest=8),
    ],
)
def test_scores_are_log_probabilities_by_teacher_forcing(which: str, how: Decoding, examples: Examples) -> None:
    model, batch = made(which), batch_of(examples, 0, 4, 9)
    for row, found in enumerate(decode(model, batch, how)):
        assert 1 <= len(found) <= how.beam
        for sequence in found:
            assert sequence.logs == pytest.approx(alone(model, batch, row, sequence.words), abs=1e-4)
        if how.search != "topk":
            assert len({tuple(each.words) for each in found}) == len(found) or how.groups > 1


@each_model
def test_a_wide_beam_finds_the_best_of_all_sequences(which: str, examples: Examples) -> None:
    """Of two words, all sequences are tried."""
    model, batch = made(which), batch_of(examples, 2)
    size = model.written + batch.own.shape[1]
    [found] = decode(model, batch, Decoding(beam=size, longest=2))
    firsts = torch.tensor([word for word in range(size) if word not in (EOS, *FORBIDDEN)])
    known = torch.cat([torch.arange(model.written), batch.own[0]])[firsts]
    with torch.no_grad():
        shares, state = model.step(model.encode(batch), torch.tensor([BOS]))
        many = model.reorder(state, torch.zeros_like(firsts))
        pairs = shares[0, firsts][:, None] * model.step(many, known)[0]
    pairs[:, FORBIDDEN] = 0
    first, second = divmod(int(pairs.argmax()), size)
    assert next(each.words for each in found if len(each.words) == 2) == [int(firsts[first]), second]


def test_draws_follow_from_seed_and_document_alone(examples: Examples) -> None:
    model = made("copyrnn")
    how = Decoding("topk", beam=2, topk=5, longest=6)
    together = decode(model, batch_of(examples, 0, 4, 9), how)
    assert decode(model, batch_of(examples, 4), how)[0][0].words == together[1][0].words
    other = decode(model, batch_of(examples, 0, 4, 9), Decoding("topk", beam=2, topk=5, longest=6, seed=1))
    assert [each[0].words for each in other] != [each[0].words for each in together]


@pytest.fixture(
    scope="module",
    params=[
        *("copyrnn,attention=general,embedding=48,hidden=48", "corrrnn,embedding=48,hidden=48"),
        *("tgnet,attention=general,embedding=48,hidden=48", "exhird,embedding=48,hidden=48"),
        *("transformer,size=64", "one2set,size=64,slots=8"),
    ],
)
def overfitted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import karat

    folder = tmp_path_factory.mktemp("models") / "model"
    rate = {"transformer": 0.003, "exhird": 0.02}.get(request.param.partition(",")[0], 0.01)
    options = f"{request.param},rate={rate},read=90,written=30,dropout=0,warmup=10"
    karat.train(Corpus.of(DOCUMENTS), options, output=folder, steps=150, batch=32)
    return folder


def test_a_generator_learns_32_documents_by_heart(overfitted: Path) -> None:
    loaded = checkpoint.load(overfitted)
    predictions = Writer(loaded, n=10).predict(DOCUMENTS)
    found = score(Corpus.of(DOCUMENTS), Run.of(predictions), metrics=["f1@M"]).rows()[0]["value"]
    assert found >= 0.95
    assert "own7" not in loaded.words.table[: loaded.words.written]
    assert "own7" in (predictions[7].keyphrases or [])  # copied
    assert loaded.model.slots or (predictions[0].keyphrases or [""])[0] == "graph list"  # the first in the text
    assert any("-" in (phrase or "") for each in predictions for phrase in each.keyphrases or [])
    assert not any(" - " in (phrase or "") for each in predictions for phrase in each.keyphrases or [])
    assert {"present", "absent"} == {kind for each in predictions for kind in each.kinds or []}


SHAPES = {**TINY, "one2set": {"size": 16, "heads": 2, "inner": 32, "slots": 4, "length": 3}}
each_shape = pytest.mark.parametrize("which", SHAPES)


@each_shape
def test_what_is_loaded_is_what_was_trained(which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import karat
    from karat.models.generators import loop

    run, trainings = loop.Training.run, list[loop.Training]()

    def watched(training: loop.Training) -> loop.Finished:
        trainings.append(training)
        return run(training)

    monkeypatch.setattr(loop.Training, "run", watched)
    options = ",".join(f"{name}={str(value).lower()}" for name, value in SHAPES[which].items())
    name = f"{which.partition(',')[0]},{options},read=45,written=30,rate=.03,warmup=1"
    karat.train(Corpus.of(DOCUMENTS), name, output=tmp_path / "m", steps=12, batch=32)
    [training], there = trainings, checkpoint.load(tmp_path / "m")
    here = checkpoint.Loaded(training.card, training.words, training.model.eval())
    weights = there.model.state_dict()
    assert weights.keys() == here.model.state_dict().keys()
    assert all(torch.equal(weights[name], weight) for name, weight in here.model.state_dict().items())
    documents = [*DOCUMENTS[:6], Document(id="untitled", text="A graph of one. Its own7 tree, and a heap-lock method.")]
    one, other = (Writer(loaded, n=10, how=Decoding(longest=8)).predict(documents) for loaded in (here, there))
    assert any(each.keyphrases for each in one)
    assert one == other


@each_shape
def test_a_word_beyond_both_vocabularies_is_copied(which: str) -> None:
    """Where nothing is written, what stands in the document has all of the probability."""
    torch.manual_seed(1)
    model = checkpoint.build(which.partition(",")[0], SHAPES[which], WORDS).eval()
    with torch.no_grad():
        model.get_parameter("gate.weight").zero_()
        model.get_parameter("gate.bias").fill_(-100)
    card = checkpoint.Card(
        format=checkpoint.FORMAT, model="", karat="", language="english", options={}, settings={}, corpus={}, steps=0
    )
    loaded = checkpoint.Loaded(card, WORDS, model)
    assert not {"zorbig", "quax"} & set(WORDS.table)
    [found] = Writer(loaded, n=10, how=Decoding(longest=1)).predict([Document(text="Zorbig")])
    assert (found.keyphrases, found.scores, found.kinds) == (["Zorbig"], [1.0], ["present"])
    if not model.slots:
        [both] = Writer(loaded, n=10, how=Decoding(longest=1, beam=2)).predict([Document(text="Zorbig QUAX")])
        assert set(both.keyphrases or []) == {"QUAX", "Zorbig"}
        assert sum(score or 0 for score in both.scores or []) == pytest.approx(1, abs=2e-6)


def test_a_saved_model_predicts_the_same(overfitted: Path) -> None:
    import karat

    loaded = checkpoint.load(overfitted)
    here = Writer(loaded, n=10).predict(DOCUMENTS)
    there = list(karat.predict(Corpus.of(DOCUMENTS), str(overfitted)))
    assert here == there
    checkpoint.write_tensors(overfitted / "again.safetensors", loaded.model.state_dict())
    assert (overfitted / "again.safetensors").read_bytes() == (overfitted / "weights.safetensors").read_bytes()
    (overfitted / "again.safetensors").unlink()
