"""PyTorch: `nestarray.ops.nan_reductions`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import supports
from nestarray.backends.fast_paths import at_defaults
from nestarray.backends.torch.core import FLOATING  # noqa: F401 - in conditions

_NO_AXES: tuple[Any, ...] = ((), [])


# PyTorch has no complex numbers here, and takes no axes for all axes.


@at_defaults("torch.nansum(x)", where="x.dtype in FLOATING")
@supports("x.dtype in FLOATING and dtype is None and axis not in _NO_AXES")
def nansum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nansum.html"""
    return torch.nansum(x, axis, keepdims)


@at_defaults("torch.nanmean(x)")
@supports("x.dtype in FLOATING and axis not in _NO_AXES")
def nanmean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nanmean.html"""
    return torch.nanmean(x, axis, keepdims)
