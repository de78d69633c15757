"""PyTorch: `nestarray.ops.complex_numbers`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import parts_dtype
from nestarray.backends.torch.promotion import cast

_PARTS = (torch.float32, torch.float64)


def complex(real: Any, imag: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.complex.html"""
    if real.__class__ is imag.__class__ is torch.Tensor and real.dtype is imag.dtype in _PARTS:
        return torch.complex(real, imag)
    dtype = parts_dtype("complex", real=real, imag=imag)
    return torch.complex(cast(real, dtype, imag), cast(imag, dtype, real))


def polar(abs: Any, angle: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.polar.html"""
    if not (
        abs.__class__ is angle.__class__ is torch.Tensor and abs.dtype is angle.dtype in _PARTS
    ):
        dtype = parts_dtype("polar", abs=abs, angle=angle)
        abs, angle = cast(abs, dtype, angle), cast(angle, dtype, abs)
    if abs.requires_grad:  # the gradient of torch.polar has the wrong sign for negative abs
        return torch.complex(abs * torch.cos(angle), abs * torch.sin(angle))
    return torch.polar(abs, angle)
