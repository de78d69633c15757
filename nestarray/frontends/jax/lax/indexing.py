"""Parts at computed positions: slices, gathers and scatters.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.lax.gather.html. Positions out of range
are clamped ("clip"), give a fill value ("fill"), or are ignored by writes ("drop").
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import nestarray as na
from nestarray import backends, dtypes
from nestarray.errors import ArgumentError
from nestarray.typing import Array

__all__ = [
    "GatherDimensionNumbers", "ScatterDimensionNumbers", "dynamic_index_in_dim", "dynamic_slice",
    "dynamic_slice_in_dim", "dynamic_update_index_in_dim", "dynamic_update_slice",
    "dynamic_update_slice_in_dim", "gather", "index_in_dim", "index_take", "scatter", "scatter_add", "scatter_apply", "scatter_max", "scatter_min", "scatter_mul", "scatter_sub",
]  # fmt: skip


class GatherDimensionNumbers(NamedTuple):
    """The axes of a gather; see https://openxla.org/xla/operation_semantics#gather."""

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


class ScatterDimensionNumbers(NamedTuple):
    """The axes of a scatter; see https://openxla.org/xla/operation_semantics#scatter."""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


def dynamic_slice(
    operand: Array,
    start_indices: Sequence[Array],
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """A part of these sizes, with its start clamped so that it is within `operand`."""
    sizes = na.shape(operand)
    start_indices = _from_the_end(start_indices, sizes, allow_negative_indices)
    for axis, (start, size) in enumerate(zip(start_indices, slice_sizes, strict=True)):
        is_whole = size == sizes[axis]
        # of sizes known only at run time, TensorFlow's result is an array
        if hasattr(is_whole, "dtype") or not is_whole:
            places = na.add(_start(start, sizes[axis] - size), _steps(size, operand))
            operand = na.take(operand, places, axis=axis)
    return operand


def dynamic_update_slice(
    operand: Array,
    update: Array,
    start_indices: Sequence[Array],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """`operand` with a part replaced, its start clamped so that it is within `operand`."""
    sizes, parts = na.shape(operand), na.shape(update)
    start_indices = _from_the_end(start_indices, sizes, allow_negative_indices)
    rank, index = len(sizes), []
    for axis, (start, size) in enumerate(zip(start_indices, parts, strict=True)):
        places = na.add(_start(start, sizes[axis] - size), _steps(size, operand))
        index.append(na.reshape(places, _along(axis, rank, size)))
    return na.setitem(operand, tuple(index), update) if rank else update


def _from_the_end(
    starts: Sequence[Array], sizes: Sequence[int], is_allowed: bool | Sequence[bool]
) -> list[Array]:
    """Starts below zero count from the end, where that is allowed."""
    if isinstance(is_allowed, bool):
        is_allowed = [is_allowed] * len(sizes)
    found = []
    for start, size, allowed in zip(starts, sizes, is_allowed, strict=True):
        if not allowed:
            found.append(start)
        elif isinstance(start, int):
            found.append(start + size if start < 0 else start)
        else:
            found.append(na.where(na.less(start, 0), na.add(start, size), start))
    return found


def _starts(operand: Array, start: Array, axis: int) -> list[Array]:
    """`start` along one axis, 0 along the others."""
    rank = len(na.shape(operand))
    return [start if i == axis % rank else 0 for i in range(rank)]


def dynamic_slice_in_dim(
    operand: Array,
    start_index: Array,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """`dynamic_slice` along one axis."""
    sizes = list(na.shape(operand))
    sizes[axis] = slice_size
    starts = _starts(operand, start_index, axis)
    return dynamic_slice(operand, starts, sizes, allow_negative_indices=allow_negative_indices)


def dynamic_index_in_dim(
    operand: Array,
    index: Array,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """The elements at one position along an axis."""
    settings = {"allow_negative_indices": allow_negative_indices}
    found = dynamic_slice_in_dim(operand, index, 1, axis, **settings)
    return found if keepdims else na.squeeze(found, axis=axis)


def dynamic_update_slice_in_dim(
    operand: Array,
    update: Array,
    start_index: Array,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """`dynamic_update_slice` along one axis."""
    starts = _starts(operand, start_index, axis)
    settings = {"allow_negative_indices": allow_negative_indices}
    return dynamic_update_slice(operand, update, starts, **settings)


def dynamic_update_index_in_dim(
    operand: Array,
    update: Array,
    index: Array,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """`operand` with the elements at one position along an axis replaced."""
    if len(na.shape(update)) != len(na.shape(operand)):
        update = na.expand_dims(update, axis)
    settings = {"allow_negative_indices": allow_negative_indices}
    return dynamic_update_slice_in_dim(operand, update, index, axis, **settings)


def index_in_dim(operand: Array, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """The elements at one known position along an axis."""
    shape = na.shape(operand)
    axis %= len(shape)
    place = index + shape[axis] if index < 0 else index
    kept = builtins.slice(place, place + 1) if keepdims else place
    return na.getitem(operand, (*[builtins.slice(None)] * axis, kept))


def index_take(src: Array, idxs: Sequence[Array], axes: Sequence[int]) -> Array:
    """The slices of `src` at positions along axes, which become one first axis."""
    moved = na.moveaxis(src, tuple(axes), tuple(range(len(axes))))
    return na.getitem(moved, tuple(idxs))


def _start(start: Array, last: int) -> Array:
    if isinstance(start, int):
        return builtins.min(builtins.max(start, 0), last)
    return na.clip(na.astype(start, dtypes.int64), 0, last)


def _steps(size: int, like: Array) -> Array:
    return na.arange(size, dtype=dtypes.int64, like=like)


def _along(axis: int, rank: int, size: int) -> tuple[int, ...]:
    return tuple([size if i == axis else 1 for i in range(rank)])


class _Window(NamedTuple):
    """The positions of all elements of windows.

    Attributes:
        index: positions along each axis of the operand; they broadcast to (batch axes, window
            axes).
        is_inside: whether the window of each position is within the operand, like `index`.
        offsets: the axes of the result that are window axes.
        rank: of the result.
    """

    index: list[Array]
    is_inside: Array
    offsets: tuple[int, ...]
    rank: int


def _windows(
    operand: Array,
    indices: Array,
    window: Sequence[int],
    offsets: tuple[int, ...],
    collapsed: tuple[int, ...],
    mapped: tuple[int, ...],
    batching: tuple[int, ...],
    indices_batching: tuple[int, ...],
) -> _Window:
    sizes = na.shape(operand)
    *batch, _ = na.shape(indices)
    rank = len(batch) + len(offsets)
    batch_axes = [i for i in range(rank) if i not in offsets]
    kept = [d for d in range(len(sizes)) if d not in collapsed and d not in batching]
    spread = [1] * rank
    for axis, size in zip(batch_axes, batch, strict=True):
        spread[axis] = size
    indices = na.astype(indices, dtypes.int64)
    index: list[Array] = []
    is_inside = na.ones(tuple(spread), dtype=dtypes.bool, like=indices)
    for axis, size in enumerate(sizes):
        place: Any = 0
        if axis in mapped:
            start = na.reshape(na.getitem(indices, (..., mapped.index(axis))), tuple(spread))
            last = size - window[axis]
            fits = na.logical_and(na.greater_equal(start, 0), na.less_equal(start, last))
            is_inside = na.logical_and(is_inside, fits)
            place = na.clip(start, 0, builtins.max(last, 0))
        elif axis in batching:
            of_indices = batch_axes[indices_batching[batching.index(axis)]]
            steps = _steps(size, indices)
            place = na.reshape(steps, _along(of_indices, rank, size))
        if axis in kept and not (isinstance(window[axis], int) and window[axis] == 1):
            steps = _steps(window[axis], indices)
            along = _along(offsets[kept.index(axis)], rank, window[axis])
            place = na.add(place, na.reshape(steps, along))
        if isinstance(place, int):
            place = na.zeros((1,) * rank, dtype=dtypes.int64, like=indices)
        index.append(place)
    return _Window(index, is_inside, offsets, rank)


def _mode_of(mode: Any, *, is_read: bool) -> str:
    """ "clip", "fill" or "drop", of upstream's name or enumeration.

    By default, and as promises are not relied on, reads clamp and writes drop.
    """
    default = "fill" if is_read else "drop"
    name = "promise_in_bounds" if mode is None else str(getattr(mode, "name", mode)).lower()
    if name == "promise_in_bounds":
        return "clip" if is_read else "drop"
    if name in ("fill", "drop", "fill_or_drop"):
        return default
    if name != "clip":
        raise ArgumentError(
            f"mode: got {mode!r}, expected 'clip', 'fill', 'drop' or 'promise_in_bounds'"
        )
    return name


def _is_known(size: Any) -> bool:
    """Whether a size is a number; a `tf.function` has tensors of open sizes."""
    return not backends.is_array(size)


def gather(
    operand: Array,
    start_indices: Array,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Array:
    """The slices of `operand` that begin at `start_indices`."""
    mode = _mode_of(mode, is_read=True)
    offsets, collapsed, mapped, batching, _ = dimension_numbers
    sizes = na.shape(operand)
    is_row = [i in mapped or (_is_known(n) and n == sizes[i]) for i, n in enumerate(slice_sizes)]
    is_of_rows = len(mapped) == 1 and tuple(collapsed) == tuple(mapped) and not batching
    if is_of_rows and all(is_row) and 0 not in filter(_is_known, sizes):
        values, is_inside = _rows(operand, start_indices, mapped[0], tuple(offsets))
    else:
        found = _windows(
            operand, start_indices, slice_sizes, tuple(offsets), *dimension_numbers[1:]
        )
        values, is_inside = na.getitem(operand, tuple(found.index)), found.is_inside
    if mode != "fill":
        return values
    dtype = dtypes.dtype_of(operand)
    if fill_value is None:
        fill_value = float("nan") if dtype.is_inexact else _extreme(dtype)
    return na.where(is_inside, values, na.full_like(values, fill_value))


def _rows(
    operand: Array, indices: Array, axis: int, offsets: tuple[int, ...]
) -> tuple[Array, Array]:
    """Whole rows along one axis, as of an embedding, and whether each index is inside."""
    size = na.shape(operand)[axis]
    places = na.astype(na.getitem(indices, (..., 0)), dtypes.int64)
    values = na.take(operand, na.clip(places, 0, size - 1), axis=axis)
    batch = na.shape(places)
    rank = len(batch) + len(offsets)
    axes_before = iter([*range(axis), *range(axis + len(batch), rank)])
    axes_of_batch = iter(range(axis, axis + len(batch)))
    order = [next(axes_before if i in offsets else axes_of_batch) for i in range(rank)]
    if order != list(range(rank)):
        values = na.permute_dims(values, order)
    of_batch = iter(batch)
    spread = [1 if i in offsets else next(of_batch) for i in range(rank)]
    is_inside = na.logical_and(na.greater_equal(places, 0), na.less(places, size))
    return values, na.reshape(is_inside, spread)


def _extreme(dtype: dtypes.DType) -> Any:
    """The number that fills integers: the least signed one, the largest unsigned one."""
    if dtype is dtypes.bool:
        return True
    info = dtypes.iinfo(dtype)
    return info.max if dtype.name.startswith("uint") else info.min


def _scattering(computation: str) -> Callable[..., Array]:
    def scatter(
        operand: Array,
        scatter_indices: Array,
        updates: Array,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
    ) -> Array:
        """`operand` with slices replaced by updates, or combined with them."""
        return _scattered(computation, operand, scatter_indices, updates, dimension_numbers, mode)

    return scatter


scatter = _scattering("replace")
scatter_add = _scattering("add")
scatter_mul = _scattering("mul")
scatter_min = _scattering("min")
scatter_max = _scattering("max")


def scatter_sub(
    operand: Array,
    scatter_indices: Array,
    updates: Array,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """`operand` with updates subtracted from slices."""
    return _scattered(
        "add", operand, scatter_indices, na.negative(updates), dimension_numbers, mode
    )


def scatter_apply(
    operand: Array,
    scatter_indices: Array,
    func: Callable[[Array], Array],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """`operand` with `func` applied to slices of `update_shape`, once for each occurrence."""
    ones = na.ones(tuple(update_shape), dtype=dtypes.int32, like=operand)
    none = na.zeros_like(operand, dtype=dtypes.int32)
    counts = _scattered("add", none, scatter_indices, ones, dimension_numbers, mode)

    def step(i: Array, x: Array) -> Array:
        return na.where(na.less(i, counts), func(x), x)

    if unique_indices:
        return step(0, operand)
    return (
        na.fori_loop(0, na.max(counts), step, operand) if math.prod(na.shape(operand)) else operand
    )


def _scattered(
    computation: str,
    operand: Array,
    indices: Array,
    updates: Array,
    numbers: ScatterDimensionNumbers,
    mode: Any,
) -> Array:
    mode = _mode_of(mode, is_read=False)
    window_dims, inserted, mapped, batching, indices_batching = numbers
    sizes, window = na.shape(operand), []
    axes = iter(window_dims)
    for axis in range(len(sizes)):
        is_one = axis in inserted or axis in batching
        window.append(1 if is_one else na.shape(updates)[next(axes)])
    found = _windows(
        operand, indices, window, tuple(window_dims), tuple(inserted), tuple(mapped),
        tuple(batching), tuple(indices_batching),
    )  # fmt: skip
    index = found.index
    if mode == "drop":
        # a dropped update goes to a row behind the last one
        operand = na.pad(operand, [(0, 1), *[(0, 0)] * (len(sizes) - 1)]) if sizes else operand
        if not sizes:
            return na.where(na.all(found.is_inside), updates, operand)
        behind = na.full_like(index[0], sizes[0])
        index = [na.where(found.is_inside, index[0], behind), *index[1:]]
    place = tuple(index) if sizes else ()
    if dtypes.dtype_of(operand).kind == "complex" and computation in ("min", "max"):
        result = _complex_extremes(operand, place, updates, computation)
    else:
        result = na.setitem(operand, place, updates, mode=computation)
    if not sizes:
        return result
    return na.getitem(result, builtins.slice(sizes[0])) if mode == "drop" else result


def _complex_extremes(operand: Array, place: Any, updates: Array, computation: str) -> Array:
    """The smaller or larger numbers by the real, then by the imaginary part."""
    real = na.setitem(na.real(operand), place, na.real(updates), mode=computation)
    last = math.inf if computation == "min" else -math.inf
    before = na.where(na.equal(na.real(operand), real), na.imag(operand), last)
    is_equal = na.equal(na.real(updates), na.getitem(real, place))
    after = na.where(is_equal, na.imag(updates), last)
    return na.complex(real, na.setitem(before, place, after, mode=computation))
