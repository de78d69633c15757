"""New arrays, on the default backend unless an argument is an array.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html#module-jax.numpy
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import nestarray as na
from nestarray import backends, dtypes
from nestarray.errors import ShapeError
from nestarray.frontends.jax.promotion import (
    as_array,
    as_dtype,
    cast,
    dtype_of,
    inexact_dtype,
    is_number,
    promote,
    result_type,
)
from nestarray.typing import Array, DTypeLike

__all__ = [
    "arange", "array", "asarray", "copy", "diag", "diag_indices", "diag_indices_from", "diagflat",
    "empty", "empty_like", "eye", "from_dlpack", "frombuffer", "fromfunction",
    "fromstring", "full", "full_like", "geomspace", "identity", "indices", "linspace", "logspace",
    "mask_indices", "meshgrid", "ones", "ones_like", "tri", "tril", "tril_indices",
    "tril_indices_from", "triu", "triu_indices", "triu_indices_from", "vander", "zeros",
    "zeros_like",
]  # fmt: skip

# -- from data -----------------------------------------------------------------------------------


def array(
    object: Any,
    dtype: DTypeLike | None = None,
    copy: builtins.bool = True,
    order: str | None = "K",
    ndmin: int = 0,
) -> Array:
    """An array of numbers, nested lists of numbers and arrays, or of another array."""
    found = _from_data(object, dtype)
    rank = len(na.shape(found))
    return na.reshape(found, (1,) * (ndmin - rank) + na.shape(found)) if rank < ndmin else found


def asarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    copy: builtins.bool | None = None,
) -> Array:
    """An array of numbers, nested lists of numbers and arrays, or of another array."""
    return _from_data(a, dtype)


def _from_data(data: Any, dtype: DTypeLike | None) -> Array:
    if isinstance(data, (list, tuple)):
        leaves = list(_leaves(data))
        wanted = as_dtype(dtype) if dtype is not None else result_type(*(leaves or [1.0]))
        if builtins.all(map(is_number, leaves)):
            return na.asarray(data, dtype=wanted)
        return na.stack([_from_data(x, wanted) for x in data])
    wanted = None if dtype is None else as_dtype(dtype)
    if is_number(data):
        return na.asarray(data, dtype=wanted or dtype_of(data))
    return cast(na.asarray(data), wanted)


def _leaves(data: Any) -> Iterable[Any]:
    if not isinstance(data, (list, tuple)):
        yield data
        return
    for item in data:
        yield from _leaves(item)


def copy(a: Any, order: str | None = None) -> Array:
    """`a`: arrays are immutable."""
    return _from_data(a, None)


def from_dlpack(x: Any, /, *, copy: builtins.bool | None = None) -> Array:
    """An array that shares the memory of an object that exports DLPack."""
    return na.from_dlpack(x, copy=copy)


def frombuffer(buffer: Any, dtype: DTypeLike = float, count: int = -1, offset: int = 0) -> Array:
    """The numbers in a buffer of bytes."""
    return na.asarray(np.frombuffer(buffer, _host_dtype(dtype), count, offset).copy())


def fromstring(string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str) -> Array:
    """The numbers in a text."""
    return na.asarray(np.fromstring(string, _host_dtype(dtype), count, sep=sep))


def _host_dtype(dtype: DTypeLike) -> Any:
    return backends.core("numpy").native_dtype(as_dtype(dtype))


def fromfunction(
    function: Callable[..., Any],
    shape: Sequence[int],
    *,
    dtype: DTypeLike = float,
    **kwargs: Any,
) -> Array:
    """A function of the coordinates along each axis."""
    return function(*indices(shape, dtype), **kwargs)


# -- one value -----------------------------------------------------------------------------------


def zeros(shape: Any, dtype: DTypeLike | None = None) -> Array:
    """Zeros, of float32 by default."""
    return na.zeros(_sizes(shape), dtype=as_dtype(float if dtype is None else dtype))


def ones(shape: Any, dtype: DTypeLike | None = None) -> Array:
    """Ones, of float32 by default."""
    return na.ones(_sizes(shape), dtype=as_dtype(float if dtype is None else dtype))


def empty(shape: Any, dtype: DTypeLike | None = None) -> Array:
    """Zeros, as upstream."""
    return zeros(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: DTypeLike | None = None) -> Array:
    """`fill_value` everywhere, broadcast to `shape`."""
    wanted = dtype_of(fill_value) if dtype is None else as_dtype(dtype)
    if is_number(fill_value):
        return na.full(_sizes(shape), fill_value, dtype=wanted)
    return na.broadcast_to(cast(_from_data(fill_value, None), wanted), _sizes(shape))


def zeros_like(a: Array, dtype: DTypeLike | None = None, shape: Any = None) -> Array:
    """Zeros, in the shape and dtype of `a` by default."""
    return full_like(a, 0, dtype, shape)


def ones_like(a: Array, dtype: DTypeLike | None = None, shape: Any = None) -> Array:
    """Ones, in the shape and dtype of `a` by default."""
    return full_like(a, 1, dtype, shape)


def empty_like(prototype: Array, dtype: DTypeLike | None = None, shape: Any = None) -> Array:
    """Zeros, as upstream."""
    return full_like(prototype, 0, dtype, shape)


def full_like(
    a: Array, fill_value: Any, dtype: DTypeLike | None = None, shape: Any = None
) -> Array:
    """`fill_value` everywhere, in the shape and dtype of `a` by default."""
    a = as_array(a)
    sizes = na.shape(a) if shape is None else _sizes(shape)
    wanted = dtypes.dtype_of(a) if dtype is None else as_dtype(dtype)
    if is_number(fill_value):
        return na.full(sizes, fill_value, dtype=wanted, like=a)
    return na.broadcast_to(cast(fill_value, wanted), sizes)


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if hasattr(shape, "__iter__") else (shape,)


# -- ranges --------------------------------------------------------------------------------------


def arange(start: Any, stop: Any = None, step: Any = None, dtype: DTypeLike | None = None) -> Array:
    """start, start + step … below `stop`."""
    # a size that a recorder leaves open promotes as an integer
    numbers = [
        x if type(x) is x.__class__ else x.__class__() for x in (start, stop, step) if x is not None
    ]
    wanted = result_type(*numbers) if dtype is None else as_dtype(dtype)
    if stop is None:
        start, stop = 0, start
    return na.arange(start, stop, 1 if step is None else step, dtype=wanted)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: builtins.bool = True,
    retstep: builtins.bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Any:
    """`num` numbers at equal distances from `start` to `stop`; with `retstep` also the distance."""
    computed = inexact_dtype(start, stop)
    wanted = computed if dtype is None else as_dtype(dtype)
    first, last = (x if is_number(x) else cast(x, computed) for x in (start, stop))
    found = na.linspace(first, last, num, dtype=computed, endpoint=endpoint, axis=axis)
    if not wanted.is_inexact:
        found = na.floor(found)
    found = cast(found, wanted)
    if not retstep:
        return found
    steps = num - 1 if endpoint else num
    if steps < 1:
        return found, cast(as_array(math.nan), computed)
    return found, na.divide(cast(na.subtract(last, first), computed), steps)


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: builtins.bool = True,
    base: Any = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """The powers of `base` with exponents from `linspace`."""
    computed = inexact_dtype(start, stop)
    exponents = linspace(start, stop, num, endpoint, False, computed, axis)
    return cast(na.pow(base, exponents), computed if dtype is None else dtype)


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: builtins.bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """`num` numbers at equal ratios from `start` to `stop`."""
    computed = inexact_dtype(start, stop)
    first, last = (x if is_number(x) else cast(x, computed) for x in (start, stop))
    found = na.geomspace(first, last, num, dtype=computed, endpoint=endpoint, axis=axis)
    return cast(found, computed if dtype is None else dtype)


def meshgrid(
    *xi: Array,
    copy: builtins.bool = True,
    sparse: builtins.bool = False,
    indexing: str = "xy",
) -> list[Array]:
    """Coordinate arrays of a grid; with `sparse`, each has length 1 along the other axes."""
    vectors = [na.reshape(as_array(x), (-1,)) for x in xi]
    if not sparse:
        return list(na.meshgrid(*vectors, indexing=indexing)) if vectors else []
    rank = len(vectors)
    order = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else list(range(rank))
    return [
        na.reshape(x, [-1 if axis == order[i] else 1 for axis in range(rank)])
        for i, x in enumerate(vectors)
    ]


def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: builtins.bool = False
) -> Any:
    """The coordinates of each element of a grid, int32 by default."""
    wanted = as_dtype(int if dtype is None else dtype)
    if not dimensions:
        return () if sparse else na.zeros((0,), dtype=wanted)
    return na.indices(tuple(dimensions), dtype=wanted, sparse=sparse)


# -- matrices ------------------------------------------------------------------------------------


def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Ones on the k-th diagonal."""
    return na.eye(N, M, k=k, dtype=as_dtype(float if dtype is None else dtype))


