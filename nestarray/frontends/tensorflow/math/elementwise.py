"""Functions of one element at a time, with TensorFlow's derivatives.

Upstream: https://www.tensorflow.org/api_docs/python/tf/math
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import backends, dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.derivatives import with_derivative_of
from nestarray.frontends.tensorflow.conversion import (
    floating,
    inexact,
    is_tensor,
    of_kind,
    operands,
    tensor,
    tensors,
)
from nestarray.typing import Array, DTypeLike

__all__ = [
    "abs", "accumulate_n", "acos", "acosh", "add", "add_n", "angle", "asin", "asinh", "atan",
    "atan2", "atanh", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "betainc", "ceil",
    "conj", "cos", "cosh", "digamma", "divide", "divide_no_nan", "erf", "erfc", "erfcinv",
    "erfinv", "exp", "expm1", "floor", "floordiv", "floormod", "igamma", "igammac", "imag",
    "lbeta", "lgamma", "log", "log1p", "log_sigmoid", "maximum", "minimum", "mod", "multiply",
    "multiply_no_nan", "ndtri", "negative", "nextafter", "polygamma", "polyval", "pow", "real",
    "reciprocal", "reciprocal_no_nan", "rint", "round", "rsqrt", "scalar_mul", "sigmoid", "sign",
    "sin", "sinh", "softplus", "softsign", "sqrt", "square", "squared_difference", "subtract",
    "tan", "tanh", "truediv", "xdivy", "xlog1py", "xlogy", "zeta",
]  # fmt: skip

_INEXACT = ("float", "complex")
_NUMERIC = ("int", "uint", "float", "complex")


def _of_one(
    op: Callable[..., Array], title: str, summary: str, kinds: Sequence[str] = _INEXACT
) -> Callable[..., Array]:
    """A function of one tensor whose dtype is of one of the kinds."""

    def function(x: Any, name: str | None = None) -> Array:
        return op(of_kind(title, x, *kinds))

    function.__name__ = function.__qualname__ = title
    function.__doc__ = summary
    return function


def _of_two(
    op: Callable[..., Array], title: str, summary: str, kinds: Sequence[str] = _NUMERIC
) -> Callable[..., Array]:
    """A function of two tensors of one dtype, which is of one of the kinds."""

    def function(x: Any, y: Any, name: str | None = None) -> Array:
        x, y = operands(title, x, y)
        of_kind(title, x if is_tensor(x) else y, *kinds)
        return op(x, y)

    function.__name__ = function.__qualname__ = title
    function.__doc__ = summary
    return function


# -- one tensor ------------------------------------------------------------------------------

acos = _of_one(na.acos, "acos", "The inverse of `cos`, in radians.")
acosh = _of_one(na.acosh, "acosh", "The inverse of `cosh`.")
asin = _of_one(na.asin, "asin", "The inverse of `sin`, in radians.")
asinh = _of_one(na.asinh, "asinh", "The inverse of `sinh`.")
atan = _of_one(na.atan, "atan", "The inverse of `tan`, in radians.")
atanh = _of_one(na.atanh, "atanh", "The inverse of `tanh`.")
cos = _of_one(na.cos, "cos", "cos(x), in radians.")
cosh = _of_one(na.cosh, "cosh", "The hyperbolic cosine.")
sin = _of_one(na.sin, "sin", "sin(x), in radians.")
sinh = _of_one(na.sinh, "sinh", "The hyperbolic sine.")
tan = _of_one(na.tan, "tan", "tan(x), in radians.")
tanh = _of_one(na.tanh, "tanh", "The hyperbolic tangent.")
exp = _of_one(na.exp, "exp", "eˣ.")
expm1 = _of_one(na.expm1, "expm1", "eˣ − 1.")
log = _of_one(na.log, "log", "The natural logarithm.")
log1p = _of_one(na.log1p, "log1p", "log(1 + x).")
sqrt = _of_one(na.sqrt, "sqrt", "√x.")
rsqrt = _of_one(na.rsqrt, "rsqrt", "1 / √x.")
sigmoid = _of_one(na.sigmoid, "sigmoid", "1 / (1 + exp(−x)).")
log_sigmoid = _of_one(na.log_sigmoid, "log_sigmoid", "log sigmoid(x).", ("float",))
erf = _of_one(na.erf, "erf", "The error function.", ("float",))
erfc = _of_one(na.erfc, "erfc", "1 − erf(x).", ("float",))
erfinv = _of_one(na.erfinv, "erfinv", "The inverse of `erf`.", ("float",))
ndtri = _of_one(na.ndtri, "ndtri", "The quantile of the standard normal distribution.", ("float",))
lgamma = _of_one(na.lgamma, "lgamma", "log |Γ(x)|.", ("float",))
digamma = _of_one(na.digamma, "digamma", "The derivative of log Γ(x).", ("float",))
bessel_i0 = _of_one(na.i0, "bessel_i0", "I₀(x), a modified Bessel function.", ("float",))
bessel_i0e = _of_one(na.i0e, "bessel_i0e", "exp(−|x|) · I₀(x).", ("float",))
bessel_i1 = _of_one(na.i1, "bessel_i1", "I₁(x), a modified Bessel function.", ("float",))
bessel_i1e = _of_one(na.i1e, "bessel_i1e", "exp(−|x|) · I₁(x).", ("float",))
reciprocal = _of_one(na.reciprocal, "reciprocal", "1 / x.")
abs = _of_one(na.abs, "abs", "The absolute value; of complex numbers, a real tensor.", _NUMERIC)
negative = _of_one(na.negative, "negative", "−x.", _NUMERIC)
square = _of_one(na.square, "square", "x².", _NUMERIC)
sign = _of_one(na.sign, "sign", "The sign; x / |x| of complex numbers.", _NUMERIC)
round = _of_one(
    na.round, "round", "The nearest integer, halves to the even one.", ("int", "uint", "float")
)
rint = _of_one(na.round, "rint", "The nearest integer, halves to the even one.", ("float",))
ceil = _of_one(na.ceil, "ceil", "The least integer that is not below x.", ("float",))
floor = _of_one(na.floor, "floor", "The greatest integer that is not above x.", ("float",))


def erfcinv(x: Any, name: str | None = None) -> Array:
    """The inverse of `erfc`."""
    half = na.multiply(floating("erfcinv", x), 0.5)
    return na.multiply(na.ndtri(half), -math.sqrt(0.5))


def reciprocal_no_nan(x: Any, name: str | None = None) -> Array:
    """1 / x, and 0 if x is 0."""
    x = inexact("reciprocal_no_nan", x)
    return divide_no_nan(na.ones_like(x), x)


def softplus(features: Any, name: str | None = None) -> Array:
    """log(1 + eˣ)."""
    return na.softplus(floating("softplus", features))


def softsign(features: Any, name: str | None = None) -> Array:
    """x / (1 + \\|x\\|)."""
    return na.softsign(floating("softsign", features))


def angle(input: Any, name: str | None = None) -> Array:
    """The angle of complex numbers; of real numbers, π if they are negative and 0 if not."""
    x = inexact("angle", input)
    if dtypes.dtype_of(x).kind == "complex":
        return na.angle(x)
    return na.where(na.less(x, 0), na.full_like(x, math.pi), na.zeros_like(x))


def real(input: Any, name: str | None = None) -> Array:
    """The real part."""
    x = tensor(input)
    return na.real(x) if dtypes.dtype_of(x).kind == "complex" else x


def imag(input: Any, name: str | None = None) -> Array:
    """The imaginary part."""
    x = inexact("imag", input)
    return na.imag(x) if dtypes.dtype_of(x).kind == "complex" else na.zeros_like(x)


def conj(x: Any, name: str | None = None) -> Array:
    """The complex conjugate."""
    x = of_kind("conj", x, *_NUMERIC)
    return na.conj(x) if dtypes.dtype_of(x).kind == "complex" else x


# -- two tensors -----------------------------------------------------------------------------


def _chosen(compare: Callable[..., Array], op: Callable[..., Array], x: Any, y: Any) -> Array:
    found = op(x, y)  # NaN if one is NaN
    return na.where(compare(x, y), x, found) if dtypes.dtype_of(found).is_floating else found


add = _of_two(na.add, "add", "x + y.")
subtract = _of_two(na.subtract, "subtract", "x − y.")
multiply = _of_two(na.multiply, "multiply", "x · y.")
maximum = _of_two(
    lambda x, y: _chosen(na.greater_equal, na.maximum, x, y),
    "maximum",
    "The larger of x and y; of equal ones x, which has the derivative.",
    ("int", "uint", "float"),
)
minimum = _of_two(
    lambda x, y: _chosen(na.less_equal, na.minimum, x, y),
    "minimum",
    "The smaller of x and y; of equal ones x, which has the derivative.",
    ("int", "uint", "float"),
)
pow = _of_two(na.pow, "pow", "x to the power y.")
squared_difference = _of_two(
    lambda x, y: na.square(na.subtract(x, y)), "squared_difference", "(x − y)²."
)
floordiv = _of_two(na.floor_divide, "floordiv", "x / y, rounded down.", ("int", "uint", "float"))
floormod = _of_two(na.remainder, "floormod", "x − y · floordiv(x, y).", ("int", "uint", "float"))
mod = floormod


def truediv(x: Any, y: Any, name: str | None = None) -> Array:
    """x / y; of integers, float32 for up to 16 bits and float64 above."""
    x, y = operands("truediv", x, y)
    like = x if is_tensor(x) else y
    dtype = dtypes.dtype_of(like)
    if dtype.is_integer:
        wide = dtypes.float32 if dtype.bits <= 16 else backends.widest_float(like)
        x, y = (na.astype(v, wide) if is_tensor(v) else float(v) for v in (x, y))
    return na.divide(x, y)


def divide(x: Any, y: Any, name: str | None = None) -> Array:
    """x / y, as by Python's operator: `truediv`."""
    return truediv(x, y)


