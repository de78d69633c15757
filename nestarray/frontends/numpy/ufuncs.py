"""The universal functions.

Upstream: https://numpy.org/doc/stable/reference/ufuncs.html
"""

from __future__ import annotations

from collections.abc import Callable

import nestarray as na
from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.numpy.ufunc import ufunc as ufunc
from nestarray.typing import Array

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "equal",
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
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "ufunc",
]  # fmt: skip


def _modf(x: Array) -> tuple[Array, Array]:
    """The fractional part, 0 for infinities, and the integer part."""
    whole = na.trunc(x)
    return na.where(na.isinf(x), na.zeros_like(x), na.subtract(x, whole)), whole


# -- one operand ---------------------------------------------------------------------------------

abs = absolute = ufunc("absolute", na.abs)
acos = arccos = ufunc("arccos", na.acos)
acosh = arccosh = ufunc("arccosh", na.acosh)
asin = arcsin = ufunc("arcsin", na.asin)
asinh = arcsinh = ufunc("arcsinh", na.asinh)
atan = arctan = ufunc("arctan", na.atan)
atanh = arctanh = ufunc("arctanh", na.atanh)
bitwise_count = ufunc("bitwise_count", na.bitwise_count)
bitwise_invert = bitwise_not = invert = ufunc("invert", na.bitwise_invert)
cbrt = ufunc("cbrt", na.cbrt)
ceil = ufunc("ceil", na.ceil)
conj = conjugate = ufunc("conjugate", na.conj)
cos = ufunc("cos", na.cos)
cosh = ufunc("cosh", na.cosh)
deg2rad = ufunc("deg2rad", na.deg2rad)
degrees = ufunc("degrees", na.rad2deg)
exp = ufunc("exp", na.exp)
exp2 = ufunc("exp2", na.exp2)
expm1 = ufunc("expm1", na.expm1)
fabs = ufunc("fabs", na.abs)
floor = ufunc("floor", na.floor)
frexp = ufunc("frexp", jnp.frexp)
isfinite = ufunc("isfinite", na.isfinite)
isinf = ufunc("isinf", na.isinf)
isnan = ufunc("isnan", na.isnan)
log = ufunc("log", na.log)
log10 = ufunc("log10", na.log10)
log1p = ufunc("log1p", na.log1p)
log2 = ufunc("log2", na.log2)
logical_not = ufunc("logical_not", jnp.logical_not)
modf = ufunc("modf", _modf)
negative = ufunc("negative", na.negative)
positive = ufunc("positive", na.positive)
rad2deg = ufunc("rad2deg", na.rad2deg)
radians = ufunc("radians", na.deg2rad)
reciprocal = ufunc("reciprocal", na.reciprocal)
rint = ufunc("rint", jnp.rint)
sign = ufunc("sign", na.sign)
signbit = ufunc("signbit", na.signbit)
sin = ufunc("sin", na.sin)
sinh = ufunc("sinh", na.sinh)
spacing = ufunc("spacing", jnp.spacing)
sqrt = ufunc("sqrt", na.sqrt)
square = ufunc("square", na.square)
tan = ufunc("tan", na.tan)
tanh = ufunc("tanh", na.tanh)
trunc = ufunc("trunc", na.trunc)


def _extreme(function: Callable[..., Array], exceeds: Callable[..., Array]) -> Callable[..., Array]:
    """An extremum that orders complex numbers by their real, then by their imaginary parts."""

    def extreme(x1: Array, x2: Array) -> Array:
        if na.dtype_of(x1).kind != "complex":
            return function(x1, x2)
        missing = x2 if function in (jnp.fmax, jnp.fmin) else x1  # whose NaN decides for x1
        return na.where(na.logical_or(exceeds(x1, x2), na.isnan(missing)), x1, x2)

    return extreme


# -- two operands --------------------------------------------------------------------------------

add = ufunc("add", na.add)
atan2 = arctan2 = ufunc("arctan2", na.atan2)
bitwise_and = ufunc("bitwise_and", na.bitwise_and)
bitwise_left_shift = left_shift = ufunc("left_shift", na.bitwise_left_shift)
bitwise_or = ufunc("bitwise_or", na.bitwise_or)
bitwise_right_shift = right_shift = ufunc("right_shift", na.bitwise_right_shift)
bitwise_xor = ufunc("bitwise_xor", na.bitwise_xor)
copysign = ufunc("copysign", na.copysign)
divide = true_divide = ufunc("divide", na.divide)
equal = ufunc("equal", na.equal)
float_power = ufunc("float_power", na.pow)
fmax = ufunc("fmax", _extreme(jnp.fmax, jnp.greater))
fmin = ufunc("fmin", _extreme(jnp.fmin, jnp.less))
gcd = ufunc("gcd", na.gcd)
greater = ufunc("greater", jnp.greater)
greater_equal = ufunc("greater_equal", jnp.greater_equal)
heaviside = ufunc("heaviside", na.heaviside)
hypot = ufunc("hypot", na.hypot)
lcm = ufunc("lcm", na.lcm)
ldexp = ufunc("ldexp", jnp.ldexp)
less = ufunc("less", jnp.less)
less_equal = ufunc("less_equal", jnp.less_equal)
logaddexp = ufunc("logaddexp", na.logaddexp)
logaddexp2 = ufunc("logaddexp2", na.logaddexp2)
logical_and = ufunc("logical_and", jnp.logical_and)
logical_or = ufunc("logical_or", jnp.logical_or)
logical_xor = ufunc("logical_xor", jnp.logical_xor)
maximum = ufunc("maximum", _extreme(na.maximum, jnp.greater))
minimum = ufunc("minimum", _extreme(na.minimum, jnp.less))
multiply = ufunc("multiply", na.multiply)
nextafter = ufunc("nextafter", na.nextafter)
not_equal = ufunc("not_equal", na.not_equal)
subtract = ufunc("subtract", na.subtract)


def _zero_divisor(function: Callable[..., Array]) -> Callable[..., Array]:
    """A division whose result is 0 for integers divided by zero."""

    def divided(x1: Array, x2: Array) -> Array:
        if na.dtype_of(x1).is_inexact:
            return function(x1, x2)
        is_zero = na.equal(x2, 0)
        found = function(x1, na.where(is_zero, na.ones_like(x2), x2))
        return na.where(is_zero, na.zeros_like(found), found)

    return divided


floor_divide = ufunc("floor_divide", _zero_divisor(na.floor_divide))
fmod = ufunc("fmod", _zero_divisor(na.fmod))
mod = remainder = ufunc("remainder", _zero_divisor(na.remainder))
divmod = ufunc("divmod", lambda x1, x2: (floor_divide(x1, x2), remainder(x1, x2)))
pow = power = ufunc("power", na.pow)
