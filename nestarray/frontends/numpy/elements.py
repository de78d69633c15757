"""Functions whose arguments or dtypes differ from the JAX frontend's.

Upstream: https://numpy.org/doc/stable/reference/routines.math.html
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import nestarray as na
from nestarray.errors import ArgumentError, IndexingError, ShapeError
from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.jax.promotion import normal_axis
from nestarray.frontends.numpy import ufuncs
from nestarray.frontends.numpy.adaptation import adapted
from nestarray.frontends.numpy.arrays import (
    as_array,
    cast,
    check_positions,
    first_array,
    is_number,
    known_values,
    numpy_dtype,
    write,
)
from nestarray.typing import Array

__all__ = [
    "angle",
    "block",
    "choose",
    "clip",
    "compress",
    "diff",
    "einsum",
    "einsum_path",
    "fix",
    "insert",
    "nanargmax",
    "nanargmin",
    "nonzero",
    "pad",
    "piecewise",
    "polyder",
    "polyint",
    "real_if_close",
    "setdiff1d",
    "sort_complex",
    "take",
    "trapezoid",
    "trim_zeros",
    "unravel_index",
    "unwrap",
    "where",
]

_fix = adapted("round", lambda a, decimals=0: na.trunc(a))


def clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    **kwargs: Any,
) -> Array:
    """The elements within bounds; Python integers beyond the dtype's limits bound nothing."""
    like = first_array((a, a_min, a_max, min, max))
    found = as_array(a, like)
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    dtype = numpy_dtype(found)
    if dtype.kind in "iu":
        low = None if type(low) is int and low < np.iinfo(dtype).min else low
        high = None if type(high) is int and high > np.iinfo(dtype).max else high
    if low is not None and high is not None:  # one promotion of all three
        bounds = [x if is_number(x) else numpy_dtype(as_array(x, like)) for x in (low, high)]
        found = cast(found, np.result_type(dtype, *bounds))
    if low is not None:
        found = ufuncs.maximum(found, low)
    if high is not None:
        found = ufuncs.minimum(found, high, **kwargs)
    return found if out is None else write(out, found)


def fix(x: Any, out: Any = None) -> Array:
    """The integer part."""
    return _fix(x, out=out)


def real_if_close(a: Any, tol: float = 100) -> Array:
    """The real part, if all imaginary parts are within `tol` (of machine epsilons, above 1)."""
    a = as_array(a)
    dtype = numpy_dtype(a)
    if dtype.kind != "c":
        return a
    tol = tol * float(np.finfo(dtype).eps) if tol > 1 else tol
    return na.real(a) if bool(na.all(na.less(na.abs(na.imag(a)), tol))) else a


def sort_complex(a: Any) -> Array:
    """Sorted by the real, then by the imaginary parts, as complex numbers."""
    a = as_array(a)
    dtype = numpy_dtype(a)
    if dtype.kind != "c":
        a = cast(
            a, np.complex64 if dtype in (np.int8, np.uint8, np.int16, np.uint16) else np.complex128
        )
    return jnp.sort_complex(a)


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """The array with values added at the ends of axes."""
    array = as_array(array)
    if first_array(kwargs.values()) is None:  # raises NumPy's errors for settings
        np.pad(np.empty((1,) * len(na.shape(array))), 0, mode, **kwargs)
    return jnp.pad(array, pad_width, mode, **kwargs)


def einsum(
    *operands: Any,
    out: Any = None,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
    optimize: Any = False,
) -> Array:
    """A sum of products over axes that are named by letters or numbers."""
    values, like = list(operands), first_array(operands)
    places = range(1, len(values)) if isinstance(values[0], str) else range(0, len(values) - 1, 2)
    for i in places:
        values[i] = as_array(values[i], like)
    wanted = dtype or np.result_type(*[numpy_dtype(values[i]) for i in places])
    for i in places:
        values[i] = cast(values[i], wanted)
    found = cast(jnp.einsum(*values), wanted)
    return found if out is None else write(out, found)


def einsum_path(
    *operands: Any, optimize: Any = "greedy", einsum_call: bool = False
) -> tuple[list[Any], str]:
    """(the order of pairwise products, a report)."""
    shapes: list[Any] = [np.empty(na.shape(x)) if hasattr(x, "shape") else x for x in operands]
    return np.einsum_path(*shapes, optimize=optimize)


