"""Comparisons, logic and bits.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html
"""

from __future__ import annotations

import builtins
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.in_place import refuse_in_place
from nestarray.frontends.jax.promotion import as_array, cast, operands, promote
from nestarray.typing import Array

__all__ = [
    "allclose", "array_equal", "array_equiv", "bitwise_and", "bitwise_count", "bitwise_invert",
    "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "equal", "greater", "greater_equal", "invert", "isclose", "iscomplex", "isfinite", "isinf",
    "isnan", "isneginf", "isposinf", "isreal", "left_shift", "less", "less_equal", "logical_and",
    "logical_not", "logical_or", "logical_xor", "not_equal", "packbits", "right_shift",
    "unpackbits",
]  # fmt: skip

# -- comparisons ---------------------------------------------------------------------------------


def equal(x: Array, y: Array, /) -> Array:
    """x = y."""
    return na.equal(*operands(x, y))


def not_equal(x: Array, y: Array, /) -> Array:
    """x ≠ y."""
    return na.not_equal(*operands(x, y))


def less(x: Array, y: Array, /) -> Array:
    """x < y; complex numbers by their real, then their imaginary part."""
    return _ordered(na.less, na.less, x, y)


def less_equal(x: Array, y: Array, /) -> Array:
    """x ≤ y; complex numbers by their real, then their imaginary part."""
    return _ordered(na.less_equal, na.less, x, y)


def greater(x: Array, y: Array, /) -> Array:
    """x > y; complex numbers by their real, then their imaginary part."""
    return _ordered(na.greater, na.greater, x, y)


def greater_equal(x: Array, y: Array, /) -> Array:
    """x ≥ y; complex numbers by their real, then their imaginary part."""
    return _ordered(na.greater_equal, na.greater, x, y)


def _ordered(compare: Any, strict: Any, x: Any, y: Any) -> Array:
    x, y = promote(x, y)
    if dtypes.dtype_of(x).kind != "complex":
        return compare(x, y)
    is_tie = na.equal(na.real(x), na.real(y))
    return na.where(is_tie, compare(na.imag(x), na.imag(y)), strict(na.real(x), na.real(y)))


def isclose(
    a: Array, b: Array, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: builtins.bool = False
) -> Array:
    """|a − b| ≤ atol + rtol · |b|."""
    a, b = promote(a, b)
    if not dtypes.dtype_of(a).is_inexact:
        return na.equal(a, b)
    near = na.less_equal(na.abs(na.subtract(a, b)), na.add(na.multiply(na.abs(b), rtol), atol))
    is_finite = na.logical_and(na.isfinite(a), na.isfinite(b))
    found = na.where(is_finite, near, na.equal(a, b))
    both = na.logical_and(na.isnan(a), na.isnan(b))
    return na.logical_or(found, both) if equal_nan else found


def allclose(
    a: Array, b: Array, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: builtins.bool = False
) -> Array:
    """Whether all elements are close."""
    return na.all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Array, a2: Array, equal_nan: builtins.bool = False) -> Array:
    """Whether shapes and elements are equal."""
    a1, a2 = promote(a1, a2)
    if na.shape(a1) != na.shape(a2):
        return na.asarray(False, like=a1)
    found = na.equal(a1, a2)
    if equal_nan:
        found = na.logical_or(found, na.logical_and(na.isnan(a1), na.isnan(a2)))
    return na.all(found)


def array_equiv(a1: Array, a2: Array) -> Array:
    """Whether the elements are equal after broadcasting; False if the shapes do not broadcast."""
    a1, a2 = promote(a1, a2)
    pairs = zip(reversed(na.shape(a1)), reversed(na.shape(a2)))
    if not all(m == n or 1 in (m, n) for m, n in pairs):
        return na.asarray(False, like=a1)
    return na.all(na.equal(a1, a2))


# -- kinds of numbers ----------------------------------------------------------------------------


def isfinite(x: Array, /) -> Array:
    """Whether x is neither infinite nor NaN."""
    return na.isfinite(as_array(x))


def isinf(x: Array, /) -> Array:
    """Whether x is infinite."""
    return na.isinf(as_array(x))


def isnan(x: Array, /) -> Array:
    """Whether x is NaN."""
    return na.isnan(as_array(x))


def isposinf(x: Array, /, out: None = None) -> Array:
    """Whether x is ∞."""
    refuse_in_place("isposinf", out)
    return na.isposinf(as_array(x))


def isneginf(x: Array, /, out: None = None) -> Array:
    """Whether x is −∞."""
    refuse_in_place("isneginf", out)
    return na.isneginf(as_array(x))


def iscomplex(x: Array) -> Array:
    """Whether the imaginary part is not zero."""
    return na.not_equal(na.imag(as_array(x)), 0)


