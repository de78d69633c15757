"""Systems of linear equations, and inverses of matrices."""

# pyright: reportReturnType=false
# a primitive has no body: the backends return
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nestarray import ops
from nestarray.backends.precision import in_single_precision
from nestarray.dispatch import Trait, op, primitive
from nestarray.dtypes import dtype_of
from nestarray.errors import ShapeError
from nestarray.numerics.axes import many_axes
from nestarray.numerics.matrices import (
    check_factors,
    check_matrices,
    check_right_side,
    check_square,
)
from nestarray.numerics.results import LstsqResult
from nestarray.ops.factorizations import adjoint, astype, permutation_of, single, single_pair
from nestarray.typing import Array

__all__ = [
    "cho_solve",
    "cholesky_inverse",
    "inv",
    "lstsq",
    "lu_solve",
    "matrix_rank",
    "pinv",
    "solve",
    "solve_triangular",
    "tensorinv",
    "tensorsolve",
]


@primitive
def inv(x: Array, /) -> Array:
    """The inverse of each matrix.

    Args:
        x: `(*batch, n, n)`, floating or complex, invertible.

    Returns:
        `(*batch, n, n)`.

    Raises:
        LinearAlgebraError: a matrix is singular. JAX returns NaN or infinities, compiled code of
            PyTorch NaN; that of TensorFlow raises its own error.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.inv(np.asarray([[2.0, 0.0], [0.0, 4.0]]))
        array([[0.5 , 0.  ],
               [0.  , 0.25]])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.inv.html
    """


@primitive
def solve(x1: Array, x2: Array, /) -> Array:
    """The solution y of x1 y = x2.

    Args:
        x1: `(*batch, n, n)`, floating or complex, invertible.
        x2: `(n,)`, or `(*batch, n, k)` for k right-hand sides; the batch axes broadcast, and the
            dtypes promote.

    Returns:
        `(*batch, n)` or `(*batch, n, k)`.

    Raises:
        LinearAlgebraError: a matrix is singular. JAX returns NaN or infinities, compiled code of
            PyTorch NaN; that of TensorFlow raises its own error.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.solve(np.asarray([[2.0, 0.0], [0.0, 4.0]]), np.asarray([1.0, 1.0]))
        array([0.5 , 0.25])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.solve.html
    """


@op
@single_pair
def solve_triangular(
    x1: Array, x2: Array, /, *, upper: bool = False, unit_diagonal: bool = False
) -> Array:
    """The solution y of x1 y = x2 with a triangular matrix x1.

    Args:
        x1: `(*batch, n, n)`, floating; the other triangle is not read.
        x2: `(n,)`, or `(*batch, n, k)` for k right-hand sides; the batch axes broadcast.
        upper: whether `x1` is upper triangular.
        unit_diagonal: treat the diagonal of `x1` as ones and do not read it.

    Returns:
        `(*batch, n)` or `(*batch, n, k)`.

    Raises:
        ShapeError: `x1` is not square, or `x2` does not match it.
        LinearAlgebraError: on NumPy, if a matrix is singular; others return infinities or NaN.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.solve_triangular(np.asarray([[2.0, 0.0], [2.0, 1.0]]), np.asarray([2.0, 3.0]))
        array([1., 1.])
    """
    check_square("solve_triangular", "x1", x1)
    if not unit_diagonal:
        return ops.solve(ops.triu(x1) if upper else ops.tril(x1), x2)
    rest = ops.triu(x1, k=1) if upper else ops.tril(x1, k=-1)
    return ops.solve(ops.add(rest, ops.eye(x1.shape[-1], dtype=dtype_of(x1), like=x1)), x2)


