"""Comparisons and logic.

Upstream: https://docs.pytorch.org/docs/stable/torch.html#comparison-ops, one page a function:
https://docs.pytorch.org/docs/stable/generated/torch.eq.html
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import numel_of, shape_of
from nestarray.frontends.torch.promotion import (
    cast,
    expect_array,
    is_number,
    promote,
    promote_arrays,
)
from nestarray.typing import Array

__all__ = [
    "allclose", "eq", "equal", "ge", "greater", "greater_equal", "gt", "isclose", "isfinite",
    "isin", "isinf", "isnan", "isneginf", "isposinf", "isreal", "le", "less", "less_equal",
    "logical_and", "logical_not", "logical_or", "logical_xor", "lt", "ne", "not_equal",
]  # fmt: skip


def eq(input: Array, other: Array | float) -> Array:
    """Where input = other."""
    return na.equal(*promote(input, other))


def ne(input: Array, other: Array | float) -> Array:
    """Where input ≠ other."""
    return na.not_equal(*promote(input, other))


def lt(input: Array, other: Array | float) -> Array:
    """Where input < other."""
    return na.less(*_ordered(input, other))


def le(input: Array, other: Array | float) -> Array:
    """Where input ≤ other."""
    return na.less_equal(*_ordered(input, other))


def gt(input: Array, other: Array | float) -> Array:
    """Where input > other."""
    return na.greater(*_ordered(input, other))


def ge(input: Array, other: Array | float) -> Array:
    """Where input ≥ other."""
    return na.greater_equal(*_ordered(input, other))


def _ordered(x: Array | float, y: Array | float) -> tuple[Array, Array]:
    """Operands to compare by order: booleans as integers, since not all frameworks order them."""
    x, y = promote(x, y)
    return _number(x), _number(y)


def _number(x: Array | float) -> Array:
    if is_number(x) or dtypes.dtype_of(x) is not dtypes.bool:
        return x
    return na.astype(x, dtypes.uint8)


def isclose(
    input: Array, other: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    """Where |input − other| ≤ atol + rtol · |other|."""
    if rtol < 0 or atol < 0:
        raise ArgumentError(f"isclose: rtol, atol: got {rtol} and {atol}, expected 0 or more")
    x, y = promote_arrays(input, other)
    same = na.equal(x, y)
    if not dtypes.dtype_of(x).is_inexact:
        x, y = cast(x, dtypes.float64), cast(y, dtypes.float64)
    distance = na.abs(na.subtract(x, y))
    near = na.less_equal(distance, na.add(na.multiply(na.abs(y), rtol), atol))
    result = na.logical_or(same, na.logical_and(near, na.isfinite(distance)))
    if equal_nan and dtypes.dtype_of(input).is_inexact:
        result = na.logical_or(result, na.logical_and(na.isnan(x), na.isnan(y)))
    return result


def allclose(
    input: Array, other: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements are close; a Python bool, as upstream."""
    return bool(na.all(isclose(input, other, rtol, atol, equal_nan)))


def equal(input: Array, other: Array) -> bool:
    """Whether two arrays have one shape and equal elements; a Python bool, as upstream."""
    if shape_of(input) != shape_of(other):
        return False
    return numel_of(input) == 0 or bool(na.all(eq(input, other)))


def isnan(input: Array) -> Array:
    """Where input is NaN."""
    return na.isnan(input) if dtypes.dtype_of(input).is_inexact else _never(input)


def isinf(input: Array) -> Array:
    """Where input is infinite."""
    return na.isinf(input) if dtypes.dtype_of(input).is_inexact else _never(input)


def isfinite(input: Array) -> Array:
    """Where input is neither infinite nor NaN."""
    if dtypes.dtype_of(input).is_inexact:
        return na.isfinite(input)
    return na.logical_not(_never(input))


def isposinf(input: Array) -> Array:
    """Where input is +∞."""
    return na.isposinf(input)


def isneginf(input: Array) -> Array:
    """Where input is −∞."""
    return na.isneginf(input)


def isreal(input: Array) -> Array:
    """Where the imaginary part is 0."""
    if dtypes.dtype_of(input).kind == "complex":
        return na.equal(na.imag(input), 0)
    return na.logical_not(_never(input))


def _never(x: Array) -> Array:
    return na.zeros_like(x, dtype=dtypes.bool)


def _truth(x: Array) -> Array:
    return x if dtypes.dtype_of(x) is dtypes.bool else na.not_equal(x, 0)


def logical_not(input: Array) -> Array:
    """Where input is 0 or False."""
    return na.logical_not(_truth(input))


def logical_and(input: Array, other: Array) -> Array:
    """Where neither is 0 or False."""
    expect_array(input, other)
    return na.logical_and(_truth(input), _truth(other))


def logical_or(input: Array, other: Array) -> Array:
    """Where not both are 0 or False."""
    expect_array(input, other)
    return na.logical_or(_truth(input), _truth(other))


def logical_xor(input: Array, other: Array) -> Array:
    """Where one of the two is 0 or False."""
    expect_array(input, other)
    return na.not_equal(_truth(input), _truth(other))


def isin(
    elements: Array | float,
    test_elements: Array | float,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Array:
    """Where `elements` occur in `test_elements`."""
    x, y = promote_arrays(elements, test_elements)
    return na.isin(x, y, invert=invert)


greater, greater_equal, less, less_equal, not_equal = gt, ge, lt, le, ne
