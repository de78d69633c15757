"""PyTorch: `nestarray.ops.statistical`."""

from __future__ import annotations

import math
from typing import Any

import torch

from nestarray.backends import portable, xp
from nestarray.backends.base import accumulation_dtype, has_freedom, mean_dtype, supports
from nestarray.backends.precision import in_single_precision
from nestarray.backends.torch.core import FLOATING, INEXACT, PRECISE, native_dtype
from nestarray.backends.torch.derivatives import order
from nestarray.backends.torch.integers import LACKING, by_order
from nestarray.backends.torch.promotion import cast
from nestarray.numerics.axes import many_axes, one_axis
from nestarray.numerics.logarithms import differentiable_log_sum


def _over(x: Any, axis: Any, keepdims: bool) -> tuple[Any, Any, bool]:
    """(x, dim, keepdim) for torch, which reads an empty `dim` as all axes."""
    if isinstance(axis, (tuple, list)):
        if not axis:
            return x.unsqueeze(-1), -1, False
        if bool in map(type, axis):
            raise TypeError("PyTorch looks at the kind of the first only")
    if axis is not None and not x.ndim:  # torch accepts axes 0 and -1 of a 0-d tensor
        many_axes(axis, 0, "axis")
    return x, axis, keepdims


def _inexact(x: Any) -> Any:
    """`x`, integers as float32."""
    if x.dtype in INEXACT:
        return x
    return x.to(native_dtype(mean_dtype(x)))


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.sum.html"""
    if dtype is None and x.dtype in FLOATING:
        if axis is None and keepdims is False:
            return torch.sum(x)
        if axis.__class__ is int and x.ndim:
            return torch.sum(x, axis, keepdims)
    x, dim, keepdim = _over(x, axis, keepdims)
    if dtype is None and x.dtype in FLOATING:
        return torch.sum(x, dim, keepdim)
    wanted = native_dtype(accumulation_dtype(x, dtype))
    if wanted in LACKING:  # int64 sums have the same bits
        return torch.sum(x.to(torch.int64), dim, keepdim).to(wanted)
    return torch.sum(x, dim, keepdim, dtype=wanted)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.prod.html"""
    if dtype is None and x.dtype in PRECISE:
        if axis is None and keepdims is False:
            return torch.prod(x)
        if axis.__class__ is int and x.ndim:
            return torch.prod(x, axis, keepdims)
    wanted = native_dtype(accumulation_dtype(x, dtype))
    product = x.to(torch.int64 if wanted in LACKING else wanted)
    if wanted in FLOATING and wanted not in PRECISE:
        product = product.to(torch.float32)
    if axis is None and keepdims is False:
        product = torch.prod(product)
    else:
        for dim in sorted(many_axes(axis, x.ndim, "prod"), reverse=True):
            product = torch.prod(product, dim, keepdims)
    return product.to(wanted)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.mean.html"""
    if x.dtype in FLOATING:
        if axis is None and keepdims is False:
            return torch.mean(x)
        if axis.__class__ is int and x.ndim:
            return torch.mean(x, axis, keepdims)
    x, dim, keepdim = _over(x, axis, keepdims)
    if x.dtype in FLOATING:
        return torch.mean(x, dim, keepdim)
    return torch.mean(x, dim, keepdim, dtype=native_dtype(mean_dtype(x)))


#: Dtypes for which torch.all and torch.any return bools; for uint8 they return uint8.
_TRUTHS = frozenset((torch.bool, torch.float32, torch.float64, torch.int32, torch.int64))

_amax = by_order(torch.amax, selects=True)
_amin = by_order(torch.amin, selects=True)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.amax.html"""
    if x.dtype in FLOATING:
        if axis is None and keepdims is False:
            return torch.amax(x)
        if axis.__class__ is int and x.ndim:
            return torch.amax(x, axis, keepdims)
    x, dim, keepdim = _over(x, axis, keepdims)
    return _amax(x, () if dim is None else dim, keepdim)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.amin.html"""
    if x.dtype in FLOATING:
        if axis is None and keepdims is False:
            return torch.amin(x)
        if axis.__class__ is int and x.ndim:
            return torch.amin(x, axis, keepdims)
    x, dim, keepdim = _over(x, axis, keepdims)
    return _amin(x, () if dim is None else dim, keepdim)


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.all.html"""
    if x.dtype in _TRUTHS:
        if axis is None and keepdims is False:
            return torch.all(x)
        if axis.__class__ is int and x.ndim:
            return torch.all(x, axis, keepdims)
    x, dim, keepdim = _over(x.to(torch.bool), axis, keepdims)
    return torch.all(x, tuple(range(x.ndim)) if dim is None else dim, keepdim)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.any.html"""
    if x.dtype in _TRUTHS:
        if axis is None and keepdims is False:
            return torch.any(x)
        if axis.__class__ is int and x.ndim:
            return torch.any(x, axis, keepdims)
    x, dim, keepdim = _over(x.to(torch.bool), axis, keepdims)
    return torch.any(x, tuple(range(x.ndim)) if dim is None else dim, keepdim)


# torch reads the correction None as 1


@supports(has_freedom)
def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.var.html"""
    x, dim, keepdim = _over(_inexact(x), axis, keepdims)
    return torch.var(x, dim, correction=correction + 0, keepdim=keepdim)


