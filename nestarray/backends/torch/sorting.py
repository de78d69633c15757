"""PyTorch: `nestarray.ops.sorting`."""

from __future__ import annotations

from typing import Any

import torch


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.sort.html"""
    return torch.sort(x, dim=axis, descending=descending, stable=stable).values


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.argsort.html"""
    return torch.argsort(x, dim=axis, descending=descending, stable=stable)
