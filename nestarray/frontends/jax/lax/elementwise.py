"""Functions of one element at a time.

Upstream, one page a function: https://docs.jax.dev/en/latest/_autosummary/jax.lax.add.html
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes, tree
from nestarray.frontends.jax.promotion import is_number, saturated
from nestarray.typing import Array, Nest

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bessel_i0e",
    "bessel_i1e",
    "betainc",
    "bitcast_convert_type",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "complex",
    "conj",
    "convert_element_type",
    "cos",
    "cosh",
    "digamma",
    "div",
    "eq",
    "eq_to",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "ge",
    "gt",
    "igamma",
    "igamma_grad_a",
    "igammac",
    "imag",
    "integer_pow",
    "is_finite",
    "le",
    "le_to",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "logistic",
    "lt",
    "lt_to",
    "max",
    "min",
    "mul",
    "mulhi",
    "ne",
    "neg",
    "nextafter",
    "one_minus_square",
    "polygamma",
    "polynomial",
    "population_count",
    "pow",
    "random_gamma_grad",
    "real",
    "reciprocal",
    "reduce_precision",
    "rem",
    "round",
    "rsqrt",
    "select",
    "select_n",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "stop_gradient",
    "sub",
    "tan",
    "tanh",
    "zeta",
]  # fmt: skip

# -- one operand -----------------------------------------------------------------------------

acos, acosh, asin, asinh, atan, atanh = na.acos, na.acosh, na.asin, na.asinh, na.atan, na.atanh
cosh, sinh, square = na.cosh, na.sinh, na.square
erf, erfc, lgamma = na.erf, na.erfc, na.lgamma
abs, ceil, floor, real, imag = na.abs, na.ceil, na.floor, na.real, na.imag


def stop_gradient(x: Nest) -> Nest:
    """The arrays of `x`, with derivatives of zero."""
    return na.stop_gradient(x) if hasattr(x, "dtype") else tree.map(_constant, x)


def _constant(x: Any) -> Any:
    return na.stop_gradient(x) if hasattr(x, "dtype") else x


def cos(x: Array, accuracy: Any = None) -> Array:
    """cos(x), in radians."""
    return na.cos(x)


def sin(x: Array, accuracy: Any = None) -> Array:
    """sin(x), in radians."""
    return na.sin(x)


def tan(x: Array, accuracy: Any = None) -> Array:
    """tan(x), in radians."""
    return na.tan(x)


def tanh(x: Array, accuracy: Any = None) -> Array:
    """The hyperbolic tangent."""
    return na.tanh(x)


def exp(x: Array, accuracy: Any = None) -> Array:
    """eˣ."""
    return na.exp(x)


def exp2(x: Array, accuracy: Any = None) -> Array:
    """2ˣ."""
    return na.exp2(x)


def expm1(x: Array, accuracy: Any = None) -> Array:
    """eˣ − 1."""
    return na.expm1(x)


def log(x: Array, accuracy: Any = None) -> Array:
    """The natural logarithm."""
    return na.log(x)


def log1p(x: Array, accuracy: Any = None) -> Array:
    """log(1 + x)."""
    return na.log1p(x)


def log2(x: Array, accuracy: Any = None) -> Array:
    """The logarithm to base 2."""
    return na.log2(x)


def one_minus_square(x: Array) -> Array:
    """1 - x²; exact near \\|x\\| = 1."""
    one = na.ones_like(x)
    return na.multiply(na.add(one, x), na.subtract(one, x))


def polynomial(x: Array, coeffs: Sequence[Array], *, unroll: int | None = None) -> Array:
    """Σ coeffs[k] xᵏ, by Horner's rule."""
    result, *others = reversed(coeffs)
    for coefficient in others:
        result = na.add(na.multiply(result, x), coefficient)
    return result


def sqrt(x: Array, accuracy: Any = None) -> Array:
    """√x."""
    return na.sqrt(x)


def rsqrt(x: Array, accuracy: Any = None) -> Array:
    """1 / √x."""
    return na.rsqrt(x)