@op
@single
def pinv(
    x: Array, /, *, rtol: float | Array | None = None, atol: float | Array | None = None
) -> Array:
    """The Moore-Penrose inverse of each matrix, V diag(1/S) Uᴴ.

    Args:
        x: `(*batch, m, n)`, floating or complex.
        rtol: singular values below `rtol` times the largest count as 0; a number or an array that
            broadcasts to `(*batch,)`; None means max(m, n) times the machine epsilon, or 0 if
            `atol` is given.
        atol: singular values below `atol` count as 0 too, a number or an array like `rtol`.

    Returns:
        `(*batch, n, m)`.

    Raises:
        LinearAlgebraError: on NumPy and PyTorch, if a matrix contains NaN or ∞.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.pinv(np.asarray([[2.0, 0.0], [0.0, 0.0]]))
        array([[0.5, 0. ],
               [0. , 0. ]])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.pinv.html
    """
    U, S, Vh = ops.svd(x, full_matrices=False)
    counts = ops.greater(S, _threshold(x, S, rtol, atol))
    inverse = ops.where(counts, ops.divide(1.0, ops.where(counts, S, 1.0)), 0.0)
    left = ops.multiply(adjoint(Vh), ops.astype(ops.expand_dims(inverse, -2), x.dtype))
    return ops.matmul(left, adjoint(U))


@op(traits=Trait.CONSTANT)
@single
def matrix_rank(
    x: Array, /, *, rtol: float | Array | None = None, atol: float | Array | None = None
) -> Array:
    """The rank of each matrix: the number of nonzero singular values.

    Args:
        x: `(*batch, m, n)`, floating or complex.
        rtol: singular values below `rtol` times the largest count as 0; a number or an array that
            broadcasts to `(*batch,)`; None means max(m, n) times the machine epsilon, or 0 if
            `atol` is given.
        atol: singular values below `atol` count as 0 too, a number or an array like `rtol`.

    Returns:
        `(*batch,)`, integers.

    Raises:
        LinearAlgebraError: on NumPy and PyTorch, if a matrix contains NaN or ∞.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.matrix_rank(np.asarray([[1.0, 2.0], [2.0, 4.0]]))
        np.int64(1)

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.matrix_rank.html
    """
    S = ops.svdvals(x)
    return ops.count_nonzero(ops.greater(S, _threshold(x, S, rtol, atol)), axis=-1)


def _threshold(x: Array, S: Array, rtol: Any, atol: Any = None) -> Array:
    """The singular value from which on they count, `(*batch, 1)`."""
    if rtol is None and atol is not None:
        rtol = 0.0
    elif rtol is None:
        rows, columns = x.shape[-2:]
        epsilon = float(np.finfo(dtype_of(S).name).eps)
        rtol = (rows if rows > columns else columns) * epsilon
    if hasattr(rtol, "shape"):
        rtol = ops.expand_dims(rtol, -1)
    greatest = ops.max if S.shape[-1] else ops.sum  # the maximum of an empty array is undefined
    relative = ops.multiply(greatest(S, axis=-1, keepdims=True), rtol)
    if atol is None:
        return relative
    return ops.maximum(relative, ops.expand_dims(atol, -1) if hasattr(atol, "shape") else atol)


