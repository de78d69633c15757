"""Functions of whole matrices: determinants, exponentials, roots, pseudoinverses.

Upstream: https://www.tensorflow.org/api_docs/python/tf/linalg
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.tensorflow.conversion import floating, inexact, of_kind
from nestarray.frontends.tensorflow.linalg.factorizations import svd
from nestarray.typing import Array

__all__ = [
    "det", "expm", "logdet", "logm", "matrix_rank", "pinv", "slogdet", "sqrtm",
]  # fmt: skip


class LogMatrixDeterminant(NamedTuple):
    """The sign and the logarithm of the size of determinants."""

    sign: Any
    log_abs_determinant: Any


def det(input: Any, name: str | None = None) -> Array:
    """The determinant of each matrix."""
    return na.det(inexact("det", input))


def slogdet(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """The sign and the logarithm of the size of the determinant of each matrix."""
    x = inexact("slogdet", input)
    sign, size = na.slogdet(x)
    if dtypes.dtype_of(x).kind == "complex":
        size = na.complex(size, na.zeros_like(size))
    return LogMatrixDeterminant(sign, size)


def logdet(matrix: Any, name: str | None = None) -> Array:
    """The logarithm of the determinant of hermitian positive definite matrices."""
    factor = na.cholesky(inexact("logdet", matrix))
    return na.multiply(na.sum(na.log(na.real(na.diagonal(factor))), axis=-1), 2)


def expm(input: Any, name: str | None = None) -> Array:
    """The exponential of each matrix."""
    return na.expm(inexact("expm", input))


def sqrtm(input: Any, name: str | None = None) -> Array:
    """The principal square root of each matrix; real if the matrix is."""
    x = inexact("sqrtm", input)
    found = na.sqrtm(x)
    return found if dtypes.dtype_of(x).kind == "complex" else na.real(found)


#: Square roots after which every matrix in the range of its dtype is near the identity.
_MOST_ROOTS = 64


def logm(input: Any, name: str | None = None) -> Array:
    """The principal logarithm of each complex matrix: 2ᵏ log A^(1/2ᵏ), near the identity.

    There, the logarithm is ∫₀¹ (A − I) (t (A − I) + I)⁻¹ dt, summed over Gauss' nodes, which is its
    Padé approximant.

    References:
        Higham, Functions of Matrices, 2008, chapter 11. https://doi.org/10.1137/1.9780898717778
    """
    x = of_kind("logm", input, "complex")
    size = na.eye(na.shape(x)[-1], dtype=dtypes.dtype_of(x), like=x)

    def is_far(state: tuple[Array, Array]) -> Array:
        return na.greater(na.max(na.sum(na.abs(na.subtract(state[0], size)), axis=-1)), 0.25)

    def halve(state: tuple[Array, Array]) -> tuple[Array, Array]:
        return na.sqrtm(state[0]), na.multiply(state[1], 2)

    one = na.ones_like(na.real(na.sum(x)))
    root, factor = na.while_loop(is_far, halve, (x, one), max_steps=_MOST_ROOTS)
    offset = na.subtract(root, size)
    total = na.zeros_like(offset)
    nodes, weights = [x.tolist() for x in np.polynomial.legendre.leggauss(7)]
    for node, weight in zip(nodes, weights, strict=True):
        part = na.solve(na.add(na.multiply(offset, (node + 1) / 2), size), offset)
        total = na.add(total, na.multiply(part, weight / 2))
    return na.multiply(total, na.complex(factor, na.zeros_like(factor)))


def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Array:
    """The number of singular values above `tol`, by default the largest one's rounding, int32."""
    x = floating("matrix_rank", a)
    values = na.svdvals(x)
    if tol is None:
        eps = dtypes.finfo(dtypes.dtype_of(x)).eps * max(na.shape(x)[-2:])
        tol = na.multiply(na.max(values, axis=-1, keepdims=True), eps)
    is_above = na.astype(na.greater(values, tol), dtypes.int32)
    return na.sum(is_above, axis=-1, dtype=dtypes.int32)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Array:
    """The Moore-Penrose inverse; singular values below `rcond` times the largest count as 0."""
    x = floating("pinv", a)
    if rcond is None:
        rcond = 10.0 * max(na.shape(x)[-2:]) * dtypes.finfo(dtypes.dtype_of(x)).eps
    s, u, v = svd(x)
    cutoff = na.multiply(na.max(s, axis=-1, keepdims=True), rcond)
    s = na.where(na.greater(s, cutoff), s, na.full_like(s, math.inf))
    return na.matmul(na.divide(v, na.expand_dims(s, -2)), na.matrix_transpose(u))
