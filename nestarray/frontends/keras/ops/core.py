"""Dtypes, slices, updates and control flow.

Upstream: https://keras.io/api/ops/core/
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import nestarray as na
from nestarray import backends, dtypes
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.frontends.jax import transformations
from nestarray.frontends.keras.promotion import as_array, as_arrays, as_dtype, normal_axis
from nestarray.frontends.keras.promotion import cast as _cast
from nestarray.typing import Array, DTypeLike, Nest, Shape

__all__ = [
    "associative_scan", "cast", "cond", "convert_to_numpy", "convert_to_tensor",
    "custom_gradient", "dtype", "fori_loop", "is_tensor", "map", "rearrange", "saturate_cast",
    "scan", "scatter", "scatter_update", "shape", "slice", "slice_update", "stop_gradient",
    "switch", "unstack", "vectorized_map", "while_loop",
]  # fmt: skip

# -- conversion ----------------------------------------------------------------------------------


def convert_to_tensor(
    x: Any,
    dtype: DTypeLike | None = None,
    sparse: bool | None = None,
    ragged: bool | None = None,
) -> Array:
    """An array of numbers, nested lists of numbers and arrays, or of another array.

    Raises:
        UnsupportedError: `sparse` or `ragged` is true: arrays are dense.
    """
    if sparse or ragged:
        name = "sparse" if sparse else "ragged"
        raise UnsupportedError(f"convert_to_tensor: {name}: got True, expected False or None")
    return as_array(x, dtype)


def convert_to_numpy(x: Any) -> np.ndarray[Any, Any]:
    """The values as an array of NumPy."""
    x = as_array(x)
    return backends.core(na.backend_of(x)).to_numpy(x)


def is_tensor(x: Any) -> bool:
    """Whether `x` is an array of one of the frameworks."""
    return backends.backend_of_type(type(x)) is not None


def shape(x: Any) -> tuple[int, ...]:
    """The lengths of the axes."""
    return na.shape(as_array(x))


def dtype(x: Array) -> str:
    """The name of the dtype."""
    return str(dtypes.dtype_of(x))


def cast(x: Any, dtype: DTypeLike) -> Array:
    """`x` in another dtype; complex numbers lose their imaginary part."""
    return _cast(as_array(x), as_dtype(dtype))


def saturate_cast(x: Any, dtype: DTypeLike) -> Array:
    """`x` in another dtype, with values outside of its range clipped to it."""
    x, wanted = as_array(x), as_dtype(dtype)
    if dtypes.dtype_of(x) is dtypes.bool:
        return na.astype(x, wanted)
    if wanted is dtypes.bool:
        return na.greater(x, 0)
    return na.saturate_cast(x, wanted)


# -- parts ---------------------------------------------------------------------------------------


def _starts(start_indices: Any, count: int) -> list[Any]:
    """The start along each axis: integers where they are known."""
    if isinstance(start_indices, (list, tuple, np.ndarray)):
        return [int(i) if isinstance(i, (int, np.integer)) else i for i in start_indices]
    starts = as_array(start_indices)
    return [starts[i] for i in range(count)]


def slice(inputs: Array, start_indices: Any, shape: Shape) -> Array:
    """The part of a shape that begins at `start_indices`; a size of −1 reaches to the end."""
    inputs = as_array(inputs)
    sizes = na.shape(inputs)
    for axis, start in enumerate(_starts(start_indices, len(sizes))):
        wanted = shape[axis]
        if isinstance(start, int):
            end = sizes[axis] if wanted == -1 else start + wanted
            index = (builtins.slice(None),) * axis + (builtins.slice(start, end),)
            inputs = na.getitem(inputs, index)
        else:
            positions = na.add(na.arange(wanted, dtype=dtypes.dtype_of(start), like=start), start)
            inputs = na.take(inputs, positions, axis=axis)
    return inputs


def slice_update(inputs: Array, start_indices: Any, updates: Array) -> Array:
    """`inputs` with the part at `start_indices` replaced; starts are moved so that it fits."""
    inputs = as_array(inputs)
    updates = as_array(updates, like=inputs)
    index = []
    starts = _starts(start_indices, len(na.shape(inputs)))
    for start, size, length in zip(starts, na.shape(updates), na.shape(inputs), strict=True):
        if isinstance(start, int):
            start = min(max(start, 0), length - size)
            index.append(builtins.slice(start, start + size))
        else:
            start = na.clip(start, 0, length - size)
            index.append(na.add(na.arange(size, dtype=dtypes.dtype_of(start), like=start), start))
    if all(isinstance(i, builtins.slice) for i in index):
        return na.setitem(inputs, tuple(index), updates)
    rank = len(index)
    grid = []
    for axis, i in enumerate(index):
        if isinstance(i, builtins.slice):
            i = na.arange(i.start, i.stop, dtype=dtypes.int64, like=inputs)
        grid.append(na.reshape(i, [-1 if a == axis else 1 for a in range(rank)]))
    return na.setitem(inputs, tuple(grid), updates)


def scatter(indices: Array, values: Array, shape: Shape) -> Array:
    """Zeros with `values` added at positions, one position for each row of `indices`."""
    indices, values = as_arrays(indices, values)
    zeros = na.zeros(tuple(shape), dtype=dtypes.dtype_of(values), like=values)
    return na.scatter_nd(zeros, indices, values, mode="add")


def scatter_update(
    inputs: Array, indices: Array, updates: Array, reduction: str | None = None
) -> Array:
    """`inputs` with the elements at positions replaced by `updates`, or combined with them.

    Raises:
        ArgumentError: `reduction` is not None, ``"add"``, ``"max"``, ``"min"`` or ``"mul"``.
    """
    modes = (None, "add", "max", "min", "mul")
    mode = reduction.lower() if isinstance(reduction, str) else reduction
    if mode not in modes:
        raise ArgumentError(
            f"scatter_update: reduction: got {reduction!r}, expected one of {modes}"
        )
    inputs = as_array(inputs)
    indices = as_array(indices, like=inputs)
    updates = as_array(updates, like=inputs)
    return na.scatter_nd(inputs, indices, updates, mode=mode or "replace")


def unstack(x: Array, num: int | None = None, axis: int = 0) -> list[Array]:
    """The slices along an axis.

    Raises:
        ArgumentError: `num` is not their number.
    """
    x = as_array(x)
    length = na.shape(x)[normal_axis("unstack", axis, len(na.shape(x)))]
    if num is not None and num != length:
        raise ArgumentError(f"unstack: num: got {num}, expected {length}, the length of the axis")
    return list(na.unstack(x, axis=axis))


def rearrange(tensor: Array, pattern: str, **axes_lengths: int) -> Array:
    """The axes split, moved and merged: ``"b (h w) c -> b h w c"``."""
    return na.rearrange(as_array(tensor), pattern, **axes_lengths)


# -- derivatives ---------------------------------------------------------------------------------


def stop_gradient(variable: Any) -> Array:
    """`variable`, as a constant for differentiation."""
    return na.stop_gradient(as_array(variable))


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function from one that returns its value and its pullback.

    The pullback takes the cotangent of the value and returns the arguments' cotangents; it may take
    it as the keyword argument ``upstream``.
    """

    def value_and_pullback(*args: Any) -> tuple[Any, Callable[..., Any]]:
        value, pullback = f(*args)
        if not isinstance(value, (list, tuple)):
            return value, pullback
        return value, lambda cotangents: pullback(*cotangents)

    return transformations.custom_gradient(value_and_pullback)


