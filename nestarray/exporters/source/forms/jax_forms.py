"""JAX: `nestarray.exporters.source.forms`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from nestarray import dtypes
from nestarray.backends.base import supports
from nestarray.backends.jax.core import native_dtype
from nestarray.dtypes import dtype_of
from nestarray.exporters.source.functions import jax_functions as functions
from nestarray.numerics import windows

abs = jnp.abs
clip = jnp.clip
sign = jnp.sign
square = jnp.square
getitem = supports(lambda x, index: not _holds_bool(index))(lambda x, index: x[index])


def _holds_bool(index: Any) -> bool:
    return any(isinstance(i, bool) for i in (index if isinstance(index, tuple) else (index,)))


def _is_single(x: Any, *_: Any, **__: Any) -> bool:
    """Whether nestarray computes in the dtype of `x`, and not in a wider one."""
    return dtype_of(x).is_floating and dtype_of(x).bits > 16


def asarray(obj: Any, *, dtype: Any = None, **_: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.asarray.html"""
    return jnp.asarray(obj, dtype=native_dtype(dtypes.dtype_of(obj) if dtype is None else dtype))


# activations


@supports(_is_single)
def leaky_relu(x: Any, *, negative_slope: float = 0.01) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.leaky_relu.html"""
    return jax.nn.leaky_relu(x, negative_slope)


@supports(_is_single)
def elu(x: Any, *, alpha: float = 1.0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.elu.html"""
    return jax.nn.elu(x, alpha)


