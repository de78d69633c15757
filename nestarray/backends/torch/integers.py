"""PyTorch: unsigned integers of 16, 32 and 64 bits, for which most kernels are missing.

https://docs.pytorch.org/docs/stable/tensors.html lists dtypes with limited support. Sums and
products of int64 have the same bits as unsigned ones; quotients do not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from nestarray.dynamo import traced_as

LACKING = frozenset((torch.uint16, torch.uint32, torch.uint64))
_LEAST = -(2**63)  # flips the sign bit: maps the order of uint64 to int64


def through_int64(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` of tensors of one dtype, computed in int64 if the dtype has no kernels.

    For sums, products and left shifts, whose low bits are equal.
    """

    @wraps(native)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        if x.dtype not in LACKING:
            return native(x, *args, **kwargs)
        wide = [a.to(torch.int64) if isinstance(a, torch.Tensor) else a for a in args]
        return native(x.to(torch.int64), *wide, **kwargs).to(x.dtype)

    return call


def guarded(native: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """`native` of a tensor, or the substitute for dtypes without a kernel."""

    @traced_as(lambda x, /: otherwise(x) if x.dtype in LACKING else native(x))
    def call(x: Any, /) -> Any:
        try:
            return native(x)
        except NotImplementedError:
            return otherwise(x)

    return call


_OF_SIZE = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


def by_bits(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, which moves elements, on signed integers of the same bits."""

    @wraps(native)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        if x.dtype not in LACKING:
            return native(x, *args, **kwargs)
        signed = _OF_SIZE[x.dtype]
        same = [
            a.view(signed) if isinstance(a, torch.Tensor) and a.dtype is x.dtype else a
            for a in args
        ]
        return native(x.view(signed), *same, **kwargs).view(x.dtype)

    return call


def by_order(native: Callable[..., Any], *, selects: bool = False) -> Callable[..., Any]:
    """`native`, which compares, on int64 of the same order if a dtype has no kernels.

    Args:
        native: a function of tensors of one dtype and settings.
        selects: the result has elements (a maximum), not positions or truth values.
    """

    @wraps(native)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        if x.dtype not in LACKING:
            return native(x, *args, **kwargs)
        wide = [_ordered(a) if isinstance(a, torch.Tensor) else a for a in args]
        result = native(_ordered(x), *wide, **kwargs)
        if not selects:
            return result
        return (result ^ _LEAST).view(x.dtype) if x.dtype is torch.uint64 else result.to(x.dtype)

    return call


def _ordered(x: Any) -> Any:
    return x.view(torch.int64) ^ _LEAST if x.dtype is torch.uint64 else x.to(torch.int64)


def floor_divide(x1: Any, x2: Any) -> Any:
    """⌊x1 / x2⌋ of integers of one dtype."""
    if x1.dtype is not torch.uint64:
        return through_int64(torch.floor_divide)(x1, x2)
    a, b = torch.broadcast_tensors(x1.view(torch.int64), x2.view(torch.int64))
    is_below = (a ^ _LEAST) < (b ^ _LEAST)
    half = (a >> 1) & (2**63 - 1)
    divisor = torch.where(b < 0, 1, b)
    quotient = torch.div(half, divisor, rounding_mode="floor") * 2
    rest = a - quotient * divisor
    quotient = quotient + ((rest ^ _LEAST) >= (divisor ^ _LEAST)).long()
    return torch.where(b < 0, (~is_below).long(), quotient).view(torch.uint64)


def gcd(x1: Any, x2: Any) -> Any:
    """The greatest common divisor of unsigned integers of one dtype.

    Two steps of Euclid's algorithm reduce uint64 below 2⁶³: the first remainder is less than half
    of the larger number, and the second is less than the first.
    """
    if x1.dtype is not torch.uint64:
        return through_int64(torch.gcd)(x1, x2)
    larger, smaller = (f(x1, x2).view(torch.int64) for f in (_larger, _smaller))
    rest = _rest(larger, smaller)
    found = torch.gcd(rest, _rest(smaller, rest))
    divisor = torch.where(smaller == 0, larger, smaller)
    return torch.where(rest == 0, divisor, found).view(torch.uint64)


_larger = by_order(torch.maximum, selects=True)
_smaller = by_order(torch.minimum, selects=True)


def _rest(x: Any, divisor: Any) -> Any:
    """The remainder of uint64 in int64 bits; 0 for the divisor 0."""
    by = torch.where(divisor == 0, 1, divisor)
    quotient = floor_divide(x.view(torch.uint64), by.view(torch.uint64)).view(torch.int64)
    return x - quotient * by


def shift_left(x1: Any, x2: Any) -> Any:
    """x1 · 2^x2 of unsigned integers; 0 if x2 is negative or at least the width."""
    a, by = x1.to(torch.int64), x2.to(torch.int64)
    inside = (by >= 0) & (by < 64)
    return torch.where(inside, a << by.clamp(0, 63), 0).to(x1.dtype)


def shift_right(x1: Any, x2: Any) -> Any:
    """⌊x1 / 2^x2⌋ of unsigned integers; 0 if x2 is negative or at least the width."""
    a, by = x1.to(torch.int64), x2.to(torch.int64)
    halved = ((a >> 1) & (2**63 - 1)) >> (by - 1).clamp(0, 62)  # without the sign of int64
    inside = (by > 0) & (by < 64)
    return torch.where(by == 0, a, torch.where(inside, halved, 0)).to(x1.dtype)
