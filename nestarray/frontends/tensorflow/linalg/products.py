"""Products, transposes and norms of matrices.

Upstream: https://www.tensorflow.org/api_docs/python/tf/linalg
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.tensorflow.contraction import matmul
from nestarray.frontends.tensorflow.conversion import axes_of, tensor, tensors
from nestarray.frontends.tensorflow.linalg.diagonals import diag_part
from nestarray.typing import Array

__all__ = [
    "adjoint", "cross", "global_norm", "matrix_transpose", "matvec", "norm", "normalize", "trace",
    "tridiagonal_matmul",
]  # fmt: skip


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Array:
    """The transpose of each matrix, which may be conjugated."""
    x = na.matrix_transpose(tensor(a))
    return na.conj(x) if conjugate and dtypes.dtype_of(x).kind == "complex" else x


def adjoint(matrix: Any, name: str | None = None) -> Array:
    """The conjugate transpose of each matrix."""
    return matrix_transpose(matrix, conjugate=True)


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Array:
    """Products of matrices with vectors."""
    x, y = tensors("matvec", a, b)
    found = matmul(x, na.expand_dims(y, -1), transpose_a=transpose_a, adjoint_a=adjoint_a)
    return na.squeeze(found, axis=-1)


def cross(a: Any, b: Any, name: str | None = None) -> Array:
    """The cross products of vectors of three elements."""
    x, y = tensors("cross", a, b)
    if na.shape(x) != na.shape(y) or na.shape(x)[-1] != 3:
        raise ShapeError(
            f"cross: got the shapes {tuple(na.shape(x))} and {tuple(na.shape(y))}, expected "
            "(*batch, 3) twice"
        )
    return na.cross(x, y)


def trace(x: Any, name: str | None = None) -> Array:
    """The sum of the diagonal of each matrix."""
    found = na.diagonal(tensor(x))
    return na.sum(found, axis=-1, dtype=dtypes.dtype_of(found))


def _norm(name: str, x: Array, ord: Any, axis: Any) -> Array:
    """The norm with its axes of size 1; of matrices if two axes are given."""
    is_matrix = isinstance(axis, (tuple, list)) and len(axis) == 2
    known = ("euclidean", "fro", 1, 2, math.inf) if is_matrix else ("euclidean", 1, 2, math.inf)
    is_power = not is_matrix and isinstance(ord, (int, float)) and ord > 0
    if ord not in known and not is_power:
        raise ArgumentError(f"{name}: ord: got {ord!r}, expected one of {known}")
    axes = axes_of(axis, len(na.shape(x)))
    if is_matrix and ord == 2:
        moved = na.moveaxis(x, axes, (-2, -1))
        found = na.max(na.svdvals(moved), axis=-1, keepdims=True)
        return na.moveaxis(na.expand_dims(found, -1), (-2, -1), axes)
    if ord in ("euclidean", "fro", 2):
        square = na.sum(na.multiply(x, na.conj(x)), axis=axes, keepdims=True)
        return na.sqrt(square)
    size = na.abs(x)
    if is_matrix:
        first, last = axes if ord == 1 else axes[::-1]
        return na.max(na.sum(size, axis=first, keepdims=True), axis=last, keepdims=True)
    if ord == math.inf:
        return na.max(size, axis=axes, keepdims=True)
    if ord == 1:
        return na.sum(size, axis=axes, keepdims=True)
    return na.pow(na.sum(na.pow(size, ord), axis=axes, keepdims=True), 1.0 / ord)


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Array:
    """The norm of vectors, or of matrices if two axes are given.

    Args:
        tensor: floating or complex.
        ord: ``"euclidean"``, 1, 2, infinity or a positive number; ``"fro"`` for matrices.
        axis: an axis, two axes of matrices, or None: the norm of all elements.
        keepdims: keep the axes with size 1.
        name: without effect.
    """
    x = na.asarray(tensor) if isinstance(tensor, (list, tuple)) else tensor
    found = _norm("norm", x, ord, axis)
    return found if keepdims else na.squeeze(found, axis=axes_of(axis, len(na.shape(x))))


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Array, Array]:
    """`tensor` divided by its norm, and the norm."""
    found = norm(tensor, ord, axis, keepdims=True)
    return na.divide(tensor, found), found


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Array:
    """The norm of all elements of several tensors; None counts as 0."""
    squares = [na.sum(na.square(tensor(x))) for x in t_list if x is not None]
    return na.sqrt(functools.reduce(na.add, squares))


def three_diagonals(name: str, diagonals: Any, diagonals_format: str) -> list[Array]:
    """The diagonal above, the main one and the one below, all of the size of the matrix."""
    if diagonals_format == "compact":
        x = tensor(diagonals)
        return [na.getitem(x, (..., i, slice(None))) for i in range(3)]
    if diagonals_format == "matrix":
        x = diag_part(diagonals, k=(-1, 1), align="LEFT_RIGHT")
        return [na.getitem(x, (..., i, slice(None))) for i in range(3)]
    if diagonals_format != "sequence":
        raise ArgumentError(
            f"{name}: diagonals_format: got {diagonals_format!r}, expected 'compact', 'matrix' or "
            "'sequence'"
        )
    above, main, below = tensors(name, *diagonals)
    size = na.shape(main)[-1]
    padded = []
    for x, width in ((above, (0, 1)), (below, (1, 0))):
        is_short = na.shape(x)[-1] == size - 1
        lead = [(0, 0)] * (len(na.shape(x)) - 1)
        padded.append(na.pad(x, [*lead, width]) if is_short else x)
    return [padded[0], main, padded[1]]


def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Array:
    """Products of tridiagonal matrices with matrices.

    Args:
        diagonals: the diagonal above, the main one and the one below: ``"compact"``, `(*batch, 3,
            n)`, ``"sequence"``, a list, or ``"matrix"``, `(*batch, n, n)`.
        rhs: `(*batch, n, k)`.
        diagonals_format: one of these names.
        name: without effect.
    """
    parts = three_diagonals("tridiagonal_matmul", diagonals, diagonals_format)
    above, main, below = [na.expand_dims(x, -1) for x in parts]
    y = tensor(rhs)
    lead = [(0, 0)] * (len(na.shape(y)) - 2)
    next_rows = na.pad(na.getitem(y, (..., slice(1, None), slice(None))), [*lead, (0, 1), (0, 0)])
    last_rows = na.pad(na.getitem(y, (..., slice(-1), slice(None))), [*lead, (1, 0), (0, 0)])
    found = na.add(na.multiply(above, next_rows), na.multiply(main, y))
    return na.add(found, na.multiply(below, last_rows))
