"""Products of matrices.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/MatMul
"""

from __future__ import annotations

from collections.abc import Sequence

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.typing import Array

__all__ = ["BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Cross", "Einsum", "MatMul"]


def MatMul(
    a: Array,
    b: Array,
    transpose_a: bool = False,
    transpose_b: bool = False,
    grad_a: bool = False,
    grad_b: bool = False,
) -> Array:
    """The product of two matrices."""
    return na.matmul(na.swapaxes(a, 0, 1) if transpose_a else a, _turned(b, transpose_b))


def _turned(x: Array, is_turned: bool) -> Array:
    return na.swapaxes(x, -1, -2) if is_turned else x


def _adjoint(x: Array, is_adjoint: bool) -> Array:
    if not is_adjoint:
        return x
    found = na.swapaxes(x, -1, -2)
    return na.conj(found) if dtypes.dtype_of(x).kind == "complex" else found


def BatchMatMulV2(
    x: Array,
    y: Array,
    adj_x: bool = False,
    adj_y: bool = False,
    grad_x: bool = False,
    grad_y: bool = False,
) -> Array:
    """The products of matrices, with broadcast batch axes."""
    return na.matmul(_adjoint(x, adj_x), _adjoint(y, adj_y))


BatchMatMul = BatchMatMulV2


def BatchMatMulV3(
    x: Array,
    y: Array,
    Tout: DType,
    adj_x: bool = False,
    adj_y: bool = False,
    grad_x: bool = False,
    grad_y: bool = False,
) -> Array:
    """`BatchMatMulV2` with a dtype for the result."""
    return na.matmul(_adjoint(na.astype(x, Tout), adj_x), _adjoint(na.astype(y, Tout), adj_y))


def Einsum(inputs: Sequence[Array], equation: str) -> Array:
    """Sums of products over indices."""
    return na.einsum(equation, *inputs)


def Cross(a: Array, b: Array) -> Array:
    """The vector products along the last axis."""
    return na.cross(a, b)
