"""Sets along the last axis.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/DenseToDenseSetOperation
"""

from __future__ import annotations

from nestarray.frontends.tensorflow import sets
from nestarray.frontends.tensorflow.sparse import SparseTensor
from nestarray.frontends.tensorflow.sparse.tensors import parts
from nestarray.typing import Array

__all__ = [
    "DenseToDenseSetOperation", "DenseToSparseSetOperation", "SetSize",
    "SparseToSparseSetOperation",
]  # fmt: skip


def SetSize(
    set_indices: Array, set_values: Array, set_shape: Array, validate_indices: bool = True
) -> Array:
    """The number of distinct elements of each row."""
    return sets.size(SparseTensor(set_indices, set_values, set_shape))


def DenseToDenseSetOperation(
    set1: Array, set2: Array, set_operation: str, validate_indices: bool = True
) -> tuple[Array, Array, Array]:
    """The sets of each row, combined."""
    return parts(sets.combined(set1, set2, set_operation))


def DenseToSparseSetOperation(
    set1: Array,
    set2_indices: Array,
    set2_values: Array,
    set2_shape: Array,
    set_operation: str,
    validate_indices: bool = True,
) -> tuple[Array, Array, Array]:
    """The sets of each row of a dense and a sparse tensor, combined."""
    second = SparseTensor(set2_indices, set2_values, set2_shape)
    return parts(sets.combined(set1, second, set_operation))


def SparseToSparseSetOperation(
    set1_indices: Array,
    set1_values: Array,
    set1_shape: Array,
    set2_indices: Array,
    set2_values: Array,
    set2_shape: Array,
    set_operation: str,
    validate_indices: bool = True,
) -> tuple[Array, Array, Array]:
    """The sets of each row of sparse tensors, combined."""
    first = SparseTensor(set1_indices, set1_values, set1_shape)
    second = SparseTensor(set2_indices, set2_values, set2_shape)
    return parts(sets.combined(first, second, set_operation))
