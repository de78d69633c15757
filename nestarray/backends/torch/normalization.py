"""PyTorch: `nestarray.ops.normalization`."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from nestarray.backends.base import supports
from nestarray.backends.torch.derivatives import is_constant, is_observed, order


def _is_exact() -> bool:
    """Whether the derivative of this order is right; the third is not.

    https://github.com/pytorch/pytorch/issues/196700
    """
    return order() < 3


def _fits(x: Any, vector: Any) -> bool:
    """Whether a vector has the dtype of x; torch returns half precision if only the vector has it."""
    return vector is None or vector.dtype is x.dtype


def _are_vectors(*given: Any) -> bool:
    """Whether all given arrays have one axis; torch checks only their number of elements."""
    return all(x is None or x.ndim == 1 for x in given)


def _has_axis(x: Any, axis: int) -> bool:
    return x.ndim > 1 and -x.ndim <= axis < x.ndim


def _given_moments(
    x: Any,
    mean: Any,
    variance: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    axis: int = 1,
    eps: float = 1e-5,
) -> bool:
    # torch has no derivative by running moments, rejects a negative eps, and does not check the
    # moments of zero channels
    is_one = _has_axis(x, axis) and x.shape[axis] and _fits(x, mean) and eps >= 0
    is_one = is_one and _are_vectors(mean, variance, weight, bias)
    return is_one and is_constant(mean) and is_constant(variance)


@supports(_given_moments)
def batch_norm(
    x: Any,
    mean: Any,
    variance: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    axis: int = 1,
    eps: float = 1e-5,
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.batch_norm.html"""
    if axis == 1:
        return F.batch_norm(x, mean, variance, weight, bias, False, 0.0, eps)
    moved = x.movedim(axis, 1)
    # torch.compile expects the layout of x in the output, which torch keeps for four axes only
    moved = moved.unsqueeze(-1) if x.ndim == 3 else moved
    out = F.batch_norm(moved, mean, variance, weight, bias, False, 0.0, eps)
    return (out.squeeze(-1) if x.ndim == 3 else out).movedim(1, axis)


