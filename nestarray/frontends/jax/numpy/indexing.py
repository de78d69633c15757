"""Elements at computed positions. Positions out of range read a fill value, and writes drop them.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html. Functions that write return a new array.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.frontends.jax.in_place import expect_functional, refuse_in_place
from nestarray.frontends.jax.numpy.reduction import limit
from nestarray.frontends.jax.promotion import (
    as_array,
    as_dtype,
    as_index,
    cast,
    cast_all,
    is_number,
    normal_axis,
    promote,
    result_type,
)
from nestarray.typing import Array, DTypeLike

__all__ = [
    "argwhere", "choose", "compress", "extract", "fill_diagonal", "flatnonzero", "nonzero",
    "piecewise", "place", "put", "put_along_axis", "ravel_multi_index", "select", "take",
    "take_along_axis", "unravel_index", "where",
]  # fmt: skip

# -- reads ---------------------------------------------------------------------------------------


def take(
    a: Array,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    unique_indices: builtins.bool = False,
    indices_are_sorted: builtins.bool = False,
    fill_value: Any = None,
) -> Array:
    """The elements at positions along an axis.

    `mode`: "fill" (the default) gives NaN or `fill_value` for positions out of range, "clip" the
    nearest element, "wrap" the position modulo the length.
    """
    refuse_in_place("take", out)
    a = as_array(a)
    if type(indices) is int and axis is not None:
        axis = normal_axis(axis, len(na.shape(a)))
        size = na.shape(a)[axis]
        if isinstance(size, int) and -size <= indices < size and mode != "clip":
            return na.getitem(a, (*[builtins.slice(None)] * axis, indices))
    indices = _index(indices, a)
    if axis is None:
        a, axis = na.reshape(a, (-1,)), 0
    size = na.shape(a)[axis]
    places, is_inside = _within(indices, size, mode)
    if is_inside is not None and size == 0:
        sizes = list(na.shape(a))
        sizes[axis : axis + 1 or None] = na.shape(indices)
        return na.full(sizes, _fill(dtypes.dtype_of(a), fill_value), dtype=na.dtype_of(a), like=a)
    axis = normal_axis(axis, len(na.shape(a)))
    found = na.take(a, na.reshape(places, (-1,)), axis=axis)
    sizes = na.shape(a)
    found = na.reshape(found, (*sizes[:axis], *na.shape(indices), *sizes[axis + 1 :]))
    if is_inside is None:
        return found
    is_inside = na.reshape(is_inside, (*na.shape(indices), *[1] * (len(sizes) - axis - 1)))
    return na.where(is_inside, found, na.full_like(found, _fill(dtypes.dtype_of(a), fill_value)))


def take_along_axis(
    arr: Array,
    indices: Array,
    axis: int | None = -1,
    mode: str | None = None,
    fill_value: Any = None,
) -> Array:
    """The elements at positions along an axis, one position for each slice."""
    arr = as_array(arr)
    if axis is None:
        arr, axis, indices = na.reshape(arr, (-1,)), 0, na.reshape(indices, (-1,))
    rank = len(na.shape(arr))
    axis = normal_axis(axis, rank)
    sizes = [
        1 if i == axis else max(m, n)
        for i, (m, n) in enumerate(zip(na.shape(arr), na.shape(indices)))
    ]
    target = lambda x: [n if i == axis else sizes[i] for i, n in enumerate(na.shape(x))]  # noqa: E731
    arr, indices = na.broadcast_to(arr, target(arr)), na.broadcast_to(indices, target(indices))
    size = na.shape(arr)[axis]
    if mode == "clip":  # from the end first, which `take` does not
        indices = na.where(na.less(indices, 0), na.add(indices, size), indices)
    places, is_inside = _within(indices, size, mode)
    found = na.take_along_axis(arr, places, axis=axis)
    if is_inside is None:
        return found
    return na.where(is_inside, found, na.full_like(found, _fill(dtypes.dtype_of(arr), fill_value)))


def _index(indices: Any, like: Array) -> Array:
    is_data = isinstance(indices, (int, list, tuple))
    return na.asarray(indices, dtype=dtypes.int64, like=like) if is_data else indices


def _within(places: Array, size: int, mode: str | None) -> tuple[Array, Array | None]:
    """(positions within an axis, where they were in range); None for modes that do not ask."""
    if dtypes.dtype_of(places).kind == "uint":
        places = na.astype(places, dtypes.int64)
    if mode == "wrap":
        return na.remainder(places, max(size, 1)), None
    if mode == "clip":
        return na.clip(places, 0, max(size - 1, 0)), None
    if mode not in (None, "fill", "drop", "promise_in_bounds"):
        raise ArgumentError(f"mode: got {mode!r}, expected 'fill', 'clip', 'wrap' or 'drop'")
    places = na.where(na.less(places, 0), na.add(places, size), places)
    is_inside = na.logical_and(na.greater_equal(places, 0), na.less(places, size))
    return na.where(is_inside, places, na.zeros_like(places)), is_inside


def _fill(dtype: dtypes.DType, fill_value: Any) -> Any:
    """The default fill value: NaN, the least signed or the largest unsigned integer."""
    if fill_value is not None:
        return fill_value
    if dtype.is_inexact:
        return math.nan
    return True if dtype is dtypes.bool else limit(dtype, 1 if dtype.kind == "uint" else -1)


def choose(a: Array, choices: Any, out: None = None, mode: str = "raise") -> Array:
    """The element of ``choices[a]`` at each place; `mode` is "wrap" or "clip"."""
    refuse_in_place("choose", out)
    if mode == "raise":
        raise ArgumentError("choose: mode: got 'raise', expected 'wrap' or 'clip': values decide")
    arrays = promote(*(na.unstack(choices) if hasattr(choices, "shape") else choices))
    a, *arrays = na.broadcast_arrays(a, *arrays)
    places, _ = _within(a, len(arrays), mode)
    return na.squeeze(
        na.take_along_axis(na.stack(arrays), na.expand_dims(places, 0), axis=0), axis=0
    )


def compress(
    condition: Array,
    a: Array,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: Any = 0,
    out: None = None,
) -> Array:
    """The slices for which a condition holds; exactly `size`, filled up, if it is given."""
    refuse_in_place("compress", out)
    a = as_array(a)
    condition = na.astype(_truth(condition, a), dtypes.bool)
    if axis is None:
        a, axis = na.reshape(a, (-1,)), 0
    length = min(na.shape(condition)[0], na.shape(a)[axis])
    (places,) = na.nonzero(
        na.getitem(condition, slice(length)), size=size, fill_value=na.shape(a)[axis]
    )
    return take(a, places, axis, mode="fill", fill_value=fill_value)


def _truth(condition: Any, like: Array) -> Array:
    return na.asarray(condition, like=like) if isinstance(condition, (list, tuple)) else condition


def extract(condition: Array, arr: Array, *, size: int | None = None, fill_value: Any = 0) -> Array:
    """The elements for which a condition holds."""
    condition = na.reshape(condition, (-1,))
    return compress(condition, na.reshape(arr, (-1,)), size=size, fill_value=fill_value)


# -- conditions ----------------------------------------------------------------------------------


def where(
    condition: Array,
    /,
    x: Array | None = None,
    y: Array | None = None,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """`x` where a condition holds, `y` elsewhere; without them, `nonzero`."""
    if x is None or y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    condition = cast(condition, dtypes.bool)
    return na.where(condition, *_branches(condition, x, y))


def _branches(condition: Array, x: Any, y: Any) -> tuple[Any, ...]:
    if is_number(x) and is_number(y):
        dtype = result_type(x, y)
        return tuple([na.full((), v, dtype=dtype, like=condition) for v in (x, y)])
    return cast_all(result_type(x, y), x, y)


def select(condlist: Sequence[Array], choicelist: Sequence[Array], default: Any = 0) -> Array:
    """The choice of the first condition that holds, at each place."""
    *choices, found = promote(*choicelist, default)
    for condition, choice in reversed(list(zip(condlist, choices, strict=True))):
        found = na.where(condition, choice, found)
    return found


def piecewise(x: Array, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Array:
    """The value of the function of the last condition that holds; one more function is the default."""
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else _conditions(condlist, x)
    functions = list(funclist)
    default = functions.pop() if len(functions) == len(conditions) + 1 else 0
    dtype = dtypes.dtype_of(x)
    found, *values = [
        cast(f(x, *args, **kw), dtype) if callable(f) else na.full_like(x, f)
        for f in [default, *functions]
    ]
    for condition, value in zip(conditions, values, strict=True):
        found = na.where(condition, value, found)
    return found


def _conditions(condlist: Array, x: Array) -> list[Array]:
    """The conditions of one array: one, or several along the first axis."""
    is_one = len(na.shape(condlist)) == len(na.shape(x))
    return [condlist] if is_one else list(na.unstack(condlist))


# -- positions -----------------------------------------------------------------------------------


def nonzero(a: Array, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """The positions that are not zero; exactly `size`, filled up with `fill_value`, if it is given."""
    a = na.atleast_1d(as_array(a))
    found = na.nonzero(a, size=size, fill_value=_fills(fill_value))
    return tuple([as_index(x) for x in found])


def _fills(fill_value: Any) -> Any:
    if fill_value is None:
        return 0
    fill = fill_value.tolist() if hasattr(fill_value, "tolist") else fill_value
    return tuple(fill) if isinstance(fill, (list, tuple)) else fill


def flatnonzero(a: Array, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The positions in the flat array that are not zero."""
    return nonzero(na.reshape(a, (-1,)), size=size, fill_value=fill_value)[0]


