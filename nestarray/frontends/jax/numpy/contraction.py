"""Products of vectors, matrices and tensors.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html. ``precision`` is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import nestarray as na
from nestarray.errors import ShapeError
from nestarray.frontends.jax.in_place import refuse_in_place
from nestarray.frontends.jax.promotion import as_array, cast, promote
from nestarray.typing import Array, DTypeLike

__all__ = [
    "cross", "dot", "einsum", "einsum_path", "inner", "kron", "matmul", "matvec", "outer",
    "tensordot", "vdot", "vecdot", "vecmat",
]  # fmt: skip


def matmul(
    a: Array, b: Array, *, precision: Any = None, preferred_element_type: DTypeLike | None = None
) -> Array:
    """The matrix product over the last two axes."""
    return na.matmul(*_factors(a, b, preferred_element_type))


def _factors(a: Any, b: Any, dtype: DTypeLike | None) -> tuple[Array, ...]:
    return promote(a, b) if dtype is None else (cast(a, dtype), cast(b, dtype))


def dot(
    a: Array, b: Array, *, precision: Any = None, preferred_element_type: DTypeLike | None = None
) -> Array:
    """The contraction of the last axis of `a` with the last axis but one of `b`."""
    a, b = _factors(a, b, preferred_element_type)
    m, n = len(na.shape(a)), len(na.shape(b))
    if not m or not n:
        return na.multiply(a, b)
    return na.tensordot(a, b, axes=((m - 1,), (max(n - 2, 0),)))


def inner(
    a: Array, b: Array, *, precision: Any = None, preferred_element_type: DTypeLike | None = None
) -> Array:
    """The contraction of the last axes."""
    a, b = _factors(a, b, preferred_element_type)
    m, n = len(na.shape(a)), len(na.shape(b))
    return na.tensordot(a, b, axes=((m - 1,), (n - 1,))) if m and n else na.multiply(a, b)


def vdot(
    a: Array, b: Array, *, precision: Any = None, preferred_element_type: DTypeLike | None = None
) -> Array:
    """Σ conj(a) b of all elements."""
    a, b = (na.reshape(x, (-1,)) for x in _factors(a, b, preferred_element_type))
    return na.matmul(na.conj(a), b)


def vecdot(
    x1: Array,
    x2: Array,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Σ conj(x1) x2 along an axis."""
    x1, x2 = _factors(x1, x2, preferred_element_type)
    x1, x2 = (na.moveaxis(x, axis, -1) for x in (x1, x2))
    return na.vecdot(x1, x2)


def matvec(x1: Array, x2: Array, /) -> Array:
    """Matrices times vectors."""
    x1, x2 = promote(x1, x2)
    return na.squeeze(na.matmul(x1, na.expand_dims(x2, axis=-1)), axis=-1)


def vecmat(x1: Array, x2: Array, /) -> Array:
    """Conjugated vectors times matrices."""
    x1, x2 = promote(x1, x2)
    return na.squeeze(na.matmul(na.expand_dims(na.conj(x1), axis=-2), x2), axis=-2)


def outer(a: Array, b: Array, out: None = None) -> Array:
    """The products of all pairs of elements."""
    refuse_in_place("outer", out)
    a, b = (na.reshape(x, (-1,)) for x in promote(a, b))
    return na.multiply(na.expand_dims(a, -1), b)


def kron(a: Array, b: Array) -> Array:
    """The Kronecker product."""
    a, b = promote(a, b)
    rank = max(len(na.shape(a)), len(na.shape(b)))
    a, b = (na.reshape(x, (1,) * (rank - len(na.shape(x))) + na.shape(x)) for x in (a, b))
    sizes = [m * n for m, n in zip(na.shape(a), na.shape(b))]
    a = na.expand_dims(a, tuple(range(1, 2 * rank, 2))) if rank else a
    b = na.expand_dims(b, tuple(range(0, 2 * rank, 2))) if rank else b
    return na.reshape(na.multiply(a, b), sizes)


def tensordot(
    a: Array,
    b: Array,
    axes: Any = 2,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The contraction of pairs of axes."""
    a, b = _factors(a, b, preferred_element_type)
    if not isinstance(axes, int):
        first, second = ((x,) if isinstance(x, int) else tuple(x) for x in axes)
        axes = (
            tuple([i % len(na.shape(a)) for i in first]),
            tuple([i % len(na.shape(b)) for i in second]),
        )
    return na.tensordot(a, b, axes=axes)


def cross(
    a: Array,
    b: Array,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Array:
    """The cross product of vectors of length 2 or 3."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promote(a, b)
    a, b = na.moveaxis(a, axisa, -1), na.moveaxis(b, axisb, -1)
    sizes = (na.shape(a)[-1], na.shape(b)[-1])
    if not {*sizes} <= {2, 3}:
        raise ShapeError(
            f"cross: got vectors of lengths {sizes[0]} and {sizes[1]}, expected 2 or 3"
        )
    if sizes == (2, 2):
        (a0, a1), (b0, b1) = na.unstack(a, axis=-1), na.unstack(b, axis=-1)
        return na.subtract(na.multiply(a0, b1), na.multiply(a1, b0))
    a, b = (
        na.pad(x, [*[(0, 0)] * (len(na.shape(x)) - 1), (0, 3 - na.shape(x)[-1])]) for x in (a, b)
    )
    a, b = na.unstack(a, axis=-1), na.unstack(b, axis=-1)
    found = [
        na.subtract(na.multiply(a[i], b[j]), na.multiply(a[j], b[i]))
        for i, j in ((1, 2), (2, 0), (0, 1))
    ]
    return na.moveaxis(na.stack(found, axis=-1), -1, axisc)


def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    optimize: Any = "auto",
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The Einstein sum."""
    text, arrays = _subscripts(subscripts, operands)
    arrays = promote(*arrays)
    if preferred_element_type is not None:
        arrays = tuple([cast(x, preferred_element_type) for x in arrays])
    return na.einsum(text, *arrays)


def _subscripts(subscripts: Any, operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """Subscripts as text, from alternating arrays and lists of axes too."""
    if isinstance(subscripts, str):
        return subscripts.replace(" ", ""), list(operands)
    items = [subscripts, *operands]
    arrays, lists, output = items[0::2], items[1::2], None
    if len(items) % 2:
        *arrays, output = arrays
    text = ",".join(map(_letters, lists))
    return text if output is None else f"{text}->{_letters(output)}", arrays


def _letters(axes: Sequence[Any]) -> str:
    return "".join("..." if axis is Ellipsis else chr(ord("a") + axis) for axis in axes)


def einsum_path(
    subscripts: Any, /, *operands: Any, optimize: Any = "auto"
) -> tuple[list[tuple[int, ...]], str]:
    """(order of contractions, a report), from the shapes alone."""
    text, arrays = _subscripts(subscripts, operands)
    stand_ins = [np.broadcast_to(np.float32(0), na.shape(as_array(x))) for x in arrays]
    path, report = np.einsum_path(
        text, *stand_ins, optimize="optimal" if optimize in (True, "auto") else optimize
    )
    return path[1:], report
