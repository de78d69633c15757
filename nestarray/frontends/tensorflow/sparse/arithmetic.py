"""Sums, products and reductions of sparse tensors.

Upstream: https://www.tensorflow.org/api_docs/python/tf/sparse/sparse_dense_matmul
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import axes_of, tensor
from nestarray.frontends.tensorflow.linalg.products import adjoint
from nestarray.frontends.tensorflow.sparse.tensors import (
    SparseTensor,
    chosen,
    flat_indices,
    full_indices,
)
from nestarray.typing import Array, DTypeLike

__all__ = [
    "add", "maximum", "minimum", "reduce_max", "reduce_sum", "sampled_addmm", "softmax",
    "sparse_dense_matmul",
]  # fmt: skip


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum, sparse if both are; sums of two elements with |sum| < `threshold` are left out.

    Raises:
        ArgumentError: neither is sparse.
    """
    if not isinstance(a, SparseTensor):
        a, b = b, a
    if not isinstance(a, SparseTensor):
        raise ArgumentError("add: a, b: got two dense tensors, expected a SparseTensor; use tf.add")
    if not isinstance(b, SparseTensor):
        return na.scatter_nd(tensor(b, a.dtype, a.values), a.indices, a.values, mode="add")
    places, (first, second), is_sum = _united(a, b)
    total = na.add(first, second)
    is_small = na.logical_and(is_sum, na.less(na.abs(total), threshold))
    kept = chosen(na.logical_not(is_small))
    indices = full_indices(na.take(places, kept, axis=0), a.shape)
    return SparseTensor(indices, na.take(total, kept, axis=0), a.dense_shape)


def _united(a: SparseTensor, b: SparseTensor) -> tuple[Array, tuple[Array, Array], Array]:
    """The places of the elements of either, the values of both there, or 0, and where both have one."""
    flat = [flat_indices(x.indices, x.shape) for x in (a, b)]
    found = na.unique_all(na.concat(flat))
    count, size = na.shape(found.values)[0], na.shape(flat[0])[0]
    places = na.reshape(found.inverse_indices, (-1,))
    first = na.segment_sum(a.values, na.getitem(places, slice(size)), num_segments=count)
    second = na.segment_sum(b.values, na.getitem(places, slice(size, None)), num_segments=count)
    return found.values, (first, second), na.greater(found.counts, 1)


def _extreme(op: Callable[[Array, Array], Array], a: SparseTensor, b: SparseTensor) -> SparseTensor:
    places, values, _ = _united(a, b)
    return SparseTensor(full_indices(places, a.shape), op(*values), a.dense_shape)


def maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The larger elements, at the places of either."""
    return _extreme(na.maximum, sp_a, sp_b)


def minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The smaller elements, at the places of either."""
    return _extreme(na.minimum, sp_a, sp_b)


# -- reductions ------------------------------------------------------------------------------------


def _reduced(
    op: Callable[..., Array], x: SparseTensor, axis: Any, keepdims: Any, is_sparse: bool
) -> Any:
    """The reduction of the stored elements, 0 without any; sparse: only where some are stored."""
    shape = x.shape
    axes = axes_of(axis, len(shape))
    kept = [i for i in range(len(shape)) if i not in axes]
    sizes = tuple([shape[i] for i in kept])
    result = sizes
    if keepdims:
        result = tuple([1 if i in axes else n for i, n in enumerate(shape)])
    columns = [na.getitem(x.indices, (..., i)) for i in kept]
    ids = na.ravel_multi_index(columns, sizes) if kept else flat_indices(x.indices, ())
    if is_sparse:
        found = na.unique_all(ids)
        places = na.reshape(found.inverse_indices, (-1,))
        values = op(x.values, places, num_segments=na.shape(found.values)[0])
        return SparseTensor(full_indices(found.values, result), values, result)
    count = math.prod(sizes)
    ones = na.ones_like(ids, dtype=dtypes.int32)
    is_empty = na.equal(na.segment_sum(ones, ids, num_segments=count), 0)
    values = op(x.values, ids, num_segments=count)
    return na.reshape(na.where(is_empty, na.zeros_like(values), values), result)


def reduce_sum(
    sp_input: SparseTensor,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The sums of elements over axes, by default all."""
    return _reduced(na.segment_sum, sp_input, axis, keepdims, output_is_sparse)


def reduce_max(
    sp_input: SparseTensor,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The maxima of the stored elements over axes, by default all; 0 without elements."""
    return _reduced(na.segment_max, sp_input, axis, keepdims, output_is_sparse)


def softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The softmax of the stored elements, along the last axis."""
    shape = sp_input.shape
    count = math.prod(shape[:-1])
    rows = flat_indices(na.getitem(sp_input.indices, (slice(None), slice(-1))), shape[:-1])
    top = na.segment_max(na.stop_gradient(sp_input.values), rows, num_segments=count)
    powers = na.exp(na.subtract(sp_input.values, na.take(top, rows, axis=0)))
    total = na.segment_sum(powers, rows, num_segments=count)
    return sp_input.with_values(na.divide(powers, na.take(total, rows, axis=0)))


# -- products --------------------------------------------------------------------------------------


def sparse_dense_matmul(
    sp_a: Any,
    b: Any,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Array:
    """The product of two matrices, one of them sparse."""
    if isinstance(b, SparseTensor):
        return adjoint(sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a))
    rows, columns = [na.getitem(sp_a.indices, (..., i)) for i in range(2)]
    values, count = sp_a.values, sp_a.shape[0]
    if adjoint_a:
        rows, columns, count = columns, rows, sp_a.shape[1]
        values = na.conj(values) if sp_a.dtype.kind == "complex" else values
    b = tensor(b, sp_a.dtype, values)
    parts = na.take(adjoint(b) if adjoint_b else b, columns, axis=0)
    return na.segment_sum(na.multiply(na.expand_dims(values, 1), parts), rows, num_segments=count)


def sampled_addmm(
    indices: Any,
    values: Any,
    dense_shape: Any,
    mat1: Any,
    mat2: Any,
    beta: float = 1.0,
    alpha: float = 1.0,
    output_type: DTypeLike = dtypes.float32,
) -> tuple[Array, Array, Array]:
    """alpha · mat1 · mat2 + beta · values at the places of a sparse tensor.

    Args:
        indices: `(*batch, n, 2)`.
        values: `(*batch, n)`.
        dense_shape: the shape of the matrices of the result.
        mat1, mat2: `(*batch, rows, k)` and `(*batch, k, columns)`.
        beta, alpha: numbers.
        output_type: the dtype of the result.

    Returns:
        the indices, the new values, and the shape.
    """
    mat1, mat2, values = [na.astype(tensor(x), output_type) for x in (mat1, mat2, values)]
    indices = tensor(indices, like=values)
    rows, columns = [na.getitem(indices, (..., slice(i, i + 1))) for i in range(2)]
    width = (*na.shape(rows)[:-1], na.shape(mat1)[-1])
    first = na.take_along_axis(mat1, na.broadcast_to(rows, width), axis=-2)
    turned = na.matrix_transpose(mat2)
    second = na.take_along_axis(turned, na.broadcast_to(columns, width), axis=-2)
    product = na.sum(na.multiply(first, second), axis=-1)
    found = na.add(na.multiply(product, alpha), na.multiply(values, beta))
    return indices, found, tensor(dense_shape, like=values)