def atan2(y: Any, x: Any, name: str | None = None) -> Array:
    """The angle of the point (x, y), in radians."""
    return na.atan2(*operands("atan2", floating("atan2", y), x))


def nextafter(x1: Any, x2: Any, name: str | None = None) -> Array:
    """The number next to `x1` in the direction of `x2`, with the derivative of `x1`."""
    x1, x2 = tensors("nextafter", x1, x2)
    found = na.nextafter(na.stop_gradient(x1), na.stop_gradient(x2))
    return with_derivative_of(na.broadcast_to(x1, na.shape(found)), found)


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Array:
    """x / y, and 0 where y is 0."""
    x, y = tensors("divide_no_nan", x, inexact("divide_no_nan", y) if is_tensor(y) else y)
    is_zero = na.equal(y, 0)
    found = na.divide(x, na.where(is_zero, na.ones_like(y), y))
    return na.where(is_zero, na.zeros_like(found), found)


def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Array:
    """x · y, and 0 where y is 0 even if x is NaN or infinite."""
    x, y = tensors("multiply_no_nan", x, y)
    found = na.multiply(inexact("multiply_no_nan", x), y)
    zeros = na.zeros_like(found)
    return with_derivative_of(found, na.where(na.equal(y, 0), zeros, na.stop_gradient(found)))


