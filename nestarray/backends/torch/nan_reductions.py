"""PyTorch: `nestarray.ops.nan_reductions`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import supports
from nestarray.backends.torch.core import FLOATING

#: Dtypes whose means torch rounds once.
_FULL = (torch.float32, torch.float64)
_NO_AXES: tuple[Any, ...] = ((), [])


# torch supports no complex numbers here, reads an empty axis as all axes, and accepts axes of a 0-d
# tensor.


@supports(
    lambda x, axis=None, dtype=None, **_: (
        x.dtype in FLOATING and dtype is None and axis not in _NO_AXES and (axis is None or x.ndim)
    )
)
def nansum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nansum.html"""
    return torch.nansum(x, axis, keepdims)


@supports(
    lambda x, axis=None, **_: x.dtype in _FULL and axis not in _NO_AXES and (axis is None or x.ndim)
)
def nanmean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nanmean.html"""
    return torch.nanmean(x, axis, keepdims)
