"""Mathematical functions of one element at a time.

Upstream: https://keras.io/api/ops/numpy/. Of equal operands of `maximum` and `minimum`, the first
has the derivative.
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import DtypeError
from nestarray.frontends.keras import config
from nestarray.frontends.keras.promotion import (
    as_array,
    as_arrays,
    cast,
    dtype_of,
    floating,
    floating_exactly,
    operands,
    promote,
    result_type,
)
from nestarray.frontends.tensorflow import math as tf_math
from nestarray.typing import Array

__all__ = [
    "abs",
    "absolute",
    "add",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clip",
    "conj",
    "conjugate",
    "cos",
    "cosh",
    "deg2rad",
    "divide",
    "divide_no_nan",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "gcd",
    "heaviside",
    "hypot",
    "i0",
    "imag",
    "lcm",
    "ldexp",
    "left_shift",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "nan_to_num",
    "negative",
    "nextafter",
    "power",
    "rad2deg",
    "real",
    "reciprocal",
    "right_shift",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
]  # fmt: skip

# -- one operand ---------------------------------------------------------------------------------


def absolute(x: Array) -> Array:
    """The absolute value."""
    x = as_array(x)
    return x if dtypes.dtype_of(x).kind in ("uint", "bool") else na.abs(x)


abs = absolute


def fabs(x: Array) -> Array:
    """The absolute value, floating."""
    return na.abs(floating(x))


def angle(x: Array) -> Array:
    """The argument of a complex number; 0 or π of a real one."""
    return tf_math.angle(floating(x))


def arccos(x: Array) -> Array:
    """The inverse of `cos`, from 0 to π."""
    return na.acos(floating(x))


def arccosh(x: Array) -> Array:
    """The inverse of `cosh`, at least 0."""
    return na.acosh(floating(x))


def arcsin(x: Array) -> Array:
    """The inverse of `sin`, from −π/2 to π/2."""
    return na.asin(floating(x))


def arcsinh(x: Array) -> Array:
    """The inverse of `sinh`."""
    return na.asinh(floating(x))


def arctan(x: Array) -> Array:
    """The inverse of `tan`, from −π/2 to π/2."""
    return na.atan(floating(x))


def arctanh(x: Array) -> Array:
    """The inverse of `tanh`."""
    return na.atanh(floating(x))


def cbrt(x: Array) -> Array:
    """The real cube root."""
    (x,) = floating_exactly(x)
    return na.cbrt(x)


def ceil(x: Array) -> Array:
    """The least integer that is at least x, floating."""
    return na.ceil(floating(x))


def conj(x: Array) -> Array:
    """The complex conjugate."""
    return na.conj(as_array(x))


conjugate = conj


def cos(x: Array) -> Array:
    """The cosine."""
    return na.cos(floating(x))


def cosh(x: Array) -> Array:
    """The hyperbolic cosine."""
    return na.cosh(floating(x))


def deg2rad(x: Array) -> Array:
    """Degrees in radians."""
    (x,) = floating_exactly(x)
    return na.deg2rad(x)


def rad2deg(x: Array) -> Array:
    """Radians in degrees."""
    (x,) = floating_exactly(x)
    return na.rad2deg(x)


def exp(x: Array) -> Array:
    """eˣ."""
    return na.exp(floating(x))


def exp2(x: Array) -> Array:
    """2ˣ."""
    return na.exp2(floating(x))


def expm1(x: Array) -> Array:
    """eˣ − 1."""
    return na.expm1(floating(x))


def floor(x: Array) -> Array:
    """The largest integer that is at most x, floating."""
    return na.floor(floating(x))


def i0(x: Array) -> Array:
    """The modified Bessel function I₀."""
    (x,) = floating_exactly(x)
    return na.i0(x)


def imag(x: Array) -> Array:
    """The imaginary part."""
    return na.imag(as_array(x))


def log(x: Array) -> Array:
    """The natural logarithm."""
    return na.log(floating(x))


def log10(x: Array) -> Array:
    """The logarithm to base 10."""
    return na.log10(floating(x))


def log1p(x: Array) -> Array:
    """ln(1 + x)."""
    return na.log1p(floating(x))


def log2(x: Array) -> Array:
    """The logarithm to base 2."""
    return na.log2(floating(x))


def nan_to_num(
    x: Array, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Array:
    """`x` with numbers for NaN and infinities: by default the largest and the least."""
    x = as_array(x)
    if not dtypes.dtype_of(x).is_inexact:
        return x
    return na.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def negative(x: Array) -> Array:
    """−x."""
    return na.negative(as_array(x))


def real(x: Array) -> Array:
    """The real part."""
    return na.real(as_array(x))


def reciprocal(x: Array) -> Array:
    """1 / x."""
    return na.reciprocal(as_array(x))


def round(x: Array, decimals: int = 0) -> Array:
    """Rounded to decimals, halves to the even digit."""
    x = as_array(x)
    dtype = dtypes.dtype_of(x)
    if decimals == 0:
        return na.round(x) if dtype.is_inexact else x
    if dtype.is_integer:
        if decimals > 0:
            return x
        x = cast(x, config.default_float())
    factor = 10.0**decimals
    return cast(na.divide(na.round(na.multiply(x, factor)), factor), dtype)


def sign(x: Array) -> Array:
    """−1, 0 or 1; x / |x| of complex numbers."""
    return na.sign(as_array(x))


def signbit(x: Array) -> Array:
    """Whether the sign bit is set."""
    x = as_array(x)
    if dtypes.dtype_of(x) is dtypes.bool:
        return na.zeros_like(x)
    return na.signbit(x)


def sin(x: Array) -> Array:
    """The sine."""
    return na.sin(floating(x))


def sinc(x: Array) -> Array:
    """sin(πx) / πx."""
    return na.sinc(floating(x))


def sinh(x: Array) -> Array:
    """The hyperbolic sine."""
    return na.sinh(floating(x))


def sqrt(x: Array) -> Array:
    """The square root."""
    return na.sqrt(floating(x))


def square(x: Array) -> Array:
    """x²."""
    x = as_array(x)
    return na.square(na.astype(x, dtypes.int32) if dtypes.dtype_of(x) is dtypes.bool else x)


def tan(x: Array) -> Array:
    """The tangent."""
    return na.tan(floating(x))


def tanh(x: Array) -> Array:
    """The hyperbolic tangent."""
    return na.tanh(floating(x))


def trunc(x: Array) -> Array:
    """The integer part."""
    x = as_array(x)
    return na.trunc(x) if dtypes.dtype_of(x).is_inexact else x


# -- two operands --------------------------------------------------------------------------------


def add(x1: Array, x2: Array) -> Array:
    """x1 + x2; of bools, whether one is true."""
    x1, x2 = operands(x1, x2)
    if result_type(x1, x2) is dtypes.bool:
        return na.logical_or(x1, x2)
    return na.add(x1, x2)


def subtract(x1: Array, x2: Array) -> Array:
    """x1 − x2."""
    return na.subtract(*operands(x1, x2))


def multiply(x1: Array, x2: Array) -> Array:
    """x1 · x2; of bools, whether both are true."""
    x1, x2 = operands(x1, x2)
    if result_type(x1, x2) is dtypes.bool:
        return na.logical_and(x1, x2)
    return na.multiply(x1, x2)


def divide(x1: Array, x2: Array) -> Array:
    """x1 / x2, floating."""
    return na.divide(*operands(x1, x2, also=(float,)))


true_divide = divide


def divide_no_nan(x1: Array, x2: Array) -> Array:
    """x1 / x2, and 0 where x2 is 0."""
    return na.divide_no_nan(*_arrays(x1, x2, float))


def floor_divide(x1: Array, x2: Array) -> Array:
    """⌊x1 / x2⌋."""
    return na.floor_divide(*operands(x1, x2))


def mod(x1: Array, x2: Array) -> Array:
    """The remainder, with the sign of x2; of bools as int32."""
    return na.remainder(*_numbers(x1, x2))


def fmod(x1: Array, x2: Array) -> Array:
    """The remainder, with the sign of x1; of bools as int32."""
    return na.fmod(*_numbers(x1, x2))


def _numbers(x1: Array, x2: Array) -> list[Array]:
    found = promote(x1, x2)
    is_bool = dtypes.dtype_of(found[0]) is dtypes.bool
    return [na.astype(x, dtypes.int32) for x in found] if is_bool else found


def power(x1: Array, x2: Array) -> Array:
    """x1 to the power of x2."""
    return na.pow(*operands(x1, x2))


def maximum(x1: Array, x2: Array) -> Array:
    """The larger number; NaN if one is NaN."""
    return tf_math.maximum(*_arrays(x1, x2))


def minimum(x1: Array, x2: Array) -> Array:
    """The smaller number; NaN if one is NaN."""
    return tf_math.minimum(*_arrays(x1, x2))


def fmax(x1: Array, x2: Array) -> Array:
    """The larger number; the other one if one is NaN."""
    return na.fmax(*_arrays(x1, x2))


def fmin(x1: Array, x2: Array) -> Array:
    """The smaller number; the other one if one is NaN."""
    return na.fmin(*_arrays(x1, x2))


def _arrays(x1: Any, x2: Any, *also: Any) -> list[Array]:
    """The operands in the dtype of the result, with arrays for weak numbers."""
    dtype = result_type(x1, x2, *also)
    return [cast(x, dtype) for x in as_arrays(x1, x2)]


def arctan2(x1: Array, x2: Array) -> Array:
    """The angle of the point (x2, x1)."""
    return na.atan2(*promote(x1, x2, also=(float,)))


def hypot(x1: Array, x2: Array) -> Array:
    """√(x1² + x2²)."""
    return na.hypot(*floating_exactly(x1, x2))


def heaviside(x1: Array, x2: Array) -> Array:
    """0 below zero, 1 above, x2 at zero."""
    x1, x2 = floating_exactly(x1, x2)
    step = na.astype(na.greater(x1, 0), dtypes.dtype_of(x1))
    return na.where(na.equal(x1, 0), x2, na.where(na.isnan(x1), x2, step))


def logaddexp(x1: Array, x2: Array) -> Array:
    """ln(eˣ¹ + eˣ²)."""
    return na.logaddexp(*promote(x1, x2, also=(float,)))


def logaddexp2(x1: Array, x2: Array) -> Array:
    """log₂(2ˣ¹ + 2ˣ²)."""
    return na.logaddexp2(*promote(x1, x2, also=(float,)))


def ldexp(x1: Array, x2: Array) -> Array:
    """x1 · 2^x2, for integers x2.

    Raises:
        DtypeError: x2 is not an integer.
    """
    x1, x2 = as_arrays(x1, x2)
    if not dtype_of(x2).is_integer:
        raise DtypeError(f"ldexp: x2: got {dtype_of(x2)}, expected integers")
    dtype = result_type(x1, x2, float)
    return na.multiply(cast(x1, dtype), na.exp2(cast(x2, dtype)))


def nextafter(x1: Array, x2: Array) -> Array:
    """The next number after x1 in the direction of x2."""
    return tf_math.nextafter(*promote(x1, x2, also=(float,)))


def gcd(x1: Array, x2: Array) -> Array:
    """The greatest common divisor."""
    return na.gcd(*promote(x1, x2))


def lcm(x1: Array, x2: Array) -> Array:
    """The least common multiple."""
    return na.lcm(*promote(x1, x2))


def clip(x: Array, x_min: Array, x_max: Array) -> Array:
    """x within bounds, in the dtype of x; the lower bound takes precedence if they cross."""
    x = as_array(x)
    if dtypes.dtype_of(x) is dtypes.bool:
        x = na.astype(x, dtypes.int32)
    low, high = (as_array(bound, dtypes.dtype_of(x), x) for bound in (x_min, x_max))
    return na.clip(na.clip(x, None, high), low, None)


# -- bits ----------------------------------------------------------------------------------------


def bitwise_and(x: Array, y: Array) -> Array:
    """The bits that both have."""
    return na.bitwise_and(*promote(x, y))


def bitwise_or(x: Array, y: Array) -> Array:
    """The bits that one has."""
    return na.bitwise_or(*promote(x, y))


def bitwise_xor(x: Array, y: Array) -> Array:
    """The bits that one of both has."""
    return na.bitwise_xor(*promote(x, y))


def bitwise_invert(x: Array) -> Array:
    """The bits that x does not have."""
    return na.bitwise_invert(as_array(x))


bitwise_not = bitwise_invert


def bitwise_left_shift(x: Array, y: Array) -> Array:
    """The bits, moved to higher places."""
    return na.bitwise_left_shift(*operands(x, y))


def bitwise_right_shift(x: Array, y: Array) -> Array:
    """The bits, moved to lower places; the sign stays."""
    return na.bitwise_right_shift(*operands(x, y))


left_shift, right_shift = bitwise_left_shift, bitwise_right_shift
