"""PyTorch: `nestarray.ops.sorting`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.torch.integers import LACKING, by_order
from nestarray.numerics.axes import one_axis


def _sorted(x: Any, **settings: Any) -> Any:
    return torch.sort(x, **settings).values


_sort = by_order(_sorted, selects=True)
_argsort = by_order(torch.argsort)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.sort.html"""
    if x.dtype not in LACKING and x.ndim:
        return torch.sort(x, dim=axis, descending=descending, stable=stable).values
    if not x.ndim:  # torch accepts axes 0 and -1 of a 0-d tensor
        one_axis(axis, 0, "sort")
    return _sort(x, dim=axis, descending=descending, stable=stable)


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.argsort.html"""
    if x.dtype not in LACKING and x.ndim:
        return torch.argsort(x, dim=axis, descending=descending, stable=stable)
    if not x.ndim:
        one_axis(axis, 0, "argsort")
    return _argsort(x, dim=axis, descending=descending, stable=stable)
