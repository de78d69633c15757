"""ATen's operations of backward passes, which graphs of training steps have.

Most are the product with the Jacobian of the function of the same name, which the backend
differentiates; a few are shorter written out. Schemas:
https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/native_functions.yaml
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch import contraction
from nestarray.frontends.torch.dims import shape_of, wrap
from nestarray.frontends.torch.nn.functional import (
    activation,
    convolution,
    distance,
    loss,
    normalization,
    pooling,
    vision,
)
from nestarray.frontends.torch.nn.functional.sparse import frequencies
from nestarray.frontends.torch.promotion import cast
from nestarray.typing import Array, DTypeLike

__all__ = [
    "_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward", "_cdist_backward",
    "_log_softmax_backward_data", "_pdist_backward", "_softmax_backward_data",
    "_weight_norm_interface_backward", "adaptive_max_pool2d_backward",
    "adaptive_max_pool3d_backward", "avg_pool2d_backward", "avg_pool3d_backward",
    "convolution_backward", "ctc_loss_backward", "embedding_dense_backward",
    "grid_sampler_2d_backward", "grid_sampler_3d_backward", "hardshrink_backward",
    "interpolate_backward", "max_pool2d_with_indices_backward",
    "max_pool3d_with_indices_backward", "native_dropout_backward", "native_group_norm_backward",
    "native_layer_norm_backward", "replication_pad1d_backward", "replication_pad2d_backward",
    "replication_pad3d_backward", "softshrink_backward",
]  # fmt: skip

_SOME = (True, True, True)


def _pulled(
    function: Callable[..., Array],
    inputs: Sequence[Array | None],
    cotangent: Array,
    wanted: Sequence[bool] = _SOME,
) -> tuple[Array | None, ...]:
    """The cotangents of the `wanted` inputs; None for other and missing inputs."""
    chosen = [i for i, x in enumerate(inputs) if x is not None and wanted[i]]
    if not chosen:
        return (None,) * len(inputs)

    def of_chosen(arrays: list[Array]) -> Array:
        given = dict(zip(chosen, arrays))
        return function(*(given.get(i, x) for i, x in enumerate(inputs)))

    pull = na.vjp(of_chosen, [inputs[i] for i in chosen])[1]
    (found,) = pull(cotangent)
    by_place = dict(zip(chosen, found))
    return tuple(by_place.get(i) for i in range(len(inputs)))


def convolution_backward(
    grad_output: Array,
    input: Array,
    weight: Array,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool] = _SOME,
) -> tuple[Array | None, Array | None, Array | None]:
    """The cotangents of input, weight and bias of `convolution`."""
    spatial = len(shape_of(weight)) - 2
    kind = f"conv_transpose{spatial}d" if transposed else f"conv{spatial}d"
    function: Any = getattr(convolution, kind)

    def forward(x: Array, w: Array) -> Array:
        if transposed:
            return function(x, w, None, stride, padding, output_padding, groups, dilation)
        return function(x, w, None, stride, padding, dilation, groups)

    of_input, of_weight = _pulled(forward, (input, weight), grad_output, output_mask[:2])
    others = tuple(a for a in range(spatial + 2) if a != 1)
    of_bias = na.sum(grad_output, axis=others) if output_mask[2] else None
    return of_input, of_weight, of_bias


def avg_pool2d_backward(
    grad_output: Array,
    input: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array | None:
    """The cotangent of the input of `avg_pool2d` or `avg_pool3d`."""
    function = pooling.avg_pool2d if len(kernel_size) == 2 else pooling.avg_pool3d
    settings = (kernel_size, stride or None, padding, ceil_mode, count_include_pad)
    return _pulled(lambda x: function(x, *settings, divisor_override), (input,), grad_output)[0]


avg_pool3d_backward = avg_pool2d_backward


def _adaptive_avg_pool2d_backward(grad_output: Array, input: Array) -> Array | None:
    """The cotangent of the input of `adaptive_avg_pool2d`."""
    size = shape_of(grad_output)[-2:]
    return _pulled(lambda x: pooling.adaptive_avg_pool2d(x, size), (input,), grad_output)[0]


def _adaptive_avg_pool3d_backward(grad_output: Array, input: Array) -> Array | None:
    """The cotangent of the input of `adaptive_avg_pool3d`."""
    size = shape_of(grad_output)[-3:]
    return _pulled(lambda x: pooling.adaptive_avg_pool3d(x, size), (input,), grad_output)[0]


def _to_places(grad_output: Array, input: Array, indices: Array, spatial: int) -> Array:
    """Scatter `grad_output` to `indices` in the last `spatial` axes."""
    lead, image = shape_of(input)[:-spatial], shape_of(input)[-spatial:]
    count = math.prod(shape_of(grad_output)[-spatial:])
    updates = na.reshape(grad_output, (*lead, count))
    places = cast(na.reshape(indices, (*lead, count)), dtypes.int64)
    nothing = na.zeros((*lead, math.prod(image)), dtype=dtypes.dtype_of(grad_output), like=input)
    return na.reshape(na.scatter(nothing, places, updates, axis=-1, mode="add"), shape_of(input))


def max_pool2d_with_indices_backward(
    grad_output: Array,
    input: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Array,
) -> Array:
    """The cotangent of the input of max pooling, scattered to the indices of the maxima."""
    return _to_places(grad_output, input, indices, len(kernel_size))


max_pool3d_with_indices_backward = max_pool2d_with_indices_backward


def adaptive_max_pool2d_backward(grad_output: Array, input: Array, indices: Array) -> Array:
    """The cotangent of the input of `adaptive_max_pool2d`."""
    return _to_places(grad_output, input, indices, 2)


def adaptive_max_pool3d_backward(grad_output: Array, input: Array, indices: Array) -> Array:
    """The cotangent of the input of `adaptive_max_pool3d`."""
    return _to_places(grad_output, input, indices, 3)


def replication_pad1d_backward(
    grad_output: Array, input: Array, padding: Sequence[int]
) -> Array | None:
    """The cotangent of the input of a padding with the border's elements."""
    return _pulled(lambda x: vision.pad(x, padding, "replicate"), (input,), grad_output)[0]


