"""TensorFlow: `nestarray.ops.pooling_layouts`, channels last, as its kernels require.

https://www.tensorflow.org/api_docs/python/tf/nn/max_pool
"""

from __future__ import annotations

from typing import Any

from nestarray.backends.base import supports
from nestarray.backends.tensorflow.manipulation import shape
from nestarray.backends.tensorflow.pooling import _avg_pooled, _has_kernel, _max_pooled
from nestarray.numerics import windows


def _is_native(x: Any, /, *, data_format: str = "channels_first", **_: Any) -> bool:
    count = len(x.shape) - 2
    return data_format == "channels_last" and 1 <= count <= 3 and _has_kernel(x, count)


def _max_is_native(x: Any, /, *, dilation: Any = 1, **settings: Any) -> bool:
    return windows.is_dense(dilation, len(x.shape) - 2) and _is_native(x, **settings)


@supports(_max_is_native)
def max_pool(
    x: Any,
    /,
    *,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    data_format: str = "channels_first",
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/max_pool"""
    at = windows.channels_last_pooling(
        "max_pool", shape(x), kernel_size, stride=stride, padding=padding, dilation=dilation,
        ceil_mode=ceil_mode,
    )  # fmt: skip
    return _max_pooled(x, at)


@supports(_is_native)
def avg_pool(
    x: Any,
    /,
    *,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    data_format: str = "channels_first",
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/nn/avg_pool"""
    at = windows.channels_last_pooling(
        "avg_pool", shape(x), kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode,
        divisor=divisor_override,
    )  # fmt: skip
    return _avg_pooled(
        x, at, count_include_pad=count_include_pad, divisor_override=divisor_override
    )
