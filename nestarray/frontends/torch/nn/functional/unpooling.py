"""Maxima put back where they stood, and pooling at random steps.

Upstream: https://docs.pytorch.org/docs/stable/nn.functional.html#pooling-functions
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.derivatives import with_derivative_of
from nestarray.frontends.torch.dims import ndim_of, per_dim, shape_of
from nestarray.frontends.torch.promotion import cast
from nestarray.frontends.torch.sampling import required_key
from nestarray.ops.window_reductions import fractional_maxima
from nestarray.typing import Array

__all__ = [
    "fractional_max_pool2d", "fractional_max_pool3d", "max_unpool1d", "max_unpool2d",
    "max_unpool3d",
]  # fmt: skip

Ints = int | Sequence[int]


def max_unpool1d(
    input: Array,
    indices: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Array:
    """Max unpooling: the maxima at their indices in one dimension, zeros elsewhere."""
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Array,
    indices: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Array:
    """Max unpooling: the maxima at their indices in two dimensions, zeros elsewhere."""
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Array,
    indices: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Array:
    """Max unpooling: the maxima at their indices in three dimensions, zeros elsewhere."""
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _max_unpool(
    count: int,
    x: Array,
    indices: Array,
    kernel_size: Ints,
    stride: Ints | None,
    padding: Ints,
    output_size: Sequence[int] | None,
) -> Array:
    is_one = ndim_of(x) == count + 1
    if is_one:
        x, indices = (na.expand_dims(a, axis=0) for a in (x, indices))
    found = na.max_unpool(
        x,
        indices,
        kernel_size=per_dim("kernel_size", kernel_size, count),
        stride=None if stride is None else per_dim("stride", stride, count),
        padding=per_dim("padding", padding, count),
        # upstream also accepts all sizes, examples and channels first
        output_size=None if output_size is None else tuple(output_size)[-count:],
    )
    # Windows that overlap name an element twice: each of the two has its derivative.
    shape = shape_of(found)
    flat = (*shape[:2], -1)
    zeros = na.reshape(na.zeros_like(found), (*shape[:2], math.prod(shape[2:])))
    places = cast(na.reshape(indices, flat), dtypes.int64)
    added = na.scatter(zeros, places, na.reshape(x, flat), axis=-1, mode="add")
    found = with_derivative_of(na.reshape(added, shape), na.stop_gradient(found))
    return na.squeeze(found, axis=0) if is_one else found


def fractional_max_pool2d(
    input: Array,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Array | None = None,
    *,
    key: Array | None = None,
) -> Any:
    """Fractional max pooling with random window steps, over two dimensions."""
    return _fractional(
        2, input, kernel_size, output_size, output_ratio, _random_samples, key, return_indices
    )


def fractional_max_pool3d(
    input: Array,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Array | None = None,
    *,
    key: Array | None = None,
) -> Any:
    """Fractional max pooling with random window steps, over three dimensions."""
    return _fractional(
        3, input, kernel_size, output_size, output_ratio, _random_samples, key, return_indices
    )


def _fractional(
    count: int,
    x: Array,
    kernel_size: Ints,
    output_size: Ints | None,
    ratio: Any,
    samples: Array | None,
    key: Array | None,
    return_indices: bool,
) -> Any:
    name = f"fractional_max_pool{count}d"
    if (output_size is None) == (ratio is None):
        raise ArgumentError(
            f"{name}: got output_size={output_size!r} and output_ratio={ratio!r}, expected one "
            "of them"
        )
    if output_size is None:
        ratios = (ratio,) * count if isinstance(ratio, (int, float)) else tuple(ratio)
        output_size = [int(n * r) for n, r in zip(shape_of(x)[-count:], ratios)]
    is_one = ndim_of(x) == count + 1
    x = na.expand_dims(x, axis=0) if is_one else x

    def draw() -> Array:
        if samples is not None:
            return samples[: shape_of(x)[0]]  # there may be more than images
        shape = (*shape_of(x)[:2], count)
        return na.random.uniform(required_key(name, key), shape, dtype=dtypes.dtype_of(x))

    layout = "height, width" if count == 2 else "depth, height, width"
    found = fractional_maxima(
        name, x, draw, kernel_size, output_size, layout, return_indices=return_indices
    )
    if not is_one:
        return found
    if not return_indices:
        return na.squeeze(found, axis=0)
    return tuple(na.squeeze(part, axis=0) for part in found)
