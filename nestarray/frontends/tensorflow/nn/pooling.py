"""Pooling.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn/pool
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import integers, of_kind, tensor
from nestarray.frontends.tensorflow.nn.convolution import with_space_to_batch
from nestarray.frontends.tensorflow.nn.windows import Layout, layout_of, padding_of, per_axis
from nestarray.typing import Array, DTypeLike

__all__ = [
    "avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool", "max_pool1d", "max_pool2d",
    "max_pool3d", "max_pool_with_argmax", "pool",
]  # fmt: skip


def _pooled(
    name: str, op: str, input: Any, ksize: Any, strides: Any, padding: Any, layout: Layout
) -> Array:
    x = of_kind(name, input, "int", "uint", "float")
    kernel = per_axis(name, "ksize", ksize, layout)
    steps = per_axis(name, "strides", strides, layout)
    sizes = [na.shape(x)[i] for i in layout.spatial]
    pads = padding_of(name, padding, layout, sizes, kernel, steps, (1,) * layout.count)
    settings = {"kernel_size": kernel, "stride": steps, "data_format": layout.name}
    if any(sum(pair) for pair in pads):
        settings["padding"] = pads
    if op == "MAX":
        return na.max_pool(x, **settings)
    return na.avg_pool(x, **settings, count_include_pad=False)


def _rank(name: str, x: Any, data_format: str | None) -> Layout:
    return layout_of(name, data_format, len(na.shape(tensor(x))) - 2)


def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Array:
    """The maxima of windows over one to three spatial axes; the first of equal ones has the derivative."""
    layout = _rank("max_pool", input, data_format)
    return _pooled("max_pool", "MAX", input, ksize, strides, padding, layout)


def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NWC",
    name: str | None = None,
) -> Array:
    """The maxima of windows over one spatial axis."""
    layout = layout_of("max_pool1d", data_format, 1)
    return _pooled("max_pool1d", "MAX", input, ksize, strides, padding, layout)


def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Array:
    """The maxima of windows over two spatial axes."""
    layout = layout_of("max_pool2d", data_format, 2)
    return _pooled("max_pool2d", "MAX", input, ksize, strides, padding, layout)


def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Array:
    """The maxima of windows over three spatial axes."""
    layout = layout_of("max_pool3d", data_format, 3)
    return _pooled("max_pool3d", "MAX", input, ksize, strides, padding, layout)


def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Array:
    """The means of windows over one to three spatial axes; the padding does not count."""
    layout = _rank("avg_pool", input, data_format)
    return _pooled("avg_pool", "AVG", input, ksize, strides, padding, layout)


def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NWC",
    name: str | None = None,
) -> Array:
    """The means of windows over one spatial axis."""
    layout = layout_of("avg_pool1d", data_format, 1)
    return _pooled("avg_pool1d", "AVG", input, ksize, strides, padding, layout)


def avg_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Array:
    """The means of windows over two spatial axes."""
    layout = layout_of("avg_pool2d", data_format, 2)
    return _pooled("avg_pool2d", "AVG", input, ksize, strides, padding, layout)


def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Array:
    """The means of windows over three spatial axes."""
    layout = layout_of("avg_pool3d", data_format, 3)
    return _pooled("avg_pool3d", "AVG", input, ksize, strides, padding, layout)


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Array:
    """Maxima (``"MAX"``) or means (``"AVG"``) of windows, which are dilated only without padding."""
    if pooling_type not in ("MAX", "AVG"):
        raise ArgumentError(f"pool: pooling_type: got {pooling_type!r}, expected 'MAX' or 'AVG'")
    window = tuple(integers(window_shape))
    layout = layout_of("pool", data_format, len(window))

    def op(x: Array, count: int, padding: Any) -> Array:
        return _pooled("pool", pooling_type, x, window, strides, padding, layout)

    rates = (1,) * len(window) if dilations is None else tuple(integers(dilations))
    if padding == "SAME" and max(rates) > 1:
        raise ArgumentError(f"pool: dilations: got {rates} with padding 'SAME', expected 'VALID'")
    return with_space_to_batch(input, rates, padding, op, window, data_format=data_format)


def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    output_dtype: DTypeLike = dtypes.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> tuple[Array, Array]:
    """The maxima of windows and their indices in a flattened image, or in the flattened input."""
    layout = layout_of("max_pool_with_argmax", data_format, 2)
    if not layout.is_last:
        raise ArgumentError("max_pool_with_argmax: data_format: got 'NCHW', expected 'NHWC'")
    x = of_kind("max_pool_with_argmax", input, "int", "uint", "float")
    kernel = per_axis("max_pool_with_argmax", "ksize", ksize, layout)
    steps = per_axis("max_pool_with_argmax", "strides", strides, layout)
    batch, height, width, channels = na.shape(x)
    pads = padding_of(
        "max_pool_with_argmax", padding, layout, (height, width), kernel, steps, (1, 1)
    )
    values, indices = na.max_pool_with_indices(
        na.moveaxis(x, -1, 1), kernel_size=kernel, stride=steps, padding=pads
    )
    values, indices = na.moveaxis(values, 1, -1), na.moveaxis(indices, 1, -1)
    of_channel = na.arange(channels, dtype=na.dtype_of(indices), like=indices)
    indices = na.add(na.multiply(indices, channels), of_channel)
    if include_batch_in_index:
        of_image = na.arange(batch, dtype=na.dtype_of(indices), like=indices)
        start = na.multiply(na.reshape(of_image, (batch, 1, 1, 1)), height * width * channels)
        indices = na.add(indices, start)
    return values, na.astype(indices, output_dtype)
