"""Linear algebra; the last two axes are rows and columns, leading axes are batches."""

# pyright: reportReturnType=false
# a primitive has no body: the backends return
from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from operator import index

from nestarray import ops
from nestarray.backends.base import mean_dtype
from nestarray.backends.truth import through_numbers
from nestarray.dispatch import Trait, op, primitive
from nestarray.dtypes import dtype_of, finfo
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.axes import many_axes, one_axis
from nestarray.numerics.matrices import check_matrices, check_square
from nestarray.numerics.results import SlogdetResult
from nestarray.numerics.roots import root
from nestarray.ops.factorizations import adjoint, single
from nestarray.ops.statistical import squares
from nestarray.typing import Array, Axis, DTypeLike

__all__ = [
    "cross",
    "det",
    "diagonal",
    "expm",
    "kron",
    "matrix_cond",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "multi_dot",
    "outer",
    "slogdet",
    "sqrtm",
    "trace",
    "vector_norm",
]


@op(traits=Trait.HALF_SAFE | Trait.VIEW)
def matrix_transpose(x: Array, /) -> Array:
    """The transpose of each matrix, Xᵀ.

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
    return ops.swapaxes(x, -2, -1)


@primitive(traits=Trait.HALF_SAFE | Trait.LINEAR)
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
    """The trace of each matrix, Σᵢ xᵢ,ᵢ₊ₒ.

    Args:
        x: `(*batch, m, n)`, any number.
        offset: the diagonal, as in `diagonal`.
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
        axis: the axis of the vectors in both arrays; negative, so that broadcasting does not
            change its meaning.

    Returns:
        array of the broadcast shape and the promoted dtype.

    Raises:
        ShapeError: the vectors are not of length 3.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cross(np.asarray([1, 0, 0]), np.asarray([0, 1, 0]))
        array([0, 0, 1])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.cross.html
    """
    for x in (x1, x2):
        if x.shape[one_axis(axis, len(x.shape), "cross")] != 3:
            raise ShapeError(
                f"cross: got vectors of length {x.shape[axis]} along axis {axis}, expected 3"
            )
    # Component i is x1[i+1] x2[i+2] − x1[i+2] x2[i+1], counted modulo 3.
    return ops.subtract(
        ops.multiply(ops.roll(x1, -1, axis=axis), ops.roll(x2, -2, axis=axis)),
        ops.multiply(ops.roll(x1, -2, axis=axis), ops.roll(x2, -1, axis=axis)),
    )


@op(promoted=("x1", "x2"))
@through_numbers
def kron(x1: Array, x2: Array, /) -> Array:
    """The Kronecker product: each element of x1 times all of x2.

    Args:
        x1: any number, of any shape.
        x2: any number; the dtypes promote. The array of lower rank gets leading axes.

    Returns:
        array whose axis lengths are the products of the lengths of `x1` and `x2`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.kron(np.asarray([1, 10]), np.asarray([1, 2]))
        array([ 1,  2, 10, 20])
    """
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
        ord: any number; ∞ gives the largest |xᵢ|, −∞ the smallest, 0 the number of nonzero xᵢ.

    Returns:
        real array of the precision of `x`. The derivative at the zero vector is 0.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.vector_norm(np.asarray([3.0, -4.0]))
        np.float64(5.0)

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.vector_norm.html
    """
    x = ops.astype(x, mean_dtype(x), copy=False)
    size = ops.abs(x)
    if 0 in [x.shape[a] for a in many_axes(axis, len(x.shape), "vector_norm")]:
        return ops.sum(size, axis=axis, keepdims=keepdims)
    if ord == float("inf"):
        return ops.max(size, axis=axis, keepdims=keepdims)
    if ord == -float("inf"):
        return ops.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return ops.astype(ops.count_nonzero(x, axis=axis, keepdims=keepdims), size.dtype)
    if ord == 1:
        return ops.sum(size, axis=axis, keepdims=keepdims)
    if ord == 2:
        return root(ops, ops.sum(squares(x), axis=axis, keepdims=keepdims))
    total = ops.sum(_power(size, float(ord)), axis=axis, keepdims=keepdims)
    return _power(total, 1.0 / ord)


