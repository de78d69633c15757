"""TensorFlow: `nestarray.ops.linear_systems`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray import dtypes
from nestarray.backends import portable
from nestarray.backends.base import supports
from nestarray.backends.precision import in_single_precision
from nestarray.backends.tensorflow.derivatives import custom_gradient
from nestarray.backends.tensorflow.elimination import ordered
from nestarray.backends.tensorflow.promotion import cast, promoted
from nestarray.numerics.matrices import check_factors

_single = in_single_precision(cast)
_single_pair = in_single_precision(cast, arrays=(0, 1))


@_single
def inv(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/inv"""
    if portable.are_wanted():
        return portable.solve(x, tf.eye(x.shape[-1], dtype=x.dtype))
    return tf.linalg.inv(x)


def _has_number(x: Any, *, rtol: Any = None, atol: Any = None) -> bool:
    return atol is None and not hasattr(rtol, "shape") and 0 not in x.shape[-2:]


@supports(_has_number)
@_single
def pinv(x: Any, /, *, rtol: Any = None, atol: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/svd

    The gradient is that of matrices of constant rank, also for equal singular values.
    """
    if rtol is None:
        rtol = max(x.shape[-2:]) * dtypes.finfo(dtypes.dtype_of(x)).eps

    @custom_gradient
    def call(x: Any) -> Any:
        S, U, V = tf.linalg.svd(x)
        counts = rtol * tf.reduce_max(S, -1, keepdims=True) < S
        inverse = tf.where(counts, 1 / tf.where(counts, S, tf.ones_like(S)), tf.zeros_like(S))
        left = V * tf.cast(inverse, V.dtype)[..., None, :]

        def gradient(upstream: Any) -> Any:
            P = call(x)
            before = tf.eye(x.shape[-2], dtype=x.dtype) - tf.matmul(x, P)
            after = tf.eye(x.shape[-1], dtype=x.dtype) - tf.matmul(P, x)
            inner = tf.matmul(tf.matmul(P, upstream, adjoint_a=True), P, adjoint_b=True)
            outer = tf.matmul(
                before, tf.matmul(tf.matmul(upstream, P, adjoint_a=True), P, adjoint_b=True)
            )
            other = tf.matmul(
                tf.matmul(P, P, adjoint_a=True), tf.matmul(upstream, after, adjoint_a=True)
            )
            return outer + other - inner

        return tf.matmul(left, U, adjoint_b=True), gradient

    return call(x)


def _stacked(x1: Any, x2: Any) -> tuple[Any, Any]:
    """The matrices and the right-hand sides as columns, with broadcast batch axes."""
    right = x2[:, None] if len(x2.shape) == 1 else x2
    batch1, batch2 = x1.shape[:-2].as_list(), right.shape[:-2].as_list()
    if batch1 != batch2:
        batch = tf.broadcast_dynamic_shape(tf.shape(x1)[:-2], tf.shape(right)[:-2])
        x1 = tf.broadcast_to(x1, tf.concat([batch, tf.shape(x1)[-2:]], 0))
        right = tf.broadcast_to(right, tf.concat([batch, tf.shape(right)[-2:]], 0))
    return x1, right


@_single_pair
def solve(x1: Any, x2: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/solve"""
    x1, x2 = promoted((x1, x2))
    native = portable.solve if portable.are_wanted() else tf.linalg.solve
    solution = native(*_stacked(x1, x2))
    return solution[..., 0] if len(x2.shape) == 1 else solution


@_single_pair
def solve_triangular(
    x1: Any, x2: Any, /, *, upper: bool = False, unit_diagonal: bool = False
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/triangular_solve"""
    x1, x2 = promoted((x1, x2))
    if unit_diagonal:
        x1 = tf.linalg.set_diag(x1, tf.ones_like(tf.linalg.diag_part(x1)))
    solution = tf.linalg.triangular_solve(*_stacked(x1, x2), lower=not upper)
    return solution[..., 0] if len(x2.shape) == 1 else solution


@supports(lambda LU, pivots, x2: 0 not in LU.shape)
@in_single_precision(cast, arrays=(0, 2))
def lu_solve(LU: Any, pivots: Any, x2: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/lu_solve"""
    check_factors(LU, pivots, x2)
    LU, x2 = promoted((LU, x2))
    LU, right = _stacked(LU, x2)
    order = tf.broadcast_to(ordered(tf.cast(pivots, tf.int64)), tf.shape(LU)[:-1])
    right = tf.gather(right, order, axis=-2, batch_dims=len(LU.shape) - 2)
    L = tf.linalg.set_diag(LU, tf.ones_like(LU[..., 0]))
    solution = tf.linalg.triangular_solve(L, right)
    solution = tf.linalg.triangular_solve(LU, solution, lower=False)
    return solution[..., 0] if len(x2.shape) == 1 else solution
