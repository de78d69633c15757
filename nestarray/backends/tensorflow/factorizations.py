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
    U, V = _of_distinct(U, S), _of_distinct(V, S)
    return SVDResult(U, _singular_values(x, S), tf.linalg.adjoint(V))


@custom_gradient
def _of_distinct(vectors: Any, values: Any) -> Any:
    """Vectors with the gradient NaN where two values are equal; TensorFlow leaves terms out there."""

    def gradient(upstream: Any) -> Any:
        count = values.shape[-1]
        is_equal = tf.equal(values[..., None], values[..., None, :])
        is_equal &= ~tf.eye(count, dtype=tf.bool)
        is_undefined = tf.reduce_any(is_equal, (-2, -1)) & tf.reduce_any(upstream != 0, (-2, -1))
        ones = tf.ones_like(values[..., 0])
        factor = tf.where(is_undefined, tf.constant(math.nan, ones.dtype), ones)
        return upstream * tf.cast(factor, upstream.dtype)[..., None, None], tf.zeros_like(values)

    return tf.identity(vectors), gradient


@_single
def svdvals(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/svd"""
    return _singular_values(x, tf.linalg.svd(x, compute_uv=False))


@custom_gradient
def _singular_values(x: Any, values: Any) -> Any:
    """The values of x with a gradient; the second derivative of TensorFlow's own leaves terms out."""

    def gradient(upstream: Any) -> Any:
        U, _, Vh = svd(x, full_matrices=False)
        return tf.matmul(U * tf.cast(upstream, U.dtype)[..., None, :], Vh), tf.zeros_like(values)

    return tf.identity(values), gradient


@_single
def eigh(x: Any, /) -> EighResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/eigh"""
    return EighResult(*_eigh(x))


@_single
def eigvalsh(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/eigh"""
    return _eigvalsh(x)


@custom_gradient
def _eigvalsh(x: Any) -> Any:
    """Eigenvalues, with the gradient of those of `_eigh`."""

    def gradient(upstream: Any) -> Any:
        _, V = _eigh(x)
        return _hermitian(
            tf.matmul(V * tf.cast(upstream, V.dtype)[..., None, :], V, adjoint_b=True)
        )

    return tf.math.real(tf.linalg.eigvalsh(x)), gradient


def _hermitian(x: Any) -> Any:
    return (x + tf.linalg.adjoint(x)) / 2


@custom_gradient
def _eigh(x: Any) -> Any:
    """Eigenvalues and vectors, with a Hermitian gradient.

    TensorFlow's is of one triangle, and leaves out what would divide by the difference of equal
    values; the derivatives of their vectors are NaN here.
    """
    values, vectors = tf.linalg.eigh(x)

    def gradient(of_values: Any, of_vectors: Any) -> Any:
        values, V = _eigh(x)
        gaps = values[..., None, :] - values[..., None]
        infinite, nan = (tf.constant(x, gaps.dtype) for x in (math.inf, math.nan))
        gaps = tf.where(tf.eye(values.shape[-1], dtype=tf.bool), infinite, gaps)
        turned = tf.matmul(V, of_vectors, adjoint_a=True)
        undefined = tf.equal(gaps, 0) & (turned != 0)
        gaps = tf.where(undefined, nan, tf.where(tf.equal(gaps, 0), tf.ones_like(gaps), gaps))
        inner = turned / tf.cast(gaps, V.dtype) + tf.linalg.diag(tf.cast(of_values, V.dtype))
        return _hermitian(tf.matmul(tf.matmul(V, inner), V, adjoint_b=True))

    return (tf.math.real(values), vectors), gradient


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