def cbrt(x: Array, accuracy: Any = None) -> Array:
    """∛x."""
    return na.cbrt(x)


def neg(x: Array) -> Array:
    """−x."""
    return na.negative(x)


def sign(x: Array) -> Array:
    """The sign; x / \\|x\\| of complex numbers, with the derivative 0."""
    return na.sign(na.stop_gradient(x) if dtypes.dtype_of(x).kind == "complex" else x)


def conj(x: Array) -> Array:
    """The complex conjugate; of real numbers as complex numbers."""
    if dtypes.dtype_of(x).kind != "complex":
        x = na.complex(x, na.zeros_like(x))
    return na.conj(x)


def erf_inv(x: Array) -> Array:
    """The inverse of `erf`."""
    return na.erfinv(x)


def bessel_i0e(x: Array) -> Array:
    """exp(−\\|x\\|) · I₀(x)."""
    return na.i0e(x)


def bessel_i1e(x: Array) -> Array:
    """exp(−\\|x\\|) · I₁(x)."""
    return na.i1e(x)


def logistic(x: Array, accuracy: Any = None) -> Array:
    """1 / (1 + exp(−x))."""
    return na.sigmoid(x)


def is_finite(x: Array) -> Array:
    """Whether x is neither infinite nor NaN."""
    return na.isfinite(x)


def population_count(x: Array) -> Array:
    """The number of bits that are set, in the dtype of x."""
    dtype = dtypes.dtype_of(x)
    if dtype.kind == "int":  # in two's complement; na counts the bits of the magnitude
        count = na.bitwise_count(na.where(na.less(x, 0), na.bitwise_invert(x), x))
        return na.astype(na.where(na.less(x, 0), dtype.bits - count, count), dtype)
    return na.astype(na.bitwise_count(x), dtype)


def round(x: Array, rounding_method: int = 0) -> Array:
    """The nearest integer; halves away from zero (0) or to the even one (1)."""
    if rounding_method == 1:
        return na.round(x)
    size = na.abs(x)
    whole = na.floor(size)
    is_up = na.greater_equal(na.subtract(size, whole), 0.5)
    return na.copysign(na.where(is_up, na.add(whole, 1), whole), x)


def integer_pow(x: Array, y: int) -> Array:
    """x^y."""
    return na.pow(x, y)


def reduce_precision(operand: Array, exponent_bits: int, mantissa_bits: int) -> Array:
    """`operand` rounded to a format of fewer bits: float16, bfloat16 or float32."""
    dtype = dtypes.dtype_of(operand)
    formats = {(5, 10): dtypes.float16, (8, 7): dtypes.bfloat16, (8, 23): dtypes.float32}
    found = formats.get((exponent_bits, mantissa_bits), dtype)
    return operand if found is dtype else na.astype(na.astype(operand, found), dtype)


def reciprocal(x: Array) -> Array:
    """1 / x."""
    return na.reciprocal(x)


def clz(x: Array) -> Array:
    """The number of zeros before the first bit that is set."""
    bits = dtypes.dtype_of(x).bits
    shift = 1
    while shift < bits:  # all bits after the first
        x = na.bitwise_or(x, shift_right_logical(x, na.full_like(x, shift)))
        shift *= 2
    return na.subtract(na.full_like(x, bits), population_count(x))


def convert_element_type(operand: Array, new_dtype: Any) -> Array:
    """`operand` in another dtype; the real part of complex numbers."""
    new = dtypes.as_dtype(new_dtype)
    if dtypes.dtype_of(operand).kind == "complex" and new.kind != "complex":
        operand = na.real(operand)
    return saturated(operand, new)


def bitcast_convert_type(operand: Array, new_dtype: Any) -> Array:
    """The bits in another dtype; parts of an element are a new last axis."""
    old, new = dtypes.dtype_of(operand), dtypes.as_dtype(new_dtype)
    if old is dtypes.bool or new is dtypes.bool:
        return na.astype(operand, new)
    if old.bits > new.bits:
        return na.bitcast(na.expand_dims(operand, -1), new)
    found = na.bitcast(operand, new)
    return na.squeeze(found, axis=-1) if old.bits < new.bits else found


