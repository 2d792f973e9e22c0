"""Learning by reward: the reward is its formula, the baseline changes no mean, and rewards rise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import karat  # noqa: E402
from karat import Corpus, InputError  # noqa: E402
from karat.corpus import Document  # noqa: E402
from karat.models.generators import checkpoint, rewarding  # noqa: E402
from karat.models.generators.base import Batch, Generator, State  # noqa: E402
from karat.models.generators.decoding import FORBIDDEN, Decoding, Written, decode  # noqa: E402
from karat.models.generators.examples import Examples  # noqa: E402
from karat.models.generators.rewarding import Forms, Reward, returns, rf1  # noqa: E402
from karat.models.generators.words import BOS, EOS, PEOS, SEP, SPECIAL, Words  # noqa: E402
from tests.models.generators.made import DOCUMENTS, TOPICS  # noqa: E402

A, B, C, D = (1,), (2,), (3,), (2, 3)


@pytest.mark.parametrize(
    ("predicted", "references", "wanted"),
    [
        ([A, B], [A, B], 1),
        ([A], [A, B], 1 / 2),  # too few: recall
        ([A, C], [A, B], 1 / 2),
        ([A, B, C], [A, B], 2 * (2 / 3) * 1 / (2 / 3 + 1)),  # too many: F1
        ([A, B, C, D], [A], 2 * (1 / 4) * 1 / (1 / 4 + 1)),
        ([A, A], [A], 2 * (1 / 2) * 1 / (1 / 2 + 1)),  # a duplicate counts as wrong
        ([A, A, B], [A, B], 2 * (2 / 3) * 1 / (2 / 3 + 1)),
        ([A, A], [A, B, C], 1 / 3),
        ([], [A], 0),  # none
        ([A], [], 0),
    ],
)
def test_the_reward_is_f1_at_the_larger_of_both_counts(
    predicted: list[int], references: list[int], wanted: float
) -> None:
    assert rf1(predicted, references) == pytest.approx(wanted, abs=1e-12)  # type: ignore[arg-type]


WORDS = Words((*SPECIAL, "nets", "net", "bee", "trees", "tree"), len(SPECIAL) + 3)
NETS, NET, BEE = (len(SPECIAL) + at for at in range(3))


def test_phrases_are_compared_by_stems_also_where_they_are_copied() -> None:
    forms = Forms(WORDS, "english")
    tree, trees, strange, other = (WORDS.written + at for at in range(4))
    own = [WORDS.ids["tree"], WORDS.ids["trees"], 1, 1]  # the last two are in no vocabulary
    target = [NETS, SEP, tree, PEOS, BEE, SEP, strange, EOS]
    assert forms.rewards([NET, SEP, trees, PEOS, BEE, SEP, strange, EOS], target, own) == (1, 1)
    assert forms.rewards([trees, PEOS, other, EOS], target, own) == (0.5, 0)
    assert forms.rewards([NET, SEP, NETS, PEOS, EOS], target, own) == (0.5, 0)
    assert forms.rewards([BEE, PEOS, NET, EOS], target, own) == (0, 0)  # right, in the wrong half
    assert forms.rewards([NET, EOS], target, own) == (0.5, 0)  # cut off before the second half


def test_words_have_the_rewards_that_arrive_behind_them() -> None:
    assert returns([NET, SEP, BEE, PEOS, NET, EOS], 0.5, 0.25) == [0.75] * 4 + [0.25] * 2
    assert returns([NET, EOS], 0.5, 0.0) == [0.5] * 2


TWO = Words((*SPECIAL, "net", "bee"), len(SPECIAL) + 2)
ENDING = (PEOS, EOS)


def of_two_words() -> tuple[Generator, Batch]:
    """A generator that writes two words, `<peos>` and `<eos>`, and a document with a phrase of each kind."""
    torch.manual_seed(2)
    model = checkpoint.build("copyrnn", {"embedding": 4, "hidden": 3}, TWO).eval()
    net, bee = range(len(SPECIAL), len(TWO))
    with torch.no_grad():
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.5)
        model.get_parameter("bias")[[at for at in range(len(SPECIAL)) if at not in ENDING]] = -1e4
    source, empty = torch.tensor([[net, bee, bee]]), torch.zeros(1, 0, dtype=torch.int64)
    return model, Batch(source, source, empty, empty, torch.tensor([[net, PEOS, bee, EOS]]))


@torch.no_grad()
def drawable(model: Generator, batch: Batch, longest: int) -> list[tuple[list[int], float]]:
    """All sequences that can be drawn, and how likely each is."""
    open_: list[tuple[list[int], float, State]] = [([], 1.0, model.encode(batch))]
    found = []
    for _ in range(longest):
        rows, open_ = open_, []
        for words, likely, state in rows:
            shares, after = model.step(state, torch.tensor([words[-1] if words else BOS]))
            for word in (*ENDING, *range(len(SPECIAL), len(TWO))):
                open_.append(([*words, word], likely * float(shares[0, word]), after))
        found += [(words, likely) for words, likely, _ in open_ if words[-1] == EOS or len(words) == longest]
        open_ = [each for each in open_ if each[0][-1] != EOS]
    return found


def test_a_baseline_leaves_the_mean_gradient_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly: all sequences of two words and both marks, of three places, each weighted by its probability."""
    model, batch = of_two_words()
    every = drawable(model, batch, 3)
    assert sum(likely for _, likely in every) == pytest.approx(1, abs=1e-5)
    net, bee = range(len(SPECIAL), len(TWO))
    reward = Reward(Forms(TWO, "english"), longest=3)

    def gradient(greedy: list[int]) -> Any:
        total = [torch.zeros_like(each) for each in model.parameters()]
        for words, likely in every:
            pair = {"topk": words, "beam": greedy}
            monkeypatch.setattr(rewarding, "decode", lambda _, __, how, pair=pair: [[Written(pair[how.search], [])]])
            loss, _ = reward.loss(model, batch, 0)
            for sum_, each in zip(total, torch.autograd.grad(loss, list(model.parameters())), strict=True):
                sum_ += likely * each
        return torch.cat([each.flatten() for each in total])

    nothing, all_of_it, half = (gradient(greedy) for greedy in ([EOS], [net, PEOS, bee, EOS], [net, EOS]))
    assert nothing.abs().max() > 0.01
    assert torch.allclose(nothing, all_of_it, atol=1e-5)
    assert torch.allclose(nothing, half, atol=1e-5)


