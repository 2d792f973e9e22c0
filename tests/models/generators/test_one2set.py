"""What must hold of a generator with slots, beside what holds of every one."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import torch  # noqa: E402

import karat  # noqa: E402
from karat import Corpus, InputError  # noqa: E402
from karat.corpus import Document  # noqa: E402
from karat.models.generators import checkpoint  # noqa: E402
from karat.models.generators.base import Batch, in_table  # noqa: E402
from karat.models.generators.decoding import FORBIDDEN, WORDLESS, Decoding, decode  # noqa: E402
from karat.models.generators.examples import Examples, write_examples  # noqa: E402
from karat.models.generators.one2set import NULL_ABSENT, NULL_PRESENT, One2Set, Phrases, assign  # noqa: E402
from karat.models.generators.words import BOS, EOS, NULL, PAD, PEOS, SEP, count_words  # noqa: E402
from tests.models.generators.made import DOCUMENTS  # noqa: E402

WORDS = count_words(DOCUMENTS, read=60, written=30)
SLOTS, LENGTH = 6, 4


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Examples:
    path = tmp_path_factory.mktemp("examples") / "e.i32"
    write_examples(path, DOCUMENTS, WORDS, language="english", targets="one2seq", longest=100)
    return Examples(path, WORDS.written)


@pytest.fixture
def model() -> One2Set:
    torch.manual_seed(1)
    found = checkpoint.build(
        "one2set", {"size": 16, "heads": 2, "inner": 32, "slots": SLOTS, "length": LENGTH}, WORDS
    ).eval()
    assert isinstance(found, One2Set)
    for parameter in found.parameters():  # far from where it begins, so that slots differ
        torch.nn.init.normal_(parameter, std=0.4)
    return found


def batch_of(examples: Examples, *rows: int) -> Batch:
    return Batch.of(examples.arrays(rows))


def test_a_target_is_cut_into_phrases_that_fit_into_slots() -> None:
    first = [11, 12, SEP, 13, 14, 15, 16, 17, SEP, 18, PEOS, 19, EOS]
    second = [PEOS, 20, SEP, 21, 22, 23, 24, EOS]
    targets = torch.tensor([first, second + [PAD] * (len(first) - len(second))])
    found = Phrases.of(targets, slots=4, length=4)
    assert (found.present, found.absent) == ([2, 0], [1, 2])  # the third present one has no slot
    assert found.words[0].tolist() == [[11, 12, EOS, PAD], [13, 14, 15, 16], [19, EOS, PAD, PAD]]
    assert found.words[1].tolist() == [[20, EOS, PAD, PAD], [21, 22, 23, 24], [PAD] * 4]


@pytest.mark.parametrize("many", [(1, 0), (0, 3), (2, 2), (5, 4), (5, 5)])
def test_the_assignment_is_the_best_of_all_permutations(many: tuple[int, int]) -> None:
    present, absent = many
    scores = np.random.default_rng(present * 10 + absent).random((20, 10, present + absent), dtype=np.float32)
    found = assign(scores, Phrases(torch.zeros(0), [present] * 20, [absent] * 20))
    for each, slots in zip(scores, found, strict=True):
        assert len(set(slots.tolist())) == len(slots)
        assert (slots[:present] < 5).all()
        assert (slots[present:] >= 5).all()
        for first, begin, end in ((0, 0, present), (5, present, present + absent)):
            of_half = range(begin, end)
            best = max(
                sum(each[first + slot, column] for slot, column in zip(order, of_half, strict=True))
                for order in permutations(range(5), end - begin)
            )
            assert sum(each[slots[column], column] for column in of_half) == pytest.approx(best, abs=1e-6)


@torch.no_grad()
def shares_of(model: One2Set, batch: Batch, targets: torch.Tensor) -> torch.Tensor:
    """The log-probability of each target of each slot [b, s, m], step by step, from the whole distribution."""
    state, last, found = model.encode(batch), torch.full(targets.shape[:2], BOS), []
    for at in range(targets.shape[2]):
        shares, state = model.step(state, in_table(last, batch.own, model.written).flatten())
        assert torch.allclose(shares.sum(1), torch.ones(len(shares)), atol=1e-5)
        last = targets[:, :, at]
        found.append(shares.view(*last.shape, -1).gather(2, last[:, :, None])[:, :, 0].log())
    return torch.stack(found, 2).masked_fill(targets == PAD, 0)


def slots_of(model: One2Set, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """(the slot of each phrase, the target of each slot) by the model's own assignment."""
    phrases = Phrases.of(batch.targets, SLOTS, LENGTH)
    with torch.no_grad():
        begun, state = model.after(model.encode(batch), torch.full((len(batch.source) * SLOTS,), BOS))
        slot = model.assigned(begun, state, phrases)
    targets = torch.full((len(slot), SLOTS, phrases.words.shape[2]), PAD)
    targets[:, :, 0] = NULL
    for at, (present, absent) in enumerate(zip(phrases.present, phrases.absent, strict=True)):
        for number in range(present + absent):
            targets[at, slot[at, number]] = phrases.words[at, number]
    return slot, targets


