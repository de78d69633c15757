"""Distances between points, in the norm of order p."""

from __future__ import annotations

import math

import numpy as np

from nestarray import ops
from nestarray.dispatch import op
from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.ops.factorizations import single, single_pair
from nestarray.typing import Array

__all__ = ["cdist", "pairwise_distance", "pdist"]


@op
@single_pair
def cdist(x1: Array, x2: Array, /, *, p: float = 2.0) -> Array:
    """The distances between all pairs, dᵢⱼ = (Σₖ |x1ᵢₖ − x2ⱼₖ|ᵖ)^(1/p).

    It is computed from the differences, which are exact for close points. For p = 2 it computes
    them in blocks, and the derivative does not need them.

    Args:
        x1: `(*batch, m, k)`, real; m points.
        x2: `(*batch, n, k)`; the batch axes broadcast, and the dtypes promote.
        p: the order, from 0 to ∞: 0 counts the coordinates that differ, ∞ gives the largest
            difference.

    Returns:
        `(*batch, m, n)`; float32 for integers. The derivative at distance 0 is 0.

    Raises:
        ArgumentError: `p` is negative.
        DtypeError: the points are complex.
        ShapeError: an array has fewer than two dimensions, or the numbers of coordinates differ.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cdist(np.asarray([[0.0, 0.0]]), np.asarray([[3.0, 4.0], [0.0, 1.0]]))
        array([[5., 1.]])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.spatial.distance.cdist.html
    """
    _check_order("cdist", p)
    for name, x in (("x1", x1), ("x2", x2)):
        _check_points("cdist", name, x, "(*batch, points, coordinates)", len(x.shape) >= 2)
    if x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(
            f"cdist: got points of {x1.shape[-1]} and of {x2.shape[-1]} coordinates, "
            "expected equally many"
        )
    if p == 2:
        return _root(_squares(x1, x2))
    return _length(ops.subtract(ops.expand_dims(x1, -2), ops.expand_dims(x2, -3)), p)


@op
@single
def pdist(x: Array, /, *, p: float = 2.0) -> Array:
    """The distances between each point and all later ones: the upper triangle of `cdist`, row by row.

    Args:
        x: `(n, k)`, real; n points.
        p: the order, from 0 to ∞, as for `cdist`.

    Returns:
        `(n (n − 1) / 2,)`; float32 for integers. The derivative at distance 0 is 0.

    Raises:
        ArgumentError: `p` is negative.
        DtypeError: the points are complex.
        ShapeError: `x` is not two-dimensional.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.pdist(np.asarray([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])).round(3)
        array([5.   , 1.   , 4.243])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.spatial.distance.pdist.html
    """
    _check_order("pdist", p)
    _check_points("pdist", "x", x, "(points, coordinates)", len(x.shape) == 2)
    count = x.shape[0]
    rows, columns = np.triu_indices(count, 1)
    if p == 2:
        places = ops.asarray(rows * count + columns, like=x)
        return ops.take(ops.reshape(ops.cdist(x, x), (-1,)), places, axis=0)
    first, second = (ops.asarray(side, like=x) for side in (rows, columns))
    return _length(ops.subtract(ops.take(x, first, axis=0), ops.take(x, second, axis=0)), p)


@op
@single_pair
def pairwise_distance(
    x1: Array, x2: Array, /, *, p: float = 2.0, eps: float = 1e-6, keepdims: bool = False
) -> Array:
    """The distances between corresponding points, (Σₖ |x1ₖ − x2ₖ + eps|ᵖ)^(1/p).

    Args:
        x1: `(*batch, k)`, real.
        x2: `(*batch, k)`; the arrays broadcast, and the dtypes promote.
        p: the order, from 0 to ∞, as for `cdist`.
        eps: added to each difference, which keeps equal points from a distance of 0.
        keepdims: keep the last axis, with length 1.

    Returns:
        `(*batch,)`; float32 for integers.

    Raises:
        ArgumentError: `p` is negative.
        DtypeError: the points are complex.
        ShapeError: an array is a scalar.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.pairwise_distance(np.asarray([[3.0, 4.0]]), np.zeros(2), eps=0.0)
        array([5.])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pairwise_distance.html
    """
    _check_order("pairwise_distance", p)
    for name, x in (("x1", x1), ("x2", x2)):
        _check_points("pairwise_distance", name, x, "(*batch, coordinates)", len(x.shape) > 0)
    difference = ops.subtract(x1, x2)
    return _length(difference, p, eps=eps, keepdims=keepdims)


