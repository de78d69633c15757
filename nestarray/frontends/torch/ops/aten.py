"""Operations of torch.ops.aten without a public function.

They appear in graphs of torch.export. Schemas:
https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/native_functions.yaml
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch import indexing as _indexing
from nestarray.frontends.torch.dims import ndim_of, shape_of, wrap
from nestarray.frontends.torch.nn.functional import convolution as _convolutions
from nestarray.frontends.torch.nn.functional import normalization as _normalization
from nestarray.frontends.torch.nn.functional import pooling as _pooling
from nestarray.frontends.torch.nn.functional import sparse as _sparse
from nestarray.frontends.torch.nn.functional import unpooling as _unpooling
from nestarray.frontends.torch.nn.functional.dropout import keep_mask
from nestarray.frontends.torch.nn.functional.normalization import _weight_norm as _weight_norm
from nestarray.frontends.torch.ops.backward import *
from nestarray.frontends.torch.ops.factorizations import *
from nestarray.frontends.torch.ops.observers import *
from nestarray.frontends.torch.ops.uniqueness import *
from nestarray.frontends.torch.ordering import counted as _counted
from nestarray.frontends.torch.promotion import HALF, cast
from nestarray.frontends.torch.sampling import _sample_dirichlet as _sample_dirichlet
from nestarray.frontends.torch.sampling import _standard_gamma as _standard_gamma
from nestarray.frontends.torch.sampling import randn_like as _randn_like
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array, DTypeLike

__all__ = [
    "_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward", "_cdist_backward",
    "_chunk_cat", "_embedding_bag", "_fft_c2c", "_fft_c2r", "_fft_r2c",
    "_fused_moving_avg_obs_fq_helper_functional", "_fused_rms_norm", "_is_all_true",
    "_is_any_true", "_linalg_eigh", "_linalg_svd", "_log_softmax", "_log_softmax_backward_data",
    "_native_batch_norm_legit", "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training", "_pdist_backward", "_safe_softmax", "_sample_dirichlet", "_softmax",
    "_softmax_backward_data", "_standard_gamma", "_unique", "_unique2", "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate", "_unsafe_view", "_weight_norm",
    "_weight_norm_interface_backward", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool2d_backward", "adaptive_max_pool3d", "adaptive_max_pool3d_backward",
    "alias", "avg_pool2d_backward", "avg_pool3d_backward", "bincount", "convolution",
    "convolution_backward", "ctc_loss_backward", "embedding_bag", "embedding_dense_backward",
    "fractional_max_pool2d", "fractional_max_pool3d", "grid_sampler_2d_backward",
    "grid_sampler_3d_backward", "hardshrink_backward", "index", "interpolate_backward",
    "lift_fresh_copy", "max_pool2d_with_indices", "max_pool2d_with_indices_backward",
    "max_pool3d_with_indices", "max_pool3d_with_indices_backward", "max_unpool2d", "max_unpool3d",
    "native_batch_norm", "native_dropout", "native_dropout_backward", "native_group_norm",
    "native_group_norm_backward", "native_layer_norm", "native_layer_norm_backward",
    "normal_functional", "replication_pad1d_backward", "replication_pad2d_backward",
    "replication_pad3d_backward", "slice", "softshrink_backward", "sym_is_contiguous",
    "sym_storage_offset", "sym_stride", "unique_consecutive", "unique_dim",
    "unique_dim_consecutive",
]  # fmt: skip

# -- copies and parts ----------------------------------------------------------------------


def alias(input: Array) -> Array:
    """input."""
    return input


def lift_fresh_copy(input: Array) -> Array:
    """input: a constant of the program."""
    return input


def slice(
    input: Array,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    """The elements ``start:end:step`` of a dimension."""
    axis = wrap("slice", dim, ndim_of(input))
    size = shape_of(input)[axis]
    if {type(size), type(start), type(end)} <= {int, type(None)}:
        start, end, _ = builtins.slice(start, end).indices(size)
        end = builtins.max(start, end)
        is_all = start == 0 and end == size
    else:  # of a size that is not known before the call
        end = None if type(end) is int and end == sys.maxsize else end
        is_all = type(start) in (int, type(None)) and not start and end is None
    if is_all and step == 1:
        return input
    place = (builtins.slice(None),) * axis + (builtins.slice(start, end, step),)
    return na.getitem(input, place)


def index(input: Array, indices: Sequence[Array | None]) -> Array:
    """input[indices]; None selects a whole dimension."""
    return na.getitem(input, tuple(builtins.slice(None) if i is None else i for i in indices))


def _unsafe_view(input: Array, size: Sequence[int]) -> Array:
    """The elements in another shape."""
    return na.reshape(input, tuple(size))


def _is_all_true(input: Array) -> Array:
    """Whether all booleans are true."""
    return na.all(input)


def _is_any_true(input: Array) -> Array:
    """Whether a boolean is true."""
    return na.any(input)


# -- softmax -------------------------------------------------------------------------------


def _softmax(input: Array, dim: int, half_to_float: bool = False) -> Array:
    """eˣ / Σ eˣ along `dim`."""
    return _along(na.softmax, _widened(input, half_to_float), dim)


def _log_softmax(input: Array, dim: int, half_to_float: bool = False) -> Array:
    """x − ln Σ eˣ along `dim`."""
    return _along(na.log_softmax, _widened(input, half_to_float), dim)


def _safe_softmax(input: Array, dim: int, dtype: DTypeLike | None = None) -> Array:
    """softmax, with zeros where all elements are −∞."""
    x = input if dtype is None else na.astype(input, dtype)
    empty = na.all(na.equal(x, -math.inf), axis=dim, keepdims=True)
    zero = na.zeros_like(x)
    return na.where(empty, zero, na.softmax(na.where(empty, zero, x), axis=dim))


def _widened(x: Array, half_to_float: bool) -> Array:
    return na.astype(x, dtypes.float32) if half_to_float else x


def _along(function: Any, x: Array, dim: int) -> Array:
    if ndim_of(x) == 0:
        return na.reshape(function(na.reshape(x, (1,)), axis=0), ())
    return function(x, axis=wrap("softmax", dim, ndim_of(x)))


# -- normalization with statistics ---------------------------------------------------------


def _native_batch_norm_legit_no_training(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    momentum: float,
    eps: float,
) -> tuple[Array, Array, Array]:
    """Batch norm by running statistics; saved statistics are empty."""
    out = _normalization.batch_norm(input, running_mean, running_var, weight, bias, eps=eps)
    nothing = na.zeros((0,), dtype=_dtype_of_moments(input, weight), like=input)
    return out, nothing, nothing


def _native_batch_norm_legit(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Array, Array, Array]:
    """Batch norm by batch statistics, with mean and 1 / √(variance + eps)."""
    out, mean, variance = _normalization.in_single_precision(
        na.batch_norm_training, input, weight, bias, eps=eps
    )
    return out, *_saved(mean, variance, eps, _dtype_of_moments(input, weight))


def _native_batch_norm_legit_functional(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Array, Array, Array, Array, Array]:
    """Batch norm in training, with saved statistics and new running statistics."""
    if not training:
        out, mean, rstd = _native_batch_norm_legit_no_training(
            input, weight, bias, running_mean, running_var, momentum, eps
        )
        return out, mean, rstd, running_mean, running_var
    out, mean, variance = _normalization.in_single_precision(
        na.batch_norm_training, input, weight, bias, eps=eps
    )
    shape = shape_of(input)
    count = math.prod(shape) // shape[1]
    # The running variance is corrected for the mean being an estimate, the one used is not.
    unbiased = na.divide(na.multiply(variance, count), count - 1)
    return (
        out,
        *_saved(mean, variance, eps, _dtype_of_moments(input, weight)),
        _moved(running_mean, mean, momentum),
        _moved(running_var, unbiased, momentum),
    )


def _moved(old: Array, new: Array, momentum: float) -> Array:
    new = na.stop_gradient(na.astype(new, dtypes.dtype_of(old), copy=False))
    return na.add(na.multiply(old, 1 - momentum), na.multiply(new, momentum))


def native_batch_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Array, Array, Array]:
    """Batch norm with the statistics saved."""
    if not training:
        if running_mean is None or running_var is None:
            raise ArgumentError(
                "native_batch_norm: running_mean, running_var: got None with training=False, "
                "expected the running statistics"
            )
        return _native_batch_norm_legit_no_training(
            input, weight, bias, running_mean, running_var, momentum, eps
        )
    return _native_batch_norm_legit(input, weight, bias, training, momentum, eps)


def native_layer_norm(
    input: Array,
    normalized_shape: Sequence[int],
    weight: Array | None,
    bias: Array | None,
    eps: float,
) -> tuple[Array, Array, Array]:
    """Layer norm, with mean and 1 / √(variance + eps)."""
    axes = _normalization.last_axes("native_layer_norm", input, normalized_shape)
    out = _normalization.layer_norm(input, normalized_shape, weight, bias, eps)
    x = cast(input, dtypes.float32) if dtypes.dtype_of(input) in HALF else input
    mean = na.mean(x, axis=axes, keepdims=True)
    variance = na.mean(na.square(na.subtract(x, mean)), axis=axes, keepdims=True)
    return out, *_saved(mean, variance, eps, _dtype_of_moments(input, weight))


def native_group_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Array, Array, Array]:
    """Group norm, with mean and 1 / √(variance + eps) of each group."""
    out = _normalization.group_norm(input, group, weight, bias, eps)
    x = cast(input, dtypes.float32) if dtypes.dtype_of(input) in HALF else input
    groups = na.reshape(x, (N, group, C * HxW // group))
    mean = na.mean(groups, axis=-1)
    distance = na.subtract(groups, na.expand_dims(mean, axis=-1))
    variance = na.mean(na.square(distance), axis=-1)
    dtype = _dtype_of_moments(input, weight)
    return out, cast(mean, dtype), cast(na.rsqrt(na.add(variance, eps)), dtype)


def _fused_rms_norm(
    input: Array, normalized_shape: Sequence[int], weight: Array | None, eps: float | None
) -> tuple[Array, Array]:
    """RMS norm, with 1 / √(mean(x²) + eps)."""
    axes = _normalization.last_axes("_fused_rms_norm", input, normalized_shape)
    x = cast(input, dtypes.float32) if dtypes.dtype_of(input) in HALF else input
    eps = float(na.finfo(dtypes.dtype_of(x)).eps) if eps is None else eps
    rstd = na.rsqrt(na.add(na.mean(na.square(x), axis=axes, keepdims=True), eps))
    return _normalization.rms_norm(input, normalized_shape, weight, eps), rstd


def _saved(mean: Array, variance: Array, eps: float, dtype: dtypes.DType) -> tuple[Array, Array]:
    """Mean and 1 / √(variance + eps) in `dtype`, without gradients, as upstream."""
    rstd = na.rsqrt(na.add(variance, eps))
    return na.stop_gradient(cast(mean, dtype)), na.stop_gradient(cast(rstd, dtype))


def _dtype_of_moments(input: Array, weight: Array | None) -> dtypes.DType:
    """The dtype of saved moments: that of the weight, or of the input without one."""
    return dtypes.dtype_of(input if weight is None else weight)


# -- randomness ----------------------------------------------------------------------------


def native_dropout(
    input: Array, p: float, train: bool | None = True, *, key: Array | None = None
) -> tuple[Array, Array]:
    """Dropout, and where elements survived."""
    if not train or p == 0:
        return input, na.ones_like(input, dtype=dtypes.bool)
    if p == 1:
        return na.zeros_like(input), na.zeros_like(input, dtype=dtypes.bool)
    keep = keep_mask("native_dropout", key, p, shape_of(input))
    scaled = na.multiply(na.astype(keep, dtypes.dtype_of(input)), 1.0 / (1.0 - p))
    return na.multiply(input, scaled), keep


# -- windows -------------------------------------------------------------------------------


def convolution(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Array:
    """The convolution over the spatial dimensions of `weight`, one to three."""
    count = ndim_of(weight) - 2
    if transposed:
        back = getattr(_convolutions, f"conv_transpose{count}d")
        return back(input, weight, bias, stride, padding, output_padding, groups, dilation)
    forward = getattr(_convolutions, f"conv{count}d")
    return forward(input, weight, bias, stride, padding, dilation, groups)


def max_unpool2d(input: Array, indices: Array, output_size: Sequence[int]) -> Array:
    """The maxima where they stood, zeros elsewhere."""
    return _unpooling.max_unpool2d(input, indices, 1, output_size=output_size)


def max_unpool3d(
    input: Array,
    indices: Array,
    output_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
) -> Array:
    """Max unpooling to `output_size`."""
    return _unpooling.max_unpool3d(input, indices, 1, output_size=output_size)


def max_pool2d_with_indices(
    input: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> tuple[Array, Array]:
    """Max pooling, and the indices of the maxima in the flattened image."""
    return _pooling.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d_with_indices(
    input: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> tuple[Array, Array]:
    """Max pooling, and the indices of the maxima in the flattened volume."""
    return _pooling.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def adaptive_max_pool1d(input: Array, output_size: int | Sequence[int]) -> tuple[Array, Array]:
    """Adaptive max pooling, and the indices of the maxima."""
    return _pooling.adaptive_max_pool1d(input, output_size, True)


def fractional_max_pool2d(
    input: Array, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Array
) -> tuple[Array, Array]:
    """Max pooling at random steps, and the indices of the maxima in the flattened image."""
    return _unpooling.fractional_max_pool2d(
        input, kernel_size, output_size, None, True, random_samples
    )


def fractional_max_pool3d(
    input: Array, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Array
) -> tuple[Array, Array]:
    """Max pooling at random steps, and the indices of the maxima in the flattened volume."""
    return _unpooling.fractional_max_pool3d(
        input, kernel_size, output_size, None, True, random_samples
    )


def adaptive_max_pool2d(input: Array, output_size: Sequence[int]) -> tuple[Array, Array]:
    """Adaptive max pooling, and the indices of the maxima in the flattened image."""
    return _pooling.adaptive_max_pool2d(input, output_size, True)


def adaptive_max_pool3d(input: Array, output_size: Sequence[int]) -> tuple[Array, Array]:
    """Adaptive max pooling, and the indices of the maxima in the flattened volume."""
    return _pooling.adaptive_max_pool3d(input, output_size, True)


# -- indices -------------------------------------------------------------------------------


def _chunk_cat(tensors: Sequence[Array], dim: int, num_chunks: int) -> Array:
    """Split each array along `dim` into chunks, flatten these, and concatenate chunk by chunk."""
    if num_chunks < 1:
        raise ArgumentError(f"_chunk_cat: num_chunks: got {num_chunks}, expected at least 1")
    if not tensors or any(0 in shape_of(x) for x in tensors):
        raise ArgumentError("_chunk_cat: tensors: got none or an empty one, expected elements")
    rows = []
    for x in tensors:
        axis = wrap("_chunk_cat", dim, ndim_of(x))
        shape = shape_of(x)
        missing = -shape[axis] % num_chunks
        margins = [(0, missing if i == axis else 0) for i in range(len(shape))]
        x = na.pad(x, margins) if missing else x
        each = math.prod(shape_of(x)[axis:]) // num_chunks
        rows.append(na.reshape(x, (*shape[:axis], num_chunks, each)))
    return na.concat(rows, axis=-1)


def _unsafe_masked_index(
    input: Array, mask: Array, indices: Sequence[Array | None], fill: float
) -> Array:
    """input[indices] where `mask` is true, else `fill`; masked indices may be out of range."""
    found = index(input, _clamped(input, indices))
    return na.where(mask, found, na.full_like(found, fill))


def _unsafe_masked_index_put_accumulate(
    input: Array, mask: Array, indices: Sequence[Array | None], values: Array
) -> Array:
    """input with `values` added at `indices` where `mask` holds."""
    added = na.where(mask, values, na.zeros_like(values))
    return _indexing.index_put(input, _clamped(input, indices), added, True)


def _clamped(x: Array, indices: Sequence[Array | None]) -> tuple[Array | None, ...]:
    return tuple(
        None if i is None else na.clip(i, -size, size - 1) for i, size in zip(indices, shape_of(x))
    )


def bincount(
    input: Array, weights: Array | None = None, minlength: int = 0, length: int | None = None
) -> Array:
    """`torch.bincount` with `length` counts, if the program fixes their number."""
    return _counted(input, weights, minlength, length)


def _embedding_bag(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = -1,
) -> tuple[Array, Array, Array, Array]:
    """`torch.nn.functional.embedding_bag`; results for upstream's backward pass are empty."""
    padding = None if padding_idx == -1 else padding_idx
    word = ("sum", "mean", "max")[mode]
    out = _sparse.embedding_bag(
        indices, weight, offsets, None, 2, scale_grad_by_freq, word, sparse,
        per_sample_weights, include_last_offset, padding,
    )  # fmt: skip
    nothing = na.zeros((0,), dtype=dtypes.int64, like=weight)
    return out, nothing, nothing, nothing


