"""PyTorch: `nestarray.ops.nan_reductions`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import supports


def _is_floating(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> bool:
    """PyTorch has no complex numbers here, and takes no axes for all axes."""
    return x.is_floating_point() and dtype is None and axis not in ((), [])


@supports(_is_floating)
def nansum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nansum.html"""
    return torch.nansum(x, axis, keepdims)


@supports(_is_floating)
def nanmean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nanmean.html"""
    return torch.nanmean(x, axis, keepdims)
