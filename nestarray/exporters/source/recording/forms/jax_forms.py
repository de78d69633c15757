"""JAX: `nestarray.exporters.source.recording.forms`."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from nestarray.backends.base import supports
from nestarray.backends.jax.core import native_dtype
from nestarray.dtypes import as_dtype, dtype_of
from nestarray.exporters.source.recording.forms import layers
from nestarray.numerics.windows import Windows

abs = jnp.abs
clip = jnp.clip
sign = jnp.sign
square = jnp.square


@supports(lambda x, index: not _holds_bool(index))
def getitem(x: Any, index: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"""
    if not isinstance(index, tuple):
        return x[_without_list(index)]
    return x[tuple(map(_without_list, index))]


def _without_list(item: Any) -> Any:
    return jnp.array(item) if isinstance(item, list) else item


def _holds_bool(index: Any) -> bool:
    return any(isinstance(i, bool) for i in (index if isinstance(index, tuple) else (index,)))


def asarray(obj: Any, *, dtype: Any = None, **_: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.asarray.html"""
    return jnp.asarray(obj, dtype=native_dtype(dtype_of(obj) if dtype is None else dtype))


# activations


@supports(layers.is_single)
def leaky_relu(x: Any, *, negative_slope: float = 0.01) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.leaky_relu.html"""
    return jax.nn.leaky_relu(x, negative_slope)


elu = supports(layers.is_single)(lambda x, alpha=1.0: jax.nn.elu(x, alpha))
celu = supports(layers.is_single)(lambda x, alpha=1.0: jax.nn.celu(x, alpha))
relu6 = supports(layers.is_single)(lambda x: jax.nn.relu6(x))
hard_sigmoid = supports(layers.is_single)(lambda x: jax.nn.hard_sigmoid(x))
hard_swish = supports(layers.is_single)(lambda x: jax.nn.hard_swish(x))
glu = supports(layers.is_single)(lambda x, axis=-1: jax.nn.glu(x, axis))


# layers


@supports(layers.is_aligned)
def gather(x: Any, indices: Any, *, axis: int) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.take_along_axis.html"""
    return jnp.take_along_axis(x, indices, axis)


@supports(layers.has_indices)
def embedding(indices: Any, weight: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"""
    return weight[indices]


@supports(layers.is_last)
def conv(x: Any, weight: Any, bias: Any = None, *, groups: int = 1, **settings: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.conv_general_dilated.html"""
    at, border = layers.windows_last(x, weight.shape[:-2], **{"stride": 1, **settings})
    axes = "DHW"[-len(at.kernel) :]
    y = lax.conv_general_dilated(
        x, weight, at.stride, border, dimension_numbers=(f"N{axes}C", f"{axes}IO", f"N{axes}C"),
        rhs_dilation=None if set(at.dilation) == {1} else at.dilation, feature_group_count=groups,
    )  # fmt: skip
    return y if bias is None else y + bias


@supports(lambda *args, groups=1, **settings: groups == 1 and layers.is_last(*args, **settings))
def conv_transpose(x: Any, weight: Any, bias: Any = None, **settings: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.conv_transpose.html"""
    at, border = layers.transposed_last(x, weight, **settings)
    gaps = None if set(at.dilation) == {1} else at.dilation
    y = lax.conv_transpose(x, weight, at.stride, border, rhs_dilation=gaps, transpose_kernel=True)
    return y if bias is None else y + bias


@supports(layers.is_last)
def max_pool(x: Any, *, kernel_size: Any, **settings: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce_window.html"""
    return _reduced(x, -jnp.inf, lax.max, *layers.windows_last(x, kernel_size, **settings))


@supports(layers.is_mean_last)
def avg_pool(x: Any, *, kernel_size: Any, count_include_pad: bool = True, **settings: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce_window.html"""
    at, border = layers.windows_last(x, kernel_size, **settings)
    total = _reduced(x, 0.0, lax.add, at, border)
    if count_include_pad or border == "VALID":
        return total / math.prod(at.kernel)
    return total / _reduced(jnp.ones_like(x), 0.0, lax.add, at, border)


def _reduced(x: Any, start: float, function: Any, at: Windows, border: Any) -> Any:
    border = border if isinstance(border, str) else ((0, 0), *border, (0, 0))
    return lax.reduce_window(x, start, function, (1, *at.kernel, 1), (1, *at.stride, 1), border)


def _is_plain_window(
    x: Any, *, computation: str, base_dilation: Any = None, window_dilation: Any = None,
    init: Any = None, **_: Any,
) -> bool:  # fmt: skip
    is_dense = all({*(d or (1,))} == {1} for d in (base_dilation, window_dilation))
    return is_dense and init is None and computation in ("add", "max") and layers.is_single(x)


@supports(_is_plain_window)
def reduce_window(
    x: Any, *, computation: str, window: Any, strides: Any = None, padding: Any = "valid", **_: Any
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce_window.html"""
    steps = tuple(strides or (1,) * len(window))
    is_valid = padding == "valid" or (not isinstance(padding, str) and not any(map(any, padding)))
    border = "VALID" if is_valid else padding.upper() if isinstance(padding, str) else padding
    start, function = (-jnp.inf, lax.max) if computation == "max" else (0.0, lax.add)
    return lax.reduce_window(x, start, function, tuple(window), steps, border)


@supports(lambda x, **settings: layers.resized(x, **settings) is not None)
def interpolate(x: Any, **settings: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.image.resize.html"""
    options = layers.resized(x, **settings)
    assert options is not None
    is_last = settings.get("data_format") == "channels_last"
    size = options["size"]
    shape = (x.shape[0], *size, x.shape[-1]) if is_last else (*x.shape[:2], *size)
    return jax.image.resize(x, shape, options["method"], antialias=False)


# keys that are arguments


def random_split(key: Any, *, num: int = 2) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.split.html"""
    return jax.random.split(key, num)


def random_bits(key: Any, *, shape: Any, dtype: Any = "uint32") -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.bits.html"""
    return jax.random.bits(key, shape, native_dtype(as_dtype(dtype)))