def identity(n: int, dtype: DTypeLike | None = None) -> Array:
    """The identity matrix."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Ones at and below the k-th diagonal."""
    return na.tri(N, M, k=k, dtype=as_dtype(float if dtype is None else dtype))


def tril(m: Array, k: int = 0) -> Array:
    """The elements at and below the k-th diagonal."""
    return na.tril(m, k=k)


def triu(m: Array, k: int = 0) -> Array:
    """The elements at and above the k-th diagonal."""
    return na.triu(m, k=k)


def diag(v: Array, k: int = 0) -> Array:
    """A diagonal matrix of a vector, or the diagonal of a matrix."""
    return na.diag(v, k=k)


def diagflat(v: Array, k: int = 0) -> Array:
    """A diagonal matrix of all elements."""
    return na.diagflat(as_array(v), k=k)


def vander(x: Array, N: int | None = None, increasing: builtins.bool = False) -> Array:
    """The powers of x, in columns."""
    (x,) = promote(x)
    count = na.shape(x)[0] if N is None else N
    powers = na.arange(count, dtype=dtypes.int32, like=x)
    powers = powers if increasing else na.flip(powers)
    return cast(na.pow(na.expand_dims(x, -1), powers), dtypes.dtype_of(x))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """The indices of the elements at and below the k-th diagonal."""
    return mask_indices_of(n, m, lambda row, column: column - row <= k)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """The indices of the elements at and above the k-th diagonal."""
    return mask_indices_of(n, m, lambda row, column: column - row >= k)


