"""The parts of networks that are written out here give what torch's own parts give."""

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence  # noqa: E402

from karat.models.generators.additive import additive_scores  # noqa: E402
from karat.models.generators.dropout import Dropout  # noqa: E402
from karat.models.generators.gru import GRU  # noqa: E402

pytestmark = pytest.mark.neural

LENGTHS = torch.tensor([9, 6, 3, 1])
MASK = torch.arange(9)[None] < LENGTHS[:, None]  # [4, 9]


def of_torch(directions: int) -> tuple[nn.GRU, GRU]:
    """A GRU of torch and one of karat with the same weights."""
    torch.manual_seed(3)
    there = nn.GRU(7, 5, bidirectional=directions == 2, batch_first=True).double()
    here = GRU(7, 5, directions).double()
    ways = ["l0", "l0_reverse"][:directions]
    with torch.no_grad():
        here.input.weight.copy_(torch.cat([there.get_parameter(f"weight_ih_{way}") for way in ways]))
        here.input.bias.copy_(torch.cat([there.get_parameter(f"bias_ih_{way}") for way in ways]))
        here.weight.copy_(torch.stack([there.get_parameter(f"weight_hh_{way}").t() for way in ways]))
        here.bias.copy_(torch.stack([there.get_parameter(f"bias_hh_{way}")[None] for way in ways]))
    return there, here


@pytest.mark.parametrize("directions", [1, 2])
def test_a_gru_over_padded_rows_has_the_states_and_gradients_of_torch(directions: int) -> None:
    there, here = of_torch(directions)
    rows, first = torch.randn(4, 9, 7).double(), torch.randn(4, directions * 5).double()
    ours, theirs = ([rows.clone().requires_grad_(), first.clone().requires_grad_()] for _ in range(2))
    packed = pack_padded_sequence(theirs[0], LENGTHS, batch_first=True)
    states, last = there(packed, theirs[1].view(4, directions, 5).transpose(0, 1).contiguous())
    states, _ = pad_packed_sequence(states, batch_first=True)
    found, end = here(*ours, MASK)
    found = found * MASK[..., None]
    assert torch.allclose(found, states, atol=1e-12)
    assert torch.allclose(end, last.transpose(0, 1).flatten(1), atol=1e-12)
    some, other = torch.randn_like(states), torch.randn_like(end)
    ((states * some).sum() + (last.transpose(0, 1).flatten(1) * other).sum()).backward()
    ((found * some).sum() + (end * other).sum()).backward()
    for our, their in zip(ours, theirs, strict=True):
        assert torch.allclose(our.grad, their.grad, atol=1e-12)
    ways = ["l0", "l0_reverse"][:directions]
    wanted = torch.stack([there.get_parameter(f"weight_hh_{way}").grad.t() for way in ways])
    assert torch.allclose(here.weight.grad, wanted, atol=1e-12)
    wanted = torch.stack([there.get_parameter(f"bias_hh_{way}").grad[None] for way in ways])
    assert torch.allclose(here.bias.grad, wanted, atol=1e-12)
    wanted = torch.cat([there.get_parameter(f"weight_ih_{way}").grad for way in ways])
    assert torch.allclose(here.input.weight.grad, wanted, atol=1e-12)


def test_a_step_of_a_gru_equals_its_states_one_by_one() -> None:
    _, here = of_torch(1)
    rows = torch.randn(4, 9, 7).double()
    states, _ = here(rows)
    state = torch.zeros(4, 5).double()
    for at in range(9):
        state = here.step(rows[:, at], state)
        assert torch.allclose(state, states[:, at], atol=1e-12)


def plain_scores(queries: Tensor, keys: Tensor, energy: Tensor) -> Tensor:
    """Additive attention as its formula is printed."""
    return torch.tanh(queries[:, :, None] + keys[:, None]) @ energy


def test_additive_scores_and_gradients_are_those_of_the_printed_formula() -> None:
    torch.manual_seed(0)
    made = [torch.randn(shape).double() for shape in ((2, 4, 6), (2, 5, 6), (6,))]
    ours, theirs = ([each.clone().requires_grad_() for each in made] for _ in range(2))
    lengths, counts = [5, 3], [2, 4]
    there = torch.zeros(2, 4, 5, dtype=torch.bool)
    for at, (n, m) in enumerate(zip(lengths, counts, strict=True)):
        there[at, :m, :n] = True
    found = additive_scores(ours[0], ours[1], ours[2], lengths, counts)
    assert torch.isinf(found[1, :, 3:]).all()
    found, wanted = (torch.where(there, each, 0) for each in (found, plain_scores(*theirs)))
    assert torch.allclose(found, wanted, atol=1e-12)
    some = torch.randn_like(wanted)
    (found * some).sum().backward()
    (wanted * some).sum().backward()
    for our, their in zip(ours, theirs, strict=True):
        assert torch.allclose(our.grad, their.grad, atol=1e-12)


def test_dropout_sets_its_share_to_zero_and_keeps_the_mean() -> None:
    torch.manual_seed(0)
    rows = torch.ones(501, 999, requires_grad=True)
    kept = Dropout(0.1)(rows)
    kept.sum().backward()
    found = kept.detach()
    assert float((found == 0).float().mean()) == pytest.approx(0.1, abs=0.002)
    assert float(found.mean()) == pytest.approx(1, abs=0.002)
    assert float(found.max()) == pytest.approx(1 / 0.9, abs=1e-4)
    assert torch.equal(rows.grad, found)  # what is dropped has no gradient
    for place in range(4):  # four numbers are drawn at once: each of them is dropped as often
        assert float((found.flatten()[place::4] == 0).float().mean()) == pytest.approx(0.1, abs=0.004)


def test_outside_training_nothing_is_dropped() -> None:
    rows = torch.randn(3, 4)
    assert Dropout(0.5).eval()(rows) is rows
    assert Dropout(0.0)(rows) is rows
