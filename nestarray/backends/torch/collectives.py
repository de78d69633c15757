"""PyTorch: `nestarray.transforms.collectives`.

``torch.func.vmap`` hides the mapped axis from its function. The ``vmap`` rule of an
``autograd.Function`` can access it. The rule runs at each level of nested mapped functions; the
level of the collective is the one where the number of the example is mapped.

https://docs.pytorch.org/docs/stable/notes/extending.func.html
"""

from __future__ import annotations

from typing import Any

import torch


def gather(x: Any, index: Any, size: int) -> Any:
    """The values of `x` in all examples, on a new first axis; `index` numbers the example."""
    return _Gather.apply(x, index, size)


class _Collective(torch.autograd.Function):
    """A linear function of the values of all examples."""

    @staticmethod
    def forward(x: Any, index: Any, size: int) -> Any:
        raise AssertionError("a collective is served by the rule of its axis")

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, index, ctx.size = inputs
        ctx.save_for_backward(index)
        ctx.save_for_forward(index)


class _Gather(_Collective):
    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, index: Any, size: int) -> tuple[Any, int | None]:
        of_x, of_index, _ = in_dims
        if of_index is None:  # the level of another axis
            return _Gather.apply(x.movedim(of_x, 0), index, size), 1
        whole = x.expand(size, *x.shape) if of_x is None else x.movedim(of_x, 0)
        return whole, None

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        (index,) = ctx.saved_tensors
        return _Scatter.apply(cotangent, index, ctx.size), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *_: Any) -> Any:
        (index,) = ctx.saved_tensors
        return _Gather.apply(tangent, index, ctx.size)


class _Scatter(_Collective):
    """The transpose of `_Gather`: for each example, the sum over all examples."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, index: Any, size: int) -> tuple[Any, int]:
        of_x, of_index, _ = in_dims
        if of_index is None:  # the level of another axis
            return _Scatter.apply(x.movedim(of_x, 1), index, size), 0
        return x * size if of_x is None else x.sum(of_x), 0

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        (index,) = ctx.saved_tensors
        return _Gather.apply(cotangent, index, ctx.size), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *_: Any) -> Any:
        (index,) = ctx.saved_tensors
        return _Scatter.apply(tangent, index, ctx.size)
