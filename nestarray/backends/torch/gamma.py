"""PyTorch: `nestarray.ops.gamma`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import supports


def _is_single(a: Any, x: Any) -> bool:
    """Whether torch is accurate and differentiable; in float64 it has 9 digits only."""
    return (
        isinstance(a, torch.Tensor)
        and isinstance(x, torch.Tensor)
        and a.dtype is x.dtype is torch.float32
        and not a.requires_grad
    )


def _or_nan(found: Any, a: Any, x: Any) -> Any:
    """`found`, NaN where an operand is; torch returns 0 or 1 if the other is 0 or ∞."""
    return torch.where(a.isnan() | x.isnan(), torch.nan, found)


@supports(_is_single)
def gammainc(a: Any, x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/special.html#torch.special.gammainc"""
    return _or_nan(torch.special.gammainc(a, x), a, x)


@supports(_is_single)
def gammaincc(a: Any, x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/special.html#torch.special.gammaincc"""
    return _or_nan(torch.special.gammaincc(a, x), a, x)
