"""Normalization along axes.

Upstream: https://www.tensorflow.org/api_docs/python/tf/math/l2_normalize
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import axes_of, floating, inexact
from nestarray.typing import Array

__all__ = ["l2_normalize", "log_softmax", "softmax"]


def softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Array:
    """Exponentials divided by their sum along an axis, by default the last."""
    return na.softmax(floating("softmax", logits), axis=-1 if axis is None else axis)


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Array:
    """The logarithm of `softmax`."""
    return na.log_softmax(floating("log_softmax", logits), axis=-1 if axis is None else axis)


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Array:
    """x / √max(Σ \\|x\\|², epsilon); `dim` is an old name of `axis`."""
    if axis is not None and dim is not None:
        raise ArgumentError("l2_normalize: got axis and dim, expected one of the two")
    x = inexact("l2_normalize", x)
    axes = axes_of(dim if axis is None else axis, len(na.shape(x)))
    is_complex = dtypes.dtype_of(x).kind == "complex"
    squares = na.square(x)
    if is_complex:
        squares = na.add(na.square(na.real(x)), na.square(na.imag(x)))
    total = na.sum(squares, axis=axes, keepdims=True)
    is_large = na.greater_equal(total, epsilon)  # the maximum has the derivative of the total
    factor = na.rsqrt(na.where(is_large, total, na.full_like(total, epsilon)))
    return na.multiply(x, na.astype(factor, dtypes.dtype_of(x)) if is_complex else factor)
