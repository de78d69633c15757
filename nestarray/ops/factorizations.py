"""Matrix factorizations; the last two axes are rows and columns, leading axes are batches."""

# pyright: reportReturnType=false
# a primitive has no body: the backends return
from __future__ import annotations

from typing import Any

from nestarray import ops
from nestarray.backends.control_flow import Arrays, find_for
from nestarray.backends.precision import in_single_precision
from nestarray.dispatch import floating_op, op, primitive
from nestarray.dtypes import complex128, dtype_of, float32, float64, int64
from nestarray.errors import ArgumentError
from nestarray.numerics.matrices import check_matrices, check_reflections
from nestarray.numerics.results import (
    EighResult,
    EigResult,
    LUFactorResult,
    LUResult,
    PivotedQRResult,
    PolarResult,
    SVDResult,
)
from nestarray.typing import Array

__all__ = [
    "cholesky",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "lu",
    "lu_factor",
    "polar_decomposition",
    "qr",
    "svd",
    "svdvals",
]


def astype(x: Array, dtype: Any) -> Array:
    return ops.astype(x, dtype)


single = in_single_precision(astype)
single_pair = in_single_precision(astype, arrays=(0, 1))


@primitive
def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The Cholesky factor: the lower triangular L with L Lᴴ = x.

    Args:
        x: `(*batch, n, n)`, floating or complex, hermitian and positive definite. One triangle
            is read; the derivative with respect to the triangles depends on the framework.
        upper: return Lᴴ, with x = (Lᴴ)ᴴ Lᴴ.

    Returns:
        `(*batch, n, n)`, a triangle with positive diagonal.

    Raises:
        LinearAlgebraError: a matrix is not positive definite. JAX, TensorFlow and compiled code of
            PyTorch return NaN.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cholesky(np.asarray([[4.0, 0.0], [0.0, 9.0]]))
        array([[2., 0.],
               [0., 3.]])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.cholesky.html
    """


@op
def qr(
    x: Array, /, *, mode: str = "reduced", pivoting: bool = False
) -> Any:  # a named tuple of two or three arrays
    """The QR decomposition Q R = x: orthonormal columns Q, upper triangular R.

    Args:
        x: `(*batch, m, n)`, floating or complex.
        mode: ``"reduced"``: Q is `(*batch, m, k)` and R `(*batch, k, n)`, k = min(m, n);
            ``"complete"``: Q is `(*batch, m, m)` and R `(*batch, m, n)`.
        pivoting: permute the columns by P so that the diagonal of R decreases in magnitude, which
            reveals the rank: Q R = x[:, P].

    Returns:
        a named tuple of ``Q`` and ``R``, with `pivoting` also ``P``, `(*batch, n)`, integers;
        a column of Q and a row of R may change sign together.

    Example:
        >>> import numpy as np, nestarray as na
        >>> np.abs(na.qr(np.asarray([[3.0, 1.0], [4.0, 1.0]])).R).round(6)
        array([[5. , 1.4],
               [0. , 0.2]])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.qr.html
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.qr.html
    """
    if not pivoting:  # every backend has its own function
        return ops.qr(x, mode=mode)
    check_matrices("qr", "x", x)
    pivots = _pivots(ops.stop_gradient(x))
    columns = ops.broadcast_to(ops.expand_dims(pivots, -2), x.shape)
    Q, R = ops.qr(ops.take_along_axis(x, columns, axis=-1), mode=mode)
    return PivotedQRResult(Q, R, pivots)


def _pivots(x: Array) -> Array:
    """Column pivoting: the order of columns by the norm of their remainder, largest first."""
    *lead, rows, count = x.shape
    if dtype_of(x).kind != "complex":
        x = ops.astype(x, float64 if dtype_of(x) is float64 else float32, copy=False)
    numbers = ops.arange(count, dtype="int64", like=x)
    order = ops.broadcast_to(numbers, (*lead, count))
    steps = min(rows, count)
    if not steps or 0 in lead:
        return order

    def step(states: Arrays, row: Arrays) -> tuple[Arrays, Arrays]:
        (left, order), (here,) = states, row
        sizes = ops.sum(ops.square(ops.abs(left)), axis=-2)
        sizes = ops.where(ops.less(numbers, here), -1.0, sizes)
        longest = ops.argmax(sizes, axis=-1, keepdims=True)
        longest = ops.astype(longest, "int64")
        other = ops.where(ops.equal(numbers, longest), here, numbers)
        swap = ops.where(ops.equal(numbers, here), longest, other)
        order = ops.take_along_axis(order, swap, axis=-1)
        swaps = ops.broadcast_to(ops.expand_dims(swap, -2), left.shape)
        left = ops.take_along_axis(left, swaps, axis=-1)
        is_here = ops.astype(ops.equal(numbers, here), left.dtype)
        column = ops.sum(ops.multiply(left, is_here), axis=-1, keepdims=True)
        size = ops.sqrt(ops.sum(ops.square(ops.abs(column)), axis=-2, keepdims=True))
        unit = ops.divide(column, ops.astype(ops.where(ops.equal(size, 0), 1.0, size), left.dtype))
        share = ops.matmul(ops.conj(ops.matrix_transpose(unit)), left)
        return (ops.subtract(left, ops.matmul(unit, share)), order), ()

    scan = find_for((x,), "scan")
    (_, order), _ = scan(step, (x, order), (numbers[:steps],))
    return order


@primitive
def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """The singular value decomposition U diag(S) Vh = x: orthonormal columns and rows.

    Args:
        x: `(*batch, m, n)`, floating or complex.
        full_matrices: U is `(*batch, m, m)` and Vh `(*batch, n, n)`; False gives the first k
            columns and rows, k = min(m, n).

    Returns:
        a named tuple of ``U``, ``S`` (descending) and ``Vh``; a column of U and a row of Vh may
        change sign together.

    Raises:
        LinearAlgebraError: on NumPy and PyTorch, if a matrix contains NaN or ∞; others return NaN.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.svd(np.asarray([[0.0, 3.0], [4.0, 0.0]])).S
        array([4., 3.])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.svd.html
    """


@op
def svdvals(x: Array, /) -> Array:
    """The singular values of each matrix, in descending order.

    Args:
        x: `(*batch, m, n)`, floating or complex.

    Returns:
        `(*batch, k)`, k = min(m, n); real.

    Raises:
        LinearAlgebraError: on NumPy and PyTorch, if a matrix contains NaN or ∞; others return NaN.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.svdvals(np.asarray([[0.0, 3.0], [4.0, 0.0]]))
        array([4., 3.])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.svdvals.html
    """
    return ops.svd(x, full_matrices=False).S


@primitive
def eigh(x: Array, /) -> EighResult:
    """The eigenvalues and eigenvectors of hermitian matrices.

    Vectors of equal eigenvalues are not determined: their derivatives, and second derivatives of the
    values, are NaN. `expm`, `sqrtm` and `matrix_power` have derivatives there.

    Args:
        x: `(*batch, n, n)`, floating or complex, hermitian; one triangle is read.

    Returns:
        a named tuple of ``eigenvalues``, `(*batch, n)`, ascending, and ``eigenvectors``, in
        columns, each up to its sign.

    Raises:
        LinearAlgebraError: on TensorFlow, if a matrix contains NaN or ∞; others return NaN.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.eigh(np.asarray([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
        array([1., 2.])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.eigh.html
    """


@op
def eigvalsh(x: Array, /) -> Array:
    """The eigenvalues of hermitian matrices, in ascending order.

    Args:
        x: `(*batch, n, n)`, floating or complex, hermitian; one triangle is read.

    Returns:
        `(*batch, n)`, real.

    Raises:
        LinearAlgebraError: on TensorFlow, if a matrix contains NaN or ∞; others return NaN.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.eigvalsh(np.asarray([[2.0, 0.0], [0.0, 1.0]]))
        array([1., 2.])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.eigvalsh.html
    """
    return ops.eigh(x).eigenvalues


@primitive
def eig(x: Array, /) -> EigResult:
    """The eigenvalues and eigenvectors of square matrices.

    Args:
        x: `(*batch, n, n)`, floating or complex.

    Returns:
        a named tuple of ``eigenvalues``, `(*batch, n)`, in no order, and ``eigenvectors``, in
        columns of length 1; both complex. On JAX for arrays on a CPU only.

    Raises:
        LinearAlgebraError: a matrix contains NaN or ∞; JAX returns NaN.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.eig(np.asarray([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
        array([2.+0.j, 1.+0.j])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.eig.html
    """


@op
def eigvals(x: Array, /) -> Array:
    """The eigenvalues of square matrices, in no order.

    Args:
        x: `(*batch, n, n)`, floating or complex.

    Returns:
        `(*batch, n)`, complex.

    Raises:
        LinearAlgebraError: a matrix contains NaN or ∞; JAX returns NaN.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.eigvals(np.asarray([[0.0, 1.0], [-1.0, 0.0]])).imag
        array([ 1., -1.])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.eigvals.html
    """
    return ops.eig(x).eigenvalues


@op
@single
def lu_factor(x: Array, /) -> LUFactorResult:
    """The LU decomposition in compact form: both factors in one matrix, and the row exchanges.

    A singular matrix also has factors; U then has a 0 on its diagonal.

    Args:
        x: `(*batch, m, n)`, floating or complex.

    Returns:
        a named tuple of ``LU``, `(*batch, m, n)`: U on and above the diagonal, L without its unit
        diagonal below; and ``pivots``, `(*batch, k)`, k = min(m, n), int64: step i exchanged rows i
        and pivotsᵢ.

    Raises:
        ShapeError: `x` has fewer than two dimensions.

    Example:
        >>> import numpy as np, nestarray as na
        >>> LU, pivots = na.lu_factor(np.asarray([[1.0, 2.0], [4.0, 4.0]]))
        >>> LU
        array([[4.  , 4.  ],
               [0.25, 1.  ]])
        >>> pivots
        array([1, 1])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.lu_factor.html
    """
    check_matrices("lu_factor", "x", x)
    m, n = x.shape[-2:]
    rows = ops.arange(m, dtype=int64, like=x)
    columns = ops.arange(n, dtype=int64, like=x)
    pivots = []
    for k in range(min(m, n)):
        column = ops.getitem(x, (..., slice(None), k))
        size = ops.abs(column)
        if dtype_of(x).kind == "complex":  # as LAPACK does
            size = ops.abs(ops.real(column)) + ops.abs(ops.imag(column))
        size = ops.where(ops.greater_equal(rows, k), size, -1.0)  # the rows above are final
        pivot = ops.astype(ops.argmax(size, axis=-1, keepdims=True), int64)
        pivots.append(pivot)
        order = ops.where(ops.equal(rows, k), pivot, ops.where(ops.equal(rows, pivot), k, rows))
        order = ops.broadcast_to(ops.expand_dims(order, -1), x.shape)
        x = ops.take_along_axis(x, order, axis=-2)
        row = ops.getitem(x, (..., slice(k, k + 1), slice(None)))
        column = ops.getitem(x, (..., slice(None), slice(k, k + 1)))
        head = ops.getitem(row, (..., slice(None), slice(k, k + 1)))
        zeros = ops.equal(head, 0)  # only for a column of zeros, which is unchanged
        head = ops.where(zeros, ops.ones_like(head), head)
        below = ops.greater(ops.expand_dims(rows, -1), k)
        factor = ops.where(below, ops.divide(column, head), ops.zeros_like(column))
        behind = ops.where(ops.greater(columns, k), row, ops.zeros_like(row))
        rest = ops.subtract(x, ops.multiply(factor, behind))
        x = ops.where(ops.logical_and(below, ops.equal(columns, k)), factor, rest)
    if not pivots:
        return LUFactorResult(x, ops.zeros((*x.shape[:-2], 0), dtype=int64, like=x))
    return LUFactorResult(x, ops.concat(pivots, axis=-1))


@op
@single
def lu(x: Array, /) -> LUResult:
    """The LU decomposition P L U = x: a permutation, a unit lower and an upper triangular matrix.

    Args:
        x: `(*batch, m, n)`, floating or complex.

    Returns:
        a named tuple of ``P``, `(*batch, m, m)`, real, ``L``, `(*batch, m, k)`, and ``U``,
        `(*batch, k, n)`, k = min(m, n). No element of L exceeds 1 in magnitude.

    Raises:
        ShapeError: `x` has fewer than two dimensions.

    Example:
        >>> import numpy as np, nestarray as na
        >>> P, L, U = na.lu(np.asarray([[1.0, 2.0], [4.0, 4.0]]))
        >>> L
        array([[1.  , 0.  ],
               [0.25, 1.  ]])
        >>> P @ L @ U
        array([[1., 2.],
               [4., 4.]])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.lu.html
    """
    check_matrices("lu", "x", x)
    LU, pivots = ops.lu_factor(x)
    m, n = x.shape[-2:]
    k = min(m, n)
    unit = ops.eye(m, k, dtype=LU.dtype, like=LU)
    L = ops.add(ops.tril(ops.getitem(LU, (..., slice(None), slice(0, k))), k=-1), unit)
    U = ops.triu(ops.getitem(LU, (..., slice(0, k), slice(None))))
    # Row i of L U is row order[i] of x.
    order = ops.expand_dims(permutation_of(pivots, m), -2)
    rows = ops.expand_dims(ops.arange(m, dtype=int64, like=LU), -1)
    real = float64 if dtype_of(LU) in (float64, complex128) else float32
    real = dtype_of(LU) if dtype_of(LU).is_floating else real
    return LUResult(ops.astype(ops.equal(rows, order), real), L, U)


def permutation_of(pivots: Array, m: int) -> Array:
    """The permutation of m rows by row exchanges: row i is the former row orderᵢ."""
    rows = ops.arange(m, dtype=int64, like=pivots)
    order = ops.broadcast_to(rows, (*pivots.shape[:-1], m))
    for i in range(pivots.shape[-1]):
        pivot = ops.astype(ops.getitem(pivots, (..., slice(i, i + 1))), int64)
        here = ops.getitem(order, (..., slice(i, i + 1)))
        there = ops.take_along_axis(order, pivot, axis=-1)
        order = ops.where(ops.equal(rows, pivot), here, order)
        order = ops.where(ops.equal(rows, i), there, order)
    return order


@op
@single
def polar_decomposition(x: Array, /, *, side: str = "right") -> PolarResult:
    """The polar decomposition U P = x: orthonormal columns or rows, and a hermitian P ≥ 0.

    SciPy and JAX call it ``polar``; here `polar` makes complex numbers. Both factors of a regular
    matrix are unique. Their derivatives need singular values that differ from each other and from 0.

    Args:
        x: `(*batch, m, n)`, floating or complex.
        side: ``"right"`` for x = U P, with P `(*batch, n, n)`; ``"left"`` for x = P U, with P
            `(*batch, m, m)`.

    Returns:
        a named tuple of ``U``, `(*batch, m, n)`, and ``P``.

    Raises:
        ArgumentError: `side` is neither ``"right"`` nor ``"left"``.
        ShapeError: `x` has fewer than two dimensions.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.polar_decomposition(np.asarray([[0.0, -2.0], [3.0, 0.0]])).P
        array([[3., 0.],
               [0., 2.]])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.polar.html
    """
    if side not in ("right", "left"):
        raise ArgumentError(f"polar_decomposition: side: got {side!r}, expected 'right' or 'left'")
    check_matrices("polar_decomposition", "x", x)
    W, S, Vh = ops.svd(x, full_matrices=False)
    outside = adjoint(Vh) if side == "right" else W
    scaled = ops.multiply(outside, ops.astype(ops.expand_dims(S, -2), x.dtype, copy=False))
    return PolarResult(ops.matmul(W, Vh), ops.matmul(scaled, adjoint(outside)))


@floating_op
@single_pair
def householder_product(x: Array, tau: Array, /) -> Array:
    """The first columns of the product of reflections, H₁ H₂ … with Hᵢ = I − τᵢ vᵢ vᵢᴴ.

    Args:
        x: `(*batch, m, n)`, n ≤ m, floating or complex. Column i contains vᵢ below the diagonal;
            vᵢ is 1 on the diagonal and 0 above, independent of `x`.
        tau: `(*batch, k)`, k ≤ n, of the dtype of `x`.

    Returns:
        `(*batch, m, n)`.

    Raises:
        ShapeError: `x` is wider than high, or `tau` does not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.householder_product(np.asarray([[1.0], [1.0]]), np.asarray([1.0]))
        array([[ 0.],
               [-1.]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.linalg.householder_product.html
    """
    check_reflections(x, tau)
    m, n = x.shape[-2:]
    rows = ops.expand_dims(ops.arange(m, dtype=int64, like=x), -1)
    Q = ops.broadcast_to(ops.eye(m, n, dtype=x.dtype, like=x), ops.shape(x))
    for i in reversed(range(tau.shape[-1])):
        v = ops.getitem(x, (..., slice(None), slice(i, i + 1)))
        v = ops.where(ops.greater(rows, i), v, ops.zeros_like(v))
        v = ops.where(ops.equal(rows, i), ops.ones_like(v), v)
        factor = ops.expand_dims(ops.getitem(tau, (..., slice(i, i + 1))), -1)
        Q = ops.subtract(Q, ops.matmul(ops.multiply(v, factor), ops.matmul(adjoint(v), Q)))
    return Q


def adjoint(x: Array) -> Array:
    """The conjugates of the transposed matrices, Xᴴ."""
    x = ops.matrix_transpose(x)
    return ops.conj(x) if dtype_of(x).kind == "complex" else x