@supports(_is_single)
def celu(x: Any, *, alpha: float = 1.0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.celu.html"""
    return jax.nn.celu(x, alpha)


relu6 = supports(_is_single)(lambda x: jax.nn.relu6(x))
hard_sigmoid = supports(_is_single)(lambda x: jax.nn.hard_sigmoid(x))
hard_swish = supports(_is_single)(lambda x: jax.nn.hard_swish(x))
glu = supports(_is_single)(lambda x, axis=-1: jax.nn.glu(x, axis))


# layers


def _of_one_dtype(x: Any, *others: Any, **_: Any) -> bool:
    given = [y for y in others if y is not None]
    return _is_single(x) and all(dtype_of(y) is dtype_of(x) for y in given)


linear = supports(_of_one_dtype)(functions.linear)
batch_norm = supports(_of_one_dtype)(functions.batch_norm)
layer_norm = supports(_of_one_dtype)(functions.layer_norm)


@supports(lambda x, *others, axis=1, **_: axis == 1 and _of_one_dtype(x, *others))
def group_norm(
    x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float, **_: Any
) -> Any:
    """Group normalization, channels first."""
    return functions.group_norm(x, weight, bias, num_groups=num_groups, eps=eps)


def _differs_in(x: Any, indices: Any, *, axis: int) -> bool:
    axis %= len(x.shape)
    return all(n == m for i, (n, m) in enumerate(zip(x.shape, indices.shape)) if i != axis)


@supports(_differs_in)
def gather(x: Any, indices: Any, *, axis: int) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.take_along_axis.html"""
    return jnp.take_along_axis(x, indices, axis)


@supports(lambda indices, weight: dtype_of(indices).kind in ("int", "uint"))
def embedding(indices: Any, weight: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"""
    return weight[indices]


@supports(
    lambda q, k, v, mask=None, key=None, *, dropout_p=0.0, enable_gqa=False,
    attn_logits_soft_cap=None, **_: _of_one_dtype(q, k, v) and not dropout_p and not enable_gqa
    and attn_logits_soft_cap is None
)  # fmt: skip
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    dropout_key: Any = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    **_: Any,
) -> Any:
    """Softmax of scores, times values."""
    return functions.attention(query, key, value, mask, is_causal=is_causal, scale=scale)


# windows


def _convolution(count: int) -> Callable[..., Any]:
    @supports(_of_one_dtype)
    def convolution(
        x: Any, weight: Any, bias: Any = None, *, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1,
    ) -> Any:  # fmt: skip
        """https://docs.jax.dev/en/latest/_autosummary/jax.lax.conv_general_dilated.html"""
        at = windows.convolution(
            f"conv{count}d", count, x.shape, weight.shape, bias, stride=stride, padding=padding,
            dilation=dilation, groups=groups,
        )  # fmt: skip
        spread = None if at.dilation == (1,) * count else at.dilation
        return functions.conv(
            x, weight, bias, stride=at.stride, padding=at.padding, dilation=spread, groups=groups
        )

    return convolution


conv1d, conv2d, conv3d = map(_convolution, (1, 2, 3))


def _transposed_convolution(count: int) -> Callable[..., Any]:
    # XLA swaps a small image with its kernel; see nestarray.backends.jax.convolution
    @supports(
        lambda x, weight, *others, **_: (
            _of_one_dtype(x, weight, *others)
            and math.prod(x.shape[2:]) > math.prod(weight.shape[2:])
        )
    )
    def transposed_convolution(
        x: Any, weight: Any, bias: Any = None, *, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, dilation: Any = 1, groups: int = 1,
    ) -> Any:  # fmt: skip
        """https://docs.jax.dev/en/latest/_autosummary/jax.lax.conv_general_dilated.html"""
        at = windows.transposed_convolution(
            f"conv_transpose{count}d", count, x.shape, weight.shape, bias, stride=stride,
            padding=padding, output_padding=output_padding, dilation=dilation, groups=groups,
        )  # fmt: skip
        spread = None if at.windows.dilation == (1,) * count else at.windows.dilation
        return functions.conv_transpose(
            x, weight, bias, stride=at.windows.stride, padding=at.input_padding, dilation=spread,
            groups=groups,
        )  # fmt: skip

    return transposed_convolution


conv_transpose1d, conv_transpose2d, conv_transpose3d = map(_transposed_convolution, (1, 2, 3))


def _max_pool(count: int) -> Callable[..., Any]:
    @supports(lambda x, *, dilation=1, **_: _is_single(x) and windows.is_dense(dilation, count))
    def max_pool(
        x: Any, *, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:  # fmt: skip
        """https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce_window.html"""
        at = windows.pooling(
            f"max_pool{count}d", count, x.shape, kernel_size, stride=stride, padding=padding,
            ceil_mode=ceil_mode,
        )  # fmt: skip
        return functions.max_pool(x, kernel_size=at.kernel, stride=at.stride, padding=at.padding)

    return max_pool


max_pool1d, max_pool2d, max_pool3d = map(_max_pool, (1, 2, 3))


def _avg_pool(count: int) -> Callable[..., Any]:
    def at(x: Any, settings: Any) -> windows.Windows:
        names = ("stride", "padding", "ceil_mode")
        given = {"stride": None, "padding": 0, "ceil_mode": False} | {
            name: settings[name] for name in names if name in settings
        }
        return windows.pooling(
            f"avg_pool{count}d", count, x.shape, settings["kernel_size"], **given
        )

    def is_plain_mean(
        x: Any, *, divisor_override: Any = None, count_include_pad: bool = True, **settings: Any
    ) -> bool:
        if divisor_override is not None or not _is_single(x):
            return False
        found = at(x, settings)
        numbers = windows.counts(found, x.shape[2:], count_include_pad=count_include_pad)
        return all({*own} == {k} for own, k in zip(numbers, found.kernel, strict=False))

    @supports(is_plain_mean)
    def avg_pool(x: Any, **settings: Any) -> Any:
        """https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce_window.html"""
        found = at(x, settings)
        return functions.avg_pool(
            x, kernel_size=found.kernel, stride=found.stride, padding=found.padding
        )

    return avg_pool


avg_pool1d, avg_pool2d, avg_pool3d = map(_avg_pool, (1, 2, 3))


def _global_pool(count: int) -> Callable[..., Any]:
    @supports(lambda x, *, output_size: _is_single(x) and output_size in (1, (1,) * count))
    def pool(x: Any, *, output_size: Any) -> Any:
        """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.mean.html"""
        return jnp.mean(x, axis=tuple(range(2, count + 2)), keepdims=True)

    return pool


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = map(_global_pool, (1, 2, 3))


_METHODS = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "trilinear": "linear"}


def _resized(x: Any, size: Any, scale_factor: Any) -> tuple[int, ...] | None:
    """The new sizes, if they are the old ones times a number."""
    old = x.shape[2:]
    if size is not None:
        return (size,) * len(old) if isinstance(size, int) else tuple(size)
    factors = scale_factor if isinstance(scale_factor, (tuple, list)) else [scale_factor] * len(old)
    new = tuple(int(n * f) for n, f in zip(old, factors, strict=True))
    return new if all(n * f == m for n, f, m in zip(old, factors, new, strict=True)) else None


def _is_resize(
    x: Any, *, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool = False, antialias: bool = False, data_format: str = "channels_first",
) -> bool:  # fmt: skip
    new = _resized(x, size, scale_factor)
    if new is None or align_corners or antialias or data_format != "channels_first":
        return False
    # of whole factors, JAX's nearest element (by half pixels) is the one of the floor
    is_whole = mode != "nearest" or all(n % m == 0 for n, m in zip(new, x.shape[2:], strict=True))
    return mode in _METHODS and is_whole


@supports(_is_resize)
def interpolate(
    x: Any, *, size: Any = None, scale_factor: Any = None, mode: str = "nearest", **_: Any
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.image.resize.html"""
    new = _resized(x, size, scale_factor)
    assert new is not None
    return jax.image.resize(x, (*x.shape[:2], *new), _METHODS[mode], antialias=False)
