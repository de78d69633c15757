"""Normalization and moments.

Upstream: https://keras.io/api/ops/nn/
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.keras import config
from nestarray.frontends.keras.ops import linalg
from nestarray.frontends.keras.ops.numpy.elementwise import maximum, minimum
from nestarray.frontends.keras.promotion import as_array, axes_of, cast, result_type
from nestarray.typing import Array, Axis

__all__ = [
    "batch_normalization",
    "layer_normalization",
    "moments",
    "normalize",
    "rms_normalization",
]

#: The largest finite number of float16.
_LARGEST = 65504.0


def moments(
    x: Array, axes: Axis, keepdims: bool = False, synchronized: bool = False
) -> tuple[Array, Array]:
    """The mean and the variance along axes, of half precision computed in float32.

    Args:
        x: floating.
        axes: the axes.
        keepdims: keep them with length 1.
        synchronized: upstream's mean over replicas; there is one here.
    """
    x = as_array(x)
    dtype = dtypes.dtype_of(x)
    is_half = dtype in (dtypes.float16, dtypes.bfloat16)
    wide = na.astype(x, dtypes.float32) if is_half else x
    found = [f(wide, axis=axes, keepdims=keepdims) for f in (na.mean, na.var)]
    if is_half:
        found = [na.astype(na.clip(a, -_LARGEST, _LARGEST), dtype) for a in found]
    return found[0], found[1]


def batch_normalization(
    x: Array,
    mean: Array,
    variance: Array,
    axis: int,
    offset: Array | None = None,
    scale: Array | None = None,
    epsilon: float = 1e-3,
) -> Array:
    """(x − mean) / √(variance + epsilon) · scale + offset, with one value for each channel."""
    x = as_array(x)
    return na.batch_norm(x, mean, variance, scale, offset, axis=axis, eps=epsilon)


def layer_normalization(
    x: Array,
    gamma: Array | None = None,
    beta: Array | None = None,
    axis: Any = -1,
    epsilon: float | None = None,
    **kwargs: Any,
) -> Array:
    """(x − mean) / √(variance + epsilon) · gamma + beta along axes, computed in at least float32.

    Args:
        x: floating.
        gamma, beta: broadcast to x; with several axes or one that is not the last, they have the
            lengths of the axes.
        axis: an axis, or several.
        epsilon: added to the variance; None: `config.epsilon`.
        **kwargs: ``rms_scaling=True``, deprecated upstream: divide by √(variance + epsilon) only.
    """
    is_scaled_only = kwargs.pop("rms_scaling", False)
    if kwargs:
        raise ArgumentError(f"layer_normalization: unknown arguments: {', '.join(kwargs)}")
    x, eps = as_array(x), config.epsilon() if epsilon is None else epsilon
    dtype, wide = dtypes.dtype_of(x), cast(x, result_type(x, dtypes.float32))
    axes = tuple(sorted(axes_of("layer_normalization", axis, len(na.shape(x)))))
    if is_scaled_only:
        variance = na.var(wide, axis=axes, keepdims=True)
        found = na.multiply(wide, na.rsqrt(na.add(variance, eps)))
    else:
        found = na.layer_norm(wide, axis=axes, eps=eps)
    if gamma is not None:
        found = na.multiply(found, _broadcast(gamma, wide, axes))
    if beta is not None and not is_scaled_only:
        found = na.add(found, _broadcast(beta, wide, axes))
    return cast(found, dtype)


def _broadcast(weight: Any, x: Array, axes: tuple[int, ...]) -> Array:
    """A weight in the dtype of x, with length 1 along the axes other than `axes`."""
    weight = as_array(weight, dtypes.dtype_of(x), x)
    rank = len(na.shape(x))
    if len(na.shape(weight)) == rank or axes == (rank - 1,):
        return weight
    return na.reshape(weight, [n if a in axes else 1 for a, n in enumerate(na.shape(x))])


def rms_normalization(
    x: Array, scale: Array | None = None, axis: Any = -1, epsilon: float | None = None
) -> Array:
    """x / √(mean(x²) + epsilon) · scale along axes, computed in at least float32."""
    x, eps = as_array(x), config.epsilon() if epsilon is None else epsilon
    dtype, wide = dtypes.dtype_of(x), cast(x, result_type(x, dtypes.float32))
    if not na.shape(wide):
        wide = na.expand_dims(wide, 0)
    found = na.rms_norm(wide, axis=axis, eps=eps)
    if scale is not None:
        found = na.multiply(found, as_array(scale, dtypes.dtype_of(wide), wide))
    return cast(found, dtype)


def normalize(x: Array, axis: Any = -1, order: int = 2, epsilon: float | None = None) -> Array:
    """x over its norm along axes.

    Raises:
        ArgumentError: `order` is not a positive integer.
    """
    if not isinstance(order, int) or order < 1:
        raise ArgumentError(f"normalize: order: got {order!r}, expected a positive integer")
    x, eps = as_array(x), config.epsilon() if epsilon is None else epsilon
    if not na.shape(x):
        x = na.expand_dims(x, 0)
    if order == 2:
        inverse = na.rsqrt(na.sum(na.square(x), axis=axis, keepdims=True))
        return na.multiply(x, minimum(inverse, 1.0 / eps))
    length = linalg.norm(x, order, axis, keepdims=True)
    return na.divide(x, maximum(length, eps))
