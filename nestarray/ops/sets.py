"""Sets: unique elements, set operations and membership."""

from __future__ import annotations

import math

import numpy as np

from nestarray import ops
from nestarray.dispatch import Trait, op
from nestarray.dtypes import DType, dtype_of, result_dtype
from nestarray.numerics.results import UniqueAllResult, UniqueCountsResult, UniqueInverseResult
from nestarray.typing import Array, check_range

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


@op(traits=Trait.CONSTANT)
def isin(x1: Array, x2: Array, /, *, invert: bool = False) -> Array:
    """Whether each element of `x1` is an element of `x2`; NaN never is.

    Args:
        x1: array of any shape, or a number.
        x2: array of any shape, or a number; the dtypes promote.
        invert: True negates the result.

    Returns:
        bool, of the shape of `x1`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.isin(np.asarray([1, 2, 3]), np.asarray([3, 1]))
        array([ True, False,  True])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.isin.html
    """
    if hasattr(x1, "shape"):
        x1 = ops.expand_dims(x1, -1)
    if hasattr(x2, "shape"):
        x2 = ops.reshape(x2, (-1,))
        if hasattr(x1, "shape") and _has_order(result_dtype(x1, x2), x2.shape[0]):
            x1, x2 = (ops.astype(x, result_dtype(x1, x2), copy=False) for x in (x1, x2))
            x2 = ops.sort(x2)
            last = x2.shape[0] - 1
            x2 = ops.take(x2, ops.minimum(ops.searchsorted(x2, x1), last), axis=0)
    among = ops.equal(x1, x2)
    among = ops.any(among, axis=-1) if len(among.shape) else among
    return ops.bitwise_invert(among) if invert else among


def _has_order(dtype: DType, count: int | None) -> bool:
    """Whether a binary search finds elements; for few it takes longer."""
    return dtype.kind not in ("bool", "complex") and count is not None and count > 8


@op
def unique_all(
    x: Array, /, *, size: int | None = None, fill_value: float | None = None
) -> UniqueAllResult:
    """The unique elements of `x` in ascending order, with indices and counts.

    Their number depends on values; compiled code requires a `size`. Each NaN is distinct from all
    others.

    Args:
        x: any array; complex numbers are sorted by real, then by imaginary part.
        size: the number of values to return, the smallest first; None: all.
        fill_value: the padding if there are fewer than `size`; None: the first value, or 0 for an
            empty array.

    Returns:
        a named tuple: ``values``, `(n,)`; ``indices``, `(n,)`, the first index of each in the
        flattened `x`; ``inverse_indices``, of the shape of `x`, with ``values[inverse_indices]``
        equal to `x`, unless `size` omits values; ``counts``, `(n,)`. With a `size` all have this
        length; the padding has the first index and the count 0.

    Raises:
        ArgumentError: `size` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> unique = na.unique_all(np.asarray([3, 1, 3]))
        >>> unique.values, unique.counts, unique.inverse_indices
        (array([1, 3]), array([1, 2]), array([1, 0, 1]))

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.unique_all.html
    """
    flat = ops.reshape(x, (-1,))
    order = _order(flat)
    ordered = ops.take(flat, order, axis=0)
    is_new = ops.not_equal(
        ops.getitem(ordered, slice(1, None)), ops.getitem(ordered, slice(None, -1))
    )
    first = ops.asarray(np.ones(min(flat.shape[0], 1), np.bool_), like=x)
    is_new = ops.concat([first, is_new])
    number = ops.subtract(
        ops.cumulative_sum(is_new), 1
    )  # the index of the unique value at each sorted position
    inverse = ops.scatter(ops.zeros_like(number), order, number, axis=0)
    end = flat.shape[0]
    if size is None:
        (starts,) = ops.nonzero(is_new)
        values, indices = ops.take(ordered, starts, axis=0), ops.take(order, starts, axis=0)
        starts = ops.concat([starts, ops.full((1,), end, dtype=starts.dtype, like=x)])
    else:
        check_range("unique_all", "size", size, 0)
        values = _chosen(ordered, is_new, size, fill_value)
        indices = _chosen(order, is_new, size, None)
        (starts,) = ops.nonzero(is_new, size=size + 1, fill_value=end)
    return UniqueAllResult(values, indices, ops.reshape(inverse, ops.shape(x)), ops.diff(starts))


