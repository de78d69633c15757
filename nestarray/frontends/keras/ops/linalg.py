"""Linear algebra.

Upstream: https://keras.io/api/ops/linalg/
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.keras.promotion import (
    as_array,
    as_arrays,
    axes_of,
    cast,
    floating,
    result_type,
)
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array, Axis, Nest

__all__ = [
    "cholesky", "cholesky_inverse", "det", "eig", "eigh", "inv", "jvp", "lstsq", "lu_factor",
    "matrix_rank", "norm", "pinv", "qr", "solve", "solve_triangular", "svd",
]  # fmt: skip

_public_namespace(__name__)


def cholesky(x: Array, upper: bool = False) -> Array:
    """The lower triangular L with x = L Lᵀ, or its adjoint."""
    return na.cholesky(as_array(x), upper=upper)


def cholesky_inverse(x: Array, upper: bool = False) -> Array:
    """The inverse of the matrix with the Cholesky factor x."""
    return na.cholesky_inverse(as_array(x), upper=upper)


def det(x: Array) -> Array:
    """The determinant."""
    return na.det(as_array(x))


def eig(x: Array) -> tuple[Array, Array]:
    """The complex eigenvalues and eigenvectors."""
    values, vectors = na.eig(as_array(x))
    return values, vectors


def eigh(x: Array) -> tuple[Array, Array]:
    """The eigenvalues in ascending order and eigenvectors of Hermitian matrices, by lower triangles."""
    lower = na.tril(as_array(x))
    upper = na.conj(na.matrix_transpose(na.tril(lower, k=-1)))
    values, vectors = na.eigh(na.add(lower, upper))
    return values, vectors


def inv(x: Array) -> Array:
    """The inverse."""
    return na.inv(as_array(x))


def pinv(x: Array, rcond: Any = None) -> Array:
    """The pseudoinverse; singular values of at most rcond times the largest count as 0."""
    x = as_array(x)
    if rcond is None:
        rcond = 10.0 * max(na.shape(x)[-2:]) * float(dtypes.finfo(dtypes.dtype_of(x)).eps)
    return na.pinv(x, rtol=rcond)


def matrix_rank(x: Array, tol: Any = None) -> Array:
    """The number of singular values above `tol`."""
    x = as_array(x)
    if tol is None:
        return cast(na.matrix_rank(x), dtypes.int32)
    values = na.svdvals(x)
    limit = na.expand_dims(as_array(tol, dtypes.dtype_of(values), values), -1)
    return na.sum(na.astype(na.greater(values, limit), dtypes.int32), axis=-1, dtype=dtypes.int32)


def lu_factor(x: Array) -> tuple[Array, Array]:
    """L − 1 and U in one matrix, and the permutation of the rows."""
    lower_upper, pivots = na.lu_factor(as_array(x))
    *batch, rows, columns = na.shape(lower_upper)
    order = na.arange(rows, dtype=dtypes.int32, like=pivots)
    order = na.broadcast_to(order, (*batch, rows))
    for i in range(min(rows, columns)):
        other = na.astype(pivots[..., i : i + 1], dtypes.int32)
        here = na.full_like(other, i)
        positions = na.concat([here, other], axis=-1)
        values = na.take_along_axis(order, na.concat([other, here], axis=-1), axis=-1)
        order = na.put_along_axis(order, positions, values, axis=-1)
    return lower_upper, na.astype(na.argsort(order, axis=-1), dtypes.int32)


def qr(x: Array, mode: str = "reduced") -> tuple[Array, Array]:
    """The orthogonal Q and the upper triangular R with x = Q R.

    Raises:
        ArgumentError: `mode` is unknown.
    """
    if mode not in ("reduced", "complete"):
        raise ArgumentError(f"qr: mode: got {mode!r}, expected 'reduced' or 'complete'")
    q, r = na.qr(as_array(x), mode=mode)
    return q, r


def svd(x: Array, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """U, the singular values in descending order and Vᴴ, or the values alone."""
    x = as_array(x)
    if not compute_uv:
        return na.svdvals(x)
    u, s, vh = na.svd(x, full_matrices=full_matrices)
    return u, s, vh


def _with_columns(function: Callable[..., Array], a: Array, b: Array) -> Array:
    """A solution of a x = b for matrices or vectors b."""
    a, b = as_arrays(a, b)
    if len(na.shape(b)) != len(na.shape(a)) - 1:
        return function(a, b)
    return na.squeeze(function(a, na.expand_dims(b, -1)), -1)


def solve(a: Array, b: Array) -> Array:
    """The solution of a x = b."""
    return _with_columns(na.solve, a, b)


def solve_triangular(a: Array, b: Array, lower: bool = False) -> Array:
    """The solution of a x = b for triangular matrices."""
    return _with_columns(lambda a, b: na.solve_triangular(a, b, upper=not lower), a, b)


def lstsq(a: Array, b: Array, rcond: float | None = None) -> Array:
    """The x of least norm that minimizes ‖a x − b‖.

    Raises:
        ShapeError: `a` is not a matrix, or the rows of a and b differ in number.
    """
    a, b = as_arrays(a, b)
    shape = na.shape(a)
    if len(shape) != 2 or len(na.shape(b)) not in (1, 2) or na.shape(b)[0] != shape[0]:
        raise ShapeError(
            f"lstsq: got the shapes {shape} and {na.shape(b)}, expected a matrix and an array with as "
            "many rows"
        )
    eps = float(dtypes.finfo(dtypes.dtype_of(a)).eps)
    rcond = eps * max(shape) if rcond is None else eps if rcond < 0 else rcond
    columns = na.expand_dims(b, -1) if len(na.shape(b)) == 1 else b
    u, s, vh = na.svd(a, full_matrices=False)
    is_kept = na.greater_equal(s, na.multiply(s[0], rcond))
    inverse = na.where(is_kept, na.divide(1.0, na.where(is_kept, s, 1.0)), 0.0)
    products = na.matmul(na.conj(na.matrix_transpose(u)), columns)
    scaled = na.multiply(cast(na.expand_dims(inverse, -1), dtypes.dtype_of(a)), products)
    found = na.matmul(na.conj(na.matrix_transpose(vh)), scaled)
    return na.reshape(found, (-1,)) if len(na.shape(b)) == 1 else found


def norm(x: Array, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Array:
    """The norm of vectors along one axis, or of matrices along two.

    Raises:
        ArgumentError: `ord` is unknown, or there are more than two axes.
    """
    x = floating(x)
    rank = len(na.shape(x))
    axes = axes_of("norm", axis, rank)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ArgumentError(f"norm: ord: got {ord!r}, expected a number for vectors")
        return _in_dtype(
            x, na.vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
        )
    if ord in (None, "fro") and len(axes) == 2:
        return _in_dtype(x, na.vector_norm(x, axis=axes, keepdims=keepdims))
    if len(axes) != 2:
        raise ArgumentError(f"norm: axis: got {axis!r}, expected one axis or two")
    if ord not in (1, -1, 2, -2, math.inf, -math.inf, "nuc"):
        raise ArgumentError(f"norm: ord: got {ord!r}, expected 'fro', 'nuc', ±1, ±2 or ±∞")
    found = na.matrix_norm(na.moveaxis(x, axes, (-2, -1)), ord=ord)
    return na.expand_dims(found, tuple(sorted(axes))) if keepdims else found


def _in_dtype(x: Array, found: Array) -> Array:
    """Upstream's square root of a sum of products is complex for complex numbers."""
    return cast(found, result_type(x))


def jvp(
    fun: Callable[..., Nest], primals: Any, tangents: Any, has_aux: bool = False
) -> tuple[Any, ...]:
    """The value and the directional derivative of a function; with `has_aux` also its second result."""
    primals = tuple(primals)
    tangents = tuple(
        [cast(as_array(t), dtypes.dtype_of(p)) for p, t in zip(primals, tangents, strict=True)]
    )
    return na.jvp(fun, primals, tangents, has_aux=has_aux)
