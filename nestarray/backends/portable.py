"""Operations that ONNX and TFLite have: their exporters trace programs in `portable_operators`.

Both lack running extrema, binary search, erf⁻¹, linear systems and rotations by open sizes, and
TFLite erf; JAX searches no vectors of open lengths. The frameworks' own functions are faster
elsewhere.
https://onnx.ai/onnx/operators, https://ai.google.dev/edge/litert/models/ops_compatibility
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nestarray.backends import xp
from nestarray.dynamo import ContextVariable

_are_wanted: ContextVariable[bool] = ContextVariable("nestarray_portable", default=False)


@contextmanager
def portable_operators() -> Iterator[None]:
    """Compute with operators of ONNX and TFLite."""
    with _are_wanted.being(True):
        yield


def are_wanted() -> bool:
    """Whether `portable_operators` is active."""
    return _are_wanted.get()


def searchsorted(x1: Any, x2: Any, side: str) -> Any:
    """The number of elements of the vector x1 before each element of x2; NaN is last."""
    is_behind = xp.greater_equal if side == "left" else xp.greater
    is_before = xp.logical_not(is_behind(x1, xp.expand_dims(x2, axis=-1)))
    return xp.sum(xp.astype(is_before, "int64"), axis=-1)


def erf(x: Any) -> Any:
    """The error function, with an absolute error below 5e-7.

    References:
        M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 1964, formula 7.1.26.
    """
    size = xp.abs(x)
    t = 1.0 / (1.0 + 0.3275911 * size)
    sums = xp.zeros_like(x)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        sums = t * (factor + sums)
    return xp.sign(x) * (1.0 - sums * xp.exp(-size * size))


def erfinv(x: Any) -> Any:
    """The inverse of erf, by Giles' polynomials."""
    return xp.normal_quantile(x) * 0.5**0.5


def roll(x: Any, shifts: list[Any], axes: list[int]) -> Any:
    """Rotate axes."""
    for shift, axis in zip(shifts, axes, strict=True):
        count = xp.shape(x)[axis]
        places = xp.remainder(xp.subtract(xp.arange(count, like=x), shift), count)
        x = xp.take(x, places, axis=axis)
    return x


def solve(x1: Any, x2: Any) -> Any:
    """The solution y of x1 y = x2: elimination with the largest pivot of each column.

    Args:
        x1: `(*batch, n, n)`; n is an integer, because each column is a part of the program.
        x2: `(*batch, n, k)`.
    """
    n = x1.shape[-1]
    rows = xp.reshape(xp.arange(n, like=x1), (n, 1))
    zeros = xp.zeros_like(x1[..., :1]) + xp.zeros_like(x2[..., :1])  # of the batches of both
    table = xp.concat([x1 + zeros, x2 + zeros], axis=-1)
    for k in range(n):
        column = table[..., k : k + 1]
        size = xp.where(rows < k, -1.0, xp.abs(column))  # rows above are done
        is_pivot = xp.equal(rows, xp.argmax(size, axis=-2, keepdims=True))
        row = xp.sum(xp.where(is_pivot, table, 0.0), axis=-2, keepdims=True)
        row = row / row[..., k : k + 1]
        table = xp.where(is_pivot, table[..., k : k + 1, :], table)
        table = xp.where(xp.equal(rows, k), row, table - table[..., k : k + 1] * row)
    return table[..., n:]