_nonzero = adapted("nonzero", jnp.nonzero)


def nonzero(a: Any) -> tuple[Array, ...]:
    """The positions of the elements that are not 0, one array for each axis."""
    if not na.shape(as_array(a)):
        raise ShapeError(
            "nonzero: a: got shape (), expected at least one axis; use np.atleast_1d(a)"
        )
    return _nonzero(a)


_choose, _take = adapted("choose", jnp.choose), adapted("take", jnp.take)


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Array:
    """The element of ``choices[a]`` at each place."""
    choices = list(choices) if isinstance(choices, (list, tuple)) else list(na.unstack(choices))
    like = first_array((a, choices))
    choices = [x if is_number(x) else as_array(x, like) for x in choices]
    dtype = np.result_type(*[x if is_number(x) else numpy_dtype(x) for x in choices])
    choices = [as_array(x, like, dtype) for x in choices]
    if mode == "raise":
        check_positions("choose", a, len(choices))
        mode = "wrap"
    return _choose(a, choices, out, mode)


def take(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Array:
    """The slices at positions along an axis; elements of the flattened array without one."""
    shape = na.shape(as_array(a))
    axis = axis if shape or axis not in (0, -1) else None
    if mode == "raise":
        check_positions("take", indices, math.prod(shape) if axis is None else shape[axis])
        mode = "wrap"
    return _take(a, indices, axis, out, mode)


_compress, _where = adapted("compress", jnp.compress), adapted("where", jnp.where, is_weak=True)


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Array:
    """The slices for which a condition holds."""
    shape = na.shape(as_array(a))
    axis = axis if shape or axis not in (0, -1) else None
    size = math.prod(shape) if axis is None else shape[normal_axis(axis, len(shape))]
    check_positions("compress", nonzero(condition)[0], size)
    return _compress(condition, a, axis, out)


def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Elements of `x` where a condition holds, else of `y`; `nonzero` without the two."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ArgumentError("where: got one of x and y, expected both or neither")
    return _where(as_array(condition, first_array((condition, x, y))), x, y)


_polyint = adapted("polyint", jnp.polyint, with_dtype=np.int64)


def polyint(p: Any, m: int = 1, k: Any = None) -> Array:
    """The m-th integral of a polynomial, with constants k."""
    return _polyint(p, m, k) if m else as_array(p)


_polyder = adapted("polyder", jnp.polyder, with_dtype=np.int64, result="promoted")


def polyder(p: Any, m: int = 1) -> Array:
    """The m-th derivative of a polynomial."""
    return _polyder(p, m) if m else as_array(p)


_diff = adapted("diff", jnp.diff, arrays=["prepend", "append"])


def diff(
    a: Any,
    n: int = 1,
    axis: int = -1,
    prepend: Any = np._NoValue,  # type: ignore[attr-defined]
    append: Any = np._NoValue,  # type: ignore[attr-defined]
) -> Array:
    """The n-th differences along an axis, after `prepend` and `append` at its ends."""
    return _diff(a, n, axis, prepend, append) if n else as_array(a)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral of samples along an axis; NumPy adds neighbors in the dtype of `y`."""
    like = first_array((y, x))
    y = na.moveaxis(as_array(y, like), axis, -1)
    if x is not None:
        x = as_array(x, like)
        dx = diff(x if len(na.shape(x)) == 1 else na.moveaxis(x, axis, -1))
    pairs = ufuncs.add(na.getitem(y, (..., slice(1, None))), na.getitem(y, (..., slice(None, -1))))
    return ufuncs.add.reduce(ufuncs.divide(ufuncs.multiply(dx, pairs), 2.0), -1)


_trim_zeros = adapted("trim_zeros", jnp.trim_zeros)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Array:
    """Without zeros at the front ("f") and the back ("b"); a number is returned."""
    filt = as_array(filt)
    return _trim_zeros(filt, trim, axis) if na.shape(filt) else filt


_insert = adapted("insert", jnp.insert, kept=["values"])


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """`values`, in the dtype of `arr`, before the positions `obj`."""
    arr = as_array(arr, first_array((arr, values)))
    return _insert(arr, obj, as_array(values, arr, numpy_dtype(arr)), axis)


_piecewise = adapted("piecewise", jnp.piecewise)


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Array:
    """The value of the function of the last condition that holds; one more function is the default."""
    x = as_array(x)
    masks = _masks(condlist, x)
    if len(funclist) - len(masks) not in (0, 1):
        raise ArgumentError(
            f"piecewise: funclist: got {len(funclist)} functions for {len(masks)} conditions, "
            f"expected {len(masks)} or {len(masks) + 1}"
        )
    for mask in masks:
        if na.shape(mask) not in ((), na.shape(x)):
            raise IndexingError(
                f"piecewise: condlist: got shape {na.shape(mask)}, expected {na.shape(x)}"
            )
    return _piecewise(x, masks, funclist, *args, **kw)


def _masks(condlist: Any, x: Array) -> list[Array]:
    """Conditions as arrays: one, several, or the elements of a list for an `x` without axes."""
    rank = len(na.shape(x))
    if not isinstance(condlist, (list, tuple)):
        condlist = as_array(condlist, x)
        is_one = len(na.shape(condlist)) <= rank
        return [condlist] if is_one else list(na.unstack(condlist))
    is_one = rank > 0 and isinstance(condlist[0], (bool, np.bool_))
    return [as_array(mask, x) for mask in ([condlist] if is_one else condlist)]


_nanargmax = adapted("nanargmax", jnp.nanargmax)
_nanargmin = adapted("nanargmin", jnp.nanargmin)


def nanargmax(a: Any, axis: int | None = None, out: Any = None, **kwargs: Any) -> Array:
    """The position of the maximum of the elements that are not NaN."""
    return _of_numbers("nanargmax", _nanargmax(a, axis, out, **kwargs))


def nanargmin(a: Any, axis: int | None = None, out: Any = None, **kwargs: Any) -> Array:
    """The position of the minimum of the elements that are not NaN."""
    return _of_numbers("nanargmin", _nanargmin(a, axis, out, **kwargs))


def _of_numbers(name: str, positions: Array) -> Array:
    """Positions, which are −1 in slices without numbers: an error, if their values are known."""
    values = known_values(positions)
    if values is not None and np.any(values < 0):
        raise ArgumentError(f"{name}: a: got a slice of NaN, expected at least one number")
    return positions


def block(arrays: Any) -> Array:
    """An array of the blocks in nested lists."""
    blocks = [*_blocks(arrays)]
    like = first_array(blocks)
    dtype = np.result_type(*[numpy_dtype(as_array(x)) for x in blocks])
    return jnp.block(_nested(arrays, lambda x: as_array(x, like, dtype)))


def _blocks(arrays: Any) -> Iterator[Any]:
    if isinstance(arrays, list):
        for x in arrays:
            yield from _blocks(x)
    else:
        yield arrays


def _nested(arrays: Any, function: Callable[[Any], Any]) -> Any:
    return [_nested(x, function) for x in arrays] if isinstance(arrays, list) else function(arrays)


def angle(z: Any, deg: bool = False) -> Array:
    """The angle of complex numbers, in radians or degrees."""
    z = as_array(z)
    parts = (na.imag(z), na.real(z)) if numpy_dtype(z).kind == "c" else (0, z)
    found = ufuncs.arctan2(*parts)
    return ufuncs.multiply(found, 180 / math.pi) if deg else found


_unravel_index = adapted("unravel_index", jnp.unravel_index, result=np.int64)


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Array, ...]:
    """The positions along each axis of positions in the flat array."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    check_positions("unravel_index", indices, math.prod(sizes))
    if order == "F":
        return _unravel_index(indices, sizes[::-1])[::-1]
    return _unravel_index(indices, sizes)


_unwrap = adapted("unwrap", jnp.unwrap)


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Array:
    """Phases without jumps of more than half a period; the period takes part in the dtype."""
    p = as_array(p)
    dtype = np.result_type(numpy_dtype(p), period)
    return _unwrap(cast(p, dtype), discont, axis, period=period)


_setdiff1d = adapted("setdiff1d", jnp.setdiff1d)


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """The elements of the first array that are not in the second, in order."""
    ar1 = as_array(ar1, first_array((ar1, ar2)))
    return cast(_setdiff1d(ar1, ar2, assume_unique), numpy_dtype(ar1))
