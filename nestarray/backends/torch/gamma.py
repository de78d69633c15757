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


@supports(_is_single)
def gammainc(a: Any, x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/special.html#torch.special.gammainc"""
    return torch.special.gammainc(a, x)


@supports(_is_single)
def gammaincc(a: Any, x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/special.html#torch.special.gammaincc"""
    return torch.special.gammaincc(a, x)
