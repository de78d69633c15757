"""Geometric ranges, and the coordinates of grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.dispatch import op
from nestarray.errors import ArgumentError
from nestarray.numerics.axes import one_axis
from nestarray.typing import Array, DTypeLike, Shape

__all__ = ["geomspace", "indices", "logspace", "mgrid", "ogrid"]


@op
def logspace(
    start: Array | float,
    stop: Array | float,
    /,
    num: int,
    *,
    base: float = 10.0,
    dtype: DTypeLike | None = None,
    device: Any = None,
    endpoint: bool = True,
    axis: int = 0,
    like: Array | None = None,
) -> Array:
    """`num` powers of `base` with equally spaced exponents from `start` to `stop`.

    Args:
        start: the first exponent: a number, or an array for several ranges.
        stop: the last exponent, or an array that broadcasts with `start`.
        num: the number of elements.
        base: the base of the powers.
        dtype: None means float32 for numbers, else the floating dtype of the arrays.
        device: the device; None means the device of `like`, or the framework's default.
        endpoint: whether `stop` is the last exponent.
        axis: where the new axis goes, counted in the result.
        like: an array whose framework and device to use.

    Returns:
        `(num, *shape)`, where `shape` is the broadcast shape of the ends; `num` is at `axis`.

    Raises:
        IndexingError: the result has no such axis.

    Example:
        >>> import nestarray as na
        >>> na.logspace(0, 2, 3)
        array([  1.,  10., 100.], dtype=float32)
    """
    axis = one_axis(axis, _ndim(start, stop) + 1, "logspace")
    if not hasattr(start, "dtype") and not hasattr(stop, "dtype"):
        host = np.logspace(start, stop, num, endpoint=endpoint, base=base)
        wanted = dtypes.float32 if dtype is None else dtype
        return ops.asarray(host, dtype=wanted, device=device, like=like)
    exponents = ops.linspace(start, stop, num, endpoint=endpoint, axis=axis, device=device)
    powers = ops.pow(base, exponents)
    return powers if dtype is None else ops.astype(powers, dtype)


@op
def geomspace(
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
    """`num` numbers from `start` to `stop` in geometric progression.

    Args:
        start: the first number, or an array for several ranges; not 0.
        stop: the last number, of the same sign, or an array that broadcasts with `start`.
        num: the number of elements.
        dtype: None means float32 for numbers, else the floating dtype of the arrays.
        device: the device; None means the device of `like`, or the framework's default.
        endpoint: whether `stop` is the last number.
        axis: where the new axis goes, counted in the result.
        like: an array whose framework and device to use.

    Returns:
        `(num, *shape)`, where `shape` is the broadcast shape of the ends; `num` is at `axis`.

    Raises:
        IndexingError: the result has no such axis.
        ArgumentError: both ends are numbers, and one is 0 or their signs differ.

    Example:
        >>> import nestarray as na
        >>> na.geomspace(1, 8, 4)
        array([1., 2., 4., 8.], dtype=float32)
    """
    axis = one_axis(axis, _ndim(start, stop) + 1, "geomspace")
    if not hasattr(start, "dtype") and not hasattr(stop, "dtype"):
        if not start * stop > 0:
            raise ArgumentError(
                f"geomspace: got {start} to {stop}, expected nonzero ends of one sign"
            )
        host = np.geomspace(start, stop, num, endpoint=endpoint)
        wanted = dtypes.float32 if dtype is None else dtype
        return ops.asarray(host, dtype=wanted, device=device, like=like)
    array = start if hasattr(start, "dtype") else stop
    inner = dtypes.result_dtype(start, stop, 1.0)
    first, last = (
        ops.astype(x, inner, copy=False)
        if hasattr(x, "dtype")
        else ops.full((), x, dtype=inner, like=array)
        for x in (start, stop)
    )
    low, high = ops.log(ops.abs(first)), ops.log(ops.abs(last))
    size = ops.exp(ops.linspace(low, high, num, endpoint=endpoint))
    line = ops.multiply(ops.sign(first), size)
    line = ops.moveaxis(line, 0, axis) if axis else line
    line = line if dtype is None else ops.astype(line, dtype)
    return line if device is None else ops.to_device(line, device)


def _ndim(*ends: Array | float) -> int:
    return max(len(getattr(x, "shape", ())) for x in ends)


@op
def indices(
    dimensions: Shape,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    sparse: bool = False,
    like: Array | None = None,
) -> Array | tuple[Array, ...]:
    """The coordinates of every element of an array.

    Args:
        dimensions: the shape of the array, of d axes.
        dtype: None means int64.
        device: the device; None means the device of `like`, or the framework's default.
        sparse: return each coordinate along its axis only; the arrays broadcast to the grid.
        like: an array whose framework and device to use.

    Returns:
        `(d, *dimensions)`; if `sparse`, a tuple of d arrays with d axes each.

    Example:
        >>> import nestarray as na
        >>> na.indices((2, 3))[1]
        array([[0, 1, 2],
               [0, 1, 2]])
    """
    wanted = dtypes.int64 if dtype is None else dtype
    host = np.indices(tuple(dimensions), sparse=sparse)
    if isinstance(host, tuple):
        return tuple(ops.asarray(x, dtype=wanted, device=device, like=like) for x in host)
    return ops.asarray(host, dtype=wanted, device=device, like=like)


class _Grid:
    """Makes a grid from slices: the object `mgrid`, or `ogrid`."""

    def __init__(self, name: str, host: Any, doc: str) -> None:
        self._name, self._host, self.__doc__ = name, host, doc

    def __repr__(self) -> str:
        return f"na.{self._name}"

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Any:
        if not all(isinstance(part, slice) for part in (key if isinstance(key, tuple) else (key,))):
            raise ArgumentError(
                f"{self._name}: got {key!r}, expected slices with ends, as in "
                f"{self._name}[0:2, 0:1:5j]"
            )
        host = self._host[key]
        if isinstance(host, tuple):
            return tuple(_on_default_backend(x) for x in host)
        return _on_default_backend(host)


def _on_default_backend(x: np.ndarray) -> Array:
    return ops.asarray(x, dtype=dtypes.float32 if x.dtype.kind == "f" else dtypes.int64)


mgrid = _Grid(
    "mgrid",
    np.mgrid,
    """The coordinates of a grid, from slices: ``na.mgrid[0:2, 0:1:5j]``.

    A slice is start, stop and step; an imaginary step is the number of points, the last of
    them at stop. The arrays are of the default backend, int64 or float32.

    Example:
        >>> import nestarray as na
        >>> na.mgrid[0:2, 0:3].shape
        (2, 2, 3)
    """,
)
ogrid = _Grid(
    "ogrid",
    np.ogrid,
    """As `mgrid`, but each coordinate along its own axis only; they broadcast to the grid.

    Example:
        >>> import nestarray as na
        >>> [x.shape for x in na.ogrid[0:2, 0:3]]
        [(2, 1), (1, 3)]
    """,
)
