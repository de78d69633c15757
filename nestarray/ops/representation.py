"""Binary representation: exponents and set bits; common divisors and multiples of integers."""

from __future__ import annotations

import builtins
from typing import NamedTuple

from nestarray import dtypes, ops
from nestarray.dispatch import Trait, op, primitive
from nestarray.errors import DtypeError
from nestarray.ops.special import _working
from nestarray.typing import Array

__all__ = ["Frexp", "bitwise_count", "frexp", "gcd", "lcm", "ldexp"]
TRAITS = Trait.ELEMENTWISE


class Frexp(NamedTuple):
    """What `frexp` returns."""

    mantissa: Array
    exponent: Array


@op
def bitwise_count(x: Array, /) -> Array:
    """The number of set bits of |x|.

    Args:
        x: integer.

    Returns:
        uint8, of the shape of `x`.

    Raises:
        DtypeError: `x` is not of an integer dtype.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.bitwise_count(np.asarray([0, 7, -8]))
        array([0, 3, 1], dtype=uint8)

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.bitwise_count.html
    """
    dtype = dtypes.dtype_of(x)
    if not dtype.is_integer:
        raise DtypeError(f"bitwise_count: x: got {dtype}, expected an integer dtype; see astype")
    # In int64, two halves of 32 bits: the bits of the smallest int64 are correct, its magnitude overflows.
    wide = ops.astype(x, dtypes.int64, copy=False)
    if dtype.kind == "int":
        wide = ops.abs(wide)
    total = ops.zeros_like(wide)
    for shift in (0, 32):
        part = ops.bitwise_and(ops.bitwise_right_shift(wide, shift), 0xFFFFFFFF)
        part = part - ops.bitwise_and(ops.bitwise_right_shift(part, 1), 0x55555555)
        pairs = ops.bitwise_and(ops.bitwise_right_shift(part, 2), 0x33333333)
        part = ops.bitwise_and(part, 0x33333333) + pairs
        part = ops.bitwise_and(part + ops.bitwise_right_shift(part, 4), 0x0F0F0F0F)
        # The multiplication sums the bytes in the highest byte.
        total = total + ops.bitwise_and(ops.bitwise_right_shift(part * 0x01010101, 24), 0xFF)
    return ops.astype(total, dtypes.uint8)


@primitive(traits=TRAITS | Trait.COMMUTATIVE)
def gcd(x1: Array, x2: Array, /) -> Array:
    """The greatest common divisor, not negative; gcd(0, 0) = 0.

    If it is the absolute value of the smallest number of a signed dtype, which the dtype cannot
    represent, the result is that smallest number.

    Args:
        x1: integer; broadcasts with `x2`, the dtypes promote.
        x2: integer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.gcd(np.asarray([12, 0, -4]), np.asarray([18, 5, 6]))
        array([6, 5, 2])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.gcd.html
    """


@op(traits=TRAITS | Trait.COMMUTATIVE)
def lcm(x1: Array, x2: Array, /) -> Array:
    """The least common multiple, |x1 · x2| / gcd(x1, x2), modulo 2ⁿ; 0 where either is 0.

    Args:
        x1: integer; broadcasts with `x2`, the dtypes promote.
        x2: integer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.lcm(np.asarray([4, 0, -3]), np.asarray([6, 5, 7]))
        array([12,  0, 21])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.lcm.html
    """
    divisor = ops.gcd(x1, x2)
    some = ops.where(ops.equal(divisor, 0), 1, divisor)
    size = ops.abs(x2) if hasattr(x2, "dtype") else builtins.abs(x2)
    return ops.multiply(ops.abs(ops.floor_divide(x1, some)), size)


@op(promoted=("x1",))
def ldexp(x1: Array, x2: Array, /) -> Array:
    """x1 · 2^x2, exact if representable; the inverse of `frexp`.

    Args:
        x1: floating.
        x2: integer; broadcasts with `x1`.

    Returns:
        the broadcast shape, the dtype of `x1`.

    Raises:
        DtypeError: `x1` is not floating, or `x2` is not an integer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ldexp(np.asarray([0.5, 3.0]), np.asarray([4, -1]))
        array([8. , 1.5])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.ldexp.html
    """
    dtype = dtypes.dtype_of(x1)
    if not dtype.is_floating:
        raise DtypeError(f"ldexp: x1: got {dtype}, expected a floating dtype; see astype")
    if not dtypes.dtype_of(x2).is_integer:
        raise DtypeError(
            f"ldexp: x2: got {dtypes.dtype_of(x2)}, expected an integer dtype; see astype"
        )
    wide = _working(x1)
    # Four factors, each in range: 2ᵉ may overflow although x1 · 2ᵉ does not.
    reach = 2200 if dtype is dtypes.float64 else 300
    of_x2 = dtypes.dtype_of(x2)
    if of_x2.bits > 8:  # before the cast, because int32 may overflow
        x2 = ops.clip(x2, -reach if of_x2.kind == "int" else 0, reach)
    exponent = ops.astype(x2, dtypes.int32, copy=False)
    quarter = ops.floor_divide(exponent, 4)
    rest = ops.subtract(exponent, ops.multiply(quarter, 3))
    part, last = (_power_of_two(e, wide) for e in (quarter, rest))
    return ops.astype(wide * part * part * part * last, dtype, copy=False)


def _power_of_two(exponent: Array, like: Array) -> Array:
    floating = ops.astype(exponent, dtypes.dtype_of(like))
    return ops.pow(2.0, floating)


@op
def frexp(x: Array, /) -> Frexp:
    """The mantissa m with |m| in [½, 1) and the exponent e with x = m · 2ᵉ.

    Args:
        x: real, floating; 0, ±∞ and NaN are their own mantissa, with exponent 0.

    Returns:
        Frexp: ``mantissa`` in the dtype of `x`, ``exponent`` int32.

    Raises:
        DtypeError: `x` is not floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.frexp(np.asarray([8.0, -0.75])).exponent
        array([4, 0], dtype=int32)

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.frexp.html
    """
    dtype = dtypes.dtype_of(x)
    if not dtype.is_floating:
        raise DtypeError(f"frexp: x: got {dtype}, expected a floating dtype; see astype")
    wide = _working(x)
    plain = ops.logical_and(ops.isfinite(wide), ops.not_equal(wide, 0.0))
    size = ops.abs(ops.where(plain, wide, 0.5))
    # The mantissa corrects a rounded logarithm that is off by one.
    exponent = ops.astype(ops.floor(ops.log2(ops.stop_gradient(size))), dtypes.int32)
    exponent = ops.add(exponent, 1)
    mantissa = ops.ldexp(size, ops.negative(exponent))
    up = ops.astype(ops.greater_equal(mantissa, 1.0), dtypes.int32)
    down = ops.astype(ops.less(mantissa, 0.5), dtypes.int32)
    exponent = ops.subtract(ops.add(exponent, up), down)
    signed = ops.where(ops.less(wide, 0.0), -1.0, ops.ones_like(wide))
    mantissa = ops.where(plain, ops.ldexp(size, ops.negative(exponent)) * signed, wide)
    exponent = ops.where(plain, exponent, 0)
    return Frexp(ops.astype(mantissa, dtype, copy=False), exponent)
