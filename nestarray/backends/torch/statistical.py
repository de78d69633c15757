"""PyTorch: `nestarray.ops.statistical`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.axes import many_axes
from nestarray.backends.base import accumulation_dtype, mean_dtype, supports
from nestarray.backends.torch.core import native_dtype
from nestarray.backends.torch.integers import LACKING, by_order


def _over(x: Any, axis: Any, keepdims: bool) -> tuple[Any, Any, bool]:
    """(x, dim, keepdim) for PyTorch, to which an empty `dim` means all axes."""
    if isinstance(axis, (tuple, list)) and not axis:
        return x.unsqueeze(-1), -1, False
    return x, axis, keepdims


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.sum.html"""
    if axis is None and dtype is None and not keepdims and x.is_floating_point():
        return torch.sum(x)
    x, dim, keepdim = _over(x, axis, keepdims)
    if dtype is None and x.is_floating_point():
        return torch.sum(x, dim, keepdim)
    wanted = native_dtype(accumulation_dtype(x, dtype))
    if wanted in LACKING:  # sums of int64 have the same bits
        return torch.sum(x.to(torch.int64), dim, keepdim).to(wanted)
    return torch.sum(x, dim, keepdim, dtype=wanted)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.prod.html"""
    wanted = native_dtype(accumulation_dtype(x, dtype))
    unsigned = wanted in LACKING
    product = x.to(torch.int64 if unsigned else wanted)
    if axis is None and not keepdims:
        product = torch.prod(product)
    else:
        for dim in sorted(many_axes(axis, x.ndim, "prod"), reverse=True):
            product = torch.prod(product, dim, keepdims)
    return product.to(wanted)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.mean.html"""
    x, dim, keepdim = _over(x, axis, keepdims)
    if x.is_floating_point():
        return torch.mean(x, dim, keepdim)
    return torch.mean(x, dim, keepdim, dtype=native_dtype(mean_dtype(x)))


_amax = by_order(torch.amax, selects=True)
_amin = by_order(torch.amin, selects=True)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.amax.html"""
    x, dim, keepdim = _over(x, axis, keepdims)
    return _amax(x, () if dim is None else dim, keepdim)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.amin.html"""
    x, dim, keepdim = _over(x, axis, keepdims)
    return _amin(x, () if dim is None else dim, keepdim)


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.all.html"""
    x, dim, keepdim = _over(x.to(torch.bool), axis, keepdims)
    return torch.all(x, tuple(range(x.ndim)) if dim is None else dim, keepdim)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.any.html"""
    x, dim, keepdim = _over(x.to(torch.bool), axis, keepdims)
    return torch.any(x, tuple(range(x.ndim)) if dim is None else dim, keepdim)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.var.html"""
    x, dim, keepdim = _over(x.to(native_dtype(mean_dtype(x))), axis, keepdims)
    return torch.var(x, dim, correction=correction, keepdim=keepdim)


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.std.html"""
    x, dim, keepdim = _over(x.to(native_dtype(mean_dtype(x))), axis, keepdims)
    return torch.std(x, dim, correction=correction, keepdim=keepdim)


def _no_initial(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> bool:
    return not include_initial


def _flat(x: Any, axis: Any) -> tuple[Any, int]:
    return (x.reshape(-1), 0) if axis is None else (x, axis)


@supports(_no_initial)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.cumsum.html"""
    x, dim = _flat(x, axis)
    wanted = native_dtype(accumulation_dtype(x, dtype))
    if wanted in LACKING:
        return torch.cumsum(x.to(torch.int64), dim).to(wanted)
    return torch.cumsum(x, dim, dtype=wanted)


@supports(_no_initial)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.cumprod.html"""
    x, dim = _flat(x, axis)
    wanted = native_dtype(accumulation_dtype(x, dtype))
    if wanted in LACKING:
        return torch.cumprod(x.to(torch.int64), dim).to(wanted)
    return torch.cumprod(x, dim, dtype=wanted)


def cummax(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.cummax.html"""
    return torch.cummax(*_flat(x, axis)).values


def cummin(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.cummin.html"""
    return torch.cummin(*_flat(x, axis)).values


def logsumexp(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.logsumexp.html"""
    x, dim, keepdim = _over(x, axis, keepdims)
    return torch.logsumexp(x, tuple(range(x.ndim)) if dim is None else dim, keepdim)


def cumulative_logsumexp(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.logcumsumexp.html"""
    return torch.logcumsumexp(*_flat(x.to(native_dtype(mean_dtype(x))), axis))
