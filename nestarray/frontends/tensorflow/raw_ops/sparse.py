"""Sparse tensors as three arguments: indices, values and a shape.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/SparseTensorDenseMatMul
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.tensorflow import sparse
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.frontends.tensorflow.raw_ops.ordering import DenseBincount
from nestarray.frontends.tensorflow.sparse import SparseTensor
from nestarray.frontends.tensorflow.sparse.layout import filled_rows
from nestarray.frontends.tensorflow.sparse.segments import counted
from nestarray.frontends.tensorflow.sparse.tensors import dense_elements, flat_indices, parts
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = [
    "SparseAdd", "SparseAddGrad", "SparseBincount", "SparseConcat", "SparseCountSparseOutput",
    "SparseDenseCwiseAdd", "SparseDenseCwiseDiv", "SparseDenseCwiseMul", "SparseFillEmptyRows",
    "SparseFillEmptyRowsGrad", "SparseMatMul", "SparseReduceMax", "SparseReduceMaxSparse",
    "SparseReduceSum", "SparseReduceSumSparse", "SparseReorder", "SparseReshape",
    "SparseSegmentMean", "SparseSegmentMeanGrad", "SparseSegmentMeanGradV2",
    "SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtN", "SparseSegmentSqrtNGrad",
    "SparseSegmentSqrtNGradV2", "SparseSegmentSqrtNWithNumSegments", "SparseSegmentSum",
    "SparseSegmentSumGrad", "SparseSegmentSumGradV2", "SparseSegmentSumWithNumSegments",
    "SparseSlice", "SparseSliceGrad", "SparseSoftmax", "SparseSparseMaximum",
    "SparseSparseMinimum", "SparseSplit", "SparseTensorDenseAdd", "SparseTensorDenseMatMul",
    "SparseToDense",
]  # fmt: skip

#: Indices, values and shape.
Parts = tuple[Array, Array, Array]


def SparseToDense(
    sparse_indices: Array,
    output_shape: Ints,
    sparse_values: Array,
    default_value: Array,
    validate_indices: bool = True,
) -> Array:
    """`default_value` but for the values; the indices of a vector may have one axis or none."""
    rank = len(na.shape(sparse_indices))
    indices = na.reshape(sparse_indices, (-1, 1)) if rank < 2 else sparse_indices
    values = na.broadcast_to(sparse_values, (na.shape(indices)[0],))
    return sparse.to_dense(SparseTensor(indices, values, output_shape), default_value)


def SparseTensorDenseAdd(a_indices: Array, a_values: Array, a_shape: Ints, b: Array) -> Array:
    """A dense tensor plus a sparse one."""
    return sparse.add(SparseTensor(a_indices, a_values, a_shape), b)


def SparseTensorDenseMatMul(
    a_indices: Array,
    a_values: Array,
    a_shape: Ints,
    b: Array,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Array:
    """The product of a sparse and a dense matrix."""
    a = SparseTensor(a_indices, a_values, a_shape)
    return sparse.sparse_dense_matmul(a, b, adjoint_a, adjoint_b)


def SparseMatMul(
    a: Array,
    b: Array,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
) -> Array:
    """The product in float32 of two dense matrices, which may have many zeros."""
    a, b = na.astype(a, dtypes.float32), na.astype(b, dtypes.float32)
    a = na.matrix_transpose(a) if transpose_a else a
    return na.matmul(a, na.matrix_transpose(b) if transpose_b else b)


# -- elementwise -----------------------------------------------------------------------------------


def SparseAdd(
    a_indices: Array,
    a_values: Array,
    a_shape: Array,
    b_indices: Array,
    b_values: Array,
    b_shape: Array,
    thresh: Array,
) -> Parts:
    """The sum; sums of an absolute value below `thresh` are left out."""
    a = SparseTensor(a_indices, a_values, a_shape)
    return parts(sparse.add(a, SparseTensor(b_indices, b_values, b_shape), thresh))


def SparseAddGrad(
    backprop_val_grad: Array, a_indices: Array, b_indices: Array, sum_indices: Array
) -> tuple[Array, Array]:
    """The gradients of `SparseAdd` by the values; 0 for elements that the sum lacks."""
    grad = na.stop_gradient(backprop_val_grad)
    return _at(grad, sum_indices, a_indices), _at(grad, sum_indices, b_indices)


def _at(values: Array, indices: Array, wanted: Array) -> Array:
    """The values at some of their indices, 0 at others."""
    both = na.concat([indices, wanted])
    shape = tuple([int(n) + 1 for n in na.unstack(na.max(both, axis=0))])
    flat, places = flat_indices(indices, shape), flat_indices(wanted, shape)
    is_same = na.equal(na.expand_dims(places, 1), na.expand_dims(flat, 0))
    return na.matmul(na.astype(is_same, dtypes.dtype_of(values)), values)


def SparseSparseMaximum(
    a_indices: Array,
    a_values: Array,
    a_shape: Array,
    b_indices: Array,
    b_values: Array,
    b_shape: Array,
) -> tuple[Array, Array]:
    """The larger elements, at the places of either."""
    a, b = SparseTensor(a_indices, a_values, a_shape), SparseTensor(b_indices, b_values, b_shape)
    return parts(sparse.maximum(a, b))[:2]


def SparseSparseMinimum(
    a_indices: Array,
    a_values: Array,
    a_shape: Array,
    b_indices: Array,
    b_values: Array,
    b_shape: Array,
) -> tuple[Array, Array]:
    """The smaller elements, at the places of either."""
    a, b = SparseTensor(a_indices, a_values, a_shape), SparseTensor(b_indices, b_values, b_shape)
    return parts(sparse.minimum(a, b))[:2]


def SparseDenseCwiseAdd(
    sp_indices: Array, sp_values: Array, sp_shape: Array, dense: Array
) -> Array:
    """The values plus the elements of a dense tensor, broadcast, at their places."""
    return na.add(sp_values, dense_elements(SparseTensor(sp_indices, sp_values, sp_shape), dense))


def SparseDenseCwiseMul(
    sp_indices: Array, sp_values: Array, sp_shape: Array, dense: Array
) -> Array:
    """The values times the elements of a dense tensor, broadcast, at their places."""
    return (SparseTensor(sp_indices, sp_values, sp_shape) * dense).values


def SparseDenseCwiseDiv(
    sp_indices: Array, sp_values: Array, sp_shape: Array, dense: Array
) -> Array:
    """The values divided by the elements of a dense tensor, broadcast, at their places."""
    return (SparseTensor(sp_indices, sp_values, sp_shape) / dense).values


def SparseSoftmax(sp_indices: Array, sp_values: Array, sp_shape: Array) -> Array:
    """The softmax of the elements that are there, along the last axis."""
    return sparse.softmax(SparseTensor(sp_indices, sp_values, sp_shape)).values


# -- reductions ------------------------------------------------------------------------------------


def SparseReduceSum(
    input_indices: Array,
    input_values: Array,
    input_shape: Array,
    reduction_axes: Ints,
    keep_dims: bool = False,
) -> Array:
    """The sums over axes."""
    x = SparseTensor(input_indices, input_values, input_shape)
    return sparse.reduce_sum(x, integers(reduction_axes), keep_dims)


def SparseReduceMax(
    input_indices: Array,
    input_values: Array,
    input_shape: Array,
    reduction_axes: Ints,
    keep_dims: bool = False,
) -> Array:
    """The maxima of the elements that are there; 0 without elements."""
    x = SparseTensor(input_indices, input_values, input_shape)
    return sparse.reduce_max(x, integers(reduction_axes), keep_dims)


def SparseReduceSumSparse(
    input_indices: Array,
    input_values: Array,
    input_shape: Array,
    reduction_axes: Ints,
    keep_dims: bool = False,
) -> Parts:
    """`SparseReduceSum` with a sparse result."""
    x = SparseTensor(input_indices, input_values, input_shape)
    return parts(sparse.reduce_sum(x, integers(reduction_axes), keep_dims, True))


def SparseReduceMaxSparse(
    input_indices: Array,
    input_values: Array,
    input_shape: Array,
    reduction_axes: Ints,
    keep_dims: bool = False,
) -> Parts:
    """`SparseReduceMax` with a sparse result."""
    x = SparseTensor(input_indices, input_values, input_shape)
    return parts(sparse.reduce_max(x, integers(reduction_axes), keep_dims, True))


# -- order and shape -------------------------------------------------------------------------------


def SparseReorder(
    input_indices: Array, input_values: Array, input_shape: Array
) -> tuple[Array, Array]:
    """The indices and values in row-major order."""
    return parts(sparse.reorder(SparseTensor(input_indices, input_values, input_shape)))[:2]


def SparseReshape(
    input_indices: Array, input_shape: Array, new_shape: Array
) -> tuple[Array, Array]:
    """The indices in another shape, and the shape."""
    values = na.getitem(input_indices, (..., 0))
    found = sparse.reshape(SparseTensor(input_indices, values, input_shape), new_shape)
    return found.indices, parts(found)[2]


def SparseConcat(
    indices: Sequence[Array], values: Sequence[Array], shapes: Sequence[Array], concat_dim: int
) -> Parts:
    """Tensors after one another along an axis, without a derivative."""
    inputs = [SparseTensor(*x) for x in zip(indices, values, shapes, strict=True)]
    return parts(sparse.concat(concat_dim, inputs))


def SparseSplit(
    split_dim: int, indices: Array, values: Array, shape: Array, num_split: int
) -> tuple[tuple[Array, ...], tuple[Array, ...], tuple[Array, ...]]:
    """The indices, the values and the shapes of parts along an axis."""
    found = sparse.split(SparseTensor(indices, values, shape), num_split, split_dim)
    first, second, third = zip(*[parts(x) for x in found], strict=True)
    return first, second, third


def SparseSlice(indices: Array, values: Array, shape: Array, start: Ints, size: Ints) -> Parts:
    """The block of a size from a place on."""
    return parts(sparse.slice(SparseTensor(indices, values, shape), start, size))


def SparseSliceGrad(
    backprop_val_grad: Array, input_indices: Array, input_start: Array, output_indices: Array
) -> Array:
    """The gradient of `SparseSlice` by the values."""
    moved = na.add(output_indices, input_start)
    return _at(backprop_val_grad, moved, input_indices)


def SparseFillEmptyRows(
    indices: Array, values: Array, dense_shape: Array, default_value: Array
) -> tuple[Array, Array, Array, Array]:
    """A matrix with an element in each row: indices, values, empty rows, and where elements went."""
    x = SparseTensor(indices, values, dense_shape)
    found, is_empty, places = filled_rows(x, default_value)
    return found.indices, found.values, is_empty, places


def SparseFillEmptyRowsGrad(reverse_index_map: Array, grad_values: Array) -> tuple[Array, Array]:
    """The gradients of `SparseFillEmptyRows` by the values and the default value."""
    places = na.arange(na.shape(grad_values)[0], like=reverse_index_map)
    is_default = na.isin(places, reverse_index_map, invert=True)
    rest = na.where(is_default, grad_values, na.zeros_like(grad_values))
    return na.take(grad_values, reverse_index_map, axis=0), na.sum(rest)


# -- counts and segments ---------------------------------------------------------------------------


def SparseBincount(
    indices: Array,
    values: Array,
    dense_shape: Array,
    size: int,
    weights: Array,
    binary_output: bool = False,
) -> Array:
    """The number, or the sum of weights, of each integer below `size`, of all or of each row."""
    if len(integers(dense_shape)) == 1:
        return DenseBincount(values, size, weights, binary_output)
    count, width = integers(dense_shape)[0], integers(size)
    rows = na.astype(na.getitem(indices, (..., 0)), dtypes.dtype_of(values))
    beyond = na.full_like(values, count * width)
    places = na.add(na.multiply(rows, width), values)
    places = na.where(na.less(values, width), places, beyond)
    found = DenseBincount(places, count * width, weights, binary_output)
    return na.reshape(found, (count, width))


def SparseCountSparseOutput(
    indices: Array,
    values: Array,
    dense_shape: Array,
    weights: Array,
    binary_output: bool,
    minlength: int = -1,
    maxlength: int = -1,
) -> Parts:
    """The number, or the sum of weights, of each integer, of all or of each row."""
    shape = integers(dense_shape)
    is_by_row = len(shape) > 1
    rows = na.getitem(indices, (..., 0))
    found = counted(
        rows if is_by_row else na.zeros_like(rows), values,
        weights if na.shape(weights)[0] else na.ones_like(values, dtype=dtypes.dtype_of(weights)),
        shape[0] if is_by_row else None, minlength, maxlength, binary_output,
    )  # fmt: skip
    return parts(found)


def SparseSegmentSum(
    data: Array, indices: Array, segment_ids: Array, sparse_gradient: bool = False
) -> Array:
    """The sums of the rows at `indices`, by segments."""
    return sparse.segment_sum(data, indices, segment_ids)


def SparseSegmentMean(
    data: Array, indices: Array, segment_ids: Array, sparse_gradient: bool = False
) -> Array:
    """The means of the rows at `indices`, by segments."""
    return sparse.segment_mean(data, indices, segment_ids)


def SparseSegmentSqrtN(
    data: Array, indices: Array, segment_ids: Array, sparse_gradient: bool = False
) -> Array:
    """The sums of the rows at `indices`, divided by the roots of the sizes of segments."""
    return sparse.segment_sqrt_n(data, indices, segment_ids)


def SparseSegmentSumWithNumSegments(
    data: Array,
    indices: Array,
    segment_ids: Array,
    num_segments: int,
    sparse_gradient: bool = False,
) -> Array:
    """`SparseSegmentSum` of a number of segments."""
    return sparse.segment_sum(data, indices, segment_ids, num_segments)


def SparseSegmentMeanWithNumSegments(
    data: Array,
    indices: Array,
    segment_ids: Array,
    num_segments: int,
    sparse_gradient: bool = False,
) -> Array:
    """`SparseSegmentMean` of a number of segments."""
    return sparse.segment_mean(data, indices, segment_ids, num_segments)


def SparseSegmentSqrtNWithNumSegments(
    data: Array,
    indices: Array,
    segment_ids: Array,
    num_segments: int,
    sparse_gradient: bool = False,
) -> Array:
    """`SparseSegmentSqrtN` of a number of segments."""
    return sparse.segment_sqrt_n(data, indices, segment_ids, num_segments)


def _rows_gradient(
    op: Callable[..., Array], grad: Array, indices: Array, segment_ids: Array, count: Array
) -> Array:
    """The gradient of a reduction of segments by the rows of the data."""
    start = na.zeros((integers(count), *na.shape(grad)[1:]), dtype=dtypes.dtype_of(grad), like=grad)
    segments = na.shape(grad)[0]
    return na.vjp(lambda x: op(x, indices, segment_ids, segments), start)[1](grad)[0]


def SparseSegmentSumGrad(
    grad: Array, indices: Array, segment_ids: Array, output_dim0: int
) -> Array:
    """The gradient of `SparseSegmentSum`."""
    return _rows_gradient(sparse.segment_sum, grad, indices, segment_ids, output_dim0)


def SparseSegmentMeanGrad(
    grad: Array, indices: Array, segment_ids: Array, output_dim0: int
) -> Array:
    """The gradient of `SparseSegmentMean`."""
    return _rows_gradient(sparse.segment_mean, grad, indices, segment_ids, output_dim0)


def SparseSegmentSqrtNGrad(
    grad: Array, indices: Array, segment_ids: Array, output_dim0: int
) -> Array:
    """The gradient of `SparseSegmentSqrtN`."""
    return _rows_gradient(sparse.segment_sqrt_n, grad, indices, segment_ids, output_dim0)


def _touched_rows(
    op: Callable[..., Array], grad: Array, indices: Array, segment_ids: Array, count: int
) -> tuple[Array, Array]:
    """The rows of the gradient that are read, by index, and the indices."""
    found = _rows_gradient(op, grad, indices, segment_ids, count)
    rows = na.unique_values(indices)
    return na.take(found, rows, axis=0), rows


def SparseSegmentSumGradV2(
    grad: Array, indices: Array, segment_ids: Array, dense_output_dim0: int
) -> tuple[Array, Array]:
    """`SparseSegmentSumGrad` in the rows that are not zero, and their indices."""
    return _touched_rows(sparse.segment_sum, grad, indices, segment_ids, dense_output_dim0)


def SparseSegmentMeanGradV2(
    grad: Array, indices: Array, segment_ids: Array, dense_output_dim0: int
) -> tuple[Array, Array]:
    """`SparseSegmentMeanGrad` in the rows that are not zero, and their indices."""
    return _touched_rows(sparse.segment_mean, grad, indices, segment_ids, dense_output_dim0)


def SparseSegmentSqrtNGradV2(
    grad: Array, indices: Array, segment_ids: Array, dense_output_dim0: int
) -> tuple[Array, Array]:
    """`SparseSegmentSqrtNGrad` in the rows that are not zero, and their indices."""
    return _touched_rows(sparse.segment_sqrt_n, grad, indices, segment_ids, dense_output_dim0)