def _power(x: Array, exponent: float) -> Array:
    """x to a power, with derivative 0 at 0."""
    is_zero = ops.equal(x, 0)
    found = ops.pow(ops.where(is_zero, 1.0, x), exponent)
    return ops.where(is_zero, 0.0 if exponent > 0 else math.inf, found)


@op
@single
def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> Array:
    """The norm of each matrix.

    Args:
        x: `(*batch, m, n)`, floating or complex.
        keepdims: keep the last two axes, with length 1.
        ord: ``"fro"`` or None: the root of the sum of squares; ``"nuc"``: the sum of the singular
            values; 2 or −2: the largest or smallest singular value; 1 or −1: the largest or
            smallest column sum of |xᵢⱼ|; ∞ or −∞: row sum.

    Returns:
        `(*batch,)`, real.

    Raises:
        ArgumentError: `ord` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.matrix_norm(np.asarray([[3.0, 0.0], [0.0, 4.0]]))
        np.float64(5.0)

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.matrix_norm.html
    """
    if ord is None or ord == "fro":
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


#: Order → (the extremum of the sums, the axis of the sums).
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
    """The sign and the logarithm of the magnitude of the determinant, which does not overflow.

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


@op
def matrix_power(x: Array, /, n: int) -> Array:
    """The n-th power of each matrix, Xⁿ.

    Args:
        x: `(*batch, n, n)`, floating or complex.
        n: the exponent; 0 gives the identity, negative exponents powers of the inverse.

    Returns:
        `(*batch, n, n)`.

    Raises:
        ShapeError: `x` is not square.
        LinearAlgebraError: `n` is negative and a matrix is singular; JAX returns infinities or NaN.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.matrix_power(np.asarray([[1.0, 1.0], [0.0, 1.0]]), 3)
        array([[1., 3.],
               [0., 1.]])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.matrix_power.html
    """
    n = index(n)
    check_square("matrix_power", "x", x)
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


@op
@single
def expm(x: Array, /) -> Array:
    """The exponential of each matrix, I + x + x²/2! + …

    Computed by scaling and squaring: a Padé approximation at x / 2ˢ, squared s times.

    Args:
        x: `(*batch, n, n)`, floating or complex.

    Returns:
        `(*batch, n, n)`. For a 1-norm above 10⁵ JAX gives NaN in double precision.

    Raises:
        ShapeError: `x` is not square.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.expm(np.asarray([[0.0, 1.0], [0.0, 0.0]]))
        array([[1., 1.],
               [0., 1.]])

    References:
        N. J. Higham, The scaling and squaring method for the matrix exponential revisited, 2005
    """
    check_square("expm", "x", x)
    # Below this 1-norm the approximation of degree 13 is exact in double precision.
    norm = ops.matrix_norm(x, ord=1, keepdims=True)
    count = ops.ceil(ops.log2(ops.maximum(ops.divide(norm, 5.37), 1.0)))
    x = ops.multiply(x, ops.astype(ops.exp2(ops.negative(count)), x.dtype, copy=False))
    unit = ops.eye(x.shape[-1], dtype=x.dtype, like=x)
    x2 = ops.matmul(x, x)
    x4 = ops.matmul(x2, x2)
    x6 = ops.matmul(x2, x4)
    terms = (unit, x2, x4, x6)
    high_odd, low_odd = _weighed(_PADE[9::2], terms[1:]), _weighed(_PADE[1:9:2], terms)
    high_even, low_even = _weighed(_PADE[8::2], terms[1:]), _weighed(_PADE[0:8:2], terms)
    odd = ops.matmul(x, ops.add(ops.matmul(x6, high_odd), low_odd))
    even = ops.add(ops.matmul(x6, high_even), low_even)
    result = ops.solve(ops.subtract(even, odd), ops.add(even, odd))
    for i in range(_SQUARINGS):
        result = ops.where(ops.greater(count, float(i)), ops.matmul(result, result), result)
    return result


#: Sufficient for every norm with a finite exponential, unless eigenvalues cancel.
_SQUARINGS = 20

#: The coefficients of the numerator of degree 13; the denominator has opposite signs at odd powers.
_PADE = tuple(
    float(math.comb(13, k) * math.factorial(26 - k) // math.factorial(13)) for k in range(14)
)


def _weighed(weights: Sequence[float], terms: Sequence[Array]) -> Array:
    total = ops.multiply(terms[0], weights[0])
    for weight, term in zip(weights[1:], terms[1:], strict=True):
        total = ops.add(total, ops.multiply(term, weight))
    return total


@op
@single
def sqrtm(x: Array, /) -> Array:
    """The principal square root of each matrix: y y = x, with eigenvalues in the right half-plane.

    Newton's iteration in the product form of Denman and Beavers, on all backends. Real matrices
    have a real root. Singular values below 10 n ε times the largest count as 0. A matrix with a
    negative eigenvalue gives NaN; one whose eigenvalue 0 is defective gives NaN or the error of
    `inv`. The root of a singular matrix has no derivative.

    Args:
        x: `(*batch, n, n)`, floating or complex, without eigenvalues on the negative real axis.

    Returns:
        `(*batch, n, n)`, of the dtype of `x`.

    Raises:
        ShapeError: `x` is not square.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sqrtm(np.asarray([[4.0, 0.0], [0.0, 9.0]])).round(6)
        array([[2., 0.],
               [0., 3.]])

    References:
        S. H. Cheng et al., Approximating the logarithm of a matrix to specified accuracy, 2001
    """
    check_square("sqrtm", "x", x)
    n = x.shape[-1]
    if not n:
        return x
    unit = ops.eye(n, dtype=x.dtype, like=x)
    filled, is_singular = _regular(x)
    root, product = filled, filled
    for _ in range(_NEWTON_STEPS):
        # Scaled by the determinant, so that both large and small eigenvalues start near 1.
        scale = ops.exp(ops.divide(ops.slogdet(product).logabsdet, -2.0 * n))
        scale = ops.astype(ops.expand_dims(scale, (-2, -1)), x.dtype, copy=False)
        square = ops.multiply(scale, scale)
        inverse = ops.divide(ops.inv(product), square)
        root = ops.multiply(ops.matmul(root, ops.add(unit, inverse)), ops.multiply(scale, 0.5))
        product = ops.multiply(
            ops.add(unit, ops.multiply(ops.add(ops.multiply(product, square), inverse), 0.5)), 0.5
        )
    error = ops.matrix_norm(ops.subtract(product, unit), keepdims=True)
    # The product converges quadratically to the identity if a root exists, and stays far otherwise.
    root = ops.where(ops.less(error, 1e-2), root, float("nan"))
    # x y⁻¹ is 0 where x is 0, and the root elsewhere
    inverse = ops.inv(ops.where(is_singular, root, unit))
    return ops.where(is_singular, ops.matmul(x, inverse), root)


def _regular(x: Array) -> tuple[Array, Array]:
    """Regularized matrices, and a mask of the singular ones."""
    still = ops.stop_gradient(x)
    _, S, Vh = ops.svd(
        ops.where(ops.isfinite(still), still, 0.0)
    )  # NumPy raises for a singular matrix
    greatest = ops.getitem(S, (..., slice(0, 1)))
    greatest = ops.where(ops.equal(greatest, 0.0), 1.0, greatest)
    threshold = ops.multiply(greatest, 10.0 * x.shape[-1] * finfo(dtype_of(S)).eps)
    added = ops.where(ops.greater(S, threshold), 0.0, greatest)
    scaled = ops.multiply(adjoint(Vh), ops.astype(ops.expand_dims(added, -2), x.dtype, copy=False))
    is_singular = ops.greater(ops.max(added, axis=-1, keepdims=True), 0.0)
    is_singular = ops.expand_dims(is_singular, -1)
    return ops.where(is_singular, ops.add(x, ops.matmul(scaled, Vh)), x), is_singular


#: Double precision takes about ten steps, unless the condition number is extreme.
_NEWTON_STEPS = 14


@op
def multi_dot(arrays: Sequence[Array], /) -> Array:
    """The product of several matrices, in the order with the fewest multiplications.

    Args:
        arrays: matrices `(m, k)`, `(k, l)`, …, any number; the first and the last may be
            vectors. The dtypes promote.

    Returns:
        `(m, n)`, without the axis of a vector.

    Raises:
        ArgumentError: the sequence is empty.
        ShapeError: an array is not a matrix, or adjacent shapes do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.multi_dot([np.ones((2, 3)), np.ones((3, 4)), np.ones(4)])
        array([12., 12.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.linalg.multi_dot.html
    """
    if not arrays:
        raise ArgumentError("multi_dot: arrays: got none, expected at least one")
    last = len(arrays) - 1
    for i, x in enumerate(arrays):
        ranks = (1, 2) if i in (0, last) else (2,)
        if len(x.shape) not in ranks:
            raise ShapeError(
                f"multi_dot: array {i}: got the shape {tuple(x.shape)}, expected a matrix"
                f"{' or a vector' if len(ranks) == 2 else ''}"
            )
    for i, (left, right) in enumerate(pairwise(arrays)):
        if left.shape[-1] != right.shape[0]:
            raise ShapeError(
                f"multi_dot: arrays {i} and {i + 1}: got the shapes {tuple(left.shape)} and "
                f"{tuple(right.shape)}, expected the rows of one to be the columns of the other"
            )
    lengths = [1 if len(arrays[0].shape) == 1 and last else arrays[0].shape[0]]
    lengths += [x.shape[0] for x in arrays[1:]]
    lengths.append(1 if len(arrays[-1].shape) == 1 else arrays[-1].shape[1])
    split = _cheapest_splits(lengths)

    def product(i: int, j: int) -> Array:
        if i == j:
            return arrays[i]
        k = split[i, j]
        return ops.matmul(product(i, k), product(k + 1, j))

    return product(0, last)


def _cheapest_splits(lengths: Sequence[int]) -> dict[tuple[int, int], int]:
    """For each chain i…j of matrices with these sizes, the index of the cheapest split."""
    count = len(lengths) - 1
    cost = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for span in range(1, count):
        for i in range(count - span):
            j = i + span
            costs = {
                k: cost[i, k] + cost[k + 1, j] + lengths[i] * lengths[k + 1] * lengths[j + 1]
                for k in range(i, j)
            }
            split[i, j] = min(costs, key=costs.__getitem__)
            cost[i, j] = costs[split[i, j]]
    return split


@op
@single
def matrix_cond(x: Array, /, *, p: float | str | None = None) -> Array:
    """The condition number of each matrix, ‖x‖ ‖x⁻¹‖, which bounds the error growth of `solve`.

    Args:
        x: `(*batch, m, n)`, floating or complex.
        p: the norm, as `ord` of `matrix_norm`; None means 2.

    Returns:
        `(*batch,)`, real. In the norm 2, ∞ for singular matrices.

    Raises:
        ArgumentError: `p` is not a supported norm.
        ShapeError: the matrices are not square, for a norm other than 2 and −2.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.matrix_cond(np.asarray([[[2.0, 0.0], [0.0, 1.0]]]))
        array([2.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.linalg.cond.html
    """
    if p not in (None, 2, -2):
        if p != "fro" and p != "nuc" and p not in _SUMS_OF_LINES:
            raise ArgumentError(
                f"matrix_cond: p: got {p!r}, expected None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"
            )
        check_square("matrix_cond", "x", x)
        return ops.multiply(ops.matrix_norm(x, ord=p), ops.matrix_norm(ops.inv(x), ord=p))
    check_matrices("matrix_cond", "x", x)
    if 0 in x.shape[-2:]:
        raise ShapeError(f"matrix_cond: x: got shape {tuple(x.shape)}, expected nonempty matrices")
    S = ops.svdvals(x)
    greatest, least = ops.getitem(S, (..., 0)), ops.getitem(S, (..., -1))
    if p == -2:
        return ops.divide(least, greatest)
    singular = ops.equal(least, 0.0)
    ratio = ops.divide(greatest, ops.where(singular, 1.0, least))
    return ops.where(singular, float("inf"), ratio)
