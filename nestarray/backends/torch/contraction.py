"""PyTorch: `nestarray.ops.contraction`."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from nestarray.backends.base import promoted, promoting, supports
from nestarray.backends.torch.elementwise import _cast
from nestarray.backends.torch.integers import through_int64

matmul = promoting(torch.matmul, _cast, otherwise=through_int64(torch.matmul))


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.linear.html"""
    if x.dtype is weight.dtype and (bias is None or bias.dtype is x.dtype):
        return F.linear(x, weight, bias)
    if bias is None:
        return F.linear(*promoted((x, weight), _cast))
    return F.linear(*promoted((x, weight, bias), _cast))


_tensordot = through_int64(torch.tensordot)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.tensordot.html"""
    x1, x2 = promoted((x1, x2), _cast)
    if not isinstance(axes, int):
        axes = tuple([a] if isinstance(a, int) else list(a) for a in axes)
    return _tensordot(x1, x2, dims=axes)


def _are_vectors(x1: Any, x2: Any, /, *, axis: int = -1) -> bool:
    """What torch takes: no integers; of unequal lengths it would broadcast one."""
    inexact = x1.is_floating_point() or x1.is_complex()
    return inexact and x1.shape[axis] == x2.shape[axis]


@supports(_are_vectors)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.vecdot.html"""
    return torch.linalg.vecdot(*promoted((x1, x2), _cast), dim=axis)


def einsum(subscripts: str, /, *operands: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.einsum.html"""
    return torch.einsum(subscripts, *promoted(operands, _cast))
