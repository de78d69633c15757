"""PyTorch: `nestarray.ops.arrangement`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import supports
from nestarray.backends.torch.integers import by_bits
from nestarray.numerics.axes import are_plane  # in a condition given as text


@supports(lambda x, axes=(0, 1), **_: (axes == (0, 1) and x.ndim > 1) or are_plane(x, axes))
@by_bits
def rot90(x: Any, /, *, k: int = 1, axes: Any = (0, 1)) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.rot90.html"""
    if k == 1 and axes == (0, 1):
        return torch.rot90(x)
    return torch.rot90(x, k, list(axes))


@supports(lambda x, chunks, axis=0: chunks > 0 and -x.ndim <= axis < x.ndim)
def chunk(x: Any, /, chunks: int, *, axis: int = 0) -> tuple[Any, ...]:
    """https://docs.pytorch.org/docs/stable/generated/torch.chunk.html"""
    return torch.chunk(x, chunks, axis)
