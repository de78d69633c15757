"""PyTorch: `nestarray.ops.elementwise`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends import xp
from nestarray.backends.base import have_one_dtype, supports
from nestarray.backends.torch import integers
from nestarray.backends.torch.core import FLOATING
from nestarray.backends.torch.derivatives import is_constant, is_observed, order
from nestarray.backends.torch.integers import (
    LACKING,
    by_order,
    guarded,
    through_int64,
)
from nestarray.backends.torch.promotion import is_wide, promoting, swapped
from nestarray.numerics import division, powers

abs = guarded(torch.abs, torch.clone)
angle = torch.angle
ceil = torch.ceil
conj = torch.conj
floor = torch.floor
negative = guarded(torch.negative, through_int64(torch.negative))
positive = torch.positive
real = torch.real
reciprocal = torch.reciprocal
trunc = torch.trunc


def square(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.square.html"""
    return x if x.dtype is torch.bool else _square(x)  # torch returns int64 for bools


_square = guarded(torch.square, through_int64(torch.square))


def _floored(x1: Any, x2: Any) -> Any:
    return torch.div(x1, x2, rounding_mode="floor")  # torch.floor_divide has no derivative


def _floor_divide(x1: Any, x2: Any) -> Any:
    if x1.dtype not in FLOATING:
        return integers.floor_divide(x1, x2)
    if x1.is_cpu and not (x1.requires_grad or x2.requires_grad or is_observed()):
        found = _floored(x1, x2)
        # NaN for infinite operands; on other devices a test would synchronize
        if torch.equal(found, torch.addcmul(found, found, x2, value=0)):
            return found
    return division.floor_divided(torch, _floored, x1, x2)


def _remainder(x1: Any, x2: Any) -> Any:
    if x1.dtype not in FLOATING:
        if x1.dtype in LACKING:
            return subtract(x1, multiply(integers.floor_divide(x1, x2), x2))
        return torch.remainder(x1, x2)
    found = torch.remainder(x1, x2)
    if found.requires_grad or is_observed():  # copysign has derivative 0 at 0
        return division.with_sign_of_divisor(torch, found, x2)
    return found.copysign_(x2)  # changes zeros only


def _pow(x1: Any, x2: Any) -> Any:
    if x1.is_complex():
        return powers.complex_power(xp, torch.pow, x1, x2)
    if order() > 1 and isinstance(x1, torch.Tensor) and isinstance(x2, torch.Tensor):
        return _pow_of_zero(x1, x2)
    return torch.pow(x1, x2)


def _pow_of_zero(x1: Any, x2: Any) -> Any:
    """The power; torch's second derivatives contain 0 · log 0 and 0 · 0⁻¹."""
    is_zero, is_one = (x1 == 0) & (x2 > 0), (x1 == 0) & (x2 == 0)
    of_zero = torch.pow(x1, torch.where(is_one, 1, x2.detach()))  # flat in the exponent
    others = torch.pow(torch.where(is_zero | is_one, 1, x1), x2)
    return torch.where(is_zero, of_zero, torch.where(is_one, 1, others))


def _copysign(x1: Any, x2: Any) -> Any:
    """torch's second derivative at x1 = 0 is NaN, and its first at x1 = ±∞."""
    if is_constant(x1) and not is_observed():
        return torch.copysign(x1, x2)
    kept = torch.where(x1 == 0, x1.detach(), x1)
    return torch.where(torch.signbit(x1) == torch.signbit(x2), kept, -kept)


add = promoting(
    torch.add,
    scalar_ok=is_wide,
    reflected=swapped(torch.add),
    otherwise=through_int64(torch.add),
)
subtract = promoting(
    torch.subtract,
    scalar_ok=is_wide,
    reflected=swapped(torch.rsub),
    otherwise=through_int64(torch.subtract),
)
multiply = promoting(
    torch.multiply,
    scalar_ok=is_wide,
    reflected=swapped(torch.multiply),
    otherwise=through_int64(torch.multiply),
)
divide = promoting(torch.true_divide, scalar_ok=is_wide, floats=True)
floor_divide = promoting(_floor_divide)
remainder = promoting(_remainder)
fmod = promoting(torch.fmod, otherwise=_remainder)
pow = promoting(_pow, scalar_ok=is_wide, otherwise=through_int64(torch.pow))
maximum = promoting(torch.maximum, otherwise=by_order(torch.maximum, selects=True))
minimum = promoting(torch.minimum, otherwise=by_order(torch.minimum, selects=True))


def _fmax(x1: Any, x2: Any) -> Any:
    if x1.requires_grad or x2.requires_grad or is_observed():  # PyTorch 2.14 shares the derivative
        return torch.where((x1 >= x2) | (x2 != x2), x1, x2)
    return torch.fmax(x1, x2)


def _fmin(x1: Any, x2: Any) -> Any:
    if x1.requires_grad or x2.requires_grad or is_observed():
        return torch.where((x1 <= x2) | (x2 != x2), x1, x2)
    return torch.fmin(x1, x2)


fmax = promoting(_fmax, otherwise=by_order(torch.maximum, selects=True))
fmin = promoting(_fmin, otherwise=by_order(torch.minimum, selects=True))
copysign = promoting(_copysign)
nextafter = promoting(torch.nextafter)


def imag(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.imag.html"""
    return torch.imag(x) if x.is_complex() else torch.zeros_like(x)


# torch returns 0 for NaN: https://github.com/pytorch/pytorch/issues/53963
def sign(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.sgn.html"""
    if x.dtype in LACKING:
        return (x != 0).to(x.dtype)
    found = torch.sgn(x)
    return torch.where(x.isnan(), x, found) if x.dtype in FLOATING else found


def nan_to_num(x: Any, /, *, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nan_to_num.html"""
    return torch.nan_to_num(x, float(nan), posinf, neginf)  # None would be 0


@supports(have_one_dtype)
def lerp(start: Any, end: Any, weight: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.lerp.html"""
    return torch.lerp(start, end, weight)


@supports(lambda *_, decimals=0: decimals == 0)
def round(x: Any, /, *, decimals: int = 0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.round.html"""
    if x.dtype in FLOATING or not x.is_complex():
        return torch.round(x)
    return torch.complex(torch.round(x.real), torch.round(x.imag))  # torch has no kernel


def _plain_bounds(x: Any, min: Any = None, max: Any = None) -> bool:
    """Whether torch returns the dtype of `x`: floating `x`, bounds numbers or of its dtype."""
    if not isinstance(min, torch.Tensor) and not isinstance(max, torch.Tensor):
        if complex in (min.__class__, max.__class__):
            return False
        return not (min is None and max is None) and x.is_floating_point()
    return x.is_floating_point() and all(
        bound is None or (isinstance(bound, torch.Tensor) and bound.dtype is x.dtype)
        for bound in (min, max)
    )


@supports(_plain_bounds)
def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.clamp.html"""
    if min is max is None:
        return x
    if not is_observed() and is_constant(x) and _is_fixed(min) and _is_fixed(max):
        return torch.clamp(x, min, max)
    for bounds in ({"min": min}, {"max": max}):
        if None not in bounds.values():
            found = torch.clamp(x, **bounds)
            # x has the derivative at a bound; PyTorch gives it 1, ½ or, since 2.14, 0
            x = torch.where(found == x, x, found)
    return x


def _is_fixed(bound: Any) -> bool:
    return not isinstance(bound, torch.Tensor) or is_constant(bound)
