"""TensorFlow: `nestarray.ops.factorizations`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.base import supports
from nestarray.backends.results import (
    EighResult,
    EigResult,
    LUFactorResult,
    LUResult,
    QRResult,
    SVDResult,
)

eigvalsh = tf.linalg.eigvalsh
eigvals = tf.linalg.eigvals


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/cholesky"""
    lower = tf.linalg.cholesky(x)
    return tf.linalg.adjoint(lower) if upper else lower


def qr(x: Any, /, *, mode: str = "reduced") -> QRResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/qr"""
    return QRResult(*tf.linalg.qr(x, full_matrices=mode == "complete"))


def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/svd"""
    S, U, V = tf.linalg.svd(x, full_matrices)
    return SVDResult(U, S, tf.linalg.adjoint(V))


def svdvals(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/svd"""
    return tf.linalg.svd(x, compute_uv=False)


def eigh(x: Any, /) -> EighResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/eigh"""
    return EighResult(*tf.linalg.eigh(x))


def eig(x: Any, /) -> EigResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/eig"""
    return EigResult(*tf.linalg.eig(x))


@supports(lambda x: len(x.shape) > 1 and x.shape[-1] == x.shape[-2] and x.shape[-1] > 0)
def lu_factor(x: Any, /) -> LUFactorResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/lu"""
    LU, order = _lu(x)
    rows = tf.range(x.shape[-1], dtype=tf.int64)
    state, pivots = rows + tf.zeros_like(order), []
    for k in range(x.shape[-1]):
        # The exchange that brings row order[k] from where it is now to the place k.
        wanted = order[..., k : k + 1]
        place = tf.argmax(tf.cast(tf.equal(state, wanted), tf.int32), -1)[..., None]
        state = tf.where(tf.equal(rows, place), state[..., k : k + 1], state)
        state = tf.where(tf.equal(rows, k), wanted, state)
        pivots.append(place)
    return LUFactorResult(LU, tf.concat(pivots, -1))


@supports(lambda x: len(x.shape) > 1 and x.shape[-1] == x.shape[-2] and x.shape[-1] > 0)
def lu(x: Any, /) -> LUResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/lu"""
    LU, order = _lu(x)
    L, U = _triangles(LU)
    P = tf.one_hot(order, x.shape[-1], axis=len(x.shape) - 2, dtype=x.dtype.real_dtype)
    return LUResult(P, L, U)


def _lu(x: Any) -> tuple[Any, Any]:
    """``tf.linalg.lu``, which has no gradient, with one that can be differentiated again."""

    @tf.custom_gradient
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
