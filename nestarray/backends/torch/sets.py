"""PyTorch: `nestarray.ops.sets`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import lenient, promoted, supports
from nestarray.backends.fast_paths import at_defaults
from nestarray.backends.torch.elementwise import _cast
from nestarray.backends.torch.integers import LACKING, by_order
from nestarray.dtypes import dtype_of

_isin = by_order(torch.isin)


def _are_real(x1: Any, x2: Any, /, *, invert: bool = False) -> bool:
    return "complex" not in (dtype_of(x1).kind, dtype_of(x2).kind)


@supports(_are_real)
@at_defaults("torch.isin(x1, x2)", where="x1.dtype is x2.dtype")
@lenient
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.isin.html"""
    if getattr(x1, "dtype", x1) is getattr(x2, "dtype", None) and x1.dtype not in LACKING:
        return torch.isin(x1, x2, invert=True) if invert else torch.isin(x1, x2)
    return _isin(*promoted((x1, x2), _cast), invert=invert)