def mask_indices_of(
    rows: int, columns: int | None, is_chosen: Callable[[int, int], builtins.bool]
) -> tuple[Array, Array]:
    """The indices of chosen elements of a matrix."""
    columns = rows if columns is None else columns
    pairs = [(i, j) for i in range(rows) for j in range(columns) if is_chosen(i, j)]
    host = np.asarray(pairs, dtype="int32").reshape(-1, 2)
    return na.asarray(host[:, 0].copy()), na.asarray(host[:, 1].copy())


def tril_indices_from(arr: Array, k: int = 0) -> tuple[Array, Array]:
    """The indices of the elements of a matrix at and below the k-th diagonal."""
    rows, columns = _matrix_shape(arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Array, k: int = 0) -> tuple[Array, Array]:
    """The indices of the elements of a matrix at and above the k-th diagonal."""
    rows, columns = _matrix_shape(arr)
    return triu_indices(rows, k, columns)


def _matrix_shape(arr: Array) -> tuple[int, int]:
    if len(na.shape(arr)) != 2:
        raise ShapeError(f"arr: got shape {na.shape(arr)}, expected a matrix")
    return na.shape(arr)


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The indices of a diagonal."""
    return (na.arange(n, dtype=as_dtype(int)),) * ndim


def diag_indices_from(arr: Array) -> tuple[Array, ...]:
    """The indices of the diagonal of an array with axes of one length."""
    shape = na.shape(arr)
    if len(shape) < 2 or len({*shape}) > 1:
        raise ShapeError(f"diag_indices_from: arr: got shape {shape}, expected axes of one length")
    return diag_indices(shape[0], len(shape))


def mask_indices(
    n: int, mask_func: Callable[..., Array], k: Any = 0, *, size: int | None = None
) -> tuple[Array, Array]:
    """The indices that a function such as `triu` keeps of an n × n matrix."""
    chosen = na.not_equal(mask_func(na.ones((n, n), dtype=dtypes.float32), k), 0)
    rows, columns = na.nonzero(chosen, size=size)
    return cast(rows, int), cast(columns, int)
