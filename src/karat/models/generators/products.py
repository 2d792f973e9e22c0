"""Products with the same matrix at many steps, whose gradient for the matrix is computed once, after all of them.

By itself, a graph of steps computes a gradient as large as the matrix for each step and adds them up.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function


class Shared:
    """A matrix for each document, [b, i, o], or one for all, [1, i, o], as a function of rows."""

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix.detach()
        self.steps: list[tuple[Tensor, Tensor]] = []  # (rows, the gradient of their products)
        self.gathered: Tensor = _Gather.apply(matrix, self)  # whose gradient is asked for when all steps have theirs

    def __call__(self, rows: Tensor) -> Tensor:
        """The products [k, w, o] of rows [k, w, i] of the first k documents; [w, o] of rows [w, i] with one for all."""
        if rows.dim() == 2:
            return self(rows[None])[0]
        with torch.autocast(rows.device.type, enabled=False):
            found: Tensor = _Product.apply(rows.to(self.matrix.dtype), self.gathered, self)
        return found


class _Gather(Function):
    @staticmethod
    def forward(context: Any, matrix: Tensor, shared: Shared) -> Tensor:
        context.shared = shared
        return matrix.new_zeros(())

    @staticmethod
    def backward(context: Any, *_: Tensor) -> tuple[Tensor | None, ...]:
        matrix, steps = context.shared.matrix, context.shared.steps
        many = sum(rows.shape[1] for rows, _ in steps)
        left = matrix.new_zeros(len(matrix), many, matrix.shape[1])  # [b, m, i]
        right = matrix.new_zeros(len(matrix), many, matrix.shape[2])  # [b, m, o]
        at = 0
        for rows, gradient in steps:
            k, w, _ = rows.shape
            left[:k, at : at + w], right[:k, at : at + w] = rows, gradient
            at += w
        steps.clear()
        return left.transpose(1, 2) @ right, None


class _Product(Function):
    @staticmethod
    def forward(context: Any, rows: Tensor, gathered: Tensor, shared: Shared) -> Tensor:
        context.save_for_backward(rows)
        context.shared = shared
        return torch.bmm(rows, shared.matrix[: len(rows)])

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (rows,) = context.saved_tensors
        context.shared.steps.append((rows, gradient))
        return gradient @ context.shared.matrix[: len(rows)].transpose(1, 2), gradient.new_zeros(()), None