# -- two operands ----------------------------------------------------------------------------


def add(x: Array, y: Array) -> Array:
    """x + y."""
    return na.add(x, y)


def sub(x: Array, y: Array) -> Array:
    """x − y."""
    return na.subtract(x, y)


def mul(x: Array, y: Array, *, out_dtype: Any = None) -> Array:
    """x · y, in `out_dtype` if one is given."""
    if out_dtype is not None:
        x, y = na.astype(x, out_dtype), na.astype(y, out_dtype)
    return na.multiply(x, y)


def div(x: Array, y: Array) -> Array:
    """x / y; of integers rounded towards zero, −1 for y = 0."""
    dtype = _dtype(x, y)
    if not dtype.is_integer:
        return na.divide(x, y)
    divisor, y = _divisor(x, y)
    found = na.floor_divide(na.subtract(x, na.fmod(x, divisor)), divisor)
    if divisor is y:
        return found
    if dtype.kind == "int":
        found = na.where(na.equal(y, -1), na.negative(x), found)
    none = -1 if dtype.kind == "int" else dtypes.iinfo(dtype).max
    return na.where(na.equal(y, 0), na.full_like(found, none), found)


def rem(x: Array, y: Array) -> Array:
    """The remainder, with the sign of x; of integers x for y = 0."""
    if not _dtype(x, y).is_integer:
        return na.fmod(x, y)
    divisor, y = _divisor(x, y)
    found = na.fmod(x, divisor)
    return found if divisor is y else na.where(na.equal(y, 0), x, found)


def _divisor(x: Array, y: Array) -> tuple[Array, Array]:
    """(y with 1 in place of 0 and −1, by which every integer can be divided; y), integers."""
    if is_number(y):
        if y not in (0, -1):
            return y, y
        y = na.full_like(x, y)
    is_safe = na.logical_and(na.not_equal(y, 0), na.not_equal(na.add(y, 1), 0))
    return na.where(is_safe, y, na.ones_like(y)), y


def pow(x: Array, y: Array) -> Array:
    """x^y."""
    return na.pow(x, y)


def max(x: Array, y: Array) -> Array:
    """The larger number; of complex numbers by the real, then by the imaginary part."""
    if _dtype(x, y).kind == "complex":
        return _later(x, y)
    return na.logical_or(x, y) if _is_bool(x, y) else na.maximum(x, y)


def min(x: Array, y: Array) -> Array:
    """The smaller number; of complex numbers by the real, then by the imaginary part."""
    if _dtype(x, y).kind == "complex":
        return _earlier(x, y)
    return na.logical_and(x, y) if _is_bool(x, y) else na.minimum(x, y)


def atan2(x: Array, y: Array) -> Array:
    """The angle of the point (y, x)."""
    return na.atan2(x, y)


def nextafter(x1: Array, x2: Array) -> Array:
    """The next number after x1 in the direction of x2; its derivative is that of x1."""
    return _nextafter(x1, x2)


_nextafter = na.custom_jvp(na.nextafter)


