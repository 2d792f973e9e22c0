"""What each of the recurrent models has of its own, beside plain and slow ways to compute it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import torch  # noqa: E402
from msgspec import structs  # noqa: E402
from torch import Tensor  # noqa: E402

import karat  # noqa: E402
from karat import Corpus, InputError  # noqa: E402
from karat.corpus import Document  # noqa: E402
from karat.models.base import CommonOptions  # noqa: E402
from karat.models.find import own_models  # noqa: E402
from karat.models.generators.base import Batch, Generator, State  # noqa: E402
from karat.models.generators.checkpoint import build  # noqa: E402
from karat.models.generators.corrrnn import CorrRNN  # noqa: E402
from karat.models.generators.coverage import covered_attention  # noqa: E402
from karat.models.generators.decoding import Decoding, decode  # noqa: E402
from karat.models.generators.examples import Examples, write_examples  # noqa: E402
from karat.models.generators.exhird import ExHiRD, earlier_firsts  # noqa: E402
from karat.models.generators.settings import CorrRNNShape, ExHiRDShape  # noqa: E402
from karat.models.generators.tgnet import TGNet, title_lengths  # noqa: E402
from karat.models.generators.words import BOS, EOS, PAD, PEOS, SEP, TEXT  # noqa: E402
from tests.models.generators.made import DOCUMENTS  # noqa: E402
from tests.models.generators.test_right import WORDS, batch_of, examples, made, one_thread  # noqa: E402, F401

MARKS = (SEP, PEOS, EOS)


# ---------------------------------------------------------------------------------------------- corrrnn


def plain_covered(queries: Tensor, keys: Tensor, energy: Tensor, weight: Tensor) -> Tensor:
    """The attention of one document as its formula is printed, [m, n]."""
    coverage, found = torch.zeros(len(keys)).to(keys), []
    for query in queries:
        scores = torch.tanh(query + keys + coverage[:, None] * weight) @ energy
        found.append(scores.softmax(0))
        coverage = coverage + found[-1]
    return torch.stack(found)


def test_covered_attention_and_its_gradients_are_those_of_the_printed_formula() -> None:
    torch.manual_seed(0)
    tensors = [torch.randn(shape).double() for shape in ((2, 4, 6), (2, 5, 6), (6,), (6,))]
    ours, theirs = ([each.clone().requires_grad_() for each in tensors] for _ in range(2))
    lengths, counts = [5, 3], [2, 4]
    some, total = torch.randn(2, 4, 5).double(), torch.zeros(()).double()
    found = covered_attention(ours[0], ours[1], ours[2], ours[3], lengths, counts)
    for at, (n, m) in enumerate(zip(lengths, counts, strict=True)):
        wanted = plain_covered(theirs[0][at, :m], theirs[1][at, :n], *theirs[2:])
        assert torch.allclose(found[at, :m, :n], wanted, atol=1e-12)
        assert not found[at, m:].any()
        assert not found[at, :, n:].any()
        total = total + (wanted * some[at, :m, :n]).sum()
    (found * some).sum().backward()
    total.backward()
    for our, their in zip(ours, theirs, strict=True):
        assert torch.allclose(our.grad, their.grad, atol=1e-12)


def corrrnn() -> CorrRNN:
    found = made("corrrnn")
    assert isinstance(found, CorrRNN)
    return found


def looked(model: CorrRNN, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(decoder states [b, m, h], what they begin with, the attention, what is seen) of a batch, all places at once."""
    states, first = model.read(batch)
    written, _ = model.decoder(model.embed(batch.inputs), first)
    counts = (batch.targets != PAD).sum(1).tolist()
    return (written, first, *model.look(written, first, states, batch.mask, counts))


