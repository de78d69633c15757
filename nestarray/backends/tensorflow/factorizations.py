"""TensorFlow: `nestarray.ops.factorizations`."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from nestarray.backends.base import supports
from nestarray.backends.precision import in_single_precision
from nestarray.backends.tensorflow.derivatives import custom_gradient
from nestarray.backends.tensorflow.elimination import eliminated, exchanges
from nestarray.backends.tensorflow.promotion import cast
from nestarray.numerics.matrices import check_matrices
from nestarray.numerics.results import (
    EighResult,
    EigResult,
    LUFactorResult,
    LUResult,
    QRResult,
    SVDResult,
)

_single = in_single_precision(cast)

eigvals = _single(tf.linalg.eigvals)


@_single
def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/cholesky"""
    lower = tf.linalg.cholesky(tf.linalg.adjoint(x) if upper else x)  # which reads one triangle
    # for a matrix without a factor TensorFlow returns NaN, or 0 if complex, mixed with old memory
    is_found = tf.reduce_all(tf.math.real(tf.linalg.diag_part(lower)) > 0, -1)
    none = tf.fill(tf.shape(lower), tf.constant(math.nan, lower.dtype))
    lower = tf.where(is_found[..., None, None], lower, tf.linalg.band_part(none, -1, 0))
    return tf.linalg.adjoint(lower) if upper else lower


@supports(lambda *_, pivoting=False, **_settings: not pivoting)
@_single
def qr(x: Any, /, *, mode: str = "reduced", pivoting: bool = False) -> QRResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/qr

    TensorFlow's kernel squares elements, which may overflow, unlike LAPACK's.
    """
    scale = tf.stop_gradient(_scale(x))
    Q, R = tf.linalg.qr(x / scale, full_matrices=mode == "complete")
    return QRResult(Q, R * scale)


def _scale(x: Any) -> Any:
    """The largest magnitude of each matrix whose squares would overflow, else 1."""
    largest = tf.reduce_max(tf.abs(x), axis=(-2, -1), keepdims=True)
    most = 1e15 if largest.dtype == tf.float32 else 1e150
    return tf.cast(tf.where((largest > most) & tf.math.is_finite(largest), largest, 1), x.dtype)


@_single
def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/svd"""
    if x.shape.num_elements() == 0:  # no gradient of empty factors
        x = tf.stop_gradient(x)
    S, U, V = tf.linalg.svd(x, full_matrices)
    return SVDResult(U, S, tf.linalg.adjoint(V))


@_single
def svdvals(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/svd"""
    return tf.linalg.svd(x, compute_uv=False)


@_single
def eigh(x: Any, /) -> EighResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/eigh"""
    values, vectors = tf.linalg.eigh(_hermitian(x))
    return EighResult(tf.math.real(values), vectors)


@_single
def eigvalsh(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/eigvalsh"""
    return tf.math.real(tf.linalg.eigvalsh(_hermitian(x)))


@custom_gradient
def _hermitian(x: Any) -> Any:
    """`x` with Hermitian gradients, as in other frameworks; TensorFlow's cover one triangle."""

    def gradient(upstream: Any) -> Any:
        return (upstream + tf.linalg.adjoint(upstream)) / 2

    return tf.identity(x), gradient


@_single
def eig(x: Any, /) -> EigResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/eig"""
    return EigResult(*tf.linalg.eig(x))


@_single
@supports(lambda x: not x.dtype.is_complex and (len(x.shape) < 2 or 0 not in x.shape[-2:]))
def lu_factor(x: Any, /) -> LUFactorResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/lu"""
    check_matrices("lu_factor", "x", x)
    found = _regular(x)
    if found is None:
        LU, pivots, _ = eliminated(x)
        return LUFactorResult(LU, pivots)
    LU, order = found
    return LUFactorResult(LU, exchanges(order))


@_single
@supports(lambda x: len(x.shape) < 2 or 0 not in x.shape[-2:])
def lu(x: Any, /) -> LUResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/lu"""
    check_matrices("lu", "x", x)
    found = _regular(x)
    if found is None:
        LU, _, order = eliminated(x)
    else:
        LU, order = found
    m, n = x.shape[-2:]
    k = min(m, n)
    L, U = tf.linalg.band_part(LU[..., :k], -1, 0), tf.linalg.band_part(LU[..., :k, :], 0, -1)
    L = tf.linalg.set_diag(L, tf.ones_like(LU[..., 0, :k]))
    P = tf.one_hot(order, m, axis=len(x.shape) - 2, dtype=x.dtype.real_dtype)
    return LUResult(P, L, U)


def _regular(x: Any) -> tuple[Any, Any] | None:
    """The factors and the order of the rows from ``tf.linalg.lu``.

    It raises for a singular matrix; a graph cannot recover from this.
    """
    if x.shape[-1] != x.shape[-2]:
        return None
    try:
        return _lu(x)
    except tf.errors.InvalidArgumentError:
        return None


def _lu(x: Any) -> tuple[Any, Any]:
    """``tf.linalg.lu`` with a gradient, which is differentiable."""

    @custom_gradient
    def call(x: Any) -> Any:
        LU, order = tf.linalg.lu(x, output_idx_type=tf.int64)

        def gradient(upstream: Any, _: Any) -> Any:
            L, U = _triangles(_lu(x)[0])
            lower = tf.linalg.band_part(upstream, -1, 0)
            lower -= tf.linalg.diag(tf.linalg.diag_part(upstream))
            upper = tf.linalg.band_part(upstream, 0, -1)
            left = tf.matmul(L, lower, adjoint_a=True)
            left = tf.linalg.band_part(left, -1, 0) - tf.linalg.diag(tf.linalg.diag_part(left))
            right = tf.linalg.band_part(tf.matmul(upper, U, adjoint_b=True), 0, -1)
            inner = tf.linalg.triangular_solve(L, left + right, lower=True, adjoint=True)
            # times the inverse of the adjoint of U, from the right
            inner = tf.linalg.adjoint(
                tf.linalg.triangular_solve(U, tf.linalg.adjoint(inner), lower=False)
            )
            back = tf.argsort(order, -1)
            return tf.gather(inner, back, axis=-2, batch_dims=len(x.shape) - 2)

        return (LU, order), gradient

    return call(x)


def _triangles(LU: Any) -> tuple[Any, Any]:
    lower = tf.linalg.band_part(LU, -1, 0)
    return tf.linalg.set_diag(lower, tf.ones_like(LU[..., 0])), tf.linalg.band_part(LU, 0, -1)
