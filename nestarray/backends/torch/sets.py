"""PyTorch: `nestarray.ops.sets`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import supports
from nestarray.backends.torch.integers import by_order
from nestarray.backends.torch.promotion import promoted
from nestarray.dtypes import dtype_of

_isin = by_order(torch.isin)


def _has_kernel(x1: Any, x2: Any, /, *, invert: bool = False) -> bool:
    return {"complex", "bool"}.isdisjoint((dtype_of(x1).kind, dtype_of(x2).kind))


@supports(_has_kernel)
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.isin.html"""
    x1, x2 = (x.contiguous() for x in promoted((x1, x2)))  # of others PyTorch takes no view
    return _isin(x1, x2, invert=invert)
