"""Arithmetic with one rounding, computed in float64 where available.

Random numbers of one key should be equal on all backends. But logarithms differ between frameworks
in the last places, and XLA computes x y + z with one rounding (fused multiply-add). Computation in
float64 with a final rounding to float32 gives equal results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nestarray import dtypes
from nestarray.typing import Array

_HIGH_PART = 2.0**27 + 1.0  # Dekker's constant, which splits x at 26 bits
_LARGE = 2.0**960  # larger numbers times _HIGH_PART may overflow


def rounded_once(
    xp: Any, function: Callable[[Array], Array], x: Array, wide: dtypes.DType
) -> Array:
    """``function(x)``, computed in the dtype `wide` and rounded to the dtype of `x`."""
    wide = function(xp.astype(x, wide, copy=False))
    return xp.astype(wide, dtypes.dtype_of(x), copy=False)


def multiply_add(xp: Any, x: Array, y: Array, z: Array, wide: dtypes.DType) -> Array:
    """x y + z with one rounding, of arrays of one floating type.

    References:
        Dekker, A floating-point technique for extending the available precision. Numerische
        Mathematik 18, 1971.
    """
    dtype = dtypes.dtype_of(x)
    if dtype is not wide:  # the product is exact
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
    """x as a sum of two numbers of 26 bits, which have exact products."""
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
