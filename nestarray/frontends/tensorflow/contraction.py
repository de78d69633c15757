"""Products that sum over axes.

Upstream: https://www.tensorflow.org/api_docs/python/tf/einsum
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ShapeError
from nestarray.frontends.tensorflow.conversion import integers, tensors
from nestarray.typing import Array, DTypeLike

__all__ = ["einsum", "matmul", "tensordot"]


def einsum(equation: str, *inputs: Any, name: str | None = None, optimize: Any = None) -> Array:
    """The sums of products that an equation describes."""
    return na.einsum(equation, *tensors("einsum", *inputs))


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Array:
    """Products of matrices, which may be transposed, or transposed and conjugated, before."""
    x, y = tensors("matmul", a, b)
    for title, array in (("a", x), ("b", y)):
        if len(na.shape(array)) < 2:
            raise ShapeError(
                f"matmul: {title}: got the shape {tuple(na.shape(array))}, expected at least two axes"
            )
    if output_type is not None:
        x, y = (na.astype(v, output_type) for v in (x, y))
    x = _turned(x, transpose_a or adjoint_a, adjoint_a)
    return na.matmul(x, _turned(y, transpose_b or adjoint_b, adjoint_b))


def _turned(x: Array, is_transposed: bool, is_conjugated: bool) -> Array:
    x = na.matrix_transpose(x) if is_transposed else x
    return na.conj(x) if is_conjugated and dtypes.dtype_of(x).kind == "complex" else x


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Array:
    """The sum over pairs of axes: the last ones of `a` with the first ones of `b`, or two lists."""
    x, y = tensors("tensordot", a, b)
    axes = integers(axes)
    if not isinstance(axes, (list, tuple)):
        return na.tensordot(x, y, axes=axes)
    first, second = [(i,) if isinstance(i, int) else tuple(i) for i in axes]
    return na.tensordot(x, y, axes=(first, second))