embedding_bag = _embedding_bag

# -- spectra -------------------------------------------------------------------------------

_FORWARD_NORMS = ("backward", "ortho", "forward")  # ATen's numbers: none, by √n, by n
_INVERSE_NORMS = ("forward", "ortho", "backward")


def _fft_r2c(input: Array, dim: Sequence[int], normalization: int, onesided: bool) -> Array:
    """The spectrum of real numbers; half of the last dimension if `onesided`."""
    function = na.rfftn if onesided else na.fftn
    return function(input, axes=tuple(dim), norm=_FORWARD_NORMS[normalization])


def _fft_c2c(input: Array, dim: Sequence[int], normalization: int, forward: bool) -> Array:
    """The spectrum of complex numbers, or the inverse."""
    if forward:
        return na.fftn(input, axes=tuple(dim), norm=_FORWARD_NORMS[normalization])
    return na.ifftn(input, axes=tuple(dim), norm=_INVERSE_NORMS[normalization])


def _fft_c2r(input: Array, dim: Sequence[int], normalization: int, last_dim_size: int) -> Array:
    """The real signal, `last_dim_size` long, of half a spectrum."""
    sizes = [shape_of(input)[d] for d in dim[:-1]] + [last_dim_size]
    return na.irfftn(input, s=tuple(sizes), axes=tuple(dim), norm=_INVERSE_NORMS[normalization])


# -- memory --------------------------------------------------------------------------------


def sym_stride(input: Array, dim: int | None = None) -> Any:
    """The strides of the elements in row-major order, or one of them."""
    shape = shape_of(input)
    strides = tuple(
        math.prod(builtins.max(n, 1) for n in shape[i + 1 :]) for i in range(len(shape))
    )
    return strides if dim is None else strides[wrap("sym_stride", dim, len(shape))]


def sym_storage_offset(input: Array) -> int:
    """0: an array begins its memory."""
    return 0


def sym_is_contiguous(input: Array) -> bool:
    """True: elements are in row-major order."""
    return True


# -- random numbers ------------------------------------------------------------------------


def normal_functional(
    input: Array, mean: float = 0.0, std: float = 1.0, *, key: Array | None = None
) -> Array:
    """Normal, of the shape and dtype of `input`: ``normal_`` as a function."""
    return na.add(na.multiply(_randn_like(input, key=key), std), mean)


_public_namespace(__name__)