replication_pad2d_backward = replication_pad3d_backward = replication_pad1d_backward


def hardshrink_backward(grad_out: Array, input: Array, lambd: float) -> Array | None:
    """The cotangent of the input of `hardshrink`."""
    return _pulled(lambda x: activation.hardshrink(x, lambd), (input,), grad_out)[0]


def softshrink_backward(grad_output: Array, input: Array, lambd: float) -> Array | None:
    """The cotangent of the input of `softshrink`."""
    return _pulled(lambda x: activation.softshrink(x, lambd), (input,), grad_output)[0]


def native_layer_norm_backward(
    grad_out: Array,
    input: Array,
    normalized_shape: Sequence[int],
    mean: Array,
    rstd: Array,
    weight: Array | None,
    bias: Array | None,
    output_mask: Sequence[bool] = _SOME,
) -> tuple[Array | None, ...]:
    """The cotangents of input, weight and bias of `layer_norm`, with the statistics `mean` and `rstd`."""
    axes = tuple(range(-len(normalized_shape), 0))
    normal = na.multiply(na.subtract(input, mean), rstd)
    scaled = grad_out if weight is None else na.multiply(grad_out, weight)
    return _normalized(grad_out, scaled, normal, rstd, axes, weight, bias, output_mask)


def _normalized(
    grad_out: Array,
    scaled: Array,
    normal: Array,
    rstd: Array,
    axes: tuple[int, ...],
    weight: Array | None,
    bias: Array | None,
    output_mask: Sequence[bool],
) -> tuple[Array | None, ...]:
    of_input = None
    if output_mask[0]:
        shift = na.mean(scaled, axis=axes, keepdims=True)
        along = na.mean(na.multiply(scaled, normal), axis=axes, keepdims=True)
        of_input = na.multiply(
            na.subtract(na.subtract(scaled, shift), na.multiply(normal, along)), rstd
        )
    others = tuple(range(len(shape_of(grad_out)) - len(axes)))
    of_weight = of_bias = None
    if output_mask[1] and weight is not None:
        product = na.multiply(grad_out, normal)
        of_weight = na.sum(product, axis=others) if others else product
    if output_mask[2] and bias is not None:
        of_bias = na.sum(grad_out, axis=others) if others else grad_out
    return of_input, of_weight, of_bias


