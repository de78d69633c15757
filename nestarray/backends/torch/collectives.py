"""PyTorch: `nestarray.transforms.collectives`.

A tensor that ``torch.func.vmap`` maps has an axis that its function does not see. What may see
it is the rule for ``vmap`` of an ``autograd.Function``, which is asked at each level of mapped
functions: at that of the axis the number of the example is mapped, and at all others it is not.

https://docs.pytorch.org/docs/stable/notes/extending.func.html
"""

from __future__ import annotations

from typing import Any

import torch


def gather(x: Any, index: Any, size: int) -> Any:
    """The values of `x` in all examples, in front; `index` is the number of the example."""
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
        if of_index is None:  # another axis
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
    """For each example the sum of what all of them have for it: the transpose of `_Gather`."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, index: Any, size: int) -> tuple[Any, int]:
        of_x, of_index, _ = in_dims
        if of_index is None:  # another axis
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