@torch.no_grad()
def test_coverage_sums_to_the_attention_so_far(examples: Examples) -> None:  # noqa: F811
    model, batch = corrrnn(), batch_of(examples, 0)
    written, _, attention, seen = looked(model, batch)
    state = model.encode(batch)
    for at in range(written.shape[1]):
        assert torch.allclose(state.past["coverage"], attention[:, :at].sum(1), atol=1e-5)
        here, one, past = model.look_on(state, written[:, at])
        assert torch.allclose(here[:, 0], attention[:, at], atol=1e-5)
        assert torch.allclose(one, seen[:, at], atol=1e-5)
        state = State(state.memory, past)
    assert float(state.past["coverage"].sum()) == pytest.approx(written.shape[1], abs=1e-3)


@torch.no_grad()
def test_review_is_additive_attention_on_the_states_before(examples: Examples) -> None:  # noqa: F811
    model, batch = corrrnn(), batch_of(examples, 0)
    written, first, _, seen = looked(model, batch)
    review = seen[0, :, 2 * first.shape[1] :]  # [m, h]
    before = torch.cat([first, written[0]])  # [1 + m, h]
    for at in range(written.shape[1]):
        keys = model.review_key(before[: at + 1])
        shares = (torch.tanh(model.review_query(written[0, at]) + keys) @ model.review_energy).softmax(0)
        assert torch.allclose(review[at], shares @ before[: at + 1], atol=1e-5)


@torch.no_grad()
def test_the_review_sees_only_the_past(examples: Examples) -> None:  # noqa: F811
    model, batch = corrrnn(), batch_of(examples, 0, 3)
    written, first, _, seen = looked(model, batch)
    states, _ = model.read(batch)
    other = written.clone()
    other[:, 5:] += 1
    counts = (batch.targets != PAD).sum(1).tolist()
    _, changed = model.look(other, first, states, batch.mask, counts)
    assert torch.equal(seen[:, :5], changed[:, :5])
    assert not torch.allclose(seen[:, 6:8, -24:], changed[:, 6:8, -24:])
    assert torch.allclose(seen[:, 0, -24:], first, atol=1e-6)  # there is nothing else yet


def test_a_corrrnn_without_additive_attention_is_refused() -> None:
    with pytest.raises(InputError, match="its coverage is inside it, not general"):
        CorrRNNShape(attention="general")


# ---------------------------------------------------------------------------------------------- tgnet


def test_a_title_is_what_stands_before_the_text_or_the_first_sentence() -> None:
    end = 50
    rows = [
        [20, 21, 22, TEXT, 23, end, 24, 25],  # titled
        [20, end, 21, TEXT, 22, 23, PAD, PAD],  # a title of two sentences
        [20, 21, end, 22, 23, end, 24, PAD],  # no title
        [20, 21, 22, 23, PAD, PAD, PAD, PAD],  # neither title nor end
        [TEXT, 20, end, 21, 22, 23, 24, 25],  # a title without tokens
    ]
    source = torch.tensor(rows)
    assert title_lengths(source, source != PAD, torch.tensor([end])).tolist() == [3, 3, 3, 4, 3]
    long = torch.full((1, 80), 20)
    assert title_lengths(long, long != PAD, torch.tensor([end])).tolist() == [30]
    long[0, 60] = end
    assert title_lengths(long, long != PAD, torch.tensor([end])).tolist() == [30]
    assert title_lengths(source[2:3], source[2:3] != PAD, torch.tensor([], dtype=torch.int64)).tolist() == [7]
    guided = torch.tensor([[20, end, SEP, 21, PEOS, *row] for row in source.tolist()])
    assert title_lengths(guided, guided != PAD, torch.tensor([end])).tolist() == [8, 8, 8, 9, 8]


@torch.no_grad()
def test_the_title_goes_into_each_state_as_the_formula_says(examples: Examples) -> None:  # noqa: F811
    model, batch = made("tgnet"), batch_of(examples, 0, 4)
    assert isinstance(model, TGNet)
    assert len(model.ends)
    states, last = model.read(batch)
    for at, source in enumerate(batch.source):
        source = source[source != PAD]
        title = source[: source.tolist().index(TEXT)]
        u, v = (
            part(model.embed(tokens)[None])[0][0] for part, tokens in ((model.encoder, source), (model.title, title))
        )
        rows = []
        for state in u:
            shares = torch.stack([state @ model.match.weight @ each for each in v]).softmax(0)
            rows.append(torch.cat([state, shares @ v]))
        merged, end = model.merging(torch.stack(rows)[None])
        assert torch.allclose(states[at, : len(source)], (u + merged[0]) / 2, atol=1e-5)
        assert torch.allclose(last[at], end[0], atol=1e-5)


