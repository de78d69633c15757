"""PyTorch: `nestarray.ops.fft`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from nestarray.backends.fourier import checked


def fftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Any:
    lengths, places = checked("fftn", x.shape, s, axes, norm)
    return torch.fft.fftn(_number(x), s=lengths, dim=places, norm=norm)


def ifftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Any:
    lengths, places = checked("ifftn", x.shape, s, axes, norm)
    return torch.fft.ifftn(_number(x), s=lengths, dim=places, norm=norm)


def _number(x: Any) -> Any:
    is_wide = x.dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128)
    return x if is_wide else x.to(torch.float32)
