"""PyTorch: what its kernels for 16, 32 and 64 unsigned bits lack.

https://docs.pytorch.org/docs/stable/tensors.html says which dtypes are but storage. Sums and
products of int64 have the bits of unsigned ones; quotients have not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

LACKING = frozenset((torch.uint16, torch.uint32, torch.uint64))


def through_int64(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, whose first arguments are tensors of one dtype, by int64 where that dtype lacks it."""

    @wraps(native)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        if x.dtype not in LACKING:
            return native(x, *args, **kwargs)
        wide = [a.to(torch.int64) if isinstance(a, torch.Tensor) else a for a in args]
        return native(x.to(torch.int64), *wide, **kwargs).to(x.dtype)

    return call


def floor_divide(x1: Any, x2: Any) -> Any:
    """⌊x1 / x2⌋ of integers of one dtype."""
    if x1.dtype is not torch.uint64:
        return through_int64(torch.floor_divide)(x1, x2)
    a, b = torch.broadcast_tensors(x1.view(torch.int64), x2.view(torch.int64))
    least = -(2**63)  # its bit turns the order of int64 into that of uint64
    is_below = (a ^ least) < (b ^ least)
    half = (a >> 1) & (2**63 - 1)
    divisor = torch.where(b < 0, 1, b)
    quotient = torch.div(half, divisor, rounding_mode="floor") * 2
    rest = a - quotient * divisor
    quotient = quotient + ((rest ^ least) >= (divisor ^ least)).long()
    return torch.where(b < 0, (~is_below).long(), quotient).view(torch.uint64)
