"""Linear algebra on stacks of matrices: the last two axes are rows and columns."""

# pyright: reportReturnType=false
# a primitive has no body: the backends return
from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import mean_dtype
from nestarray.backends.results import (
    EighResult,
    EigResult,
    QRResult,
    SlogdetResult,
    SVDResult,
)
from nestarray.dispatch import op, primitive
from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError, ShapeError
from nestarray.typing import Array, Axis, DTypeLike

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "kron",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "trace",
    "vector_norm",
]


@op
def matrix_transpose(x: Array, /) -> Array:
    """The matrices with rows and columns exchanged, Xᵀ.

    Args:
        x: `(*batch, m, n)`, any dtype.

    Returns:
        `(*batch, n, m)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.matrix_transpose(np.asarray([[1, 2], [3, 4]]))
        array([[1, 3],
               [2, 4]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.matrix_transpose.html
    """
    from nestarray import ops

    return ops.swapaxes(x, -2, -1)


@primitive
def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """The elements xᵢ,ᵢ₊ₒ of each matrix.

    Args:
        x: `(*batch, m, n)`, any dtype.
        offset: 0 for the main diagonal, positive above it, negative below.

    Returns:
        `(*batch, k)`, k the length of the diagonal.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.diagonal(np.asarray([[1, 2], [3, 4]]))
        array([1, 4])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.diagonal.html
    """