def isreal(x: Array) -> Array:
    """Whether the imaginary part is zero."""
    return na.equal(na.imag(as_array(x)), 0)


# -- logic ---------------------------------------------------------------------------------------


def logical_and(x: Array, y: Array, /) -> Array:
    """Whether both are true."""
    return na.logical_and(*_truths(x, y))


def logical_or(x: Array, y: Array, /) -> Array:
    """Whether one is true."""
    return na.logical_or(*_truths(x, y))


def logical_xor(x: Array, y: Array, /) -> Array:
    """Whether exactly one is true."""
    return na.logical_xor(*_truths(x, y))


def logical_not(x: Array, /) -> Array:
    """Whether x is zero."""
    return na.logical_not(as_array(x))


def _truths(*values: Any) -> tuple[Array, ...]:
    return tuple([cast(x, dtypes.bool) for x in promote(*values)])


# -- bits ----------------------------------------------------------------------------------------


def bitwise_and(x: Array, y: Array, /) -> Array:
    """Conjunction of the bits."""
    return na.bitwise_and(*operands(x, y))


def bitwise_or(x: Array, y: Array, /) -> Array:
    """Disjunction of the bits."""
    return na.bitwise_or(*operands(x, y))


def bitwise_xor(x: Array, y: Array, /) -> Array:
    """Exclusive disjunction of the bits."""
    return na.bitwise_xor(*operands(x, y))


def bitwise_not(x: Array, /) -> Array:
    """The inverted bits."""
    return na.bitwise_invert(as_array(x))


invert = bitwise_invert = bitwise_not


def bitwise_count(x: Array, /) -> Array:
    """The number of bits set in |x|, uint8."""
    return na.astype(na.bitwise_count(as_array(x)), dtypes.uint8)


def left_shift(x: Array, y: Array, /) -> Array:
    """x · 2^y; 0 for a y of the width or more."""
    x, y = promote(x, y)
    bits = dtypes.dtype_of(x).bits
    is_wide = na.logical_or(na.greater_equal(y, bits), na.less(y, 0))
    shifted = na.bitwise_left_shift(x, na.where(is_wide, na.zeros_like(y), y))
    return na.where(is_wide, na.zeros_like(x), shifted)


bitwise_left_shift = left_shift


def right_shift(x1: Array, x2: Array, /) -> Array:
    """x1 / 2^x2, rounded down."""
    x1, x2 = promote(x1, x2)
    bits = dtypes.dtype_of(x1).bits
    is_wide = na.logical_or(na.greater_equal(x2, bits), na.less(x2, 0))
    if dtypes.dtype_of(x1).kind == "uint":
        shifted = na.bitwise_right_shift(x1, na.where(is_wide, na.zeros_like(x2), x2))
        return na.where(is_wide, na.zeros_like(x1), shifted)
    return na.bitwise_right_shift(x1, na.where(is_wide, na.full_like(x2, bits - 1), x2))


bitwise_right_shift = right_shift


def packbits(a: Array, axis: int | None = None, bitorder: str = "big") -> Array:
    """Bits, eight in one uint8, filled with zeros at the end."""
    bits = na.astype(na.not_equal(a, 0), dtypes.uint8)
    bits = na.reshape(bits, (-1,)) if axis is None else na.moveaxis(bits, axis, -1)
    *lead, n = na.shape(bits)
    bits = na.pad(bits, [*[(0, 0)] * len(lead), (0, -n % 8)])
    bits = na.reshape(bits, (*lead, -(-n // 8), 8))
    packed = na.sum(na.multiply(bits, _bit_values(bitorder, bits)), axis=-1, dtype=dtypes.uint8)
    return packed if axis is None else na.moveaxis(packed, -1, axis)


def unpackbits(
    a: Array, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """The bits of uint8 numbers, as uint8."""
    a = na.reshape(a, (-1,)) if axis is None else na.moveaxis(a, axis, -1)
    places = na.astype(_bit_values(bitorder, a), dtypes.uint8)
    bits = na.bitwise_and(na.expand_dims(a, -1), places)
    bits = na.astype(na.not_equal(bits, 0), dtypes.uint8)
    *lead, n, _ = na.shape(bits)
    bits = na.reshape(bits, (*lead, n * 8))
    if count is not None:
        bits = na.pad(bits, [*[(0, 0)] * len(lead), (0, builtins.max(count - n * 8, 0))])
        bits = na.getitem(bits, (..., slice(None, count)))
    return bits if axis is None else na.moveaxis(bits, -1, axis)


def _bit_values(bitorder: str, like: Array) -> Array:
    if bitorder not in ("big", "little"):
        raise ArgumentError(f"bitorder: got {bitorder!r}, expected 'big' or 'little'")
    values = [1 << i for i in range(8)]
    return na.asarray(values[::-1] if bitorder == "big" else values, dtype=dtypes.uint8, like=like)