@op
@single_pair
def lstsq(x1: Array, x2: Array, /, *, rtol: float | None = None) -> LstsqResult:
    """The smallest-squares solution y of x1 y ≈ x2, with minimal norm if it is not unique.

    Args:
        x1: `(*batch, m, n)`, floating or complex.
        x2: `(m,)`, or `(*batch, m, k)` for k right sides; the batch axes broadcast, and the
            dtypes promote.
        rtol: singular values below `rtol` times the largest count as 0; None means max(m, n)
            times the machine epsilon.

    Returns:
        a named tuple of ``solution``, `(*batch, n)` or `(*batch, n, k)`; ``residuals``,
        Σᵢ |x2 − x1 y|²ᵢ of each right-hand side, also for exact solutions; ``rank`` and
        ``singular_values`` of `x1`.

    Raises:
        ShapeError: `x1` has fewer than two dimensions, or `x2` has another number of rows.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> na.lstsq(x, np.asarray([1.0, 3.0, 5.0])).solution.round(6)
        array([1., 2.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.linalg.lstsq.html
    """
    check_matrices("lstsq", "x1", x1)
    check_right_side("lstsq", x1, x2)
    S = ops.svdvals(x1)
    rank = ops.count_nonzero(ops.greater(S, _threshold(x1, S, rtol)), axis=-1)
    right = ops.expand_dims(x2, -1) if len(x2.shape) == 1 else x2
    # By the pseudo-inverse, whose derivative exists also for equal singular values.
    solution = ops.matmul(ops.pinv(x1, rtol=rtol), right)
    size = ops.abs(ops.subtract(right, ops.matmul(x1, solution)))
    residuals = ops.sum(ops.multiply(size, size), axis=-2)
    if len(x2.shape) == 1:
        solution, residuals = ops.squeeze(solution, -1), ops.squeeze(residuals, -1)
    return LstsqResult(solution, residuals, rank, S)


@op
@in_single_precision(astype, arrays=(0, 2))
def lu_solve(LU: Array, pivots: Array, x2: Array, /) -> Array:
    """The solution y of x y = x2 from the factors of x by `lu_factor`.

    Args:
        LU: `(*batch, n, n)`, floating or complex.
        pivots: `(*batch, n)`, integers.
        x2: `(n,)`, or `(*batch, n, k)` for k right-hand sides; the dtypes promote.

    Returns:
        `(*batch, n)` or `(*batch, n, k)`.

    Raises:
        ShapeError: `LU` is not square, or `pivots` or `x2` does not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> factors = na.lu_factor(np.asarray([[0.0, 2.0], [4.0, 0.0]]))
        >>> na.lu_solve(*factors, np.asarray([2.0, 4.0]))
        array([1., 1.])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.lu_solve.html
    """
    check_factors(LU, pivots, x2)
    n = LU.shape[-1]
    right = ops.expand_dims(x2, -1) if len(x2.shape) == 1 else x2
    batch = ops.broadcast_shapes(tuple(LU.shape[:-2]), tuple(right.shape[:-2]))
    right = ops.broadcast_to(right, (*batch, *right.shape[-2:]))
    order = ops.expand_dims(permutation_of(pivots, n), -1)
    right = ops.take_along_axis(right, ops.broadcast_to(order, right.shape), axis=-2)
    solution = ops.solve_triangular(LU, right, unit_diagonal=True)
    solution = ops.solve_triangular(LU, solution, upper=True)
    return ops.squeeze(solution, -1) if len(x2.shape) == 1 else solution


@op
@single_pair
def cho_solve(x1: Array, x2: Array, /, *, upper: bool = False) -> Array:
    """The solution y of x y = x2 from the Cholesky factor of x.

    Args:
        x1: `(*batch, n, n)`, floating or complex: L with x = L Lᴴ; the other triangle is not read.
        x2: `(n,)`, or `(*batch, n, k)` for k right-hand sides; the batch axes broadcast, and the
            dtypes promote.
        upper: `x1` is Lᴴ, as from ``cholesky(x, upper=True)``.

    Returns:
        `(*batch, n)` or `(*batch, n, k)`.

    Raises:
        ShapeError: `x1` is not square, or `x2` has another number of rows.
        LinearAlgebraError: on NumPy, if a matrix is singular; others return infinities or NaN.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cho_solve(np.asarray([[2.0, 0.0], [0.0, 1.0]]), np.asarray([4.0, 1.0]))
        array([1., 1.])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.cho_solve.html
    """
    check_square("cho_solve", "x1", x1)
    check_right_side("cho_solve", x1, x2)
    other = adjoint(x1)
    lower, upper_one = (other, x1) if upper else (x1, other)
    # As a column, because a stack of vectors would be taken for matrices in the second solve.
    right = ops.expand_dims(x2, -1) if len(x2.shape) == 1 else x2
    solution = ops.solve_triangular(upper_one, ops.solve_triangular(lower, right), upper=True)
    return ops.squeeze(solution, -1) if len(x2.shape) == 1 else solution


