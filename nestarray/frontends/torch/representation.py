"""Divisors, and the parts of floating numbers.

Upstream: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from __future__ import annotations

from typing import NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch.promotion import (
    cast,
    expect_array,
    floating,
    promote_arrays,
    with_derivative_of,
)
from nestarray.typing import Array


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
    """The next number of the dtype on the way to `other`; its derivative is that of input."""
    x, y = na.broadcast_arrays(*promote_arrays(input, other))
    found = na.nextafter(na.stop_gradient(x), na.stop_gradient(y))
    return with_derivative_of(x, found)


def ldexp(input: Array, other: Array) -> Array:
    """input · 2^other."""
    expect_array(input, other)
    x, exponent = promote_arrays(floating(input), other)
    return na.multiply(x, na.exp2(exponent))


def frexp(input: Array) -> MantissaExponent:
    """Mantissa, of modulus from ½ to 1, and exponent, with input = mantissa · 2^exponent."""
    mantissa, exponent = na.frexp(input)
    return MantissaExponent(mantissa, cast(exponent, dtypes.int32))


def conj_physical(input: Array) -> Array:
    """The conjugate."""
    return na.conj(input) if dtypes.dtype_of(input).kind == "complex" else input
