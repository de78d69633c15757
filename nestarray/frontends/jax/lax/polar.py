"""The polar decomposition by dynamically weighted Halley iterations.

References:
    Nakatsukasa, Bai, Gygi: Optimizing Halley's iteration for computing the matrix polar
    decomposition, https://doi.org/10.1137/090774999
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.typing import Array

__all__ = ["qdwh"]


def qdwh(
    x: Array,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[int, int] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """(U, H, number of iterations, whether they converged) with x = U H, H Hermitian.

    Args:
        x: `(m, n)`, m ≥ n, of full rank.
        is_hermitian: not used.
        max_iterations: the largest number of iterations, 10 by default.
        eps: the rounding of the dtype, by default; iterations end when U changes by less than
            about its cubic root.
        dynamic_shape: None.
    """
    rows, columns = na.shape(x)
    if rows < columns:
        raise ArgumentError(f"qdwh: x: got the shape ({rows}, {columns}), expected rows ≥ columns")
    if dynamic_shape is not None:
        raise UnsupportedError(f"qdwh: dynamic_shape: got {dynamic_shape}, expected None")
    bound = 10 if max_iterations is None else max_iterations
    eps = float(dtypes.finfo(dtypes.dtype_of(x)).eps) if eps is None else eps
    weights = _weights(eps, bound)
    size = na.sqrt(na.multiply(_largest_sum(x, 0), _largest_sum(x, 1)))
    u = na.divide(x, na.astype(na.where(na.equal(size, 0), 1.0, size), dtypes.dtype_of(x)))
    change = na.vector_norm(u)
    for a, b, c in weights:
        u, before = _step(u, a, b, c), u
        change = na.vector_norm(na.subtract(u, before))
    limit = math.cbrt(5 * eps)

    def goes_on(state: tuple[Array, Array, Array]) -> Array:
        count, _, change = state
        return na.logical_and(na.greater(change, limit), na.less(count, bound))

    def halley(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        count, before, _ = state
        u = _step(before, 3.0, 1.0, 3.0)
        return na.add(count, 1), u, na.vector_norm(na.subtract(u, before))

    start = na.full((), len(weights), dtype=dtypes.int32, like=x)
    count, u, change = na.while_loop(goes_on, halley, (start, u, change))
    adjoint = na.conj(na.matrix_transpose(u))
    u = na.subtract(na.multiply(u, 1.5), na.multiply(na.matmul(u, na.matmul(adjoint, u)), 0.5))
    h = na.matmul(na.conj(na.matrix_transpose(u)), x)
    h = na.divide(na.add(h, na.conj(na.matrix_transpose(h))), 2)
    return u, h, count, na.less_equal(change, limit)


def _largest_sum(x: Array, axis: int) -> Array:
    return na.max(na.sum(na.abs(x), axis=axis))


def _weights(eps: float, bound: int) -> list[tuple[float, float, float]]:
    """The coefficients of the iterations, by a lower bound of the singular values."""
    found: list[tuple[float, float, float]] = []
    least = eps
    while least + 5 * eps < 1 and len(found) < bound:
        square = least * least
        d = math.cbrt(4 * (1 / square - 1) / square)
        root = math.sqrt(1 + d)
        a = root + math.sqrt(2 - d + 2 * (2 - square) / (square * root))
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        least = least * (a + b * square) / (1 + c * square)
        found.append((a, b, c))
    return found


def _step(u: Array, a: float, b: float, c: float) -> Array:
    """(a u + b u uᴴu) (1 + c uᴴu)⁻¹, by a QR factorization."""
    rows, columns = na.shape(u)
    root, last = math.sqrt(c), b / c
    eye = na.eye(columns, dtype=dtypes.dtype_of(u), like=u)
    q, _ = na.qr(na.concat([na.multiply(u, root), eye]), mode="reduced")
    upper, lower = na.getitem(q, slice(rows)), na.getitem(q, slice(rows, None))
    product = na.matmul(upper, na.conj(na.matrix_transpose(lower)))
    return na.add(na.multiply(u, last), na.multiply(product, (a - last) / root))