def test_the_loss_is_that_of_the_whole_distributions_with_empty_slots_weighted(
    model: One2Set, examples: Examples
) -> None:
    batch = batch_of(examples, 0, 4, 9, 3)
    _, targets = slots_of(model, batch)
    logs = shares_of(model, batch, targets)
    weights = torch.tensor([NULL_PRESENT] * 3 + [NULL_ABSENT] * 3)[:, None]
    assert (NULL_PRESENT, NULL_ABSENT) == (0.2, 0.1)  # as published
    wanted = -(logs * torch.where(targets == NULL, weights, 1.0)).sum()
    with torch.no_grad():
        total, many = model.loss(batch)
    assert float(total) == pytest.approx(float(wanted), rel=1e-5)
    assert int(many) == int((targets != PAD).sum())


def test_a_phrase_goes_where_its_first_two_words_are_likely(model: One2Set, examples: Examples) -> None:
    """The scores are those of each slot's own greedy words, by hand; the first words alone would say otherwise."""
    by_first = []
    with torch.no_grad():
        model.codes *= 8  # so that slots differ
    for row in range(16):
        batch = batch_of(examples, row)
        phrases = Phrases.of(batch.targets, SLOTS, LENGTH)
        state, scores = model.encode(batch), np.zeros((1, SLOTS, phrases.words.shape[1]), np.float32)
        last, wanted = torch.full((1, SLOTS), BOS), []
        for at in range(2):
            shares, state = model.step(state, in_table(last, batch.own, model.written).flatten())
            last = shares.argmax(1)[None]
            scores[0] += shares.detach().numpy()[:, phrases.words[0, :, at].numpy()]
            wanted.append(assign(scores, phrases).tolist())
        assert slots_of(model, batch)[0].tolist() == wanted[1]
        by_first.append(wanted[0] == wanted[1])
    assert not all(by_first)


def test_a_slot_sees_no_other_slot(model: One2Set, examples: Examples) -> None:
    batch = batch_of(examples, 0, 4)
    targets = torch.full((2, SLOTS, 3), 12)
    other = targets.clone()
    other[:, 2] = 15
    before, after = shares_of(model, batch, targets), shares_of(model, batch, other)
    rest = [0, 1, 3, 4, 5]
    assert torch.equal(before[:, rest], after[:, rest])
    assert not torch.allclose(before[:, 2], after[:, 2])
    with torch.no_grad():  # nor does its code count for others
        model.codes[2] *= -1
    changed = shares_of(model, batch, targets)
    assert torch.allclose(before[:, rest], changed[:, rest], atol=1e-6)
    assert not torch.allclose(before[:, 2], changed[:, 2])


@torch.no_grad()
def test_a_later_word_changes_nothing_before_it(model: One2Set, examples: Examples) -> None:
    """All places at once, as the loss has them."""
    memory = model.encode(batch_of(examples, 0, 4)).memory
    words = torch.full((2 * SLOTS, LENGTH), 12)
    other = words.clone()
    other[:, 2:] = 15
    codes = model.codes.repeat(2, 1)[:, None]
    before, after = (model.layers(model.embedded(each) + codes, memory)[0] for each in (words, other))
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.allclose(before[:, 2:], after[:, 2:])


def test_padding_and_the_others_of_a_batch_change_nothing(model: One2Set, examples: Examples) -> None:
    assert examples.index[0, 1] < examples.index[4, 1]  # so that there is padding
    single, together = batch_of(examples, 0), batch_of(examples, 0, 4, 9, 3)
    with torch.no_grad():
        losses = [float(model.loss(batch_of(examples, row))[0]) for row in (0, 4, 9, 3)]
        whole = float(model.loss(together)[0])
    assert whole == pytest.approx(sum(losses), rel=1e-5)
    [alone], one = decode(model, single, Decoding()), decode(model, together, Decoding())[0]
    assert [each.words for each in alone] == [each.words for each in one]
    for left, right in zip(alone, one, strict=True):
        assert left.logs == pytest.approx(right.logs, abs=1e-5)


