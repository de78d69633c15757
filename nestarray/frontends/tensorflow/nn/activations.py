"""Activation functions.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray.frontends.tensorflow.conversion import floating, of_kind
from nestarray.frontends.tensorflow.math.elementwise import sigmoid, softplus, softsign, tanh
from nestarray.typing import Array

__all__ = [
    "crelu", "elu", "gelu", "leaky_relu", "relu", "relu6", "selu", "sigmoid",
    "silu", "softplus", "softsign", "swish", "tanh",
]  # fmt: skip

#: https://arxiv.org/abs/1706.02515
_SELU_SCALE = 1.0507009873554805


def relu(features: Any, name: str | None = None) -> Array:
    """max(x, 0), with the derivative 0 at 0."""
    return na.relu(of_kind("relu", features, "int", "uint", "float"))


def relu6(features: Any, name: str | None = None) -> Array:
    """min(max(x, 0), 6), with the derivative 0 at 0 and at 6."""
    x = of_kind("relu6", features, "int", "uint", "float")
    return na.relu6(x)


def crelu(features: Any, axis: int = -1, name: str | None = None) -> Array:
    """relu(x) and relu(−x) along an axis."""
    return na.crelu(floating("crelu", features), axis=axis)


def elu(features: Any, name: str | None = None) -> Array:
    """x if it is positive, eˣ − 1 if not."""
    return na.elu(floating("elu", features))


def selu(features: Any, name: str | None = None) -> Array:
    """1.0507 · x if it is positive, 1.7581 · (eˣ − 1) if not, with the derivative 1.0507 at 0."""
    x = floating("selu", features)
    return na.where(na.equal(x, 0), na.multiply(x, _SELU_SCALE), na.selu(x))


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Array:
    """x if it is positive, alpha · x if not."""
    x = floating("leaky_relu", features)
    return na.where(na.greater(x, 0), x, na.multiply(x, alpha))


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Array:
    """x · Φ(x), or its approximation by tanh."""
    return na.gelu(floating("gelu", features), approximate=approximate)


def silu(features: Any, beta: Any = 1.0) -> Array:
    """x · sigmoid(beta · x)."""
    x = floating("silu", features)
    return na.multiply(x, na.sigmoid(na.multiply(x, beta)))


swish = silu
