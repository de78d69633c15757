"""Encodings of classes, and complex numbers of a radius and an angle.

Upstream: https://keras.io/api/ops/nn/
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.frontends.keras.promotion import as_array, as_arrays, as_dtype
from nestarray.typing import Array, DTypeLike

__all__ = ["multi_hot", "one_hot", "polar"]


def one_hot(
    x: Array,
    num_classes: int,
    axis: int = -1,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
) -> Array:
    """1 at the position of each class along a new axis; zeros for classes out of range.

    Raises:
        UnsupportedError: `sparse` is true: arrays are dense.
    """
    if sparse:
        raise UnsupportedError("one_hot: sparse: got True, expected False: arrays are dense")
    wanted = dtypes.float32 if dtype is None else as_dtype(dtype)
    x = na.expand_dims(as_array(x), axis)
    rank = len(na.shape(x))
    classes = na.arange(num_classes, dtype=dtypes.dtype_of(x), like=x)
    shape = [-1 if a == axis % rank else 1 for a in range(rank)]
    return na.astype(na.equal(x, na.reshape(classes, shape)), wanted)


def multi_hot(
    inputs: Array,
    num_classes: int | None = None,
    axis: int = -1,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
    **kwargs: Any,
) -> Array:
    """1 at the positions of all classes of a row.

    Raises:
        ArgumentError: `num_classes` is missing.
        UnsupportedError: `sparse` is true: arrays are dense.
    """
    count = kwargs.pop("num_tokens", None) if num_classes is None else num_classes
    if count is None or kwargs:
        unknown = "".join(f"; unknown: {name}" for name in kwargs)
        raise ArgumentError(f"multi_hot: num_classes: got {count}, expected an integer{unknown}")
    inputs = as_array(inputs)
    encoded = one_hot(inputs, count, axis, as_dtype(dtype), sparse)
    reduced = 1 if len(na.shape(inputs)) > 1 else 0
    function = na.any if dtypes.dtype_of(encoded) is dtypes.bool else na.max
    return function(encoded, axis=reduced)


def polar(abs_: Array, angle: Array) -> Array:
    """The complex number of a radius and an angle."""
    radius, angle = as_arrays(abs_, angle)
    return na.complex(na.multiply(radius, na.cos(angle)), na.multiply(radius, na.sin(angle)))