def _length(difference: Array, p: float, *, eps: float = 0.0, keepdims: bool = False) -> Array:
    """The norm over the last axis, with derivative 0 at 0 instead of NaN."""
    if eps:
        difference = ops.add(difference, eps)
    if p == 0:
        return ops.vector_norm(difference, axis=-1, keepdims=keepdims, ord=0)
    size = ops.abs(difference)
    if p == 2:
        total = ops.sum(ops.multiply(size, size), axis=-1, keepdims=keepdims)
    else:
        # |x|ᵖ of p ≤ 1 has no derivative at 0 either
        zeros = ops.equal(size, 0.0)
        power = ops.where(zeros, 1.0, size)
        power = power if p in (1, float("inf")) else ops.pow(power, float(p))
        power = ops.where(zeros, 0.0, power)
        # the maximum over zero coordinates is undefined
        is_max = p == float("inf") and size.shape[-1] > 0
        total = (ops.max if is_max else ops.sum)(power, axis=-1, keepdims=keepdims)
    if p in (1, float("inf")):
        return total
    return _root(total, p)


def _root(total: Array, p: float = 2) -> Array:
    """total^(1/p), with derivative 0 at 0 instead of ∞."""
    zero = ops.equal(total, 0.0)
    total = ops.where(zero, 1.0, total)
    root = ops.sqrt(total) if p == 2 else ops.pow(total, 1.0 / p)
    return ops.where(zero, 0.0, root)


#: The number of differences in memory at once.
_BLOCK = 2**24


def _squares(x1: Array, x2: Array) -> Array:
    """Σₖ (x1ᵢₖ − x2ⱼₖ)², from the differences of some rows at a time.

    The derivative uses |x1ᵢ|² + |x2ⱼ|² − 2 x1ᵢ·x2ⱼ, which needs no differences; for the value this
    formula would cancel between close points.
    """
    still1, still2 = ops.stop_gradient(x1), ops.stop_gradient(x2)
    blocks = [slice(None)]
    if all(isinstance(n, int) for n in (*x1.shape, *x2.shape)):  # not open sizes
        batch = ops.broadcast_shapes(tuple(x1.shape[:-2]), tuple(x2.shape[:-2]))
        row = max(math.prod((*batch, *x2.shape[-2:])), 1)
        step = max(_BLOCK // row, 1)
        blocks = [slice(i, i + step) for i in range(0, max(x1.shape[-2], 1), step)]
    parts = []
    for block in blocks:
        rows = ops.getitem(still1, (..., block, slice(None)))
        difference = ops.subtract(ops.expand_dims(rows, -2), ops.expand_dims(still2, -3))
        parts.append(ops.sum(ops.multiply(difference, difference), axis=-1))
    value = parts[0] if len(parts) == 1 else ops.concat(parts, axis=-2)
    x1, x2 = (ops.where(ops.isfinite(x), x, 0.0) for x in (x1, x2))
    # relative to their mean, which reduces cancellation
    is_empty = x2.shape[-2] == 0
    origin = 0.0 if is_empty else ops.mean(ops.stop_gradient(x2), axis=-2, keepdims=True)
    x1, x2 = ops.subtract(x1, origin), ops.subtract(x2, origin)
    square1 = ops.sum(ops.multiply(x1, x1), axis=-1, keepdims=True)
    square2 = ops.expand_dims(ops.sum(ops.multiply(x2, x2), axis=-1), -2)
    product = ops.matmul(x1, ops.matrix_transpose(x2))
    formula = ops.subtract(ops.add(square1, square2), ops.multiply(product, 2.0))
    nothing = ops.subtract(formula, ops.stop_gradient(formula))
    # NaN if the squares overflow
    return ops.add(value, ops.where(ops.isfinite(nothing), nothing, 0.0))


def _check_order(name: str, p: float) -> None:
    if isinstance(p, bool) or not isinstance(p, (int, float)) or not p >= 0:
        raise ArgumentError(f"{name}: p: got {p!r}, expected a number from 0 to inf")


def _check_points(name: str, argument: str, x: Array, expected: str, fits: bool) -> None:
    if not fits:
        raise ShapeError(f"{name}: {argument}: got the shape {tuple(x.shape)}, expected {expected}")
    if dtype_of(x).kind == "complex":
        raise DtypeError(
            f"{name}: {argument}: got {dtype_of(x).name}, expected real numbers; "
            "stack real and imaginary parts as coordinates"
        )
