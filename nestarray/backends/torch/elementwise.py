"""PyTorch: `nestarray.ops.elementwise`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from nestarray.backends import division
from nestarray.backends.base import promoting, supports
from nestarray.backends.fast_paths import FastPath, at_defaults, noted
from nestarray.backends.torch import integers
from nestarray.backends.torch.core import FLOATING, INEXACT, native_dtype
from nestarray.backends.torch.derivatives import is_observed
from nestarray.backends.torch.integers import LACKING, by_order, through_int64


def _cast(x: Any, dtype: Any) -> Any:
    return torch.as_tensor(x, dtype=native_dtype(dtype))


def _floating_pair(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, which lacks integers, with these as float32."""

    def call(x1: Any, x2: Any, /) -> Any:
        if x1.dtype not in INEXACT:
            x1, x2 = x1.to(torch.float32), x2.to(torch.float32)
        return native(x1, x2)

    # of integers it raises, and is called again the general way
    return noted(call, FastPath("", "_native(x1, x2)", {"_native": native}))


def _guarded(native: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, or what serves the dtypes that it has no kernel for."""

    def call(x: Any, /) -> Any:
        try:
            return native(x)
        except NotImplementedError:
            return otherwise(x)

    return call


abs = _guarded(torch.abs, torch.clone)
angle = torch.angle
ceil = torch.ceil
conj = torch.conj
floor = torch.floor
negative = _guarded(torch.negative, through_int64(torch.negative))
positive = torch.positive
real = torch.real
reciprocal = torch.reciprocal
trunc = torch.trunc


def square(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.square.html"""
    try:
        return x if x.dtype is torch.bool else torch.square(x)  # of bools it makes int64
    except NotImplementedError:
        return _square_through_int64(x)


_square_through_int64 = through_int64(torch.square)


def _floored(x1: Any, x2: Any) -> Any:
    return torch.div(x1, x2, rounding_mode="floor")  # torch.floor_divide has no derivative


def _floor_divide(x1: Any, x2: Any) -> Any:
    if x1.dtype not in FLOATING:
        return integers.floor_divide(x1, x2)
    may_look = x1.is_cpu and x2.is_cpu and not (x1.requires_grad or x2.requires_grad)
    # one sum sees both operands, in a fifth of the time of looking for infinities
    if may_look and not is_observed() and math.isfinite(torch.sum(x1 * x2).item()):
        return _floored(x1, x2)
    return division.floor_divided(torch, _floored, x1, x2)


def _remainder(x1: Any, x2: Any) -> Any:
    if x1.dtype not in FLOATING:
        if x1.dtype in LACKING:
            return subtract(x1, multiply(integers.floor_divide(x1, x2), x2))
        return torch.remainder(x1, x2)
    found = torch.remainder(x1, x2)
    if found.requires_grad or is_observed():  # copysign has the derivative 0 at 0
        return division.with_sign_of_divisor(torch, found, x2)
    return found.copysign_(x2)  # other than zeros it has the sign already


def _swapped(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` for a number and a tensor, which it takes the other way round only."""
    return lambda number, x: native(x, number)


def _is_wide(dtype: torch.dtype) -> bool:
    """Where torch computes with a number as an array would: narrow types go through float32."""
    return dtype is torch.float32 or dtype is torch.float64


add = promoting(
    torch.add,
    _cast,
    scalar_ok=_is_wide,
    reflected=_swapped(torch.add),
    otherwise=through_int64(torch.add),
)
subtract = promoting(
    torch.subtract,
    _cast,
    scalar_ok=_is_wide,
    reflected=_swapped(torch.rsub),
    otherwise=through_int64(torch.subtract),
)
multiply = promoting(
    torch.multiply,
    _cast,
    scalar_ok=_is_wide,
    reflected=_swapped(torch.multiply),
    otherwise=through_int64(torch.multiply),
)
divide = promoting(torch.true_divide, _cast, scalar_ok=_is_wide)
floor_divide = promoting(_floor_divide, _cast, scalar_ok=False)
remainder = promoting(_remainder, _cast, scalar_ok=False)
fmod = promoting(torch.fmod, _cast, scalar_ok=False, otherwise=_remainder)
pow = promoting(torch.pow, _cast, scalar_ok=False, otherwise=through_int64(torch.pow))
maximum = promoting(
    torch.maximum, _cast, scalar_ok=False, otherwise=by_order(torch.maximum, selects=True)
)
minimum = promoting(
    torch.minimum, _cast, scalar_ok=False, otherwise=by_order(torch.minimum, selects=True)
)
fmax = promoting(
    torch.fmax, _cast, scalar_ok=False, otherwise=by_order(torch.maximum, selects=True)
)
fmin = promoting(
    torch.fmin, _cast, scalar_ok=False, otherwise=by_order(torch.minimum, selects=True)
)
copysign = promoting(torch.copysign, _cast, scalar_ok=False)
nextafter = promoting(torch.nextafter, _cast, scalar_ok=False)


def imag(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.imag.html"""
    return torch.imag(x) if x.is_complex() else torch.zeros_like(x)


def sign(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.sgn.html"""
    if x.dtype in LACKING:
        return (x != 0).to(x.dtype)
    found = torch.sgn(x)
    if x.dtype not in FLOATING:
        return found
    # torch gives 0 for NaN: https://github.com/pytorch/pytorch/issues/53963
    return torch.where(x.isnan(), x, found)


@at_defaults("torch.nan_to_num(x)")
def nan_to_num(x: Any, /, *, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nan_to_num.html"""
    return torch.nan_to_num(x, float(nan), posinf, neginf)  # None would be 0


@supports("decimals == 0")
def round(x: Any, /, *, decimals: int = 0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.round.html"""
    if x.dtype in FLOATING or not x.is_complex():
        return torch.round(x)
    return torch.complex(torch.round(x.real), torch.round(x.imag))  # no kernel


def _plain_bounds(x: Any, min: Any = None, max: Any = None) -> bool:
    """Whether torch gives the dtype of `x`: floating `x`, the bounds numbers, or of its dtype."""
    if not isinstance(min, torch.Tensor) and not isinstance(max, torch.Tensor):
        return not (min is None and max is None) and x.is_floating_point()
    return x.is_floating_point() and all(
        bound is None or (isinstance(bound, torch.Tensor) and bound.dtype is x.dtype)
        for bound in (min, max)
    )


@supports(_plain_bounds)
def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.clamp.html"""
    return torch.clamp(x, min, max)
