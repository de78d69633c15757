"""Parts of an array: read, replaced, gathered, scattered.

Upstream: https://docs.pytorch.org/docs/stable/torch.html, one page a function:
https://docs.pytorch.org/docs/stable/generated/torch.gather.html
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.frontends.torch import reduction
from nestarray.frontends.torch.dims import (
    broadcast_shape,
    is_empty,
    ndim_of,
    numel_of,
    shape_of,
    wrap,
)
from nestarray.frontends.torch.pointwise import add, mul
from nestarray.frontends.torch.promotion import (
    cast,
    fill_number,
    is_number,
    result_type,
    to_array,
)
from nestarray.typing import Array

__all__ = [
    "argwhere", "diag", "diag_embed", "diagflat", "diagonal", "diagonal_copy", "diagonal_scatter",
    "gather", "index_add", "index_copy", "index_fill", "index_put", "index_reduce",
    "index_select", "masked_fill", "masked_scatter", "masked_select", "narrow", "narrow_copy",
    "nonzero", "nonzero_static", "put", "scatter", "scatter_add", "scatter_reduce", "select",
    "select_copy", "select_scatter", "slice_scatter", "take", "take_along_dim", "trace", "tril",
    "triu", "where",
]  # fmt: skip

_ALL = builtins.slice(None)

# -- choosing by condition -----------------------------------------------------------------


def where(
    condition: Array, input: Array | float | None = None, other: Array | float | None = None
) -> Any:
    """input where `condition` holds, else other; alone, the indices where it holds."""
    if input is None or other is None:
        return nonzero(condition, as_tuple=True)
    dtype = result_type(input, other)
    x, y = (to_array(fill_number("where", v, dtype), dtype, condition) for v in (input, other))
    if dtypes.dtype_of(condition) is dtypes.uint8:  # upstream's masks, before there was bool
        condition = na.not_equal(condition, 0)
    _check_mask("where", "condition", condition)
    return na.where(condition, x, y)


def masked_select(input: Array, mask: Array) -> Array:
    """The elements where `mask` holds, in one dimension."""
    _check_mask("masked_select", "mask", mask)
    shape = broadcast_shape(shape_of(input), shape_of(mask))
    return na.getitem(na.broadcast_to(input, shape), (na.broadcast_to(mask, shape),))


def nonzero(input: Array, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not 0: rows of a matrix, or one array a dimension."""
    if as_tuple:
        return tuple(
            cast(i, dtypes.int64) for i in na.nonzero(input if ndim_of(input) else input[None])
        )
    if ndim_of(input) == 0:
        (found,) = na.nonzero(na.reshape(input, (1,)))
        return na.zeros((shape_of(found)[0], 0), dtype=dtypes.int64, like=input)
    return na.stack([cast(i, dtypes.int64) for i in na.nonzero(input)], axis=1)


def argwhere(input: Array) -> Array:
    """The indices of the elements that are not 0, as rows."""
    return nonzero(input)


def _check_mask(name: str, argument: str, x: Array) -> None:
    if dtypes.dtype_of(x) is not dtypes.bool:
        raise DtypeError(f"{name}: {argument}: got {dtypes.dtype_of(x)}, expected bool")


# -- one place along a dimension -----------------------------------------------------------


def select(input: Array, dim: int, index: int) -> Array:
    """The slice at `index` of a dimension, without the dimension."""
    return na.getitem(input, (_ALL,) * wrap("select", dim, ndim_of(input)) + (index,))


def narrow(input: Array, dim: int, start: int, length: int) -> Array:
    """`length` elements of a dimension from `start` on."""
    if hasattr(start, "dtype"):
        if ndim_of(start) or not dtypes.dtype_of(start).is_integer:
            raise ArgumentError("narrow: start: expected an integer, or a 0-d array of one")
        start = int(start)
    axis = wrap("narrow", dim, ndim_of(input))
    size = shape_of(input)[axis]
    first = start + size if start < 0 else start
    if length < 0 or not 0 <= first <= size - length:
        raise ArgumentError(
            f"narrow: start, length: got {start} and {length}, expected a part of {size} elements"
        )
    return na.getitem(input, (_ALL,) * axis + (builtins.slice(first, first + length),))


def select_scatter(input: Array, src: Array, dim: int, index: int) -> Array:
    """input with the slice at `index` of a dimension replaced by `src`."""
    place = (_ALL,) * wrap("select_scatter", dim, ndim_of(input)) + (index,)
    return na.setitem(input, place, cast(src, dtypes.dtype_of(input)))


