"""Checks of values.

Upstream: https://www.tensorflow.org/api_docs/python/tf/debugging/assert_equal. Values that are not
known, because a program is compiled or recorded, are not checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.tensorflow.conversion import integers, tensor, tensors
from nestarray.typing import Array

__all__ = ["Assert", "assert_equal", "assert_greater", "assert_less", "assert_rank"]


def _is_false(x: Array) -> bool:
    """Whether a bool is known to be false."""
    name = backends.backend_of_type(type(x))
    if name is None or backends.core(name).is_traced(x):
        return False
    return not bool(x)


def Assert(
    condition: Any, data: Any, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise an ArgumentError with `data` if the condition is false."""
    if _is_false(na.all(tensor(condition))):
        raise ArgumentError(f"Assert: condition: got False, expected True: {data}")


def _check(
    title: str, op: Callable[..., Array], sign: str, x: Any, y: Any, message: str | None
) -> None:
    x, y = tensors(title, x, y)
    if _is_false(na.all(op(x, y))):
        raise ArgumentError(f"{message or title}: x: got {x}, expected elements {sign} {y}")


def assert_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise an ArgumentError unless all elements of x and y are equal."""
    _check("assert_equal", na.equal, "=", x, y, message)


def assert_greater(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise an ArgumentError unless all elements of x are greater than y."""
    _check("assert_greater", na.greater, ">", x, y, message)


def assert_less(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise an ArgumentError unless all elements of x are less than y."""
    _check("assert_less", na.less, "<", x, y, message)


def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise a ShapeError unless x has as many axes as `rank` says."""
    shape = tuple(na.shape(tensor(x)))
    if len(shape) != integers(rank):
        raise ShapeError(
            f"{message or 'assert_rank'}: x: got the shape {shape}, expected {integers(rank)} axes"
        )
