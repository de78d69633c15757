"""PyTorch: `nestarray.ops.gamma`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import supports

# Where torch is right to rounding, which in float64 it is to 9 digits, and has the derivatives.
_SINGLE = (
    "isinstance(a, torch.Tensor) and isinstance(x, torch.Tensor)"
    " and a.dtype is x.dtype is torch.float32 and not a.requires_grad"
)


@supports(_SINGLE)
def gammainc(a: Any, x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/special.html#torch.special.gammainc"""
    return torch.special.gammainc(a, x)


@supports(_SINGLE)
def gammaincc(a: Any, x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/special.html#torch.special.gammaincc"""
    return torch.special.gammaincc(a, x)