@torch.no_grad()
def test_a_title_is_read_alone_beside_longer_ones(tmp_path: Path) -> None:
    titles = ["Graphs", "On a tree of heaps and of lists", "Hash sort", None]
    documents = [structs.replace(each, title=title) for each, title in zip(DOCUMENTS, titles, strict=False)]
    write_examples(tmp_path / "e", documents, WORDS, language="english", targets="one2seq", longest=100)
    titled, model = Examples(tmp_path / "e", WORDS.written), made("tgnet")
    together, last = model.read(batch_of(titled, *range(4)))
    for row in range(4):
        [states], [end] = model.read(batch_of(titled, row))
        assert torch.allclose(together[row, : len(states)], states, atol=1e-5)
        assert torch.allclose(last[row], end, atol=1e-5)


def test_that_a_first_sentence_is_taken_as_the_title_is_said(tmp_path: Path) -> None:
    tiny = "tgnet,attention=general,embedding=8,hidden=8,read=60,written=30"
    without = [structs.replace(each, title=None) if at == 7 else each for at, each in enumerate(DOCUMENTS)]
    said = "tgnet takes the first sentence of a document without a title as its title"
    found = karat.train(Corpus.of(without), tiny, output=tmp_path / "without", steps=2, batch=8)
    assert found.notes.count(said) == 1
    assert said not in karat.train(Corpus.of(DOCUMENTS), tiny, output=tmp_path / "with", steps=2, batch=8).notes
    karat.train(Corpus.of(without), f"{tiny},peos=always", output=tmp_path / "start", steps=2, batch=8)
    start = str(tmp_path / "start")
    found = karat.train(Corpus.of(without), "tgrf", output=tmp_path / "rewarded", start=start, steps=2, batch=8)
    assert found.notes.count(said) == 1
    notes = own_models()["tgnet"].notes
    assert notes(CommonOptions(), without) == [said]
    assert notes(CommonOptions(), DOCUMENTS) == own_models()["copyrnn"].notes(CommonOptions(), without) == []
    [prediction] = karat.predict(Corpus.of([Document(id="a", text="graph")]), str(tmp_path / "without"))
    assert prediction.id == "a"


# ---------------------------------------------------------------------------------------------- exhird


def exhird() -> ExHiRD:
    found = made("exhird")
    assert isinstance(found, ExHiRD)
    return found


@torch.no_grad()
def test_the_two_levels_are_those_of_the_printed_formulas(examples: Examples) -> None:  # noqa: F811
    """Phrase by phrase and word by word, with the product of two attentions that is made to add up to 1."""
    model, batch = exhird(), batch_of(examples, 2)
    attention, merged = model(batch)
    start = model.encode(batch)
    m, p = start.memory["states"][0], start.past["phrase"]  # [n, h], [1, h]
    a_word, a_phrase = model.query.weight.chunk(2, 1)  # [h, h]: A and B, as queries of the word and the phrase
    phrases: list[list[int]] = []
    for word in batch.inputs[0].tolist():
        phrases += [[]] if word in (BOS, SEP, PEOS) else []
        phrases[-1].append(word)
    assert len(phrases) == 4
    at, last = 0, torch.zeros_like(p)
    for phrase in phrases:
        p = model.phrase.step(last, p)
        beta = (m @ a_phrase @ p[0]).softmax(0)  # [n]
        s, a = p, torch.zeros_like(p)
        for word in phrase:
            s = model.word.step(torch.cat([model.embed.weight[word][None], a], 1), s)
            alpha = (m @ a_word @ s[0]).softmax(0) * beta
            alpha = alpha / alpha.sum()
            a = torch.tanh(model.merge(torch.cat([s, (alpha @ m)[None]], 1)))
            assert torch.allclose(attention[0, at], alpha, atol=1e-5)
            assert torch.allclose(merged[0, at], a[0], atol=1e-5)
            at += 1
        last = a
    assert at == batch.inputs.shape[1]