def _unless_zero(title: str, op: Callable[[Array, Array], Array], x: Any, y: Any) -> Array:
    """``op(x, y)``, and 0 with derivatives of 0 where x is 0."""
    x, y = tensors(title, x, y)
    is_zero = na.equal(inexact(title, x), 0)
    found = op(x, na.where(is_zero, na.ones_like(y), y))
    return na.where(is_zero, na.zeros_like(found), found)


def xdivy(x: Any, y: Any, name: str | None = None) -> Array:
    """x / y, and 0 where x is 0."""
    return _unless_zero("xdivy", na.divide, x, y)


def xlogy(x: Any, y: Any, name: str | None = None) -> Array:
    """x · log(y), and 0 where x is 0."""
    return _unless_zero("xlogy", lambda x, y: na.multiply(x, na.log(y)), x, y)


def xlog1py(x: Any, y: Any, name: str | None = None) -> Array:
    """x · log(1 + y), and 0 where x is 0."""
    return _unless_zero("xlog1py", lambda x, y: na.multiply(x, na.log1p(y)), x, y)


def igamma(a: Any, x: Any, name: str | None = None) -> Array:
    """P(a, x), the lower regularized incomplete gamma function."""
    return na.gammainc(*tensors("igamma", a, x))


def igammac(a: Any, x: Any, name: str | None = None) -> Array:
    """Q(a, x) = 1 − P(a, x)."""
    return na.gammaincc(*tensors("igammac", a, x))


