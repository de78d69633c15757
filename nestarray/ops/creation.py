"""New arrays from shapes, ranges and values.

``like=x`` makes the result an array of x's framework, on x's device; without it the
default backend decides (`nestarray.use_backend`). The dtype is never taken from `like`.
"""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.dispatch import Trait, op, primitive
from nestarray.errors import ArgumentError, DtypeError
from nestarray.numerics.axes import one_axis
from nestarray.typing import Array, DTypeLike, Shape, check_not_zero, is_symbolic_size

__all__ = [
    "arange",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "one_hot",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


@primitive(traits=Trait.CONSTANT)
def zeros(
    shape: int | Shape,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """An array of zeros.

    Args:
        shape: the shape; an integer n means (n,).
        dtype: None means float32.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        array of `shape` and `dtype`.

    Example:
        >>> import nestarray as na
        >>> na.zeros((2,))
        array([0., 0.], dtype=float32)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.zeros.html
    """


@primitive(traits=Trait.CONSTANT)
def ones(
    shape: int | Shape,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """An array of ones.

    Args:
        shape: the shape; an integer n means (n,).
        dtype: None means float32.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        array of `shape` and `dtype`.

    Example:
        >>> import nestarray as na
        >>> na.ones((2,), dtype=na.int32)
        array([1, 1], dtype=int32)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.ones.html
    """


@primitive(traits=Trait.CONSTANT)
def empty(
    shape: int | Shape,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """An uninitialized array, where the framework supports it; else zeros.

    Args:
        shape: the shape; an integer n means (n,).
        dtype: None means float32.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        array of `shape` and `dtype`.

    Example:
        >>> import nestarray as na
        >>> na.empty((2, 3)).shape
        (2, 3)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.empty.html
    """


@primitive
def full(
    shape: int | Shape,
    fill_value: complex,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """An array in which every element is `fill_value`.

    Args:
        shape: the shape; an integer n means (n,).
        fill_value: number or bool.
        dtype: None uses the dtype of `fill_value`: bool, int64, float32 or complex64.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        array of `shape` and `dtype`.

    Example:
        >>> import nestarray as na
        >>> na.full((2,), 7)
        array([7, 7])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.full.html
    """


@primitive(traits=Trait.ELEMENTWISE | Trait.HALF_SAFE | Trait.CONSTANT)
def zeros_like(x: Array, /, *, dtype: DTypeLike | None = None, device: Any = None) -> Array:
    """Zeros of the shape of `x`.

    Args:
        x: any array.
        dtype: None uses the dtype of `x`.
        device: None uses the device of `x`.

    Returns:
        array of the shape of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.zeros_like(np.asarray([1, 2]))
        array([0, 0])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.zeros_like.html
    """


@primitive(traits=Trait.ELEMENTWISE | Trait.HALF_SAFE | Trait.CONSTANT)
def ones_like(x: Array, /, *, dtype: DTypeLike | None = None, device: Any = None) -> Array:
    """Ones of the shape of `x`.

    Args:
        x: any array.
        dtype: None uses the dtype of `x`.
        device: None uses the device of `x`.

    Returns:
        array of the shape of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ones_like(np.asarray([1, 2]))
        array([1, 1])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.ones_like.html
    """


@primitive(traits=Trait.ELEMENTWISE | Trait.CONSTANT)
def empty_like(x: Array, /, *, dtype: DTypeLike | None = None, device: Any = None) -> Array:
    """`empty`, of the shape of `x`.

    Args:
        x: any array.
        dtype: None uses the dtype of `x`.
        device: None uses the device of `x`.

    Returns:
        array of the shape of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.empty_like(np.zeros((2, 3))).shape
        (2, 3)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.empty_like.html
    """


@primitive(traits=Trait.ELEMENTWISE)
def full_like(
    x: Array, /, fill_value: complex, *, dtype: DTypeLike | None = None, device: Any = None
) -> Array:
    """`fill_value` in the shape of `x`.

    Args:
        x: any array.
        fill_value: number or bool.
        dtype: None uses the dtype of `x`.
        device: None uses the device of `x`.

    Returns:
        array of the shape of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.full_like(np.zeros(2), 7)
        array([7., 7.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.full_like.html
    """


@op(traits=Trait.CONSTANT | Trait.NONNEGATIVE)
def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """The numbers start, start + step, … below `stop`.

    Args:
        start: the first number; if `stop` is omitted, the end of a range from 0.
        stop: the end, exclusive.
        step: the difference between consecutive numbers, not 0.
        dtype: None means int64 if all are integers, else float32.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        `(⌈(stop − start) / step⌉,)`.

    Example:
        >>> import nestarray as na
        >>> na.arange(1, 7, 2)
        array([1, 3, 5])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.arange.html
    """
    # The frameworks disagree on length and rounding of floating ranges, so one formula computes them.
    check_not_zero("arange", "step", step)
    first, end = (0, start) if stop is None else (start, stop)
    host = np.arange(first, end, step)
    return ops.asarray(host, dtype=_range_dtype(start, stop, step, dtype), device=device, like=like)


def _range_dtype(start: float, stop: float | None, step: float, dtype: Any) -> dtypes.DType:
    """The dtype of `arange`."""
    if dtype is not None:
        return dtypes.as_dtype(dtype)
    return dtypes.result_dtype(*(x for x in (start, stop, step) if x is not None))


@op
def linspace(
    start: Array | float,
    stop: Array | float,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    endpoint: bool = True,
    axis: int = 0,
    like: Array | None = None,
) -> Array:
    """`num` numbers at equal distances from `start` to `stop`.

    Args:
        start: number, or an array for a row of ranges at once.
        stop: number, or an array that broadcasts with `start`.
        num: the number of elements.
        dtype: None means float32 for numbers, else the floating dtype of the arrays.
        device: the device; None means the device of `like`, or the framework's default.
        endpoint: whether `stop` is the last number.
        axis: the position of the new axis in the result.
        like: an array whose framework and device to use.

    Returns:
        `(num, *shape)`, where `shape` is the broadcast shape of the ends; `num` is at `axis`.

    Raises:
        IndexingError: `axis` is out of range.

    Example:
        >>> import nestarray as na
        >>> na.linspace(0.0, 1.0, 3)
        array([0. , 0.5, 1. ], dtype=float32)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.linspace.html
    """
    arrays: list[Any] = [x for x in (start, stop) if hasattr(x, "dtype")]
    ndim = max((len(x.shape) for x in arrays), default=0)
    axis = one_axis(axis, ndim + 1, "linspace")
    if not arrays:
        host = np.linspace(start, stop, num, endpoint=endpoint)
        wanted = dtypes.result_dtype(start, stop, 1.0) if dtype is None else dtypes.as_dtype(dtype)
        return ops.asarray(host, dtype=wanted, device=device, like=like)
    inner = dtypes.result_dtype(start, stop, 1.0)
    host = np.linspace(0.0, 1.0, num, endpoint=endpoint).reshape(num, *[1] * ndim)
    weight = ops.asarray(host, dtype=inner, like=arrays[0])
    # Both ends are exact, unlike with start + weight · (stop − start).
    line = ops.add(ops.multiply(start, ops.subtract(1.0, weight)), ops.multiply(stop, weight))
    line = ops.moveaxis(line, 0, axis) if axis else line
    line = line if dtype is None else ops.astype(line, dtype)
    return line if device is None else ops.to_device(line, device)


@op(traits=Trait.CONSTANT)
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    device: Any = None,
    batch_shape: Shape = (),
    like: Array | None = None,
) -> Array:
    """A matrix with ones on a diagonal and zeros elsewhere; by default the identity.

    Args:
        n_rows: the number of rows.
        n_cols: the number of columns; None means `n_rows`.
        k: the diagonal; above the main one if positive, below if negative.
        dtype: None means float32.
        device: the device; None means the device of `like`, or the framework's default.
        batch_shape: leading axes, along which the matrix repeats.
        like: an array whose framework and device to use.

    Returns:
        `(*batch_shape, n_rows, n_cols)`.

    Example:
        >>> import nestarray as na
        >>> na.eye(2, k=1)
        array([[0., 1.],
               [0., 0.]], dtype=float32)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.eye.html
    """
    host = np.eye(n_rows, n_cols, k)
    host = np.broadcast_to(host, (*batch_shape, *host.shape))
    wanted = dtypes.float32 if dtype is None else dtype
    return ops.asarray(host, dtype=wanted, device=device, like=like)


@op
def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]:
    """Coordinate arrays of a grid from the coordinates along each axis.

    Args:
        *arrays: `(n_i,)` each, all of one dtype.
        indexing: ``"ij"`` puts the i-th coordinate on axis i, ``"xy"`` swaps the first two axes.

    Returns:
        one array per argument, each of the shape `(n_0, n_1, …)`, or `(n_1, n_0, …)` for "xy".

    Raises:
        ArgumentError: `indexing` is neither.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.meshgrid(np.asarray([1, 2]), np.asarray([3, 4, 5]))[0]
        array([[1, 2],
               [1, 2],
               [1, 2]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.meshgrid.html
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"meshgrid: indexing: got {indexing!r}, expected 'xy' or 'ij'")
    axes = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        axes[:2] = 1, 0
    sizes = [0] * len(arrays)
    for axis, x in zip(axes, arrays, strict=True):
        sizes[axis] = math.prod(x.shape)
    grid = []
    for axis, x in zip(axes, arrays, strict=True):
        column = [1] * len(arrays)
        column[axis] = sizes[axis]
        grid.append(ops.broadcast_to(ops.reshape(x, tuple(column)), tuple(sizes)))
    return tuple(grid)


def _triangle(x: Array, k: int) -> Array:
    """True on and below the k-th diagonal of the matrices in `x`."""
    rows, columns = ops.shape(x)[-2:]
    k = k if is_symbolic_size(k) else index(k)
    ends = ops.arange(k, k + rows, like=x)
    return ops.less_equal(ops.arange(columns, like=x), ops.expand_dims(ends, -1))


@op(traits=Trait.HALF_SAFE | Trait.LINEAR)
def tril(x: Array, /, *, k: int = 0) -> Array:
    """The lower triangle of each matrix, with zeros above.

    Args:
        x: `(*batch, rows, columns)`.
        k: the last diagonal to keep; above the main one if positive.

    Returns:
        array of the shape and the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.tril(np.ones((2, 2)))
        array([[1., 0.],
               [1., 1.]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.tril.html
    """
    return ops.where(_triangle(x, k), x, ops.zeros_like(x))


@op(traits=Trait.HALF_SAFE | Trait.LINEAR)
def triu(x: Array, /, *, k: int = 0) -> Array:
    """The upper triangle of each matrix, with zeros below.

    Args:
        x: `(*batch, rows, columns)`.
        k: the first diagonal to keep; above the main one if positive.

    Returns:
        array of the shape and the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.triu(np.ones((2, 2)))
        array([[1., 1.],
               [0., 1.]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.triu.html
    """
    return ops.where(_triangle(x, k - 1), ops.zeros_like(x), x)


@op
def one_hot(
    indices: Array, num_classes: int, *, axis: int = -1, dtype: DTypeLike | None = None
) -> Array:
    """1 at the index along a new axis, 0 elsewhere; an index out of range gives zeros.

    Args:
        indices: `(*shape)`, integer.
        num_classes: the length of the new axis.
        axis: the position of the new axis in the result.
        dtype: None means float32.

    Returns:
        `(*shape, num_classes)`, with the last axis at `axis`.

    Raises:
        DtypeError: `indices` are not integers.
        ArgumentError: `num_classes` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.one_hot(np.asarray([0, 2]), 3)
        array([[1., 0., 0.],
               [0., 0., 1.]], dtype=float32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.nn.one_hot.html
    """
    found = dtypes.dtype_of(indices)
    if not found.is_integer:
        raise DtypeError(f"one_hot: indices: got {found}, expected integers; cast with na.astype")
    if num_classes < 0:
        raise ArgumentError(f"one_hot: num_classes: got {num_classes}, expected at least 0")
    ndim = len(indices.shape) + 1
    place = axis + ndim if axis < 0 else axis
    shape = [1] * ndim
    shape[place] = num_classes
    wide = ops.expand_dims(ops.astype(indices, dtypes.int64, copy=False), axis=place)
    classes = ops.reshape(ops.arange(num_classes, dtype=dtypes.int64, like=indices), tuple(shape))
    wanted = dtypes.float32 if dtype is None else dtype
    return ops.astype(ops.equal(wide, classes), wanted)
