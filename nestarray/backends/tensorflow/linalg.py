"""TensorFlow: `nestarray.ops.linalg`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends import xp
from nestarray.backends.base import supports
from nestarray.backends.precision import in_single_precision
from nestarray.backends.tensorflow.derivatives import custom_gradient, with_derivative_of
from nestarray.backends.tensorflow.manipulation import shape
from nestarray.backends.tensorflow.promotion import cast
from nestarray.numerics.determinants import differentiable_det
from nestarray.numerics.matrices import check_square
from nestarray.numerics.results import SlogdetResult

_single = in_single_precision(cast)

matrix_transpose = tf.linalg.matrix_transpose


@custom_gradient
def _det_of_regular(x: Any) -> Any:
    """The determinant; TensorFlow's gradient lacks a conjugate."""

    def gradient(upstream: Any) -> Any:
        scale = upstream * tf.math.conj(_det_of_regular(x))
        return scale[..., None, None] * tf.linalg.inv(x, adjoint=True)

    return tf.linalg.det(x), gradient


def _choose(pred: Any, true_branch: Any, false_branch: Any) -> Any:
    """A branch; the first, which serves all matrices, in a graph."""
    return false_branch() if tf.executing_eagerly() and not bool(pred) else true_branch()


def _differentiable_det(x: Any) -> Any:
    return differentiable_det(xp, x, _det_of_regular, _choose)


det = _single(with_derivative_of(_differentiable_det, tf.linalg.det))


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/diag_part"""
    rows, columns = x.shape[-2:]
    if rows is not None and columns is not None and not -rows < offset < columns:
        return tf.zeros((*shape(x)[:-2], 0), x.dtype)  # diag_part rejects it
    return tf.linalg.diag_part(x, k=offset)


@_single
def slogdet(x: Any, /) -> SlogdetResult:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/slogdet"""
    sign, size = tf.linalg.slogdet(x)
    return SlogdetResult(sign, tf.math.real(size))  # complex for complex matrices


# its approximation loses up to four digits in single precision, the body one
@_single
@supports(lambda x: x.dtype in (tf.float64, tf.complex128))
def expm(x: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/expm"""
    check_square("expm", "x", x)
    return tf.linalg.expm(x)
