"""Pooling.

Upstream: https://keras.io/api/ops/nn/
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray.errors import ShapeError
from nestarray.frontends.keras import config
from nestarray.frontends.keras.ops.nn.convolution import each_axis, padding_mode
from nestarray.frontends.keras.promotion import as_array
from nestarray.typing import Array

__all__ = ["adaptive_average_pool", "adaptive_max_pool", "average_pool", "max_pool"]


def max_pool(
    inputs: Array,
    pool_size: int | Sequence[int],
    strides: int | Sequence[int] | None = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Array:
    """The largest elements in windows."""
    x, settings = _settings("max_pool", inputs, pool_size, strides, padding, data_format)
    return na.max_pool(x, **settings)


def average_pool(
    inputs: Array,
    pool_size: int | Sequence[int],
    strides: int | Sequence[int] | None = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Array:
    """The means in windows; the padding is not part of them."""
    x, settings = _settings("average_pool", inputs, pool_size, strides, padding, data_format)
    return na.avg_pool(x, count_include_pad=False, **settings)


def _settings(
    op: str, inputs: Any, pool_size: Any, strides: Any, padding: str, data_format: str | None
) -> tuple[Array, dict[str, Any]]:
    """The array and the settings of `na.max_pool` and `na.avg_pool`."""
    x = as_array(inputs)
    rank = len(na.shape(x)) - 2
    size = each_axis(pool_size, rank)
    return x, {
        "kernel_size": size,
        "stride": size if strides is None else each_axis(strides, rank),
        "padding": padding_mode(op, padding),
        "data_format": config.layout(op, data_format),
    }


def adaptive_average_pool(
    inputs: Array, output_size: int | Sequence[int], data_format: str | None = None
) -> Array:
    """The means in as many windows as the result has elements."""
    functions = (na.adaptive_avg_pool1d, na.adaptive_avg_pool2d, na.adaptive_avg_pool3d)
    return _adaptive("adaptive_average_pool", functions, inputs, output_size, data_format)


def adaptive_max_pool(
    inputs: Array, output_size: int | Sequence[int], data_format: str | None = None
) -> Array:
    """The largest elements in as many windows as the result has elements."""
    functions = (na.adaptive_max_pool1d, na.adaptive_max_pool2d, na.adaptive_max_pool3d)
    return _adaptive("adaptive_max_pool", functions, inputs, output_size, data_format)


def _adaptive(
    op: str,
    functions: Sequence[Callable[..., Array]],
    inputs: Any,
    output_size: Any,
    data_format: str | None,
) -> Array:
    layout = config.layout(op, data_format)
    inputs = as_array(inputs)
    rank = len(na.shape(inputs)) - 2
    if not 1 <= rank <= 3:
        raise ShapeError(
            f"{op}: inputs: got the shape {na.shape(inputs)}, expected one to three spatial axes"
        )
    if layout == "channels_last":
        inputs = na.moveaxis(inputs, -1, 1)
    found = functions[rank - 1](inputs, output_size=each_axis(output_size, rank))
    return na.moveaxis(found, 1, -1) if layout == "channels_last" else found
