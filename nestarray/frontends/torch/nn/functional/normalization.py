"""Normalization, https://docs.pytorch.org/docs/stable/nn.functional.html#normalization-functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.errors.text import listed
from nestarray.frontends.torch import linalg, norms
from nestarray.frontends.torch.dims import ndim_of, shape_of, wrap
from nestarray.frontends.torch.promotion import HALF, cast
from nestarray.typing import Array

__all__ = [
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "normalize",
    "rms_norm",
]  # fmt: skip


def batch_norm(
    input: Array,
    running_mean: Array | None,
    running_var: Array | None,
    weight: Array | None = None,
    bias: Array | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Array:
    """Normalize each channel: by statistics of the batch in training, else by running statistics.

    The running statistics are not written: `torch.ops.aten._native_batch_norm_legit_functional`
    returns new ones.
    """
    if ndim_of(input) < 2 and 0 in shape_of(input):
        return input  # as upstream, although the array lacks a dimension of channels
    if training or running_mean is None or running_var is None:
        return in_single_precision(na.batch_norm_training, input, weight, bias, eps=eps)[0]
    return in_single_precision(
        na.batch_norm, input, running_mean, running_var, weight, bias, eps=eps
    )


def layer_norm(
    input: Array,
    normalized_shape: Sequence[int],
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
) -> Array:
    """Normalize over the last dimensions, `normalized_shape`."""
    axes = last_axes("layer_norm", input, normalized_shape)
    return in_single_precision(na.layer_norm, input, weight, bias, axis=axes, eps=eps)


def rms_norm(
    input: Array,
    normalized_shape: Sequence[int],
    weight: Array | None = None,
    eps: float | None = None,
) -> Array:
    """x / √(mean(x²) + eps) over the last dimensions; half precision as float32.

    The default of eps is the machine epsilon of the dtype computed in.
    """
    own = dtypes.dtype_of(input)
    wide = dtypes.float32 if own in HALF else own
    if eps is None:
        eps = float(na.finfo(wide).eps)
    axes = last_axes("rms_norm", input, normalized_shape)
    weight = None if weight is None else cast(weight, wide)
    return in_single_precision(na.rms_norm, input, weight, axis=axes, eps=eps)


def group_norm(
    input: Array,
    num_groups: int,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
) -> Array:
    """Normalized over each group of channels; only the batch may be empty."""
    if 0 in shape_of(input)[1:]:
        raise ShapeError(f"group_norm: input: got the shape {shape_of(input)}, expected channels")
    return in_single_precision(na.group_norm, input, weight, bias, num_groups=num_groups, eps=eps)


def instance_norm(
    input: Array,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Array:
    """Normalized over each channel of each example."""
    if use_input_stats:
        return in_single_precision(na.instance_norm, input, weight, bias, eps=eps)
    if running_mean is None or running_var is None:
        raise ArgumentError(
            "instance_norm: running_mean, running_var: got None, expected the statistics to "
            "normalize by; or pass use_input_stats=True"
        )
    return in_single_precision(
        na.batch_norm, input, running_mean, running_var, weight, bias, eps=eps
    )


def local_response_norm(
    input: Array, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Array:
    """x / (k + α · mean of x² over neighbouring channels)^β."""
    return na.local_response_norm(input, size=size, alpha=alpha, beta=beta, k=k)


def normalize(
    input: Array, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12
) -> Array:
    """x / max(‖x‖ₚ, eps) over `dim`."""
    length = linalg.vector_norm(input, p, dim, keepdim=True)
    return na.divide(input, na.clip(length, eps, None))


def in_single_precision(
    function: Callable[..., Any], input: Array, *arrays: Array | None, **settings: Any
) -> Any:
    """A normalization of half precision: computed in float32, with a result of `input`'s dtype.

    Further results, the moments, stay in float32.

    Args:
        function: of `na`.
        input: the array to normalize.
        arrays: weights and statistics, of `input`'s dtype, or of float32 if that has half precision.
        settings: of `function`.

    Raises:
        DtypeError: an array has another dtype.
    """
    own = dtypes.dtype_of(input)
    types = {dtypes.dtype_of(x) for x in arrays if x is not None}
    expected = {own, dtypes.float32} if own in HALF else {own}
    if len(types) > 1 or not types <= expected:
        got, want = (listed(sorted(x.name for x in each)) for each in (types, expected))
        raise DtypeError(
            f"{function.__name__}: weight, bias and statistics: got {got} for an input of "
            f"{own.name}, expected one dtype for all: {want}"
        )
    if own not in HALF:
        return function(input, *arrays, **settings)
    wide = [None if x is None else cast(x, dtypes.float32) for x in (input, *arrays)]
    result = function(*wide, **settings)
    if isinstance(result, tuple):
        return cast(result[0], own), *result[1:]
    return cast(result, own)


def last_axes(name: str, x: Array, shape: Sequence[int]) -> tuple[int, ...]:
    """The last dimensions, whose sizes are `shape`, counted from the end."""
    wanted = (shape,) if isinstance(shape, int) else tuple(shape)
    if not wanted or shape_of(x)[ndim_of(x) - len(wanted) :] != wanted:
        raise ArgumentError(
            f"{name}: normalized_shape: got {wanted} for an array of shape {shape_of(x)}, "
            "expected its last sizes"
        )
    return tuple(range(-len(wanted), 0))


def _weight_norm(v: Array, g: Array, dim: int = 0) -> Array:
    """g · v / ‖v‖, the norm over all dimensions but `dim`."""
    axis = wrap("_weight_norm", dim, ndim_of(v))
    others = tuple(a for a in range(ndim_of(v)) if a != axis)
    length = norms.norm(v, 2, others, keepdim=True) if others else na.abs(v)
    return na.multiply(v, na.divide(g, length))
