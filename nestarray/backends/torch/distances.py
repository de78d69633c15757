"""PyTorch: `nestarray.ops.distances`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends import portable
from nestarray.backends.base import supports
from nestarray.backends.torch.derivatives import is_constant, is_observed

_EXACT = "donot_use_mm_for_euclid_dist"
_REAL = (torch.float32, torch.float64)


@supports(
    lambda x1, x2, p=2.0: (
        p == 2
        and x1.dtype is x2.dtype
        and x1.dtype in _REAL
        and x1.ndim > 1 < x2.ndim
        and x1.shape[-1] == x2.shape[-1]
        and not portable.are_wanted()
    )
)
def cdist(x1: Any, x2: Any, /, *, p: float = 2.0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.cdist.html"""
    # no second derivative; |x1|² + |x2|² − 2 x1·x2 has one
    if is_constant(x1) and is_constant(x2) and not is_observed():
        return torch.cdist(x1, x2, 2.0, _EXACT)
    distance = torch.cdist(x1.detach(), x2.detach(), 2.0, _EXACT)
    x1, x2 = (torch.where(torch.isfinite(x), x, 0.0) for x in (x1, x2))
    origin = x2.detach().sum(-2, keepdim=True) / max(x2.shape[-2], 1)
    x1, x2 = x1 - origin, x2 - origin
    squares = (x1 * x1).sum(-1)[..., :, None] + (x2 * x2).sum(-1)[..., None, :]
    squares = squares - 2 * (x1 @ x2.mT)
    nothing = squares - squares.detach()
    nothing = torch.where(torch.isfinite(nothing), nothing, 0.0)
    zero = distance == 0
    total = torch.where(zero, 1.0, distance * distance + nothing)
    return torch.where(zero, 0.0, torch.sqrt(total))
