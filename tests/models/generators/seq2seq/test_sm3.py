"""SM3 on worked steps, and the quadratic rise of its rate."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import torch  # noqa: E402

from karat.models.generators.seq2seq.settings import T5, Seq2SeqLearning  # noqa: E402
from karat.models.generators.sm3 import SM3  # noqa: E402


def stepped(
    begin: torch.Tensor, *gradients: list[list[float]] | list[float] | float, rate: float = 1.0
) -> torch.Tensor:
    parameter = torch.nn.Parameter(begin)
    optimiser = SM3([parameter], rate)
    for gradient in gradients:
        parameter.grad = torch.tensor(gradient)
        optimiser.step()
    return parameter.detach()


def test_two_steps_of_a_matrix_by_hand() -> None:
    """Step 1: every weight moves by 1. ν = [[9, 16], [1, 4]], rows keep 16 and 4, columns 9 and 16.

    Step 2: the least of row and column is [[9, 16], [4, 4]]; with gradients [[4, 3], [0, 0]] ν = [[25, 25], [4, 4]]:
    the first row moves by 4/5 and 3/5. Adagrad would move it by 4/5 and 3/5 too, but in step 3 the second row shows the
    cover: with a gradient of 1 its first weight has ν = min(4, 25) + 1 = 5, where Adagrad has 2.
    """
    found = stepped(torch.zeros(2, 2), [[3.0, 4.0], [1.0, 2.0]])
    assert found.tolist() == [[-1.0, -1.0], [-1.0, -1.0]]
    found = stepped(torch.zeros(2, 2), [[3.0, 4.0], [1.0, 2.0]], [[4.0, 3.0], [0.0, 0.0]])
    assert found[0].tolist() == pytest.approx([-1.8, -1.6])
    assert found[1].tolist() == [-1.0, -1.0]
    third = stepped(torch.zeros(2, 2), [[3.0, 4.0], [1.0, 2.0]], [[4.0, 3.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]])
    assert third[1, 0].item() == pytest.approx(-1 - 1 / 5**0.5)


def test_a_vector_and_a_number_are_those_of_adagrad_by_hand() -> None:
    assert stepped(torch.zeros(2), [3.0, 0.0], [4.0, 0.0]).tolist() == pytest.approx([-1.8, 0.0])
    assert stepped(torch.tensor(1.0), 3.0, 4.0, rate=0.1).item() == pytest.approx(1 - 0.18)


def test_a_cube_is_covered_by_its_three_dimensions() -> None:
    """ν of the first step is 4 at one place; each of the three covers keeps 4 there and 0 elsewhere."""
    first = torch.zeros(2, 2, 2)
    first[0, 1, 0] = 2.0
    second = torch.ones(2, 2, 2)
    parameter = torch.nn.Parameter(torch.zeros(2, 2, 2))
    optimiser = SM3([parameter], 1.0)
    for gradient in (first, second):
        parameter.grad = gradient
        optimiser.step()
    assert parameter[0, 1, 0].item() == pytest.approx(-1 - 1 / 5**0.5)
    assert parameter[0, 0, 0].item() == -1.0
    assert {name: list(each.shape) for name, each in optimiser.state[parameter].items()} == {
        "most0": [2, 1, 1],
        "most1": [1, 2, 1],
        "most2": [1, 1, 2],
    }


def test_it_keeps_as_many_numbers_as_rows_and_columns() -> None:
    assert {
        name: tuple(shape)
        for name, shape in SM3([torch.nn.Parameter(torch.zeros(3, 5))], 0.1).shapes(torch.zeros(3, 5)).items()
    } == {"most0": (3, 1), "most1": (1, 5)}


def test_the_rate_rises_by_the_square_of_the_step() -> None:
    learning = Seq2SeqLearning(**{name: value for name, value in T5.items() if name in Seq2SeqLearning.__slots__})
    assert (learning.optimiser, learning.rate, learning.warmup, learning.clip) == ("sm3", 0.1, 2000, 5.0)
    assert learning.rise(0) == pytest.approx(1 / 4_000_000)
    assert learning.rise(999) == 0.25
    assert learning.rise(1999) == learning.rise(5000) == 1.0