# -- control flow --------------------------------------------------------------------------------


def cond(pred: Any, true_fn: Callable[[], Nest], false_fn: Callable[[], Nest]) -> Nest:
    """``true_fn()`` if `pred` is true, else ``false_fn()``."""
    return na.cond(_cast(as_array(pred), dtypes.bool), true_fn, false_fn)


def switch(index: Any, branches: Sequence[Callable[..., Nest]], *operands: Any) -> Nest:
    """The result of a branch; the index is moved into the range of the branches."""
    return na.switch(as_array(index, dtypes.int32), branches, *operands)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    maximum_iterations: int | None = None,
) -> Any:
    """The variables after the last step: ``while cond(*vars): vars = body(*vars)``."""
    is_sequence = isinstance(loop_vars, (list, tuple))
    first = tuple(loop_vars) if is_sequence else (loop_vars,)

    def step(values: tuple[Any, ...]) -> tuple[Any, ...]:
        found = body(*values)
        return tuple(found) if is_sequence else (found,)

    last = na.while_loop(
        lambda values: _cast(as_array(cond(*values)), dtypes.bool),
        step,
        tuple(map_nest(as_array, first)),
        max_steps=maximum_iterations,
    )
    return last if is_sequence else last[0]


def map_nest(function: Callable[[Any], Any], nest: Any) -> Any:
    """A function of the leaves of nested tuples, lists and dicts."""
    if isinstance(nest, dict):
        return {k: map_nest(function, v) for k, v in nest.items()}
    if isinstance(nest, (list, tuple)):
        return type(nest)([map_nest(function, v) for v in nest])
    return function(nest)


def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Nest], init_val: Nest) -> Nest:
    """``val = body_fun(i, val)`` for each i from `lower` up to `upper`."""
    return na.fori_loop(lower, upper, body_fun, init_val)


def scan(
    f: Callable[..., Any],
    init: Nest,
    xs: Nest | None = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Nest, Nest]:
    """``carry, y = f(carry, x)`` for each row of `xs`; the last carry and the stacked ys."""
    return na.scan(f, init, xs, length=length, reverse=reverse, unroll=unroll)


def associative_scan(
    f: Callable[..., Nest], elems: Nest, reverse: bool = False, axis: int = 0
) -> Nest:
    """All prefixes of x₀ ∘ x₁ ∘ x₂ …, for an associative operation."""
    return na.associative_scan(f, elems, reverse=reverse, axis=axis)


def map(f: Callable[..., Nest], xs: Nest) -> Nest:
    """`f` of each row of `xs`, one after another."""

    def step(carry: tuple[()], x: Any) -> tuple[tuple[()], Any]:
        return carry, f(x)

    return na.scan(step, (), xs)[1]


def vectorized_map(function: Callable[..., Nest], elements: Nest) -> Nest:
    """`function` of each row of `elements`, all at once."""
    return na.vmap(function)(elements)
