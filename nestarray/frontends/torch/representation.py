"""Divisors, and the parts of floating numbers.

Upstream: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.derivatives import with_derivative_of
from nestarray.frontends.torch.dims import axes_of, ndim_of, shape_of
from nestarray.frontends.torch.promotion import (
    cast,
    expect_array,
    floating,
    promote_arrays,
)
from nestarray.typing import Array

__all__ = ["conj_physical", "frexp", "gcd", "hash_tensor", "lcm", "ldexp", "nextafter"]


class MantissaExponent(NamedTuple):
    """torch.return_types.frexp."""

    mantissa: Array
    exponent: Array


def gcd(input: Array, other: Array) -> Array:
    """The greatest common divisor."""
    return na.gcd(*promote_arrays(input, other))


def lcm(input: Array, other: Array) -> Array:
    """The least common multiple."""
    return na.lcm(*promote_arrays(input, other))


def nextafter(input: Array, other: Array) -> Array:
    """The next representable number towards `other`; the derivative with respect to input is 1."""
    x, y = na.broadcast_arrays(*promote_arrays(input, other))
    found = na.nextafter(na.stop_gradient(x), na.stop_gradient(y))
    # upstream's derivative is 0 where both are equal
    return with_derivative_of(na.where(na.equal(x, y), na.stop_gradient(x), x), found)


def ldexp(input: Array, other: Array) -> Array:
    """input · 2^other."""
    expect_array(input, other)
    x, exponent = promote_arrays(floating(input), other)
    return na.multiply(x, na.exp2(exponent))


def frexp(input: Array) -> MantissaExponent:
    """Mantissa, of modulus from ½ to 1, and exponent, with input = mantissa · 2^exponent."""
    mantissa, exponent = na.frexp(input)
    return MantissaExponent(mantissa, cast(exponent, dtypes.int32))


def hash_tensor(
    input: Array, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, mode: int = 0
) -> Array:
    """Exclusive or of the bits of all elements as float64 or int64; uint64."""
    if mode != 0:
        raise ArgumentError(f"hash_tensor: mode: got {mode}, expected 0, exclusive or")
    wide = dtypes.float64 if dtypes.dtype_of(input).is_floating else dtypes.int64
    bits = na.bitcast(na.astype(input, wide), dtypes.int64)
    axes = axes_of("hash_tensor", bits, () if dim is None else dim)
    for axis in range(ndim_of(bits)) if axes is None else sorted(axes):
        bits = _joined(bits, axis)
    found = na.astype(bits, dtypes.uint64)
    return found if keepdim else na.squeeze(found, axis=axes)


def _joined(bits: Array, axis: int) -> Array:
    """Reduce a dimension by exclusive or, one half with the other."""
    size = shape_of(bits)[axis]
    if size == 0:
        return na.sum(bits, axis=axis, keepdims=True)
    while size > 1:
        half = size // 2
        first, second, rest = (
            na.getitem(bits, (slice(None),) * axis + (slice(start, stop),))
            for start, stop in ((0, half), (half, 2 * half), (2 * half, size))
        )
        bits = na.concat([na.bitwise_xor(first, second), rest], axis=axis)
        size -= half
    return bits


def conj_physical(input: Array) -> Array:
    """The conjugate."""
    return na.conj(input) if dtypes.dtype_of(input).kind == "complex" else input
