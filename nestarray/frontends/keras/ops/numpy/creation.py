"""New arrays, on the default backend unless an argument is an array.

Upstream: https://keras.io/api/ops/numpy/
"""

from __future__ import annotations

import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ShapeError
from nestarray.frontends.keras import config
from nestarray.frontends.keras.promotion import as_array, as_dtype, cast, is_number, result_type
from nestarray.typing import Array, DTypeLike, Shape

__all__ = [
    "arange", "array", "bartlett", "blackman", "diag", "diagflat", "empty", "empty_like", "eye",
    "full", "full_like", "geomspace", "hamming", "hanning", "identity", "kaiser", "linspace",
    "logspace", "meshgrid", "ones", "ones_like", "tri", "tril", "triu", "vander", "zeros",
    "zeros_like",
]  # fmt: skip


def array(x: Any, dtype: DTypeLike | None = None) -> Array:
    """An array of numbers, nested lists of numbers and arrays, or of another array."""
    return as_array(x, dtype)


# -- one value -----------------------------------------------------------------------------------


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if hasattr(shape, "__iter__") else (shape,)


def zeros(shape: Shape, dtype: DTypeLike | None = None) -> Array:
    """Zeros."""
    return na.zeros(_sizes(shape), dtype=as_dtype(dtype))


def ones(shape: Shape, dtype: DTypeLike | None = None) -> Array:
    """Ones."""
    return na.ones(_sizes(shape), dtype=as_dtype(dtype))


def empty(shape: Shape, dtype: DTypeLike | None = None) -> Array:
    """Zeros, as upstream."""
    return zeros(shape, dtype)


def full(shape: Shape, fill_value: Any, dtype: DTypeLike | None = None) -> Array:
    """`fill_value` everywhere, broadcast to `shape`; in `floatx()` unless a dtype is given."""
    return na.broadcast_to(as_array(fill_value, as_dtype(dtype)), _sizes(shape))


def zeros_like(x: Array, dtype: DTypeLike | None = None) -> Array:
    """Zeros, in the shape and dtype of `x` by default."""
    return full_like(x, 0, dtype)


def ones_like(x: Array, dtype: DTypeLike | None = None) -> Array:
    """Ones, in the shape and dtype of `x` by default."""
    return full_like(x, 1, dtype)


def empty_like(x: Array, dtype: DTypeLike | None = None) -> Array:
    """Zeros, as upstream."""
    return full_like(x, 0, dtype)


def full_like(x: Array, fill_value: Any, dtype: DTypeLike | None = None) -> Array:
    """`fill_value` everywhere, in the shape and dtype of `x` by default."""
    x = as_array(x)
    wanted = dtypes.dtype_of(x) if dtype is None else as_dtype(dtype)
    if is_number(fill_value):
        return na.full_like(x, fill_value, dtype=wanted)
    return na.broadcast_to(as_array(fill_value, wanted, x), na.shape(x))


# -- ranges --------------------------------------------------------------------------------------


def arange(start: Any, stop: Any = None, step: Any = None, dtype: DTypeLike | None = None) -> Array:
    """start, start + step … below `stop`."""
    numbers = [x for x in (start, stop, step) if x is not None]
    wanted = result_type(*numbers) if dtype is None else as_dtype(dtype)
    if stop is None:
        start, stop = 0, start
    return na.arange(start, stop, 1 if step is None else step, dtype=wanted)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Any:
    """`num` numbers at equal distances from `start` to `stop`; with `retstep` also the distance."""
    wanted = result_type(start, stop, float) if dtype is None else as_dtype(dtype)
    first, last = as_array(start, wanted), as_array(stop, wanted)
    computed = wanted if wanted.is_inexact else dtypes.float32
    first, last = cast(first, computed), cast(last, computed)
    found = na.linspace(first, last, num, dtype=computed, endpoint=endpoint, axis=axis)
    found = cast(found if wanted.is_inexact else na.floor(found), wanted)
    if not retstep:
        return found
    steps = num - 1 if endpoint else num
    if steps < 1:
        return found, na.asarray(math.nan, dtype=dtypes.float32)
    return found, na.divide(na.subtract(last, first), steps)


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """The powers of `base` with exponents from `linspace`."""
    exponents = linspace(start, stop, num, endpoint, False, dtype, axis)
    return na.pow(as_array(base, dtypes.dtype_of(exponents), exponents), exponents)


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """`num` numbers at equal ratios from `start` to `stop`, in `floatx()` by default."""
    computed = as_dtype(dtype)
    first, last = as_array(start, computed), as_array(stop, computed)
    found = logspace(
        na.log10(na.abs(first)), na.log10(na.abs(last)), num, endpoint, 10, dtype, axis
    )
    return na.multiply(found, na.sign(first))


def meshgrid(*x: Array, indexing: str = "xy") -> list[Array]:
    """Coordinate arrays of a grid."""
    return list(na.meshgrid(*[na.reshape(as_array(a), (-1,)) for a in x], indexing=indexing))


# -- matrices ------------------------------------------------------------------------------------


def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Ones on the k-th diagonal."""
    return na.eye(N, M, k=k, dtype=as_dtype(dtype))


def identity(n: int, dtype: DTypeLike | None = None) -> Array:
    """The identity matrix."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Ones at and below the k-th diagonal."""
    return na.tri(N, M, k=k, dtype=as_dtype(dtype))


def tril(x: Array, k: int = 0) -> Array:
    """The elements at and below the k-th diagonal."""
    return na.tril(as_array(x), k=k)


def triu(x: Array, k: int = 0) -> Array:
    """The elements at and above the k-th diagonal."""
    return na.triu(as_array(x), k=k)


def diag(x: Array, k: int = 0) -> Array:
    """A diagonal matrix of a vector, or the diagonal of a matrix.

    Raises:
        ShapeError: `x` is neither.
    """
    x = as_array(x)
    if len(na.shape(x)) not in (1, 2):
        raise ShapeError(f"diag: x: got the shape {na.shape(x)}, expected a vector or a matrix")
    return na.diag(x, k=k)


def diagflat(x: Array, k: int = 0) -> Array:
    """A diagonal matrix of all elements."""
    return na.diagflat(as_array(x), k=k)


def vander(x: Array, N: int | None = None, increasing: bool = False) -> Array:
    """The powers of x, in columns; of integers computed in float32."""
    x = as_array(x)
    count = na.shape(x)[0] if N is None else N
    computed = result_type(x, dtypes.float32)
    powers = na.arange(count, dtype=computed, like=x)
    powers = powers if increasing else na.flip(powers)
    found = na.pow(na.expand_dims(cast(x, computed), -1), powers)
    return cast(found, dtypes.dtype_of(x))


# -- windows -------------------------------------------------------------------------------------


def bartlett(x: int) -> Array:
    """The triangle window of length `x`."""
    return na.bartlett(int(x), dtype=config.default_float())


def blackman(x: int) -> Array:
    """The Blackman window of length `x`."""
    return na.blackman(int(x), dtype=config.default_float())


def hamming(x: int) -> Array:
    """The Hamming window of length `x`, float32."""
    return na.hamming(int(x), dtype=dtypes.float32)


def hanning(x: int) -> Array:
    """The Hann window of length `x`, float32."""
    return na.hanning(int(x), dtype=dtypes.float32)


def kaiser(x: int, beta: float) -> Array:
    """The Kaiser window of length `x`, float32."""
    return na.kaiser(int(x), beta=float(beta), dtype=dtypes.float32)