@op
def cholesky_inverse(x: Array, /, *, upper: bool = False) -> Array:
    """The inverse of a matrix from its Cholesky factor.

    Args:
        x: `(*batch, n, n)`, floating or complex: L of the matrix L Lᴴ.
        upper: `x` is Lᴴ, as from ``cholesky(x, upper=True)``.

    Returns:
        `(*batch, n, n)`.

    Raises:
        ShapeError: `x` is not square.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cholesky_inverse(np.asarray([[2.0, 0.0], [0.0, 1.0]]))
        array([[0.25, 0.  ],
               [0.  , 1.  ]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.cholesky_inverse.html
    """
    check_square("cholesky_inverse", "x", x)
    one = ops.eye(x.shape[-1], dtype=dtype_of(x), like=x)
    return ops.cho_solve(x, one, upper=upper)


@op
def tensorsolve(x1: Array, x2: Array, /, *, axes: Sequence[int] | None = None) -> Array:
    """The solution y of Σ x1[i…, j…] y[j…] = x2[i…], over several indices j.

    Args:
        x1: floating or complex; its first axes are the axes of `x2`; the product of the others is
            the same number of elements.
        x2: any shape; the dtypes promote.
        axes: axes of `x1` to move to the end first, in this order.

    Returns:
        array of the shape of the other axes of `x1`.

    Raises:
        ShapeError: the axes of `x1` do not make a square matrix.
        LinearAlgebraError: a matrix is singular; JAX returns infinities or NaN.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.eye(6).reshape(6, 2, 3)
        >>> na.tensorsolve(x, np.arange(6.0))
        array([[0., 1., 2.],
               [3., 4., 5.]])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.linalg.tensorsolve.html
    """
    if axes is not None:
        moved = many_axes(tuple(axes), len(x1.shape), "tensorsolve", "axes")
        kept = [a for a in range(len(x1.shape)) if a not in moved]
        x1 = ops.permute_dims(x1, (*kept, *moved))
    count = len(x2.shape)
    rows, shape = tuple(x1.shape[:count]), tuple(x1.shape[count:])
    size = math.prod(shape)
    if rows != tuple(x2.shape) or math.prod(rows) != size:
        raise ShapeError(
            f"tensorsolve: x1: got the axes {rows} and {shape} for x2 of shape "
            f"{tuple(x2.shape)}, expected those of x2 and as many elements in the others"
        )
    matrix = ops.reshape(x1, (size, size))
    return ops.reshape(ops.solve(matrix, ops.reshape(x2, (size,))), shape)


@op
def tensorinv(x: Array, /, *, ind: int = 2) -> Array:
    """The inverse of `tensordot` with `x` over its last axes.

    Args:
        x: floating or complex; its first `ind` axes have the same number of elements as the others.
        ind: the number of leading axes.

    Returns:
        array of the last axes of `x`, then the first: ``tensordot(y, x, axes=ind)`` is the
        identity.

    Raises:
        ShapeError: the axes do not make a square matrix.
        LinearAlgebraError: a matrix is singular; JAX returns infinities or NaN.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.tensorinv(np.eye(6).reshape(2, 3, 6)).shape
        (6, 2, 3)

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.linalg.tensorinv.html
    """
    first, last = tuple(x.shape[:ind]), tuple(x.shape[ind:])
    size = math.prod(first)
    if ind < 1 or size != math.prod(last):
        raise ShapeError(
            f"tensorinv: ind: got {ind} for the shape {tuple(x.shape)}, which makes "
            f"{size} rows and {math.prod(last)} columns, expected equally many of both"
        )
    return ops.reshape(ops.inv(ops.reshape(x, (size, size))), (*last, *first))
