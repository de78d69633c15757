"""TensorFlow: `nestarray.ops.linalg`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.base import promoted
from nestarray.backends.results import (
    EighResult,
    EigResult,
    QRResult,
    SlogdetResult,
    SVDResult,
)
from nestarray.backends.tensorflow.elementwise import _cast

matrix_transpose = tf.linalg.matrix_transpose
det = tf.linalg.det
inv = tf.linalg.inv
eigvalsh = tf.linalg.eigvalsh
eigvals = tf.linalg.eigvals


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/diag_part"""
    return tf.linalg.diag_part(x, k=offset)


def slogdet(x: Any, /) -> SlogdetResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/slogdet"""
    return SlogdetResult(*tf.linalg.slogdet(x))


def _stacked(x1: Any, x2: Any) -> tuple[Any, Any]:
    """The matrices and the right sides as columns, both of the broadcast batch axes."""
    right = x2[:, None] if len(x2.shape) == 1 else x2
    batch1, batch2 = x1.shape[:-2].as_list(), right.shape[:-2].as_list()
    if batch1 != batch2:
        batch = tf.broadcast_dynamic_shape(tf.shape(x1)[:-2], tf.shape(right)[:-2])
        x1 = tf.broadcast_to(x1, tf.concat([batch, tf.shape(x1)[-2:]], 0))
        right = tf.broadcast_to(right, tf.concat([batch, tf.shape(right)[-2:]], 0))
    return x1, right


def solve(x1: Any, x2: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/solve"""
    x1, x2 = promoted((x1, x2), _cast)
    solution = tf.linalg.solve(*_stacked(x1, x2))
    return solution[..., 0] if len(x2.shape) == 1 else solution


def solve_triangular(x1: Any, x2: Any, /, *, upper: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/triangular_solve"""
    x1, x2 = promoted((x1, x2), _cast)
    solution = tf.linalg.triangular_solve(*_stacked(x1, x2), lower=not upper)
    return solution[..., 0] if len(x2.shape) == 1 else solution


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