@op
def trace(x: Array, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """The sum of a diagonal of each matrix, Σᵢ xᵢ,ᵢ₊ₒ.

    Args:
        x: `(*batch, m, n)`, any number.
        offset: which diagonal, as in `diagonal`.
        dtype: as in `sum`.

    Returns:
        `(*batch,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.trace(np.asarray([[1.0, 2.0], [3.0, 4.0]]))
        np.float64(5.0)

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.trace.html
    """
    from nestarray import ops

    return ops.sum(ops.diagonal(x, offset=offset), axis=-1, dtype=dtype)


@op
def outer(x1: Array, x2: Array, /) -> Array:
    """The products of all pairs, x1ᵢ x2ⱼ.

    Args:
        x1: `(m,)`, any number.
        x2: `(n,)`; the dtypes promote.

    Returns:
        `(m, n)`.

    Raises:
        ShapeError: an argument is not one-dimensional.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.outer(np.asarray([1, 2]), np.asarray([3, 4]))
        array([[3, 4],
               [6, 8]])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.outer.html
    """
    from nestarray import ops

    for x in (x1, x2):
        if len(x.shape) != 1:
            raise ShapeError(f"outer: got the shape {tuple(x.shape)}, expected one dimension")
    return ops.multiply(ops.expand_dims(x1, 1), x2)


@op
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three elements.

    Args:
        x1: any number, of length 3 along `axis`; other axes broadcast.
        x2: any number; the dtypes promote.
        axis: the axis of the vectors in both, negative, so that it means the same before and
            after broadcasting.

    Raises:
        ShapeError: the vectors are not of length 3.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cross(np.asarray([1, 0, 0]), np.asarray([0, 1, 0]))
        array([0, 0, 1])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.cross.html
    """
    from nestarray import ops

    for x in (x1, x2):
        if x.shape[axis] != 3:
            raise ShapeError(
                f"cross: got vectors of length {x.shape[axis]} along axis {axis}, expected 3"
            )
    # Component i is x1[i+1] x2[i+2] − x1[i+2] x2[i+1], counted modulo 3.
    return ops.subtract(
        ops.multiply(ops.roll(x1, -1, axis=axis), ops.roll(x2, -2, axis=axis)),
        ops.multiply(ops.roll(x1, -2, axis=axis), ops.roll(x2, -1, axis=axis)),
    )


@op
def kron(x1: Array, x2: Array, /) -> Array:
    """The Kronecker product: each element of x1 times all of x2.

    Args:
        x1: any number, of any shape.
        x2: any number; the dtypes promote. The array of fewer dimensions gets axes in front.

    Returns:
        array whose axes are as long as those of `x1` and `x2` multiplied.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.kron(np.asarray([1, 10]), np.asarray([1, 2]))
        array([ 1,  2, 10, 20])
    """
    from nestarray import ops

    left, right = list(x1.shape), list(x2.shape)
    missing = len(left) - len(right)
    left, right = [1] * -missing + left, [1] * missing + right
    apart1 = [length for pair in zip(left, [1] * len(left)) for length in pair]
    apart2 = [length for pair in zip([1] * len(right), right) for length in pair]
    product = ops.multiply(ops.reshape(x1, apart1), ops.reshape(x2, apart2))
    return ops.reshape(product, [a * b for a, b in zip(left, right)])


@op
def vector_norm(x: Array, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Array:
    """The norm of vectors, (Σᵢ |xᵢ|ᵖ)^(1/p), of order p = `ord`.

    Args:
        x: floating or complex; integers as float32.
        axis: the axis of the vectors; several, or None for all, are read as one long vector.
        keepdims: keep the reduced axes, with length 1.
        ord: any number; ∞ gives the greatest |xᵢ|, −∞ the least, 0 how many are not 0.

    Returns:
        real array of the precision of `x`. At the vector 0 the derivative is the framework's.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.vector_norm(np.asarray([3.0, -4.0]))
        np.float64(5.0)

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.vector_norm.html
    """
    from nestarray import ops

    x = ops.astype(x, mean_dtype(x), copy=False)
    size = ops.abs(x)
    if ord == float("inf"):
        return ops.max(size, axis=axis, keepdims=keepdims)
    if ord == -float("inf"):
        return ops.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return ops.astype(ops.count_nonzero(x, axis=axis, keepdims=keepdims), size.dtype)
    if ord == 1:
        return ops.sum(size, axis=axis, keepdims=keepdims)
    if ord == 2:
        return ops.sqrt(ops.sum(ops.multiply(size, size), axis=axis, keepdims=keepdims))
    total = ops.sum(ops.pow(size, float(ord)), axis=axis, keepdims=keepdims)
    return ops.pow(total, 1.0 / ord)


@op
def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: float | str = "fro") -> Array:
    """The norm of each matrix.

    Args:
        x: `(*batch, m, n)`, floating or complex.
        keepdims: keep the last two axes, with length 1.
        ord: ``"fro"``: the root of the sum of squares; ``"nuc"``: the sum of the singular
            values; 2 or −2: the greatest or least of them; 1 or −1: the greatest or least sum
            of a column's |xᵢⱼ|; ∞ or −∞: of a row's.

    Returns:
        `(*batch,)`, real.

    Raises:
        ArgumentError: `ord` is none of these.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.matrix_norm(np.asarray([[3.0, 0.0], [0.0, 4.0]]))
        np.float64(5.0)

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.matrix_norm.html
    """
    from nestarray import ops

    if ord == "fro":
        return ops.vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        reduce = {"nuc": ops.sum, 2: ops.max, -2: ops.min}[ord]
        norm = reduce(ops.svdvals(x), axis=-1)
    else:
        reduce, axis = _SUMS_OF_LINES.get(ord, (None, 0))
        if reduce is None:
            raise ArgumentError(
                f"matrix_norm: ord: got {ord!r}, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"
            )
        sums = ops.sum(ops.abs(x), axis=axis)
        norm = getattr(ops, reduce)(sums, axis=-1)
    return ops.expand_dims(norm, (-2, -1)) if keepdims else norm


#: By order: what to take of the sums, and the axis that they sum over.
_SUMS_OF_LINES = {
    1: ("max", -2),
    -1: ("min", -2),
    float("inf"): ("max", -1),
    -float("inf"): ("min", -1),
}


@primitive
def det(x: Array, /) -> Array:
    """The determinant of each matrix.

    Args:
        x: `(*batch, n, n)`, floating or complex.

    Returns:
        `(*batch,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.det(np.asarray([[2.0, 0.0], [0.0, 3.0]]))
        np.float64(6.0)

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.det.html
    """


@primitive
def slogdet(x: Array, /) -> SlogdetResult:
    """The determinant as sign and logarithm of its size, which does not overflow.

    Args:
        x: `(*batch, n, n)`, floating or complex.

    Returns:
        a named tuple of ``sign`` and ``logabsdet``, both `(*batch,)`; det = sign · exp(logabsdet).

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.slogdet(np.asarray([[2.0, 0.0], [0.0, -1.0]])).sign
        np.float64(-1.0)

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.slogdet.html
    """


@primitive
def inv(x: Array, /) -> Array:
    """The inverse of each matrix.

    Args:
        x: `(*batch, n, n)`, floating or complex, invertible.

    Returns:
        `(*batch, n, n)`.

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
        x2: `(n,)`, or `(*batch, n, k)` for k right sides; the batch axes broadcast, and the
            dtypes promote.

    Returns:
        `(*batch, n)` or `(*batch, n, k)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.solve(np.asarray([[2.0, 0.0], [0.0, 4.0]]), np.asarray([1.0, 1.0]))
        array([0.5 , 0.25])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.solve.html
    """


@op
def solve_triangular(x1: Array, x2: Array, /, *, upper: bool = False) -> Array:
    """The solution y of x1 y = x2, where x1 is a triangle.

    Args:
        x1: `(*batch, n, n)`, floating; the other triangle is not looked at.
        x2: `(n,)`, or `(*batch, n, k)` for k right sides; the batch axes broadcast.
        upper: which triangle `x1` is: the upper one, or the lower.

    Returns:
        `(*batch, n)` or `(*batch, n, k)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.solve_triangular(np.asarray([[2.0, 0.0], [2.0, 1.0]]), np.asarray([2.0, 3.0]))
        array([1., 1.])
    """
    from nestarray import ops

    return ops.solve(ops.triu(x1) if upper else ops.tril(x1), x2)


@primitive
def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The triangle L with L Lᴴ = x.

    Args:
        x: `(*batch, n, n)`, floating or complex, hermitian and positive definite. One triangle
            is looked at, and by which the derivative is taken is the framework's affair.
        upper: return Lᴴ, with x = (Lᴴ)ᴴ Lᴴ.

    Returns:
        `(*batch, n, n)`, a triangle with positive diagonal.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cholesky(np.asarray([[4.0, 0.0], [0.0, 9.0]]))
        array([[2., 0.],
               [0., 3.]])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.cholesky.html
    """


@primitive
def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """The factors Q R = x: orthonormal columns, and an upper triangle.

    Args:
        x: `(*batch, m, n)`, floating or complex.
        mode: ``"reduced"``: Q is `(*batch, m, k)` and R `(*batch, k, n)`, k the less of m and n;
            ``"complete"``: Q is `(*batch, m, m)` and R `(*batch, m, n)`.

    Returns:
        a named tuple of ``Q`` and ``R``; a column of Q and a row of R may change sign together.

    Example:
        >>> import numpy as np, nestarray as na
        >>> np.abs(na.qr(np.asarray([[3.0, 1.0], [4.0, 1.0]])).R).round(6)
        array([[5. , 1.4],
               [0. , 0.2]])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.qr.html
    """


@primitive
def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """The factors U diag(S) Vh = x: orthonormal columns, singular values, orthonormal rows.

    Args:
        x: `(*batch, m, n)`, floating or complex.
        full_matrices: U is `(*batch, m, m)` and Vh `(*batch, n, n)`; False gives the first k
            columns and rows, k the less of m and n.

    Returns:
        a named tuple of ``U``, ``S`` (descending) and ``Vh``; a column of U and a row of Vh may
        change sign together.

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
        `(*batch, k)`, k the less of m and n; real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.svdvals(np.asarray([[0.0, 3.0], [4.0, 0.0]]))
        array([4., 3.])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.svdvals.html
    """
    from nestarray import ops

    return ops.svd(x, full_matrices=False).S


@primitive
def eigh(x: Array, /) -> EighResult:
    """The eigenvalues and eigenvectors of hermitian matrices.

    Args:
        x: `(*batch, n, n)`, floating or complex, hermitian; one triangle is looked at.

    Returns:
        a named tuple of ``eigenvalues``, `(*batch, n)`, ascending, and ``eigenvectors``, in
        columns, each up to its sign.

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
        x: `(*batch, n, n)`, floating or complex, hermitian; one triangle is looked at.

    Returns:
        `(*batch, n)`, real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.eigvalsh(np.asarray([[2.0, 0.0], [0.0, 1.0]]))
        array([1., 2.])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.eigvalsh.html
    """
    from nestarray import ops

    return ops.eigh(x).eigenvalues


@primitive
def eig(x: Array, /) -> EigResult:
    """The eigenvalues and eigenvectors of square matrices.

    Args:
        x: `(*batch, n, n)`, floating or complex.

    Returns:
        a named tuple of ``eigenvalues``, `(*batch, n)`, in no order, and ``eigenvectors``, in
        columns of length 1; both complex. On JAX for arrays on a CPU only.

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

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.eigvals(np.asarray([[0.0, 1.0], [-1.0, 0.0]])).imag
        array([ 1., -1.])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.eigvals.html
    """
    from nestarray import ops

    return ops.eig(x).eigenvalues


@op
def pinv(x: Array, /, *, rtol: float | None = None) -> Array:
    """The Moore-Penrose inverse of each matrix, V diag(1/S) Uᴴ.

    Args:
        x: `(*batch, m, n)`, floating or complex.
        rtol: singular values below `rtol` times the greatest count as 0; None means the greater
            of m and n, times the machine's epsilon.

    Returns:
        `(*batch, n, m)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.pinv(np.asarray([[2.0, 0.0], [0.0, 0.0]]))
        array([[0.5, 0. ],
               [0. , 0. ]])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.pinv.html
    """
    from nestarray import ops

    U, S, Vh = ops.svd(x, full_matrices=False)
    counts = ops.greater(S, _threshold(x, S, rtol))
    inverse = ops.where(counts, ops.divide(1.0, ops.where(counts, S, 1.0)), 0.0)
    left = ops.multiply(_adjoint(Vh), ops.astype(ops.expand_dims(inverse, -2), x.dtype))
    return ops.matmul(left, _adjoint(U))


@op
def matrix_rank(x: Array, /, *, rtol: float | None = None) -> Array:
    """How many singular values of each matrix are not 0.

    Args:
        x: `(*batch, m, n)`, floating or complex.
        rtol: singular values below `rtol` times the greatest count as 0; None means the greater
            of m and n, times the machine's epsilon.

    Returns:
        `(*batch,)`, integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.matrix_rank(np.asarray([[1.0, 2.0], [2.0, 4.0]]))
        np.int64(1)

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.matrix_rank.html
    """
    from nestarray import ops

    S = ops.svdvals(x)
    return ops.count_nonzero(ops.greater(S, _threshold(x, S, rtol)), axis=-1)


def _threshold(x: Array, S: Array, rtol: Any) -> Array:
    """The singular value from which on they count, `(*batch, 1)`."""
    from nestarray import ops

    if rtol is None:
        rows, columns = x.shape[-2:]
        epsilon = float(np.finfo(dtype_of(S).name).eps)
        rtol = (rows if rows > columns else columns) * epsilon
    return ops.multiply(ops.max(S, axis=-1, keepdims=True), float(rtol))


def _adjoint(x: Array) -> Array:
    from nestarray import ops

    x = ops.matrix_transpose(x)
    return ops.conj(x) if dtype_of(x).kind == "complex" else x


@op
def matrix_power(x: Array, /, n: int) -> Array:
    """The product of `n` times each matrix, Xⁿ.

    Args:
        x: `(*batch, n, n)`, floating or complex.
        n: 0 gives the identity, negative ones powers of the inverse.

    Returns:
        `(*batch, n, n)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.matrix_power(np.asarray([[1.0, 1.0], [0.0, 1.0]]), 3)
        array([[1., 3.],
               [0., 1.]])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.matrix_power.html
    """
    from nestarray import ops

    if n == 0:
        return ops.broadcast_to(ops.eye(x.shape[-1], dtype=x.dtype, like=x), x.shape)
    if n < 0:
        x, n = ops.inv(x), -n
    result = None
    while n:
        if n % 2:
            result = x if result is None else ops.matmul(result, x)
        n //= 2
        if n:
            x = ops.matmul(x, x)
    return result
