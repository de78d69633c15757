"""Embeddings, https://docs.pytorch.org/docs/stable/nn.functional.html#sparse-functions."""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.frontends.derivatives import with_derivative_of
from nestarray.frontends.torch.dims import ndim_of, shape_of
from nestarray.frontends.torch.linalg import vector_norm
from nestarray.frontends.torch.promotion import cast, expect_one_dtype
from nestarray.typing import Array, DTypeLike

__all__ = ["embedding", "embedding_bag", "one_hot"]


def embedding(
    input: Array,
    weight: Array,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    """The rows of `weight` at the indices `input`; no gradient reaches the row `padding_idx`.

    Rows longer than `max_norm` are shortened, of which gradients know nothing; `weight` itself,
    which upstream overwrites, stays.
    With `scale_grad_by_freq` the gradient of a row is divided by how often its index occurs.
    """
    if ndim_of(weight) != 2:
        raise ShapeError(f"embedding: weight: got {ndim_of(weight)} dimensions, expected a matrix")
    if padding_idx is not None and padding_idx >= 0:
        padding = na.equal(na.arange(shape_of(weight)[0], like=weight), padding_idx)
        weight = na.where(na.expand_dims(padding, axis=-1), na.stop_gradient(weight), weight)
    rows = na.embedding(input, weight)
    if scale_grad_by_freq:
        times = frequencies(input, shape_of(weight)[0], dtypes.dtype_of(rows))
        shares = na.divide(rows, na.expand_dims(times, axis=-1))
        rows = with_derivative_of(shares, na.stop_gradient(rows))
    if max_norm is None:
        return rows
    length = na.stop_gradient(vector_norm(rows, norm_type, -1, keepdim=True))
    shorter = na.divide(max_norm, na.add(length, 1e-7))
    factor = na.where(na.greater(length, max_norm), shorter, na.ones_like(shorter))
    return with_derivative_of(rows, na.stop_gradient(na.multiply(rows, factor)))


def frequencies(index: Array, count: int, dtype: DTypeLike) -> Array:
    """The count of each index in the whole array; indices are below `count`."""
    flat = na.reshape(index, (-1,))
    found = na.segment_sum(na.ones_like(flat), flat, num_segments=count)
    return cast(na.take(found, index, axis=0), dtype)


def one_hot(tensor: Array, num_classes: int = -1) -> Array:
    """One-hot vectors in a new last dimension; `num_classes` −1 reads the largest index.

    Example:
        >>> import numpy as np
        >>> from nestarray.frontends.torch.nn import functional as F
        >>> F.one_hot(np.asarray([0, 2]))
        array([[1, 0, 0],
               [0, 0, 1]])
    """
    if not dtypes.dtype_of(tensor).is_integer:
        raise DtypeError(f"one_hot: tensor: got {dtypes.dtype_of(tensor)}, expected integers")
    if num_classes == -1:
        num_classes = int(na.max(tensor)) + 1
    classes = na.arange(num_classes, dtype=dtypes.dtype_of(tensor), like=tensor)
    return cast(na.equal(na.expand_dims(tensor, axis=-1), classes), dtypes.int64)


def embedding_bag(
    input: Array,
    weight: Array,
    offsets: Array | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Array:
    """Sums, means or maxima of the rows of `weight` at the indices of each bag.

    Bags are the rows of a 2-d input, or begin at `offsets` of a 1-d one. Rows at `padding_idx`
    do not count, and an empty bag is 0. `weight` itself, which upstream overwrites where rows
    are longer than `max_norm`, stays. With `scale_grad_by_freq` the gradient of a row is divided
    by how often its index occurs.
    """
    if mode not in ("sum", "mean", "max"):
        raise ArgumentError(f"embedding_bag: mode: got {mode!r}, expected 'sum', 'mean' or 'max'")
    if scale_grad_by_freq and mode == "max":
        raise ArgumentError(
            "embedding_bag: scale_grad_by_freq: got True beside mode='max', expected False; "
            "gradients are scaled with mode='sum' and mode='mean'"
        )
    expect_one_dtype("embedding_bag", weight, per_sample_weights=per_sample_weights)
    if per_sample_weights is not None and mode != "sum":
        raise ArgumentError(
            f"embedding_bag: per_sample_weights: got weights beside mode={mode!r}, expected None; "
            "weights go with mode='sum'"
        )
    if per_sample_weights is not None and shape_of(per_sample_weights) != shape_of(input):
        raise ShapeError(
            f"embedding_bag: per_sample_weights: got the shape {shape_of(per_sample_weights)}, "
            f"expected that of input, {shape_of(input)}"
        )
    if ndim_of(weight) != 2 or ndim_of(input) not in (1, 2):
        raise ShapeError(
            f"embedding_bag: got the shapes {shape_of(input)} and {shape_of(weight)}, expected "
            "indices of 1 or 2 dimensions and a matrix"
        )
    if (offsets is None) != (ndim_of(input) == 2) or (
        offsets is not None and ndim_of(offsets) != 1
    ):
        raise ArgumentError(
            f"embedding_bag: offsets: got {'None' if offsets is None else shape_of(offsets)} beside "
            f"an input of {ndim_of(input)} dimensions, expected a vector beside 1 and None beside 2"
        )
    bag, count = _bags(input, offsets, include_last_offset)
    index = na.reshape(input, (-1,))
    rows = embedding(index, weight, None, max_norm, norm_type, scale_grad_by_freq)
    if per_sample_weights is not None:
        rows = na.multiply(rows, na.reshape(per_sample_weights, (-1, 1)))
    return _of_bags(rows, bag, count, _counted(index, weight, padding_idx), mode)


def _bags(input: Array, offsets: Array | None, include_last_offset: bool) -> tuple[Array, int]:
    """The bag of each index, and the number of bags."""
    if offsets is None:
        count, _ = na.shape(input)
        bags = na.expand_dims(na.arange(count, dtype=dtypes.int64, like=input), axis=-1)
        return na.reshape(na.broadcast_to(bags, na.shape(input)), (-1,)), count
    count = na.shape(offsets)[0] - bool(include_last_offset)
    starts = cast(na.getitem(offsets, (slice(0, count),)), dtypes.int64)
    places = na.arange(na.shape(input)[0], dtype=dtypes.int64, like=input)
    return na.subtract(cast(na.searchsorted(starts, places, side="right"), dtypes.int64), 1), count


def _counted(index: Array, weight: Array, padding_idx: int | None) -> Array:
    """Mask of the indices other than the padding row; `padding_idx` may be negative."""
    if padding_idx is None:
        return na.ones_like(index, dtype=dtypes.bool)
    return na.not_equal(index, padding_idx % shape_of(weight)[0])


def _of_bags(rows: Array, bag: Array, count: int, is_counted: Array, mode: str) -> Array:
    column = na.expand_dims(is_counted, axis=1)
    if mode == "max":
        lowest = na.where(column, rows, na.full_like(rows, -float("inf")))
        found = na.segment_max(lowest, bag, num_segments=count)
        return na.where(na.isinf(found), na.zeros_like(found), found)
    found = na.segment_sum(na.where(column, rows, na.zeros_like(rows)), bag, num_segments=count)
    if mode == "sum":
        return found
    sizes = na.segment_sum(cast(is_counted, dtypes.dtype_of(rows)), bag, num_segments=count)
    return na.divide(found, na.expand_dims(na.maximum(sizes, na.ones_like(sizes)), axis=1))
