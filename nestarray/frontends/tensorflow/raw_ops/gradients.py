"""Gradients of elementwise functions, as tapes inside of functions compute them.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ReluGrad
"""

from __future__ import annotations

import nestarray as na
from nestarray.frontends.tensorflow.raw_ops import elementwise
from nestarray.typing import Array

__all__ = [
    "EluGrad", "InvGrad", "LeakyReluGrad", "ReciprocalGrad", "Relu6Grad", "ReluGrad", "RsqrtGrad",
    "SeluGrad", "SigmoidGrad", "SoftplusGrad", "SoftsignGrad", "SqrtGrad", "TanhGrad",
]  # fmt: skip

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _where(condition: Array, gradients: Array) -> Array:
    return na.where(condition, gradients, na.zeros_like(gradients))


def ReluGrad(gradients: Array, features: Array) -> Array:
    """The gradient of `Relu`."""
    return _where(na.greater(features, 0), gradients)


def Relu6Grad(gradients: Array, features: Array) -> Array:
    """The gradient of `Relu6`."""
    inside = na.logical_and(na.greater(features, 0), na.less(features, 6))
    return _where(inside, gradients)


def LeakyReluGrad(gradients: Array, features: Array, alpha: float = 0.2) -> Array:
    """The gradient of `LeakyRelu`."""
    return na.where(na.greater(features, 0), gradients, na.multiply(gradients, alpha))


def EluGrad(gradients: Array, outputs: Array) -> Array:
    """The gradient of `Elu`, from its result."""
    return na.where(na.less(outputs, 0), na.multiply(gradients, na.add(outputs, 1)), gradients)


def SeluGrad(gradients: Array, outputs: Array) -> Array:
    """The gradient of `Selu`, from its result."""
    below = na.multiply(gradients, na.add(outputs, _SELU_ALPHA * _SELU_SCALE))
    return na.where(na.less(outputs, 0), below, na.multiply(gradients, _SELU_SCALE))


def SigmoidGrad(y: Array, dy: Array) -> Array:
    """The gradient of `Sigmoid`, from its result."""
    return na.multiply(dy, na.multiply(y, na.subtract(1, y)))


def TanhGrad(y: Array, dy: Array) -> Array:
    """The gradient of `Tanh`, from its result."""
    return na.multiply(dy, na.subtract(1, na.square(y)))


def SqrtGrad(y: Array, dy: Array) -> Array:
    """The gradient of `Sqrt`, from its result."""
    return na.divide(na.multiply(dy, 0.5), y)


def RsqrtGrad(y: Array, dy: Array) -> Array:
    """The gradient of `Rsqrt`, from its result."""
    return na.multiply(na.multiply(dy, -0.5), na.multiply(y, na.square(y)))


def ReciprocalGrad(y: Array, dy: Array) -> Array:
    """The gradient of `Reciprocal`, from its result."""
    return na.negative(na.multiply(dy, na.square(y)))


InvGrad = ReciprocalGrad


def SoftplusGrad(gradients: Array, features: Array) -> Array:
    """The gradient of `Softplus`."""
    return na.multiply(gradients, elementwise.Sigmoid(features))


def SoftsignGrad(gradients: Array, features: Array) -> Array:
    """The gradient of `Softsign`."""
    return na.divide(gradients, na.square(na.add(na.abs(features), 1)))
