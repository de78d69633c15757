"""Householder reflections: the factors of qr, and products with Q without forming it.

Upstream: https://docs.pytorch.org/docs/stable/generated/torch.geqrf.html
"""

from __future__ import annotations

from typing import NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ShapeError
from nestarray.frontends.torch.dims import shape_of
from nestarray.frontends.torch.representation import conj_physical
from nestarray.frontends.torch.shaping import adjoint
from nestarray.typing import Array

__all__ = ["geqrf", "ormqr"]


class Reflections(NamedTuple):
    """torch.return_types.geqrf."""

    a: Array
    tau: Array


def geqrf(input: Array) -> Reflections:
    """R above the diagonal, below it the vectors whose reflections multiply to Q, and their τ."""
    A = input
    m, n = shape_of(A)[-2:]
    rows = na.expand_dims(na.arange(m, dtype=dtypes.int64, like=A), axis=-1)
    columns = na.arange(n, dtype=dtypes.int64, like=A)
    taus = []
    for k in range(min(m, n)):
        x = na.getitem(A, (..., slice(None), slice(k, k + 1)))
        alpha = na.getitem(A, (..., slice(k, k + 1), slice(k, k + 1)))
        below = na.greater(rows, k)
        rest = na.where(below, x, na.zeros_like(x))
        size = na.sum(na.square(na.abs(rest)), axis=-2, keepdims=True)
        # nothing to reflect: zeros below, and above them a real number
        is_done = na.equal(size, 0)
        if _is_complex(A):
            is_done = na.logical_and(is_done, na.equal(na.imag(alpha), 0))
        safe = na.where(is_done, na.ones_like(size), size)
        length = na.sqrt(na.add(na.square(na.abs(alpha)), safe))
        real = na.real(alpha) if _is_complex(A) else alpha
        beta = na.where(na.less(real, 0), length, na.negative(length))
        beta = na.astype(beta, A.dtype, copy=False)
        tau = na.divide(na.subtract(beta, alpha), beta)
        v = na.divide(rest, na.subtract(alpha, beta))
        v = na.where(na.equal(rows, k), na.ones_like(v), v)
        tau = na.where(is_done, na.zeros_like(tau), tau)
        v = na.where(is_done, na.where(na.equal(rows, k), v, na.zeros_like(v)), v)
        reflected = na.subtract(A, _reflection(v, conj_physical(tau), A))
        behind = na.logical_and(na.greater_equal(rows, k), na.greater(columns, k))
        column = na.where(below, v, na.where(na.equal(rows, k), na.where(is_done, alpha, beta), x))
        A = na.where(na.equal(columns, k), column, na.where(behind, reflected, A))
        taus.append(tau[..., 0, 0])
    if not taus:
        return Reflections(A, na.zeros((*shape_of(A)[:-2], 0), dtype=dtypes.dtype_of(A), like=A))
    return Reflections(A, na.stack(taus, axis=-1))


def ormqr(
    input: Array, tau: Array, other: Array, left: bool = True, transpose: bool = False
) -> Array:
    """Q other, of the reflections that `geqrf` gives; from the right, or with Qᴴ."""
    count = min(shape_of(other)[-2 if left else -1], shape_of(input)[-1])
    if shape_of(tau)[-1] > count:
        raise ShapeError(f"ormqr: tau: got {shape_of(tau)[-1]} numbers, expected at most {count}")
    order = shape_of(other)[-2 if left else -1]
    if shape_of(input)[-2] != order:
        raise ShapeError(
            f"ormqr: other: got the shape {shape_of(other)}, expected {shape_of(input)[-2]} "
            f"{'rows' if left else 'columns'}, as many as input has rows"
        )
    if not left:  # C Q = (Qᴴ Cᴴ)ᴴ
        return adjoint(ormqr(input, tau, adjoint(other), True, not transpose))
    rows = na.expand_dims(na.arange(order, dtype=dtypes.int64, like=input), axis=-1)
    numbers = range(shape_of(tau)[-1])
    for k in numbers if transpose else reversed(numbers):
        v = na.getitem(input, (..., slice(None), slice(k, k + 1)))
        v = na.where(na.greater(rows, k), v, na.zeros_like(v))
        v = na.where(na.equal(rows, k), na.ones_like(v), v)
        factor = na.expand_dims(na.getitem(tau, (..., slice(k, k + 1))), axis=-1)
        factor = conj_physical(factor) if transpose else factor
        other = na.subtract(other, _reflection(v, factor, other))
    return other


def _reflection(v: Array, tau: Array, x: Array) -> Array:
    """τ v vᴴ x."""
    return na.matmul(na.multiply(v, tau), na.matmul(adjoint(v), x))


def _is_complex(x: Array) -> bool:
    return dtypes.dtype_of(x).kind == "complex"