@torch.no_grad()
def by_hand(model: One2Set, batch: Batch) -> list[tuple[list[int], list[float], bool]]:
    """What the slots of one document write, each by itself: (words, log-probabilities, present), ranked."""
    found = []
    for slot in range(SLOTS):
        state, last = model.encode(batch), BOS
        state = model.reorder(state, torch.tensor([slot]))
        words: list[int] = []
        logs: list[float] = []
        while len(words) < LENGTH and last not in (EOS, NULL):
            given = last if last < model.written else int(batch.own[0, last - model.written])
            shares, state = model.step(state, torch.tensor([given]))
            shares[:, [*(FORBIDDEN if words else WORDLESS), SEP, PEOS]] = 0
            last = int(shares.argmax())
            words.append(last)
            logs.append(float(shares.max().log()))
        if words[0] not in (NULL, EOS):
            found.append((words, logs, slot < SLOTS // 2))

    def mean(each: tuple[list[int], list[float], bool]) -> float:
        logs = [log for word, log in zip(*each[:2], strict=True) if word != EOS]
        return sum(logs) / len(logs)

    return sorted(found, key=mean, reverse=True)


def test_slots_together_write_what_each_writes_alone(model: One2Set, examples: Examples) -> None:
    widths, empty = set(), set()
    with torch.no_grad():
        model.codes *= 8  # so that slots differ
    for null, end in ((0.0, 1.0), (2.0, 3.0), (4.0, 5.0), (6.0, 1.0)):  # empty slots, and early ends
        with torch.no_grad():
            model.bias[NULL], model.bias[EOS] = null, end
        for row in (0, 4, 9):
            batch = batch_of(examples, row)
            [found] = decode(model, batch, Decoding())
            wanted = by_hand(model, batch)
            widths |= {sum(len(words) > step for words, _, _ in wanted) for step in range(LENGTH)}
            empty.add((null > end, SLOTS - len(wanted)))
            assert [(each.words, each.present) for each in found] == [(words, there) for words, _, there in wanted]
            for each, (_, logs, _) in zip(found, wanted, strict=True):
                assert each.logs == pytest.approx(logs, abs=1e-4)
        together = decode(model, batch_of(examples, 0, 4, 9), Decoding())
        apart = [decode(model, batch_of(examples, row), Decoding())[0] for row in (0, 4, 9)]
        assert [[each.words for each in some] for some in together] == [[each.words for each in some] for some in apart]
    assert {1, 2, 5} <= widths  # slots end at different steps
    assert empty & {(True, many) for many in range(1, SLOTS)}  # some write `<null>` while others go on


def test_empty_slots_vanish(model: One2Set, examples: Examples) -> None:
    batch = batch_of(examples, 0, 4)
    with torch.no_grad():
        model.bias[NULL] = 100
        model.gate.bias.fill_(100)  # nothing is copied
    assert decode(model, batch, Decoding()) == [[], []]
    with torch.no_grad():
        model.bias[NULL] = -100
    assert [len(each) for each in decode(model, batch, Decoding())] == [SLOTS, SLOTS]


def test_phrases_that_do_not_fit_are_counted_and_said(tmp_path: Path) -> None:
    many = Document(text="a b c d e", keyphrases=["a", "b", "c"])
    long = Document(text="a b c d e", keyphrases=["a b c d", "e"])
    found = karat.train(
        Corpus.of([many, long, long]),
        "one2set,slots=4,length=3,size=8,heads=2,inner=8",
        output=tmp_path / "m",
        steps=1,
        valid=Corpus.of([long]),
    )
    assert "1 documents have more present or absent phrases than slots: 2 of each are learned" in found.notes
    assert "2 documents have phrases of more than 3 words, of which the rest is cut off" in found.notes
    assert found.rows[-1]["valid"] > 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("slots=5", "slots are 2, 4 or more, of 1 word or more, not 5 of 6"),
        ("length=0", "not 20 of 0"),
        ("targets=one2one", "its targets are one2seq, not one2one"),
        ("size=12,heads=4", "multiple of twice the heads"),
    ],
)
def test_options_that_cannot_be_are_refused(options: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        karat.train(Corpus.of(DOCUMENTS), f"one2set,{options}", output=tmp_path / "m", steps=1)


def test_slots_have_no_beam(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    options = "one2set,slots=4,length=3,size=8,heads=2,inner=8"
    karat.train(Corpus.of(DOCUMENTS), options, output=folder, steps=1)
    for how in ("beam=3", "search=topk"):
        with pytest.raises(InputError, match="leave out search and beam"):
            karat.predict(Corpus.of(DOCUMENTS), f"{folder},{how}")
