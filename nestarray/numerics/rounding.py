"""Numbers that are rounded once: computed in float64 where there is one.

What is drawn from one key should be the same number everywhere, but the logarithms of the
frameworks differ in the last places, and so does what their compilers make of x y + z:
XLA's code rounds it once, as processors with such an instruction do. In float64, rounded to
float32 at the end, both have one result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nestarray import dtypes
from nestarray.typing import Array

_HIGH_PART = 2.0**27 + 1.0  # times x, what it takes to round x to 26 bits
_LARGE = 2.0**960  # of more than that the product with _HIGH_PART may overflow


def rounded_once(
    xp: Any, function: Callable[[Array], Array], x: Array, wide: dtypes.DType
) -> Array:
    """``function(x)``, computed in the type `wide` and then rounded to that of `x`."""
    wide = function(xp.astype(x, wide, copy=False))
    return xp.astype(wide, dtypes.dtype_of(x), copy=False)


def multiply_add(xp: Any, x: Array, y: Array, z: Array, wide: dtypes.DType) -> Array:
    """x y + z with one rounding, of arrays of one floating type.

    References:
        Dekker, A floating-point technique for extending the available precision. Numerische
        Mathematik 18, 1971.
    """
    dtype = dtypes.dtype_of(x)
    if dtype is not wide:  # where the product is exact
        x, y, z = (xp.astype(operand, wide) for operand in (x, y, z))
        return xp.astype(xp.add(xp.multiply(x, y), z), dtype)
    product = xp.multiply(x, y)
    total = xp.add(product, z)
    if dtype is not dtypes.float64:
        return total
    (a, b), (c, d) = _halves(xp, x), _halves(xp, y)
    lost = xp.subtract(xp.multiply(a, c), product)
    for one, other in ((a, d), (b, c), (b, d)):
        lost = xp.add(lost, xp.multiply(one, other))
    part = xp.subtract(total, product)
    lost_too = xp.add(xp.subtract(product, xp.subtract(total, part)), xp.subtract(z, part))
    is_small = xp.less(xp.maximum(xp.abs(y), xp.abs(total)), _LARGE)
    return xp.where(is_small, xp.add(total, xp.add(lost, lost_too)), total)


def _halves(xp: Any, x: Array) -> tuple[Array, Array]:
    """x as a sum of two numbers of 26 bits, whose products are exact."""
    scaled = xp.multiply(x, _HIGH_PART)
    high = xp.subtract(scaled, xp.subtract(scaled, x))
    return high, xp.subtract(x, high)


def polynomial(xp: Any, coefficients: Sequence[float], x: Array, wide: dtypes.DType) -> Array:
    """The polynomial at `x`, highest power first; below float64 each step is rounded once."""
    dtype = dtypes.dtype_of(x)
    power = xp.astype(x, wide, copy=False)
    first, *others = coefficients
    found = xp.full_like(power, first)
    for c in others:
        stepped = xp.astype(xp.add(xp.multiply(found, power), c), dtype, copy=False)
        found = xp.astype(stepped, wide, copy=False)
    return xp.astype(found, dtype, copy=False)
