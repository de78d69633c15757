"""Products, and functions of parts of arrays.

Upstream: https://keras.io/api/ops/numpy/
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.numpy import contraction, functional
from nestarray.frontends.keras.promotion import (
    as_array,
    as_arrays,
    cast,
    floating_exactly,
    promote,
    result_type,
)
from nestarray.typing import Array

__all__ = [
    "correlate", "cross", "dot", "einsum", "inner", "kron", "matmul", "outer", "slogdet",
    "tensordot", "vdot", "vectorize",
]  # fmt: skip


def matmul(x1: Array, x2: Array) -> Array:
    """The matrix product; of int8 matrices in int32."""
    x1, x2 = as_arrays(x1, x2)
    are_matrices = len(na.shape(x1)) != 1 and len(na.shape(x2)) != 1
    dtype = dtypes.int32 if are_matrices and _are_int8(x1, x2) else result_type(x1, x2)
    return _computed(na.matmul, dtype, x1, x2)


def _are_int8(*arrays: Array) -> bool:
    return all(dtypes.dtype_of(x) is dtypes.int8 for x in arrays)


def _computed(function: Callable[..., Array], dtype: Any, *arrays: Array) -> Array:
    """A product in `dtype`; of bools in int32."""
    computed = dtypes.int32 if dtype is dtypes.bool else dtype
    return cast(function(*[cast(x, computed) for x in arrays]), dtype)


def dot(x1: Array, x2: Array) -> Array:
    """Σ over the last axis of x1 and the last but one of x2."""
    x1, x2 = as_arrays(x1, x2)
    return _computed(contraction.dot, result_type(x1, x2), x1, x2)


def inner(x1: Array, x2: Array) -> Array:
    """Σ over the last axes."""
    x1, x2 = as_arrays(x1, x2)
    return _computed(contraction.inner, result_type(x1, x2), x1, x2)


def vdot(x1: Array, x2: Array) -> Array:
    """Σ conj(x1) · x2 over all elements."""
    x1, x2 = as_arrays(x1, x2)
    flat = [na.reshape(x, (-1,)) for x in (x1, x2)]
    return _computed(na.vecdot, result_type(x1, x2), *flat)


def outer(x1: Array, x2: Array) -> Array:
    """The products of all pairs of elements."""
    x1, x2 = promote(x1, x2)
    return na.multiply(na.reshape(x1, (-1, 1)), na.reshape(x2, (1, -1)))


def tensordot(x1: Array, x2: Array, axes: Any = 2) -> Array:
    """Σ over several axes of both."""
    x1, x2 = as_arrays(x1, x2)

    def product(x1: Array, x2: Array) -> Array:
        return contraction.tensordot(x1, x2, axes)

    return _computed(product, result_type(x1, x2), x1, x2)


def einsum(subscripts: str, *operands: Array, **kwargs: Any) -> Array:
    """The sum of products that labelled axes describe; of int8 operands in int32."""
    arrays = as_arrays(*operands)
    dtype = dtypes.int32 if _are_int8(*arrays) else result_type(*arrays)
    return _computed(lambda *given: na.einsum(subscripts, *given), dtype, *arrays)


def kron(x1: Array, x2: Array) -> Array:
    """The Kronecker product."""
    return na.kron(*promote(x1, x2))


def cross(
    x1: Array,
    x2: Array,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Array:
    """The cross product of vectors of length 3; two of length 2 give a number."""
    x1, x2 = promote(x1, x2)
    return contraction.cross(x1, x2, axisa, axisb, axisc, axis)


def correlate(x1: Array, x2: Array, mode: str = "valid") -> Array:
    """Σₖ x1[n + k] · x2[k], floating.

    Raises:
        ArgumentError: `mode` is unknown.
    """
    if mode not in ("full", "same", "valid"):
        raise ArgumentError(f"correlate: mode: got {mode!r}, expected 'full', 'same' or 'valid'")
    x1, x2 = floating_exactly(x1, x2)
    n, m = na.shape(x1)[0], na.shape(x2)[0]
    before = 0 if mode == "valid" else m - 1
    padded = na.reshape(na.pad(x1, [(before, before)]), (1, 1, -1))
    found = na.reshape(na.conv1d(padded, na.reshape(x2, (1, 1, -1))), (-1,))
    if mode != "same":
        return found
    start, length = (n + m - 1 - max(n, m)) // 2, max(n, m)
    return found[start : start + length]


def slogdet(x: Array) -> tuple[Array, Array]:
    """The sign and the logarithm of the absolute value of the determinant."""
    sign, logarithm = na.slogdet(as_array(x))
    return sign, logarithm


def vectorize(
    pyfunc: Callable[..., Any], *, excluded: Any = None, signature: str | None = None
) -> Callable[..., Any]:
    """A function of elements, or of the axes in `signature`, as one of arrays that broadcast."""
    return functional.vectorize(pyfunc, excluded=excluded or frozenset(), signature=signature)
