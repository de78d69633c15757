"""Mathematical functions of one element at a time.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax import lax
from nestarray.frontends.jax.in_place import refuse_in_place
from nestarray.frontends.jax.promotion import (
    as_array,
    as_dtype,
    cast,
    dtype_of,
    inexact,
    is_number,
    operands,
    promote,
    promote_inexact,
)
from nestarray.typing import Array

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "around",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "clip",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gcd",
    "heaviside",
    "hypot",
    "i0",
    "imag",
    "lcm",
    "ldexp",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "nan_to_num",
    "negative",
    "nextafter",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "real",
    "reciprocal",
    "remainder",
    "rint",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
]  # fmt: skip

# -- one operand, with na's semantics ----------------------------------------------------------

acos, acosh, asin, asinh, atan, atanh = na.acos, na.acosh, na.asin, na.asinh, na.atan, na.atanh
arccos, arccosh, arcsin, arcsinh, arctan, arctanh = acos, acosh, asin, asinh, atan, atanh
cos, cosh, sin, sinh, tan, tanh = na.cos, na.cosh, na.sin, na.sinh, na.tan, na.tanh
exp, exp2, expm1, log, log10, log1p, log2 = (
    na.exp, na.exp2, na.expm1, na.log, na.log10, na.log1p, na.log2,
)  # fmt: skip
sqrt, cbrt, sinc, i0 = na.sqrt, na.cbrt, na.sinc, na.i0
deg2rad = radians = na.deg2rad
rad2deg = degrees = na.rad2deg


def abs(x: Array, /) -> Array:
    """The absolute value."""
    return na.abs(as_array(x))


absolute = abs


def fabs(x: Array, /) -> Array:
    """The absolute value of a real number, floating."""
    return na.abs(inexact(x))


def negative(x: Array, /) -> Array:
    """−x."""
    return na.negative(as_array(x))


def positive(x: Array, /) -> Array:
    """x."""
    return as_array(x)


def sign(x: Array, /) -> Array:
    """−1, 0 or 1; x / |x| of complex numbers."""
    return na.sign(as_array(x))


def square(x: Array, /) -> Array:
    """x²."""
    x = as_array(x)
    return na.square(na.astype(x, as_dtype(int)) if dtypes.dtype_of(x) is dtypes.bool else x)


def reciprocal(x: Array, /) -> Array:
    """1 / x."""
    return na.reciprocal(inexact(x))


def floor(x: Array, /) -> Array:
    """The largest integer that is at most x."""
    return na.floor(as_array(x))


def ceil(x: Array, /) -> Array:
    """The least integer that is at least x."""
    return na.ceil(as_array(x))


def trunc(x: Array) -> Array:
    """The integer part."""
    return na.trunc(as_array(x))


def rint(x: Array, /) -> Array:
    """The nearest integer, halves to the even one."""
    x = inexact(x)
    return _parts(na.round, x)


def round(a: Array, decimals: int = 0, out: None = None) -> Array:
    """Rounded to decimals, halves to the even digit."""
    refuse_in_place("round", out)
    a = as_array(a)
    dtype = dtypes.dtype_of(a)
    if dtype.kind == "complex":
        return _parts(lambda x: round(x, decimals), a)
    if decimals == 0 or (not dtype.is_inexact and decimals > 0):
        return na.round(a) if dtype.is_inexact else a
    wide = na.astype(a, dtypes.float32) if not dtype.is_inexact or dtype.bits < 32 else a
    factor = 10.0 ** builtins.abs(decimals)
    if decimals > 0:
        return cast(na.divide(na.round(na.multiply(wide, factor)), factor), dtype)
    return cast(na.multiply(na.round(na.divide(wide, factor)), factor), dtype)


around = round


def _parts(function: Any, x: Array) -> Array:
    """A function of real numbers, of both parts of complex ones."""
    if dtypes.dtype_of(x).kind != "complex":
        return function(x)
    return na.complex(function(na.real(x)), function(na.imag(x)))


def signbit(x: Array, /) -> Array:
    """Whether the sign bit is set."""
    return na.signbit(as_array(x))


def real(val: Array, /) -> Array:
    """The real part."""
    return na.real(as_array(val))


def imag(val: Array, /) -> Array:
    """The imaginary part."""
    return na.imag(as_array(val))


def conj(x: Array, /) -> Array:
    """The complex conjugate."""
    return na.conj(as_array(x))


conjugate = conj


def angle(z: Array, deg: builtins.bool = False) -> Array:
    """The argument of a complex number."""
    z = inexact(z)
    found = na.atan2(na.imag(z), na.real(z))
    return na.rad2deg(found) if deg else found


def spacing(x: Array, /) -> Array:
    """The distance to the next number away from zero."""
    x = inexact(x)
    infinity = na.copysign(na.full_like(x, math.inf), x)
    found = na.subtract(na.nextafter(x, infinity), x)
    return na.where(na.isfinite(x), found, na.full_like(x, math.nan))


def nan_to_num(
    x: Array,
    copy: builtins.bool = True,
    nan: Any = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> Array:
    """x, with numbers instead of NaN and infinities."""
    x = as_array(x)
    dtype = dtypes.dtype_of(x)
    if not dtype.is_inexact:
        return x
    if dtype.kind == "complex":
        return _parts(lambda part: nan_to_num(part, copy, nan, posinf, neginf), x)
    info = dtypes.finfo(dtype)
    high = info.max if posinf is None else posinf
    low = info.min if neginf is None else neginf
    x = na.where(na.isnan(x), na.full((), nan, dtype=dtype, like=x), x)
    x = na.where(na.isposinf(x), na.full((), high, dtype=dtype, like=x), x)
    return na.where(na.isneginf(x), na.full((), low, dtype=dtype, like=x), x)


def frexp(x: Array, /) -> tuple[Array, Array]:
    """(mantissa, exponent) with x = mantissa · 2^exponent."""
    mantissa, exponent = na.frexp(inexact(x))
    return mantissa, exponent


def modf(x: Array, /, out: None = None) -> tuple[Array, Array]:
    """(fractional part, integer part)."""
    refuse_in_place("modf", out)
    x = inexact(x)
    whole = na.trunc(x)
    return na.subtract(x, whole), whole


# -- two operands --------------------------------------------------------------------------------


def add(x: Array, y: Array, /) -> Array:
    """x + y."""
    return na.add(*operands(x, y))


def subtract(x: Array, y: Array, /) -> Array:
    """x − y."""
    return na.subtract(*operands(x, y))


def multiply(x: Array, y: Array, /) -> Array:
    """x · y."""
    return na.multiply(*operands(x, y))


def divide(x1: Array, x2: Array, /) -> Array:
    """x1 / x2, floating."""
    return na.divide(*operands(x1, x2))


true_divide = divide


def floor_divide(x1: Array, x2: Array, /) -> Array:
    """x1 / x2, rounded down; negative for integers divided by zero."""
    x1, x2 = promote(x1, x2)
    dtype = dtypes.dtype_of(x1)
    if not dtype.is_integer:
        return na.floor_divide(x1, x2)
    found = na.floor_divide(x1, na.where(na.equal(x2, 0), na.ones_like(x2), x2))
    return na.where(na.equal(x2, 0), _quotient_by_zero(x1), found)


def _quotient_by_zero(x: Array) -> Array:
    """XLA's quotient −1, rounded down as if the remainder were x."""
    last = na.bitwise_invert(na.zeros_like(x))
    if dtypes.dtype_of(x).kind == "uint":
        return last
    return na.where(na.equal(x, 0), last, na.full_like(x, -2))