def native_group_norm_backward(
    grad_out: Array,
    input: Array,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool] = _SOME,
) -> tuple[Array | None, ...]:
    """The cotangents of input, weight and bias of `group_norm`, with the statistics `mean` and `rstd`."""
    grouped = (N, group, C // group * HxW)
    scale = na.expand_dims(na.reshape(rstd, (N, group)), axis=-1)
    centre = na.expand_dims(na.reshape(mean, (N, group)), axis=-1)
    normal = na.multiply(na.subtract(na.reshape(input, grouped), centre), scale)
    by_channel = na.reshape(grad_out, (N, C, HxW))
    scaled = by_channel if weight is None else na.multiply(by_channel, na.reshape(weight, (C, 1)))
    scaled = na.reshape(scaled, grouped)
    of_input = _normalized(
        scaled, scaled, normal, scale, (-1,), None, None, (output_mask[0], False, False)
    )[0]
    of_input = None if of_input is None else na.reshape(of_input, shape_of(input))
    of_weight = of_bias = None
    if output_mask[1]:
        product = na.multiply(by_channel, na.reshape(normal, (N, C, HxW)))
        of_weight = na.sum(product, axis=(0, 2))
    if output_mask[2]:
        of_bias = na.sum(by_channel, axis=(0, 2))
    return of_input, of_weight, of_bias


def embedding_dense_backward(
    grad_output: Array,
    indices: Array,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> Array:
    """The cotangent of the table of `embedding`; no row at `padding_idx`."""
    index = na.reshape(indices, (-1,))
    rows = na.reshape(grad_output, (shape_of(index)[0], shape_of(grad_output)[-1]))
    counted = na.not_equal(index, padding_idx)
    dtype = dtypes.dtype_of(rows)
    if scale_grad_by_freq:
        times = frequencies(index, num_weights, dtype)
        rows = na.divide(rows, na.expand_dims(times, axis=1))
    rows = na.where(na.expand_dims(counted, axis=1), rows, na.zeros_like(rows))
    return na.segment_sum(rows, index, num_segments=num_weights)


def ctc_loss_backward(
    grad_output: Array,
    log_probs: Array,
    targets: Array,
    input_lengths: Array,
    target_lengths: Array,
    blank: int,
    reduction: str,
    zero_infinity: bool,
) -> Array:
    """The cotangent of the probabilities of `ctc_loss`."""
    settings = targets, input_lengths, target_lengths, blank, reduction, zero_infinity
    of_probs = lambda x: loss.ctc_loss(x, *settings)  # noqa: E731
    (found,) = _pulled(of_probs, (log_probs,), grad_output)
    assert found is not None
    return found


def _softmax_backward_data(
    grad_output: Array, output: Array, dim: int, input_dtype: DTypeLike
) -> Array:
    """The cotangent of the input of softmax, from its output."""
    axis = wrap("_softmax_backward_data", dim, len(shape_of(output)))
    weighted = na.multiply(grad_output, output)
    if not shape_of(output):
        return na.zeros_like(weighted, dtype=input_dtype)
    total = na.sum(weighted, axis=axis, keepdims=True)
    return cast(na.subtract(weighted, na.multiply(output, total)), input_dtype)


def _log_softmax_backward_data(
    grad_output: Array, output: Array, dim: int, input_dtype: DTypeLike
) -> Array:
    """The cotangent of the input of log_softmax, from its output."""
    axis = wrap("_log_softmax_backward_data", dim, len(shape_of(output)))
    if not shape_of(output):
        return na.zeros_like(grad_output, dtype=input_dtype)
    total = na.sum(grad_output, axis=axis, keepdims=True)
    return cast(na.subtract(grad_output, na.multiply(na.exp(output), total)), input_dtype)


def native_dropout_backward(grad_output: Array, mask: Array, scale: float) -> Array:
    """The cotangent of the input of dropout, from the mask of kept elements."""
    return na.multiply(grad_output, na.multiply(cast(mask, dtypes.dtype_of(grad_output)), scale))


def interpolate_backward(
    grad_output: Array,
    input_size: Sequence[int],
    size: Sequence[int] | None = None,
    scale_factor: Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    antialias: bool = False,
) -> Array | None:
    """The cotangent of the input of `interpolate`; ATen has an operation for each mode."""
    x = na.zeros(tuple(input_size), dtype=dtypes.dtype_of(grad_output), like=grad_output)

    def forward(x: Array) -> Array:
        return vision.interpolate(
            x, size, scale_factor, mode, align_corners=align_corners, antialias=antialias
        )

    return _pulled(forward, (x,), grad_output)[0]


def grid_sampler_2d_backward(
    grad_output: Array,
    input: Array,
    grid: Array,
    mode: str,
    padding_mode: str,
    align_corners: bool,
    output_mask: Sequence[bool] = _SOME,
) -> tuple[Array | None, ...]:
    """The cotangents of the input and the grid of `grid_sample`."""

    def forward(x: Array, grid: Array) -> Array:
        return vision.grid_sample(x, grid, mode, padding_mode, align_corners)

    return _pulled(forward, (input, grid), grad_output, output_mask)


grid_sampler_3d_backward = grid_sampler_2d_backward


def _cdist_backward(
    grad_output: Array, x1: Array, x2: Array, p: float, cdist: Array
) -> Array | None:
    """The cotangent of the first array of `cdist`."""
    return _pulled(lambda x: contraction.cdist(x, x2, p), (x1,), grad_output)[0]


def _pdist_backward(grad: Array, input: Array, p: float, pdist: Array) -> Array | None:
    """The cotangent of the input of `pdist`."""
    return _pulled(lambda x: distance.pdist(x, p), (input,), grad)[0]


def _weight_norm_interface_backward(
    grad_w: Array, saved_v: Array, saved_g: Array, saved_norms: Array, dim: int
) -> tuple[Array | None, ...]:
    """The cotangents of direction and norm of a normalized weight."""
    return _pulled(lambda v, g: normalization._weight_norm(v, g, dim), (saved_v, saved_g), grad_w)