def _chosen(values: Array, is_chosen: Array, size: int | None, fill_value: float | None) -> Array:
    """The values that a mask chooses, or `size` of them with `fill_value` behind the last."""
    if size is None:
        return ops.getitem(values, is_chosen)
    count, dtype = values.shape[0], values.dtype
    if fill_value is not None or count == 0:
        fill = ops.full((1,), fill_value or 0, dtype=dtype, like=values)
    else:
        fill = ops.take(values, ops.argmax(is_chosen, keepdims=True), axis=0)
        fill = ops.where(ops.any(is_chosen), fill, ops.zeros_like(fill))
    (places,) = ops.nonzero(is_chosen, size=size, fill_value=count)
    return ops.take(ops.concat([values, fill]), places, axis=0)


def _distinct(x: Array, size: int | None) -> tuple[Array, Array]:
    """The distinct elements, and which of them there are: with a `size`, room for all of `x`."""
    unique = ops.unique_all(x, size=None if size is None else math.prod(ops.shape(x)))
    return unique.values, ops.greater(unique.counts, 0)


def _order(flat: Array) -> Array:
    """The places of elements in ascending order; complex ones by real, then by imaginary part."""
    if dtype_of(flat).kind != "complex":
        return ops.argsort(flat, stable=True)
    order = ops.argsort(ops.imag(flat), stable=True)
    real = ops.take(ops.real(flat), order, axis=0)
    return ops.take(order, ops.argsort(real, stable=True), axis=0)


@op
def unique_counts(
    x: Array, /, *, size: int | None = None, fill_value: float | None = None
) -> UniqueCountsResult:
    """The unique elements of `x` in ascending order, and their counts.

    Args:
        x: any array; see `unique_all`.
        size: as for `unique_all`; required in compiled code.
        fill_value: as for `unique_all`.

    Returns:
        a named tuple of ``values`` and ``counts``.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.unique_counts(np.asarray([3, 1, 3])).counts
        array([1, 2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.unique_counts.html
    """
    unique = ops.unique_all(x, size=size, fill_value=fill_value)
    return UniqueCountsResult(unique.values, unique.counts)


@op
def unique_inverse(
    x: Array, /, *, size: int | None = None, fill_value: float | None = None
) -> UniqueInverseResult:
    """The unique elements of `x` in ascending order, and the index of each element of `x` among them.

    Args:
        x: any array; see `unique_all`.
        size: as for `unique_all`; required in compiled code.
        fill_value: as for `unique_all`.

    Returns:
        a named tuple of ``values`` and ``inverse_indices``.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.unique_inverse(np.asarray([3, 1, 3])).inverse_indices
        array([1, 0, 1])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.unique_inverse.html
    """
    unique = ops.unique_all(x, size=size, fill_value=fill_value)
    return UniqueInverseResult(unique.values, unique.inverse_indices)


@op
def unique_values(
    x: Array, /, *, size: int | None = None, fill_value: float | None = None
) -> Array:
    """The unique elements of `x` in ascending order.

    Args:
        x: any array; see `unique_all`.
        size: as for `unique_all`; required in compiled code.
        fill_value: as for `unique_all`.

    Returns:
        `(n,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.unique_values(np.asarray([3, 1, 3]))
        array([1, 3])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.unique_values.html
    """
    return ops.unique_all(x, size=size, fill_value=fill_value).values