def argwhere(a: Array, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The positions that are not zero, one in each row."""
    if not na.shape(a):
        rows = na.shape(nonzero(a, size=size)[0])[0]
        return na.zeros((rows, 0), dtype=as_dtype(int), like=a)
    return na.stack(list(nonzero(a, size=size, fill_value=fill_value)), axis=1)


def ravel_multi_index(
    multi_index: Sequence[Array],
    dims: Sequence[int],
    mode: str = "raise",
    order: str = "C",
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """The positions in the flat array of positions along each axis."""
    wanted = as_dtype(int if dtype is None else dtype)
    if mode == "raise":
        for x, size in zip(multi_index, dims, strict=True):
            if bool(na.any(na.logical_or(na.less(x, 0), na.greater_equal(x, size)))):
                raise ArgumentError(
                    f"ravel_multi_index: got a position outside an axis of length {size}"
                )
    pairs = list(zip(multi_index, dims, strict=True))
    found: Any = na.zeros((), dtype=wanted, like=as_array(multi_index[0]))
    for x, size in pairs if order == "C" else reversed(pairs):
        x = cast(x, wanted)
        x = na.remainder(x, size) if mode == "wrap" else na.clip(x, 0, size - 1)
        found = na.add(na.multiply(found, size), x)
    return found


def unravel_index(indices: Array, shape: Any) -> tuple[Array, ...]:
    """The positions along each axis of positions in the flat array, which are clamped."""
    sizes = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    indices, total = as_array(indices), math.prod(sizes)
    places = na.where(na.less(indices, 0), na.add(indices, total), indices)
    places = na.clip(places, 0, total - 1)
    found = []
    for size in reversed(sizes):
        found.append(na.remainder(places, size))
        places = na.floor_divide(places, size)
    return tuple(reversed(found))


# -- writes --------------------------------------------------------------------------------------


def put(
    a: Array, ind: Array, v: Array, mode: str | None = None, *, inplace: builtins.bool = True
) -> Array:
    """`a` with values at positions in the flat array; `inplace` must be False."""
    expect_functional("put", inplace)
    places = na.reshape(_index(ind, a), (-1,))
    count, size = na.shape(places)[0], math.prod(na.shape(a))
    values = na.reshape(cast(_values(v, a), dtypes.dtype_of(a)), (-1,))
    if not count or not size or not na.shape(values)[0]:
        return a
    values = na.getitem(na.tile(values, (-(-count // na.shape(values)[0]),)), slice(count))
    places, is_inside = _within(places, size, mode)
    flat = na.reshape(a, (-1,))
    if is_inside is not None:  # dropped values go to an element behind the last one
        places = na.where(is_inside, places, na.full_like(places, size))
        flat = na.concat([flat, na.zeros((1,), dtype=na.dtype_of(a), like=a)])
    flat = na.setitem(flat, (places,), values)
    return na.reshape(na.getitem(flat, slice(size)), na.shape(a))


def _values(v: Any, like: Array) -> Array:
    is_data = isinstance(v, (int, float, complex, list, tuple)) and not hasattr(v, "dtype")
    return na.asarray(v, like=like) if is_data else v


def put_along_axis(
    arr: Array,
    indices: Array,
    values: Any,
    axis: int | None,
    inplace: builtins.bool = True,
    *,
    mode: str | None = None,
) -> Array:
    """`arr` with values at positions along an axis; `inplace` must be False."""
    expect_functional("put_along_axis", inplace)
    if axis is None:
        flat = put_along_axis(na.reshape(arr, (-1,)), indices, values, 0, False, mode=mode)
        return na.reshape(flat, na.shape(arr))
    axis = normal_axis(axis, len(na.shape(arr)))
    size = na.shape(arr)[axis]
    sizes = [n if i == axis else na.shape(arr)[i] for i, n in enumerate(na.shape(indices))]
    places, is_inside = _within(na.broadcast_to(indices, sizes), size, mode)
    values = na.broadcast_to(cast(_values(values, arr), dtypes.dtype_of(arr)), sizes)
    if is_inside is None:
        return na.put_along_axis(arr, places, values, axis=axis)
    places = na.where(is_inside, places, na.full_like(places, size))
    widths = [(0, int(i == axis)) for i in range(len(sizes))]
    found = na.put_along_axis(na.pad(arr, widths), places, values, axis=axis)
    return na.getitem(found, (slice(None),) * axis + (slice(size),))


def place(arr: Array, mask: Array, vals: Array, *, inplace: builtins.bool = True) -> Array:
    """`arr` with values, in order and repeated, where a mask holds; `inplace` must be False."""
    expect_functional("place", inplace)
    is_chosen = na.reshape(cast(_truth(mask, arr), dtypes.bool), (-1,))
    values = na.reshape(cast(_values(vals, arr), dtypes.dtype_of(arr)), (-1,))
    order = na.subtract(na.cumulative_sum(na.astype(is_chosen, dtypes.int32), axis=0), 1)
    chosen = na.take(values, na.remainder(na.maximum(order, 0), na.shape(values)[0]), axis=0)
    return na.reshape(na.where(is_chosen, chosen, na.reshape(arr, (-1,))), na.shape(arr))


def fill_diagonal(
    a: Array, val: Any, wrap: builtins.bool = False, *, inplace: builtins.bool = True
) -> Array:
    """`a` with values on its diagonal; `inplace` must be False."""
    expect_functional("fill_diagonal", inplace)
    if wrap:
        raise UnsupportedError("fill_diagonal: wrap: got True, expected False, as upstream")
    sizes = na.shape(a)
    count = min(sizes)
    values = na.reshape(cast(_values(val, a), dtypes.dtype_of(a)), (-1,))
    repeats = -(-count // na.shape(values)[0])
    values = na.getitem(na.tile(values, (repeats,)), slice(count))
    places = na.arange(count, dtype=dtypes.int64, like=a)
    return na.setitem(a, (places,) * len(sizes), values)
