"""Numbers that are rounded once: computed in float64 where there is one.

What is drawn from one key should be the same number everywhere, but the logarithms of the
frameworks differ in the last places, and so does what their compilers make of x y + z:
XLA's code rounds it once, as processors with such an instruction do. In float64, rounded to
float32 at the end, both have one result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nestarray import dtypes
from nestarray.typing import Array

_HIGH_PART = 2.0**27 + 1.0  # times x, what it takes to round x to 26 bits
_LARGE = 2.0**960  # of more than that the product with _HIGH_PART may overflow


def widest(x: Array) -> dtypes.DType:
    """The widest floating type in which the framework and the device of `x` compute."""
    from nestarray import backends

    return backends.widest_float(x)


def rounded_once(function: Callable[[Array], Array], x: Array) -> Array:
    """``function(x)``, computed in the widest type and then rounded to that of `x`."""
    from nestarray import ops

    wide = function(ops.astype(x, widest(x), copy=False))
    return ops.astype(wide, dtypes.dtype_of(x), copy=False)


def multiply_add(x: Array, y: Array, z: Array) -> Array:
    """x y + z with one rounding, of arrays of one floating type.

    References:
        Dekker, A floating-point technique for extending the available precision. Numerische
        Mathematik 18, 1971.
    """
    from nestarray import ops

    dtype, wide = dtypes.dtype_of(x), widest(x)
    if dtype is not wide:  # where the product is exact
        x, y, z = (ops.astype(operand, wide) for operand in (x, y, z))
        return ops.astype(ops.add(ops.multiply(x, y), z), dtype)
    product = ops.multiply(x, y)
    total = ops.add(product, z)
    if dtype is not dtypes.float64:
        return total
    (a, b), (c, d) = _halves(x), _halves(y)
    lost = ops.subtract(ops.multiply(a, c), product)
    for one, other in ((a, d), (b, c), (b, d)):
        lost = ops.add(lost, ops.multiply(one, other))
    part = ops.subtract(total, product)
    lost_too = ops.add(ops.subtract(product, ops.subtract(total, part)), ops.subtract(z, part))
    is_small = ops.less(ops.maximum(ops.abs(y), ops.abs(total)), _LARGE)
    return ops.where(is_small, ops.add(total, ops.add(lost, lost_too)), total)


def _halves(x: Array) -> tuple[Array, Array]:
    """x as a sum of two numbers of 26 bits, whose products are exact."""
    from nestarray import ops

    scaled = ops.multiply(x, _HIGH_PART)
    high = ops.subtract(scaled, ops.subtract(scaled, x))
    return high, ops.subtract(x, high)


def polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """The polynomial at `x`, highest power first; below float64 each step is rounded once."""
    from nestarray import ops

    dtype, wide = dtypes.dtype_of(x), widest(x)
    power = ops.astype(x, wide, copy=False)
    first, *others = coefficients
    found = ops.full_like(power, first)
    for c in others:
        stepped = ops.astype(ops.add(ops.multiply(found, power), c), dtype, copy=False)
        found = ops.astype(stepped, wide, copy=False)
    return ops.astype(found, dtype, copy=False)
