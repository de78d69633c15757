"""Arithmetic and functions of one element at a time.

Upstream: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops, one page a function:
https://docs.pytorch.org/docs/stable/generated/torch.add.html
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, DtypeError
from nestarray.frontends.torch.promotion import (
    cast,
    expect_array,
    fill_number,
    floating,
    is_number,
    promote,
    promote_arrays,
    result_type,
)
from nestarray.typing import Array

__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "addcdiv", "addcmul", "angle", "arccos", "arccosh",
    "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh", "atan", "atan2",
    "atanh", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "ceil", "clamp", "clamp_max", "clamp_min", "clip",
    "conj", "copysign", "cos", "cosh", "deg2rad", "div", "divide", "exp", "exp2", "expm1", "fix",
    "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frac", "heaviside", "hypot",
    "imag", "lerp", "log", "log1p", "log2", "log10", "logaddexp", "logaddexp2", "maximum",
    "minimum", "mul", "multiply", "nan_to_num", "neg", "negative", "polar", "positive", "pow",
    "rad2deg", "real", "reciprocal", "remainder", "round", "rsqrt", "rsub", "sgn", "sign",
    "signbit", "sin", "sinh", "sqrt", "square", "sub", "subtract", "tan", "tanh", "true_divide",
    "trunc", "view_as_complex", "view_as_real",
]  # fmt: skip

# -- arithmetic ----------------------------------------------------------------------------


def add(input: Array, other: Array | float, *, alpha: float = 1) -> Array:
    """input + alpha · other; of booleans the disjunction."""
    x, y = promote(input, _scaled(other, alpha))
    return na.logical_or(x, y) if result_type(x, y) is dtypes.bool else na.add(x, y)


def sub(input: Array, other: Array | float, *, alpha: float = 1) -> Array:
    """input − alpha · other."""
    return na.subtract(*promote(input, _scaled(other, alpha)))


def rsub(input: Array, other: Array | float, *, alpha: float = 1) -> Array:
    """other − alpha · input."""
    return na.subtract(*promote(other, _scaled(input, alpha)))


def mul(input: Array, other: Array | float) -> Array:
    """input · other; of booleans the conjunction."""
    x, y = promote(input, other)
    return na.logical_and(x, y) if result_type(x, y) is dtypes.bool else na.multiply(x, y)


def div(input: Array, other: Array | float, *, rounding_mode: str | None = None) -> Array:
    """input / other, exact (integers as float32), or rounded: "trunc" towards 0, "floor" down."""
    if rounding_mode == "floor":
        return floor_divide(input, other)
    if rounding_mode not in (None, "trunc"):
        raise ArgumentError(
            f"div: rounding_mode: got {rounding_mode!r}, expected None, 'trunc' or 'floor'"
        )
    dtype = result_type(input, other)
    if not dtype.is_inexact:
        if rounding_mode == "trunc":
            return _divide_integers_towards_zero(*promote_arrays(input, other))
        input, other = (x if is_number(x) else cast(x, dtypes.float32) for x in (input, other))
    quotient = na.divide(*promote(input, other))
    return quotient if rounding_mode is None else na.trunc(quotient)


def _divide_integers_towards_zero(x: Array, y: Array) -> Array:
    quotient, rest = na.floor_divide(x, y), na.remainder(x, y)
    rounded_down = na.logical_and(na.not_equal(rest, 0), na.not_equal(na.less(x, 0), na.less(y, 0)))
    return na.add(quotient, na.astype(rounded_down, dtypes.dtype_of(quotient)))


def floor_divide(input: Array, other: Array | float) -> Array:
    """⌊input / other⌋; NaN for infinite `input`, and −1 for a quotient just below 0."""
    x, y = promote(input, other)
    quotient = na.floor_divide(x, y)
    if not result_type(x, y).is_floating:
        return quotient
    is_below = na.logical_and(na.isinf(y), na.less(na.multiply(na.sign(x), y), 0))
    quotient = na.where(is_below, -1.0, quotient)
    return na.where(na.logical_and(na.isinf(x), na.not_equal(y, 0)), float("nan"), quotient)


def remainder(input: Array, other: Array | float) -> Array:
    """The remainder of `floor_divide`, with the sign of `other`."""
    return na.remainder(*promote(input, other))


def fmod(input: Array, other: Array | float) -> Array:
    """The remainder of the division rounded towards 0, with the sign of `input`."""
    x, y = promote_arrays(input, other)
    return na.fmod(x, y)


def pow(input: Array | float, exponent: Array | float) -> Array:
    """input to the power `exponent`; integers to negative powers are 0, except 1 and −1."""
    return na.pow(*promote(input, exponent))


def float_power(input: Array | float, exponent: Array | float) -> Array:
    """input to the exponent, in float64."""
    x, y = promote_arrays(input, exponent)
    wide = dtypes.complex128 if dtypes.dtype_of(x).kind == "complex" else dtypes.float64
    return na.pow(cast(x, wide), cast(y, wide))


def neg(input: Array) -> Array:
    """−input."""
    return na.negative(input)


def positive(input: Array) -> Array:
    """input."""
    return input


def addcmul(input: Array, tensor1: Array, tensor2: Array, *, value: float = 1) -> Array:
    """input + value · tensor1 · tensor2."""
    return add(input, mul(tensor1, tensor2), alpha=value)


def addcdiv(input: Array, tensor1: Array, tensor2: Array, *, value: float = 1) -> Array:
    """input + value · tensor1 / tensor2."""
    return add(input, div(tensor1, tensor2), alpha=value)


def lerp(input: Array, end: Array, weight: Array | float) -> Array:
    """input + weight · (end − input)."""
    return add(input, mul(weight, sub(end, input)))


def _scaled(x: Array | float, alpha: float) -> Any:
    return x if alpha == 1 else mul(x, alpha) if not is_number(x) else x * alpha


# -- bounds --------------------------------------------------------------------------------


def clamp(
    input: Array, min: Array | float | None = None, max: Array | float | None = None
) -> Array:
    """input limited to [min, max]; `max` wins where the bounds cross.

    Equal elements of arrays share the derivative, as upstream since 2.14. Where the two bounds are
    equal, it belongs to the argument that the value comes from. At a bound that is a number the
    derivative is 1, as `na.clip` and upstream before 2.14 (0 since then).
    """
    if min is None and max is None:
        raise ArgumentError("clamp: got neither min nor max, expected at least one of them")
    given = [bound for bound in (min, max) if bound is not None]
    dtype = result_type(input, *given)
    low, high = (fill_number("clamp", b, dtype) if is_number(b) else b for b in (min, max))
    x = cast(input, dtype)
    if not dtype.is_floating or not (hasattr(low, "dtype") or hasattr(high, "dtype")):
        return na.clip(x, low, high)
    result = x if low is None else na.maximum(x, low)
    result = result if high is None else na.minimum(result, high)
    if low is None or high is None:
        return result
    point = na.where(na.less(x, low), low, na.where(na.greater(x, low), high, x))
    return na.where(na.equal(low, high), point, result)


def clamp_min(input: Array, min: Array | float) -> Array:
    """input, at least `min`."""
    expect_array(input, min)
    return clamp(input, min=min)


def clamp_max(input: Array, max: Array | float) -> Array:
    """input, at most `max`."""
    expect_array(input, max)
    return clamp(input, max=max)


def maximum(input: Array, other: Array | float) -> Array:
    """The larger of two; NaN if one is."""
    x, y = promote_arrays(input, other)
    return na.logical_or(x, y) if _is_bool(x) else na.maximum(x, y)


def minimum(input: Array, other: Array | float) -> Array:
    """The smaller of two; NaN if one is."""
    x, y = promote_arrays(input, other)
    return na.logical_and(x, y) if _is_bool(x) else na.minimum(x, y)


def fmax(input: Array, other: Array) -> Array:
    """The larger of two; a NaN loses against a number."""
    x, y = promote_arrays(input, other)
    if not dtypes.dtype_of(x).is_inexact:
        return maximum(x, y)
    return na.fmax(x, y)


def fmin(input: Array, other: Array) -> Array:
    """The smaller of two; a NaN loses against a number."""
    x, y = promote_arrays(input, other)
    if not dtypes.dtype_of(x).is_inexact:
        return minimum(x, y)
    return na.fmin(x, y)


def nan_to_num(
    input: Array, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Array:
    """input with NaN and infinities replaced, by default with 0 and the largest finite numbers."""
    dtype = dtypes.dtype_of(input)
    if not dtype.is_inexact:
        return input
    limit = na.finfo(dtype).max
    result = na.where(na.isnan(input), _like(0.0 if nan is None else nan, input), input)
    high = limit if posinf is None else posinf
    low = -limit if neginf is None else neginf
    result = na.where(na.equal(input, math.inf), _like(high, input), result)
    return na.where(na.equal(input, -math.inf), _like(low, input), result)


def _like(value: float, x: Array) -> Array:
    return na.full((), float(value), dtype=dtypes.dtype_of(x), like=x)


# -- rounding and signs --------------------------------------------------------------------


def abs(input: Array) -> Array:
    """|input|."""
    return na.abs(input)


def ceil(input: Array) -> Array:
    """Rounded up."""
    return na.ceil(input)


def floor(input: Array) -> Array:
    """Rounded down."""
    return na.floor(input)


def round(input: Array, *, decimals: int = 0) -> Array:
    """Round to the nearest, halves to even; with `decimals`, to this number of digits."""
    if decimals == 0 or not dtypes.dtype_of(input).is_inexact:
        return na.round(input)
    scale = 10.0 ** builtins.abs(decimals)
    if decimals > 0:
        return na.divide(na.round(na.multiply(input, scale)), scale)
    return na.multiply(na.round(na.divide(input, scale)), scale)


def trunc(input: Array) -> Array:
    """Rounded towards 0."""
    return na.trunc(input)


def frac(input: Array) -> Array:
    """The part after the point, input − trunc(input)."""
    return na.subtract(input, na.trunc(input))


def sign(input: Array) -> Array:
    """−1, 0 or 1; NaN is 0 in torch."""
    if dtypes.dtype_of(input) is dtypes.bool:
        return input
    result = na.sign(input)
    if not dtypes.dtype_of(input).is_floating:
        return result
    return na.where(na.isnan(input), na.zeros_like(input), result)


def sgn(input: Array) -> Array:
    """`sign`, of complex numbers input / |input|."""
    return na.sign(input) if dtypes.dtype_of(input).kind == "complex" else sign(input)


def signbit(input: Array) -> Array:
    """Whether the sign is minus (also of −0)."""
    if dtypes.dtype_of(input).is_inexact:
        return na.signbit(input)
    if dtypes.dtype_of(input) is dtypes.bool:
        return na.zeros_like(input)
    return na.less(input, 0)


def copysign(input: Array, other: Array | float) -> Array:
    """The magnitude of `input` with the sign of `other`."""
    x, y = promote_arrays(input, other)
    return na.copysign(floating(x), floating(y))


def heaviside(input: Array, values: Array) -> Array:
    """0 below zero, 1 above, `values` at zero."""
    x, y = promote_arrays(input, values)
    step = na.astype(na.greater(x, 0), dtypes.dtype_of(x))
    return na.where(na.equal(x, 0), y, step)


# -- powers, exponentials, logarithms ------------------------------------------------------


def square(input: Array) -> Array:
    """input²."""
    return pow(input, 2) if dtypes.dtype_of(input) is dtypes.bool else na.square(input)


def sqrt(input: Array) -> Array:
    """√input."""
    return na.sqrt(input)


def rsqrt(input: Array) -> Array:
    """1 / √input."""
    return na.rsqrt(input)


def reciprocal(input: Array) -> Array:
    """1 / input."""
    return na.reciprocal(floating(input))


def exp(input: Array) -> Array:
    """eˣ."""
    return na.exp(input)


def exp2(input: Array) -> Array:
    """2ˣ."""
    return na.pow(2.0, floating(input))


def expm1(input: Array) -> Array:
    """eˣ − 1."""
    return na.expm1(input)


def log(input: Array) -> Array:
    """The natural logarithm."""
    return na.log(input)


def log2(input: Array) -> Array:
    """The logarithm to base 2."""
    return na.log2(input)


def log10(input: Array) -> Array:
    """The logarithm to base 10."""
    return na.log10(input)


def log1p(input: Array) -> Array:
    """ln(1 + input)."""
    return na.log1p(input)


def logaddexp(input: Array, other: Array) -> Array:
    """ln(eˣ + eʸ)."""
    x, y = promote(input, other)
    if result_type(x, y).kind != "complex":
        return na.logaddexp(x, y)
    is_first = na.greater_equal(na.real(x), na.real(y))
    high, low = na.where(is_first, x, y), na.where(is_first, y, x)
    # unlike the logarithm of the sum, the result may have an angle beyond ±π
    total = na.add(high, na.log(na.add(na.exp(na.subtract(low, high)), 1.0)))
    return na.where(na.equal(na.real(high), -math.inf), high, total)


def logaddexp2(input: Array, other: Array) -> Array:
    """log₂(2ˣ + 2ʸ)."""
    x, y = promote(input, other)
    ln2 = math.log(2.0)
    return na.divide(na.logaddexp(na.multiply(x, ln2), na.multiply(y, ln2)), ln2)


def hypot(input: Array, other: Array) -> Array:
    """√(input² + other²)."""
    return na.hypot(*promote(input, other))


# -- trigonometry --------------------------------------------------------------------------


def sin(input: Array) -> Array:
    """The sine."""
    return na.sin(input)


def cos(input: Array) -> Array:
    """The cosine."""
    return na.cos(input)


def tan(input: Array) -> Array:
    """The tangent."""
    return na.tan(input)


def asin(input: Array) -> Array:
    """The inverse of `sin`."""
    return na.asin(input)


def acos(input: Array) -> Array:
    """The inverse of `cos`."""
    return na.acos(input)


def atan(input: Array) -> Array:
    """The inverse of `tan`."""
    return na.atan(input)


def atan2(input: Array, other: Array) -> Array:
    """The angle of the point (other, input)."""
    x, y = promote_arrays(input, other)
    return na.atan2(floating(x), floating(y))


def sinh(input: Array) -> Array:
    """The hyperbolic sine."""
    return na.sinh(input)


def cosh(input: Array) -> Array:
    """The hyperbolic cosine."""
    return na.cosh(input)


def tanh(input: Array) -> Array:
    """The hyperbolic tangent."""
    return na.tanh(input)


def asinh(input: Array) -> Array:
    """The inverse of `sinh`."""
    return na.asinh(input)


def acosh(input: Array) -> Array:
    """The inverse of `cosh`."""
    return na.acosh(input)


def atanh(input: Array) -> Array:
    """The inverse of `tanh`."""
    return na.atanh(input)


def deg2rad(input: Array) -> Array:
    """Degrees as radians."""
    return na.multiply(floating(input), math.pi / 180)


def rad2deg(input: Array) -> Array:
    """Radians as degrees."""
    return na.multiply(floating(input), 180 / math.pi)


# -- bits ----------------------------------------------------------------------------------


def bitwise_not(input: Array) -> Array:
    """All bits flipped; of booleans the negation."""
    return na.logical_not(input) if _is_bool(input) else na.bitwise_invert(input)


def bitwise_and(input: Array, other: Array | int) -> Array:
    """Bit by bit, input ∧ other."""
    x, y = promote_arrays(input, other)
    return na.logical_and(x, y) if _is_bool(x) else na.bitwise_and(x, y)


def bitwise_or(input: Array, other: Array | int) -> Array:
    """Bit by bit, input ∨ other."""
    x, y = promote_arrays(input, other)
    return na.logical_or(x, y) if _is_bool(x) else na.bitwise_or(x, y)


def bitwise_xor(input: Array, other: Array | int) -> Array:
    """Bit by bit, input ⊕ other."""
    x, y = promote_arrays(input, other)
    return na.not_equal(x, y) if _is_bool(x) else na.bitwise_xor(x, y)


def bitwise_left_shift(input: Array, other: Array | int) -> Array:
    """The bits of input moved left by `other`."""
    return na.bitwise_left_shift(*promote_arrays(input, other))


def bitwise_right_shift(input: Array, other: Array | int) -> Array:
    """The bits of input moved right by `other`, keeping the sign."""
    return na.bitwise_right_shift(*promote_arrays(input, other))


def _is_bool(x: Array) -> bool:
    return dtypes.dtype_of(x) is dtypes.bool


# -- complex numbers -----------------------------------------------------------------------


def real(input: Array) -> Array:
    """The real part; a real array itself."""
    return na.real(input) if dtypes.dtype_of(input).kind == "complex" else input


def imag(input: Array) -> Array:
    """The imaginary part."""
    return na.imag(input)


def conj(input: Array) -> Array:
    """The complex conjugate."""
    return na.conj(input) if dtypes.dtype_of(input).kind == "complex" else input


def angle(input: Array) -> Array:
    """The angle of a complex number; π for negative reals."""
    if dtypes.dtype_of(input).kind == "complex":
        return na.atan2(na.imag(input), na.real(input))
    x = floating(input)
    result = na.where(na.less(x, 0), _like(math.pi, x), na.zeros_like(x))
    return na.where(na.isnan(x), x, result)


def polar(abs: Array, angle: Array) -> Array:
    """The complex numbers of these moduli and angles."""
    _expect_one_floating("polar", abs, angle)
    return complex_(na.multiply(abs, na.cos(angle)), na.multiply(abs, na.sin(angle)))


def _expect_one_floating(name: str, x: Array, y: Array) -> None:
    expect_array(x, y)
    first, second = dtypes.dtype_of(x), dtypes.dtype_of(y)
    if first is not second or not first.is_floating or is_number(x) or is_number(y):
        raise DtypeError(f"{name}: got {first} and {second}, expected arrays of one floating dtype")


def complex_(real: Array, imag: Array) -> Array:
    """real + i · imag; torch.complex."""
    _expect_one_floating("complex", real, imag)
    real, imag = promote_arrays(real, imag)
    wide = dtypes.complex128 if dtypes.dtype_of(real) is dtypes.float64 else dtypes.complex64
    return na.astype(na.complex(real, imag), wide, copy=False)


def view_as_real(input: Array) -> Array:
    """Complex numbers as pairs of real ones, in a new last dimension."""
    return na.stack([na.real(input), na.imag(input)], axis=-1)


def view_as_complex(input: Array) -> Array:
    """Pairs of real numbers in the last dimension as complex ones."""
    parts = na.unstack(input, axis=-1)
    return complex_(parts[0], parts[1])


arccos, arcsin, arctan, arctan2 = acos, asin, atan, atan2
arccosh, arcsinh, arctanh = acosh, asinh, atanh
absolute, negative, subtract, multiply, divide, true_divide = abs, neg, sub, mul, div, div
clip, fix = clamp, trunc