def firsts_of(words: list[int]) -> list[int]:
    """The first words of the phrases of a sequence."""
    before = [BOS, *words[:-1]]
    return [word for last, word in zip(before, words, strict=True) if last in (BOS, SEP, PEOS) and word not in MARKS]


class Parrot(Generator):
    """Begins each phrase with 10, else with 11 and so on, ends it after a word, or goes on; never stops by itself."""

    written = 20

    def encode(self, batch: Batch) -> State:
        return State({"own": batch.own}, {"rows": batch.source})

    def step(self, state: State, last: Tensor) -> tuple[Tensor, State]:
        begins = torch.zeros(self.written).index_fill(0, torch.tensor([SEP, PEOS]), 0.001)
        begins[10:20] = 0.5 ** torch.arange(1, 11)
        goes_on = (begins * 0.01).index_fill(0, torch.tensor([SEP]), 1.0)
        marks = (last == BOS) | (last == SEP) | (last == PEOS)
        found = torch.where(marks[:, None], begins, goes_on)
        return found / found.sum(1, keepdim=True), state


def parrot(many: int) -> tuple[Parrot, Batch]:
    source, empty = torch.arange(many)[:, None] + 10, torch.zeros(many, 0, dtype=torch.int64)
    return Parrot().eval(), Batch(source, source, empty, empty, empty)


@pytest.mark.parametrize("window", [1, 2, 4])
@pytest.mark.parametrize("how", [Decoding(), Decoding(beam=4), Decoding("topk", beam=3, topk=8)])
def test_exclusive_search_never_repeats_a_first_word(window: int, how: Decoding) -> None:
    repeated = {}
    for exclusive in (0, window):
        found = decode(*parrot(3), replace(how, longest=24, exclusive=exclusive))
        firsts = [firsts_of(each.words) for sequences in found for each in sequences]
        repeated[exclusive] = sum(
            first in each[max(0, at - window) : at] for each in firsts for at, first in enumerate(each)
        )
        assert min(map(len, firsts)) > window  # there is something to exclude
    assert repeated[0] > 0
    assert repeated[window] == 0


def test_exclusive_search_takes_the_best_word_that_is_left() -> None:
    for window, wanted in ((0, [10, 10, 10, 10]), (1, [10, 11, 10, 11]), (2, [10, 11, 12, 10])):
        [[found], _] = decode(*parrot(2), Decoding(longest=8, exclusive=window))
        assert firsts_of(found.words) == wanted
    [[found]] = decode(*parrot(1), Decoding(longest=8))  # as the model has it: not at all
    assert firsts_of(found.words) == [10, 10, 10, 10]


class Talker(Parrot):
    """Says 11 after 10, 10 after 12, and ends a phrase after 11; 10, 11, 12 begin phrases, the first most likely."""

    def step(self, state: State, last: Tensor) -> tuple[Tensor, State]:
        after = {10: {11: 1.0}, 11: {SEP: 1.0}, 12: {10: 1.0}}
        shares = torch.full((len(last), self.written), 1e-6)
        for row, word in zip(shares, last.tolist(), strict=True):
            for following, share in after.get(word, {10: 0.5, 11: 0.3, 12: 0.2}).items():
                row[following] = share
        return shares / shares.sum(1, keepdim=True), state


def test_exclusive_search_leaves_words_within_a_phrase_as_they_are() -> None:
    _, batch = parrot(1)
    [[found]] = decode(Talker().eval(), batch, Decoding(longest=9, exclusive=2))
    assert found.words == [10, 11, SEP, 11, SEP, 12, 10, 11, SEP]


def repeats(model: Generator, batch: Batch, exclusive: int) -> int:
    """How many phrases were written before in the same sequence."""
    count = 0
    for [each] in decode(model, batch, Decoding(longest=30, exclusive=exclusive)):
        text = " ".join(map(str, each.words)).replace(f" {PEOS} ", f" {SEP} ")
        phrases = text.split(f" {SEP} ")
        count += len(phrases) - len(set(phrases))
    return count


