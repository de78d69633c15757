"""Arrays as sets: the distinct elements of one, and membership."""

from __future__ import annotations

import numpy as np

from nestarray.backends.results import UniqueAllResult, UniqueCountsResult, UniqueInverseResult
from nestarray.dispatch import op
from nestarray.dtypes import dtype_of, result_dtype
from nestarray.typing import Array

__all__ = [
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


@op
def isin(x1: Array, x2: Array, /, *, invert: bool = False) -> Array:
    """Where the elements of `x1` are among those of `x2`; NaN is not among any.

    Args:
        x1: array of any shape, or a number.
        x2: array of any shape, or a number; the dtypes promote.
        invert: True says where they are not.

    Returns:
        bool, of the shape of `x1`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.isin(np.asarray([1, 2, 3]), np.asarray([3, 1]))
        array([ True, False,  True])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.isin.html
    """
    from nestarray import ops

    if hasattr(x1, "shape"):
        x1 = ops.expand_dims(x1, -1)
    if hasattr(x2, "shape"):
        x2 = ops.reshape(x2, (-1,))
    among = ops.equal(x1, x2)
    among = ops.any(among, axis=-1) if len(among.shape) else among
    return ops.bitwise_invert(among) if invert else among


@op
def unique_all(x: Array, /) -> UniqueAllResult:
    """The distinct elements of `x` in ascending order, and where they come.

    Their number depends on values, which `jax.jit` cannot compile. Each NaN is distinct
    from all others.

    Args:
        x: any array; complex numbers go by their real, then by their imaginary part.

    Returns:
        a named tuple: ``values``, `(n,)`; ``indices``, `(n,)`, the first place of each in
        the flattened `x`; ``inverse_indices``, of the shape of `x`, with
        ``values[inverse_indices]`` equal to `x`; ``counts``, `(n,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> unique = na.unique_all(np.asarray([3, 1, 3]))
        >>> unique.values, unique.counts, unique.inverse_indices
        (array([1, 3]), array([1, 2]), array([1, 0, 1]))

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.unique_all.html
    """
    from nestarray import ops

    flat = ops.reshape(x, (-1,))
    order = _order(flat)
    ordered = ops.take(flat, order, axis=0)
    is_new = ops.not_equal(
        ops.getitem(ordered, slice(1, None)), ops.getitem(ordered, slice(None, -1))
    )
    first = ops.asarray(np.ones(min(flat.shape[0], 1), np.bool_), like=x)
    is_new = ops.concat([first, is_new])
    (starts,) = ops.nonzero(is_new)
    end = ops.full((1,), flat.shape[0], dtype=starts.dtype, like=x)
    number = ops.subtract(ops.cumulative_sum(is_new), 1)  # of the value at each place of the order
    inverse = ops.scatter(ops.zeros_like(number), order, number, axis=0)
    return UniqueAllResult(
        ops.take(ordered, starts, axis=0),
        ops.take(order, starts, axis=0),
        ops.reshape(inverse, x.shape),
        ops.diff(starts, append=end),
    )


def _order(flat: Array) -> Array:
    """The places of elements in ascending order; complex ones by real, then by imaginary part."""
    from nestarray import ops

    if dtype_of(flat).kind != "complex":
        return ops.argsort(flat, stable=True)
    order = ops.argsort(ops.imag(flat), stable=True)
    real = ops.take(ops.real(flat), order, axis=0)
    return ops.take(order, ops.argsort(real, stable=True), axis=0)


@op
def unique_counts(x: Array, /) -> UniqueCountsResult:
    """The distinct elements of `x` in ascending order, and how often each comes.

    Args:
        x: any array; see `unique_all`.

    Returns:
        a named tuple of ``values`` and ``counts``.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.unique_counts(np.asarray([3, 1, 3])).counts
        array([1, 2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.unique_counts.html
    """
    from nestarray import ops

    unique = ops.unique_all(x)
    return UniqueCountsResult(unique.values, unique.counts)


@op
def unique_inverse(x: Array, /) -> UniqueInverseResult:
    """The distinct elements of `x` in ascending order, and which of them stands where.

    Args:
        x: any array; see `unique_all`.

    Returns:
        a named tuple of ``values`` and ``inverse_indices``.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.unique_inverse(np.asarray([3, 1, 3])).inverse_indices
        array([1, 0, 1])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.unique_inverse.html
    """
    from nestarray import ops

    unique = ops.unique_all(x)
    return UniqueInverseResult(unique.values, unique.inverse_indices)


@op
def unique_values(x: Array, /) -> Array:
    """The distinct elements of `x` in ascending order.

    Args:
        x: any array; see `unique_all`.

    Returns:
        `(n,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.unique_values(np.asarray([3, 1, 3]))
        array([1, 3])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.unique_values.html
    """
    from nestarray import ops

    return ops.unique_all(x).values


@op
def union1d(x1: Array, x2: Array, /) -> Array:
    """The distinct elements of both arrays in ascending order.

    Their number depends on values, which `jax.jit` cannot compile. Each NaN is distinct
    from all others.

    Args:
        x1: real or bool, of any shape; it is flattened.
        x2: real or bool, of any shape; the dtypes promote.

    Returns:
        `(n,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.union1d(np.asarray([3, 1, 3]), np.asarray([2, 3]))
        array([1, 2, 3])
    """
    from nestarray import ops

    return ops.unique_values(ops.concat([x1, x2], axis=None))


@op
def intersect1d(x1: Array, x2: Array, /) -> Array:
    """The distinct elements that both arrays have, in ascending order.

    Their number depends on values, which `jax.jit` cannot compile. Each NaN is distinct
    from all others.

    Args:
        x1: real or bool, of any shape; it is flattened.
        x2: real or bool, of any shape; the dtypes promote.

    Returns:
        `(n,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.intersect1d(np.asarray([3, 1, 3]), np.asarray([2, 3]))
        array([3])
    """
    from nestarray import ops

    dtype = result_dtype(x1, x2)
    x1, x2 = (ops.astype(x, dtype, copy=False) for x in (x1, x2))
    distinct = ops.unique_values(x1)
    return ops.getitem(distinct, ops.isin(distinct, x2))


@op
def setdiff1d(x1: Array, x2: Array, /) -> Array:
    """The distinct elements of `x1` that `x2` does not have, in ascending order.

    Their number depends on values, which `jax.jit` cannot compile. Each NaN is distinct
    from all others.

    Args:
        x1: real or bool, of any shape; it is flattened.
        x2: real or bool, of any shape.

    Returns:
        `(n,)`, of the dtype of `x1`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.setdiff1d(np.asarray([3, 1, 3]), np.asarray([2, 3]))
        array([1])
    """
    from nestarray import ops

    distinct = ops.unique_values(x1)
    return ops.getitem(distinct, ops.isin(distinct, x2, invert=True))


@op
def setxor1d(x1: Array, x2: Array, /) -> Array:
    """The distinct elements that one of the arrays has and the other has not, in ascending order.

    Their number depends on values, which `jax.jit` cannot compile. Each NaN is distinct
    from all others.

    Args:
        x1: real or bool, of any shape; it is flattened.
        x2: real or bool, of any shape; the dtypes promote.

    Returns:
        `(n,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.setxor1d(np.asarray([3, 1, 3]), np.asarray([2, 3]))
        array([1, 2])
    """
    from nestarray import ops

    ours, theirs = ops.setdiff1d(x1, x2), ops.setdiff1d(x2, x1)
    return ops.sort(ops.concat([ours, theirs]))
