"""SM3, an optimiser that keeps a number for each row and each column in place of one for each weight.

Anil, Gupta, Koren and Singer, "Memory-Efficient Adaptive Optimization", NeurIPS 2019, Algorithm SM3-II, without
momentum: ν = min over the rows and columns that a weight is in + gradient², weight −= rate · gradient / √ν, and what is
kept of a row or column is the largest ν in it. A vector keeps ν itself, which is Adagrad.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class SM3(torch.optim.Optimizer):
    """SM3-II; a weight whose gradients were all 0 stays as it is."""

    def __init__(self, parameters: Iterable[Tensor], rate: float) -> None:
        super().__init__(parameters, {"lr": rate})

    def shapes(self, parameter: Tensor) -> dict[str, torch.Size]:
        """What is kept of a weight: for each of its dimensions the largest ν, [1, ..., size, ..., 1]."""
        size = parameter.shape or torch.Size([1])
        ones = [1] * len(size)
        return {f"most{at}": torch.Size([*ones[:at], many, *ones[at + 1 :]]) for at, many in enumerate(size)}

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:
        """Changes all weights that have a gradient."""
        if closure is not None:
            raise NotImplementedError("gradients are there before a step")
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._change(parameter, parameter.grad, group["lr"])

    def _change(self, parameter: Tensor, gradient: Tensor, rate: float) -> None:
        shapes, kept = self.shapes(parameter), self.state[parameter]
        if not kept:
            kept.update({name: gradient.new_zeros(shape) for name, shape in shapes.items()})
        size = parameter.shape or torch.Size([1])
        found = kept["most0"].expand(size)
        for name in list(shapes)[1:]:
            found = torch.minimum(found, kept[name])
        own = gradient.view(size)
        found = torch.addcmul(found, own, own)  # ν
        for at, name in enumerate(shapes):
            others = [other for other in range(len(size)) if other != at]
            kept[name] = found.amax(others, keepdim=True) if others else found
        change = torch.where(found > 0, own / found.sqrt(), 0.0)
        parameter.sub_(change.view_as(parameter), alpha=rate)