@supports(
    lambda x, weight=None, bias=None, *, axis=1, eps=1e-5: (
        _is_exact()
        and _has_axis(x, axis)
        and x.numel() > x.shape[axis]
        and _fits(x, weight)
        and _are_vectors(weight, bias)
        and eps > 0
    )
)
def batch_norm_training(
    x: Any, weight: Any = None, bias: Any = None, *, axis: int = 1, eps: float = 1e-5
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.batch_norm.html"""
    x = x.movedim(axis, 1)
    if is_observed() or x.dtype.itemsize < 4:  # half precision may not hold the unbiased variance
        out = F.batch_norm(x, None, None, weight, bias, True, 0.0, eps).movedim(1, axis)
        variance, mean = torch.var_mean(x, [0, *range(2, x.ndim)], correction=0)
        return out, mean, variance
    mean, unbiased = x.new_zeros(x.shape[1]), x.new_zeros(x.shape[1])
    out = F.batch_norm(x, mean, unbiased, weight, bias, True, 1.0, eps).movedim(1, axis)
    return out, *_Moments.apply(x, mean, unbiased)


class _Moments(torch.autograd.Function):
    """The moments of x, which `F.batch_norm` wrote as running statistics, with their derivative.

    Another pass over x (`torch.var_mean`) would take as long as the normalization itself.
    """

    @staticmethod
    def forward(ctx: Any, x: Any, mean: Any, unbiased: Any) -> Any:
        """The mean and the biased variance."""
        count = x.numel() // x.shape[1]
        mean = mean.clone()  # a result that is an argument would be a view of it
        ctx.save_for_backward(x, mean)
        return mean, unbiased * ((count - 1) / count)

    @staticmethod
    def backward(ctx: Any, by_mean: Any, by_variance: Any) -> Any:
        """d mean = dx / n, d variance = 2 (x − mean) dx / n."""
        x, mean = ctx.saved_tensors
        shape = [-1, *[1] * (x.ndim - 2)]
        centered = x - mean.view(shape)
        count = x.numel() // x.shape[1]
        by_x = by_mean.view(shape) + 2.0 * by_variance.view(shape) * centered
        return by_x / count, None, None


def _is_native(x: Any, weight: Any, bias: Any, axis: Any) -> bool:
    """Whether the axes are the last ones, and weight and bias have their sizes and x's dtype."""
    if not (_is_exact() and _fits(x, weight) and _fits(x, bias)):
        return False
    if axis != -1:
        axes = (axis,) if isinstance(axis, int) else axis
        if len(axes) == 0:
            return False
        last = list(range(x.ndim - len(axes), x.ndim))
        if sorted(a + x.ndim if a < 0 else a for a in axes) != last:
            return False
    sizes = _normalized_shape(x, axis)
    return (weight is None or weight.shape == sizes) and (bias is None or bias.shape == sizes)


def _normalized_shape(x: Any, axis: Any) -> Any:
    return x.shape[-1:] if isinstance(axis, int) else x.shape[-len(axis) :]


@supports(lambda x, weight=None, bias=None, *, axis=-1, eps=1e-5: _is_native(x, weight, bias, axis))
def layer_norm(
    x: Any, weight: Any = None, bias: Any = None, *, axis: Any = -1, eps: float = 1e-5
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.layer_norm.html"""
    return F.layer_norm(x, _normalized_shape(x, axis), weight, bias, eps)


@supports(lambda x, weight=None, *, axis=-1, eps=1e-6: _is_native(x, weight, None, axis))
def rms_norm(x: Any, weight: Any = None, *, axis: Any = -1, eps: float = 1e-6) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.rms_norm.html"""
    return F.rms_norm(x, _normalized_shape(x, axis), weight, eps)


@supports(
    lambda x, weight=None, bias=None, *, num_groups, eps=1e-5, axis=1: (
        _is_exact()
        and axis == 1
        and x.ndim > 1
        and num_groups > 0
        and x.shape[1] % num_groups == 0
        and _fits(x, weight)
        and (weight is not None or bias is None)  # torch has no gradient of the bias alone
    )
)
def group_norm(
    x: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
    axis: int = 1,
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.group_norm.html"""
    if 0 in x.shape:  # PyTorch 2.14 refuses it
        return x.clone()
    return F.group_norm(x, num_groups, weight, bias, eps)


def _several_a_channel(
    x: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5, axis: int = 1
) -> bool:
    is_one = axis == 1 and x.ndim > 2 and x.numel() and x.shape[2:].numel() > 1
    return bool(is_one) and _is_exact() and _fits(x, weight) and _are_vectors(weight, bias)


@supports(_several_a_channel)
def instance_norm(
    x: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5, axis: int = 1
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.instance_norm.html"""
    return F.instance_norm(x, weight=weight, bias=bias, eps=eps)


@supports(
    lambda x, *, size, alpha=1e-4, beta=0.75, k=1.0: (
        x.ndim > 2
        and x.is_floating_point()  # torch rounds integers
        and (x.itemsize > 2 or not x.is_cpu)  # no CPU kernel for half precision
    )
)
def local_response_norm(
    x: Any, /, *, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.local_response_norm.html"""
    return F.local_response_norm(x, size, alpha, beta, k)


# in half precision eps may round to 0, and torch divides 0 by 0
@supports(
    lambda x, ord=2.0, axis=-1, eps=1e-12: (
        isinstance(axis, int) and ord > 0 and eps >= 0 and x.ndim and x.itemsize > 2
    )
)
def normalize(x: Any, /, *, ord: float = 2.0, axis: Any = -1, eps: float = 1e-12) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.normalize.html"""
    return F.normalize(x, ord, axis, eps)
