"""PyTorch: `nestarray.ops.contraction`."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from nestarray.backends.base import supports
from nestarray.backends.checks.shapes import check_linear, check_tensordot
from nestarray.backends.torch.core import INEXACT
from nestarray.backends.torch.integers import LACKING, through_int64
from nestarray.backends.torch.promotion import promoted, promoting
from nestarray.numerics.axes import check_contracted

matmul = promoting(torch.matmul, otherwise=through_int64(torch.matmul))


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.linear.html"""
    if bias is not None and bias.ndim != weight.ndim - 1:  # torch would add it along the batch
        check_linear("linear", {"x": x, "weight": weight, "bias": bias})
    if bias is not None and weight.ndim == 1:  # torch supports no scalar bias
        x, weight, bias = promoted((x, weight, bias))
        return _linear(x, weight) + bias
    if x.dtype is weight.dtype and (bias is None or bias.dtype is x.dtype):
        try:
            return F.linear(x, weight, bias)
        except NotImplementedError:
            return _linear(x, weight, bias)
    return _linear(*promoted((x, weight) if bias is None else (x, weight, bias)))


_linear = through_int64(F.linear)

_tensordot = through_int64(torch.tensordot)


def _check_lengths(x1: Any, x2: Any, axes: Any) -> None:
    """Checks lengths: torch would repeat a contracted axis of length 1."""
    if 1 in x1.shape or 1 in x2.shape:
        check_tensordot("tensordot", {"x1": x1, "x2": x2, "axes": axes})


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.tensordot.html"""
    if (
        axes.__class__ is int
        and getattr(x1, "dtype", x1) is getattr(x2, "dtype", None)
        and x1.dtype not in LACKING
    ):
        _check_lengths(x1, x2, axes)
        return torch.tensordot(x1, x2, axes)
    check_contracted(axes, "tensordot")
    x1, x2 = promoted((x1, x2))
    _check_lengths(x1, x2, axes)
    if not isinstance(axes, int):
        axes = tuple([a] if isinstance(a, int) else list(a) for a in axes)
    return _tensordot(x1, x2, dims=axes)


# torch rejects integers, and broadcasts length 1
@supports(lambda x1, x2, axis=-1: x1.dtype in INEXACT and x1.shape[axis] == x2.shape[axis])
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.vecdot.html"""
    if x1.dtype is x2.dtype:
        return torch.linalg.vecdot(x1, x2, dim=axis)
    return torch.linalg.vecdot(*promoted((x1, x2)), dim=axis)


def einsum(subscripts: str, /, *operands: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.einsum.html"""
    operands = promoted(operands)
    try:
        found = torch.einsum(subscripts, *operands)
    except NotImplementedError:
        return _einsum(*operands, subscripts=subscripts)
    dtype = operands[0].dtype  # torch sums small integers in int64
    return found if found.dtype is dtype else found.to(dtype)


@through_int64
def _einsum(*operands: Any, subscripts: str) -> Any:
    return torch.einsum(subscripts, *operands)
