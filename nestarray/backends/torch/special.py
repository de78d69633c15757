"""PyTorch: `nestarray.ops.special`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nestarray.backends.base import supports
from nestarray.backends.torch.promotion import promoting


def _not_half(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` with half precision computed in float32."""

    def call(x: Any, /) -> Any:
        dtype = x.dtype
        if dtype is torch.float16 or dtype is torch.bfloat16:
            return native(x.to(torch.float32)).to(dtype)
        return native(x)

    return call


erf = torch.erf
erfc = torch.erfc
erfcx = _not_half(torch.special.erfcx)
erfinv = torch.erfinv
log_ndtr = _not_half(torch.special.log_ndtr)
ndtri = _not_half(torch.special.ndtri)
lgamma = torch.lgamma
digamma = torch.digamma
sinc = torch.sinc
entr = torch.special.entr


@supports(
    lambda *_, eps=None: eps is None or 0 <= eps <= 0.5
)  # torch has another order of the bounds
def logit(x: Any, /, *, eps: float | None = None) -> Any:
    """https://docs.pytorch.org/docs/stable/special.html#torch.special.logit"""
    return torch.logit(x, eps)


xlogy = promoting(torch.special.xlogy)
xlog1py = promoting(torch.special.xlog1py)
