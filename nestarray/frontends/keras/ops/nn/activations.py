"""Activations.

Upstream: https://keras.io/api/ops/nn/
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ShapeError
from nestarray.frontends.keras.promotion import as_array, normal_axis
from nestarray.typing import Array, Axis

__all__ = [
    "celu", "elu", "gelu", "glu", "hard_shrink", "hard_sigmoid", "hard_silu", "hard_swish",
    "hard_tanh", "leaky_relu", "log_sigmoid", "log_softmax", "relu", "relu6", "selu", "sigmoid",
    "silu", "soft_shrink", "softmax", "softplus", "softsign", "sparse_plus", "sparse_sigmoid",
    "sparsemax", "squareplus", "swish", "tanh_shrink", "threshold",
]  # fmt: skip

#: The constants of `selu`.
_SCALE, _SCALED_ALPHA = 1.0507009873554805, 1.7580993408473768


def relu(x: Array) -> Array:
    """max(x, 0)."""
    return na.relu(as_array(x))


def relu6(x: Array) -> Array:
    """min(max(x, 0), 6)."""
    return na.relu6(as_array(x))


def leaky_relu(x: Array, negative_slope: float = 0.2) -> Array:
    """x, times `negative_slope` below 0."""
    return na.leaky_relu(as_array(x), negative_slope=negative_slope)


def elu(x: Array, alpha: float = 1.0) -> Array:
    """x, and alpha · (eˣ − 1) below 0."""
    return na.elu(as_array(x), alpha=alpha)


def celu(x: Array, alpha: float = 1.0) -> Array:
    """x, and alpha · (exp(x / alpha) − 1) below 0."""
    return na.celu(as_array(x), alpha=alpha)


def selu(x: Array) -> Array:
    """The scaled `elu` that keeps mean 0 and variance 1; its derivative at 0 is the scale."""
    x = as_array(x)
    negative = na.multiply(na.expm1(na.where(na.less(x, 0), x, 0)), _SCALED_ALPHA)
    return na.where(na.less(x, 0), negative, na.multiply(x, _SCALE))


def sigmoid(x: Array) -> Array:
    """1 / (1 + e⁻ˣ)."""
    return na.sigmoid(as_array(x))


def log_sigmoid(x: Array) -> Array:
    """−ln(1 + e⁻ˣ)."""
    return na.log_sigmoid(as_array(x))


def sparse_sigmoid(x: Array) -> Array:
    """(x + 1) / 2, within 0 and 1."""
    x = as_array(x)
    inner = na.multiply(na.add(x, 1), 0.5)
    return na.where(na.less_equal(x, -1), 0, na.where(na.greater_equal(x, 1), 1, inner))


def hard_sigmoid(x: Array) -> Array:
    """x / 6 + 1/2, within 0 and 1."""
    return na.hard_sigmoid(as_array(x))


def silu(x: Array) -> Array:
    """x · sigmoid(x)."""
    return na.silu(as_array(x))


swish = silu


def hard_silu(x: Array) -> Array:
    """x · hard_sigmoid(x)."""
    return na.hard_swish(as_array(x))


hard_swish = hard_silu


def gelu(x: Array, approximate: bool = True) -> Array:
    """x · Φ(x), by default with the approximation by tanh."""
    return na.gelu(as_array(x), approximate=approximate)


def glu(x: Array, axis: int = -1) -> Array:
    """The first half along an axis times the sigmoid of the second.

    Raises:
        ShapeError: the axis has an odd length.
    """
    x = as_array(x)
    length = na.shape(x)[normal_axis("glu", axis, len(na.shape(x)))]
    if length % 2:
        raise ShapeError(
            f"glu: x: got {length} elements along axis {axis}, expected an even number"
        )
    return na.glu(x, axis=axis)


def softplus(x: Array) -> Array:
    """ln(1 + eˣ)."""
    return na.softplus(as_array(x))


def sparse_plus(x: Array) -> Array:
    """0 up to −1, (x + 1)² / 4, x from 1."""
    x = as_array(x)
    inner = na.multiply(na.square(na.add(x, 1)), 0.25)
    return na.where(na.less_equal(x, -1), 0, na.where(na.less(x, 1), inner, x))


def squareplus(x: Array, b: float = 4) -> Array:
    """(x + √(x² + b)) / 2."""
    x = as_array(x)
    root = na.sqrt(na.add(na.square(x), as_array(b, dtypes.dtype_of(x), x)))
    return na.divide(na.add(x, root), 2)


def softsign(x: Array) -> Array:
    """x / (1 + |x|)."""
    return na.softsign(as_array(x))


def hard_tanh(x: Array) -> Array:
    """x, within −1 and 1."""
    return na.clip(as_array(x), -1.0, 1.0)


def tanh_shrink(x: Array) -> Array:
    """x − tanh(x)."""
    return na.tanh_shrink(as_array(x))


def hard_shrink(x: Array, threshold: float = 0.5) -> Array:
    """x, and 0 within ±threshold."""
    return na.hard_shrink(as_array(x), threshold=threshold)


def soft_shrink(x: Array, threshold: float = 0.5) -> Array:
    """x moved towards 0 by `threshold`, and 0 within it."""
    return na.soft_shrink(as_array(x), threshold=threshold)


def threshold(x: Array, threshold: float, default_value: float) -> Array:
    """x above `threshold`, else `default_value`."""
    return na.threshold(as_array(x), threshold=threshold, value=default_value)


def softmax(x: Array, axis: Axis = -1) -> Array:
    """eˣ / Σ eˣ along axes; over all elements for None."""
    return na.softmax(as_array(x), axis=axis)


def log_softmax(x: Array, axis: Axis = -1) -> Array:
    """x − ln Σ eˣ along axes; over all elements for None."""
    return na.log_softmax(as_array(x), axis=axis)


def sparsemax(x: Array, axis: int = -1) -> Array:
    """max(x − τ, 0): like softmax, with zeros.

    Upstream adds the cumulative sums of the support for τ, where Martins and Astudillo,
    https://arxiv.org/abs/1602.02068, and `na.sparsemax` have the last one: the result sums to 1 only
    where the support has one element.
    """
    x = as_array(x)
    axis = normal_axis("sparsemax", axis, len(na.shape(x)))
    ordered = na.flip(na.sort(x, axis=axis), axis=axis)
    sums = na.cumulative_sum(ordered, axis=axis)
    numbers = na.arange(1, na.shape(x)[axis] + 1, dtype=dtypes.dtype_of(x), like=x)
    numbers = na.reshape(numbers, [-1 if a == axis else 1 for a in range(len(na.shape(x)))])
    support = na.greater(na.subtract(ordered, na.divide(na.subtract(sums, 1), numbers)), 0)
    total = na.sum(na.where(support, sums, 0), axis=axis, keepdims=True)
    count = na.sum(na.astype(support, dtypes.dtype_of(x)), axis=axis, keepdims=True)
    return na.relu(na.subtract(x, na.divide(na.subtract(total, 1), count)))
