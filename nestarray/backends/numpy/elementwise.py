"""NumPy: `nestarray.ops.elementwise`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nestarray.backends import truth
from nestarray.backends.base import have_one_dtype, refuse_integers, supports
from nestarray.backends.numpy.promotion import floating, floating_pair, ordering, promoting
from nestarray.dtypes import finfo
from nestarray.numerics import division, powers

_BOOL = np.dtype(bool)

abs = np.abs
ceil = np.ceil
floor = np.floor
imag = np.imag
negative = np.negative
positive = np.positive
real = np.real
sign = np.sign
trunc = np.trunc
square = truth.kept(np.square, _BOOL)
angle = floating(
    lambda x: np.arctan2(x.dtype.type(0), x + x.dtype.type(0)), np.angle
)  # −0 + 0 is 0
reciprocal = floating(np.reciprocal)


def _are_finite(x1: Any, x2: Any) -> bool:
    """Whether all numbers are finite; False also if a square overflows."""
    # one inner product covers both operands, in a third of the time of np.isinf
    if x1.__class__ is x2.__class__ is np.ndarray and x1.size == x2.size:
        return x1.dtype.kind in "biu" or math.isfinite(np.vdot(x1, x2))
    if (x1 if hasattr(x1, "dtype") else x2).dtype.kind in "biu":
        return True
    return math.isfinite(np.vdot(x1, x1)) and math.isfinite(np.vdot(x2, x2))


def _floor_divide(x1: Any, x2: Any) -> Any:
    if _are_finite(x1, x2):
        return np.floor_divide(x1, x2)
    with np.errstate(invalid="ignore"):
        return division.floor_divided(np, np.floor_divide, x1, x2)


def _pow(x1: Any, x2: Any) -> Any:
    try:
        return np.power(x1, x2)
    except ValueError:  # integers to negative powers
        dtype = (x1 if hasattr(x1, "dtype") else x2).dtype
        return powers.integer_power(np, np.power, np.asarray(x1, dtype), np.asarray(x2, dtype))


def _nextafter(x1: Any, x2: Any) -> Any:
    refuse_integers(x1 if hasattr(x1, "dtype") else x2)
    return np.nextafter(x1, x2)


add = promoting(np.add)
subtract = promoting(np.subtract)
multiply = promoting(np.multiply)
floor_divide = promoting(_floor_divide, declined=_BOOL)
remainder = promoting(np.remainder, declined=_BOOL)
fmod = promoting(np.fmod, declined=_BOOL)
pow = promoting(_pow, declined=_BOOL)
maximum = ordering(np.maximum)
minimum = ordering(np.minimum)
fmax = ordering(np.fmax)
fmin = ordering(np.fmin)
nextafter = promoting(_nextafter)
divide = promoting(floating_pair(np.divide), floats=True)
copysign = promoting(floating_pair(np.copysign), floats=True)


@supports(lambda *arrays: have_one_dtype(*arrays) and arrays[0].dtype.kind == "f")
def lerp(start: Any, end: Any, weight: Any) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.multiply.html"""
    return start + weight * (end - start)


@supports(lambda *_, decimals=0: decimals == 0)
def round(x: Any, /, *, decimals: int = 0) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.round.html"""
    return x if x.dtype is _BOOL else np.round(x)


def conj(x: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ndarray.conj.html

    The method returns real arrays unchanged, also bools, which ``np.conj`` converts to int8.
    """
    return x.conj()


def nan_to_num(
    x: Any, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.nan_to_num.html"""
    if x.dtype.kind != "V":
        return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    limit = finfo(x.dtype).max  # NumPy detects neither NaN nor limits of bfloat16
    posinf, neginf = limit if posinf is None else posinf, -limit if neginf is None else neginf
    single = np.nan_to_num(x.astype(np.float32), nan=nan, posinf=posinf, neginf=neginf)
    return single.astype(x.dtype)