def slice_scatter(
    input: Array,
    src: Array,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    """input with the elements ``start:end:step`` of a dimension replaced by `src`."""
    place = (_ALL,) * wrap("slice_scatter", dim, ndim_of(input))
    place = (*place, builtins.slice(start, end, step))
    return na.setitem(input, place, cast(src, dtypes.dtype_of(input)))


def diagonal_scatter(
    input: Array, src: Array, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Array:
    """input with a diagonal replaced by `src`."""
    ndim = ndim_of(input)
    first, second = wrap("diagonal_scatter", dim1, ndim), wrap("diagonal_scatter", dim2, ndim)
    x = na.moveaxis(input, (first, second), (-2, -1))
    rows, columns = shape_of(x)[-2:]
    on_diagonal = na.eye(rows, columns, k=offset, dtype=dtypes.bool, like=input)
    places = builtins.max(0, -offset), builtins.max(0, offset)
    length = shape_of(src)[-1]
    column = na.pad(
        cast(src, dtypes.dtype_of(input)),
        [(0, 0)] * (ndim_of(src) - 1) + [(places[0], rows - places[0] - length)],
    )
    return na.moveaxis(
        na.where(on_diagonal, na.expand_dims(column, axis=-1), x), (-2, -1), (first, second)
    )


# -- along a dimension ---------------------------------------------------------------------


def index_select(input: Array, dim: int, index: Array) -> Array:
    """The slices of a dimension at a 1-d array of indices."""
    if ndim_of(input) == 0:
        return input
    index = na.reshape(index, (-1,)) if ndim_of(index) == 0 else index
    return na.take(input, index, axis=wrap("index_select", dim, ndim_of(input)))


def gather(input: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:
    """out[i, j] = input[index[i, j], j] for ``dim=0``; `index` may be smaller than input."""
    if ndim_of(input) and not is_empty(index) and ndim_of(index) not in (0, ndim_of(input)):
        raise ShapeError(
            f"gather: index: got {ndim_of(index)} dimensions, expected {ndim_of(input)} as input has"
        )
    if ndim_of(input) == 0 or ndim_of(index) == 0:
        flat = na.take(na.reshape(input, (-1,)), na.reshape(index, (-1,)), axis=0)
        return na.reshape(flat, shape_of(index))
    if is_empty(index):  # of any number of dimensions
        return na.zeros(shape_of(index), dtype=dtypes.dtype_of(input), like=input)
    axis = wrap("gather", dim, ndim_of(input))
    sizes = zip(shape_of(index), shape_of(input))
    if any(i != axis and own > limit for i, (own, limit) in enumerate(sizes)):
        raise ShapeError(
            f"gather: index: got the shape {shape_of(index)}, expected no more than "
            f"{shape_of(input)} but along dim {dim}"
        )
    return na.gather(input, index, axis=axis)


def take(input: Array, index: Array) -> Array:
    """The elements of the flattened input at `index`."""
    flat = na.take(na.reshape(input, (-1,)), na.reshape(index, (-1,)), axis=0)
    return na.reshape(flat, shape_of(index))


def take_along_dim(input: Array, indices: Array, dim: int | None = None) -> Array:
    """`gather` after broadcasting the two; without `dim`, of the flattened input."""
    if dim is None:
        return take(input, na.reshape(indices, (-1,)))
    axis = wrap("take_along_dim", dim, ndim_of(input))
    own, other = list(shape_of(input)), list(shape_of(indices))
    size, count = own[axis], other[axis]
    own[axis] = other[axis] = 1
    common = list(broadcast_shape(own, other))
    x = na.broadcast_to(input, (*common[:axis], size, *common[axis + 1 :]))
    places = na.broadcast_to(indices, (*common[:axis], count, *common[axis + 1 :]))
    return na.take_along_axis(x, places, axis=axis)


_MODES = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}


def scatter(
    input: Array, dim: int, index: Array, src: Array | float, *, reduce: str | None = None
) -> Array:
    """input with out[index[i, j], j] = src[i, j] for ``dim=0``; `reduce` "add" or "multiply"."""
    mode = {None: "replace", "add": "add", "multiply": "mul"}.get(reduce)
    if mode is None:
        raise ArgumentError(f"scatter: reduce: got {reduce!r}, expected None, 'add', 'multiply'")
    return _scatter(input, dim, index, src, mode)


def scatter_add(input: Array, dim: int, index: Array, src: Array) -> Array:
    """input with src[i, j] added at [index[i, j], j] for ``dim=0``."""
    return _scatter(input, dim, index, src, "add")


def scatter_reduce(
    input: Array,
    dim: int,
    index: Array,
    src: Array,
    reduce: str,
    *,
    include_self: bool = True,
) -> Array:
    """input combined with src at `index` by "sum", "prod", "mean", "amax" or "amin"."""
    if reduce != "mean" and reduce not in _MODES:
        raise ArgumentError(
            f"scatter_reduce: reduce: got {reduce!r}, expected one of {', '.join(_MODES)}, mean"
        )
    base = input
    if not include_self:
        neutral = na.full_like(input, _neutral(reduce, dtypes.dtype_of(input)))
        touched = _scatter(na.zeros_like(input, dtype=dtypes.int32), dim, index, 1, "replace")
        base = na.where(na.equal(touched, 1), neutral, input)
    if reduce != "mean":
        return _scatter(base, dim, index, src, _MODES[reduce])
    total = _scatter(base, dim, index, src, "add")
    start = na.ones_like(total) if include_self else na.zeros_like(total)
    count = na.maximum(_scatter(start, dim, index, 1, "add"), na.ones_like(total))
    if dtypes.dtype_of(total).is_inexact:
        return na.divide(total, count)
    return na.floor_divide(total, count)


def _neutral(reduce: str, dtype: dtypes.DType) -> float:
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype is dtypes.bool:
        return reduce == "amin"
    if dtype.is_inexact:
        return float("-inf") if reduce == "amax" else float("inf")
    info = na.iinfo(dtype)
    return info.min if reduce == "amax" else info.max


def _scatter(x: Array, dim: int, index: Array, src: Array | float, mode: str) -> Array:
    dtype = dtypes.dtype_of(x)
    if ndim_of(x) == 0:
        flat = _scatter(na.reshape(x, (1,)), 0, na.reshape(index, (-1,)), _flat(src), mode)
        return na.reshape(flat, ())
    axis = wrap("scatter", dim, ndim_of(x))
    index = na.reshape(index, (1,)) if ndim_of(index) == 0 else index
    if is_empty(index):
        return x
    others = [index] if is_number(src) else [index, src]
    if any(ndim_of(a) not in (0, ndim_of(x)) for a in others):
        raise ShapeError(
            f"scatter: got the shapes {', '.join(str(shape_of(a)) for a in others)} for an array of "
            f"shape {shape_of(x)}, expected equally many dimensions"
        )
    if is_number(src):
        updates = na.full(shape_of(index), fill_number("scatter", src, dtype), dtype=dtype, like=x)
    else:
        updates = cast(na.reshape(src, (1,)) if ndim_of(src) == 0 else src, dtype)
    return _combined(functools.partial(na.scatter, axis=axis), x, index, updates, mode)


def _combined(function: Any, x: Array, index: Any, values: Array, mode: str) -> Array:
    """Call a scatter `function`; booleans are combined as 0 and 1."""
    if mode == "replace" or dtypes.dtype_of(x) is not dtypes.bool:
        return function(x, index, values, mode=mode)
    number, added = na.astype(x, dtypes.int32), na.astype(values, dtypes.int32)
    return na.not_equal(function(number, index, added, mode=mode), 0)


def _flat(src: Array | float) -> Array | float:
    return src if is_number(src) else na.reshape(src, (-1,))


def index_add(input: Array, dim: int, index: Array, source: Array, *, alpha: float = 1) -> Array:
    """input with the slices of `source` added at the indices of a dimension."""
    axis = wrap("index_add", dim, ndim_of(input))
    rest, others = list(shape_of(input)), list(shape_of(source))
    if len(rest) == len(others) and rest:
        rest[axis] = others[axis] = 0
    if rest != others and numel_of(input) != 1:
        raise ShapeError(
            f"index_add: source: got the shape {shape_of(source)}, expected {shape_of(input)} but for "
            f"dim {dim}"
        )
    source = source if alpha == 1 else mul(source, alpha)
    return _at_slices(input, dim, index, source, "add")


def index_copy(input: Array, dim: int, index: Array, source: Array) -> Array:
    """input with the slices at `index` along a dimension replaced by the slices of `source`."""
    return _at_slices(input, dim, index, source, "replace")


def index_fill(input: Array, dim: int, index: Array, value: Array | float) -> Array:
    """input with the slices at the indices of a dimension set to one value."""
    dtype = dtypes.dtype_of(input)
    value = to_array(fill_number("index_fill", value, dtype), dtype, input)
    return _at_slices(input, dim, index, value, "replace")


def index_reduce(
    input: Array,
    dim: int,
    index: Array,
    source: Array,
    reduce: str,
    *,
    include_self: bool = True,
) -> Array:
    """input combined with slices of `source` by "prod", "mean", "amax" or "amin"."""
    axis = wrap("index_reduce", dim, ndim_of(input))
    places = na.reshape(index, tuple(-1 if a == axis else 1 for a in range(ndim_of(input))))
    return scatter_reduce(
        input,
        axis,
        na.broadcast_to(places, shape_of(source)),
        source,
        reduce,
        include_self=include_self,
    )


def _at_slices(x: Array, dim: int, index: Array, source: Array, mode: str) -> Array:
    source = cast(source, dtypes.dtype_of(x))
    if ndim_of(x) == 0:
        places, values = (na.reshape(index, (-1,)),), na.reshape(source, (-1,))
        return na.reshape(_combined(na.setitem, na.reshape(x, (1,)), places, values, mode), ())
    place = (_ALL,) * wrap("index_add", dim, ndim_of(x))
    index = na.reshape(index, (-1,)) if ndim_of(index) == 0 else index
    return _combined(na.setitem, x, (*place, index), source, mode)


# -- anywhere ------------------------------------------------------------------------------


def index_put(
    input: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False
) -> Array:
    """input with ``input[indices]`` replaced by values, or values added there."""
    place = _index(input, indices)
    mode = "add" if accumulate else "replace"
    values = cast(values, dtypes.dtype_of(input))
    mask = indices[0]
    whole_mask = (
        len(indices) == 1 and mask is not None and dtypes.dtype_of(mask) is dtypes.bool
        and shape_of(mask) == shape_of(input)[: ndim_of(mask)]
    )  # fmt: skip
    one_for_all = ndim_of(values) == 0 or (whole_mask and _fits_rows(input, mask, values))
    if whole_mask and one_for_all:  # no size depends on a value: this can be compiled
        shape = shape_of(mask) + (1,) * (ndim_of(input) - ndim_of(mask))
        new = add(input, values) if accumulate else values
        return na.where(na.reshape(mask, shape), new, input)
    return _combined(na.setitem, input, place, values, mode)


def _fits_rows(x: Array, mask: Array, values: Array) -> bool:
    """Whether `values` broadcast against each row that a mask selects, for any number of rows."""
    row = shape_of(x)[ndim_of(mask) :]
    own = shape_of(values)
    return len(own) <= len(row) or (len(own) == len(row) + 1 and own[0] == 1 and bool(row))


def _index(x: Array, indices: Sequence[Array | None]) -> tuple[Any, ...]:
    return tuple(_ALL if i is None else i for i in indices)


def put(input: Array, index: Array, source: Array, accumulate: bool = False) -> Array:
    """The flattened input with `source` at `index`, in the old shape."""
    values = na.reshape(cast(source, dtypes.dtype_of(input)), (-1,))
    places, mode = (na.reshape(index, (-1,)),), "add" if accumulate else "replace"
    flat = _combined(na.setitem, na.reshape(input, (-1,)), places, values, mode)
    return na.reshape(flat, shape_of(input))


def masked_fill(input: Array, mask: Array, value: Array | float) -> Array:
    """input with `value` where `mask` holds."""
    _check_mask("masked_fill", "mask", mask)
    if ndim_of(value):
        raise ShapeError(
            f"masked_fill: value: got {ndim_of(value)} dimensions, expected a number or a 0-d array"
        )
    dtype = dtypes.dtype_of(input)
    value = to_array(fill_number("masked_fill", value, dtype), dtype, input)
    return na.where(mask, value, input)


def masked_scatter(input: Array, mask: Array, source: Array) -> Array:
    """input with the elements at true entries of `mask` replaced by the elements of `source`, in order."""
    _check_mask("masked_scatter", "mask", mask)
    shape = broadcast_shape(shape_of(input), shape_of(mask))
    x, chosen = na.broadcast_to(input, shape), na.broadcast_to(mask, shape)
    if numel_of(source) == 0:  # so nothing is chosen
        return x
    flat = na.astype(na.reshape(chosen, (-1,)), dtypes.int64)
    rank = na.subtract(na.cumulative_sum(flat, axis=0), 1)
    rank = na.clip(rank, 0, numel_of(source) - 1)
    values = na.take(na.reshape(cast(source, dtypes.dtype_of(input)), (-1,)), rank, axis=0)
    return na.where(chosen, na.reshape(values, shape), x)


# -- triangles and diagonals ---------------------------------------------------------------


def tril(input: Array, diagonal: int = 0) -> Array:
    """The lower triangle, zeros above."""
    if ndim_of(input) < 2:
        raise ShapeError(f"tril: input: got {ndim_of(input)} dimensions, expected at least 2")
    return na.tril(input, k=diagonal)


def triu(input: Array, diagonal: int = 0) -> Array:
    """The upper triangle, zeros below."""
    if ndim_of(input) < 2:
        raise ShapeError(f"triu: input: got {ndim_of(input)} dimensions, expected at least 2")
    return na.triu(input, k=diagonal)


def diagonal(input: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """A diagonal of two dimensions, as the last dimension."""
    ndim = ndim_of(input)
    first, second = wrap("diagonal", dim1, ndim), wrap("diagonal", dim2, ndim)
    x = na.moveaxis(input, (first, second), (-2, -1))
    rows, columns = shape_of(x)[-2:]
    top, left = builtins.max(0, -offset), builtins.max(0, offset)
    length = builtins.max(builtins.min(rows - top, columns - left), 0)
    places = na.arange(length, dtype=dtypes.int64, like=input)
    flat = na.reshape(x, (*shape_of(x)[:-2], rows * columns))
    return na.take(flat, na.add(na.multiply(places, columns + 1), top * columns + left), axis=-1)


def diag_embed(input: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """The last dimension as a diagonal of two dimensions."""
    if wrap("diag_embed", dim1, ndim_of(input) + 1) == wrap("diag_embed", dim2, ndim_of(input) + 1):
        raise ArgumentError(f"diag_embed: dim1, dim2: got {dim1} twice, expected two dimensions")
    length, margin = shape_of(input)[-1], builtins.abs(offset)
    size, ndim = length + margin, ndim_of(input) + 1
    first, second = wrap("diag_embed", dim1, ndim), wrap("diag_embed", dim2, ndim)
    before = [(0, 0)] * (ndim_of(input) - 1)
    column = na.pad(input, [*before, (margin, 0) if offset < 0 else (0, margin)])
    places = na.eye(size, size, k=offset, dtype=dtypes.bool, like=input)
    full = na.where(
        places,
        na.expand_dims(column, axis=-1),
        na.zeros((), dtype=dtypes.dtype_of(input), like=input),
    )
    return na.moveaxis(full, (-2, -1), (first, second))


def diag(input: Array, diagonal: int = 0) -> Array:
    """The matrix with a vector as its diagonal, or the diagonal of a matrix."""
    if ndim_of(input) not in (1, 2):
        raise ShapeError(f"diag: input: got {ndim_of(input)} dimensions, expected 1 or 2")
    if ndim_of(input) == 1:
        return diag_embed(input, diagonal)
    return _diagonal(input, diagonal)


def trace(input: Array) -> Array:
    """The sum of the main diagonal."""
    if ndim_of(input) != 2:
        raise ShapeError(f"trace: input: got {ndim_of(input)} dimensions, expected a matrix")
    return reduction.sum(diagonal(input))


_diagonal = diagonal

diagonal_copy, narrow_copy, select_copy = diagonal, narrow, select


def diagflat(input: Array, offset: int = 0) -> Array:
    """The matrix with the elements of input, in order, as a diagonal."""
    return diag_embed(na.reshape(input, (-1,)), offset)


def nonzero_static(input: Array, *, size: int, fill_value: int = -1) -> Array:
    """The first `size` indices of nonzero elements, as rows, padded with `fill_value`.

    The shape of the result does not depend on values, so the call can be compiled.
    """
    ndim, count = ndim_of(input), numel_of(input)
    if count == 0:
        return na.full((size, ndim), fill_value, dtype=dtypes.int64, like=input)
    found = na.reshape(na.not_equal(input, 0), (count,))
    order = na.argsort(na.astype(na.logical_not(found), dtypes.int32), axis=0, stable=True)
    order = cast(order, dtypes.int64)[: builtins.min(size, count)]
    order = na.pad(order, [(0, builtins.max(size - count, 0))])
    if ndim == 0:
        return na.zeros((size, 0), dtype=dtypes.int64, like=input)
    rows = na.stack(na.unravel_index(order, shape_of(input)), axis=1)
    total = na.sum(cast(found, dtypes.int64))
    is_filled = na.less(na.arange(size, dtype=dtypes.int64, like=order), total)
    rest = na.full((), fill_value, dtype=dtypes.int64, like=order)
    return na.where(na.expand_dims(is_filled, axis=1), cast(rows, dtypes.int64), rest)