@supports(has_freedom)
def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.std.html"""
    x, dim, keepdim = _over(_inexact(x), axis, keepdims)
    if order() < 2:
        return torch.std(x, dim, correction=correction + 0, keepdim=keepdim)
    # torch's second derivative is NaN at equal elements
    variance = torch.var(x, dim, correction=correction + 0, keepdim=keepdim)
    is_zero = variance == 0
    return torch.where(is_zero, 0.0, torch.where(is_zero, 1.0, variance).sqrt())


def _flat(x: Any, axis: Any) -> tuple[Any, int]:
    if axis is None:
        return x.reshape(-1), 0
    if not -x.ndim <= axis < x.ndim:  # torch does not check axes of an empty tensor
        one_axis(axis, x.ndim, "axis")
    return x, axis


def _in_dtype(running: Any, x: Any, dim: int, dtype: Any) -> Any:
    """`running`, in int64 for unsigned integers and bools, which lack kernels."""
    wanted = native_dtype(accumulation_dtype(x, dtype))
    if wanted is torch.bool:
        return running(x.to(torch.bool), dim, dtype=torch.int64).to(torch.bool)
    if wanted in LACKING:
        return running(x.to(torch.int64), dim).to(wanted)
    return running(x, dim, dtype=wanted)


@supports(lambda *_, include_initial=False, **_settings: include_initial is False)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.cumsum.html"""
    if axis.__class__ is int and dtype is None and x.ndim and x.dtype in FLOATING:
        return torch.cumsum(x, axis)
    x, dim = _flat(x, axis)
    if dtype is None and x.dtype in FLOATING:
        return torch.cumsum(x, dim)
    return _in_dtype(torch.cumsum, x, dim, dtype)


@supports(lambda *_, include_initial=False, **_settings: include_initial is False)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.cumprod.html"""
    if axis.__class__ is int and dtype is None and x.ndim and x.dtype in FLOATING:
        return torch.cumprod(x, axis)
    x, dim = _flat(x, axis)
    if dtype is None and x.dtype in FLOATING:
        return torch.cumprod(x, dim)
    return _in_dtype(torch.cumprod, x, dim, dtype)


_cummax = by_order(lambda x, axis: torch.cummax(x, axis).values, selects=True)
_cummin = by_order(lambda x, axis: torch.cummin(x, axis).values, selects=True)


@supports(lambda *_, **_settings: not portable.are_wanted())
def cummax(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.cummax.html"""
    return _cummax(*_flat(x, axis))


@supports(lambda *_, **_settings: not portable.are_wanted())
def cummin(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.cummin.html"""
    return _cummin(*_flat(x, axis))


@supports(lambda *_, b=None, return_sign=False, **_settings: b is None and return_sign is False)
@in_single_precision(cast)
def logsumexp(
    x: Any,
    /,
    *,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.logsumexp.html"""
    if axis.__class__ is int and x.ndim:
        return _log_sum(x, axis, keepdims)
    x, dim, keepdim = _over(x, axis, keepdims)
    return _log_sum(x, tuple(range(x.ndim)) if dim is None else dim, keepdim)


def _log_sum(x: Any, dim: Any, keepdim: bool) -> Any:
    if not order() or x.is_complex():
        return torch.logsumexp(x, dim, keepdim)
    is_nothing = (x == -math.inf).all(dim, keepdim)
    return differentiable_log_sum(xp, lambda x: torch.logsumexp(x, dim, keepdim), is_nothing, x)


# the derivative contains logarithms of the cotangents, whose second derivatives are NaN
@supports(lambda x, *, axis=None: order() < 2)
def cumulative_logsumexp(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.logcumsumexp.html"""
    if axis.__class__ is int and x.ndim and x.dtype in INEXACT:
        return _running_log_sum(x, axis)
    x, dim = _flat(x, axis)
    return _running_log_sum(_inexact(x), dim)


def _running_log_sum(x: Any, dim: int) -> Any:
    if not order() or x.is_complex() or not x.ndim:
        return torch.logcumsumexp(x, dim)
    is_nothing = (x == -math.inf).cummin(dim).values
    return differentiable_log_sum(xp, lambda x: torch.logcumsumexp(x, dim), is_nothing, x)
