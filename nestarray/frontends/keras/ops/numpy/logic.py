"""Comparisons and logic.

Upstream: https://keras.io/api/ops/numpy/
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.keras.ops.numpy.indexing import nonzero
from nestarray.frontends.keras.promotion import (
    as_array,
    as_arrays,
    cast,
    is_number,
    operands,
    promote,
    result_type,
)
from nestarray.typing import Array, Axis

__all__ = [
    "all", "allclose", "any", "equal", "greater", "greater_equal", "isclose", "isfinite", "isin",
    "isinf", "isnan", "isneginf", "isposinf", "isreal", "less", "less_equal", "logical_and",
    "logical_not", "logical_or", "logical_xor", "not_equal", "select", "where",
]  # fmt: skip


def _truth(x: Any) -> Array:
    """`x` as bools."""
    return cast(as_array(x), dtypes.bool)


def all(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """Whether all elements along the axes are true."""
    return na.all(_truth(x), axis=axis, keepdims=keepdims)


def any(x: Array, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """Whether an element along the axes is true."""
    return na.any(_truth(x), axis=axis, keepdims=keepdims)


def equal(x1: Array, x2: Array) -> Array:
    """x1 = x2."""
    return na.equal(*promote(x1, x2))


def not_equal(x1: Array, x2: Array) -> Array:
    """x1 ≠ x2."""
    return na.not_equal(*promote(x1, x2))


def greater(x1: Array, x2: Array) -> Array:
    """x1 > x2."""
    return na.greater(*promote(x1, x2))


def greater_equal(x1: Array, x2: Array) -> Array:
    """x1 ≥ x2."""
    return na.greater_equal(*promote(x1, x2))


def less(x1: Array, x2: Array) -> Array:
    """x1 < x2."""
    return na.less(*promote(x1, x2))


def less_equal(x1: Array, x2: Array) -> Array:
    """x1 ≤ x2."""
    return na.less_equal(*promote(x1, x2))


def isclose(
    x1: Array,
    x2: Array,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: builtins.bool = False,
) -> Array:
    """|x1 − x2| ≤ atol + rtol · |x2|; integers must be equal, and infinities are not close."""
    x1, x2 = promote(x1, x2)
    if not dtypes.dtype_of(x1).is_floating:
        return na.equal(x1, x2)
    limit = na.add(na.multiply(na.abs(x2), rtol), atol)
    found = na.less_equal(na.abs(na.subtract(x1, x2)), limit)
    if equal_nan:
        found = na.logical_or(found, na.logical_and(na.isnan(x1), na.isnan(x2)))
    return found


def allclose(
    x1: Array,
    x2: Array,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: builtins.bool = False,
) -> Array:
    """Whether all elements are close; equal infinities are."""
    return na.allclose(*promote(x1, x2), rtol=rtol, atol=atol, equal_nan=equal_nan)


def isfinite(x: Array) -> Array:
    """Whether a number is neither infinite nor NaN."""
    return _of_inexact(na.isfinite, x, True)


def isinf(x: Array) -> Array:
    """Whether a number is infinite."""
    return _of_inexact(na.isinf, x, False)


def isnan(x: Array) -> Array:
    """Whether a number is NaN."""
    return _of_inexact(na.isnan, x, False)


def isneginf(x: Array) -> Array:
    """Whether a number is −∞."""
    return _of_inexact(na.isneginf, x, False)


def isposinf(x: Array) -> Array:
    """Whether a number is ∞."""
    return _of_inexact(na.isposinf, x, False)


def isreal(x: Array) -> Array:
    """Whether the imaginary part is 0."""
    x = as_array(x)
    if dtypes.dtype_of(x).kind != "complex":
        return na.ones_like(x, dtype=dtypes.bool)
    return na.equal(na.imag(x), 0)


def _of_inexact(function: Any, x: Any, otherwise: builtins.bool) -> Array:
    """`function` of floating numbers; one value for others."""
    x = as_array(x)
    if dtypes.dtype_of(x).is_inexact:
        return function(x)
    return na.full_like(x, otherwise, dtype=dtypes.bool)


def isin(
    x1: Array, x2: Array, assume_unique: builtins.bool = False, invert: builtins.bool = False
) -> Array:
    """Whether an element of x1 is one of x2."""
    return na.isin(*promote(x1, x2), invert=invert)


def logical_and(x1: Array, x2: Array) -> Array:
    """Whether both are true."""
    return na.logical_and(*map(_truth, as_arrays(x1, x2)))


def logical_or(x1: Array, x2: Array) -> Array:
    """Whether one is true."""
    return na.logical_or(*map(_truth, as_arrays(x1, x2)))


def logical_xor(x1: Array, x2: Array) -> Array:
    """Whether one of both is true."""
    return na.logical_xor(*map(_truth, as_arrays(x1, x2)))


def logical_not(x: Array) -> Array:
    """Whether x is false."""
    return na.logical_not(_truth(x))


def where(condition: Array, x1: Array | None = None, x2: Array | None = None) -> Any:
    """x1 where the condition is true, x2 elsewhere; without them the indices where it is true."""
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ArgumentError("where: x1 and x2: got one of both, expected both or none")
    x1, x2 = operands(x1, x2)
    if is_number(x1) or is_number(x2):
        x1, x2 = (as_array(x, result_type(x1, x2), condition) for x in (x1, x2))
    return na.where(_truth(condition), x1, x2)


def select(condlist: Sequence[Array], choicelist: Sequence[Array], default: Any = 0) -> Array:
    """The choice of the first condition that is true, or `default`."""
    for name, given in (("condlist", condlist), ("choicelist", choicelist)):
        if not isinstance(given, (list, tuple)) or not given:
            raise ArgumentError(f"select: {name}: got {given!r}, expected a list of arrays")
    if len(condlist) != len(choicelist):
        raise ArgumentError(
            f"select: choicelist: got {len(choicelist)} arrays, expected {len(condlist)}, "
            "one for each condition"
        )
    *choices, found = promote(*choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices)):
        found = na.where(_truth(condition), choice, found)
    return found
