"""Diagonals and bands of matrices.

Several diagonals are the rows of a matrix, from the highest to the lowest; ``align`` says at which
end shorter diagonals are padded.

Upstream: https://www.tensorflow.org/api_docs/python/tf/linalg/diag
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nestarray as na
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.tensorflow.conversion import integers, tensor, tensors
from nestarray.typing import Array

__all__ = ["band_part", "diag", "diag_part", "set_diag", "tensor_diag", "tensor_diag_part"]

_ALIGNMENTS = ("LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT")


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Array:
    """`input` with zeros outside of a band; a negative number keeps the whole triangle."""
    x, below, above = tensor(input), integers(num_lower), integers(num_upper)
    rows, columns = na.shape(x)[-2:]
    offset = np.arange(columns) - np.arange(rows)[:, None]
    is_kept = np.ones((rows, columns), bool)
    if below >= 0:
        is_kept &= -offset <= below
    if above >= 0:
        is_kept &= offset <= above
    return na.where(na.asarray(is_kept, like=x), x, na.zeros_like(x))


def _limits(name: str, k: Any, align: str) -> tuple[int, int]:
    """The lowest and the highest diagonal."""
    if align not in _ALIGNMENTS:
        raise ArgumentError(f"{name}: align: got {align!r}, expected one of {_ALIGNMENTS}")
    found = integers(k)
    found = (found, found) if isinstance(found, int) else found * (2 if len(found) == 1 else 1)
    low, high = found
    if low > high:
        raise ArgumentError(f"{name}: k: got {found}, expected the lower diagonal first")
    return low, high


def _starts(offset: np.ndarray, lengths: np.ndarray, longest: int, align: str) -> np.ndarray:
    """Where each diagonal starts in its row."""
    above, below = align.split("_")
    is_left = ((offset >= 0) & (above == "LEFT")) | ((offset <= 0) & (below == "LEFT"))
    return np.where(is_left, 0, longest - lengths)


def _lengths(offset: np.ndarray, rows: int, columns: int) -> np.ndarray:
    return np.minimum(rows + np.minimum(offset, 0), columns - np.maximum(offset, 0))


def diag_part(
    input: Any,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Array:
    """The diagonals k of matrices: `(*batch, length)`, or `(*batch, diagonals, length)` of a range."""
    x = tensor(input)
    low, high = _limits("diag_part", k, align)
    rows, columns = na.shape(x)[-2:]
    if not -rows < low or not high < columns:
        raise ArgumentError(
            f"diag_part: k: got {(low, high)}, expected diagonals of a matrix {(rows, columns)}"
        )
    offset = np.arange(high, low - 1, -1)[:, None]
    lengths = _lengths(offset, rows, columns)
    longest = int(lengths.max())
    place = np.arange(longest) - _starts(offset, lengths, longest, align)
    is_inside = (place >= 0) & (place < lengths)
    place = np.clip(place, 0, lengths - 1)
    flat = (place + np.maximum(-offset, 0)) * columns + place + np.maximum(offset, 0)
    if low == high:
        flat, is_inside = flat[0], is_inside[0]
    x = na.reshape(x, (*na.shape(x)[:-2], rows * columns))
    found = na.take(x, na.asarray(flat, like=x), axis=-1)
    if is_inside.all():
        return found
    return na.where(na.asarray(is_inside, like=x), found, na.full_like(found, padding_value))


def diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Array:
    """Matrices with the given diagonals k, and `padding_value` elsewhere.

    Args:
        diagonal: `(*batch, length)`, or `(*batch, diagonals, length)` for a range of diagonals.
        name: without effect.
        k: a diagonal, or the lowest and the highest one of a range.
        num_rows, num_cols: the size; by default the smallest one, a square if both are unknown.
        padding_value: the other elements.
        align: the ends of `diagonal` at which diagonals above and below the main one start.
    """
    x = tensor(diagonal)
    low, high = _limits("diag", k, align)
    longest = na.shape(x)[-1]
    rows, columns = integers(num_rows), integers(num_cols)
    least = (longest - min(high, 0), longest + max(low, 0))
    if rows < 0 and columns < 0:
        rows = columns = max(least)
    rows = least[0] if rows < 0 else rows
    columns = least[1] if columns < 0 else columns
    if rows < least[0] or columns < least[1]:
        raise ShapeError(
            f"diag: num_rows, num_cols: got {rows} and {columns}, expected at least {least}"
        )
    found, is_there = _placed(x, low, high, (rows, columns), align)
    return na.where(is_there, found, na.full_like(found, padding_value))


def set_diag(
    input: Any,
    diagonal: Any,
    name: str = "set_diag",
    k: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Array:
    """`input` with the diagonals k replaced; `diagonal` as in `diag`."""
    x, values = tensors("set_diag", input, diagonal)
    low, high = _limits("set_diag", k, align)
    found, is_there = _placed(values, low, high, na.shape(x)[-2:], align)
    return na.where(is_there, found, x)


def _placed(
    x: Array, low: int, high: int, shape: tuple[int, ...], align: str
) -> tuple[Array, Array]:
    """Matrices with the given diagonals, and which elements are on one of them."""
    rows, columns = shape
    longest = na.shape(x)[-1]
    i, j = np.arange(rows)[:, None], np.arange(columns)
    offset = j - i
    is_there = (offset >= low) & (offset <= high)
    inside = np.clip(offset, low, high)
    starts = _starts(inside, _lengths(inside, rows, columns), longest, align)
    place = np.clip(np.minimum(i, j) + starts, 0, max(longest - 1, 0))
    count = high - low + 1
    batch = na.shape(x)[:-1] if count == 1 else na.shape(x)[:-2]
    flat = na.reshape(x, (*batch, count * longest))
    index = na.asarray((high - inside) * longest + place, like=x)
    return na.take(flat, index, axis=-1), na.asarray(is_there, like=x)


def tensor_diag(diagonal: Any, name: str | None = None) -> Array:
    """Zeros of twice the axes, with `diagonal` at equal pairs of indices."""
    x = tensor(diagonal)
    return na.reshape(na.diagflat(x), (*na.shape(x), *na.shape(x)))


def tensor_diag_part(input: Any, name: str | None = None) -> Array:
    """The elements at equal pairs of indices: the inverse of `tensor_diag`."""
    x = tensor(input)
    shape = tuple(na.shape(x))
    half = len(shape) // 2
    if len(shape) % 2 or shape[:half] != shape[half:] or not shape:
        raise ShapeError(
            f"tensor_diag_part: input: got the shape {shape}, expected one that repeats itself"
        )
    size = int(np.prod(shape[:half]))
    return na.reshape(na.diagonal(na.reshape(x, (size, size))), shape[:half])
