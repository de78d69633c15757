"""Triangular, diagonal, Vandermonde and block matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.dispatch import Trait, op
from nestarray.errors import ShapeError
from nestarray.typing import Array, DTypeLike

__all__ = ["block_diag", "diag", "diagflat", "fill_diagonal", "tri", "vander"]
TRAITS = Trait.HALF_SAFE


@op
def tri(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """Ones on and below a diagonal, zeros above.

    Args:
        n_rows: the number of rows.
        n_cols: the number of columns; None means `n_rows`.
        k: the last diagonal of ones; above the main one if positive.
        dtype: None means float32.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        `(n_rows, n_cols)`.

    Example:
        >>> import nestarray as na
        >>> na.tri(2, 3)
        array([[1., 0., 0.],
               [1., 1., 0.]], dtype=float32)
    """
    wanted = dtypes.float32 if dtype is None else dtype
    return ops.asarray(np.tri(n_rows, n_cols, k), dtype=wanted, device=device, like=like)


@op
def diag(x: Array, /, *, k: int = 0) -> Array:
    """A matrix with the vector `x` on a diagonal, or the diagonal of a matrix `x`.

    Args:
        x: `(n,)` or `(rows, columns)`.
        k: the diagonal; above the main one if positive, below if negative.

    Returns:
        `(n + |k|, n + |k|)` with zeros elsewhere, or the diagonal; of the dtype of `x`.

    Raises:
        ShapeError: `x` has neither one nor two dimensions; `diagonal` takes batches.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.diag(np.asarray([1, 2]), k=1)
        array([[0, 1, 0],
               [0, 0, 2],
               [0, 0, 0]])
    """
    if len(x.shape) == 2:
        return ops.diagonal(x, offset=k)
    if len(x.shape) != 1:
        raise ShapeError(
            f"diag: x: got the shape {tuple(x.shape)}, expected one or two dimensions; "
            "diagonal takes batches of matrices"
        )
    size = x.shape[0] + abs(k)
    x = ops.pad(x, (0, k) if k > 0 else (-k, 0)) if k else x
    places = ops.asarray(np.eye(size, k=k, dtype=bool), like=x)
    return ops.where(places, ops.expand_dims(x, 1), ops.zeros((), dtype=x.dtype, like=x))


@op
def diagflat(x: Array, /, *, k: int = 0) -> Array:
    """A matrix with the elements of `x`, in C order, on a diagonal.

    Args:
        x: array of any shape, of n elements.
        k: the diagonal; above the main one if positive, below if negative.

    Returns:
        `(n + |k|, n + |k|)`, with zeros elsewhere, of the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.diagflat(np.asarray([[1], [2]]))
        array([[1, 0],
               [0, 2]])
    """
    return ops.diag(ops.reshape(x, (-1,)), k=k)


@op
def fill_diagonal(x: Array, value: Array, /) -> Array:
    """`x` with its main diagonal, the elements xᵢᵢ or xᵢ…ᵢ, replaced by `value`.

    Args:
        x: `(rows, columns)`, or more dimensions of equal length; it is not modified.
        value: a number, or `(n,)` for a diagonal of length n; cast to the dtype of `x`.

    Returns:
        a new array like `x`.

    Raises:
        ShapeError: `x` has fewer than two dimensions, or more with different lengths.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.fill_diagonal(np.zeros((2, 3)), 1.0)
        array([[1., 0., 0.],
               [0., 1., 0.]])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.numpy.fill_diagonal.html
    """
    shape = tuple(x.shape)
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ShapeError(
            f"fill_diagonal: x: got the shape {shape}, expected a matrix, or more dimensions, "
            "all of one length"
        )
    return ops.setitem(x, (np.arange(min(shape)),) * len(shape), value)


@op
def vander(x: Array, /, *, N: int | None = None, increasing: bool = False) -> Array:
    """The Vandermonde matrix with the rows xᵢᴺ⁻¹, …, xᵢ², xᵢ, 1.

    Args:
        x: `(*batch, n)`, any number.
        N: the number of powers; None means n.
        increasing: order the powers from 0 to N − 1.

    Returns:
        `(*batch, n, N)`, of the dtype of `x`, int64 for integers.

    Raises:
        ShapeError: `x` is a scalar, or `N` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.vander(np.asarray([2.0, 3.0]), N=3)
        array([[4., 2., 1.],
               [9., 3., 1.]])
    """
    if not len(x.shape):
        raise ShapeError("vander: x: got the shape (), expected at least one dimension")
    count = x.shape[-1] if N is None else N
    if count < 0:
        raise ShapeError(f"vander: N: got {count}, expected a number that is not negative")
    rows = (*x.shape, max(count - 1, 0))
    ones = ops.ones((*x.shape, min(count, 1)), dtype=x.dtype, like=x)
    factors = ops.concat([ones, ops.broadcast_to(ops.expand_dims(x, -1), rows)], axis=-1)
    powers = ops.cumulative_prod(factors, axis=-1)  # x ** 0 would have no derivative at 0
    return powers if increasing else ops.flip(powers, axis=-1)


@op
def block_diag(arrays: Sequence[Array], /) -> Array:
    """A block diagonal matrix of the given matrices.

    Args:
        arrays: a list or tuple of matrices; vectors count as rows, and the dtypes promote.

    Returns:
        `(sum of the rows, sum of the columns)`, of the promoted dtype.

    Raises:
        ShapeError: an array has more than two dimensions, or `arrays` is empty.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.block_diag([np.asarray([[1, 2]]), np.asarray([[3], [4]])])
        array([[1, 2, 0],
               [0, 0, 3],
               [0, 0, 4]])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.block_diag.html
    """
    if not arrays:
        raise ShapeError("block_diag: arrays: got none, expected at least one")
    for i, x in enumerate(arrays):
        if len(x.shape) > 2:
            raise ShapeError(
                f"block_diag: arrays: got the shape {tuple(x.shape)} at place {i}, "
                "expected at most two dimensions"
            )
    blocks = [ops.atleast_2d(x) for x in arrays]
    width, start, rows = sum(x.shape[1] for x in blocks), 0, []
    for x in blocks:
        behind = width - start - x.shape[1]
        rows.append(ops.pad(x, ((0, 0), (start, behind))))
        start += x.shape[1]
    return ops.concat(rows, axis=0)