def test_the_loss_is_the_printed_sum_of_advantages_and_logarithms(monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = of_two_words()
    net, bee = range(len(SPECIAL), len(TWO))
    targets = [[net, PEOS, bee, EOS], [bee, PEOS, net, EOS], [bee, bee, PEOS, EOS], [PEOS, net, bee, EOS]]
    sources = [[net, net, bee], [bee, bee, net], [net, bee, bee], [bee, net, net]]
    source, empty = torch.tensor(sources), torch.zeros(4, 0, dtype=torch.int64)
    batch = Batch(source, source, empty, empty, torch.tensor(targets))
    greedy = [[net, EOS], [EOS], [bee, bee, PEOS, EOS], [PEOS, net, bee, EOS]]
    baseline = [(1, 0), (0, 0), (1, 0), (0, 1)]

    def found(model: Generator, batch: Batch, how: Decoding) -> list[list[Written]]:
        return decode(model, batch, how) if how.search == "topk" else [[Written(each, [])] for each in greedy]

    monkeypatch.setattr(rewarding, "decode", found)
    forms, seen = Forms(TWO, "english"), set()
    for seed in range(8):
        drawn = decode(model, batch, Decoding("topk", topk=1 << 30, seed=seed, longest=5))
        wanted = 0.0
        for [mine], target, (present, absent) in zip(drawn, targets, baseline, strict=True):
            rewards = forms.rewards(mine.words, target, [])
            for at, log in enumerate(mine.logs):
                behind = PEOS in mine.words[:at]
                wanted -= (rewards[1] - absent + (0 if behind else rewards[0] - present)) * log
            seen.add(rewards)
        loss, _ = Reward(forms, longest=5).loss(model, batch, seed)
        assert loss.item() == pytest.approx(wanted, abs=1e-4)
    assert len(seen) > 1


MANY = [
    Document(
        id=str(n),
        title=f"On {TOPICS[n % 16]} {TOPICS[(n * 7 + 3) % 16]} structures",
        text=f"We look at {TOPICS[(n * 5 + 1) % 16]} methods and at {TOPICS[(n * 3 + 2) % 16]} paths.",
        keyphrases=[f"{TOPICS[n % 16]} {TOPICS[(n * 7 + 3) % 16]}", f"{TOPICS[(n * 5 + 1) % 16]} methods", "computing"],
    )
    for n in range(64)
]
SMALL = "attention=general,embedding=24,hidden=24,read=90,written=40,warmup=5"


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tgnet that has learned a little, with `<peos>`."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("reward") / "begun"
    karat.train(Corpus.of(MANY), f"tgnet,{SMALL},peos=always,rate=.01", output=folder, steps=40, batch=16)
    return folder


def test_two_hundred_steps_raise_the_mean_reward_of_64_documents(begun: Path, tmp_path: Path) -> None:
    """The reward of what is drawn, which is what is learned; that of greedy decoding follows where there is room."""
    corpus, folder = Corpus.of(MANY), tmp_path / "model"
    karat.train(corpus, "tgrf,rate=.001", output=folder, steps=200, batch=16, valid=corpus, start=str(begun))
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    missing = [line["loss"] for line in lines]  # of a reward of 1
    assert missing[-1] < missing[0] - 0.2
    assert all(0 <= line["valid"] <= 1 for line in lines)
    card = json.loads((folder / "model.json").read_text())
    assert (card["model"], card["options"]["of"]) == ("tgrf", "tgnet")
    assert card["loss"] == min(line["valid"] for line in lines)  # the weights are those with the best validation
    found = karat.predict(corpus, str(folder))
    assert len(list(found)) == 64


def test_what_learns_by_reward_goes_on_to_the_same_bytes(
    begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from karat.models.generators import loop

    how: dict[str, Any] = {"steps": 12, "batch": 8, "start": str(begun)}
    karat.train(Corpus.of(MANY), "tgrf", output=tmp_path / "whole", **how)
    monkeypatch.setattr(loop, "SAVED", -1.0)
    step = loop.Training._step

    def cut(training: loop.Training, number: int) -> tuple[float, int]:
        if number == 5:
            raise KeyboardInterrupt
        return step(training, number)

    with monkeypatch.context() as patch:
        patch.setattr(loop.Training, "_step", cut)
        with pytest.raises(KeyboardInterrupt):
            karat.train(Corpus.of(MANY), "tgrf", output=tmp_path / "broken", **how)
    karat.train(Corpus.of(MANY), "tgrf", output=tmp_path / "broken", resume=True, **how)
    found, wanted = (tmp_path / name / "weights.safetensors" for name in ("broken", "whole"))
    assert found.read_bytes() == wanted.read_bytes()


def test_what_is_drawn_is_drawn_by_its_probability(begun: Path) -> None:
    """Over many seeds, first words are drawn as often as the model says."""
    loaded = checkpoint.load(begun)
    batch = Batch.of(Examples(begun / "examples.i32", loaded.words.written).arrays([0]))
    with torch.no_grad():
        shares, _ = loaded.model.step(loaded.model.encode(batch), torch.tensor([BOS]))
    shares[:, FORBIDDEN] = 0
    shares = shares[0] / shares.sum()
    counts = torch.zeros_like(shares)
    for seed in range(2000):
        [[found]] = decode(loaded.model, batch, Decoding("topk", topk=1 << 30, seed=seed, longest=1))
        counts[found.words[0]] += 1
    assert torch.allclose(counts / 2000, shares, atol=0.04)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (f"copyrnn,{SMALL}", "trained without <peos>"),
        ("one2set,size=16,heads=2,inner=16,read=90,written=40", "one2set"),
    ],
)
def test_what_cannot_be_rewarded_is_refused(model: str, said: str, tmp_path: Path) -> None:
    corpus = Corpus.of(DOCUMENTS)
    karat.train(corpus, model, output=tmp_path / "begun", steps=2, batch=8)
    with pytest.raises(InputError, match=said):
        karat.train(corpus, "tgrf", output=tmp_path / "model", steps=2, start=str(tmp_path / "begun"))


def test_there_must_be_something_to_go_on_from(begun: Path, tmp_path: Path) -> None:
    corpus = Corpus.of(DOCUMENTS)
    with pytest.raises(InputError, match="--from DIR"):
        karat.train(corpus, "tgrf", output=tmp_path / "model", steps=2)
    with pytest.raises(InputError, match=r"has no model\.json"):
        karat.train(corpus, "tgrf", output=tmp_path / "model", steps=2, start=str(tmp_path))
    with pytest.raises(InputError, match="not for copyrnn"):
        karat.train(corpus, "copyrnn", output=tmp_path / "model", steps=2, start=str(begun))


def test_the_greedy_reward_of_a_batch_is_that_of_its_documents(begun: Path) -> None:
    loaded = checkpoint.load(begun)
    examples = Examples(begun / "examples.i32", loaded.words.written)
    reward = Reward(Forms(loaded.words, "english"))
    together = reward.greedy(loaded.model, Batch.of(examples.arrays([0, 1, 2])))
    alone = [reward.greedy(loaded.model, Batch.of(examples.arrays([row])))[0].tolist() for row in range(3)]
    assert together.tolist() == alone