def test_exclusive_search_writes_fewer_repeats(examples: Examples) -> None:  # noqa: F811
    """A model that has only begun to learn says the same again and again."""
    torch.manual_seed(0)
    model, batch = (
        build("exhird", {"embedding": 24, "hidden": 24, "dropout": 0.0}, WORDS),
        batch_of(examples, *range(32)),
    )
    optimiser = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(25):
        optimiser.zero_grad()
        loss, many = model.loss(batch)
        (loss / many).backward()
        optimiser.step()
    model.eval()
    assert repeats(model, batch, 1) < repeats(model, batch, 0)
    assert repeats(model, batch, -1) == repeats(model, batch, 1)  # as the model has it


def test_earlier_first_words_are_those_of_the_last_phrases() -> None:
    targets = torch.tensor([[20, 21, SEP, 22, SEP, 20, PEOS, 23, EOS], [PEOS, 30, SEP, 31, EOS, PAD, PAD, PAD, PAD]])
    inputs = torch.cat([torch.full((2, 1), BOS), targets[:, :-1]], 1)
    empty = torch.zeros(2, 0, dtype=torch.int64)
    row, place, earlier = earlier_firsts(Batch(empty, empty, empty, inputs, targets), 2)
    assert row.tolist() == [0, 0, 0, 0, 1, 1]
    assert place.tolist() == [0, 3, 5, 7, 1, 3]
    assert earlier.tolist() == [[PAD, PAD], [20, PAD], [22, 20], [20, 22], [PAD, PAD], [30, PAD]]
    row, place, earlier = earlier_firsts(Batch(empty, empty, empty, inputs[1:, :3], targets[1:, :3]), 4)
    assert earlier.tolist() == [[PAD] * 4]


def test_a_soft_exclusion_costs_what_its_formula_says(examples: Examples) -> None:  # noqa: F811
    model, batch = exhird(), batch_of(examples, 0, 4, 9)
    model.shape, model.dropout.dropped = replace(model.shape, exclusion="soft", window=3), 0
    with torch.no_grad():
        model.output.bias[WORDS.ids["graph"]] = 5  # which begins two phrases of the first document
        plain, many = model.eval().loss(batch)
        state, extra, again = model.encode(batch), 0.0, 0
        earlier: list[list[int]] = [[] for _ in batch.source]
        for at in range(batch.inputs.shape[1]):
            shares, state = model.step(state, batch.inputs[:, at])
            for row, firsts in enumerate(earlier):
                last, word = int(batch.inputs[row, at]), int(batch.targets[row, at])
                if last in (BOS, SEP, PEOS) and word not in (*MARKS, PAD):
                    others = [first for first in firsts[-3:] if first != word]
                    again += word in firsts[-3:]
                    extra -= sum(float((1 - shares[row, first]).log()) for first in others)
                    firsts.append(word)
        soft, same = model.train().loss(batch)
    assert extra > 0
    assert again  # a first word that is to be written again costs nothing
    assert int(same) == int(many)
    assert float(soft) == pytest.approx(float(plain) + extra, rel=1e-4)


def test_a_soft_exclusion_is_trained_and_leaves_the_search_as_it_is(tmp_path: Path) -> None:
    tiny = "exhird,exclusion=soft,embedding=8,hidden=8,read=60,written=30"
    assert karat.train(Corpus.of(DOCUMENTS), tiny, output=tmp_path / "m", steps=2, batch=8).documents == 16
    assert ExHiRD(ExHiRDShape(exclusion="soft"), 20, 10).exclusive == 0
    assert ExHiRD(ExHiRDShape(), 20, 10).exclusive == 1
    assert len(list(karat.predict(Corpus.of(DOCUMENTS), f"{tmp_path / 'm'},exclusive=2"))) == 32
    with pytest.raises(InputError, match="window is 1 or more"):
        ExHiRDShape(window=0)
