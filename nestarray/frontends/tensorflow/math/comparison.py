"""Comparisons and logic.

Upstream: https://www.tensorflow.org/api_docs/python/tf/math/equal
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray.frontends.tensorflow.conversion import floating, of_kind, operands, tensor
from nestarray.typing import Array

__all__ = [
    "equal", "greater", "greater_equal", "is_finite", "is_inf", "is_nan", "is_non_decreasing",
    "is_strictly_increasing", "less", "less_equal", "logical_and", "logical_not", "logical_or",
    "logical_xor", "not_equal",
]  # fmt: skip


def _comparison(op: Callable[..., Array], title: str, summary: str) -> Callable[..., Array]:
    def function(x: Any, y: Any, name: str | None = None) -> Array:
        return op(*operands(title, x, y))

    function.__name__ = function.__qualname__ = title
    function.__doc__ = summary
    return function


equal = _comparison(na.equal, "equal", "x = y.")
not_equal = _comparison(na.not_equal, "not_equal", "x ≠ y.")
less = _comparison(na.less, "less", "x < y.")
less_equal = _comparison(na.less_equal, "less_equal", "x ≤ y.")
greater = _comparison(na.greater, "greater", "x > y.")
greater_equal = _comparison(na.greater_equal, "greater_equal", "x ≥ y.")


def is_finite(x: Any, name: str | None = None) -> Array:
    """Whether x is neither infinite nor NaN."""
    return na.isfinite(floating("is_finite", x))


def is_inf(x: Any, name: str | None = None) -> Array:
    """Whether x is ∞ or −∞."""
    return na.isinf(floating("is_inf", x))


def is_nan(x: Any, name: str | None = None) -> Array:
    """Whether x is NaN."""
    return na.isnan(floating("is_nan", x))


def logical_and(x: Any, y: Any, name: str | None = None) -> Array:
    """Whether x and y."""
    return na.logical_and(*_bools("logical_and", x, y))


def logical_or(x: Any, y: Any, name: str | None = None) -> Array:
    """Whether x or y."""
    return na.logical_or(*_bools("logical_or", x, y))


def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Array:
    """Whether one of x and y."""
    return na.logical_xor(*_bools("logical_xor", x, y))


def logical_not(x: Any, name: str | None = None) -> Array:
    """Whether not x."""
    return na.logical_not(*_bools("logical_not", x))


def _bools(name: str, *values: Any) -> tuple[Any, ...]:
    return tuple([of_kind(name, x, "bool") for x in operands(name, *values)])


def _neighbours(x: Any) -> tuple[Array, Array]:
    """All elements but the last, and all but the first."""
    flat = na.reshape(tensor(x), (-1,))
    return na.getitem(flat, slice(None, -1)), na.getitem(flat, slice(1, None))


def is_non_decreasing(x: Any, name: str | None = None) -> Array:
    """Whether no element is less than the one before it."""
    return na.all(na.less_equal(*_neighbours(x)))


def is_strictly_increasing(x: Any, name: str | None = None) -> Array:
    """Whether each element is greater than the one before it."""
    return na.all(na.less(*_neighbours(x)))