@op
def union1d(
    x1: Array,
    x2: Array,
    /,
    *,
    size: int | None = None,
    fill_value: float | None = None,
) -> Array:
    """The union: the unique elements of both arrays in ascending order.

    Their number depends on values, which compiled code cannot know: give it a `size`. Each
    NaN is distinct from all others.

    Args:
        x1: real or bool, of any shape; it is flattened.
        x2: real or bool, of any shape; the dtypes promote.
        size: the number of values to return, the smallest ones; None: as many as there are.
        fill_value: what stands behind the last value where there are fewer than `size`; None:
            the first one, or 0 where there is none.

    Returns:
        `(n,)` or `(size,)`.

    Raises:
        ArgumentError: `size` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.union1d(np.asarray([3, 1, 3]), np.asarray([2, 3]))
        array([1, 2, 3])
    """
    return ops.unique_values(ops.concat([x1, x2], axis=None), size=size, fill_value=fill_value)


@op
def intersect1d(
    x1: Array,
    x2: Array,
    /,
    *,
    size: int | None = None,
    fill_value: float | None = None,
) -> Array:
    """The intersection: the unique common elements of both arrays in ascending order.

    Their number depends on values, which compiled code cannot know: give it a `size`. Each
    NaN is distinct from all others.

    Args:
        x1: real or bool, of any shape; it is flattened.
        x2: real or bool, of any shape; the dtypes promote.
        size: the number of values to return, the smallest ones; None: as many as there are.
        fill_value: what stands behind the last value where there are fewer than `size`; None:
            the first one, or 0 where there is none.

    Returns:
        `(n,)` or `(size,)`.

    Raises:
        ArgumentError: `size` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.intersect1d(np.asarray([3, 1, 3]), np.asarray([2, 3]))
        array([3])
    """
    dtype = result_dtype(x1, x2)
    x1, x2 = (ops.astype(x, dtype, copy=False) for x in (x1, x2))
    values, is_there = _distinct(x1, size)
    is_chosen = ops.logical_and(is_there, ops.isin(values, x2))
    return _chosen(values, is_chosen, size, fill_value)


@op
def setdiff1d(
    x1: Array,
    x2: Array,
    /,
    *,
    size: int | None = None,
    fill_value: float | None = None,
) -> Array:
    """The set difference: the unique elements of `x1` that are not in `x2`, in ascending order.

    Their number depends on values, which compiled code cannot know: give it a `size`. Each
    NaN is distinct from all others.

    Args:
        x1: real or bool, of any shape; it is flattened.
        x2: real or bool, of any shape.
        size: the number of values to return, the smallest ones; None: as many as there are.
        fill_value: what stands behind the last value where there are fewer than `size`; None:
            the first one, or 0 where there is none.

    Returns:
        `(n,)` or `(size,)`, of the dtype of `x1`.

    Raises:
        ArgumentError: `size` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.setdiff1d(np.asarray([3, 1, 3]), np.asarray([2, 3]))
        array([1])
    """
    values, is_there = _distinct(x1, size)
    is_chosen = ops.logical_and(is_there, ops.isin(values, x2, invert=True))
    return _chosen(values, is_chosen, size, fill_value)


@op
def setxor1d(
    x1: Array,
    x2: Array,
    /,
    *,
    size: int | None = None,
    fill_value: float | None = None,
) -> Array:
    """The symmetric difference: the unique elements of exactly one array, in ascending order.

    Their number depends on values, which compiled code cannot know: give it a `size`. Each
    NaN is distinct from all others.

    Args:
        x1: real or bool, of any shape; it is flattened.
        x2: real or bool, of any shape; the dtypes promote.
        size: the number of values to return, the smallest ones; None: as many as there are.
        fill_value: what stands behind the last value where there are fewer than `size`; None:
            the first one, or 0 where there is none.

    Returns:
        `(n,)` or `(size,)`.

    Raises:
        ArgumentError: `size` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.setxor1d(np.asarray([3, 1, 3]), np.asarray([2, 3]))
        array([1, 2])
    """
    values, is_there = _distinct(ops.concat([x1, x2], axis=None), size)
    is_common = ops.logical_and(ops.isin(values, x1), ops.isin(values, x2))
    is_chosen = ops.logical_and(is_there, ops.logical_not(is_common))
    return _chosen(values, is_chosen, size, fill_value)