def remainder(x1: Array, x2: Array, /) -> Array:
    """The remainder, with the sign of x2; 0 for integers divided by zero."""
    return _remainder(na.remainder, x1, x2)


mod = remainder


def _remainder(function: Any, x1: Any, x2: Any) -> Array:
    x1, x2 = promote(x1, x2)
    if not dtypes.dtype_of(x1).is_integer:
        return function(x1, x2)
    found = function(x1, na.where(na.equal(x2, 0), na.ones_like(x2), x2))
    return na.where(na.equal(x2, 0), na.zeros_like(found), found)


def fmod(x1: Array, x2: Array, /) -> Array:
    """The remainder, with the sign of x1."""
    return _remainder(na.fmod, x1, x2)


def divmod(x1: Array, x2: Array, /) -> tuple[Array, Array]:
    """(`floor_divide`, `remainder`)."""
    return floor_divide(x1, x2), remainder(x1, x2)


def power(x1: Array, x2: Array, /) -> Array:
    """x1^x2."""
    if is_number(x2) and type(x2) is int and x2 < 0 and not dtype_of(x1).is_inexact:
        raise ArgumentError(f"power: x2: got {x2} for integers, expected at least 0; pass a float")
    if type(x1) is not int and type(x2) is int and dtype_of(x1) is dtypes.bool:
        x1 = cast(x1, dtypes.int32)
    return na.pow(*operands(x1, x2))


