"""New arrays; without an array argument, on the default backend.

Upstream's ``device``, ``layout``, ``pin_memory``, ``memory_format`` and ``requires_grad`` are not
parameters.

Upstream: https://docs.pytorch.org/docs/stable/torch.html#creation-ops, one page a function:
https://docs.pytorch.org/docs/stable/generated/torch.zeros.html
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.torch.dims import as_size, is_size, sizes
from nestarray.frontends.torch.promotion import cast, fill_number, is_number
from nestarray.typing import Array, DTypeLike

__all__ = [
    "arange", "as_tensor", "bartlett_window", "blackman_window", "empty", "empty_like", "eye",
    "from_numpy", "full", "full_like", "hamming_window", "hann_window", "kaiser_window",
    "linspace", "logspace", "ones", "ones_like", "scalar_tensor", "tensor", "tril_indices",
    "triu_indices", "zeros", "zeros_like",
]  # fmt: skip


def default_dtype(value: Any) -> DType:
    """The dtype that torch gives an array of a Python number."""
    return dtypes.scalar_dtype(value)


def zeros(*size: Any, dtype: DTypeLike | None = None) -> Array:
    """Zeros, of float32 unless told otherwise."""
    return na.zeros(sizes(size), dtype=dtypes.float32 if dtype is None else dtype)


def ones(*size: Any, dtype: DTypeLike | None = None) -> Array:
    """Ones, of float32 unless told otherwise."""
    return na.ones(sizes(size), dtype=dtypes.float32 if dtype is None else dtype)


def empty(*size: Any, dtype: DTypeLike | None = None) -> Array:
    """An array with undefined elements; zeros here."""
    return zeros(*size, dtype=dtype)


def full(size: Sequence[int], fill_value: float, *, dtype: DTypeLike | None = None) -> Array:
    """An array filled with `fill_value`; `dtype` defaults to the dtype of `fill_value`."""
    if _is_array(fill_value):
        dtype = dtypes.dtype_of(fill_value) if dtype is None else dtype
        return na.broadcast_to(cast(fill_value, dtype), sizes((size,)))
    dtype = default_dtype(fill_value) if dtype is None else dtype
    return na.full(sizes((size,)), fill_number("full", fill_value, dtype), dtype=dtype)


def scalar_tensor(s: float, *, dtype: DTypeLike | None = None) -> Array:
    """A 0-d array of a number, by default float32."""
    return full((), s, dtype=dtypes.float32 if dtype is None else dtype)


def tensor(data: Any, *, dtype: DTypeLike | None = None) -> Array:
    """An array of a number, of nested lists of numbers, or of an array."""
    if _is_array(data):
        return data if dtype is None else cast(data, dtype)
    return na.asarray(data, dtype=_dtype_of_data(data) if dtype is None else dtype)


def from_numpy(ndarray: Any) -> Array:
    """The array of NumPy as one of the default backend."""
    return na.asarray(ndarray, dtype=dtypes.dtype_of(ndarray))


def as_tensor(data: Any, dtype: DTypeLike | None = None) -> Array:
    """`tensor`; arrays are immutable, so copies make no difference."""
    return tensor(data, dtype=dtype)


def _dtype_of_data(data: Any) -> DType:
    while isinstance(data, (list, tuple)):
        kinds = [_dtype_of_data(item) for item in data]
        return max(
            kinds,
            key=lambda d: ("bool", "int", "float", "complex").index(d.kind),
            default=dtypes.float32,
        )
    return dtypes.dtype_of(data)


def _is_array(x: Any) -> bool:
    return hasattr(x, "dtype")


# -- like another array --------------------------------------------------------------------


def zeros_like(input: Array, *, dtype: DTypeLike | None = None) -> Array:
    """Zeros of the shape of `input`."""
    return na.zeros_like(input, dtype=_own(input, dtype))


def ones_like(input: Array, *, dtype: DTypeLike | None = None) -> Array:
    """Ones of the shape of `input`."""
    return na.ones_like(input, dtype=_own(input, dtype))


def empty_like(input: Array, *, dtype: DTypeLike | None = None) -> Array:
    """An array of the shape of `input` with undefined elements; zeros here."""
    return na.zeros_like(input, dtype=_own(input, dtype))


def full_like(input: Array, fill_value: float, *, dtype: DTypeLike | None = None) -> Array:
    """`fill_value` everywhere, in the shape and dtype of `input`."""
    wanted = _own(input, dtype)
    return na.full_like(input, fill_number("full_like", fill_value, wanted), dtype=wanted)


def _own(x: Array, dtype: DTypeLike | None) -> DType:
    return dtypes.dtype_of(x) if dtype is None else dtypes.as_dtype(dtype)


# -- ranges --------------------------------------------------------------------------------


def arange(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """start, start + step … below `end`; int64 if all are integers, else float32."""
    span = (end - start) if end is not None else start
    if span * step < 0:
        raise ArgumentError(
            f"arange: step: got {step} from {start} to {end}, expected the sign of the way"
        )
    if end is None:
        start, end = 0, start
    numbers = (start, end, step)
    integral = all(map(is_size, numbers))
    wanted = (
        (dtypes.int64 if integral else dtypes.float32) if dtype is None else dtypes.as_dtype(dtype)
    )
    if step == 0:
        raise ArgumentError("arange: step: got 0, expected another number")
    if wanted is dtypes.int64 and all(is_number(n) for n in numbers):
        # truncated first, as upstream does
        start, end, step = map(as_size, numbers)
    if integral or wanted is dtypes.int64:
        return cast(na.arange(start, end, step, dtype=dtypes.int64), wanted)
    count = builtins.max(math.ceil((end - start) / step), 0)
    if wanted.is_inexact:
        places = na.arange(count, dtype=wanted)
        return na.add(na.multiply(places, float(step)), float(start))
    # Integers from floating bounds are truncated first, as upstream does.
    first, by = int(start), int(step)
    return cast(na.add(na.multiply(na.arange(count, dtype=dtypes.int64), by), first), wanted)


def range_(
    start: float = 0, end: float = 0, step: float = 1, *, dtype: DTypeLike | None = None
) -> Array:
    """`arange` with its end; torch.range."""
    return arange(start, end + step / 2, step, dtype=dtypes.float32 if dtype is None else dtype)


def linspace(
    start: float | Array, end: float | Array, steps: int, *, dtype: DTypeLike | None = None
) -> Array:
    """`steps` numbers at equal distances from `start` to `end`, both included."""
    if any(len(getattr(x, "shape", ())) for x in (start, end)):
        raise ShapeError("linspace: start, end: got dimensions, expected numbers or 0-d arrays")
    wanted = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
    if not wanted.is_inexact:
        return na.astype(_even_steps(start, end, steps), wanted)
    first, last = (x if is_number(x) else cast(x, wanted) for x in (start, end))
    return na.linspace(first, last, steps, dtype=wanted)


def _even_steps(start: float | Array, end: float | Array, steps: int) -> Array:
    """`linspace` between integers in float64, computed from both ends, as upstream."""
    first, last = (
        na.full((), int(x), dtype=dtypes.float64)
        if is_number(x)
        else na.trunc(cast(x, dtypes.float64))
        for x in (start, end)
    )
    place = na.arange(steps, dtype=dtypes.float64, like=first)
    step = na.divide(na.subtract(last, first), float(builtins.max(steps - 1, 1)))
    rising = na.add(first, na.multiply(step, place))
    falling = na.subtract(last, na.multiply(step, na.subtract(float(steps - 1), place)))
    return na.where(na.less(place, float(steps // 2)), rising, falling) if steps > 1 else rising


def logspace(
    start: float, end: float, steps: int, base: float = 10.0, *, dtype: DTypeLike | None = None
) -> Array:
    """The powers of `base` with exponents from `linspace`."""
    if any(len(getattr(x, "shape", ())) for x in (start, end)):
        raise ShapeError("logspace: start, end: got dimensions, expected numbers or 0-d arrays")
    wanted = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
    if wanted.is_inexact:
        return na.pow(base, linspace(start, end, steps, dtype=wanted))
    return na.astype(na.pow(base, _even_steps(start, end, steps)), wanted)


def eye(n: int, m: int | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """The identity matrix."""
    return na.eye(n, n if m is None else m, dtype=dtypes.float32 if dtype is None else dtype)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: DTypeLike = dtypes.int64) -> Array:
    """The indices of the lower triangle, rows and columns: `(2, n)`."""
    places = [(i, j) for i in range(row) for j in range(col) if j - i <= offset]
    return _index_pairs(places, dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: DTypeLike = dtypes.int64) -> Array:
    """The indices of the upper triangle, rows and columns: `(2, n)`."""
    places = [(i, j) for i in range(row) for j in range(col) if j - i >= offset]
    return _index_pairs(places, dtype)


def _index_pairs(places: list[tuple[int, int]], dtype: DTypeLike) -> Array:
    if not places:
        return na.zeros((2, 0), dtype=dtype)
    return na.asarray([list(row) for row in zip(*places)], dtype=dtype)


# -- windows -------------------------------------------------------------------------------


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: DTypeLike | None = None
) -> Array:
    """½ − ½ cos(2πn / N)."""
    return na.hanning(window_length, periodic=periodic, dtype=dtype)


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: DTypeLike | None = None
) -> Array:
    """1 − |2n / N − 1|."""
    return na.bartlett(window_length, periodic=periodic, dtype=dtype)


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: DTypeLike | None = None
) -> Array:
    """0.42 − 0.5 cos(2πn / N) + 0.08 cos(4πn / N)."""
    return na.blackman(window_length, periodic=periodic, dtype=dtype)


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """I₀(β √(1 − (2n / N − 1)²)) / I₀(β)."""
    return na.kaiser(window_length, periodic=periodic, beta=beta, dtype=dtype)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """α − β cos(2πn / N)."""
    wanted = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
    if window_length == 1:
        return na.ones((1,), dtype=wanted)
    extent = window_length if periodic else window_length - 1
    angles = na.multiply(
        na.arange(window_length, dtype=wanted), 2 * math.pi / builtins.max(extent, 1)
    )
    return na.subtract(alpha, na.multiply(na.cos(angles), beta))
