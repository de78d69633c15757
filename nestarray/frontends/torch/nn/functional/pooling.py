"""Pooling, https://docs.pytorch.org/docs/stable/nn.functional.html#pooling-functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.torch.dims import has_zero, ndim_of, per_dim, shape_of
from nestarray.ops.window_reductions import adaptive_maxima
from nestarray.typing import Array

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
]  # fmt: skip

Ints = int | Sequence[int]
Sizes = int | Sequence[int | None]


def _expect_narrow_margins(count: int, kernel_size: Ints, padding: Ints) -> None:
    """A margin is at most half of a window, so that no window lies outside."""
    kernel, margin = (
        per_dim(name, value, count)
        for name, value in (("kernel_size", kernel_size), ("padding", padding))
    )
    if any(2 * p > k or p < 0 for p, k in zip(margin, kernel)):
        raise ArgumentError(
            f"pool: padding: got {margin} beside windows of {kernel}, expected at most half of them"
        )


def _pooled(function: Callable[..., Array], count: int, x: Array, **settings: Any) -> Array:
    """`function` on `(n, c, *spatial)`, also for one example without the first dimension."""
    given = {
        name: per_dim(name, value, count)
        if name in ("kernel_size", "stride", "padding", "dilation")
        else value
        for name, value in settings.items()
    }
    if ndim_of(x) == count + 1:
        return na.squeeze(function(na.expand_dims(x, axis=0), **given), axis=0)
    return function(x, **given)


def _step(stride: Ints | None, kernel_size: Ints) -> Ints:
    """The stride; by default the kernel size (ATen passes an empty list)."""
    return kernel_size if stride is None or (not isinstance(stride, int) and not stride) else stride


# -- largest -------------------------------------------------------------------------------


def max_pool1d(
    input: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of `(n, c, l)`."""
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of `(n, c, h, w)`."""
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of `(n, c, d, h, w)`."""
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _max_pool(
    count: int,
    x: Array,
    kernel_size: Ints,
    stride: Ints | None,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    _expect_narrow_margins(count, kernel_size, padding)
    if ndim_of(x) not in (count + 1, count + 2) or has_zero(shape_of(x)[-count - 1 :]):
        raise ShapeError(
            f"max_pool{count}d: input: got the shape {shape_of(x)}, expected channels and {count} "
            "more dimensions, none of them empty, with a batch in front or without"
        )
    function = (na.max_pool1d, na.max_pool2d, na.max_pool3d)[count - 1]
    settings: dict[str, Any] = {
        "kernel_size": kernel_size,
        "stride": _step(stride, kernel_size),
        "padding": padding,
        "dilation": dilation,
    }
    if not return_indices:
        return _pooled(function, count, x, **settings, ceil_mode=ceil_mode)
    batched = x if ndim_of(x) == count + 2 else na.expand_dims(x, axis=0)
    values, indices = na.max_pool_with_indices(batched, **settings, ceil_mode=ceil_mode)
    if ndim_of(x) == count + 1:
        values, indices = na.squeeze(values, axis=0), na.squeeze(indices, axis=0)
    return values, indices


def adaptive_max_pool1d(input: Array, output_size: Sizes, return_indices: bool = False) -> Any:
    """The maximum of each of `output_size` parts; with `return_indices` also the indices."""
    if return_indices:
        return adaptive_maxima(input, per_part(output_size, 1))
    return _adaptive(na.adaptive_max_pool1d, 1, input, output_size)


def adaptive_max_pool2d(input: Array, output_size: Sizes, return_indices: bool = False) -> Any:
    """The maximum of each of `output_size` parts; with `return_indices` also the indices."""
    if return_indices:
        return adaptive_maxima(input, per_part(output_size, 2))
    return _adaptive(na.adaptive_max_pool2d, 2, input, output_size)


def adaptive_max_pool3d(input: Array, output_size: Sizes, return_indices: bool = False) -> Any:
    """The maximum of each of `output_size` parts; with `return_indices` also the indices."""
    if return_indices:
        return adaptive_maxima(input, per_part(output_size, 3))
    return _adaptive(na.adaptive_max_pool3d, 3, input, output_size)


# -- average -------------------------------------------------------------------------------


def avg_pool1d(
    input: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Array:
    """The mean of each window of `(n, c, l)`."""
    return _averaged(
        na.avg_pool1d, 1, input, kernel_size=kernel_size, stride=_step(stride, kernel_size),
        padding=padding, ceil_mode=ceil_mode, count_include_pad=count_include_pad,
    )  # fmt: skip


def avg_pool2d(
    input: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """The mean of each window of `(n, c, h, w)`."""
    return _averaged(
        na.avg_pool2d, 2, input, kernel_size=kernel_size, stride=_step(stride, kernel_size),
        padding=padding, ceil_mode=ceil_mode, count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )  # fmt: skip


def avg_pool3d(
    input: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """The mean of each window of `(n, c, d, h, w)`."""
    return _averaged(
        na.avg_pool3d, 3, input, kernel_size=kernel_size, stride=_step(stride, kernel_size),
        padding=padding, ceil_mode=ceil_mode, count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )  # fmt: skip


def _averaged(function: Callable[..., Array], count: int, x: Array, **settings: Any) -> Array:
    """`_pooled`; the mean of integers is an integer, rounded towards 0."""
    _expect_narrow_margins(count, settings["kernel_size"], settings["padding"])
    if settings.get("divisor_override") == 0:
        raise ArgumentError(f"avg_pool{count}d: divisor_override: got 0, expected another number")
    dtype = dtypes.dtype_of(x)
    if dtype.is_inexact:
        return _pooled(function, count, x, **settings)
    mean = _pooled(function, count, na.astype(x, dtypes.float64), **settings)
    return na.astype(na.trunc(mean), dtype)


def adaptive_avg_pool1d(input: Array, output_size: Sizes) -> Array:
    """The mean of each of `output_size` parts."""
    return _adaptive(na.adaptive_avg_pool1d, 1, input, output_size)


def adaptive_avg_pool2d(input: Array, output_size: Sizes) -> Array:
    """The mean of each of `output_size` parts."""
    return _adaptive(na.adaptive_avg_pool2d, 2, input, output_size)


def adaptive_avg_pool3d(input: Array, output_size: Sizes) -> Array:
    """The mean of each of `output_size` parts."""
    return _adaptive(na.adaptive_avg_pool3d, 3, input, output_size)


def _adaptive(function: Callable[..., Array], count: int, x: Array, output_size: Sizes) -> Array:
    return _pooled(function, count, x, output_size=per_part(output_size, count))


def per_part(output_size: Sizes, count: int) -> tuple[int | None, ...]:
    """The number of parts of each dimension; None keeps the dimension."""
    if isinstance(output_size, int):
        return (output_size,) * count
    return tuple(output_size) * (count if len(output_size) == 1 else 1)


# -- p-norm --------------------------------------------------------------------------------


def lp_pool1d(
    input: Array,
    norm_type: float,
    kernel_size: int,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Array:
    """(Σ xᵖ)^(1/p) of each window."""
    mean = avg_pool1d(na.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _root(mean, norm_type, kernel_size)


def lp_pool2d(
    input: Array,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Array:
    """(Σ xᵖ)^(1/p) of each window."""
    mean = avg_pool2d(na.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _root(mean, norm_type, math.prod(per_dim("kernel_size", kernel_size, 2)))


def lp_pool3d(
    input: Array,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Array:
    """(Σ xᵖ)^(1/p) of each window."""
    mean = avg_pool3d(na.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _root(mean, norm_type, math.prod(per_dim("kernel_size", kernel_size, 3)))


def _root(mean: Array, norm_type: float, elements: int) -> Array:
    total = na.multiply(na.relu(na.multiply(na.sign(mean), na.abs(mean))), float(elements))
    return na.pow(total, 1.0 / norm_type)
