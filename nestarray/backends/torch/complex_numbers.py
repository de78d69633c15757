"""PyTorch: `nestarray.ops.complex_numbers`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import parts_dtype
from nestarray.backends.torch.elementwise import _cast


def complex(real: Any, imag: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.complex.html"""
    dtype = parts_dtype("complex", real=real, imag=imag)
    return torch.complex(_cast(real, dtype), _cast(imag, dtype))


def polar(abs: Any, angle: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.polar.html"""
    dtype = parts_dtype("polar", abs=abs, angle=angle)
    return torch.polar(_cast(abs, dtype), _cast(angle, dtype))