def zeta(x: Any, q: Any, name: str | None = None) -> Array:
    """The Hurwitz zeta function, Σ (q + n)^−x; without a derivative by x."""
    x, q = tensors("zeta", x, q)
    return na.zeta(na.stop_gradient(x), q)


def polygamma(a: Any, x: Any, name: str | None = None) -> Array:
    """The derivative of `digamma` of order a, a tensor of whole numbers; NaN for other numbers."""
    a, x = tensors("polygamma", a, x)
    a = na.stop_gradient(a)
    is_first = na.equal(a, 0)
    order = na.where(is_first, na.ones_like(a), a)
    sign = na.where(na.equal(na.remainder(order, 2), 0), na.full_like(a, -1), na.ones_like(a))
    factorial = na.exp(na.lgamma(na.add(order, 1)))
    above = na.multiply(na.multiply(sign, factorial), na.zeta(na.add(order, 1), x))
    is_order = na.logical_and(na.greater_equal(a, 0), na.equal(a, na.floor(a)))
    one = na.where(is_order, na.ones_like(a), na.full_like(a, math.nan))
    return na.multiply(na.where(is_first, na.digamma(x), above), one)


def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Array:
    """I_x(a, b), the regularized incomplete beta function; with a derivative by x only."""
    a, b, x = tensors("betainc", a, b, x)
    return na.betainc(na.stop_gradient(a), na.stop_gradient(b), x)


# -- several tensors -------------------------------------------------------------------------


def add_n(inputs: Sequence[Any], name: str | None = None) -> Array:
    """The sum of tensors of one shape."""
    found = tensors("add_n", *inputs)
    shapes = {tuple(na.shape(x)) for x in found}
    if len(shapes) != 1:
        raise ArgumentError(
            f"add_n: inputs: got {len(shapes)} shapes, expected tensors of one shape"
        )
    return functools.reduce(na.add, found)


def accumulate_n(
    inputs: Sequence[Any],
    shape: Sequence[int] | None = None,
    tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Array:
    """The sum of tensors of one shape."""
    return add_n(inputs)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Array:
    """A number times a tensor."""
    if is_tensor(scalar) and len(na.shape(scalar)):
        raise ArgumentError(f"scalar_mul: scalar: got the shape {na.shape(scalar)}, expected ()")
    return multiply(scalar, x)


def polyval(coeffs: Sequence[Any], x: Any, name: str | None = None) -> Array:
    """The value of a polynomial, whose coefficients begin with the highest power."""
    if not isinstance(coeffs, (list, tuple)):
        raise ArgumentError(f"polyval: coeffs: got {type(coeffs).__name__}, expected a list")
    x = tensor(x)
    if not coeffs:
        return na.zeros_like(x)
    first, *rest = tensors("polyval", *coeffs, x)[:-1]
    return functools.reduce(lambda total, c: na.add(na.multiply(total, x), c), rest, first)


def lbeta(x: Any, name: str | None = None) -> Array:
    """log |B(x)| along the last axis: Σ log Γ(xᵢ) − log Γ(Σ xᵢ)."""
    x = floating("lbeta", x)
    total = na.lgamma(na.sum(x, axis=-1))
    return na.subtract(na.sum(na.lgamma(x), axis=-1), total)