@_nextafter.defjvp
def _(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    found = _nextafter(*primals)
    return found, na.broadcast_to(tangents[0], na.shape(found))


def complex(x: Array, y: Array) -> Array:
    """x + iy."""
    return na.complex(x, y)


def igamma(a: Array, x: Array) -> Array:
    """The regularized lower incomplete gamma function."""
    return na.gammainc(a, x)


def igammac(a: Array, x: Array) -> Array:
    """The regularized upper incomplete gamma function."""
    return na.gammaincc(a, x)


def igamma_grad_a(a: Array, x: Array) -> Array:
    """The derivative of `igamma` by a."""
    value, pullback = na.vjp(lambda a: na.gammainc(a, x), a)
    return pullback(na.ones_like(value))[0]


def random_gamma_grad(a: Array, x: Array) -> Array:
    """The derivative by a of a sample x of the gamma distribution: of x with igamma(a, x) fixed."""
    log_density = na.subtract(na.subtract(na.xlogy(na.subtract(a, 1), x), x), na.lgamma(a))
    return na.negative(na.divide(igamma_grad_a(a, x), na.exp(log_density)))


def betainc(a: Array, b: Array, x: Array) -> Array:
    """The regularized incomplete beta function."""
    return na.betainc(a, b, x)


def polygamma(m: Array, x: Array) -> Array:
    """The derivative of order m of `digamma`."""
    factor = na.exp(na.lgamma(na.add(m, 1)))
    sign = na.subtract(na.multiply(na.remainder(m, 2), 2), 1)
    found = na.multiply(na.multiply(sign, factor), na.zeta(na.add(m, 1), x))
    return na.where(na.equal(m, 0), na.digamma(x), found)


def digamma(x: Array) -> Array:
    """The derivative of ln Γ(x); −∞ at 0, NaN at negative integers."""
    return na.where(na.equal(x, 0), -math.inf, na.digamma(x))


def zeta(x: Array, q: Array) -> Array:
    """The Hurwitz zeta function, Σ (q + k)⁻ˣ."""
    return na.zeta(x, q)


def mulhi(x: Array, y: Array) -> Array:
    """The upper half of the bits of the product of integers."""
    dtype = _dtype(x, y)
    if dtype.bits < 32:
        wide = dtypes.as_dtype(f"{dtype.name.rstrip('0123456789')}{2 * dtype.bits}")
        product = na.multiply(na.astype(x, wide), na.astype(y, wide))
        return na.astype(na.bitwise_right_shift(product, dtype.bits), dtype)
    half = dtype.bits // 2  # JAX may have no wider integers
    low = (1 << half) - 1
    x0, x1 = na.bitwise_and(x, low), na.bitwise_right_shift(x, half)
    y0, y1 = na.bitwise_and(y, low), na.bitwise_right_shift(y, half)
    lowest = na.multiply(x0, y0)
    carried = shift_right_logical(lowest, na.full_like(lowest, half))
    first = na.add(na.multiply(x1, y0), carried)
    second = na.add(na.multiply(x0, y1), na.bitwise_and(first, low))
    carried = na.add(na.bitwise_right_shift(first, half), na.bitwise_right_shift(second, half))
    return na.add(na.multiply(x1, y1), carried)


def eq(x: Array, y: Array) -> Array:
    """x = y."""
    return na.equal(x, y)


def ne(x: Array, y: Array) -> Array:
    """x ≠ y."""
    return na.not_equal(x, y)


def lt(x: Array, y: Array) -> Array:
    """x < y."""
    return na.less(x, y)


def eq_to(x: Array, y: Array) -> Array:
    """x = y in the total order −NaN < −∞ < … < −0 < 0 < … < ∞ < NaN."""
    return na.equal(_rank(x), _rank(y))


def le_to(x: Array, y: Array) -> Array:
    """x ≤ y in the total order."""
    return na.less_equal(_rank(x), _rank(y))


def lt_to(x: Array, y: Array) -> Array:
    """x < y in the total order."""
    return na.less(_rank(x), _rank(y))


def _rank(x: Array) -> Array:
    """Integers in the total order of floating numbers; integers themselves."""
    dtype = dtypes.dtype_of(x)
    if not dtype.is_floating:
        return x
    signed = na.bitcast(x, dtypes.as_dtype(f"int{dtype.bits}"))
    magnitude = 2 ** (dtype.bits - 1) - 1
    return na.where(signed < 0, na.bitwise_xor(signed, magnitude), signed)


def le(x: Array, y: Array) -> Array:
    """x ≤ y."""
    return na.less_equal(x, y)


def gt(x: Array, y: Array) -> Array:
    """x > y."""
    return na.greater(x, y)


def ge(x: Array, y: Array) -> Array:
    """x ≥ y."""
    return na.greater_equal(x, y)


def bitwise_and(x: Array, y: Array) -> Array:
    """Conjunction of the bits."""
    return na.logical_and(x, y) if _is_bool(x, y) else na.bitwise_and(x, y)


def bitwise_or(x: Array, y: Array) -> Array:
    """Disjunction of the bits."""
    return na.logical_or(x, y) if _is_bool(x, y) else na.bitwise_or(x, y)


def bitwise_xor(x: Array, y: Array) -> Array:
    """Exclusive disjunction of the bits."""
    return na.logical_xor(x, y) if _is_bool(x, y) else na.bitwise_xor(x, y)


def bitwise_not(x: Array) -> Array:
    """The inverted bits."""
    return na.logical_not(x) if _is_bool(x) else na.bitwise_invert(x)


def shift_left(x: Array, y: Array) -> Array:
    """x · 2^y; 0 for a y of the width or more."""
    return _within(na.bitwise_left_shift(x, _shift(x, y)), x, y)


def shift_right_arithmetic(x: Array, y: Array) -> Array:
    """x / 2^y, rounded down; the sign for a y of the width or more."""
    bits = dtypes.dtype_of(x).bits
    is_wide = na.logical_or(na.greater_equal(y, bits), na.less(y, 0))
    last = na.full_like(x, bits - 1)
    return na.bitwise_right_shift(x, na.where(is_wide, last, y))


def shift_right_logical(x: Array, y: Array) -> Array:
    """The bits of x moved down by y, with zeros before them."""
    dtype = dtypes.dtype_of(x)
    if dtype.name.startswith("uint"):
        return _within(na.bitwise_right_shift(x, _shift(x, y)), x, y)
    unsigned = dtypes.as_dtype("u" + dtype.name)
    found = shift_right_logical(na.astype(x, unsigned), na.astype(y, unsigned))
    return na.astype(found, dtype)


def _shift(x: Array, y: Array) -> Array:
    """y, or 0 where it is as wide as x."""
    return na.where(_is_wide(x, y), na.zeros_like(x), y)


def _within(shifted: Array, x: Array, y: Array) -> Array:
    return na.where(_is_wide(x, y), na.zeros_like(x), shifted)


def _is_wide(x: Array, y: Array) -> Array:
    wide = na.greater_equal(y, dtypes.dtype_of(x).bits)
    return wide if _dtype(x, y).name.startswith("uint") else na.logical_or(wide, na.less(y, 0))


# -- more operands ---------------------------------------------------------------------------


def clamp(min: Array, x: Array, max: Array) -> Array:
    """x within bounds, which have no axes or the shape of x."""
    if dtypes.dtype_of(x).kind == "complex":
        return _earlier(_later(x, min), max)
    return na.minimum(na.maximum(x, min), max)


def select(pred: Array, on_true: Array, on_false: Array) -> Array:
    """`on_true` where `pred` holds, `on_false` elsewhere."""
    return select_n(pred, on_false, on_true)


def select_n(which: Array, *cases: Array) -> Array:
    """The element of ``cases[which]``, at each place."""
    if _is_bool(which):
        return na.where(which, cases[-1], cases[0])
    found = cases[-1]
    for i in builtins.range(len(cases) - 2, -1, -1):
        found = na.where(na.less_equal(which, i), cases[i], found)
    return found


def _dtype(*operands: Array) -> dtypes.DType:
    numbers = (bool, int, float, builtins.complex)  # not NumPy's, which are instances of these
    array = next(x for x in operands if type(x) not in numbers)
    return dtypes.dtype_of(array)


def _later(x: Array, y: Array) -> Array:
    return na.where(_is_above(x, y), x, y)


def _earlier(x: Array, y: Array) -> Array:
    return na.where(_is_above(y, x), x, y)


def _is_above(x: Array, y: Array) -> Array:
    """Whether complex x is after y by the real, then by the imaginary part."""
    above = na.greater(na.real(x), na.real(y))
    ties = na.equal(na.real(x), na.real(y))
    return na.logical_or(above, na.logical_and(ties, na.greater(na.imag(x), na.imag(y))))


def _is_bool(*operands: Array) -> bool:
    return _dtype(*operands) is dtypes.bool
