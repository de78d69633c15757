"""PyTorch: `nestarray.ops.creation`."""

from __future__ import annotations

import math
from typing import Any

import torch

from nestarray import dtypes
from nestarray.backends.base import supports, whole_range
from nestarray.backends.torch.core import FLOATING, find_device, native_dtype
from nestarray.backends.torch.integers import LACKING, by_bits
from nestarray.numerics.fills import check_fill


def _dtype(dtype: Any, default: Any = dtypes.float32) -> Any:
    return native_dtype(default if dtype is None else dtype)


def _place(device: Any, like: Any) -> Any:
    return like.device if device is None and like is not None else find_device(device)


def _size(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.zeros.html"""
    return torch.zeros(_size(shape), dtype=_dtype(dtype), device=_place(device, like))


def ones(shape: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.ones.html"""
    return torch.ones(_size(shape), dtype=_dtype(dtype), device=_place(device, like))


def empty(shape: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.empty.html"""
    return torch.empty(_size(shape), dtype=_dtype(dtype), device=_place(device, like))


def full(
    shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, like: Any = None
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.full.html"""
    found = native_dtype(dtypes.dtype_of(fill_value) if dtype is None else dtype)
    check_fill("full", "fill_value", fill_value, found)
    made = _made(fill_value, found)
    return torch.full(_size(shape), fill_value, dtype=made, device=_place(device, like)).to(found)


def _made(fill_value: Any, dtype: Any) -> Any:
    """The dtype in which to create the number: torch rejects numbers that round to the largest one
    or to ∞."""
    if type(fill_value) is complex:
        return torch.complex128
    if type(fill_value) is not float or dtype not in FLOATING:
        return dtype
    is_too_large = math.isfinite(fill_value) and abs(fill_value) > torch.finfo(dtype).max
    return torch.float64 if is_too_large or dtype.itemsize < 4 else dtype


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.zeros_like.html"""
    if dtype is device is None:
        return torch.zeros_like(x)
    return torch.zeros_like(x, dtype=_dtype(dtype, x.dtype), device=_place(device, x))


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.ones_like.html"""
    if dtype is device is None:
        return torch.ones_like(x)
    return torch.ones_like(x, dtype=_dtype(dtype, x.dtype), device=_place(device, x))


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.empty_like.html"""
    if dtype is device is None:
        return torch.empty_like(x)
    return torch.empty_like(x, dtype=_dtype(dtype, x.dtype), device=_place(device, x))


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.full_like.html"""
    found = _dtype(dtype, x.dtype)
    check_fill("full_like", "fill_value", fill_value, found)
    made = _made(fill_value, found)
    return torch.full_like(x, fill_value, dtype=made, device=_place(device, x)).to(found)


@supports(whole_range)
def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    like: Any = None,
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.arange.html"""
    first, end = (0, start) if stop is None else (start, stop)
    found = _dtype(dtype, dtypes.int64)
    end = end if (end - first) * step > 0 else first  # torch rejects an empty range
    has_no_kernel = found in LACKING or found.is_complex or found is torch.bool
    made = torch.int64 if has_no_kernel else found
    return torch.arange(first, end, step, dtype=made, device=_place(device, like)).to(found)


@supports(lambda *sizes, k=0, batch_shape=(), **settings: k == 0 and batch_shape == ())
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Any = None,
    batch_shape: Any = (),
    like: Any = None,
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.eye.html"""
    columns = n_rows if n_cols is None else n_cols
    found = _dtype(dtype)
    made = torch.uint8 if found in LACKING else found
    return torch.eye(n_rows, columns, dtype=made, device=_place(device, like)).to(found)


_tril, _triu = by_bits(torch.tril), by_bits(torch.triu)


def tril(x: Any, /, *, k: int = 0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.tril.html"""
    return _tril(x, k)


def triu(x: Any, /, *, k: int = 0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.triu.html"""
    return _triu(x, k)