pow = power


def float_power(x: Array, y: Array, /) -> Array:
    """x^y, floating."""
    return na.pow(*promote_inexact(x, y))


def maximum(x: Array, y: Array, /) -> Array:
    """The larger number; NaN if one is."""
    return na.maximum(*operands(x, y))


def minimum(x: Array, y: Array, /) -> Array:
    """The smaller number; NaN if one is."""
    return na.minimum(*operands(x, y))


def fmax(x1: Array, x2: Array) -> Array:
    """The larger number; the other one if one is NaN."""
    x1, x2 = promote(x1, x2)
    return na.where(na.logical_or(na.greater(x1, x2), na.isnan(x2)), x1, x2)


def fmin(x1: Array, x2: Array) -> Array:
    """The smaller number; the other one if one is NaN."""
    x1, x2 = promote(x1, x2)
    return na.where(na.logical_or(na.less(x1, x2), na.isnan(x2)), x1, x2)


def clip(arr: Array, /, min: Array | None = None, max: Array | None = None) -> Array:
    """x within bounds; at a bound, half of the derivative belongs to each."""
    found = as_array(arr)
    if min is not None:
        found = maximum(found, min)
    if max is not None:
        found = minimum(found, max)
    return found


def arctan2(x1: Array, x2: Array, /) -> Array:
    """The angle of the point (x2, x1)."""
    return na.atan2(*promote_inexact(x1, x2))


atan2 = arctan2


def hypot(x1: Array, x2: Array, /) -> Array:
    """√(x1² + x2²)."""
    return na.hypot(*promote_inexact(x1, x2))


def copysign(x1: Array, x2: Array, /) -> Array:
    """|x1|, with the sign of x2."""
    return na.copysign(*promote_inexact(x1, x2))


def nextafter(x: Array, y: Array, /) -> Array:
    """The next number after x in the direction of y."""
    return lax.nextafter(*promote_inexact(x, y))


def logaddexp(x: Array, y: Array, /) -> Array:
    """ln(eˣ + eʸ)."""
    return na.logaddexp(*promote_inexact(x, y))


def logaddexp2(x: Array, y: Array, /) -> Array:
    """log₂(2ˣ + 2ʸ)."""
    return na.logaddexp2(*promote_inexact(x, y))


def heaviside(x1: Array, x2: Array, /) -> Array:
    """0 below zero, 1 above, x2 at zero."""
    return na.heaviside(*promote_inexact(x1, x2))


def ldexp(x1: Array, x2: Array, /) -> Array:
    """x1 · 2^x2."""
    x1 = inexact(x1)
    dtype = dtypes.dtype_of(x1)
    return na.multiply(x1, cast(na.exp2(cast(x2, dtype)), dtype))


def gcd(x1: Array, x2: Array) -> Array:
    """The greatest common divisor."""
    return na.gcd(*promote(x1, x2))


def lcm(x1: Array, x2: Array) -> Array:
    """The least common multiple."""
    return na.lcm(*promote(x1, x2))
