"""PyTorch: `nestarray.ops.special`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nestarray.backends import portable
from nestarray.backends.base import supports
from nestarray.backends.torch.derivatives import is_constant, is_observed
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


def erfinv(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/special.html#torch.special.erfinv"""
    return portable.erfinv(x) if portable.are_wanted() else torch.erfinv(x)


log_ndtr = _not_half(torch.special.log_ndtr)
ndtri = _not_half(torch.special.ndtri)
lgamma = torch.lgamma
digamma = torch.digamma
entr = torch.special.entr


@supports(
    lambda *_, eps=None: eps is None or 0 <= eps <= 0.5
)  # torch has another order of the bounds
def logit(x: Any, /, *, eps: float | None = None) -> Any:
    """https://docs.pytorch.org/docs/stable/special.html#torch.special.logit"""
    return torch.logit(x, eps)


def _product(native: Callable[..., Any], pole: float) -> Callable[..., Any]:
    """`native`, with derivative 0 where it is 0 · ln 0; torch's by the second operand is NaN."""

    def call(x1: Any, x2: Any, /) -> Any:
        if not is_constant(x2) or is_observed():
            x2 = torch.where((x1 == 0) & (x2 <= pole), pole + 1.0, x2)
        return native(x1, x2)

    return call


xlogy = promoting(_product(torch.special.xlogy, 0.0), scalar_ok=False)
xlog1py = promoting(_product(torch.special.xlog1py, -1.0), scalar_ok=False)
